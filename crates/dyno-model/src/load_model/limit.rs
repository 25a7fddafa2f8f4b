//! Limits on the figures of configurations.

use crate::comparison_metric::ComparisonMetric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// The figure that a limit applies to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitMetric {
        /// Minimum transactions per second.
        Throughput = "throughput",
        /// Maximum mean response time in milliseconds.
        Mean = "mean",
        /// Maximum median of the response times in milliseconds.
        P50 = "p50",
        /// Maximum 90th percentile of the response times in milliseconds.
        P90 = "p90",
        /// Maximum 95th percentile of the response times in milliseconds.
        P95 = "p95",
        /// Maximum 99th percentile of the response times in milliseconds.
        P99 = "p99",
        /// Maximum 99.9th percentile of the response times in milliseconds.
        #[serde(rename = "p99.9")]
        P999 = "p99.9",
        /// Upper bound of the longest response time in milliseconds.
        Max = "max",
        /// Maximum share of failed transactions, in per cent of those that were started.
        Failed = "failed",
        /// Acknowledged work that the audit does not find: must be none.
        Lost = "lost",
    }
}

impl LimitMetric {
    /// The corresponding metric of a trial; `None` for shares and audits.
    #[must_use]
    pub fn metric(self) -> Option<ComparisonMetric> {
        match self {
            Self::Throughput => Some(ComparisonMetric::Throughput),
            Self::Mean => Some(ComparisonMetric::MeanMs),
            Self::P50 => Some(ComparisonMetric::P50Ms),
            Self::P90 => Some(ComparisonMetric::P90Ms),
            Self::P95 => Some(ComparisonMetric::P95Ms),
            Self::P99 => Some(ComparisonMetric::P99Ms),
            Self::P999 => Some(ComparisonMetric::P999Ms),
            Self::Max => Some(ComparisonMetric::MaxMs),
            Self::Failed | Self::Lost => None,
        }
    }

    /// Parses the figure at the start of a line such as `p99 < 20ms`, and returns the rest of the
    /// line.
    #[must_use]
    pub fn leading(line: &str) -> Option<(Self, &str)> {
        let (name, limit) = line.split_at(line.find(['<', '>', '=']).unwrap_or(line.len()));
        Some((Self::named(name.trim())?, limit.trim()))
    }

    /// True when the limit is a minimum.
    #[must_use]
    pub fn is_floor(self) -> bool {
        self == Self::Throughput
    }
}

/// A part of a trial with separate figures, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitPart {
    /// A stage of the load.
    Stage(String),
    /// The transactions of one name.
    Transaction(String),
    /// A kind of statement.
    Statement(String),
    /// A background workload.
    Background(String),
}

impl LimitPart {
    /// The kind of part, as a spec names it.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Stage(_) => "stage",
            Self::Transaction(_) => "transaction",
            Self::Statement(_) => "statement",
            Self::Background(_) => "background",
        }
    }

    /// The same in words.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match self {
            Self::Background(_) => "background workload",
            _ => self.key(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stage(name)
            | Self::Transaction(name)
            | Self::Statement(name)
            | Self::Background(name) => name,
        }
    }

    /// True when it has figures of a measure. Audits cover a whole trial, failures are not reported
    /// by stage, and a statement's throughput follows from that of its transactions.
    #[must_use]
    pub fn has(&self, metric: LimitMetric) -> bool {
        match self {
            Self::Background(_) => true,
            Self::Stage(_) => metric.metric().is_some(),
            Self::Transaction(_) => metric != LimitMetric::Lost,
            Self::Statement(_) => !matches!(metric, LimitMetric::Lost | LimitMetric::Throughput),
        }
    }
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The figure that the limit applies to.
    pub metric: LimitMetric,
    /// Threshold: per second, in milliseconds, in per cent; 0 for lost work.
    pub value: f64,
    /// The part of the trial that the limit applies to; `None`: the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// Indices into [`crate::plan::Plan::configurations`] of those that it applies to.
    pub configurations: Vec<usize>,
    /// True when the run ends as soon as it fails.
    pub aborts: bool,
}

/// Result of a limit; ordered from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LimitVerdict {
    /// Passed.
    #[serde(rename = "passed", alias = "held")]
    Passed,
    /// The data do not decide it.
    #[serde(rename = "undecided")]
    Undecided,
    /// Failed.
    #[serde(rename = "failed", alias = "broken")]
    Failed,
}

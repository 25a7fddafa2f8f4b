//! Limits: what the figures of configurations have to keep to.

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// What a limit is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitMeasure {
        /// Transactions per second, at least.
        Throughput = "throughput",
        /// Mean response time in milliseconds, at most.
        Mean = "mean",
        /// Median of the response times in milliseconds, at most.
        P50 = "p50",
        /// 90th percentile of the response times in milliseconds, at most.
        P90 = "p90",
        /// 95th percentile of the response times in milliseconds, at most.
        P95 = "p95",
        /// 99th percentile of the response times in milliseconds, at most.
        P99 = "p99",
        /// 99.9th percentile of the response times in milliseconds, at most.
        #[serde(rename = "p99.9")]
        P999 = "p99.9",
        /// Longest response time in milliseconds, at most.
        Max = "max",
        /// Transactions that failed in per cent of those that were started, at most.
        Failed = "failed",
        /// Acknowledged work that the audit does not find: none.
        Lost = "lost",
    }
}

impl LimitMeasure {
    /// The metric of a trial that it is; `None` for shares and audits.
    #[must_use]
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Throughput => Some(Metric::Throughput),
            Self::Mean => Some(Metric::MeanMs),
            Self::P50 => Some(Metric::P50Ms),
            Self::P90 => Some(Metric::P90Ms),
            Self::P95 => Some(Metric::P95Ms),
            Self::P99 => Some(Metric::P99Ms),
            Self::P999 => Some(Metric::P999Ms),
            Self::Max => Some(Metric::MaxMs),
            Self::Failed | Self::Lost => None,
        }
    }

    /// What a line such as `p99 < 20ms` is about, and what is left of it.
    #[must_use]
    pub fn leading(line: &str) -> Option<(Self, &str)> {
        let (name, limit) = line.split_at(line.find(['<', '>', '=']).unwrap_or(line.len()));
        Some((Self::named(name.trim())?, limit.trim()))
    }

    /// True when figures are to stay above it.
    #[must_use]
    pub fn is_floor(self) -> bool {
        self == Self::Throughput
    }
}

/// A part of a trial that has figures of its own, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitPart {
    /// A stage of the load.
    Stage(String),
    /// The transactions of one name.
    Transaction(String),
    /// A kind of statements.
    Statement(String),
    /// A background workload.
    Background(String),
}

impl LimitPart {
    /// What kind of part it is, as a spec names it.
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

    /// True when it has figures of a measure. Audits are of a whole trial, failures are not told by
    /// stage, and a statement's throughput follows from that of its transactions.
    #[must_use]
    pub fn has(&self, measure: LimitMeasure) -> bool {
        match self {
            Self::Background(_) => true,
            Self::Stage(_) => measure.metric().is_some(),
            Self::Transaction(_) => measure != LimitMeasure::Lost,
            Self::Statement(_) => !matches!(measure, LimitMeasure::Lost | LimitMeasure::Throughput),
        }
    }
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The figure that the limit applies to.
    pub measure: LimitMeasure,
    /// Where it lies: per second, in milliseconds, in per cent; 0 for what is lost.
    pub value: f64,
    /// The part of the trial that the limit applies to; `None`: the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// Indices into [`crate::plan::Plan::configurations`] of those that have to keep it.
    pub configurations: Vec<usize>,
    /// True when the run ends once it is broken.
    #[serde(default)]
    pub aborts: bool,
}

/// Whether a limit was kept; from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LimitVerdict {
    /// It was.
    #[serde(rename = "passed", alias = "held")]
    Passed,
    /// The data do not say.
    #[serde(rename = "undecided")]
    Undecided,
    /// It was not.
    #[serde(rename = "failed", alias = "broken")]
    Failed,
}

//! Limits: what the figures of treatments have to keep to.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

crate::named! {
    /// What a limit is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitMeasure {
        /// Transactions per second, at least.
        Throughput = "throughput",
        /// Mean response time in milliseconds, at most.
        Mean = "mean",
        /// Median of the response times in milliseconds, at most.
        P50 = "p50",
        /// 95th percentile of the response times in milliseconds, at most.
        P95 = "p95",
        /// 99th percentile of the response times in milliseconds, at most.
        P99 = "p99",
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
            Self::P95 => Some(Metric::P95Ms),
            Self::P99 => Some(Metric::P99Ms),
            Self::Failed | Self::Lost => None,
        }
    }

    /// What a line such as `p99 < 20ms` is about, and what is left of it.
    #[must_use]
    pub fn leading(line: &str) -> Option<(Self, &str)> {
        let (name, limit) = line.split_at(line.find(['<', '>', '=']).unwrap_or(line.len()));
        Some((Self::named(name.trim())?, limit.trim()))
    }

    /// True when stages have figures of it.
    #[must_use]
    pub fn is_of_stages(self) -> bool {
        self.metric().is_some()
    }

    /// True when figures are to stay above it.
    #[must_use]
    pub fn is_floor(self) -> bool {
        self == Self::Throughput
    }
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What it is about.
    pub measure: LimitMeasure,
    /// Where it lies: per second, in milliseconds, in per cent; 0 for what is lost.
    pub value: f64,
    /// The stage of the load that it is about; `None`: the whole trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Indices into [`crate::plan::Plan::treatments`] of those that have to keep it.
    pub treatments: Vec<usize>,
    /// True when the run ends once it is broken.
    #[serde(default)]
    pub aborts: bool,
}

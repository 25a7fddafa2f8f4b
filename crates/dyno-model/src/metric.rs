//! What trials are compared by.

use serde::{Deserialize, Serialize};

/// A figure of a trial that charts show over clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Committed transactions per second.
    #[default]
    Throughput,
    /// Mean response time of a transaction in milliseconds.
    MeanMs,
    /// Median in milliseconds.
    P50Ms,
    /// 95th percentile in milliseconds.
    P95Ms,
    /// 99th percentile in milliseconds.
    P99Ms,
}

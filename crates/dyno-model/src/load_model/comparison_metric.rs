//! Metrics by which trials are compared.

use crate::stages::LoadBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure of a trial that charts plot over the number of clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonMetric {
    /// Committed transactions per second.
    #[default]
    Throughput,
    /// Mean response time of a transaction in milliseconds.
    MeanMs,
    /// Median in milliseconds.
    P50Ms,
    /// 90th percentile in milliseconds.
    P90Ms,
    /// 95th percentile in milliseconds.
    P95Ms,
    /// 99th percentile in milliseconds.
    P99Ms,
    /// 99.9th percentile in milliseconds.
    P999Ms,
    /// Longest response time in milliseconds.
    MaxMs,
    /// Highest load in transactions per second that meets a limit: the result of a search.
    HighestRate,
    /// Highest number of clients that meets a limit: the result of a search.
    MostClients,
}

impl ComparisonMetric {
    /// The load parameter of a search.
    #[must_use]
    pub fn searched(self) -> Option<LoadBy> {
        match self {
            Self::HighestRate => Some(LoadBy::Rate),
            Self::MostClients => Some(LoadBy::Clients),
            _ => None,
        }
    }

    /// The percentage of a percentile (0 to 100); `None` for other metrics.
    #[must_use]
    pub fn percentage(self) -> Option<f64> {
        match self {
            Self::P50Ms => Some(50.0),
            Self::P90Ms => Some(90.0),
            Self::P95Ms => Some(95.0),
            Self::P99Ms => Some(99.0),
            Self::P999Ms => Some(99.9),
            Self::Throughput
            | Self::MeanMs
            | Self::MaxMs
            | Self::HighestRate
            | Self::MostClients => None,
        }
    }

    /// True when higher is better; for times, lower is better.
    #[must_use]
    pub fn is_more_better(self) -> bool {
        self == Self::Throughput || self.searched().is_some()
    }
}

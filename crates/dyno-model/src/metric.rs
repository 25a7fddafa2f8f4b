//! What trials are compared by.

use crate::stages::LoadBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure of a trial that charts show over clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
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
    /// Transactions per second that a system takes at most while a limit is kept: what a search
    /// found.
    HighestRate,
    /// Clients that a system takes at most while a limit is kept: what a search found.
    MostClients,
}

impl Metric {
    /// What was raised, for what a search finds.
    #[must_use]
    pub fn searched(self) -> Option<LoadBy> {
        match self {
            Self::HighestRate => Some(LoadBy::Rate),
            Self::MostClients => Some(LoadBy::Clients),
            _ => None,
        }
    }

    /// The percentage of a percentile (0 to 100); `None` for all that is none.
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

    /// True where more is better; of times, less is.
    #[must_use]
    pub fn is_more_better(self) -> bool {
        self == Self::Throughput || self.searched().is_some()
    }
}

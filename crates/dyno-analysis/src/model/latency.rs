//! Distributions of response times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distribution of response times, all in milliseconds. A percentile is absent when fewer than ten
/// values lie above it. With arrivals that did not commit (`censored`, in an open loop), mean,
/// deviation and maximum include all arrivals, with the age of uncommitted ones as their value, so
/// mean and maximum are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedLatency {
    /// Number of values.
    pub count: u64,
    /// Number of them that are ages of arrivals without a commit.
    #[serde(default)]
    pub censored: u64,
    /// Percentiles from here on are lower bounds; absent when none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_from: Option<f64>,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub standard_deviation: f64,
    /// Smallest.
    pub min: f64,
    /// Median.
    pub p50: Option<f64>,
    /// 70th percentile.
    pub p70: Option<f64>,
    /// 80th percentile.
    pub p80: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: f64,
}

impl MergedLatency {
    /// True when the value of a percentile (0 to 100; 100 is the maximum) is a lower bound.
    #[must_use]
    pub fn is_bound(&self, percentile: f64) -> bool {
        self.bounds_from.is_some_and(|from| percentile >= from)
    }
}

//! Values with unit and uncertainty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a value; renderers choose decimals and symbol by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Committed transactions per second.
    TransactionsPerSecond,
    /// Committed transactions per minute.
    TransactionsPerMinute,
    /// Rows of committed transactions per second.
    RowsPerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Seconds.
    Seconds,
    /// Percent.
    Percent,
    /// A number without unit.
    Count,
    /// Bytes.
    Bytes,
    /// A quotient of two values of one unit; 1 is equality.
    Ratio,
}

/// A mean over repeats with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Unit of all values here.
    pub unit: Unit,
    /// Geometric mean over the valid trials (for times, over those that are compared); if the value
    /// of a trial is 0, the arithmetic mean.
    pub mean: f64,
    /// 95 % confidence interval by Student's t on logarithms; absent with fewer than two repeats,
    /// and where it would exceed twice the mean: the repeats then only show that they vary.
    pub interval: Option<Range>,
    /// Number of these trials.
    pub repeats: u32,
    /// True when `mean` is only a lower bound because the value of a trial is one; there is then no
    /// interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}

/// A closed range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end, at least `low`.
    pub high: f64,
}

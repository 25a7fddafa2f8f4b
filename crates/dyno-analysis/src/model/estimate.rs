//! Values with their unit and their uncertainty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a value; renderers choose the decimals and the symbol by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Committed transactions per second.
    TransactionsPerSecond,
    /// Rows of committed transactions per second.
    RowsPerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Seconds.
    Seconds,
    /// Hundredths.
    Percent,
    /// A plain number of things.
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
    /// Arithmetic mean over the valid trials.
    pub mean: f64,
    /// 95 % confidence interval by Student's t on the scale of logarithms; absent with fewer than
    /// two repeats, and where it would reach beyond twice the mean: the repeats then say no more
    /// than that they scatter.
    pub interval: Option<Range>,
    /// Number of valid trials.
    pub repeats: u32,
    /// True when `mean` is only a lower bound, because the figure of a trial is one; then there is
    /// no interval.
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

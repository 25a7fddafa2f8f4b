//! Limits, and whether they were kept.

use super::comparisons::NotWorking;
use super::estimate::Range;
pub use dyno_model::limit::LimitVerdict;
use dyno_model::limit::{LimitMeasure, LimitPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit at one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRow {
    /// The figure that the limit applies to.
    pub measure: LimitMeasure,
    /// Where it lies: per second, in milliseconds, in per cent; 0 for what is lost.
    pub value: f64,
    /// The part of the trial that the limit applies to; absent: the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Geometric mean over valid trials, or the share, in the unit of `value`; absent where there
    /// is none.
    pub figure: Option<f64>,
    /// True when the figure is only a lower bound.
    #[serde(default)]
    pub is_bound: bool,
    /// Its 90 % interval; absent with fewer trials than a verdict needs.
    pub interval: Option<Range>,
    /// Trials that it rests on.
    pub repeats: u32,
    /// Trials in which the configuration did not work, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_working: Option<NotWorking>,
    /// Why a percentile has no figure, where its trials have too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// True when the figure itself was compared with the limit and nothing tested, because the run
    /// has too few blocks for a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_untested: bool,
    /// Whether it was kept.
    pub verdict: LimitVerdict,
}

/// Too few transactions in a trial for a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shortage {
    /// Percentage of the percentile, 0 to 100.
    pub percentile: f64,
    /// Transactions of the trial that has the fewest.
    pub transactions: u64,
    /// Transactions that the percentile needs in each trial.
    pub needed: u64,
    /// Measured time that would probably do, in seconds; absent where a trial does not end after a
    /// time, or had no transactions.
    pub duration_s: Option<f64>,
}

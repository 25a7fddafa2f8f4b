//! Limits and their verdicts.

use crate::model::comparisons::NotWorking;
use crate::model::estimate::Range;
pub use dyno_model::limit::LimitVerdict;
use dyno_model::limit::{LimitMetric, LimitPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit at one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRow {
    /// The metric that the limit applies to.
    pub metric: LimitMetric,
    /// The limit: per second, in milliseconds, in per cent; 0 for losses.
    pub value: f64,
    /// The part of the trial that the limit applies to; absent: the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// Index into [`crate::model::ReportModel::configurations`].
    pub configuration: usize,
    /// Geometric mean over valid trials, the percentage, or the number of lost commits over all
    /// measured trials, in the unit of `value`; absent without a value.
    pub figure: Option<f64>,
    /// True when it is only a lower bound.
    pub is_bound: bool,
    /// Its 90 % interval; absent with fewer trials than a verdict needs.
    pub interval: Option<Range>,
    /// Number of trials it is based on.
    pub repeats: u32,
    /// Trials in which the configuration did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_working: Option<NotWorking>,
    /// Why a percentile has no value, if its trials have too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// The lower percentile that `figure` is instead, which all trials have; a lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_percentile: Option<LimitMetric>,
    /// Number of valid trials that would decide an undecided limit if they had the same mean and
    /// variation; absent if unknown or above 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials_needed: Option<u32>,
    /// True when the value was compared with the limit without a statistical test, because the run
    /// has too few blocks for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_untested: bool,
    /// Whether the limit was passed.
    pub verdict: LimitVerdict,
}

/// Too few transactions in a trial for a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shortage {
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// Smallest number of transactions in a trial.
    pub transactions: u64,
    /// Number of transactions that the percentile needs in each trial.
    pub needed: u64,
    /// Measured time that would probably suffice, in seconds; absent where trials do not end after
    /// a given time, or have no transactions.
    pub duration_s: Option<f64>,
}

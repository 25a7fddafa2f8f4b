//! Comparisons with their verdicts.

use crate::model::estimate::Range;
use dyno_model::plan::ComparisonMetric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The subject is better, and the difference is significant.
    Better,
    /// The subject is worse, and the difference is significant.
    Worse,
    /// The 90 % interval of the ratio lies inside the margin (two one-sided tests).
    Equivalent,
    /// The data do not decide the question.
    Inconclusive,
    /// One side has no usable results, or it did not work in some of its trials and the remaining
    /// results do not show it to be worse.
    Invalid,
}

impl Verdict {
    /// True for a significant difference.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }

    /// True when the data decide the question: different or equivalent.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self.differs() || self == Self::Equivalent
    }
}

/// Type of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum ComparisonOf {
    /// A system against the first system, at equal levels.
    System,
    /// A level of one factor against the first level measured in the same run, within a system,
    /// with equal other levels.
    Level {
        /// Index into [`crate::model::ReportModel::factors`].
        factor: usize,
    },
}

/// Why a configuration did not work in a trial.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NotWorkingReason {
    /// Its system died.
    SystemFailed,
    /// The trial could not be measured: the system did not start, no client could connect, or the
    /// data could not be loaded.
    NotMeasured,
    /// The trial ended before its stop rule was met.
    CutShort,
    /// Not a single transaction was committed.
    NothingCommitted,
    /// Too many transactions failed permanently.
    Failures,
    /// It completed too few of the transactions that arrived.
    FellBehind,
    /// Not a single transaction of a background workload was committed.
    BackgroundNothingCommitted,
    /// Too many transactions of a background workload failed permanently.
    BackgroundFailures,
    /// A background workload completed too few of the transactions that arrived.
    BackgroundFellBehind,
}

/// Trials in which a configuration did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotWorking {
    /// Number of such trials.
    pub trials: u32,
    /// Number of trials that ended.
    pub of: u32,
    /// The most frequent reason.
    pub because: NotWorkingReason,
}

impl NotWorking {
    /// The sum for two configurations, with the reason of the first.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { trials: self.trials + other.trials, of: self.of + other.of, ..self }
    }
}

/// A ratio of two sides, and its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Subject over baseline, a geometric mean over blocks, and over configuration pairs if there
    /// are several; absent when it is unknown, or the verdict is invalid.
    pub ratio: Option<f64>,
    /// The direction of the bound when a side's values are only lower bounds; absent when both are
    /// values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    /// Interval of the ratio at `interval_level`; absent with fewer than two blocks, and when the
    /// ratio is a bound.
    pub ratio_interval: Option<Range>,
    /// Confidence of the interval, 0 to 1: corrected like the verdict; 0.90 for equivalent, 0.95
    /// without verdicts.
    pub interval_level: Option<f64>,
    /// Two-sided p-value; absent without verdict, and when the effect was not tested.
    pub p: Option<f64>,
    /// p-value, corrected for the number of questions and metrics.
    pub p_corrected: Option<f64>,
    /// Smallest detectable ratio with a power of 80 %, as `1 + effect`; absent without verdict.
    pub detectable_ratio: Option<f64>,
    /// Whether the whole interval lies outside the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// Trials in which the subject did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_not_working: Option<NotWorking>,
    /// Trials in which the baseline did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_not_working: Option<NotWorking>,
    /// The verdict; absent when verdicts are disabled (see [`ComparisonRules::min_repeats`]).
    pub verdict: Option<Verdict>,
}

/// One comparison of two configurations with equal clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What differs.
    #[serde(flatten)]
    pub of: ComparisonOf,
    /// The metric compared.
    pub metric: ComparisonMetric,
    /// Number of clients on both sides.
    pub clients: u32,
    /// Index of the configuration that is evaluated.
    pub subject: usize,
    /// Index of the configuration that it is compared with.
    pub baseline: usize,
    /// Blocks (paired) or trials of the smaller side (unpaired) used.
    pub repeats: u32,
    /// The ratio, and the verdict on it.
    #[serde(flatten)]
    pub effect: Effect,
}

/// A ratio in which one or both sides are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RatioBound {
    /// Values of the subject are lower bounds: the ratio is this or more.
    AtLeast,
    /// Values of the baseline are lower bounds: the ratio is this or less.
    AtMost,
    /// Both are: the ratio is unknown.
    Unknown,
}

impl RatioBound {
    /// From whether the values of subject and baseline are lower bounds.
    #[must_use]
    pub fn of(is_subject: bool, is_baseline: bool) -> Option<Self> {
        match (is_subject, is_baseline) {
            (false, false) => None,
            (true, false) => Some(Self::AtLeast),
            (false, true) => Some(Self::AtMost),
            (true, true) => Some(Self::Unknown),
        }
    }
}

/// How comparisons were made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRules {
    /// Smaller relative differences count as none (0.05 = 5 %).
    pub margin: f64,
    /// Probability of at least one false better or worse over all comparisons of a metric.
    pub alpha: f64,
    /// Share of a question's significance level reserved for the secondary metrics until the
    /// primary one is decided.
    pub reserve: f64,
    /// Minimum number of repeats for a verdict.
    pub min_repeats: u32,
    /// True when the plan has enough blocks for verdicts.
    pub verdicts_enabled: bool,
    /// Number of comparisons corrected for, per metric.
    pub family: u32,
}

/// Interim analyses during the run, for which verdicts and intervals are corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalyses {
    /// Number of interim analyses.
    pub interim_analyses: u32,
    /// Blocks that were measured.
    pub blocks: u32,
    /// Maximum number of blocks.
    pub blocks_most: u32,
    /// Why measuring ended.
    pub end: RunEnd,
}

/// How a run with interim analyses ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every question was decided.
    Decided,
    /// The remaining questions were unlikely to be decided within the budget.
    Hopeless,
    /// Another block would have exceeded the budget.
    Budget,
    /// A limit that ends the run failed.
    Limit,
    /// All planned blocks were measured.
    AllBlocks,
    /// It has not ended, or the user ended it.
    Unfinished,
}

//! Comparisons with their verdicts.

use super::estimate::Range;
use dyno_model::plan::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The subject is better, and the difference is real.
    Better,
    /// The subject is worse, and the difference is real.
    Worse,
    /// The 90 % interval of the ratio lies inside the margin (two one-sided tests).
    Equivalent,
    /// The data do not tell.
    Inconclusive,
    /// One side has no usable figures, or it did not work in some of its trials and what is left
    /// does not speak against it.
    Invalid,
}

impl Verdict {
    /// True for a real difference.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }

    /// True where the data tell: different or equivalent.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self.differs() || self == Self::Equivalent
    }
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum ComparisonOf {
    /// A system against the first system, at equal levels.
    System,
    /// A level of one factor against the first one measured beside it, within a system, other
    /// levels equal.
    Level {
        /// Index into [`super::ReportModel::factors`].
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
    /// The trial could not be measured: the system did not start, nobody could connect, the data
    /// could not be loaded.
    NotMeasured,
    /// The trial ended before its stop rule was met.
    CutShort,
    /// Not a single transaction was committed.
    NothingCommitted,
    /// Too many transactions failed for good.
    Failures,
    /// It did too little of what arrived.
    KeptBehind,
    /// Not a single transaction of a background workload was committed.
    BackgroundNothingCommitted,
    /// Too many transactions of a background workload failed for good.
    BackgroundFailures,
    /// A background workload did too little of what arrived.
    BackgroundKeptBehind,
}

/// Trials in which a configuration did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotWorking {
    /// How many.
    pub trials: u32,
    /// Of so many that ended.
    pub of: u32,
    /// The reason that most of them share.
    pub because: NotWorkingReason,
}

impl NotWorking {
    /// Those of two configurations together, with the reason of the first.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { trials: self.trials + other.trials, of: self.of + other.of, ..self }
    }
}

/// A ratio of two sides, and what was judged of it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Subject over baseline, a geometric mean over blocks, and over cells where there are several;
    /// absent when it is not known, or the verdict is invalid.
    pub ratio: Option<f64>,
    /// What the ratio is when a side's figures are only lower bounds; absent when both are values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    /// Interval of the ratio at `interval_level`; absent with fewer than two blocks, and when the
    /// ratio is a bound.
    pub ratio_interval: Option<Range>,
    /// Confidence of the interval, 0 to 1: as corrected as the verdict is ([`crate::stats::gate`]);
    /// of what is equivalent 0.90, without verdicts 0.95.
    #[serde(default)]
    pub interval_level: Option<f64>,
    /// Two-sided p-value; absent without verdict.
    pub p: Option<f64>,
    /// p-value after the correction by the gate ([`crate::stats::gate`]).
    pub p_corrected: Option<f64>,
    /// Smallest ratio that would have been seen four times in five, as `1 + effect`; absent without
    /// verdict.
    pub detectable_ratio: Option<f64>,
    /// Whether the whole interval lies beyond the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// Trials in which the subject did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_not_working: Option<NotWorking>,
    /// Trials in which the baseline did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_not_working: Option<NotWorking>,
    /// What follows; absent when verdicts are disabled (see [`ComparisonRules::min_repeats`]).
    pub verdict: Option<Verdict>,
}

/// One comparison of two configurations with equal clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What differs.
    #[serde(flatten)]
    pub of: ComparisonOf,
    /// What is compared.
    pub metric: Metric,
    /// Number of clients on both sides.
    pub clients: u32,
    /// Configuration that is judged.
    pub subject: usize,
    /// Configuration it is judged against.
    pub baseline: usize,
    /// Blocks (paired) or trials of the smaller side (unpaired) used.
    pub repeats: u32,
    /// The ratio, and the verdict on it.
    #[serde(flatten)]
    pub effect: Effect,
}

/// A ratio of which one side or both are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RatioBound {
    /// Figures of the subject are lower bounds: the ratio is this or more.
    AtLeast,
    /// Figures of the baseline are lower bounds: the ratio is this or less.
    AtMost,
    /// Both: nothing is known of the ratio.
    Unknown,
}

impl RatioBound {
    /// From whether figures of subject and baseline are lower bounds.
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
    /// Differences inside this share count as none (0.05 = 5 %).
    pub margin: f64,
    /// Risk of a false better or worse over all comparisons of a metric together.
    pub alpha: f64,
    /// Share of the level of a question that the metrics beside the primary one have before that is
    /// decided.
    #[serde(default)]
    pub reserve: f64,
    /// Fewer repeats than this give no verdict.
    pub min_repeats: u32,
    /// True when the plan has enough blocks for verdicts.
    pub verdicts_enabled: bool,
    /// Number of comparisons corrected for, per metric.
    pub family: u32,
}

/// Looks at the data while they were measured, for which verdicts and intervals are corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalyses {
    /// How many.
    pub interim_analyses: u32,
    /// Blocks that were measured.
    pub blocks: u32,
    /// Most blocks that were to be measured.
    pub blocks_most: u32,
    /// Why no more were measured.
    pub ending: Ending,
}

/// How a run ended that was looked at after each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every question was decided.
    Decided,
    /// Deciding the others had become hopeless.
    Hopeless,
    /// Another block would not have fitted into the budget.
    Budget,
    /// A limit that ends the run was broken.
    Limit,
    /// All blocks that were planned were measured.
    AllBlocks,
    /// It has not ended, or the user ended it.
    Unfinished,
}

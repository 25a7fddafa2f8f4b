//! What follows from the figures: comparisons with their verdicts, and conclusions.

use super::{Estimate, GrowthLead, GrowthMoment, Range};
use dyno_model::finding::Finding;
use dyno_model::plan::Metric;
use serde::{Deserialize, Serialize};

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// One side has no usable figures, or it did not work in some of its trials and what is left does not speak against it.
    Invalid,
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum ComparisonOf {
    /// A system against the first system, at equal levels.
    System,
    /// A level of one factor against the first one measured beside it, within a system, other levels equal.
    Level {
        /// Index into [`super::ReportModel::factors`].
        factor: usize,
    },
}

/// Why a treatment did not work in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotWorkingReason {
    /// Its system died.
    SystemFailed,
    /// The trial could not be measured: the system did not start, nobody could connect, the data could not be loaded.
    NotMeasured,
    /// The trial ended before its stop rule was met.
    CutShort,
    /// Not a single transaction was committed.
    NothingCommitted,
    /// Too many transactions failed for good.
    Failures,
    /// It did too little of what arrived.
    KeptBehind,
}

/// Trials in which a treatment did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotWorking {
    /// How many.
    pub trials: u32,
    /// Of so many that ended.
    pub of: u32,
    /// The reason that most of them share.
    pub because: NotWorkingReason,
}

/// One comparison of two treatments with equal clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What differs.
    #[serde(flatten)]
    pub of: ComparisonOf,
    /// What is compared.
    pub metric: Metric,
    /// Number of clients on both sides.
    pub clients: u32,
    /// Treatment that is judged.
    pub subject: usize,
    /// Treatment it is judged against.
    pub baseline: usize,
    /// Subject over baseline (geometric mean over blocks); absent when a trial that is compared has no such figure, or the verdict is invalid.
    pub ratio: Option<f64>,
    /// What the ratio is when a side's figures are only lower bounds; absent when both are values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    /// Interval of the ratio at `interval_level`; absent with fewer than two blocks, and when the ratio is a bound.
    pub ratio_interval: Option<Range>,
    /// Confidence of the interval, 0 to 1: as corrected as the verdict is ([`crate::stats::verdict::shared_risk`]); without verdicts 0.95.
    #[serde(default)]
    pub interval_level: Option<f64>,
    /// Blocks (paired) or trials of the smaller side (unpaired) used.
    pub repeats: u32,
    /// Two-sided p-value; absent without verdict.
    pub p: Option<f64>,
    /// p-value after Benjamini and Hochberg's correction over all comparisons of this metric.
    pub p_corrected: Option<f64>,
    /// Smallest ratio that this comparison would have seen four times in five, as `1 + effect`; absent without verdict.
    pub detectable_ratio: Option<f64>,
    /// Whether the whole interval lies beyond the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// Trials in which the subject did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_not_working: Option<NotWorking>,
    /// Trials in which the baseline did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_not_working: Option<NotWorking>,
    /// Outcome; absent when verdicts are disabled (see [`ComparisonRules::min_repeats`]).
    pub verdict: Option<Verdict>,
}

/// A ratio of which one side or both are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRules {
    /// Differences inside this share count as none (0.05 = 5 %).
    pub margin: f64,
    /// Risk of a false better or worse over all comparisons of a metric together.
    pub alpha: f64,
    /// Fewer repeats than this give no verdict.
    pub min_repeats: u32,
    /// True when the plan has enough blocks for verdicts.
    pub verdicts_enabled: bool,
    /// Number of comparisons corrected for, per metric.
    pub family: u32,
}

/// A statement that follows from the figures. [`crate::messages::conclusion`] makes a sentence of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "conclusion", rename_all = "kebab-case")]
pub enum Conclusion {
    /// Trials are missing or failed; what follows rests on the rest.
    Incomplete {
        /// Planned.
        planned: u32,
        /// With figures.
        measured: u32,
        /// Could not be measured.
        failed: u32,
        /// Never finished.
        missing: u32,
        /// True when the user ended the run.
        is_interrupted: bool,
    },
    /// Some trials' figures may not be used.
    InvalidTrials {
        /// How many.
        invalid: u32,
        /// Of so many measured.
        measured: u32,
        /// The doubt that most of them share.
        finding: Finding,
    },
    /// A line did not work in some of its trials.
    DidNotWork {
        /// Index into [`super::ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which this happened.
        clients: Vec<u32>,
        /// Trials there, and the reason that most of them share.
        not_working: NotWorking,
    },
    /// There are too few blocks for verdicts.
    VerdictsDisabled {
        /// Blocks planned.
        blocks: u32,
        /// Blocks needed.
        needed: u32,
    },
    /// Acknowledged updates are not in the data.
    LostUpdates {
        /// Index into [`super::ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which updates were lost.
        clients: Vec<u32>,
        /// Smallest percentage among them, if nothing that is in doubt took effect.
        percent_min: f64,
        /// Largest percentage among them, if all that is in doubt took effect.
        percent_max: f64,
        /// Acknowledged updates lost at these.
        lost: u64,
        /// Acknowledged commits at these.
        committed: u64,
        /// Statements that reported an error in the same trials.
        statement_errors: u64,
        /// Numbers of clients at which none was lost.
        clients_without: Vec<u32>,
    },
    /// Whether acknowledged updates are missing cannot be said: transactions in doubt or cut off may stand in their place.
    UndecidedUpdates {
        /// Index into [`super::ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which it is so.
        clients: Vec<u32>,
        /// Acknowledged commits at these.
        committed: u64,
        /// Transactions in doubt or cut off at these.
        in_doubt: u64,
        /// Acknowledged updates that may be missing, at most.
        lost_max: u64,
    },
    /// All acknowledged updates are in the data.
    NoLostUpdates {
        /// Indices into [`super::ReportModel::lines`] of every line for which this holds at all numbers of clients.
        lines: Vec<usize>,
        /// Acknowledged commits checked.
        committed: u64,
        /// Largest number of clients among them.
        clients_max: u32,
    },
    /// Updates are in the data that nobody was told of, a table has a wrong number of rows, or a column a wrong sum.
    AuditViolated {
        /// Index into [`super::ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which it happened.
        clients: Vec<u32>,
        /// Updates in the data that were not acknowledged.
        phantom: u64,
        /// Tables with a wrong number of rows.
        tables: Vec<String>,
        /// Sums that are wrong, as SQL writes them.
        sums: Vec<String>,
    },
    /// Where a line is highest.
    PeakThroughput {
        /// Index into [`super::ReportModel::lines`].
        line: usize,
        /// Number of clients.
        clients: u32,
        /// Throughput there.
        throughput: Estimate,
        /// True when the peak stands at the largest number of clients measured, so it may lie beyond.
        is_at_end: bool,
        /// How many numbers of clients were measured; with one there is no peak, only a figure.
        clients_measured: u32,
    },
    /// One treatment was ahead while the table was small, the other when it was large.
    GrowthCrossing {
        /// Who was ahead at first.
        before: GrowthLead,
        /// Who was ahead in the end.
        after: GrowthLead,
    },
    /// One treatment was ahead over these sizes of the table.
    GrowthLead {
        /// Who, where and by how much.
        lead: GrowthLead,
    },
    /// A treatment where it was fastest and where its table was largest.
    GrowthCourse {
        /// Index of the treatment.
        treatment: usize,
        /// The step with most rows per second.
        fastest: GrowthMoment,
        /// The last step.
        last: GrowthMoment,
    },
    /// Comparisons of two lines that had the same outcome, over all numbers of clients where they had it.
    Comparison {
        /// What differs.
        of: ComparisonOf,
        /// Metric compared.
        metric: Metric,
        /// Index into [`super::ReportModel::lines`] of what is judged.
        subject: usize,
        /// Index into [`super::ReportModel::lines`] of what it is judged against.
        baseline: usize,
        /// The outcome; absent when verdicts are disabled.
        verdict: Option<Verdict>,
        /// Numbers of clients.
        clients: Vec<u32>,
        /// Smallest and largest ratio; absent when invalid.
        ratio: Option<Range>,
        /// Smallest lower and largest upper end of the intervals.
        ratio_interval: Option<Range>,
        /// Confidence of the intervals, 0 to 1.
        #[serde(default)]
        interval_level: Option<f64>,
        /// Which of the two lines did not work in some of their trials there.
        #[serde(default)]
        not_working: Vec<usize>,
        /// Whether every interval lies beyond the margin.
        exceeds_margin: bool,
        /// Largest of the smallest ratios that could have been seen.
        detectable_ratio: Option<f64>,
    },
}

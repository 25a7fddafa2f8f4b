//! What follows from the figures, as typed statements.

use super::comparisons::{ComparisonOf, InterimAnalyses, NotWorking, Verdict};
use super::estimate::{Estimate, Range};
use super::growth::{GrowthLead, GrowthMoment};
use super::limits::{LimitVerdict, Shortage};
use dyno_model::limit::{LimitMeasure, LimitPart};
use dyno_model::plan::Metric;
use dyno_model::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement that follows from the figures. `dyno-report` makes a sentence of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "conclusion", rename_all = "kebab-case")]
pub enum Conclusion {
    /// How equally a line served databases that its clients are spread over, where that was least
    /// so.
    Served {
        /// Index into [`super::ReportModel::configurations`].
        configuration: usize,
        /// The database whose clients committed the fewest.
        least: String,
        /// Transactions per second and client in it.
        lowest: f64,
        /// The one whose clients committed the most.
        most: String,
        /// Transactions per second and client in it; above 0.
        highest: f64,
    },
    /// What somebody claims of two systems, beside the figures.
    Claim {
        /// The system that is said to commit more transactions per second.
        faster: String,
        /// The other.
        slower: String,
        /// Where it does.
        holds: ClaimCells,
        /// Where it commits fewer.
        contradicted: ClaimCells,
        /// Numbers of clients at which it cannot be told.
        undecided: Vec<u32>,
        /// False when there are too few repeats to tell a difference from chance.
        is_judged: bool,
        /// Repeats of the configuration that has the fewest.
        repeats: u32,
    },
    /// Trials are missing or failed; what follows rests on the rest.
    Incomplete {
        /// Planned.
        planned: u32,
        /// Measured to their end.
        measured: u32,
        /// Could not be measured.
        failed: u32,
        /// Never finished; those that were cut short have figures all the same.
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
        warning: Warning,
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
    /// The data were looked at while they were measured, which ended the run or did not.
    InterimAnalyses {
        /// How often, and how it ended.
        #[serde(flatten)]
        interim_analyses: InterimAnalyses,
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
    /// Whether acknowledged updates are missing cannot be said: transactions in doubt or cut off
    /// may stand in their place.
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
        /// Indices into [`super::ReportModel::lines`] of every line for which this holds at all
        /// numbers of clients.
        lines: Vec<usize>,
        /// Acknowledged commits checked.
        committed: u64,
        /// Largest number of clients among them.
        clients_max: u32,
    },
    /// Acknowledged commits have no row in the data.
    LostCommits {
        /// Index into [`super::ReportModel::audits`].
        audit: usize,
    },
    /// Every acknowledged commit has its row in the data.
    NoLostCommits {
        /// Configurations for which this holds.
        configurations: u32,
        /// Acknowledged commits checked.
        acknowledged: u64,
    },
    /// Transactions did to one another what the isolation level forbids.
    Anomalies {
        /// Index into [`super::ReportModel::audits`].
        audit: usize,
    },
    /// They did what the level allows, or nobody knows the level.
    AnomaliesAllowed {
        /// Index into [`super::ReportModel::audits`].
        audit: usize,
    },
    /// Nothing of the kind was found in the histories.
    NoAnomalies {
        /// Configurations for which this holds.
        configurations: u32,
        /// Acknowledged commits in their histories.
        committed: u64,
    },
    /// What faults did that were made on purpose.
    Fault {
        /// Index into [`super::ReportModel::faults`].
        row: usize,
    },
    /// Updates are in the data that nobody was told of, a table has a wrong number of rows, or a
    /// column a wrong sum.
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
        /// True when the peak stands at the largest number of clients measured, so it may lie
        /// beyond.
        is_at_end: bool,
        /// How many numbers of clients were measured; with one there is no peak, only a figure.
        clients_measured: u32,
    },
    /// One configuration was ahead while the table was small, the other when it was large.
    GrowthCrossing {
        /// Who was ahead at first.
        before: GrowthLead,
        /// Who was ahead in the end.
        after: GrowthLead,
    },
    /// One configuration was ahead over these sizes of the table.
    GrowthLead {
        /// Who, where and by how much.
        lead: GrowthLead,
    },
    /// A configuration where it was fastest, where it was slowest and where its table was largest.
    GrowthCourse {
        /// Index of the configuration.
        configuration: usize,
        /// The step with most rows per second.
        fastest: GrowthMoment,
        /// The step with fewest; absent in models of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slowest: Option<GrowthMoment>,
        /// The last step.
        last: GrowthMoment,
    },
    /// A limit, over all configurations where it came out the same.
    Limit {
        /// The figure that the limit applies to.
        measure: LimitMeasure,
        /// Where it lies, as in [`super::LimitRow::value`].
        value: f64,
        /// The part of the trial that the limit applies to; absent: the whole trial.
        #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
        part: Option<LimitPart>,
        /// Whether it was kept.
        verdict: LimitVerdict,
        /// In how many configurations.
        number: u32,
        /// Of so many that have to keep it.
        of: u32,
        /// The configuration among them that is nearest to the limit, or farthest beyond it.
        worst: WorstOfLimit,
        /// Trials in which that one did not work.
        not_working: Option<NotWorking>,
        /// Why that one has no figure, where its trials have too few transactions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shortage: Option<Shortage>,
        /// As in [`super::LimitRow::is_untested`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_untested: bool,
    },
    /// The highest load that a system takes.
    Found {
        /// Index into [`super::ReportModel::searches`].
        row: usize,
    },
    /// The answer to a question of the experiment.
    Question {
        /// Index into [`super::ReportModel::questions`].
        question: usize,
    },
    /// Comparisons of two lines that had the same outcome, over all numbers of clients where they
    /// had it.
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

/// Where a claim holds, or is contradicted, and by how much.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCells {
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Smallest and largest difference there, as a share of the slower system's throughput;
    /// positive. Absent without clients.
    pub difference: Option<Range>,
}

/// The configuration that is worst by what a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorstOfLimit {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Its figure, as in [`super::LimitRow::figure`].
    pub figure: Option<f64>,
}

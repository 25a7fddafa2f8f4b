//! Conclusions from the results, as typed statements.

use crate::model::comparisons::{ComparisonOf, InterimAnalyses, NotWorking, Verdict};
use crate::model::estimate::{Estimate, Range};
use crate::model::growth::{GrowthLead, GrowthMoment};
use crate::model::limits::{LimitVerdict, Shortage};
use dyno_model::limit::{LimitMetric, LimitPart};
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A conclusion from the results. `dyno-report` turns it into a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "conclusion", rename_all = "kebab-case")]
pub enum Conclusion {
    /// How evenly a series served the databases of its clients, at the configuration with the
    /// largest difference.
    Served {
        /// Index into [`crate::model::ReportModel::configurations`].
        configuration: usize,
        /// The database whose clients committed the fewest.
        least: String,
        /// Transactions per second and client in it.
        lowest: f64,
        /// The database whose clients committed the most.
        most: String,
        /// Transactions per second and client in it; above 0.
        highest: f64,
    },
    /// A claim about two systems, checked against the results.
    Claim {
        /// The system that is claimed to commit more transactions per second.
        faster: String,
        /// The other system.
        slower: String,
        /// Where the claim holds.
        holds: ClaimPairs,
        /// Where it is refuted.
        contradicted: ClaimPairs,
        /// Numbers of clients at which it is undecided.
        undecided: Vec<u32>,
        /// False when there are too few repeats to tell a difference from chance.
        is_judged: bool,
        /// Smallest number of repeats of a configuration.
        repeats: u32,
    },
    /// Trials are missing or failed; the other conclusions rest on the rest.
    Incomplete {
        /// Planned.
        planned: u32,
        /// Measured completely.
        measured: u32,
        /// Could not be measured.
        failed: u32,
        /// Never finished; those that were cut short still have results.
        missing: u32,
        /// True when the user ended the run.
        is_interrupted: bool,
    },
    /// Results of some trials are invalid.
    InvalidTrials {
        /// How many.
        invalid: u32,
        /// Number of measured trials.
        measured: u32,
        /// The most frequent warning.
        warning: Warning,
    },
    /// A series did not work in some of its trials.
    DidNotWork {
        /// Index into [`crate::model::ReportModel::series`].
        series: usize,
        /// Numbers of clients at which this happened.
        clients: Vec<u32>,
        /// These trials, and their most frequent reason.
        not_working: NotWorking,
    },
    /// There are too few blocks for verdicts.
    VerdictsDisabled {
        /// Blocks planned.
        blocks: u32,
        /// Blocks needed.
        needed: u32,
    },
    /// The run had interim analyses, which may have ended it.
    InterimAnalyses {
        /// Their number, and how the run ended.
        #[serde(flatten)]
        interim_analyses: InterimAnalyses,
    },
    /// Acknowledged updates are missing from the data.
    LostUpdates {
        /// Index into [`crate::model::ReportModel::series`].
        series: usize,
        /// Numbers of clients at which updates were lost.
        clients: Vec<u32>,
        /// Smallest percentage among them, if no transaction in doubt took effect.
        percent_min: f64,
        /// Largest percentage among them, if all transactions in doubt took effect.
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
    /// Unknown whether acknowledged updates are missing: transactions in doubt or cut off may hide
    /// missing ones.
    UndecidedUpdates {
        /// Index into [`crate::model::ReportModel::series`].
        series: usize,
        /// Numbers of clients at which this is unknown.
        clients: Vec<u32>,
        /// Acknowledged commits at these.
        committed: u64,
        /// Transactions in doubt or cut off at these.
        in_doubt: u64,
        /// Upper bound of missing acknowledged updates.
        lost_max: u64,
    },
    /// All acknowledged updates are in the data.
    NoLostUpdates {
        /// Indices into [`crate::model::ReportModel::series`] of every series without lost updates
        /// at any number of clients.
        series: Vec<usize>,
        /// Acknowledged commits checked.
        committed: u64,
        /// Largest number of clients among them.
        clients_max: u32,
    },
    /// Acknowledged commits have no row in the data.
    LostCommits {
        /// Index into [`crate::model::ReportModel::audits`].
        audit: usize,
    },
    /// Every acknowledged commit has its row in the data.
    NoLostCommits {
        /// Number of such configurations.
        configurations: u32,
        /// Acknowledged commits checked.
        acknowledged: u64,
    },
    /// Anomalies that the isolation level forbids occurred.
    Anomalies {
        /// Index into [`crate::model::ReportModel::audits`].
        audit: usize,
    },
    /// Only anomalies that the level allows occurred, or the level is unknown.
    AnomaliesAllowed {
        /// Index into [`crate::model::ReportModel::audits`].
        audit: usize,
    },
    /// No anomalies were found in the histories.
    NoAnomalies {
        /// Number of such configurations.
        configurations: u32,
        /// Acknowledged commits in their histories.
        committed: u64,
    },
    /// Effects of injected faults.
    Fault {
        /// Index into [`crate::model::ReportModel::faults`].
        row: usize,
    },
    /// The data contain unacknowledged updates, a table has a wrong number of rows, or a column has
    /// a wrong sum.
    AuditViolated {
        /// Index into [`crate::model::ReportModel::series`].
        series: usize,
        /// Numbers of clients at which it happened.
        clients: Vec<u32>,
        /// Updates in the data that were not acknowledged.
        phantom: u64,
        /// Tables with a wrong number of rows.
        tables: Vec<String>,
        /// Wrong sums, as SQL expressions.
        sums: Vec<String>,
    },
    /// Row counts and values were as expected, where no other conclusion says that nothing was
    /// lost.
    DataIntact {
        /// Audited trials.
        trials: u32,
        /// Largest number of row counts and values checked in one configuration.
        checks: u32,
    },
    /// The highest throughput of a series.
    PeakThroughput {
        /// Index into [`crate::model::ReportModel::series`].
        series: usize,
        /// Number of clients.
        clients: u32,
        /// Throughput there.
        throughput: Estimate,
        /// True when the peak is at the largest measured number of clients, so that the real peak
        /// may lie beyond.
        is_at_end: bool,
        /// Numbers of clients measured; with one there is no peak.
        clients_measured: u32,
    },
    /// One configuration was faster while the table was small, the other when it was large.
    GrowthCrossing {
        /// The faster one at first.
        before: GrowthLead,
        /// The faster one at the end.
        after: GrowthLead,
    },
    /// One configuration was faster over these sizes of the table.
    GrowthLead {
        /// Which, where and by how much.
        lead: GrowthLead,
    },
    /// A configuration's fastest and slowest steps, and its last one.
    GrowthSteps {
        /// Index of the configuration.
        configuration: usize,
        /// The step with the most rows per second.
        fastest: GrowthMoment,
        /// The step with the fewest.
        slowest: GrowthMoment,
        /// The last step.
        last: GrowthMoment,
    },
    /// A limit, over all configurations with the same verdict.
    Limit {
        /// The figure that the limit applies to.
        metric: LimitMetric,
        /// The limit, as in [`crate::model::LimitRow::value`].
        value: f64,
        /// The part of the trial that the limit applies to; absent: the whole trial.
        #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
        part: Option<LimitPart>,
        /// Whether it was passed.
        verdict: LimitVerdict,
        /// Number of configurations with this verdict.
        configurations: u32,
        /// Number of configurations that it applies to.
        of: u32,
        /// The configuration among them that is closest to the limit, or exceeds it most.
        worst: WorstOfLimit,
        /// Trials in which that one did not work.
        not_working: Option<NotWorking>,
        /// Why that one has no value, if its trials have too few transactions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shortage: Option<Shortage>,
        /// As in [`crate::model::LimitRow::lower_percentile`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lower_percentile: Option<LimitMetric>,
        /// As in [`crate::model::LimitRow::trials_needed`], the largest of these configurations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trials_needed: Option<u32>,
        /// As in [`crate::model::LimitRow::is_untested`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_untested: bool,
    },
    /// The highest load that a system sustains.
    Found {
        /// Index into [`crate::model::ReportModel::searches`].
        row: usize,
    },
    /// The answer to a question of the experiment.
    Question {
        /// Index into [`crate::model::ReportModel::questions`].
        question: usize,
    },
    /// Comparisons of two series with the same verdict, over all client counts with this
    /// verdict.
    Comparison {
        /// What differs.
        of: ComparisonOf,
        /// Metric compared.
        metric: ComparisonMetric,
        /// Index into [`crate::model::ReportModel::series`] of the subject.
        subject: usize,
        /// Index into [`crate::model::ReportModel::series`] of the baseline.
        baseline: usize,
        /// The verdict; absent when verdicts are disabled.
        verdict: Option<Verdict>,
        /// True when there is no verdict because the question over all of its pairs has no answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_question_unanswered: bool,
        /// Numbers of clients.
        clients: Vec<u32>,
        /// Smallest and largest ratio; absent when invalid.
        ratio: Option<Range>,
        /// Smallest lower and largest upper end of the intervals.
        ratio_interval: Option<Range>,
        /// Confidence of the intervals, 0 to 1.
        interval_level: Option<f64>,
        /// Which of the two series did not work in some of these trials.
        not_working: Vec<usize>,
        /// Whether every interval lies outside the margin.
        exceeds_margin: bool,
        /// Largest of the smallest detectable ratios.
        detectable_ratio: Option<f64>,
    },
}

/// Where a claim holds or is refuted, and by how much.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClaimPairs {
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Smallest and largest difference there, relative to the slower system's throughput; positive.
    /// Absent without clients.
    pub difference: Option<Range>,
}

/// The configuration with the worst value of a limit's metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorstOfLimit {
    /// Index into [`crate::model::ReportModel::configurations`].
    pub configuration: usize,
    /// Its value, as in [`crate::model::LimitRow::figure`].
    pub figure: Option<f64>,
}

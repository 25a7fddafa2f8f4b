//! The report as data: every number and every doubt that a renderer may show, already computed and tagged with its unit.
//!
//! [`crate::analysis`] makes it, the renderers only lay it out: they format numbers and pick words, they compute nothing.
//! Its JSON form (`dyno report --format json`) is public and versioned by [`REPORT_FORMAT`]; fields are only ever added
//! within one version.
//!
//! # How to read it
//! * A [`LineName`] is what a chart draws as one line: a system with one level of every factor. [`ReportModel::lines`]
//!   lists them; everything else refers to them by index.
//! * A [`TreatmentRow`] is a line at one number of clients. [`ReportModel::treatments`] has the order of the plan;
//!   everything else refers to treatments by index.
//! * [`Estimate`]s are over blocks: the mean of the trials' figures with the 95 % interval of Student's t.
//!   [`MergedLatency`] and [`PercentileCurve`] come from merged histograms; percentiles are never averaged into them.
//! * Figures of invalid trials are in no estimate. They stay in [`ReportModel::trials`], with the reason.

use crate::store::environment::Environment;
use dyno_model::audit::{AuditVerdict, LostUpdateWitness};
use dyno_model::failure::FailureKind;
use dyno_model::finding::{Finding, Severity};
use dyno_model::plan::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON form. A reader of version N understands every report of version N, whatever fields were added.
pub const REPORT_FORMAT: u32 = 1;

/// Everything a report shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportModel {
    /// [`REPORT_FORMAT`] of the writer.
    pub report_format: u32,
    /// The experiment's title.
    pub title: String,
    /// Its description, perhaps empty.
    pub description: String,
    /// Where, when and with what it was measured.
    pub provenance: Provenance,
    /// What was planned against what is there.
    pub completeness: Completeness,
    /// What follows, most important first. Rendered to whole sentences by [`crate::messages::conclusion`].
    pub conclusions: Vec<Conclusion>,
    /// Names of the factors besides system and clients, as in the spec.
    pub factors: Vec<String>,
    /// Lines of charts: systems with levels.
    pub lines: Vec<LineName>,
    /// One row per treatment, in the plan's order.
    pub treatments: Vec<TreatmentRow>,
    /// Every planned trial, in run order.
    pub trials: Vec<TrialRow>,
    /// Charts over clients, one per metric that was measured.
    pub panels: Vec<Panel>,
    /// Latency percentiles of merged histograms, one per treatment that has valid data.
    pub percentile_curves: Vec<PercentileCurve>,
    /// What happened second by second, one per measured trial.
    pub timelines: Vec<Timeline>,
    /// Latency of the transaction and of each kind of statement, one table per treatment that has valid data.
    pub statements: Vec<StatementTable>,
    /// What the data said afterwards, one row per treatment that was audited.
    pub audits: Vec<AuditRow>,
    /// What the generator measured of itself, one row per treatment that was measured.
    pub generator: Vec<GeneratorRow>,
    /// Doubts, worst first, one row per kind of doubt.
    pub findings: Vec<FindingRow>,
    /// Comparisons of systems and of levels at equal clients.
    pub comparisons: Vec<Comparison>,
    /// How comparisons were made; the text below their table.
    pub comparison_rules: ComparisonRules,
    /// Figures published elsewhere.
    pub published: Vec<PublishedSeries>,
}

impl ReportModel {
    /// The line of a treatment.
    #[must_use]
    pub fn line_of(&self, treatment: usize) -> &LineName {
        &self.lines[self.treatments[treatment].line]
    }

    /// The panel of a metric, if it was measured.
    #[must_use]
    pub fn panel(&self, metric: Metric) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.metric == metric)
    }
}

/// Unit of a value; renderers choose the decimals and the symbol by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Committed transactions per second.
    TransactionsPerSecond,
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Unit of all values here.
    pub unit: Unit,
    /// Arithmetic mean over the valid trials.
    pub mean: f64,
    /// 95 % confidence interval by Student's t; absent with fewer than two repeats.
    pub interval: Option<Range>,
    /// Number of valid trials.
    pub repeats: u32,
}

/// A closed range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end, at least `low`.
    pub high: f64,
}

/// Where, when and with what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Short name of the experiment.
    pub experiment: String,
    /// Name of the run's folder.
    pub run: String,
    /// UTC time at which the run began, RFC 3339.
    pub started_at: String,
    /// UTC time of the last event, RFC 3339.
    pub ended_at: String,
    /// Version of dyno that measured.
    pub dyno_version: String,
    /// Profile of the spec, if any.
    pub profile: Option<String>,
    /// Seed of order, keys and data.
    pub seed: u64,
    /// Number of blocks planned.
    pub blocks: u32,
    /// The machine of the generator.
    pub environment: Environment,
    /// Systems in the spec's order.
    pub systems: Vec<SystemRow>,
    /// Workloads used, `kind` with every option, one per distinct combination.
    pub workloads: Vec<WorkloadRow>,
    /// Rules of load and stopping that were used, one per distinct combination, as typed values.
    pub loads: Vec<dyno_model::plan::LoadPlan>,
    /// The spec as written (TOML).
    pub spec: String,
}

/// One system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemRow {
    /// Name in the spec.
    pub name: String,
    /// Protocol or server kind, e.g. `mariadb`, `postgres`.
    pub kind: String,
    /// True when dyno started it.
    pub is_managed: bool,
    /// Address for systems that were there already (no user, no password), else empty.
    pub address: String,
    /// Version it reported; empty when it never answered.
    pub version: String,
    /// How statements travelled: `prepared`, `simple`, `extended`.
    pub query_mode: String,
    /// Settings asked for in the spec.
    pub settings_asked: BTreeMap<String, String>,
    /// Settings as the server reported them.
    pub settings_read: BTreeMap<String, String>,
    /// Why it could not be started or died, if so.
    pub failure: Option<String>,
}

/// A workload with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRow {
    /// Name.
    pub kind: String,
    /// All options as text.
    pub options: BTreeMap<String, String>,
}

/// What was planned against what is there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Completeness {
    /// Trials planned.
    pub planned: u32,
    /// Trials with figures.
    pub measured: u32,
    /// Trials whose figures may be used.
    pub valid: u32,
    /// True when the run wrote its end and every trial has figures.
    pub is_complete: bool,
    /// True when the user ended it.
    pub is_interrupted: bool,
    /// True when the run wrote its end at all; else it was killed or is still going on.
    pub has_ended: bool,
    /// Trials that were never finished (ids).
    pub missing: Vec<String>,
    /// Trials that could not be measured.
    pub failed: Vec<FailedTrial>,
    /// What could not be read in the results folder: file, line and what is wrong, as sentences.
    pub unreadable: Vec<String>,
}

/// A trial that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedTrial {
    /// Its id.
    pub trial: String,
    /// Index of its treatment.
    pub treatment: usize,
    /// Why, in the words of the server or system.
    pub reason: String,
}

/// A system with one level of every factor: one line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineName {
    /// What to print, e.g. `MySQL (read-modify-write)`; unique in the report.
    pub label: String,
    /// Index into [`Provenance::systems`].
    pub system: usize,
    /// System's name.
    pub system_name: String,
    /// Level of each factor of [`ReportModel::factors`].
    pub levels: Vec<String>,
}

/// Whether figures may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// No doubt worth a warning.
    Valid,
    /// At least one trial carries a warning.
    Warned,
    /// No trial may be used.
    Invalid,
    /// There are no figures.
    Missing,
}

/// One treatment: a line at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreatmentRow {
    /// Index into [`ReportModel::lines`].
    pub line: usize,
    /// Number of clients.
    pub clients: u32,
    /// Trials planned.
    pub trials_planned: u32,
    /// Trials with figures.
    pub trials_measured: u32,
    /// Trials in the estimates.
    pub trials_valid: u32,
    /// Committed transactions per second.
    pub throughput: Option<Estimate>,
    /// Mean response time of a transaction (ms): mean over trials of each trial's mean.
    pub mean: Option<Estimate>,
    /// Median (ms): mean over trials of each trial's median.
    pub p50: Option<Estimate>,
    /// 95th percentile (ms): mean over trials of each trial's percentile.
    pub p95: Option<Estimate>,
    /// 99th percentile (ms): mean over trials of each trial's percentile.
    pub p99: Option<Estimate>,
    /// Percentiles of all valid trials' transactions together.
    pub merged: Option<MergedLatency>,
    /// Transactions committed, sum over measured trials.
    pub committed: u64,
    /// Transactions given up, sum over measured trials.
    pub failed: u64,
    /// Transactions cut off at the end, sum over measured trials.
    pub unfinished: u64,
    /// Attempts after the first, sum over measured trials.
    pub retries: u64,
    /// Failed transactions by kind, most frequent first.
    pub failed_by_kind: Vec<KindCount>,
    /// Retries by kind, most frequent first.
    pub retries_by_kind: Vec<KindCount>,
    /// Retries per committed transaction (ratio; 0 when nothing was committed).
    pub retries_per_commit: f64,
    /// Acknowledged updates that are not in the data, in percent of the commits checked; absent when that was not audited.
    pub lost_percent: Option<f64>,
    /// Verdict of all its audits.
    pub audit: AuditVerdict,
    /// Whether the figures may be used.
    pub validity: Validity,
}

/// A number of failures of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    /// Kind.
    pub kind: FailureKind,
    /// How many.
    pub count: u64,
}

/// Distribution of response times, all in milliseconds. A percentile is absent when fewer than ten values lie beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MergedLatency {
    /// Number of values.
    pub count: u64,
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

/// What became of a planned trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// Measured, figures are in the estimates.
    Valid,
    /// Measured, figures are in the estimates, with a warning.
    Warned,
    /// Measured, figures are in no estimate.
    Invalid,
    /// Could not be measured.
    Failed,
    /// Never finished.
    Missing,
}

/// One planned trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// Id.
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Index of its treatment.
    pub treatment: usize,
    /// What became of it.
    pub state: TrialState,
    /// Figures; absent when it failed or is missing.
    pub figures: Option<TrialFigures>,
    /// Its doubts.
    pub findings: Vec<Finding>,
    /// Why it failed, in the words of the server or system; empty otherwise.
    pub reason: String,
}

/// Figures of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialFigures {
    /// UTC time at which measuring began.
    pub started_at: String,
    /// Length of the measured window in seconds.
    pub measured_s: f64,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Mean response time in ms.
    pub mean_ms: f64,
    /// Median in ms.
    pub p50_ms: f64,
    /// 95th percentile in ms.
    pub p95_ms: f64,
    /// 99th percentile in ms.
    pub p99_ms: f64,
    /// Largest in ms.
    pub max_ms: f64,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions given up.
    pub failed: u64,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Verdict of the audit.
    pub audit: AuditVerdict,
    /// Acknowledged updates not in the data; absent when not audited.
    pub lost: Option<u64>,
}

/// One chart over clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What is drawn.
    pub metric: Metric,
    /// Its unit.
    pub unit: Unit,
    /// Lines in the order of [`ReportModel::lines`]; lines without any data are left out.
    pub lines: Vec<PanelLine>,
}

/// One line of a chart over clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelLine {
    /// Index into [`ReportModel::lines`].
    pub line: usize,
    /// Points by rising number of clients.
    pub points: Vec<PanelPoint>,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelPoint {
    /// Number of clients.
    pub clients: u32,
    /// Index of the treatment.
    pub treatment: usize,
    /// Mean with interval; absent when no trial is valid.
    pub estimate: Option<Estimate>,
    /// Every trial's value, invalid ones too.
    pub repeats: Vec<RepeatDot>,
}

/// One trial's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepeatDot {
    /// Trial.
    pub trial: String,
    /// Block.
    pub block: u32,
    /// Value in the panel's unit.
    pub value: f64,
    /// False: drawn as an outline, and in no estimate.
    pub is_valid: bool,
}

/// Latency over percentiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PercentileCurve {
    /// Index of the treatment.
    pub treatment: usize,
    /// Number of transactions.
    pub count: u64,
    /// All valid trials merged; ends where fewer than ten values lie beyond.
    pub merged: Vec<PercentilePoint>,
    /// Each valid trial alone, ended likewise.
    pub repeats: Vec<Vec<PercentilePoint>>,
}

/// A point of a percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentilePoint {
    /// Percentile, 0 to below 100.
    pub percentile: f64,
    /// `1 / (1 - percentile / 100)`: the x value of a percentile plot, on a log axis.
    pub one_in: f64,
    /// Response time in milliseconds that this share of transactions did not exceed.
    pub value_ms: f64,
}

/// What happened during one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Trial.
    pub trial: String,
    /// Index of the treatment.
    pub treatment: usize,
    /// Block.
    pub block: u32,
    /// Intervals in order of time.
    pub points: Vec<TimelinePoint>,
}

/// One interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// Start in seconds since the first client began; warm-up comes first.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Transactions given up.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Mean in ms; this and the following are absent when nothing was committed.
    pub mean_ms: Option<f64>,
    /// Median in ms.
    pub p50_ms: Option<f64>,
    /// 95th percentile in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Largest in ms.
    pub max_ms: Option<f64>,
}

/// Latency of the transaction and of its statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementTable {
    /// Index of the treatment.
    pub treatment: usize,
    /// The transaction, all valid trials merged. `name` is `transaction`.
    pub transaction: StatementRow,
    /// Kinds of statements in the workload's order.
    pub statements: Vec<StatementRow>,
}

/// One kind of statement, all valid trials of a treatment together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementRow {
    /// Name from the workload.
    pub name: String,
    /// Answered with success.
    pub ok: u64,
    /// Answered with an error, or the connection broke.
    pub failed: u64,
    /// Cut off at the end.
    pub unfinished: u64,
    /// Rows received.
    pub rows: u64,
    /// Times of the successful ones; absent when there was none.
    pub latency: Option<MergedLatency>,
}

/// Audits of one treatment, all its measured trials together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRow {
    /// Index of the treatment.
    pub treatment: usize,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// Trials with this verdict.
    pub trials: u32,
    /// The count of updates; absent when the workload has no such check.
    pub updates: Option<UpdateAudit>,
    /// Row counts that were checked, one per table; the trial's that is worst.
    pub row_counts: Vec<RowCountAudit>,
    /// Checks that could not be run, with the reason, as sentences of the engine.
    pub not_run: Vec<String>,
}

/// Updates acknowledged against updates in the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UpdateAudit {
    /// Acknowledged commits, warm-up included.
    pub committed: u64,
    /// Commits whose acknowledgement was lost.
    pub in_doubt: u64,
    /// Acknowledged updates not in the data.
    pub lost: u64,
    /// `lost` in percent of `committed`.
    pub lost_percent: f64,
    /// Each trial's percentage, in run order.
    pub lost_percent_by_trial: Vec<f64>,
    /// Updates in the data that were not acknowledged (beyond `in_doubt`).
    pub phantom: u64,
    /// Pairs of transactions that both committed on top of the same value, seen in the clients' log.
    pub witnessed: u64,
    /// A few of these pairs, with the trial they belong to.
    pub examples: Vec<WitnessExample>,
    /// Statements answered with an error in the same trials, retried ones included.
    pub statement_errors: u64,
}

/// A witnessed lost update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessExample {
    /// Trial.
    pub trial: String,
    /// The pair.
    pub witness: LostUpdateWitness,
}

/// Rows expected against rows found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCountAudit {
    /// Table.
    pub table: String,
    /// Trial the figures are from.
    pub trial: String,
    /// Smallest right number.
    pub expected_min: u64,
    /// Largest right number.
    pub expected_max: u64,
    /// Rows found.
    pub found: u64,
    /// Whether it is right.
    pub holds: bool,
}

/// The generator's own figures in one treatment: means over its measured trials, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorRow {
    /// Index of the treatment.
    pub treatment: usize,
    /// Worker threads.
    pub workers: u32,
    /// CPU use of the busiest worker in percent of one core; the largest of all trials.
    pub worker_cpu_percent_max: f64,
    /// Little's-law gap in percent: share of the clients' time spent between transactions.
    pub little_gap_percent: f64,
    /// CPU time in user mode per statement, µs. With embedded SQLite the database's work is in it.
    pub cpu_user_per_statement_us: f64,
    /// CPU time in the kernel per statement, µs.
    pub cpu_system_per_statement_us: f64,
    /// 99th percentile of the lateness of its own timers, ms; the largest of all trials; absent when none was due.
    pub wakeup_lag_p99_ms: Option<f64>,
    /// Statements per wake-up from waiting.
    pub statements_per_wakeup: Option<f64>,
    /// Largest resident set, bytes.
    pub memory_peak_bytes: u64,
    /// True when the server ran on the same machine.
    pub shares_machine: bool,
}

/// Doubts of one kind and weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRow {
    /// Weight.
    pub severity: Severity,
    /// The doubt; where several trials have it, the worst one. Rendered by [`crate::messages::finding`].
    pub finding: Finding,
    /// Trials that have it; empty for a doubt about the whole run.
    pub trials: Vec<String>,
    /// Treatments of these trials, each once, in the plan's order.
    pub treatments: Vec<usize>,
}

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
    /// One side has no usable figures.
    Invalid,
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum ComparisonOf {
    /// A system against the first system, at equal levels.
    System,
    /// A level of one factor against its first level, within a system, other levels equal.
    Level {
        /// Index into [`ReportModel::factors`].
        factor: usize,
    },
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
    /// Subject over baseline (geometric mean over blocks); absent when a side has no valid trials.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio; absent with fewer than two blocks.
    pub ratio_interval: Option<Range>,
    /// Blocks (paired) or trials of the smaller side (unpaired) used.
    pub repeats: u32,
    /// Two-sided p-value; absent without verdict.
    pub p: Option<f64>,
    /// p-value after Holm's correction over all comparisons of this metric.
    pub p_holm: Option<f64>,
    /// Smallest ratio that this comparison would have seen four times in five, as `1 + effect`; absent without verdict.
    pub detectable_ratio: Option<f64>,
    /// Whether the whole interval lies beyond the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// Outcome; absent when verdicts are disabled (see [`ComparisonRules::min_repeats`]).
    pub verdict: Option<Verdict>,
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

/// Figures published elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedSeries {
    /// Where they stand.
    pub source: String,
    /// Name of the curve.
    pub series: String,
    /// Metric, hence the panel it is drawn in.
    pub metric: Metric,
    /// Unit of the values.
    pub unit: Unit,
    /// Index of the system it belongs beside; otherwise beside all.
    pub system: Option<usize>,
    /// True when values were read off a chart or are a trend.
    pub is_approximate: bool,
    /// Clients and value.
    pub points: Vec<PublishedPoint>,
}

/// One published figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PublishedPoint {
    /// Number of clients.
    pub clients: u32,
    /// Value in the series' unit.
    pub value: f64,
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
    /// There are too few blocks for verdicts.
    VerdictsDisabled {
        /// Blocks planned.
        blocks: u32,
        /// Blocks needed.
        needed: u32,
    },
    /// Acknowledged updates are not in the data.
    LostUpdates {
        /// Index into [`ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which updates were lost.
        clients: Vec<u32>,
        /// Smallest percentage among them.
        percent_min: f64,
        /// Largest percentage among them.
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
    /// All acknowledged updates are in the data.
    NoLostUpdates {
        /// Indices into [`ReportModel::lines`] of every line for which this holds at all numbers of clients.
        lines: Vec<usize>,
        /// Acknowledged commits checked.
        committed: u64,
        /// Largest number of clients among them.
        clients_max: u32,
    },
    /// Updates are in the data that nobody was told of, or a table has a wrong number of rows.
    AuditViolated {
        /// Index into [`ReportModel::lines`].
        line: usize,
        /// Numbers of clients at which it happened.
        clients: Vec<u32>,
        /// Updates in the data that were not acknowledged.
        phantom: u64,
        /// Tables with a wrong number of rows.
        tables: Vec<String>,
    },
    /// Where a line is highest.
    PeakThroughput {
        /// Index into [`ReportModel::lines`].
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
    /// Comparisons of two lines that had the same outcome, over all numbers of clients where they had it.
    Comparison {
        /// What differs.
        of: ComparisonOf,
        /// Metric compared.
        metric: Metric,
        /// Index into [`ReportModel::lines`] of what is judged.
        subject: usize,
        /// Index into [`ReportModel::lines`] of what it is judged against.
        baseline: usize,
        /// The outcome; absent when verdicts are disabled.
        verdict: Option<Verdict>,
        /// Numbers of clients.
        clients: Vec<u32>,
        /// Smallest and largest ratio; absent when invalid.
        ratio: Option<Range>,
        /// Smallest lower and largest upper end of the 95 % intervals.
        ratio_interval: Option<Range>,
        /// Whether every interval lies beyond the margin.
        exceeds_margin: bool,
        /// Largest of the smallest ratios that could have been seen.
        detectable_ratio: Option<f64>,
    },
}

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

mod charts;
mod checks;
mod comparisons;
mod growth;
mod resources;

pub use charts::{
    Panel, PanelLine, PanelPoint, PercentileCurve, PercentilePoint, PublishedPoint, PublishedRows,
    PublishedSeries, RepeatDot, Timeline, TimelinePoint,
};
pub use checks::{
    AuditRow, ColumnSumAudit, FindingRow, GeneratorRow, RowCountAudit, SeriesSteadiness, StatementRow,
    StatementTable, TrialSteadiness, UpdateAudit, WitnessExample,
};
pub use comparisons::{
    Comparison, ComparisonOf, ComparisonRules, Conclusion, NotWorking, NotWorkingReason, RatioBound, Verdict,
};
pub use growth::{
    Growth, GrowthCourse, GrowthLead, GrowthLine, GrowthMoment, GrowthPoint, GrowthStep, StepComparison,
};
pub use resources::{ResourcePoint, ResourceRow};

use crate::store::environment::Environment;
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::finding::Finding;
use dyno_model::plan::{Compare, Metric};
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
    /// What is compared, where the spec says; it makes the curves of charts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
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
    /// What trials took of machine and server, one row per treatment that was monitored.
    #[serde(default)]
    pub resources: Vec<ResourceRow>,
    /// Doubts, worst first, one row per kind of doubt.
    pub findings: Vec<FindingRow>,
    /// Comparisons of systems and of levels at equal clients.
    pub comparisons: Vec<Comparison>,
    /// How comparisons were made; the text below their table.
    pub comparison_rules: ComparisonRules,
    /// Figures over the rows of a table that grows; absent when none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Figures published elsewhere.
    pub published: Vec<PublishedSeries>,
}

impl MergedLatency {
    /// True when the figure of a percentile (0 to 100; 100 is the maximum) is a lower bound.
    #[must_use]
    pub fn is_bound(&self, percentile: f64) -> bool {
        self.bounds_from.is_some_and(|from| percentile >= from)
    }
}

impl TrialFigures {
    /// True when the figure of a metric is a lower bound.
    #[must_use]
    pub fn is_bound(&self, metric: Metric) -> bool {
        self.bounds.contains(&metric)
    }
}

impl ReportModel {
    /// True when a figure of any trial or treatment is a lower bound.
    #[must_use]
    pub fn has_bounds(&self) -> bool {
        let mut of_trials = self.trials.iter().filter_map(|trial| trial.figures.as_ref());
        of_trials.any(|figures| !figures.bounds.is_empty())
            || self.treatments.iter().any(|row| row.merged.is_some_and(|merged| merged.censored > 0))
    }

    /// True when transactions arrived at a rate in any trial.
    #[must_use]
    pub fn has_open_loop(&self) -> bool {
        self.treatments.iter().any(|row| row.arrived.is_some())
    }

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
    /// True when `mean` is only a lower bound, because the figure of a trial is one; then there is no interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
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
    /// Its starts by dyno; absent when there were none.
    #[serde(default)]
    pub starts: Option<SystemStarts>,
}

/// How long the starts of a server took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemStarts {
    /// Mean time from the order to the first answer with settings read back, without copying data, in seconds.
    pub mean_s: f64,
    /// The longest of these times, in seconds.
    pub max_s: f64,
    /// Mean time that copying the data set took, in seconds; absent when no start had one.
    pub restoring_mean_s: Option<f64>,
    /// Each start, in their order.
    pub all: Vec<SystemStart>,
}

/// How long one start of a server took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SystemStart {
    /// From the order to the first answer with settings read back, without copying data, in seconds.
    pub starting_s: f64,
    /// Time that copying its data set took, in seconds; absent when it began empty.
    pub restoring_s: Option<f64>,
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
    /// True when the run wrote its end and every trial was measured to its own.
    pub is_complete: bool,
    /// True when the user ended it.
    pub is_interrupted: bool,
    /// True when the run wrote its end at all; else it was killed or is still going on.
    pub has_ended: bool,
    /// Trials that were never finished (ids).
    pub missing: Vec<String>,
    /// Trials that have figures and were ended before their time by the user or their system (ids). A run that is gone on with
    /// measures them again.
    #[serde(default)]
    pub cut: Vec<String>,
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
    /// Trials in which it did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_working: Option<NotWorking>,
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
    /// Open loop: transactions that were due, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that were never started, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Transactions committed, sum over measured trials.
    pub committed: u64,
    /// Transactions given up, sum over measured trials.
    pub failed: u64,
    /// Transactions cut off at the end, sum over measured trials.
    pub unfinished: u64,
    /// Transactions that were not begun because they were too late, sum over measured trials.
    #[serde(default)]
    pub skipped: u64,
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

/// Distribution of response times, all in milliseconds. A percentile is absent when fewer than ten values lie beyond it. With arrivals that did not commit
/// (`censored`, in an open loop) mean, deviation and maximum are those of all arrivals with the others at their ages, so mean and maximum
/// are lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MergedLatency {
    /// Number of values.
    pub count: u64,
    /// Those of them that are ages of arrivals without a commit.
    #[serde(default)]
    pub censored: u64,
    /// From this percentile on figures are lower bounds; absent when all are values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_from: Option<f64>,
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
    /// How steady it was; absent when it cannot be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<TrialSteadiness>,
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
    /// Mean response time in ms; this and the following are absent when nothing was committed, percentiles also when fewer than ten values lie
    /// beyond them.
    pub mean_ms: Option<f64>,
    /// Median in ms.
    pub p50_ms: Option<f64>,
    /// 95th percentile in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Largest in ms.
    pub max_ms: Option<f64>,
    /// Which of these figures are only lower bounds, because arrivals without a commit reach them. Where the mean is one, so is the largest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Metric>,
    /// Open loop: transactions that were due in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that were never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Longest time without a commit of any client in the window, in ms; absent in records of older versions.
    #[serde(default)]
    pub longest_gap_ms: Option<f64>,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions given up.
    pub failed: u64,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Transactions that were not begun because they were too late.
    #[serde(default)]
    pub skipped: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Verdict of the audit.
    pub audit: AuditVerdict,
    /// Acknowledged updates not in the data; absent when not audited.
    pub lost: Option<u64>,
}

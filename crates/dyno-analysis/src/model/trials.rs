//! Lines, configurations and trials with their figures, and what was planned against what is there.

use super::checks::TrialSteadiness;
use super::comparisons::NotWorking;
use super::estimate::Estimate;
use super::latency::MergedLatency;
use super::limits::Shortage;
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureLog;
use dyno_model::plan::Metric;
use dyno_model::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was planned against what is there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Trials that have figures and were ended before their time by the user or their system (ids).
    /// A run that is gone on with measures them again.
    #[serde(default)]
    pub cut: Vec<String>,
    /// Trials that could not be measured.
    pub failed: Vec<FailedTrial>,
    /// What could not be read in the results folder: file, line and what is wrong, as sentences.
    pub unreadable: Vec<String>,
}

/// A trial that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTrial {
    /// Its id.
    pub trial: String,
    /// Index of its configuration.
    pub configuration: usize,
    /// Why, in the words of the server or system.
    pub reason: String,
}

/// A system with one level of every factor: one line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// One configuration: a line at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationRow {
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
    /// Why there is no 99th percentile, where a trial has too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// Percentiles of all valid trials' transactions together.
    pub merged: Option<MergedLatency>,
    /// Open loop: transactions that were due, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that were never started, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Transactions committed, sum over the valid trials.
    pub committed: u64,
    /// Transactions given up, sum over measured trials.
    pub failed: Option<u64>,
    /// Transactions cut off at the end, sum over measured trials.
    pub unfinished: u64,
    /// Transactions that were not begun because they were too late, sum over measured trials.
    #[serde(default)]
    pub skipped: u64,
    /// Attempts after the first, sum over measured trials.
    pub retries: Option<u64>,
    /// Failed transactions by kind, most frequent first.
    pub failed_by_kind: Vec<KindCount>,
    /// Retries by kind, most frequent first.
    pub retries_by_kind: Vec<KindCount>,
    /// The first error of each sort in measured trials with its message and statement, most
    /// frequent first. Statements of background workloads have these workloads' names in front.
    #[serde(default, skip_serializing_if = "FailureLog::is_empty")]
    pub errors: FailureLog,
    /// Retries per committed transaction of the valid trials (ratio; 0 when nothing was committed).
    pub retries_per_commit: Option<f64>,
    /// Acknowledged updates that are not in the data, in percent of the commits checked; absent
    /// when that was not audited.
    pub lost_percent: Option<f64>,
    /// Verdict of all its audits.
    pub audit: AuditVerdict,
    /// Whether the figures may be used.
    pub validity: Validity,
}

/// A number of failures of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// Kind.
    pub kind: FailureKind,
    /// How many.
    pub count: u64,
}

/// What became of a planned trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRow {
    /// Id.
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Index of its configuration.
    pub configuration: usize,
    /// What became of it.
    pub state: TrialState,
    /// Figures; absent when it failed or is missing.
    pub figures: Option<TrialFigures>,
    /// Its doubts.
    pub warnings: Vec<Warning>,
    /// How steady it was; absent when it cannot be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<TrialSteadiness>,
    /// Why it failed, in the words of the server or system; empty otherwise.
    pub reason: String,
}

impl TrialRow {
    /// True when it stood still for a while, or nearly so.
    #[must_use]
    pub fn stood_still(&self) -> bool {
        self.warnings
            .iter()
            .any(|warning| matches!(warning, Warning::Stall { .. } | Warning::Collapse { .. }))
    }
}

/// Figures of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialFigures {
    /// UTC time at which measuring began.
    pub started_at: String,
    /// Length of the measured window in seconds.
    pub measured_s: f64,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Mean response time in ms; this and the following are absent when nothing was committed,
    /// percentiles also when fewer than ten values lie beyond them.
    pub mean_ms: Option<f64>,
    /// Median in ms.
    pub p50_ms: Option<f64>,
    /// 95th percentile in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Largest in ms.
    pub max_ms: Option<f64>,
    /// Which of these figures are only lower bounds, because arrivals without a commit reach them.
    /// Where the mean is one, so is the largest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Metric>,
    /// Open loop: transactions that were due in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that were never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Longest time without a commit of any client in the window, in ms; absent in records of older
    /// versions.
    #[serde(default)]
    pub longest_gap_ms: Option<f64>,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions given up.
    pub failed: Option<u64>,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Transactions that were not begun because they were too late.
    #[serde(default)]
    pub skipped: u64,
    /// Attempts after the first.
    pub retries: Option<u64>,
    /// Verdict of the audit.
    pub audit: AuditVerdict,
    /// Acknowledged updates not in the data; absent when not audited.
    pub lost: Option<u64>,
}

impl TrialFigures {
    /// True when the figure of a metric is a lower bound.
    #[must_use]
    pub fn is_bound(&self, metric: Metric) -> bool {
        self.bounds.contains(&metric)
    }
}

//! Lines, configurations and trials with their results, and the completeness of the run.

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

/// Planned and measured trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// Trials planned.
    pub planned: u32,
    /// Trials with results.
    pub measured: u32,
    /// Trials with valid results.
    pub valid: u32,
    /// True when the run recorded its end and measured every trial completely.
    pub is_complete: bool,
    /// True when the user interrupted it.
    pub is_interrupted: bool,
    /// True when the run recorded its end; otherwise it was killed or is still running.
    pub has_ended: bool,
    /// Trials that were never finished (ids).
    pub missing: Vec<String>,
    /// Trials with results that the user or their system ended early (ids). A resumed run measures
    /// them again.
    #[serde(default)]
    pub cut: Vec<String>,
    /// Trials that could not be measured.
    pub failed: Vec<FailedTrial>,
    /// Files of the results folder that could not be read: file, line and problem, as sentences.
    pub unreadable: Vec<String>,
}

/// A trial that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTrial {
    /// Its id.
    pub trial: String,
    /// Index of its configuration.
    pub configuration: usize,
    /// The reason, as reported by the server or system.
    pub reason: String,
}

/// A system with one level of every factor: one line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineName {
    /// Label, e.g. `MySQL (read-modify-write)`; unique in the report.
    pub label: String,
    /// Index into [`Provenance::systems`].
    pub system: usize,
    /// System's name.
    pub system_name: String,
    /// Level of each factor of [`ReportModel::factors`].
    pub levels: Vec<String>,
}

/// Whether results may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// No warnings.
    Valid,
    /// At least one trial carries a warning.
    Warned,
    /// All trials are invalid.
    Invalid,
    /// There are no results.
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
    /// Trials with results.
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
    /// Why there is no 99th percentile, if a trial has too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// Percentiles of all valid trials' transactions together.
    pub merged: Option<MergedLatency>,
    /// Open loop: transactions that were due, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that never started, sum over measured trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Transactions committed, sum over the valid trials.
    pub committed: u64,
    /// Transactions that failed permanently, sum over measured trials.
    pub failed: Option<u64>,
    /// Transactions cut off at the end, sum over measured trials.
    pub unfinished: u64,
    /// Transactions that were skipped because they were too late, sum over measured trials.
    #[serde(default)]
    pub skipped: u64,
    /// Attempts after the first, sum over measured trials.
    pub retries: Option<u64>,
    /// Failed transactions by kind, most frequent first.
    pub failed_by_kind: Vec<KindCount>,
    /// Retries by kind, most frequent first.
    pub retries_by_kind: Vec<KindCount>,
    /// The first error of each kind in measured trials with its message and statement, most
    /// frequent first. Statements of background workloads are prefixed with the workload's name.
    #[serde(default, skip_serializing_if = "FailureLog::is_empty")]
    pub errors: FailureLog,
    /// Retries per committed transaction of the valid trials (ratio; 0 when nothing was committed).
    pub retries_per_commit: Option<f64>,
    /// Acknowledged updates missing from the data, in percent of the checked commits; absent
    /// without an audit.
    pub lost_percent: Option<f64>,
    /// Verdict of all its audits.
    pub audit: AuditVerdict,
    /// Whether the results may be used.
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

/// State of a planned trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// Measured; the results are in the estimates.
    Valid,
    /// Measured with a warning; the results are in the estimates.
    Warned,
    /// Measured; the results are excluded from the estimates.
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
    /// Its state.
    pub state: TrialState,
    /// Results; absent when it failed or is missing.
    pub figures: Option<TrialFigures>,
    /// Its warnings.
    pub warnings: Vec<Warning>,
    /// Its steadiness; absent when it cannot be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<TrialSteadiness>,
    /// Why it failed, as reported by the server or system; empty otherwise.
    pub reason: String,
}

impl TrialRow {
    /// True when throughput dropped to zero, or nearly so, for a while.
    #[must_use]
    pub fn stood_still(&self) -> bool {
        self.warnings
            .iter()
            .any(|warning| matches!(warning, Warning::Stall { .. } | Warning::Collapse { .. }))
    }
}

/// Results of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialFigures {
    /// UTC time at which measuring started.
    pub started_at: String,
    /// Length of the measured window in seconds.
    pub measured_s: f64,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Mean response time in ms; this and the following are absent when nothing was committed,
    /// percentiles also when fewer than ten values lie above them.
    pub mean_ms: Option<f64>,
    /// Median in ms.
    pub p50_ms: Option<f64>,
    /// 95th percentile in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Largest in ms.
    pub max_ms: Option<f64>,
    /// Which of these values are only lower bounds, because arrivals without a commit reach them.
    /// Where the mean is one, so is the maximum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Metric>,
    /// Open loop: transactions that were due in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Longest time without a commit by any client in the window, in ms; absent in records of older
    /// versions.
    #[serde(default)]
    pub longest_gap_ms: Option<f64>,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions that failed permanently.
    pub failed: Option<u64>,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Transactions that were skipped because they were too late.
    #[serde(default)]
    pub skipped: u64,
    /// Attempts after the first.
    pub retries: Option<u64>,
    /// Verdict of the audit.
    pub audit: AuditVerdict,
    /// Acknowledged updates missing from the data; absent without an audit.
    pub lost: Option<u64>,
}

impl TrialFigures {
    /// True when the value of a metric is a lower bound.
    #[must_use]
    pub fn is_bound(&self, metric: Metric) -> bool {
        self.bounds.contains(&metric)
    }
}

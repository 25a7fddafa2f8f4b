//! Lines, configurations and trials with their results, and the completeness of the run.

use super::checks::TrialSteadiness;
use super::comparisons::NotWorking;
use super::figures::Figures;
use super::limits::Shortage;
use super::resources::Monitored;
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureLog;
use dyno_model::reason::Reason;
use dyno_model::warning::Warning;
use dyno_store::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Planned and measured trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// Trials planned.
    pub planned: u32,
    /// Trials measured to their end; `dyno run --resume RESULTS` does not measure them again.
    pub measured: u32,
    /// Trials with results: those measured, and those in `cut`.
    #[serde(default)]
    pub with_results: u32,
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
    pub cut: Vec<String>,
    /// Trials that could not be measured.
    pub failed: Vec<FailedTrial>,
    /// What could not be read in the results folder.
    pub unreadable: Vec<Problem>,
}

/// A trial that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTrial {
    /// Its id.
    pub trial: String,
    /// Index of its configuration.
    pub configuration: usize,
    /// The reason.
    pub reason: Reason,
}

/// A system with one level of every factor: one series of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesName {
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

/// One configuration: a series at one client count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationRow {
    /// Index into [`ReportModel::series`].
    pub series: usize,
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
    /// Its figures: those of the load, of the generator, and of machine and server.
    pub figures: Figures,
    /// Why there is no 99th percentile, where a trial has too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// Failed transactions by kind, most frequent first.
    pub failed_by_kind: Vec<KindCount>,
    /// Retries by kind, most frequent first.
    pub retries_by_kind: Vec<KindCount>,
    /// The first error of each kind in measured trials with its message and statement, most
    /// frequent first. Statements of background workloads are prefixed with the workload's name.
    #[serde(default, skip_serializing_if = "FailureLog::is_empty")]
    pub errors: FailureLog,
    /// What the monitor observed during its valid trials, besides figures; absent without a
    /// monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitored: Option<Monitored>,
    /// True if the load generator ran on the server's machine.
    pub shares_machine: bool,
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

impl TrialState {
    /// True if the results are in the estimates.
    #[must_use]
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Valid | Self::Warned)
    }
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
    /// UTC time at which measuring began, RFC 3339; empty when there are no figures.
    pub started_at: String,
    /// Figures; absent when it failed or is missing. Where the mean is a lower bound, so is the
    /// maximum.
    pub figures: Option<Figures>,
    /// Its warnings.
    pub warnings: Vec<Warning>,
    /// Its steadiness; absent when it cannot be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<TrialSteadiness>,
    /// Why it failed; absent when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
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

//! Checks that accompany the results: statements, audits, the generator, warnings.

use super::figures::Figures;
use dyno_model::audit::{AuditVerdict, LedgerEntry, LostUpdateWitness};
use dyno_model::history::anomalies::{Anomaly, Involved};
use dyno_model::isolation::IsolationLevel;
use dyno_model::reason::Reason;
use dyno_model::warning::{Severity, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latency of the transaction and of its statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementTable {
    /// Index of the configuration.
    pub configuration: usize,
    /// The transaction, all valid trials merged. `name` is `transaction`.
    pub transaction: StatementRow,
    /// Kinds of statements in the workload's order.
    pub statements: Vec<StatementRow>,
}

/// One kind of statement, all valid trials of a configuration together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementRow {
    /// Name from the workload.
    pub name: String,
    /// Successful executions.
    pub ok: u64,
    /// Executions that failed with an error or a broken connection.
    pub failed: u64,
    /// Executions cut off at the end.
    pub unfinished: u64,
    /// Rows received.
    pub rows: u64,
    /// Times of the successful ones.
    pub figures: Figures,
}

/// Audits of one configuration, all its measured trials together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// Trials with this verdict.
    pub trials: u32,
    /// Whether acknowledged commits are missing in any trial, according to all its checks.
    pub losses: AuditVerdict,
    /// Acknowledged and missing commits according to all checks; absent when no check counts
    /// commits.
    pub commits: Option<CommitAudit>,
    /// The count of updates; absent when the workload has no such check.
    pub updates: Option<UpdateAudit>,
    /// The commit ledger; absent when the workload has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerAudit>,
    /// Anomalies in the histories; absent when the workload records none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomalies: Option<AnomalyAudit>,
    /// Checked row counts, one per table, from the trial with the worst result.
    pub row_counts: Vec<RowCountAudit>,
    /// Checked column sums and values of the user's SQL, one each, from the trial with the worst
    /// result.
    pub values: Vec<ValueAudit>,
    /// Why checks could not be run.
    pub not_run: Vec<Reason>,
}

/// Acknowledged commits compared with the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CommitAudit {
    /// Acknowledged commits, warm-up included.
    pub committed: u64,
    /// Commits missing from the data, lower bound.
    pub lost: u64,
    /// Commits missing from the data, upper bound.
    pub lost_max: u64,
    /// `lost` in percent of `committed`.
    pub lost_percent: f64,
    /// `lost_max` in percent of `committed`.
    pub lost_percent_max: f64,
    /// Each trial's percentage, in run order.
    pub lost_percent_by_trial: Vec<f64>,
    /// Trials with at least one lost commit.
    pub trials_with_losses: u32,
    /// Largest number lost in one trial.
    pub lost_in_one: u64,
}

/// Acknowledged updates compared with updates in the data; [`CommitAudit`] has the number missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateAudit {
    /// Transactions whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// Updates in the data that were not acknowledged (beyond `in_doubt`).
    pub phantom: u64,
    /// Pairs of transactions that both committed on top of the same value, according to the
    /// clients' log.
    pub witnessed: u64,
    /// Examples of these pairs, with their trials.
    pub examples: Vec<WitnessExample>,
    /// Statements that failed with an error in the same trials, including retried ones.
    pub statement_errors: u64,
}

/// Rows of acknowledged commits compared with rows in the data; [`CommitAudit`] has the number
/// missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LedgerAudit {
    /// True when commits are missing.
    pub has_losses: bool,
    /// Rows of failed transactions, or of transactions that no client ran.
    pub phantoms: u64,
    /// Transactions whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// Those of them whose row is in the data.
    pub took_effect: u64,
    /// Examples of lost commits and phantoms.
    pub examples: Vec<LedgerExample>,
}

/// A transaction whose row contradicts what its client knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerExample {
    /// The trial.
    pub trial: String,
    /// The transaction.
    pub entry: LedgerEntry,
}

/// Anomalies between transactions that an isolation level may forbid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyAudit {
    /// The level in force; absent when the server did not report it.
    pub level: Option<IsolationLevel>,
    /// The worst verdict of the trials.
    pub verdict: AuditVerdict,
    /// Acknowledged commits in the histories, warm-up included.
    pub committed: u64,
    /// Acknowledged commits that did not fit into them.
    pub outside: u64,
    /// Attempts in them that failed.
    pub failed: u64,
    /// Attempts in them whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// Anomalies found, one entry per kind, in the order of kinds.
    pub found: Vec<FoundAnomaly>,
}

/// How often an anomaly was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAnomaly {
    /// Kind of the anomaly.
    pub anomaly: Anomaly,
    /// Number of transactions, or of pairs of them.
    pub count: u64,
    /// True when the level in force forbids it.
    pub is_forbidden: bool,
    /// The first case; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<AnomalyExample>,
}

/// A case of an anomaly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyExample {
    /// The trial.
    pub trial: String,
    /// The transactions, the affected one first.
    pub transactions: Vec<Involved>,
}

impl AnomalyAudit {
    /// Kinds that were found: those that the level forbids, or those that it allows.
    pub fn found(&self, is_forbidden: bool) -> impl Iterator<Item = &FoundAnomaly> {
        self.found.iter().filter(move |it| it.count > 0 && it.is_forbidden == is_forbidden)
    }
}

impl AuditRow {
    /// True when something acknowledged is certainly missing.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.losses == AuditVerdict::Violated
    }

    /// True when acknowledged commits are certainly missing.
    #[must_use]
    pub fn has_lost_commits(&self) -> bool {
        self.commits.as_ref().is_some_and(|commits| commits.lost > 0)
    }

    /// True when nothing acknowledged can be missing, and no unacknowledged update could hide a
    /// missing one.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.losses == AuditVerdict::Intact
            && self.updates.as_ref().is_none_or(|updates| updates.phantom == 0)
    }
}

/// A witnessed lost update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessExample {
    /// Trial.
    pub trial: String,
    /// The pair.
    pub witness: LostUpdateWitness,
}

/// Expected and found number of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowCountAudit {
    /// Table.
    pub table: String,
    /// Trial with this result.
    pub trial: String,
    /// Smallest correct number.
    pub expected_min: u64,
    /// Largest correct number.
    pub expected_max: u64,
    /// Rows found.
    pub found: u64,
    /// Whether it is correct.
    pub verdict: AuditVerdict,
}

/// Expected and found value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueAudit {
    /// The value as an SQL expression, which is the same in every language.
    pub expression: String,
    /// Trial with this result.
    pub trial: String,
    /// Smallest correct value.
    pub expected_min: i64,
    /// Largest correct value.
    pub expected_max: i64,
    /// Value found.
    pub found: i64,
    /// Whether it is correct.
    pub verdict: AuditVerdict,
}

/// Warnings of one kind and severity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningRow {
    /// Severity.
    pub severity: Severity,
    /// The warning; the worst one if several trials have it. `dyno-report` turns it into a
    /// sentence.
    pub warning: Warning,
    /// Trials that have it; empty for a warning about the whole run.
    pub trials: Vec<String>,
    /// Configurations of these trials, each once, in the plan's order.
    pub configurations: Vec<usize>,
}

/// Steadiness of a trial, computed from the whole seconds of its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSteadiness {
    /// Number of seconds analysed.
    pub seconds: u32,
    /// Of throughput.
    pub throughput: SeriesSteadiness,
    /// Of mean response time; absent when a second had no commit.
    pub mean_ms: Option<SeriesSteadiness>,
}

impl TrialSteadiness {
    /// True when neither throughput nor response time had a warm-up or a drift.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        let is_steady = |series: &SeriesSteadiness| !series.has_warm_up && !series.drifts;
        is_steady(&self.throughput) && self.mean_ms.as_ref().is_none_or(is_steady)
    }
}

/// Steadiness of one metric's series of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesSteadiness {
    /// Seconds at the beginning of the window that differ from the rest (MSER-5), at most half of
    /// the window.
    pub warm_up_s: f64,
    /// Mean of all seconds divided by the mean without the warm-up, minus 1.
    pub warm_up_share: f64,
    /// Change of the rest from beginning to end, relative to its mean (Theil-Sen slope).
    pub drift_share: f64,
    /// Whether the beginning counts as a warm-up: it shifts the mean by 2 % or more, and is
    /// statistically significant.
    pub has_warm_up: bool,
    /// Whether the rest drifts: by 2 % or more, and statistically significantly.
    pub drifts: bool,
}

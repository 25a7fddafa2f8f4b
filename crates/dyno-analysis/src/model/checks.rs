//! What stands beside the figures: statements, audits, the generator, doubts.

use super::latency::MergedLatency;
use dyno_model::audit::{AuditVerdict, LedgerEntry, LostUpdateWitness};
use dyno_model::history::anomalies::{Anomaly, Involved};
use dyno_model::isolation::IsolationLevel;
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

/// Audits of one configuration, all its measured trials together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// Trials with this verdict.
    pub trials: u32,
    /// Whether anything acknowledged is missing, in any trial, by all its checks together.
    pub losses: AuditVerdict,
    /// Acknowledged commits and those that are missing, by all checks together; absent when no
    /// check knows commits.
    pub commits: Option<CommitAudit>,
    /// The count of updates; absent when the workload has no such check.
    pub updates: Option<UpdateAudit>,
    /// The commit ledger; absent when the workload keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerAudit>,
    /// Anomalies in the histories; absent when the workload keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomalies: Option<AnomalyAudit>,
    /// Row counts that were checked, one per table; the trial's that is worst.
    pub row_counts: Vec<RowCountAudit>,
    /// Sums of columns and values of the user's own SQL that were checked, one for each; the
    /// trial's that is worst.
    pub values: Vec<ValueAudit>,
    /// Checks that could not be run, with the reason, as sentences of the engine.
    pub not_run: Vec<String>,
}

/// Acknowledged commits against what is in the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CommitAudit {
    /// Acknowledged commits, warm-up included.
    pub committed: u64,
    /// Those that are not in the data, at least.
    pub lost: u64,
    /// The same at most.
    pub lost_max: u64,
    /// `lost` in percent of `committed`.
    pub lost_percent: f64,
    /// `lost_max` in percent of `committed`.
    pub lost_percent_max: f64,
    /// Each trial's percentage, in run order.
    pub lost_percent_by_trial: Vec<f64>,
    /// Trials in which any is lost.
    pub trials_with_losses: u32,
    /// Most that a trial lost.
    pub lost_in_one: u64,
}

/// Updates acknowledged against updates in the data; how many are missing says [`CommitAudit`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateAudit {
    /// Transactions whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// Updates in the data that were not acknowledged (beyond `in_doubt`).
    pub phantom: u64,
    /// Pairs of transactions that both committed on top of the same value, seen in the clients'
    /// log.
    pub witnessed: u64,
    /// A few of these pairs, with the trial they belong to.
    pub examples: Vec<WitnessExample>,
    /// Statements answered with an error in the same trials, retried ones included.
    pub statement_errors: u64,
}

/// Rows of acknowledged commits against rows in the data; how many are missing says
/// [`CommitAudit`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LedgerAudit {
    /// True when it missed any.
    pub has_losses: bool,
    /// Rows of transactions that failed, or that nobody made.
    pub phantoms: u64,
    /// Transactions whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// Those of them that are in the data.
    pub took_effect: u64,
    /// A few of those lost and of the phantoms.
    pub examples: Vec<LedgerExample>,
}

/// A transaction whose row is not what its client knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerExample {
    /// The trial.
    pub trial: String,
    /// The transaction.
    pub entry: LedgerEntry,
}

/// What transactions did to one another that an isolation level may forbid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyAudit {
    /// The level in force; absent when the server did not tell.
    pub level: Option<IsolationLevel>,
    /// The worst verdict of the trials.
    pub verdict: AuditVerdict,
    /// Acknowledged commits in the histories, warm-up included.
    pub committed: u64,
    /// Acknowledged commits that found no room in them.
    pub outside: u64,
    /// Attempts in them that failed.
    pub failed: u64,
    /// Attempts in them whose commit is in doubt, or that were cut off.
    pub in_doubt: u64,
    /// What was found, an entry for each kind, in their order.
    pub found: Vec<FoundAnomaly>,
}

/// How often an anomaly was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAnomaly {
    /// Which.
    pub anomaly: Anomaly,
    /// Transactions, or pairs of them.
    pub count: u64,
    /// True when the level in force forbids it.
    pub is_forbidden: bool,
    /// The first case; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<AnomalyExample>,
}

/// A case of an anomaly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyExample {
    /// The trial.
    pub trial: String,
    /// The transactions, the one that suffers first.
    pub transactions: Vec<Involved>,
}

impl AnomalyAudit {
    /// Kinds that were found, those that the level forbids or those that it allows.
    pub fn found(&self, is_forbidden: bool) -> impl Iterator<Item = &FoundAnomaly> {
        self.found.iter().filter(move |it| it.count > 0 && it.is_forbidden == is_forbidden)
    }
}

impl AuditRow {
    /// True when something that was acknowledged is missing for certain.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.losses == AuditVerdict::Violated
    }

    /// True when acknowledged commits are missing for certain.
    #[must_use]
    pub fn has_lost_commits(&self) -> bool {
        self.commits.as_ref().is_some_and(|commits| commits.lost > 0)
    }

    /// True when nothing acknowledged can be missing, and no update is there that might stand in
    /// the place of one.
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

/// Rows expected against rows found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub verdict: AuditVerdict,
}

/// A value expected against the value found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueAudit {
    /// The value as SQL writes it, which is the same in every language.
    pub expression: String,
    /// Trial the figures are from.
    pub trial: String,
    /// Smallest right value.
    pub expected_min: i64,
    /// Largest right value.
    pub expected_max: i64,
    /// Value found.
    pub found: i64,
    /// Whether it is right.
    pub verdict: AuditVerdict,
}

/// The generator's own figures in one configuration: means over its measured trials, unless said
/// otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// Worker threads.
    pub workers: u32,
    /// CPU use of the busiest worker in percent of one core; the largest of all trials.
    pub worker_cpu_percent_max: f64,
    /// Share of its window, in percent, for which a worker stood still; the largest of all workers
    /// and trials; absent where none can tell.
    pub held_up_percent_max: Option<f64>,
    /// CPU time in user mode per statement, µs. With embedded SQLite the database's work is in it.
    pub cpu_user_per_statement_us: f64,
    /// CPU time in the kernel per statement, µs.
    pub cpu_system_per_statement_us: f64,
    /// 99th percentile of the lateness of its own timers, ms; the largest of all trials; absent
    /// when none was due.
    pub wakeup_lag_p99_ms: Option<f64>,
    /// Open loop: how late transactions began although a client was free, 99th percentile in ms,
    /// the largest of all trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_p99_ms: Option<f64>,
    /// Statements per wake-up from waiting.
    pub statements_per_wakeup: Option<f64>,
    /// Largest resident set, bytes.
    pub memory_peak_bytes: u64,
    /// True when the server ran on the same machine.
    pub shares_machine: bool,
}

/// Doubts of one kind and weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningRow {
    /// Weight.
    pub severity: Severity,
    /// The doubt; where several trials have it, the worst one. `dyno-report` makes a sentence of
    /// it.
    pub warning: Warning,
    /// Trials that have it; empty for a doubt about the whole run.
    pub trials: Vec<String>,
    /// Configurations of these trials, each once, in the plan's order.
    pub configurations: Vec<usize>,
}

/// How steady a trial was, by the whole seconds of its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSteadiness {
    /// Seconds that were judged.
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

/// How steady the seconds of one figure were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesSteadiness {
    /// Seconds at the beginning of the window that stand apart from the rest (MSER-5), at most half
    /// of it.
    pub warm_up_s: f64,
    /// The mean over the mean without these seconds, minus 1.
    pub warm_up_share: f64,
    /// Change of the rest from beginning to end over its mean (Theil and Sen).
    pub drift_share: f64,
    /// Whether the beginning counts as a warm-up: it moves the mean by 2 % or more, and not by
    /// chance.
    pub has_warm_up: bool,
    /// Whether the rest drifts: by 2 % or more, and not by chance.
    pub drifts: bool,
}

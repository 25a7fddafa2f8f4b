//! What measuring takes and what it gives, whoever the clients are.

use crate::recording::shares::{ClientShare, ClientShares};
use crate::worker_count::MeasuredWorkers;
use dyno_model::catalog::Growth;
use dyno_model::event::{Event, Phase};
use dyno_model::failure::OperationFailure;
use dyno_model::failure_log::FailureLog;
use dyno_model::fault::Expected;
use dyno_model::latency::ExactLatency;
use dyno_model::latency::LatencySummary;
use dyno_model::ledger::{Ledger, ScriptCounts};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::{
    self, CommitGap, Facts, GeneratorRecord, NamedTransactions, OpenLoop, StatementLatency,
    TrialEnd, TrialRecord,
};
use dyno_model::stages::StageRecord;
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Length of an interval unless the caller wants another.
const INTERVAL: Nanos = Nanos(1_000_000_000);

/// Number of a client within its trial, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId(pub u32);

/// What measuring needs.
#[derive(Clone)]
pub struct LoadInput<'a> {
    /// Name under which events and intervals appear; a trial's id.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// Load rules.
    pub load: &'a LoadPlan,
    /// Seed of everything that clients draw, arrivals included.
    pub seed: u64,
    /// Length of an interval.
    pub interval: Nanos,
    /// How the table grows, where it does; for [`dyno_model::plan::StopRule::Rows`].
    pub growth: Option<Growth>,
    /// True when the server runs on this machine.
    pub shares_machine: bool,
    /// What is to be expected of the server: where it is harmed on purpose, clients try to connect
    /// until the end.
    pub expected: Expected,
    /// Where the clients' shares are counted; a listener that keeps the other end can read them at
    /// any time.
    pub shares: Arc<ClientShares>,
    /// Where the number of workers is found by measuring before the load: what the run has
    /// measured. `None`: a rule chooses.
    pub measured_workers: Option<Arc<MeasuredWorkers>>,
    /// Number of interrupts by the user so far; one or more ends measuring cleanly.
    pub interrupts: &'a AtomicUsize,
    /// Says why the system cannot go on (its process died), as long as it can, nothing.
    pub is_dead: &'a dyn Fn() -> Option<String>,
}

impl<'a> LoadInput<'a> {
    /// Input with intervals of a second, for a server elsewhere that nobody watches.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        clients: u32,
        load: &'a LoadPlan,
        seed: u64,
        interrupts: &'a AtomicUsize,
    ) -> Self {
        Self {
            name: name.into(),
            clients,
            load,
            seed,
            interval: INTERVAL,
            growth: None,
            shares_machine: false,
            expected: Expected::Peace,
            shares: Arc::new(ClientShares::new(clients)),
            measured_workers: None,
            interrupts,
            is_dead: &nobody_watches,
        }
    }
}

impl LoadInput<'_> {
    /// What is said when a phase begins.
    pub(crate) fn enters(&self, phase: Phase) -> Event {
        Event::PhaseStarted { trial: self.name.clone(), phase }
    }
}

fn nobody_watches() -> Option<String> {
    None
}

/// A trial that could not be measured at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrialError {
    /// A client could not connect or prepare.
    #[error("clients could not be started: {0}")]
    Ramp(OperationFailure),
    /// What the audit needs could not be read.
    #[error("the state before the trial could not be read: {0}")]
    Baseline(OperationFailure),
    /// A script failed before it was ready.
    #[error("{message}")]
    Script {
        client: ClientId,
        /// Its words.
        message: String,
    },
    /// Clients were not ready in time.
    #[error("only {ready} of {clients} clients were ready in time")]
    NotReady {
        /// How many were.
        ready: u32,
        /// How many there are.
        clients: u32,
    },
    /// The user interrupted before measuring began.
    #[error("interrupted")]
    Interrupted,
    /// The system died before measuring began.
    #[error("the system failed: {0}")]
    SystemDied(String),
    /// A fault of this machine, such as no more threads.
    #[error("{0}")]
    Machine(String),
    /// Threads of a script go on in a loop of its own, which nothing can end but the end of the
    /// process.
    #[error("{0}")]
    LeftBehind(String),
}

impl TrialError {
    /// Threads of a script go on; how that was noticed.
    pub(crate) fn left_behind(what: &str) -> Self {
        Self::LeftBehind(format!(
            "{what}: a script does not come to an end (a loop or a sleep of its own in event, \
             thread_init or thread_done?), and its threads would disturb all further trials"
        ))
    }
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct LoadRecord {
    /// Time until all clients were ready.
    pub connecting: Nanos,
    /// Length of the measured window: a duration that was asked for, else until the last counted
    /// answer.
    pub measured: Nanos,
    /// From the window's opening until the last client had ended, stragglers included.
    pub elapsed: Nanos,
    /// Books of the measured window.
    pub ledger: Ledger,
    /// What scripts counted themselves; in no other figure.
    pub counts: ScriptCounts,
    /// The first failure of each sort; as in [`TrialRecord::failures`].
    pub failures: FailureLog,
    /// Response times of committed transactions.
    pub histogram: Histogram<u64>,
    /// Summary of [`Self::histogram`].
    pub transaction: LatencySummary,
    /// Sum and extremes of the same times, exact.
    pub latency: ExactLatency,
    /// Response times of successful statements, per kind that occurred.
    pub statements: Vec<StatementLatency>,
    /// What the transactions of each name brought; as in [`TrialRecord::transactions`].
    pub transactions: Vec<NamedTransactions>,
    /// What each client did.
    pub clients: Vec<ClientShare>,
    /// The longest time without a commit.
    pub longest_gap: CommitGap,
    /// Open loop: what became of the arrivals.
    pub open_loop: Option<OpenLoop>,
    /// What each stage brought; as in [`TrialRecord::stages`].
    pub stages: Vec<StageRecord>,
    /// Work done in the window; as in [`TrialRecord::work`].
    pub work: Option<f64>,
    /// The generator's view of itself.
    pub generator: GeneratorRecord,
    /// What was observed besides, for the judgement.
    pub facts: Facts,
    /// The first failure that no client could go on after.
    pub fatal: Option<Fatal>,
    /// True when clients were cut off at the end of the grace period; their transactions are
    /// unfinished.
    pub is_cut_off: bool,
    /// Clients whose threads never came back and were left behind; the threads end with the
    /// process.
    pub left_behind: Vec<ClientId>,
}

impl LoadRecord {
    /// As [`TrialRecord::throughput`].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        record::throughput(self.work, self.ledger.committed, self.measured)
    }

    /// The record of a trial that was this and nothing else: nothing was loaded or audited, no
    /// counters were read. It is not judged yet ([`dyno_model::judge`]).
    #[must_use]
    pub fn trial_record(
        &self,
        trial: Trial,
        started_at: String,
        server_version: String,
    ) -> TrialRecord {
        TrialRecord {
            trial,
            started_at,
            server_version,
            measured: self.measured,
            connecting: self.connecting,
            ledger: self.ledger.clone(),
            transaction: self.transaction,
            statements: self.statements.clone(),
            transactions: self.transactions.clone(),
            longest_gap: Some(self.longest_gap),
            open_loop: self.open_loop,
            stages: self.stages.clone(),
            work: self.work,
            generator: self.generator.clone(),
            failures: self.failures.clone(),
            end: TrialEnd::Trial,
            facts: Some(self.facts.clone()),
            ..TrialRecord::default()
        }
    }
}

/// A failure that ended everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Fatal {
    /// Whom it struck.
    pub client: ClientId,
    /// What happened.
    pub cause: FatalCause,
}

/// What [`Fatal`] was.
#[derive(Debug, Clone, PartialEq)]
pub enum FatalCause {
    /// The database's answer to a statement.
    Failure {
        /// The answer.
        failure: OperationFailure,
        /// Kind of the statement.
        statement: String,
        /// Its text, with `?` for parameters, where it is known: not that of an operation which the
        /// workload measured by itself.
        sql: Option<String>,
    },
    /// The words of a script.
    Script(String),
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            FatalCause::Failure { failure, statement, .. } => {
                write!(f, "client {}, {statement}: {failure}", self.client.0)
            }
            FatalCause::Script(message) => f.write_str(message),
        }
    }
}

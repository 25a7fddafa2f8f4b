//! The input and the result of a measurement, for native clients and scripts alike.

use crate::client_id::ClientId;
use crate::fatal::Fatal;
use crate::recording::client_statistics::{ClientStatistics, StatisticsByClient};
use crate::window::MeasurementWindow;
use crate::worker_count::MeasuredWorkers;
use dyno_model::catalog::Growth;
use dyno_model::client_group::ClientSubset;
use dyno_model::counters::{ScriptCounters, TrialCounters};
use dyno_model::event::{Event, Phase};
use dyno_model::failure::OperationFailure;
use dyno_model::failure_log::FailureLog;
use dyno_model::fault::ExpectedFaults;
use dyno_model::latency::ExactLatency;
use dyno_model::latency::LatencySummary;
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::reason::Reason;
use dyno_model::record::{
    self, CommitGap, Facts, GeneratorRecord, GeneratorsRecord, NamedTransactions, OpenLoop,
    StatementLatency, TrialEnd, TrialRecord,
};
use dyno_model::stages::StageRecord;
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

/// Default length of an interval.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The input of a measurement.
#[derive(Clone)]
pub struct LoadInput<'a> {
    /// Name under which events and intervals appear; a trial's id.
    pub name: String,
    /// The clients of the load: all, or in a generator those that it drives.
    pub clients: ClientSubset,
    /// Load rules, of all clients together.
    pub load: &'a LoadPlan,
    /// Seed of everything that clients draw, arrivals included.
    pub seed: u64,
    /// Length of an interval.
    pub interval: Nanos,
    /// How the table grows, if it does; for [`dyno_model::plan::StopRule::Rows`].
    pub growth: Option<Growth>,
    /// True when the server runs on this machine.
    pub shares_machine: bool,
    /// The expected faults of the server: with faults scheduled, clients retry connecting until the
    /// end.
    pub expected: ExpectedFaults,
    /// See [`dyno_model::plan::Plan::tolerated_failures`].
    pub tolerated_failures: f64,
    /// Statistics of each client; a listener that keeps a reference can read them at any time.
    pub client_statistics: Arc<StatisticsByClient>,
    /// Measured numbers of workers of this run, if a measurement before the load determines the
    /// number of workers. `None`: a rule determines it.
    pub measured_workers: Option<Arc<MeasuredWorkers>>,
    /// Number of interrupts by the user so far; one or more ends measuring cleanly.
    pub interrupts: &'a AtomicUsize,
    /// Returns why the system cannot continue (for example, its process died); `None` while it can.
    pub is_dead: &'a dyn Fn() -> Option<Reason>,
}

impl<'a> LoadInput<'a> {
    /// Input with intervals of one second, for a remote server that is not monitored.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        clients: u32,
        load: &'a LoadPlan,
        seed: u64,
        interrupts: &'a AtomicUsize,
    ) -> Self {
        let clients = ClientSubset::whole(clients);
        Self {
            name: name.into(),
            clients,
            load,
            seed,
            interval: INTERVAL,
            growth: None,
            shares_machine: false,
            expected: ExpectedFaults::NoFaults,
            tolerated_failures: 0.0,
            client_statistics: Arc::new(StatisticsByClient::new(clients.ids)),
            measured_workers: None,
            interrupts,
            is_dead: &never_dead,
        }
    }
}

impl LoadInput<'_> {
    /// Leaves only the clients of one of several generators.
    #[must_use]
    pub fn of_generator(self, generator: u32, generators: u32) -> Self {
        let clients = ClientSubset::new(self.clients.total, generator, generators);
        let client_statistics = Arc::new(StatisticsByClient::new(clients.ids));
        Self { clients, client_statistics, ..self }
    }

    /// The window of these clients, whose warm-up begins at `epoch`.
    pub(crate) fn window(&self, epoch: Instant) -> MeasurementWindow {
        MeasurementWindow::new(epoch, self.load, self.growth).of_subset(self.clients)
    }

    /// The event that reports the beginning of a phase.
    pub(crate) fn phase_started(&self, phase: Phase) -> Event {
        Event::PhaseStarted { trial: self.name.clone(), phase }
    }
}

fn never_dead() -> Option<Reason> {
    None
}

/// Why a trial could not be measured at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", Reason::from(self.clone()))]
pub enum TrialError {
    /// A client, or the connection that observes the server, could not be opened or prepared.
    NotConnected(OperationFailure),
    /// A script failed before it was ready.
    Script {
        client: ClientId,
        /// The error message of the script.
        message: String,
    },
    /// Clients were not ready in time.
    NotReady {
        /// Number of clients that were ready.
        ready: u32,
        /// Number of all clients.
        clients: u32,
    },
    /// The user interrupted before measuring began.
    Interrupted,
    /// The system died before measuring began.
    SystemDied(Reason),
    /// Another error, for example that no more threads can be created, or the loss of a generator.
    Failed(Reason),
    /// Threads of a script are still running a loop that only the end of the process can stop.
    ThreadsStillRunning(Reason),
}

impl TrialError {
    /// Threads of a script are still running, which was noticed by this.
    pub(crate) fn threads_still_running(noticed: Reason) -> Self {
        Self::ThreadsStillRunning(Reason::ScriptDoesNotEnd(Box::new(noticed)))
    }
}

impl From<TrialError> for Reason {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::NotConnected(failure) => Self::ClientsNotStarted(failure),
            TrialError::Script { message, .. } => message.into(),
            TrialError::NotReady { ready, clients } => Self::ClientsNotReady { ready, clients },
            TrialError::Interrupted => Self::Interrupted,
            TrialError::SystemDied(reason) => Self::SystemFailed(Box::new(reason)),
            TrialError::Failed(reason) | TrialError::ThreadsStillRunning(reason) => reason,
        }
    }
}

/// The result of a measurement.
#[derive(Debug, Clone)]
pub struct LoadRecord {
    /// Time until all clients were ready.
    pub connecting: Nanos,
    /// Length of the measured window: the configured duration if there is one, otherwise the time
    /// until the last counted answer. A window that was stopped early ends with its last answer, at
    /// the latest after the configured duration.
    pub window_length: Nanos,
    /// From the window's opening until the last client had ended, stragglers included.
    pub elapsed: Nanos,
    /// Counters of the measured window.
    pub counters: TrialCounters,
    /// Counters that scripts maintain themselves; no other figure includes them.
    pub script_counters: ScriptCounters,
    /// The first failure of each kind; as in [`TrialRecord::failures`].
    pub failures: FailureLog,
    /// Response times of committed transactions.
    pub response_times: Histogram<u64>,
    /// Summary of [`Self::response_times`].
    pub transaction_latency: LatencySummary,
    /// Sum and extremes of the same times, exact.
    pub exact_latency: ExactLatency,
    /// Response times of successful statements, per kind that occurred.
    pub statements: Vec<StatementLatency>,
    /// Results of the transactions of each name; as in [`TrialRecord::transactions`].
    pub transactions: Vec<NamedTransactions>,
    /// Statistics of each client.
    pub client_statistics: Vec<ClientStatistics>,
    /// The longest time without a commit.
    pub longest_gap: CommitGap,
    /// Open loop: how many arrivals started, committed or waited.
    pub open_loop: Option<OpenLoop>,
    /// Results of each stage; as in [`TrialRecord::stages`].
    pub stages: Vec<StageRecord>,
    /// As [`TrialRecord::weighted_commits`].
    pub weighted_commits: Option<f64>,
    /// Measurements of the load generator itself.
    pub generator: GeneratorRecord,
    /// As [`TrialRecord::generators`].
    pub generators: Option<GeneratorsRecord>,
    /// Other observations, for judging the trial.
    pub facts: Facts,
    /// The first failure after which no client could continue.
    pub fatal: Option<Fatal>,
    /// True when clients were cut off at the end of the grace period; their transactions are
    /// unfinished.
    pub is_cut_off: bool,
    /// Clients whose threads did not end and were left behind; these threads end with the process.
    pub left_behind: Vec<ClientId>,
}

impl LoadRecord {
    /// As [`TrialRecord::throughput`].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        record::throughput(self.weighted_commits, self.counters.committed, self.window_length)
    }

    /// The record of a trial that consists of this measurement only: without loading, audit or
    /// server counters. It is not judged yet ([`dyno_model::judge`]).
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
            window_length: self.window_length,
            connecting: self.connecting,
            counters: self.counters.clone(),
            transaction_latency: self.transaction_latency,
            statements: self.statements.clone(),
            transactions: self.transactions.clone(),
            longest_gap: Some(self.longest_gap),
            open_loop: self.open_loop,
            stages: self.stages.clone(),
            weighted_commits: self.weighted_commits,
            generator: self.generator.clone(),
            generators: self.generators.clone(),
            failures: self.failures.clone(),
            end: TrialEnd::Trial,
            facts: Some(self.facts.clone()),
            ..TrialRecord::default()
        }
    }
}

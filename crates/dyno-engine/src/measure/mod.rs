//! The measuring core: clients that start together, a window, samples, intervals, books, and an end that always comes.
//!
//! * this file: what a caller gives and gets; [`run_load`] for native workloads, [`run_script`] for scripts;
//! * [`meter`]: what a script reports with;
//! * `crew`: the threads, from their start to their last sample; `watch`: what the coordinator looks after meanwhile;
//!   `silence`: when nothing commits; `open_loop`: what became of arrivals;
//! * [`interrupt`]: how a thread that blocks is got out of it.
//!
//! A trial ([`crate::trial`]) is this core with an observer, a baseline, the server's counters, an audit and findings around it.

pub(crate) mod crew;
pub mod interrupt;
pub mod meter;
mod open_loop;
pub(crate) mod silence;
mod watch;

use crate::recording::Totals;
use crate::recording::shares::{ClientShare, ClientShares};
use crate::trial::TrialError;
use crate::window::Window;
use crate::worker::{NativeClients, hire_native};
use crate::workload::{ClientId, Workload};
use crew::{Crew, Ending};
use dyno_model::audit::AuditRecord;
use dyno_model::event::{Event, Listener, Phase};
use dyno_model::failure::OperationFailure;
use dyno_model::latency::ExactLatency;
use dyno_model::ledger::{Ledger, ScriptCounts};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::{
    self, CommitGap, Facts, GeneratorRecord, Growth, LatencySummary, OpenLoop, StatementLatency, TrialEnd,
    TrialRecord,
};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use meter::Script;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

/// Time between the signal to start and the common epoch, in which all workers wake up.
const RUN_UP: Duration = Duration::from_millis(10);
/// Length of an interval unless the caller wants another.
const INTERVAL: Nanos = Nanos(1_000_000_000);

/// What measuring needs, whoever the clients are.
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
    /// Where the clients' shares are counted; a listener that keeps the other end can read them at any time.
    pub shares: Arc<ClientShares>,
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
            shares: Arc::new(ClientShares::new(clients)),
            interrupts,
            is_dead: &nobody_watches,
        }
    }
}

fn nobody_watches() -> Option<String> {
    None
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct LoadRecord {
    /// Time until all clients were ready.
    pub connecting: Nanos,
    /// Length of the measured window: a duration that was asked for, else until the last counted answer.
    pub measured: Nanos,
    /// From the window's opening until the last client had ended, stragglers included.
    pub elapsed: Nanos,
    /// Books of the measured window.
    pub ledger: Ledger,
    /// What scripts counted themselves; in no other figure.
    pub counts: ScriptCounts,
    /// Response times of committed transactions.
    pub histogram: Histogram<u64>,
    /// Summary of [`Self::histogram`].
    pub transaction: LatencySummary,
    /// Sum and extremes of the same times, exact.
    pub latency: ExactLatency,
    /// Response times of successful statements, per kind that occurred.
    pub statements: Vec<StatementLatency>,
    /// What each client did.
    pub clients: Vec<ClientShare>,
    /// The longest time without a commit.
    pub longest_gap: CommitGap,
    /// Open loop: what became of the arrivals.
    pub open_loop: Option<OpenLoop>,
    /// Work done in the window; as in [`TrialRecord::work`].
    pub work: Option<f64>,
    /// The generator's view of itself.
    pub generator: GeneratorRecord,
    /// What was observed besides, for the judgement.
    pub facts: Facts,
    /// The first failure that no client could go on after.
    pub fatal: Option<Fatal>,
    /// True when clients were cut off at the end of the grace period; their transactions are unfinished.
    pub is_cut_off: bool,
    /// Clients whose threads never came back and were left behind; the threads end with the process.
    pub left_behind: Vec<ClientId>,
}

impl LoadRecord {
    /// As [`TrialRecord::throughput`].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        record::throughput(self.work, self.ledger.committed, self.measured)
    }

    /// The record of a trial that was this and nothing else: nothing was loaded or audited, no counters were read. It is not judged yet
    /// ([`dyno_model::judge`]).
    #[must_use]
    pub fn trial_record(&self, trial: Trial, started_at: String, server_version: String) -> TrialRecord {
        TrialRecord {
            trial,
            started_at,
            server_version,
            measured: self.measured,
            loading: Nanos(0),
            connecting: self.connecting,
            ledger: self.ledger.clone(),
            transaction: self.transaction,
            statements: self.statements.clone(),
            longest_gap: Some(self.longest_gap),
            open_loop: self.open_loop,
            work: self.work,
            growth: None,
            generator: self.generator.clone(),
            server_counters: BTreeMap::new(),
            audit: AuditRecord::default(),
            end: TrialEnd::Trial,
            facts: Some(self.facts.clone()),
            findings: Vec::new(),
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
        /// Its text, with `?` for parameters, where it is known: not that of an operation which the workload measured by itself.
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

/// How script threads are made and how long they may take to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptThreads {
    /// Size of each thread's stack in bytes; only what is touched takes memory.
    pub stack: usize,
    /// A script that has not said that it is ready after this time ends the run.
    pub ready_limit: Duration,
}

impl Default for ScriptThreads {
    fn default() -> Self {
        Self { stack: 256 << 10, ready_limit: Duration::from_secs(30) }
    }
}

/// Measures a native workload and nothing else: no observer, no baseline, no audit. For tables that are not dyno's own.
/// Clients are dealt out to the targets in turn; all must be of one engine.
///
/// # Errors
/// When nothing could be measured. Trouble during measuring is in the record instead.
///
/// # Panics
/// When there is no target.
pub fn run_load<W: Workload>(
    workload: W,
    targets: &[Target],
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let native = Arc::new(NativeClients::new(Arc::new(workload), targets, input.load));
    let kinds = native.kinds().to_vec();
    measure_alone(&kinds, Ending::LeaveBehind, None, input, listener, |crew| {
        hire_native(crew, &native, input)
    })
}

/// Measures a script: every client has a thread of its own and may block.
///
/// # Errors
/// When a script failed before it was ready, or was not ready in time. Trouble afterwards is in the record.
pub fn run_script<S: Script>(
    script: S,
    threads: &ScriptThreads,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let script = Arc::new(script);
    let kinds = script.kinds();
    let limit = Some(threads.ready_limit);
    measure_alone(&kinds, Ending::LeaveBehind, limit, input, listener, |crew| {
        meter::hire_scripts(crew, &script, threads, input)
    })
}

fn measure_alone(
    kinds: &[&'static str],
    ending: Ending,
    ready_limit: Option<Duration>,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
    hire: impl FnOnce(&mut Crew) -> Result<(), TrialError>,
) -> Result<LoadRecord, TrialError> {
    listener.event(&Event::PhaseStarted { trial: input.name.clone(), phase: Phase::Ramp });
    let mut crew = Crew::new(kinds, ending, input);
    hire(&mut crew)?;
    crew.await_ready(ready_limit, input, listener)?;
    Ok(crew.measure(input, listener).record)
}

/// What the core knows beyond its record; a trial judges by it.
pub(crate) struct Measured {
    pub(crate) record: LoadRecord,
    pub(crate) totals: Totals,
    pub(crate) window: Arc<Window>,
}

/// The window of clients that are all ready.
pub(crate) fn window(input: &LoadInput<'_>) -> Arc<Window> {
    Arc::new(Window::new(Instant::now() + RUN_UP, input.load, input.growth))
}

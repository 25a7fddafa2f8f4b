//! One trial: the measuring core with everything around it that lets a number be trusted, from the baseline to the findings.

use crate::measure::crew::{Crew, Ending};
use crate::measure::{LoadInput, Measured};
use crate::random::trial_seed;
use crate::settling::settle;
use crate::window::Window;
use crate::worker::{NativeClients, hire_native};
use crate::workload::{AuditFacts, ClientId, Workload};
use dyno_drivers::{Connection, Driver, Io, Patience, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::engine::{Engine, Execution};
use dyno_model::event::{Event, Listener, Phase};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::judge::{Asked, judge};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::{Facts, TrialEnd, TrialRecord, Uptime};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The server's counter of the seconds that it has been up.
const UPTIME: &str = "Uptime";

/// Why a trial ended that the user ended.
pub(crate) const INTERRUPTED: &str = "interrupted by the user";

/// What a trial needs. Tables are made and loaded already.
pub struct TrialInput<'a> {
    /// Which trial.
    pub trial: Trial,
    /// Number of clients.
    pub clients: u32,
    /// Load rules.
    pub load: &'a LoadPlan,
    /// Seed of the experiment. What the trial draws follows from it and the trial's id ([`trial_seed`]).
    pub seed: u64,
    /// Where the clients connect.
    pub target: Target,
    /// True when the server runs on this machine.
    pub shares_machine: bool,
    /// UTC time at which the trial begins, as it is written down.
    pub started_at: String,
    /// Time spent on loading before; 0 when data was reused.
    pub loading: Nanos,
    /// Number of interrupts by the user so far; one or more ends the trial cleanly.
    pub interrupts: &'a AtomicUsize,
    /// Says why the system cannot go on (its process died), as long as it can, nothing.
    pub is_dead: &'a dyn Fn() -> Option<String>,
    /// The server's own counters now.
    pub counters: &'a dyn Fn() -> BTreeMap<String, i64>,
}

/// A trial that could not be measured at all.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialError {
    /// A client could not connect or prepare.
    Ramp(OperationFailure),
    /// What the audit needs could not be read.
    Baseline(OperationFailure),
    /// A script failed before it was ready.
    Script {
        /// Its client.
        client: ClientId,
        /// Its words.
        message: String,
    },
    /// Clients were not ready in time.
    NotReady {
        /// How many were.
        ready: u32,
        /// How many there are.
        clients: u32,
    },
    /// The user interrupted before measuring began.
    Interrupted,
    /// The system died before measuring began.
    SystemDied(String),
    /// A fault of this machine, such as no more threads.
    Machine(String),
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ramp(failure) => write!(f, "clients could not be brought up: {failure}"),
            Self::Baseline(failure) => write!(f, "the state before the trial could not be read: {failure}"),
            Self::Script { message, .. } => f.write_str(message),
            Self::NotReady { ready, clients } => {
                write!(f, "only {ready} of {clients} clients were ready in time")
            }
            Self::Interrupted => f.write_str("interrupted"),
            Self::SystemDied(reason) => write!(f, "the system died: {reason}"),
            Self::Machine(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TrialError {}

/// Clients of a PostgreSQL server on this machine from which on more workers do better than one per processor.
const CLIENTS_PER_WORKER: u32 = 64;

/// Number of workers when the plan leaves it open: one client each for drivers that block; as many as processors when the
/// server is elsewhere. On a machine that the server shares, fewer workers find more answers ready at a time; how few do best differs with
/// the server's processes or threads (docs/decisions/003-workers.md has the measurements).
#[must_use]
pub fn default_workers(engine: Engine, clients: u32, shares_machine: bool) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    match engine.traits().execution {
        Execution::Client => clients,
        Execution::Thread if shares_machine => processors.div_ceil(2).min(clients),
        Execution::Process if shares_machine => {
            clients.div_ceil(CLIENTS_PER_WORKER).clamp(processors, 2 * processors).min(clients)
        }
        Execution::Thread | Execution::Process | Execution::Nowhere => processors.min(clients),
    }
}

/// Runs ramp, warm-up, measuring and audit of one trial.
///
/// # Errors
/// When nothing could be measured. Trouble during measuring is in the record's findings instead.
pub fn run_trial<W: Workload>(
    workload: W,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    let workload = Arc::new(workload);
    let id = input.trial.id.as_str();
    listener.event(&Event::PhaseStarted { trial: id.to_owned(), phase: Phase::Ramp });
    let mut observer = block_on(observe(&input.target)).map_err(TrialError::Ramp)?;
    let baseline = block_on(workload.baseline(&mut observer)).map_err(TrialError::Baseline)?;
    let table_growth = workload.growth(&baseline);
    let server_version = observer.server_version().to_owned();
    let seed = trial_seed(input.seed, id);
    let load = LoadInput {
        shares_machine: input.shares_machine,
        is_dead: input.is_dead,
        growth: table_growth,
        ..LoadInput::new(id, input.clients, input.load, seed, input.interrupts)
    };
    let native =
        Arc::new(NativeClients::new(Arc::clone(&workload), std::slice::from_ref(&input.target), input.load));
    let mut crew = Crew::new(native.kinds(), Ending::Await, &load);
    hire_native(&mut crew, &native, &load)?;
    crew.await_ready(None, &load, listener)?;

    let counters_before = (input.counters)();
    let read_at = Instant::now();
    let Measured { record: measured, totals, window } = crew.measure(&load, listener);
    let settled = settle(&mut observer, &input.target, native.sessions());
    let passed = read_at.elapsed();
    // A server that is silent is not asked once more.
    let counters_after = if settled.is_ok() { (input.counters)() } else { BTreeMap::new() };
    let unsettled = settled.as_ref().copied().unwrap_or_default();
    let uptime = uptime(&counters_before, &counters_after, passed);

    let mut record = TrialRecord {
        trial: input.trial.clone(),
        started_at: input.started_at.clone(),
        server_version,
        measured: measured.measured,
        loading: input.loading,
        connecting: measured.connecting,
        ledger: measured.ledger,
        transaction: measured.transaction,
        statements: measured.statements,
        longest_gap: Some(measured.longest_gap),
        open_loop: measured.open_loop,
        work: measured.work,
        growth: table_growth,
        generator: measured.generator,
        server_counters: growth(&counters_before, &counters_after),
        audit: AuditRecord::default(),
        end: TrialEnd::Trial,
        facts: None,
        findings: Vec::new(),
    };
    listener.event(&Event::PhaseStarted { trial: id.to_owned(), phase: Phase::Audit });
    let facts = AuditFacts { baseline, totals: &totals, opens: window.opens() };
    // Why nobody answered when the trial was over: the server has stopped, and who knows since when, or the user does not want to wait.
    let mut silence = None;
    let audited = match (input.is_dead)() {
        Some(reason) => Err(reason),
        None => {
            settled.and_then(|_| audit(&*workload, &mut observer, &input.target, &facts)).map_err(|failure| {
                silence = is_unanswered(&failure).then(|| failure.to_string());
                failure.to_string()
            })
        }
    };
    record.audit =
        audited.map_or_else(|reason| not_audited(&reason), |checks| AuditRecord { checks, unsettled: 0 });
    record.audit.unsettled = unsettled;
    record.end = end(&record.audit, &window, input, silence.is_some());
    let stopped = measured.facts.stopped.clone();
    let stopped = stopped.or_else(|| (record.end == TrialEnd::User).then(|| INTERRUPTED.to_owned()));
    let system_failed = match record.end {
        TrialEnd::System => (input.is_dead)().or(silence),
        _ if stopped.is_some() => (input.is_dead)(),
        _ => None,
    };
    record.facts = Some(Facts { stopped, system_failed, uptime, ..measured.facts });
    let asked = Asked { engine: input.target.engine, clients: input.clients, load: input.load };
    record.findings = judge(&record, &asked);
    Ok(record)
}

/// What ended a trial. A system that dies or a user who interrupts when all is measured and audited ends nothing.
fn end(audit: &AuditRecord, window: &Window, input: &TrialInput<'_>, is_silent: bool) -> TrialEnd {
    let is_audited = !audit.checks.iter().any(|check| matches!(check, AuditCheck::NotRun { .. }));
    if is_audited && !window.is_stopped() {
        TrialEnd::Trial
    } else if (input.is_dead)().is_some() {
        TrialEnd::System
    } else if input.interrupts.load(Ordering::Relaxed) > 0 {
        TrialEnd::User
    } else if is_silent {
        TrialEnd::System
    } else {
        TrialEnd::Trial
    }
}

/// How long the server had been up at both readings, where it tells; both families of servers call it so.
fn uptime(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>, passed: Duration) -> Option<Uptime> {
    let at = |counters: &BTreeMap<String, i64>| u64::try_from(*counters.get(UPTIME)?).ok();
    Some(Uptime { before: at(before)?, after: at(after)?, passed: passed.into() })
}

/// A connection beside the load. Its statements may take as long as the data are large, but the server has to be well.
pub(crate) async fn observe(target: &Target) -> Result<Connection, OperationFailure> {
    Connection::connect(target, &Io::Patient(Patience::for_work(target))).await
}

/// True when a question ended without the server's word: it is silent, or the user does not want to wait.
pub(crate) fn is_unanswered(failure: &OperationFailure) -> bool {
    failure.code == 0 && matches!(failure.kind, FailureKind::Timeout | FailureKind::Cancelled)
}

fn growth(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    after
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value - before.get(name)?)))
        .filter(|(_, growth)| *growth != 0)
        .collect()
}

fn not_audited(reason: &str) -> AuditRecord {
    AuditCheck::NotRun { name: "audit".to_owned(), reason: reason.to_owned() }.into()
}

fn audit<W: Workload>(
    workload: &W,
    observer: &mut Connection,
    target: &Target,
    facts: &AuditFacts<'_, W::Baseline>,
) -> Result<Vec<AuditCheck>, OperationFailure> {
    match block_on(workload.audit(observer, facts)) {
        // The connection may have broken with those of the clients; the server may be well again.
        Err(failure) if !is_unanswered(&failure) => block_on(async {
            let mut fresh = observe(target).await?;
            workload.audit(&mut fresh, facts).await
        }),
        audited => audited,
    }
}

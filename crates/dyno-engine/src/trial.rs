//! One trial from ramp to books: the coordinator that workers report to.

use crate::collector::Collector;
use crate::generator::{MachineCpu, ProcessCpu, lag_p99, memory_peak};
use crate::recorder::{Sample, Totals};
use crate::session::{CONTROL_KINDS, SessionPlan};
use crate::window::Window;
use crate::worker::{Assignment, Report, WorkerReport, guarded, run_blocking, run_event_loop};
use crate::workload::{AuditFacts, ClientId, Workload, scalar};
use dyno_drivers::{Connection, Driver, Io, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::failure::OperationFailure;
use dyno_model::finding::Finding;
use dyno_model::plan::{LoadPlan, StopRule, Trial};
use dyno_model::record::{GeneratorRecord, TrialRecord};
use dyno_model::target::{Engine, Target};
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often the coordinator looks around while the trial runs.
const LOOK: Duration = Duration::from_millis(100);
/// Time between the signal to start and the common epoch, in which all workers wake up.
const RUN_UP: Duration = Duration::from_millis(10);
/// After the grace period a worker has so long to end; a blocking one that has not is interrupted again and again.
const ENDING: Duration = Duration::from_secs(1);
/// Longest wait for sessions to end on the server.
const SETTLING: Duration = Duration::from_secs(2);
/// Workers per processor when the server shares the machine (docs/decisions/003-workers.md).
const WORKERS_PER_PROCESSOR: u32 = 2;

/// What a trial needs. Tables are made and loaded already.
pub struct TrialInput<'a> {
    /// Which trial.
    pub trial: Trial,
    /// Number of clients.
    pub clients: u32,
    /// Load rules.
    pub load: &'a LoadPlan,
    /// Seed of the experiment.
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
            Self::Interrupted => f.write_str("interrupted"),
            Self::SystemDied(reason) => write!(f, "the system died: {reason}"),
            Self::Machine(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TrialError {}

/// Number of workers when the plan leaves it open: one client each for drivers that block; as many as processors when the
/// server is elsewhere; twice as many when it is on this machine, where a worker often has to wait for the processor that the server has
/// (docs/decisions/003-workers.md has the measurements).
#[must_use]
pub fn default_workers(engine: Engine, clients: u32, shares_machine: bool) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    match engine {
        Engine::Sqlite => clients,
        Engine::Null => processors.min(clients),
        Engine::Mysql | Engine::Postgres if shares_machine => {
            (WORKERS_PER_PROCESSOR * processors).min(clients)
        }
        Engine::Mysql | Engine::Postgres => processors.min(clients),
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
    let session_plan = Arc::new(session_plan(&*workload));
    let mut observer =
        block_on(Connection::connect(&input.target, &Io::Blocking)).map_err(TrialError::Ramp)?;
    let baseline = block_on(workload.baseline(&mut observer)).map_err(TrialError::Baseline)?;
    let server_version = observer.server_version().to_owned();
    let ramp_began = Instant::now();
    let mut crew = Crew::start(&workload, &session_plan, input)?;
    crew.await_connections(input, listener)?;
    let connecting = ramp_began.elapsed().into();

    let counters_before = (input.counters)();
    let window = Arc::new(Window::new(Instant::now() + RUN_UP, input.load));
    let mut collector = Collector::new(id, &session_plan.kinds, window.opens());
    let measured = crew.measure(&window, &mut collector, input, listener);
    settle(&mut observer, input.target.engine);
    let counters_after = (input.counters)();

    let reports = crew.reports;
    let mut record = TrialRecord {
        trial: input.trial.clone(),
        started_at: input.started_at.clone(),
        server_version,
        measured: Nanos(measured.length),
        loading: input.loading,
        connecting,
        ledger: dyno_model::ledger::Ledger::default(),
        transaction: collector.transaction(),
        statements: collector.statements(),
        generator: GeneratorRecord::default(),
        server_counters: growth(&counters_before, &counters_after),
        audit: AuditRecord::default(),
        findings: Vec::new(),
    };
    let mut totals = Totals::default();
    let mut lags = Vec::new();
    for report in reports {
        record.ledger.add(&report.ledger);
        totals.add(&report.totals);
        lags.extend(report.lags);
        record.generator.workers.push(report.record);
        if let Some(trouble) = report.trouble {
            record.findings.push(Finding::CutShort { reason: trouble });
        }
    }
    let (cpu_user, cpu_system) = measured.cpu;
    record.generator.cpu_user = cpu_user;
    record.generator.cpu_system = cpu_system;
    record.generator.little_gap = little_gap(totals.busy, input.clients, measured.length, input.load);
    record.generator.wakeup_lag_p99 = lag_p99(lags);
    record.generator.memory_peak = memory_peak();
    record.generator.shares_machine = input.shares_machine;

    listener.event(&Event::PhaseStarted { trial: id.to_owned(), phase: Phase::Audit });
    let facts = AuditFacts { baseline, totals: &totals, opens: window.opens() };
    record.audit = match (input.is_dead)() {
        Some(reason) => not_audited(&reason),
        None => audit(&*workload, &mut observer, &input.target, &facts),
    };
    crate::findings::raise(&mut record, &window, &collector, input, &totals, measured.steal);
    Ok(record)
}

/// PostgreSQL counts what a session did when the session ends, which takes it a moment after the client has gone.
fn settle(observer: &mut Connection, engine: Engine) {
    if engine != Engine::Postgres {
        return;
    }
    let sql =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dyno' AND pid <> pg_backend_pid()";
    let until = Instant::now() + SETTLING;
    while Instant::now() < until && block_on(scalar(observer, sql)).is_ok_and(|sessions| sessions > 0) {
        std::thread::sleep(LOOK / 10);
    }
}

/// Kinds and statements of a workload with the control statements behind them.
fn session_plan<W: Workload>(workload: &W) -> SessionPlan {
    let mut kinds = workload.kinds();
    kinds.extend(CONTROL_KINDS);
    SessionPlan {
        setup: workload.session_setup(),
        statements: workload.statements(),
        kinds,
        begin: workload.begin(),
    }
}

/// The workers of a trial and what they report.
struct Crew {
    threads: Vec<std::thread::JoinHandle<()>>,
    incoming: Receiver<Report>,
    samples: Receiver<Vec<Sample>>,
    go: Vec<Sender<Arc<Window>>>,
    interrupters: Vec<Box<dyn Fn() + Send>>,
    reports: Vec<WorkerReport>,
    failure: Option<OperationFailure>,
}

/// The measured window as it was.
struct Measured {
    /// Nanoseconds.
    length: u64,
    cpu: (Nanos, Nanos),
    /// Share of the machine's processor time that other guests of the host took.
    steal: f64,
}

impl Crew {
    fn start<W: Workload>(
        workload: &Arc<W>,
        session_plan: &Arc<SessionPlan>,
        input: &TrialInput<'_>,
    ) -> Result<Self, TrialError> {
        let engine = input.target.engine;
        let workers = match (engine, input.load.workers) {
            (Engine::Sqlite, _) | (_, None) => default_workers(engine, input.clients, input.shares_machine),
            (_, Some(workers)) => workers.min(input.clients),
        };
        let run = if engine == Engine::Sqlite { run_blocking::<W> } else { run_event_loop::<W> };
        let (report, incoming) = channel();
        let (sample, samples) = channel();
        let connecting = Arc::new(AtomicUsize::new(0));
        let target = Arc::new(input.target.clone());
        let mut crew = Self {
            threads: Vec::new(),
            incoming,
            samples,
            go: Vec::new(),
            interrupters: Vec::new(),
            reports: Vec::new(),
            failure: None,
        };
        for index in 0..workers {
            let (go, told) = channel();
            crew.go.push(go);
            let assignment = Assignment {
                index,
                clients: (index..input.clients).step_by(workers as usize).map(ClientId).collect(),
                seed: input.seed,
                attempts_max: input.load.attempts_max,
                workload: Arc::clone(workload),
                target: Arc::clone(&target),
                session_plan: Arc::clone(session_plan),
                connecting: Arc::clone(&connecting),
                reports: report.clone(),
                samples: sample.clone(),
                go: told,
            };
            let thread = std::thread::Builder::new()
                .name(format!("dyno-worker-{index}"))
                .spawn(move || guarded(&assignment, run))
                .map_err(|error| {
                    TrialError::Machine(format!("worker {index} could not be started: {error}"))
                })?;
            crew.threads.push(thread);
        }
        Ok(crew)
    }

    /// Waits until every client is connected.
    fn await_connections(
        &mut self,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), TrialError> {
        let mut connected = 0;
        let outcome = loop {
            if connected == input.clients {
                return Ok(());
            }
            match self.incoming.recv_timeout(LOOK) {
                Ok(Report::Connected) => connected += 1,
                Ok(Report::ConnectFailed(failure)) => break TrialError::Ramp(failure),
                Ok(other) => self.note(other),
                Err(RecvTimeoutError::Timeout) => {
                    listener.event(&Event::Progress {
                        trial: input.trial.id.clone(),
                        phase: Phase::Ramp,
                        done: connected.into(),
                        total: input.clients.into(),
                        unit: ProgressUnit::Connections,
                    });
                    if input.interrupts.load(Ordering::Relaxed) > 0 {
                        break TrialError::Interrupted;
                    }
                    if let Some(reason) = (input.is_dead)() {
                        break TrialError::SystemDied(reason);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break TrialError::Machine("all workers ended before the trial began".to_owned());
                }
            }
        };
        // Closing the channels calls the trial off; workers still connecting notice when they have.
        self.go.clear();
        Err(outcome)
    }

    fn note(&mut self, report: Report) {
        match report {
            Report::Connected => {}
            Report::ConnectFailed(failure) => self.failure = Some(failure),
            Report::Interrupter(interrupt) => self.interrupters.push(interrupt),
            Report::Done(report) => self.reports.push(*report),
        }
    }

    /// Warm-up and measuring, until every worker has ended.
    fn measure(
        &mut self,
        window: &Arc<Window>,
        collector: &mut Collector,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Measured {
        let mut watch = Watch::new();
        for go in self.go.drain(..) {
            // A worker that is gone has reported why.
            let _ = go.send(Arc::clone(window));
        }
        let workers = self.threads.len();
        while self.reports.len() < workers {
            while let Ok(report) = self.incoming.try_recv() {
                self.note(report);
            }
            match self.samples.recv_timeout(LOOK) {
                Ok(batch) => {
                    collector.take(&batch);
                    for batch in self.samples.try_iter() {
                        collector.take(&batch);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // All workers are gone; what they reported is still in the other channel.
                Err(RecvTimeoutError::Disconnected) => {
                    self.reports.extend(self.incoming.try_iter().filter_map(|report| match report {
                        Report::Done(report) => Some(*report),
                        _ => None,
                    }));
                    break;
                }
            }
            watch.look(window, collector, input, listener, &self.interrupters);
        }
        for thread in self.threads.drain(..) {
            // Panics were caught and reported.
            let _ = thread.join();
        }
        for batch in self.samples.try_iter() {
            collector.take(&batch);
        }
        watch.finish(window, collector, input, listener)
    }
}

/// What the coordinator does while the trial runs, besides sorting samples.
struct Watch {
    cpu_at_open: ProcessCpu,
    machine_at_open: MachineCpu,
    is_measuring: bool,
    progress_at: Instant,
}

impl Watch {
    fn new() -> Self {
        Self {
            cpu_at_open: ProcessCpu::now(),
            machine_at_open: MachineCpu::now(),
            is_measuring: false,
            progress_at: Instant::now(),
        }
    }

    fn look(
        &mut self,
        window: &Window,
        collector: &mut Collector,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
        interrupters: &[Box<dyn Fn() + Send>],
    ) {
        let now = window.now();
        if !self.is_measuring && now >= window.opens() {
            self.is_measuring = true;
            if window.opens() > 0 {
                self.cpu_at_open = ProcessCpu::now();
                self.machine_at_open = MachineCpu::now();
            }
            listener.event(&Event::PhaseStarted { trial: input.trial.id.clone(), phase: Phase::Measure });
        }
        while let Some(interval) = collector.complete(now) {
            listener.interval(&interval);
        }
        if !window.is_stopped() {
            if input.interrupts.load(Ordering::Relaxed) > 0 {
                window.stop("interrupted by the user");
            } else if let Some(reason) = (input.is_dead)() {
                window.stop(&reason);
            }
        }
        if window.is_cut(now) {
            interrupters.iter().for_each(|interrupt| interrupt());
        }
        if self.progress_at <= Instant::now() {
            self.progress_at = Instant::now() + ENDING / 2;
            listener.event(&progress(window, collector, input, now));
        }
    }

    fn finish(
        self,
        window: &Window,
        collector: &mut Collector,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Measured {
        let ended = window.now();
        let last = collector.last_end().max(window.opens());
        let length = match input.load.stop {
            // Cut short: until the last answer that came.
            _ if window.is_stopped() => last - window.opens(),
            StopRule::Duration(duration) => duration.0,
            StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) if last > window.opens() => {
                last - window.opens()
            }
            StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) => ended - window.opens(),
        };
        while let Some(interval) = collector.complete(ended) {
            listener.interval(&interval);
        }
        // Answers of the grace period come after the window; their interval ends with the last of them.
        for interval in collector.rest(last.max(window.opens() + length)) {
            listener.interval(&interval);
        }
        Measured {
            length,
            cpu: ProcessCpu::now().since(self.cpu_at_open),
            steal: MachineCpu::now().steal_since(self.machine_at_open),
        }
    }
}

fn progress(window: &Window, collector: &Collector, input: &TrialInput<'_>, now: u64) -> Event {
    let (done, total, unit) = match input.load.stop {
        StopRule::Transactions(count) => (collector.committed(), count, ProgressUnit::Transactions),
        StopRule::TransactionsPerClient(count) => {
            (collector.committed(), count * u64::from(input.clients), ProgressUnit::Transactions)
        }
        StopRule::Duration(duration) => {
            let total = window.opens() + duration.0;
            (now.min(total), total, ProgressUnit::Nanoseconds)
        }
    };
    let phase = if now < window.opens() { Phase::WarmUp } else { Phase::Measure };
    Event::Progress { trial: input.trial.id.clone(), phase, done, total, unit }
}

fn growth(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    after
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value - before.get(name)?)))
        .filter(|(_, growth)| *growth != 0)
        .collect()
}

/// Little's law: N clients that are always in a transaction spend N times the window in transactions. The share that is missing, they
/// spent in the generator. Transactions that failed or were cut off kept their clients busy too and are in the sum. Stop rules by count
/// leave clients idle at the end for want of work, so the law says nothing about them.
fn little_gap(busy: u64, clients: u32, length: u64, load: &LoadPlan) -> f64 {
    if length == 0 || !matches!(load.stop, StopRule::Duration(_)) {
        return 0.0;
    }
    (1.0 - busy as f64 / (f64::from(clients) * length as f64)).max(0.0)
}

fn not_audited(reason: &str) -> AuditRecord {
    AuditRecord { checks: vec![AuditCheck::NotRun { name: "audit".to_owned(), reason: reason.to_owned() }] }
}

fn audit<W: Workload>(
    workload: &W,
    observer: &mut Connection,
    target: &Target,
    facts: &AuditFacts<'_, W::Baseline>,
) -> AuditRecord {
    let first = block_on(workload.audit(observer, facts));
    // The connection may have broken with those of the clients; the server may be well again.
    let second = first.or_else(|_| {
        block_on(async {
            let mut fresh = Connection::connect(target, &Io::Blocking).await?;
            workload.audit(&mut fresh, facts).await
        })
    });
    second.map_or_else(|failure| not_audited(&failure.to_string()), |checks| AuditRecord { checks })
}

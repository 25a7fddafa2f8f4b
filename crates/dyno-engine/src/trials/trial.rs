//! Measurement of native workloads and scripts: [`run_load`] and [`run_script`] measure a load
//! alone; [`run_trial`] and [`run_script_trial`] add everything that makes results trustworthy,
//! from the baseline to the warnings.

use crate::auditing::{Auditor, audited_node, observers};
use crate::clients::Clients;
use crate::custom_audit::CustomAudit;
use crate::measure::distributed::{self, Generators};
use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::measure::meter::{Script, ScriptThreads, kinds, spawn_scripts};
use crate::measure::partial_result::{AuditState, EndedMeasurement, MeasuredLoad, PartialResult};
use crate::measure::start::Start;
use crate::measure::worker_pool::{StuckThreadPolicy, WorkerPool};
use crate::native_clients::NativeClients;
use crate::recording::{SampleNames, Totals};
use crate::schema;
use crate::session::COMMIT;
use crate::settling::{OpenSessions, await_ended, observe};
use crate::start_barrier::BarrierMember;
use crate::trial_input::{Counters, NodeState, TrialInput};
use crate::window::MeasurementWindow;
use crate::worker::spawn_native;
use crate::workload::{AuditFacts, Workload};
use crate::{worker_count, worker_tries};
use dyno_drivers::{Connection, Driver, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::catalog::Growth;
use dyno_model::event::{Listener, Phase};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::history::History;
use dyno_model::judge::{TrialRequirements, judge};
use dyno_model::plan::LoadPlan;
use dyno_model::reason::Reason;
use dyno_model::record::{BenchmarkFacts, GeneratorRecord, TrialEnd, TrialRecord, Uptime};
use dyno_model::target::{Engine, Target};
use dyno_model::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The server's counter of its uptime in seconds.
const UPTIME: &str = "Uptime";

/// Measures a native workload without observer, baseline or audit, for tables that dyno did not
/// create. Clients are assigned to the targets round-robin; all targets must have the same engine.
///
/// # Errors
/// When nothing could be measured. The record contains errors that occur while measuring.
///
/// # Panics
/// When there is no target.
pub fn run_load<W: Workload>(
    workload: W,
    targets: &[Target],
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let native = Arc::new(NativeClients::new(vec![Arc::new(workload)], targets, 0, input.load));
    listener.event(&input.phase_started(Phase::Connecting));
    with_best_workers(
        &native,
        input,
        |input| measure_load(&native, input, listener),
        |record| &mut record.generator,
    )
}

/// As [`run_load`], but the clients are those of generators.
///
/// # Errors
/// As [`run_load`], and when a generator fails or is lost.
///
/// # Panics
/// As [`run_load`].
pub fn run_distributed_load<W: Workload>(
    workload: W,
    targets: &[Target],
    generators: &dyn Generators,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let native = Arc::new(NativeClients::new(vec![Arc::new(workload)], targets, 0, input.load));
    listener.event(&input.phase_started(Phase::Connecting));
    measure_distributed(&native, generators, input, listener)
}

/// Measures the clients of generators without observers or audit.
fn measure_distributed(
    clients: &impl Clients,
    generators: &dyn Generators,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let common_start = || generators.start().map(Start::at);
    let (measured, audit_state) =
        distributed::measure(&clients.kinds(), generators, input, common_start, listener)?;
    audit_state.into_iter().for_each(|it| clients.import_audit_state(it));
    Ok(measured.record)
}

/// Measures a script alone: every client has its own thread and may block.
///
/// # Errors
/// When a script failed before it was ready, or was not ready in time. The record contains later
/// errors.
pub fn run_script<S: Script>(
    script: S,
    threads: &ScriptThreads,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    listener.event(&input.phase_started(Phase::Connecting));
    let audit = &CustomAudit::default();
    measure_load(&ScriptClients { script: Arc::new(script), threads, audit }, input, listener)
}

/// As [`run_script`], but the threads are those of generators. Nothing of the script runs here.
///
/// # Errors
/// As [`run_script`], and when a generator fails or is lost.
pub fn run_distributed_script<S: Script>(
    script: S,
    threads: &ScriptThreads,
    generators: &dyn Generators,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    listener.event(&input.phase_started(Phase::Connecting));
    let audit = &CustomAudit::default();
    let clients = ScriptClients { script: Arc::new(script), threads, audit };
    measure_distributed(&clients, generators, input, listener)
}

/// Measures clients without observers or audit.
fn measure_load(
    clients: &impl Clients,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    let common_start = || Ok(Start::soon());
    let outcome = measure(clients, StuckThreadPolicy::LeaveBehind, input, common_start, listener);
    outcome.map(|measured_load| measured_load.record)
}

/// Runs something with the best number of workers, and records the numbers that were tried.
fn with_best_workers<W: Workload, T>(
    native: &Arc<NativeClients<W>>,
    input: &LoadInput<'_>,
    run: impl FnOnce(&LoadInput<'_>) -> Result<T, TrialError>,
    generator: fn(&mut T) -> &mut GeneratorRecord,
) -> Result<T, TrialError> {
    let tried = worker_tries::try_worker_counts(native, input, |input, listener| {
        measure_load(native, input, listener)
    })?;
    let workers = worker_count::best(&tried).or(input.load.workers);
    let load = LoadPlan { workers, ..input.load.clone() };
    let mut outcome = run(&LoadInput { load: &load, ..input.clone() })?;
    generator(&mut outcome).workers_tried = tried;
    Ok(outcome)
}

/// Measures clients of this process; `ready` is as of [`run_pool`].
fn measure(
    clients: &impl Clients,
    stuck_threads: StuckThreadPolicy,
    input: &LoadInput<'_>,
    common_start: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<MeasuredLoad, TrialError> {
    let worker_pool = WorkerPool::new(clients.kinds(), stuck_threads, input);
    Ok(run_pool(clients, worker_pool, common_start, listener)?.into_measured(listener))
}

/// Runs clients until all have ended. `ready` is called when all are ready, and returns their
/// common start.
fn run_pool<'a>(
    clients: &impl Clients,
    mut worker_pool: WorkerPool<'a>,
    common_start: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<EndedMeasurement<'a>, TrialError> {
    clients.spawn(&mut worker_pool)?;
    worker_pool.await_ready(clients.ready_limit(), listener)?;
    match common_start() {
        Ok(start) => Ok(worker_pool.run(&start, listener)),
        Err(error) => {
            worker_pool.cancel();
            Err(error)
        }
    }
}

impl<W: Workload> Clients for Arc<NativeClients<W>> {
    type Baseline = W::Baseline;

    fn kinds(&self) -> SampleNames {
        let statements = self.targets[0].1.kinds.clone();
        let mut commit_kinds = self.workloads[0].commit_kinds();
        commit_kinds.extend(statements.iter().rposition(|kind| *kind == COMMIT));
        SampleNames { statements, transactions: self.transactions.clone(), commit_kinds }
    }

    fn think(&self, name_index: u16) -> Option<Nanos> {
        let workload = &self.workloads[0];
        let mean_wait =
            |name| workload.think(name).map(|mean| Nanos(mean.0 + workload.keying(name).0));
        match self.names_per_workload() {
            _ if !self.has_several_databases() => mean_wait(name_index),
            // The only name is that of the database.
            1 if workload.transactions().len() > 1 => None,
            each => mean_wait(name_index % each as u16),
        }
    }

    fn spawn(&self, worker_pool: &mut WorkerPool<'_>) -> Result<(), TrialError> {
        spawn_native(worker_pool, self)
    }

    fn sessions(&self) -> Vec<&OpenSessions> {
        self.targets.iter().map(|(_, plan)| &*plan.sessions).collect()
    }

    fn databases(&self) -> usize {
        self.workloads.len()
    }

    fn audit_state(&self) -> AuditState {
        AuditState {
            sessions: self.sessions().into_iter().map(OpenSessions::all).collect(),
            exported_counts: self
                .workloads
                .iter()
                .map(|workload| workload.export_counts())
                .collect(),
            ledgers: self.ledgers.iter().map(|ledger| ledger.take()).collect(),
        }
    }

    fn import_audit_state(&self, audit_state: AuditState) {
        let sessions = self.sessions().into_iter().zip(&audit_state.sessions);
        sessions.for_each(|(own, numbers)| own.add(numbers));
        let exported = self.workloads.iter().zip(&audit_state.exported_counts);
        exported.for_each(|(workload, exported)| workload.import_counts(exported));
        self.ledgers
            .iter()
            .zip(audit_state.ledgers)
            .for_each(|(ledger, outcomes)| ledger.add(outcomes));
    }

    async fn baseline(
        &self,
        database: usize,
        observer: &mut Connection,
    ) -> Result<W::Baseline, OperationFailure> {
        self.workloads[database].baseline(observer).await
    }

    fn sent_as_text(&self) -> Vec<&'static str> {
        self.workloads[0].sent_as_text()
    }

    fn benchmark(&self, baseline: &W::Baseline) -> Option<BenchmarkFacts> {
        // Clients that are spread over databases have names of their own.
        self.workloads[0].benchmark(baseline).filter(|_| self.workloads.len() == 1)
    }

    fn growth(&self, baseline: &W::Baseline) -> Option<Growth> {
        // With several tables, it is unknown which one grows.
        self.workloads[0].growth(baseline).filter(|_| self.workloads.len() == 1)
    }

    fn history(&self) -> Option<Arc<History>> {
        self.workloads[0].history()
    }

    fn totals(&self, database: usize, all: &Totals) -> Totals {
        match self.has_several_databases() {
            false => all.clone(),
            true => all.of_names(
                database * self.names_per_workload()..(database + 1) * self.names_per_workload(),
            ),
        }
    }

    async fn audit(
        &self,
        database: usize,
        observer: &mut Connection,
        facts: &AuditFacts<'_, W::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let mut checks = self.workloads[database].audit(observer, facts).await?;
        if let Some(ledger) = self.ledgers.get(database) {
            checks.push(ledger.audit(observer).await?);
        }
        Ok(checks)
    }
}

/// The threads of a script.
struct ScriptClients<'a, S> {
    script: Arc<S>,
    threads: &'a ScriptThreads,
    audit: &'a CustomAudit,
}

impl<S: Script> Clients for ScriptClients<'_, S> {
    type Baseline = Vec<i64>;

    fn kinds(&self) -> SampleNames {
        kinds(&*self.script)
    }

    fn spawn(&self, worker_pool: &mut WorkerPool<'_>) -> Result<(), TrialError> {
        spawn_scripts(worker_pool, &self.script, self.threads)
    }

    fn stuck_threads(&self) -> StuckThreadPolicy {
        StuckThreadPolicy::LeaveScript
    }

    fn ready_limit(&self) -> Option<Duration> {
        Some(self.threads.ready_limit)
    }

    fn audit_state(&self) -> AuditState {
        AuditState { exported_counts: vec![self.audit.export_counts()], ..AuditState::default() }
    }

    fn import_audit_state(&self, audit_state: AuditState) {
        audit_state.exported_counts.iter().for_each(|exported| self.audit.import_counts(exported));
    }

    async fn baseline(
        &self,
        _database: usize,
        observer: &mut Connection,
    ) -> Result<Vec<i64>, OperationFailure> {
        self.audit.values(observer).await
    }

    async fn audit(
        &self,
        _database: usize,
        observer: &mut Connection,
        facts: &AuditFacts<'_, Vec<i64>>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        self.audit.checks(observer, &facts.baseline).await
    }
}

/// Runs connecting, warm-up, measuring and audit of one trial.
///
/// # Errors
/// When nothing could be measured. The record's warnings contain errors that occur while measuring.
pub fn run_trial<W: Workload>(
    workload: W,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    run_groups_trial(vec![workload], input, listener)
}

/// The same with a client group for each database: [`TrialInput::nodes`] are the databases, and
/// each has its own workload, all of one kind and with the same options. The groups share one load.
/// Each workload numbers its clients from 0 and is audited separately; transactions are named after
/// the databases.
///
/// # Panics
/// When there is no workload, or there are several and not as many as nodes.
pub fn run_groups_trial<W: Workload>(
    workloads: Vec<W>,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    let clients =
        input.nodes.iter().map(|node| node.client_target.as_ref().unwrap_or(&node.target));
    let spare = input.nodes.iter().filter(|node| node.is_spare).count();
    let workloads = workloads.into_iter().map(Arc::new).collect();
    let native = Arc::new(NativeClients::new(workloads, clients, spare, input.load.load));
    listener.event(&input.load.phase_started(Phase::Connecting));
    let mut run = |load: &LoadInput<'_>| {
        trial(&native, &TrialInput { load: load.clone(), ..input.clone() }, listener)
    };
    match input.barrier {
        None if input.generators.is_none() => {
            with_best_workers(&native, &input.load, &mut run, |record| &mut record.generator)
        }
        _ => run(&input.load),
    }
}

/// Measures the clients of one of several generators ([`LoadInput::of_generator`]): those of a
/// workload, or of one for each database. `ready` reports that they are ready, and returns when
/// they begin; the listener receives intervals for the coordinator.
///
/// # Errors
/// When the clients cannot begin, and those of `ready`.
///
/// # Panics
/// As [`run_groups_trial`].
pub fn run_subset<W: Workload>(
    workloads: Vec<W>,
    (targets, spare): (&[Target], usize),
    input: &LoadInput<'_>,
    ready: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<PartialResult, TrialError> {
    let workloads = workloads.into_iter().map(Arc::new).collect();
    measure_subset(
        &Arc::new(NativeClients::new(workloads, targets, spare, input.load)),
        input,
        ready,
        listener,
    )
}

/// Like [`run_subset`], for the threads of a script. The coordinator adds the counters of `audit`
/// to its own.
///
/// # Errors
/// As [`run_subset`].
pub fn run_script_subset<S: Script>(
    script: S,
    audit: &CustomAudit,
    threads: &ScriptThreads,
    input: &LoadInput<'_>,
    ready: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<PartialResult, TrialError> {
    measure_subset(
        &ScriptClients { script: Arc::new(script), threads, audit },
        input,
        ready,
        listener,
    )
}

fn measure_subset(
    clients: &impl Clients,
    input: &LoadInput<'_>,
    ready: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<PartialResult, TrialError> {
    let worker_pool = WorkerPool::new(clients.kinds(), clients.stuck_threads(), input).mergeable();
    let ended = run_pool(clients, worker_pool, ready, listener)?;
    Ok(ended.into_partial_result(clients.audit_state(), listener))
}

/// Runs connecting, warm-up, measuring and audit of one trial of a script, which connects to the
/// nodes itself.
///
/// # Errors
/// When nothing could be measured. The record's warnings contain errors that occur while measuring.
pub fn run_script_trial<S: Script>(
    script: S,
    audit: &CustomAudit,
    threads: &ScriptThreads,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    listener.event(&input.load.phase_started(Phase::Connecting));
    trial(&ScriptClients { script: Arc::new(script), threads, audit }, input, listener)
}

/// Fails when threads of a script are still running.
fn check_all_ended(load_record: &LoadRecord) -> Result<(), TrialError> {
    let [first, ..] = load_record.left_behind[..] else { return Ok(()) };
    let left_behind = load_record.left_behind.len();
    Err(TrialError::threads_still_running(Reason::ClientsContinued {
        clients: left_behind,
        first: first.0,
    }))
}

fn trial(
    clients: &impl Clients,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    let mut observers = block_on(observers(&input.nodes)).map_err(TrialError::NotConnected)?;
    let is_background = input.barrier.is_some_and(BarrierMember::is_background);
    let schema = match is_background {
        true => None,
        false => block_on(schema::read(&mut observers[0], input.nodes[0].target.engine)),
    };
    let baselines = baselines(clients, &mut observers)
        .map_err(|failure| TrialError::Failed(Reason::StateNotRead(failure)))?;
    let server_version = observers[0].identity().shown();
    let load = LoadInput { growth: clients.growth(&baselines[0]), ..input.load.clone() };
    let (mut before, mut read_at) = (Counters::new(), Instant::now());
    let mut start = || {
        (before, read_at) = ((input.counters)(), Instant::now());
        input.generators.map_or_else(|| Ok(Start::soon()), |it| it.start().map(Start::at))
    };
    let common_start = || match input.barrier {
        Some(member) => member.await_start(start),
        None => start(),
    };
    let measured_load = match input.generators {
        None => measure(clients, clients.stuck_threads(), &load, common_start, listener)?,
        Some(generators) => {
            let (measured, audit_state) =
                distributed::measure(&clients.kinds(), generators, &load, common_start, listener)?;
            audit_state.into_iter().for_each(|it| clients.import_audit_state(it));
            measured
        }
    };
    let MeasuredLoad { record: measured, totals, window } = measured_load;
    let repaired = input.repair.map(|repair| repair());
    let states = repaired
        .as_ref()
        .map_or_else(|| Ok(vec![NodeState::Up; input.nodes.len()]), |it| it.nodes.clone());
    let settled = await_all_ended(clients, &mut observers, input, &states);
    if let Some(member) = input.barrier {
        member.settled();
    }
    check_all_ended(&measured)?;
    let passed = read_at.elapsed();
    // A silent server is not queried again, and a restarted one counts from 0.
    let is_queried = settled.is_ok() && repaired.is_none();
    let after = if is_queried { (input.counters)() } else { Counters::new() };
    let audited = states.as_ref().map_or(0, |states| audited_node(states));
    let mut record = TrialRecord {
        loading: input.loading,
        growth: load.growth,
        schema,
        server_counters: counter_increases(input.nodes[0].target.engine, &before, &after),
        ..measured.trial_record(input.trial.clone(), input.started_at.clone(), server_version)
    };
    for (name, named) in record.transactions.iter_mut().enumerate() {
        named.think = clients.think(name as u16);
    }
    listener.event(&load.phase_started(Phase::Audit));
    let auditor = Auditor { clients, input, totals: &totals, opens: window.opens() };
    let benchmark = clients.benchmark(&baselines[0]);
    let silence;
    (record.audit, silence) = auditor.audit_all(&mut observers, audited, &settled, baselines);
    if let Some(history) = clients.history() {
        listener.history(&input.trial.id, None, &history);
    }
    record.end = trial_end(&record.audit, &window, &load, silence.is_some());
    let mut missing = Vec::new();
    if let Some(member) = input.barrier.filter(|_| !is_background) {
        (record.background, missing) = member.records()?;
    }
    let facts = record.facts.get_or_insert_default();
    facts.problems.extend(missing);
    facts.benchmark = benchmark;
    facts.sent_as_text = clients.sent_as_text().into_iter().map(str::to_owned).collect();
    facts.faults = repaired.map(|repaired| repaired.faults).unwrap_or_default();
    if record.end == TrialEnd::User {
        facts.stopped.get_or_insert(Reason::Interrupted);
    }
    facts.system_failed = match record.end {
        TrialEnd::System => (load.is_dead)().or(silence),
        _ if facts.stopped.is_some() => (load.is_dead)(),
        _ => None,
    };
    facts.uptime = uptime(&before, &after, passed);
    let requirements = TrialRequirements {
        engine: input.nodes[0].target.engine,
        clients: load.clients.total,
        load: load.load,
        tolerated_failures: load.tolerated_failures,
    };
    record.warnings = judge(&record, &requirements);
    Ok(record)
}

/// The contents of each database before the trial.
fn baselines<C: Clients>(
    clients: &C,
    observers: &mut [Connection],
) -> Result<Vec<C::Baseline>, OperationFailure> {
    let databases = observers.iter_mut().take(clients.databases()).enumerate();
    databases.map(|(database, observer)| block_on(clients.baseline(database, observer))).collect()
}

/// Calls [`await_ended`] on every running node and returns the total. Observers of nodes that may
/// have been affected by faults reconnect. Sessions opened by scripts are not tracked, so there is
/// nothing to wait for; the audit reconnects where necessary.
fn await_all_ended(
    clients: &impl Clients,
    observers: &mut [Connection],
    input: &TrialInput<'_>,
    states: &Result<Vec<NodeState>, String>,
) -> Result<u64, OperationFailure> {
    let states = states.as_ref().map_err(|reason| FailureKind::Other.failure(reason))?;
    let each = observers.iter_mut().zip(&input.nodes).zip(clients.sessions()).zip(states);
    let settled = each.map(|(((observer, node), sessions), state)| match *state {
        NodeState::Down => Ok(0),
        NodeState::Up => {
            if input.repair.is_some() {
                // A server that was up all the time may still have lost its sessions in a fault.
                *observer = block_on(observe(&node.target))?;
            }
            await_ended(observer, &node.target, sessions, None)
        }
        NodeState::Restarted(since) => {
            *observer = block_on(observe(&node.target))?;
            await_ended(observer, &node.target, sessions, Some(since))
        }
    });
    settled.sum()
}

/// How the trial ended. A system that dies or a user who interrupts after everything was measured
/// and audited does not end the trial early.
fn trial_end(
    audit: &AuditRecord,
    window: &MeasurementWindow,
    load: &LoadInput<'_>,
    is_silent: bool,
) -> TrialEnd {
    let is_audited = !audit.checks.iter().any(|check| matches!(check, AuditCheck::NotRun { .. }));
    if is_audited && !window.is_stopped() {
        TrialEnd::Trial
    } else if (load.is_dead)().is_some() {
        TrialEnd::System
    } else if load.interrupts.load(Ordering::Relaxed) > 0 {
        TrialEnd::User
    } else if is_silent {
        TrialEnd::System
    } else {
        TrialEnd::Trial
    }
}

/// The server's uptime at both readings, if it reports it; both families of servers use the same
/// name.
fn uptime(before: &Counters, after: &Counters, passed: Duration) -> Option<Uptime> {
    let at = |counters: &Counters| u64::try_from(*counters.get(UPTIME)?).ok();
    Some(Uptime { before: at(before)?, after: at(after)?, passed: passed.into() })
}

/// What was added to each counter. Only that of commits, which is compared, may be 0: statements in
/// autocommit mode send no COMMIT.
fn counter_increases(engine: Engine, before: &Counters, after: &Counters) -> Counters {
    let compared = engine.traits().commit_counter.map(|counter| counter.name);
    after
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value - before.get(name)?)))
        .filter(|(name, growth)| *growth != 0 || compared == Some(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_commits_that_did_not_change_is_known() {
        let counters = |all: &[(&str, i64)]| -> Counters {
            all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let before = counters(&[("Com_commit", 5), ("Com_select", 1), ("Com_begin", 2)]);
        let after = counters(&[("Com_commit", 5), ("Com_select", 9), ("Com_begin", 2)]);
        let grown = counter_increases(Engine::Mysql, &before, &after);
        assert_eq!(grown, counters(&[("Com_commit", 0), ("Com_select", 8)]));
        assert_eq!(counter_increases(Engine::Mysql, &before, &counters(&[])), counters(&[]));
    }
}

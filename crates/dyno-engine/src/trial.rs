//! What measures a native workload: [`run_load`] alone, [`run_trial`] with everything around it that lets a number be trusted, from
//! the baseline to the findings. [`run_script_trial`] has the same around a script.

use crate::company::{Company, Place};
use crate::measure::crew::{Crew, Ending, Measured};
use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::measure::meter::{Script, ScriptThreads, hire_scripts, kinds};
use crate::measure::start::Start;
use crate::native_clients::NativeClients;
use crate::own_audit::OwnAudit;
use crate::random::trial_seed;
use crate::recording::Kinds;
use crate::settling::{OpenSessions, is_unanswered, observe, settle};
use crate::window::{StopCause, Window};
use crate::worker::hire_native;
use crate::workload::{AuditFacts, Workload};
use dyno_drivers::patience::is_end_requested;
use dyno_drivers::{Connection, Discard, Driver, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::catalog::Growth;
use dyno_model::event::{Listener, Phase};
use dyno_model::failure::{FailureKind, OperationFailure, Remedy};
use dyno_model::fault::FaultRecord;
use dyno_model::history::History;
use dyno_model::judge::{Asked, judge};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::{TrialEnd, TrialRecord, Uptime};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long an audit is tried again that the server refuses because others are at work, and the pause in between.
const AUDIT_LIMIT: Duration = Duration::from_secs(60);
const AUDIT_PAUSE: Duration = Duration::from_millis(100);

/// The server's counter of the seconds that it has been up.
const UPTIME: &str = "Uptime";

/// The server's own counters, by name.
type Counters = BTreeMap<String, i64>;

/// A load and what a trial needs besides. Tables are made and loaded already.
#[derive(Clone)]
pub struct TrialInput<'a> {
    /// The load, called as the trial is.
    pub load: LoadInput<'a>,
    /// Which trial.
    pub trial: Trial,
    /// Where the clients connect, in turn: one server, or the nodes of a cluster. The first is asked for baseline and audit.
    pub nodes: Vec<Node>,
    /// UTC time at which the trial begins, as it is written down.
    pub started_at: String,
    /// Time spent on loading before; 0 when data was reused.
    pub loading: Nanos,
    /// The server's own counters now.
    pub counters: &'a dyn Fn() -> Counters,
    /// False for a workload that only reads what another changes: the other is asked.
    pub is_audited: bool,
    /// How this goes together with other workloads in the same trial.
    pub role: Role<'a>,
    /// Where faults are made on purpose: called when the clients have ended, it puts the nodes in order again.
    pub mend: Option<&'a dyn Fn() -> Mended>,
}

/// How a workload goes together with others in the same trial.
#[derive(Clone, Copy)]
pub enum Role<'a> {
    /// There are no others.
    Alone,
    /// The trial is about it, and others run beside.
    Leads(&'a Company),
    /// It runs beside the one that the trial is about.
    Beside(&'a Place),
}

/// The nodes after a trial with faults.
pub struct Mended {
    /// What was done.
    pub faults: Vec<FaultRecord>,
    /// How each node is now, in the order of [`TrialInput::nodes`]; or why none answers any more.
    pub nodes: Result<Vec<NodeState>, String>,
}

/// How a node is after a trial with faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It runs, and did all the time.
    Up,
    /// It was ended at this moment and runs again.
    Restarted(Instant),
    /// It does not run.
    Down,
}

/// A server under load.
#[derive(Clone)]
pub struct Node {
    /// Where it is, and where its share of the clients connects.
    pub target: Target,
    /// Where they connect instead, when they talk to an application in front of it.
    pub door: Option<Target>,
    /// A statement that it answers when it has done all that was committed on other nodes before; `None` for one that stands alone.
    pub barrier: Option<&'static str>,
    /// Clients go there only when they have lost another node.
    pub is_spare: bool,
}

impl Node {
    /// A server that stands alone.
    #[must_use]
    pub fn alone(target: Target) -> Vec<Self> {
        vec![Self { target, door: None, barrier: None, is_spare: false }]
    }
}

impl<'a> TrialInput<'a> {
    /// A trial on data that were there, on a server elsewhere that has no counters. What it draws follows from the experiment's seed and
    /// its id ([`trial_seed`]).
    #[must_use]
    pub fn new(
        trial: Trial,
        nodes: Vec<Node>,
        clients: u32,
        load: &'a LoadPlan,
        seed: u64,
        interrupts: &'a AtomicUsize,
    ) -> Self {
        let seed = trial_seed(seed, &trial.id);
        Self {
            load: LoadInput::new(trial.id.clone(), clients, load, seed, interrupts),
            trial,
            nodes,
            started_at: String::new(),
            loading: Nanos(0),
            counters: &Counters::new,
            is_audited: true,
            role: Role::Alone,
            mend: None,
        }
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
    let native = Arc::new(NativeClients::new(Arc::new(workload), targets, 0, input.load));
    listener.event(&input.enters(Phase::Ramp));
    let alone = Role::Alone;
    measure(&native, Ending::LeaveBehind, input, alone, || (), listener).map(|measured| measured.record)
}

/// Measures clients; `begin` is called when all are ready, those of other workloads too, and none has begun.
fn measure(
    clients: &impl Clients,
    ending: Ending,
    input: &LoadInput<'_>,
    role: Role<'_>,
    begin: impl FnOnce(),
    listener: &mut dyn Listener,
) -> Result<Measured, TrialError> {
    let mut crew = Crew::new(clients.kinds(), ending, input);
    clients.hire(&mut crew)?;
    crew.await_ready(clients.ready_limit(), listener)?;
    let others = match role {
        Role::Leads(company) => company.await_ready(),
        Role::Alone | Role::Beside(_) => Ok(()),
    };
    if let Err(error) = others {
        crew.call_off();
        return Err(error);
    }
    begin();
    let start = match role {
        Role::Beside(place) => place.ready(),
        Role::Alone | Role::Leads(_) => Some(Start::soon()),
    };
    let Some(start) = start else {
        crew.call_off();
        return Err(TrialError::Interrupted);
    };
    if let Role::Leads(company) = role {
        company.begin(&start);
    }
    Ok(crew.measure(&start, listener))
}

/// Whose transactions a trial measures.
trait Clients {
    /// What the audit needs to know of the data before the trial.
    type Baseline;

    /// Names of the kinds of statements, and of the transactions that have any.
    fn kinds(&self) -> Kinds;

    /// How long clients wait on average before a transaction of this name, where that is not the load's think time.
    fn think(&self, name: u16) -> Option<Nanos>;

    /// Starts the threads.
    fn hire(&self, crew: &mut Crew<'_>) -> Result<(), TrialError>;

    /// How long they may take to be ready; `None`: as long as each connection may.
    fn ready_limit(&self) -> Option<Duration>;

    /// Which sessions they have opened on each of the nodes, as far as that is known.
    fn sessions(&self) -> Vec<&OpenSessions>;

    async fn baseline(&self, observer: &mut Connection) -> Result<Self::Baseline, OperationFailure>;

    fn growth(&self, baseline: &Self::Baseline) -> Option<Growth>;

    /// What they read and wrote, where they write it down. They have ended.
    fn history(&self) -> Option<Arc<History>>;

    async fn audit(
        &self,
        observer: &mut Connection,
        facts: &AuditFacts<'_, Self::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure>;
}

impl<W: Workload> Clients for Arc<NativeClients<W>> {
    type Baseline = W::Baseline;

    fn kinds(&self) -> Kinds {
        NativeClients::kinds(self)
    }

    fn think(&self, name: u16) -> Option<Nanos> {
        self.workload.think(name)
    }

    fn hire(&self, crew: &mut Crew<'_>) -> Result<(), TrialError> {
        hire_native(crew, self)
    }

    fn ready_limit(&self) -> Option<Duration> {
        None
    }

    fn sessions(&self) -> Vec<&OpenSessions> {
        NativeClients::sessions(self).collect()
    }

    async fn baseline(&self, observer: &mut Connection) -> Result<W::Baseline, OperationFailure> {
        self.workload.baseline(observer).await
    }

    fn growth(&self, baseline: &W::Baseline) -> Option<Growth> {
        self.workload.growth(baseline)
    }

    fn history(&self) -> Option<Arc<History>> {
        self.workload.history()
    }

    async fn audit(
        &self,
        observer: &mut Connection,
        facts: &AuditFacts<'_, W::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let mut checks = self.workload.audit(observer, facts).await?;
        if let Some(ledger) = &self.ledger {
            checks.push(ledger.audit(observer).await?);
        }
        Ok(checks)
    }
}

/// The threads of a script.
struct ScriptClients<'a, S> {
    script: Arc<S>,
    threads: &'a ScriptThreads,
    audit: &'a OwnAudit,
}

impl<S: Script> Clients for ScriptClients<'_, S> {
    type Baseline = Vec<i64>;

    fn kinds(&self) -> Kinds {
        kinds(&*self.script)
    }

    fn think(&self, _name: u16) -> Option<Nanos> {
        None
    }

    fn hire(&self, crew: &mut Crew<'_>) -> Result<(), TrialError> {
        hire_scripts(crew, &self.script, self.threads)
    }

    fn ready_limit(&self) -> Option<Duration> {
        Some(self.threads.ready_limit)
    }

    /// A script connects as it likes.
    fn sessions(&self) -> Vec<&OpenSessions> {
        Vec::new()
    }

    async fn baseline(&self, observer: &mut Connection) -> Result<Vec<i64>, OperationFailure> {
        self.audit.values(observer).await
    }

    fn growth(&self, _baseline: &Vec<i64>) -> Option<Growth> {
        None
    }

    fn history(&self) -> Option<Arc<History>> {
        None
    }

    async fn audit(
        &self,
        observer: &mut Connection,
        facts: &AuditFacts<'_, Vec<i64>>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        self.audit.checks(observer, &facts.baseline).await
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
    let clients = input.nodes.iter().map(|node| node.door.as_ref().unwrap_or(&node.target));
    let spare = input.nodes.iter().filter(|node| node.is_spare).count();
    let native = NativeClients::new(Arc::new(workload), clients, spare, input.load.load);
    trial(&Arc::new(native), input, listener)
}

/// Runs ramp, warm-up, measuring and audit of one trial of a script, which connects to the nodes by itself.
///
/// # Errors
/// When nothing could be measured. Trouble during measuring is in the record's findings instead.
pub fn run_script_trial<S: Script>(
    script: S,
    audit: &OwnAudit,
    threads: &ScriptThreads,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    trial(&ScriptClients { script: Arc::new(script), threads, audit }, input, listener)
}

fn trial(
    clients: &impl Clients,
    input: &TrialInput<'_>,
    listener: &mut dyn Listener,
) -> Result<TrialRecord, TrialError> {
    listener.event(&input.load.enters(Phase::Ramp));
    let mut observers = block_on(observers(&input.nodes)).map_err(TrialError::Ramp)?;
    let observer = &mut observers[0];
    let baseline = block_on(clients.baseline(observer)).map_err(TrialError::Baseline)?;
    let server_version = observer.server_version().to_owned();
    let load = LoadInput { growth: clients.growth(&baseline), ..input.load.clone() };
    let (mut before, mut read_at) = (Counters::new(), Instant::now());
    let read = || (before, read_at) = ((input.counters)(), Instant::now());
    let Measured { record: measured, totals, window } =
        measure(clients, Ending::Await, &load, input.role, read, listener)?;
    let mended = input.mend.map(|mend| mend());
    let states =
        mended.as_ref().map_or_else(|| Ok(vec![NodeState::Up; input.nodes.len()]), |it| it.nodes.clone());
    let settled = settle_all(clients, &mut observers, input, &states);
    match input.role {
        Role::Alone => {}
        Role::Leads(company) => company.await_settled(),
        Role::Beside(place) => place.settled(),
    }
    let passed = read_at.elapsed();
    // A server that is silent is not asked once more, and one that was started again counts from 0.
    let is_asked = settled.is_ok() && mended.is_none();
    let after = if is_asked { (input.counters)() } else { Counters::new() };
    let asked = states.as_ref().map_or(0, |states| asked_node(states));

    let mut record = TrialRecord {
        loading: input.loading,
        growth: load.growth,
        server_counters: growth(&before, &after),
        ..measured.trial_record(input.trial.clone(), input.started_at.clone(), server_version)
    };
    for (name, named) in record.transactions.iter_mut().enumerate() {
        named.think = clients.think(name as u16);
    }
    listener.event(&load.enters(Phase::Audit));
    let facts = AuditFacts { baseline, totals: &totals, opens: window.opens() };
    let silence;
    let asks = Asks { clients, node: &input.nodes[asked] };
    (record.audit, silence) = audited(&asks, &mut observers[asked], input, settled, &facts);
    if let Some(history) = clients.history() {
        listener.history(&input.trial.id, None, &history);
    }
    record.end = end(&record.audit, &window, &load, silence.is_some());
    let mut missing = Vec::new();
    if let Role::Leads(company) = input.role {
        (record.beside, missing) = company.records();
    }
    let facts = record.facts.get_or_insert_default();
    facts.troubles.extend(missing);
    facts.faults = mended.map(|mended| mended.faults).unwrap_or_default();
    if record.end == TrialEnd::User {
        facts.stopped.get_or_insert_with(|| StopCause::User.to_string());
    }
    facts.system_failed = match record.end {
        TrialEnd::System => (load.is_dead)().or(silence),
        _ if facts.stopped.is_some() => (load.is_dead)(),
        _ => None,
    };
    facts.uptime = uptime(&before, &after, passed);
    let asked = Asked { engine: input.nodes[0].target.engine, clients: load.clients, load: load.load };
    record.findings = judge(&record, &asked);
    Ok(record)
}

/// [`settle`] on every node that runs, and the sum of it. Observers of nodes that may have been harmed connect anew. Of scripts no sessions are known:
/// nothing is waited for, and it is the audit that connects anew where it has to.
fn settle_all(
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
            if input.mend.is_some() {
                // A server that was up all the time may have lost its sessions in the harm.
                *observer = block_on(observe(&node.target))?;
            }
            settle(observer, &node.target, sessions, None)
        }
        NodeState::Restarted(since) => {
            *observer = block_on(observe(&node.target))?;
            settle(observer, &node.target, sessions, Some(since))
        }
    });
    settled.sum()
}

/// A connection to each node, all of which have then done what was committed on any of them before, tables for example.
async fn observers(nodes: &[Node]) -> Result<Vec<Connection>, OperationFailure> {
    let mut observers = Vec::with_capacity(nodes.len());
    for node in nodes {
        observers.push(observe(&node.target).await?);
    }
    for (observer, node) in observers.iter_mut().zip(nodes) {
        catch_up(observer, node).await?;
    }
    Ok(observers)
}

/// Waits until a node has done all that was committed before.
async fn catch_up(observer: &mut Connection, node: &Node) -> Result<(), OperationFailure> {
    match node.barrier {
        Some(barrier) => observer.query(barrier, &mut Discard).await.map(|_| ()),
        None => Ok(()),
    }
}

/// What ended a trial. A system that dies or a user who interrupts when all is measured and audited ends nothing.
fn end(audit: &AuditRecord, window: &Window, load: &LoadInput<'_>, is_silent: bool) -> TrialEnd {
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

/// How long the server had been up at both readings, where it tells; both families of servers call it so.
fn uptime(before: &Counters, after: &Counters, passed: Duration) -> Option<Uptime> {
    let at = |counters: &Counters| u64::try_from(*counters.get(UPTIME)?).ok();
    Some(Uptime { before: at(before)?, after: at(after)?, passed: passed.into() })
}

fn growth(before: &Counters, after: &Counters) -> Counters {
    after
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value - before.get(name)?)))
        .filter(|(_, growth)| *growth != 0)
        .collect()
}

/// The node that is asked about the data: the first that was up all the time, which has taken the place of one that comes back; else the first that
/// runs.
fn asked_node(states: &[NodeState]) -> usize {
    let first = |is_meant: fn(&NodeState) -> bool| states.iter().position(is_meant);
    first(|state| *state == NodeState::Up).or_else(|| first(|state| *state != NodeState::Down)).unwrap_or(0)
}

/// What the data is held against, and where it is asked for.
struct Asks<'a, C> {
    clients: &'a C,
    node: &'a Node,
}

/// The audit of data that the clients' sessions are done with, and why nobody answered it, if nobody did: the server has stopped, and who
/// knows since when, or the user does not want to wait.
fn audited<C: Clients>(
    asks: &Asks<'_, C>,
    observer: &mut Connection,
    input: &TrialInput<'_>,
    settled: Result<u64, OperationFailure>,
    facts: &AuditFacts<'_, C::Baseline>,
) -> (AuditRecord, Option<String>) {
    let unsettled = settled.as_ref().copied().unwrap_or_default();
    let mut silence = None;
    let checks = match (input.load.is_dead)() {
        Some(reason) => Err(reason),
        None if !input.is_audited => Ok(Vec::new()),
        None => settled.and_then(|_| asks.audit(observer, facts)).map_err(|failure| {
            silence = is_unanswered(&failure).then(|| failure.to_string());
            failure.to_string()
        }),
    };
    let not_run = |reason| vec![AuditCheck::NotRun { name: "audit".to_owned(), reason }];
    (AuditRecord { checks: checks.unwrap_or_else(not_run), unsettled }, silence)
}

impl<C: Clients> Asks<'_, C> {
    fn audit(
        &self,
        observer: &mut Connection,
        facts: &AuditFacts<'_, C::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let ask = async |observer: &mut Connection| {
            catch_up(observer, self.node).await?;
            self.clients.audit(observer, facts).await
        };
        let deadline = Instant::now() + AUDIT_LIMIT;
        let mut was_renewed = false;
        loop {
            let audited: Result<Vec<AuditCheck>, OperationFailure> = match was_renewed {
                false => block_on(ask(observer)),
                true => block_on(async { ask(&mut observe(&self.node.target).await?).await }),
            };
            let is_tried_again =
                audited.as_ref().is_err_and(|failure: &OperationFailure| match failure.kind.remedy() {
                    _ if is_unanswered(failure) || is_end_requested() => false,
                    // A cluster that has lost a node refuses for a while what would have to wait.
                    Remedy::RetryTransaction => Instant::now() < deadline,
                    // The connection may have broken with those of the clients; the server may be well again.
                    _ => !was_renewed,
                });
            if !is_tried_again {
                return audited;
            }
            std::thread::sleep(AUDIT_PAUSE);
            was_renewed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_was_up_all_the_time_is_asked_before_one_that_came_back() {
        let back = NodeState::Restarted(Instant::now());
        for (states, asked) in [
            (vec![NodeState::Up, NodeState::Up], 0),
            (vec![NodeState::Down, NodeState::Up], 1),
            (vec![back, NodeState::Up], 1),
            (vec![NodeState::Down, back], 1),
            (vec![], 0),
        ] {
            assert_eq!(asked_node(&states), asked, "{states:?}");
        }
    }
}

//! What measures a native workload: [`run_load`] alone, [`run_trial`] with everything around it that lets a number be trusted, from
//! the baseline to the findings.

use crate::measure::crew::{Crew, Ending, Measured};
use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::measure::watch::INTERRUPTED;
use crate::random::trial_seed;
use crate::settling::{is_unanswered, observe, settle};
use crate::window::Window;
use crate::worker::{NativeClients, hire_native};
use crate::workload::{AuditFacts, Workload};
use dyno_drivers::{Connection, Discard, Driver, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::event::{Listener, Phase};
use dyno_model::failure::OperationFailure;
use dyno_model::judge::{Asked, judge};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::{TrialEnd, TrialRecord, Uptime};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The server's counter of the seconds that it has been up.
const UPTIME: &str = "Uptime";

/// The server's own counters, by name.
type Counters = BTreeMap<String, i64>;

/// A load and what a trial needs besides. Tables are made and loaded already.
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
}

/// A server under load.
pub struct Node {
    /// Where it is, and where its share of the clients connects.
    pub target: Target,
    /// Where they connect instead, when they talk to an application in front of it.
    pub door: Option<Target>,
    /// A statement that it answers when it has done all that was committed on other nodes before; `None` for one that stands alone.
    pub barrier: Option<&'static str>,
}

impl Node {
    /// A server that stands alone.
    #[must_use]
    pub fn alone(target: Target) -> Vec<Self> {
        vec![Self { target, door: None, barrier: None }]
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
    let native = Arc::new(NativeClients::new(Arc::new(workload), targets, input.load));
    listener.event(&input.enters(Phase::Ramp));
    measure(&native, Ending::LeaveBehind, input, || (), listener).map(|measured| measured.record)
}

/// Measures clients of a native workload; `begin` is called when all are ready and none has begun.
fn measure<W: Workload>(
    native: &Arc<NativeClients<W>>,
    ending: Ending,
    input: &LoadInput<'_>,
    begin: impl FnOnce(),
    listener: &mut dyn Listener,
) -> Result<Measured, TrialError> {
    let mut crew = Crew::new(native.kinds(), ending, input);
    hire_native(&mut crew, native)?;
    crew.await_ready(None, listener)?;
    begin();
    Ok(crew.measure(listener))
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
    listener.event(&input.load.enters(Phase::Ramp));
    let mut observers = block_on(observers(&input.nodes)).map_err(TrialError::Ramp)?;
    let observer = &mut observers[0];
    let baseline = block_on(workload.baseline(observer)).map_err(TrialError::Baseline)?;
    let server_version = observer.server_version().to_owned();
    let load = LoadInput { growth: workload.growth(&baseline), ..input.load.clone() };
    let clients = input.nodes.iter().map(|node| node.door.as_ref().unwrap_or(&node.target));
    let native = NativeClients::new(Arc::clone(&workload), clients, load.load);
    let native = Arc::new(native);
    let (mut before, mut read_at) = (Counters::new(), Instant::now());
    let read = || (before, read_at) = ((input.counters)(), Instant::now());
    let Measured { record: measured, totals, window } =
        measure(&native, Ending::Await, &load, read, listener)?;
    let each = observers.iter_mut().zip(&input.nodes).zip(native.sessions());
    let settled = each
        .map(|((observer, node), sessions)| settle(observer, &node.target, sessions))
        .sum::<Result<u64, _>>();
    let passed = read_at.elapsed();
    // A server that is silent is not asked once more.
    let after = if settled.is_ok() { (input.counters)() } else { Counters::new() };

    let mut record = TrialRecord {
        loading: input.loading,
        growth: load.growth,
        server_counters: growth(&before, &after),
        ..measured.trial_record(input.trial.clone(), input.started_at.clone(), server_version)
    };
    listener.event(&load.enters(Phase::Audit));
    let facts = AuditFacts { baseline, totals: &totals, opens: window.opens() };
    let silence;
    (record.audit, silence) = audited(&*workload, &mut observers[0], input, settled, &facts);
    record.end = end(&record.audit, &window, &load, silence.is_some());
    let facts = record.facts.get_or_insert_default();
    if record.end == TrialEnd::User {
        facts.stopped.get_or_insert_with(|| INTERRUPTED.to_owned());
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

/// The audit of data that the clients' sessions are done with, and why nobody answered it, if nobody did: the server has stopped, and who
/// knows since when, or the user does not want to wait.
fn audited<W: Workload>(
    workload: &W,
    observer: &mut Connection,
    input: &TrialInput<'_>,
    settled: Result<u64, OperationFailure>,
    facts: &AuditFacts<'_, W::Baseline>,
) -> (AuditRecord, Option<String>) {
    let unsettled = settled.as_ref().copied().unwrap_or_default();
    let mut silence = None;
    let checks = match (input.load.is_dead)() {
        Some(reason) => Err(reason),
        None => settled.and_then(|_| audit(workload, observer, &input.nodes[0], facts)).map_err(|failure| {
            silence = is_unanswered(&failure).then(|| failure.to_string());
            failure.to_string()
        }),
    };
    let not_run = |reason| vec![AuditCheck::NotRun { name: "audit".to_owned(), reason }];
    (AuditRecord { checks: checks.unwrap_or_else(not_run), unsettled }, silence)
}

fn audit<W: Workload>(
    workload: &W,
    observer: &mut Connection,
    node: &Node,
    facts: &AuditFacts<'_, W::Baseline>,
) -> Result<Vec<AuditCheck>, OperationFailure> {
    let ask = async |observer: &mut Connection| {
        catch_up(observer, node).await?;
        workload.audit(observer, facts).await
    };
    match block_on(ask(observer)) {
        // The connection may have broken with those of the clients; the server may be well again.
        Err(failure) if !is_unanswered(&failure) => {
            block_on(async { ask(&mut observe(&node.target).await?).await })
        }
        audited => audited,
    }
}

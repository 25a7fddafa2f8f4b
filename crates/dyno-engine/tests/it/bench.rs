//! Test fixtures: workloads of the catalogue and workloads made from a closure, on the null driver.

use dyno_drivers::{Connection, Discard, Driver};
use dyno_engine::random::Random;
use dyno_engine::workload::{
    AfterFailure, AuditFacts, ClientId, DataSet, Native, NoData, Workload, WorkloadContext, catalog,
};
use dyno_engine::{LoadInput, LoadRecord, Meter, Node, Script, ScriptFailure, Session, TrialInput};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::OptionValue;
use dyno_model::event::Listener;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::{LoadPlan, Trial, WorkloadPlan};
use dyno_model::record::IntervalRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MILLISECOND;

/// Seed of all tests.
pub(crate) const SEED: u64 = 7;

/// The user never interrupts.
pub(crate) static NOBODY: AtomicUsize = AtomicUsize::new(0);

/// A folder for a database file, removed with its contents on drop.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// A folder with this name, which must be unique in this process.
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dyno-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Keeps the intervals.
#[derive(Default)]
pub(crate) struct Intervals(pub(crate) Vec<IntervalRecord>);

impl Listener for Intervals {
    fn interval(&mut self, interval: &IntervalRecord) {
        self.0.push(interval.clone());
    }
}

/// The null driver with a script.
pub(crate) fn null(script: &str) -> Target {
    Target { database: script.to_owned(), ..Target::new(Engine::Null, Endpoint::InProcess) }
}

/// A workload of the catalogue with the given options; an error where they are incompatible.
pub(crate) fn build(
    kind: &str,
    options: &[(&str, OptionValue)],
    engine: Engine,
    clients: u32,
) -> Result<Native, String> {
    let description =
        catalog().into_iter().find(|known| known.name == kind).expect("a known workload");
    let mut all = description.defaults();
    for (name, value) in options {
        assert!(all.0.insert((*name).to_owned(), value.clone()).is_some(), "no option {name}");
    }
    let plan = WorkloadPlan::new(kind, all);
    Native::build(&plan, WorkloadContext { engine, clients, seed: SEED })
}

/// The same for the null driver.
pub(crate) fn native(kind: &str, options: &[(&str, OptionValue)], clients: u32) -> Native {
    build(kind, options, Engine::Null, clients).expect("the options fit")
}

/// A trial of the null driver with the usual parameters.
pub(crate) fn trial_input(target: Target, clients: u32, load: &LoadPlan) -> TrialInput<'_> {
    let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
    TrialInput::new(trial, Node::alone(target), clients, load, SEED, &NOBODY)
}

/// Runs a load of a workload of the catalogue and checks that its counters add up.
pub(crate) fn load(
    native: Native,
    target: Target,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> LoadRecord {
    let record = native.run_load(&[target], input, listener);
    let record = record.expect("it can be measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    record
}

/// A workload that is a closure of client, number of the transaction, session and random numbers.
pub(crate) struct Doing<F> {
    transaction: F,
    verdict: AfterFailure,
}

pub(crate) fn doing<F>(transaction: F) -> Doing<F>
where
    F: AsyncFn(ClientId, u64, &mut Session, &mut Random) -> Result<(), OperationFailure>,
{
    Doing { transaction, verdict: AfterFailure::RetryPolicy }
}

impl<F> Doing<F> {
    /// Sets the fate of a client after a failed transaction.
    pub(crate) fn but(self, verdict: AfterFailure) -> Self {
        Self { verdict, ..self }
    }
}

/// Sends a statement of the only kind.
pub(crate) async fn send(session: &mut Session, sql: &str) -> Result<(), OperationFailure> {
    session.measure(0, async |connection| connection.query(sql, &mut Discard).await).await?;
    Ok(())
}

impl<F> Workload for Doing<F>
where
    F: AsyncFn(ClientId, u64, &mut Session, &mut Random) -> Result<(), OperationFailure>
        + Send
        + Sync
        + 'static,
{
    type Client = ClientId;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select"]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &NoData
    }

    fn client(&self, id: ClientId) -> ClientId {
        id
    }

    async fn transaction(
        &self,
        client: &mut ClientId,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        (self.transaction)(*client, sequence, session, random).await
    }

    fn after_failure(&self, _client: &ClientId, _failure: &OperationFailure) -> AfterFailure {
        self.verdict
    }

    async fn audit(
        &self,
        _connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        Ok(Vec::new())
    }
}

/// A script that is a closure.
pub(crate) struct Closure<F>(pub(crate) F);

impl<F> Script for Closure<F>
where
    F: Fn(ClientId, Meter) -> Result<(), ScriptFailure> + Send + Sync + 'static,
{
    fn kinds(&self) -> Vec<&'static str> {
        vec!["read", "write"]
    }

    fn run(&self, client: ClientId, meter: Meter) -> Result<(), ScriptFailure> {
        self.0(client, meter)
    }
}

/// A script whose events take this time.
pub(crate) fn takes(time: Duration) -> impl Script {
    Closure(move |_: ClientId, mut meter: Meter| {
        meter.await_start();
        while meter.begin_event() {
            if !time.is_zero() {
                std::thread::park_timeout(time);
            }
            meter.end_event();
        }
        Ok(())
    })
}

//! What the rate of a window is, and whether the generator held it up.

use dyno_drivers::{Connection, Discard, Driver};
use dyno_engine::random::Random;
use dyno_engine::workload::{AuditFacts, ClientId, DataSet, NoData, StatementText, Workload};
use dyno_engine::{
    LoadInput, LoadRecord, Meter, Script, ScriptThreads, ScriptTrouble, Session, TrialInput, run_script,
    run_trial,
};
use dyno_model::audit::AuditCheck;
use dyno_model::event::Listener;
use dyno_model::failure::OperationFailure;
use dyno_model::finding::{Finding, Severity};
use dyno_model::plan::{LoadPlan, StopRule, Trial};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Sends a statement; then the generator itself sleeps, on the thread that all clients of the worker share.
struct Sleepy(Duration);

impl Workload for Sleepy {
    type Client = ();
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select"]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn statements(&self) -> Vec<StatementText> {
        Vec::new()
    }

    fn data(&self) -> &dyn DataSet {
        &NoData
    }

    fn client(&self, _id: ClientId) {}

    async fn transaction(
        &self,
        (): &mut (),
        _sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        session.measure(0, async |connection| connection.query("SELECT 1", &mut Discard).await).await?;
        // The transaction's time has ended with its statement: this is between two transactions.
        std::thread::sleep(self.0);
        Ok(())
    }

    async fn baseline(&self, _connection: &mut Connection) -> Result<(), OperationFailure> {
        Ok(())
    }

    async fn audit(
        &self,
        _connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        Ok(Vec::new())
    }
}

struct Silence;

impl Listener for Silence {}

fn plan(warmup: u64, window: u64) -> LoadPlan {
    let milliseconds = |milliseconds: u64| Nanos(milliseconds * 1_000_000);
    LoadPlan {
        warmup: milliseconds(warmup),
        grace: milliseconds(60_000),
        workers: Some(1),
        ..LoadPlan::new(StopRule::Duration(milliseconds(window)))
    }
}

/// A trial against a server whose answers take a time.
fn trial(latency: Duration, sleep: Duration, clients: u32, load: &LoadPlan) -> TrialRecord {
    let interrupts = AtomicUsize::new(0);
    let mut target = Target::new(Engine::Null, Endpoint::InProcess);
    target.database = format!("latency_us={}", latency.as_micros());
    let input = TrialInput {
        trial: Trial { id: "b01-001".to_owned(), block: 1, treatment: 0 },
        clients,
        load,
        seed: 7,
        target,
        shares_machine: false,
        started_at: "2026-01-01T00:00:00.000Z".to_owned(),
        loading: Nanos(0),
        interrupts: &interrupts,
        is_dead: &|| None,
        counters: &BTreeMap::new,
    };
    run_trial(Sleepy(sleep), &input, &mut Silence).expect("it can be measured")
}

/// A script whose events take a time.
struct Takes(Duration);

impl Script for Takes {
    fn kinds(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, _client: ClientId, mut meter: Meter) -> Result<(), ScriptTrouble> {
        meter.ready();
        while meter.begin_event() {
            std::thread::sleep(self.0);
            meter.end_event();
        }
        Ok(())
    }
}

fn script(takes: Duration, clients: u32, load: &LoadPlan) -> LoadRecord {
    let interrupts = AtomicUsize::new(0);
    let input = LoadInput::new("waves", clients, load, 7, &interrupts);
    run_script(Takes(takes), &ScriptThreads::default(), &input, &mut Silence).expect("it can be measured")
}

#[test]
fn the_rate_of_clients_in_lockstep_is_clients_over_response_time_wherever_the_window_cuts_their_waves() {
    // Transactions of 4 s from the common start on, a window from 2 s to 5 s: half of the first wave and a quarter of the second
    // are in it. Counted by their starts it would be one wave in 3 s, a third too many.
    let (takes, load) = (Duration::from_secs(4), plan(2_000, 3_000));
    let (native, script) = std::thread::scope(|scope| {
        let native = scope.spawn(|| trial(takes, Duration::ZERO, 300, &load));
        let script = script(takes, 20, &load);
        (native.join().expect("no panic"), script)
    });
    assert_eq!((native.ledger.committed, script.ledger.committed), (300, 20), "one wave began in the window");
    for (rate, clients, mean) in [
        (native.throughput(), 300.0, native.transaction.mean),
        (script.throughput(), 20.0, script.transaction.mean),
    ] {
        let expected = clients / (mean / 1e9);
        assert!((rate / expected - 1.0).abs() < 0.2, "{rate} of {expected}");
    }
    let waves = native.findings.iter().find_map(|finding| match finding {
        Finding::FewWaves { waves } => Some(*waves),
        _ => None,
    });
    assert!(waves.is_some_and(|waves| waves < 1.0), "{:?}", native.findings);
}

#[test]
fn stop_rules_by_count_have_the_rate_of_what_they_counted() {
    let load = LoadPlan { workers: Some(1), ..LoadPlan::new(StopRule::Transactions(50)) };
    let record = trial(Duration::from_millis(1), Duration::ZERO, 5, &load);
    assert_eq!(record.work, None);
    assert!((record.throughput() - 50.0 / record.measured.as_secs_f64()).abs() < 1e-9);
}

fn held_up(record: &TrialRecord) -> Option<(f64, Severity)> {
    record.findings.iter().find_map(|finding| match finding {
        Finding::HeldUp { share } => Some((*share, finding.severity())),
        _ => None,
    })
}

#[test]
fn a_generator_that_sleeps_between_transactions_is_a_finding_and_one_that_waits_for_a_processor_is_not() {
    let load = plan(300, 1_500);
    let answers = Duration::from_millis(2);
    let asleep = trial(answers, Duration::from_millis(5), 4, &load);
    let (share, severity) = held_up(&asleep).expect("it slept most of the time");
    assert!(share > 0.3 && severity == Severity::Invalid, "{share}: {:?}", asleep.generator);

    // The same without the sleep, on a machine that has more to do than it can.
    let is_over = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..2 * std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let busy = trial(answers, Duration::ZERO, 4, &load);
        is_over.store(true, Ordering::Relaxed);
        busy
    });
    assert!(held_up(&busy).is_none_or(|(_, severity)| severity < Severity::Invalid), "{:?}", busy.generator);
}

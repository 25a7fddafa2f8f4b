//! The rate of a window, and detection of delays caused by the generator.

use crate::bench::{MILLISECOND, NOBODY, SEED, doing, null, send, takes, trial_input};
use dyno_engine::random::Random;
use dyno_engine::{LoadInput, LoadRecord, ScriptThreads, Session, run_script, run_trial};
use dyno_model::plan::{LoadBy, LoadPlan, Stages, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::stages::{Segment, Stage};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn plan(warmup: u64, window: u64) -> LoadPlan {
    LoadPlan {
        warmup: Nanos(warmup * MILLISECOND),
        grace: Nanos(60_000 * MILLISECOND),
        workers: Some(1),
        ..LoadPlan::new(StopRule::Duration(Nanos(window * MILLISECOND)))
    }
}

/// A trial against a server with this latency. After each answer the generator itself sleeps, on
/// the thread that all clients share.
fn trial(latency: Duration, sleep: Duration, clients: u32, load: &LoadPlan) -> TrialRecord {
    let sleepy = doing(async move |_, _, session: &mut Session, _: &mut Random| {
        send(session, "SELECT 1").await?;
        // The transaction's time ended with its statement: this pause is between two transactions.
        std::thread::sleep(sleep);
        Ok(())
    });
    let target = null(&format!("latency_us={}", latency.as_micros()));
    run_trial(sleepy, &trial_input(target, clients, load), &mut ()).expect("it can be measured")
}

fn script(time: Duration, clients: u32, load: &LoadPlan) -> LoadRecord {
    let input = LoadInput::new("waves", clients, load, SEED, &NOBODY);
    run_script(takes(time), &ScriptThreads::default(), &input, &mut ()).expect("it can be measured")
}

#[test]
fn think_time_limits_the_rate_but_not_the_response_time() {
    // 40 clients that think 20 ms each send 1,000 requests in half a second, minus the time for
    // answers; five standard deviations.
    let load = LoadPlan { think: Some(Nanos(20 * MILLISECOND)), ..plan(100, 500) };
    let record = trial(Duration::ZERO, Duration::ZERO, 40, &load);
    assert!((100..1_160).contains(&record.counters.committed), "{:?}", record.counters);
    assert!(
        record.transaction_latency.p50 < 10 * MILLISECOND,
        "thinking is no response time: {:?}",
        record.transaction_latency
    );
}

/// The work in the window is what was committed in it, but for one or two transactions of the
/// single worker that its ends may cut.
fn assert_no_think_time_in_work(work: Option<f64>, committed: u64) {
    let (work, committed) = (work.expect("of a duration"), committed as f64);
    assert!(committed > 10.0 && (work - committed).abs() <= 2.0, "{work} of {committed}");
}

#[test]
fn think_time_at_window_edges_is_not_part_of_transactions() {
    // Clients that think 2 s on average, a window of 1 s: most are thinking at both of its ends.
    // Answers take no time, so all work in the window starts in it.
    let load = LoadPlan { think: Some(Nanos(2_000 * MILLISECOND)), ..plan(500, 1_000) };
    let stage = |name: &str, from, to| Stage {
        name: name.to_owned(),
        segments: vec![Segment { length: Nanos(500 * MILLISECOND), from, to }],
    };
    let stages = vec![stage("rising", 50.0, 100.0), stage("high", 100.0, 100.0)];
    let staged = LoadPlan { stages: Some(Stages { by: LoadBy::Clients, stages }), ..load.clone() };
    std::thread::scope(|scope| {
        for load in [&load, &staged] {
            scope.spawn(move || {
                let record = trial(Duration::ZERO, Duration::ZERO, 100, load);
                assert_no_think_time_in_work(record.weighted_commits, record.counters.committed);
                let rate = record.weighted_commits.unwrap_or_default()
                    / record.window_length.as_secs_f64();
                assert_eq!(record.throughput().to_bits(), rate.to_bits());
            });
        }
        let record = script(Duration::ZERO, 100, &load);
        assert_no_think_time_in_work(record.weighted_commits, record.counters.committed);
    });
}

#[test]
fn lockstep_throughput_equals_clients_over_response_time() {
    // Transactions of 4 s from the common start on, a window from 2 s to 5 s: it contains half of
    // the first wave and a quarter of the second. Counting by starts would give one wave in 3 s, a
    // third too many.
    let (time, load) = (Duration::from_secs(4), plan(2_000, 3_000));
    let (native, script) = std::thread::scope(|scope| {
        let native = scope.spawn(|| trial(time, Duration::ZERO, 300, &load));
        let script = script(time, 20, &load);
        (native.join().expect("no panic"), script)
    });
    assert_eq!(
        (native.counters.committed, script.counters.committed),
        (300, 20),
        "one wave began in the window"
    );
    for (rate, clients, mean) in [
        (native.throughput(), 300.0, native.transaction_latency.mean),
        (script.throughput(), 20.0, script.transaction_latency.mean),
    ] {
        let expected = clients / (mean / 1e9);
        assert!((rate / expected - 1.0).abs() < 0.2, "{rate} of {expected}");
    }
    let waves = native.warnings.iter().find_map(|warning| match warning {
        Warning::FewWaves { waves } => Some(*waves),
        _ => None,
    });
    assert!(waves.is_some_and(|waves| waves < 1.0), "{:?}", native.warnings);
}

#[test]
fn stop_rules_by_count_have_the_rate_of_what_they_counted() {
    let load = LoadPlan { workers: Some(1), ..LoadPlan::new(StopRule::Transactions(50)) };
    let record = trial(Duration::from_millis(1), Duration::ZERO, 5, &load);
    assert_eq!(record.weighted_commits, None);
    assert!((record.throughput() - 50.0 / record.window_length.as_secs_f64()).abs() < 1e-9);
}

fn held_up(record: &TrialRecord) -> Option<(f64, Severity)> {
    record.warnings.iter().find_map(|warning| match warning {
        Warning::Stalled { share } => Some((*share, warning.severity())),
        _ => None,
    })
}

#[test]
fn sleeping_generator_invalidates_but_waiting_for_cpu_does_not() {
    let load = plan(300, 1_500);
    let answers = Duration::from_millis(2);
    let asleep = trial(answers, Duration::from_millis(5), 4, &load);
    let (share, severity) = held_up(&asleep).expect("it slept most of the time");
    assert!(share > 0.3 && severity == Severity::Invalid, "{share}: {:?}", asleep.generator);

    // The same without the sleep, on an overloaded machine.
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
    assert!(
        held_up(&busy).is_none_or(|(_, severity)| severity < Severity::Invalid),
        "{:?}",
        busy.generator
    );
}

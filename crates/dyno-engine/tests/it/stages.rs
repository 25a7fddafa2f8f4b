//! Loads that change inside a trial.

use crate::bench::{self, MILLISECOND, NOBODY, SEED, null, takes};
use dyno_engine::workload::ClientId;
use dyno_engine::{LoadInput, LoadRecord, Meter, Script, ScriptFailure, ScriptThreads, run_script};
use dyno_model::plan::{LoadBy, LoadPlan, Spacing, Stages, StopRule};
use dyno_model::stages::{Segment, Stage};
use dyno_model::units::Nanos;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Stages with their length in milliseconds and their initial and final load.
pub(crate) fn plan(by: LoadBy, stages: &[(u64, f64, f64)]) -> LoadPlan {
    let stage = |(index, &(length, from, to)): (usize, &(u64, f64, f64))| Stage {
        name: index.to_string(),
        segments: vec![Segment { length: Nanos(length * MILLISECOND), from, to }],
    };
    let stages = Stages { by, stages: stages.iter().enumerate().map(stage).collect() };
    let stop = StopRule::Duration(stages.length());
    LoadPlan { grace: Nanos(60_000 * MILLISECOND), stages: Some(stages), ..LoadPlan::new(stop) }
}

fn input(clients: u32, load: &LoadPlan) -> LoadInput<'_> {
    LoadInput::new("staged", clients, load, SEED, &NOBODY)
}

fn native(script: &str, clients: u32, load: &LoadPlan) -> LoadRecord {
    let native = bench::native("oltp_point_select", &[], clients);
    bench::load(native, null(script), &input(clients, load), &mut ())
}

/// For each stage: commits during the stage, arrivals due in it, and those of them that were lost.
fn found(record: &LoadRecord) -> Vec<(u64, u64, u64)> {
    let due = |it: &dyno_model::stages::StageRecord| {
        it.response.map_or((0, 0), |all| (all.count, all.censored))
    };
    record.stages.iter().map(|it| (it.committed, due(it).0, due(it).1)).collect()
}

#[test]
fn each_stage_has_what_was_due_in_it() {
    let stages =
        [(400, 500.0, 500.0), (400, 500.0, 1_500.0), (200, 0.0, 0.0), (200, 1_000.0, 1_000.0)];
    let load = LoadPlan { spacing: Spacing::Even, ..plan(LoadBy::Rate, &stages) };
    let record = native("", 64, &load);
    let due: Vec<u64> = found(&record).into_iter().map(|(_, due, _)| due).collect();
    // An arrival that is due when a stage ends belongs to the next one, if that has any; a stage
    // with zero load starts with the last arrival of the previous one.
    assert_eq!(due.iter().sum::<u64>(), record.open_loop.expect("an open loop").arrived);
    for (due, expected) in due.iter().zip([200, 400, 0, 200]) {
        assert!(due.abs_diff(expected) <= 1, "{due} instead of {expected}");
    }
    let committed: u64 = record.stages.iter().map(|stage| stage.committed).sum();
    assert!(
        committed <= record.counters.committed && record.counters.committed - committed < 64,
        "{record:?}"
    );
}

#[test]
fn stage_backlog_waits_and_is_processed_in_the_next_stage() {
    // One client that takes 2 ms completes at most 500 a second.
    let stages = [(400, 100.0, 100.0), (400, 2_000.0, 2_000.0), (2_400, 10.0, 10.0)];
    let load = plan(LoadBy::Rate, &stages);
    let record = run_script(
        takes(Duration::from_millis(2)),
        &ScriptThreads::default(),
        &input(1, &load),
        &mut (),
    )
    .expect("it can be measured");
    let found = found(&record);
    assert!((600..1_000).contains(&found[1].1), "due in the spike: {found:?}");
    assert!(found[1].0 <= 201, "no more than a client that sleeps 2 ms each can do: {found:?}");
    assert!(found[2].0 > 3 * found[2].1, "the queue is worked off behind the spike: {found:?}");
    let p50 = |stage: usize| record.stages[stage].response.expect("something was due").p50.nanos;
    assert!(p50(1) > 100e6, "who came in the spike waited: {record:?}");
}

#[test]
fn unstarted_arrivals_are_lost_in_the_stage_they_were_due_in() {
    let stages = [(200, 50.0, 50.0), (200, 3_000.0, 3_000.0)];
    let load = plan(LoadBy::Rate, &stages);
    let record = run_script(
        takes(Duration::from_millis(5)),
        &ScriptThreads::default(),
        &input(1, &load),
        &mut (),
    )
    .expect("it can be measured");
    let (found, open_loop) = (found(&record), record.open_loop.expect("an open loop"));
    assert!(open_loop.unstarted > 400, "{open_loop:?}");
    assert_eq!(found.iter().map(|it| it.2).sum::<u64>(), open_loop.unstarted, "{found:?}");
    assert!(found[1].2 > 400 && found[0].2 < 5, "{found:?}");
}

#[test]
fn so_many_clients_work_as_the_stage_says() {
    let stages = [(200, 2.0, 2.0), (200, 0.0, 0.0), (200, 3.0, 3.0)];
    let load = plan(LoadBy::Clients, &stages);
    let record = native("latency_us=1000", 8, &load);
    let events: Vec<u64> = record.client_statistics.iter().map(|client| client.events).collect();
    assert!(events[..3].iter().all(|events| *events > 0), "{events:?}");
    assert_eq!(events[3..], [0; 5], "nobody asks for more than three clients");
    let found = found(&record);
    assert_eq!(found[1].1, 0, "nothing begins where nobody is at work: {found:?}");
    assert!(found[0].1 > 0 && found[1].0 <= 2, "what was begun before is done: {found:?}");
    assert_eq!(found.iter().map(|it| it.1).sum::<u64>(), record.counters.committed);
}

/// Events of a millisecond whose start times are recorded.
struct Noting(Arc<Mutex<Vec<(u32, u64)>>>);

impl Script for Noting {
    fn kinds(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, client: ClientId, mut meter: Meter) -> Result<(), ScriptFailure> {
        if !meter.await_start() {
            return Ok(());
        }
        while meter.begin_event() {
            self.0.lock().expect("no panic").push((client.0, meter.now()));
            std::thread::sleep(Duration::from_millis(1));
            meter.end_event();
        }
        Ok(())
    }
}

#[test]
fn threads_of_scripts_wait_for_their_stage_too() {
    let load = plan(LoadBy::Clients, &[(200, 1.0, 1.0), (200, 1.0, 4.0)]);
    let begun = Arc::default();
    let script = Noting(Arc::clone(&begun));
    run_script(script, &ScriptThreads::default(), &input(5, &load), &mut ())
        .expect("it can be measured");
    let begun = begun.lock().expect("no panic");
    let first = |client: u32| begun.iter().filter(|it| it.0 == client).map(|it| it.1).min();
    // From one to four in 200 ms: the second client starts when the line reaches 1.5, after a sixth
    // of it.
    for (client, from) in [(0, 0), (1, 233), (2, 300), (3, 366)] {
        assert!(
            first(client).is_some_and(|at| at >= from * MILLISECOND),
            "{client}: {:?}",
            first(client)
        );
    }
    assert_eq!(first(4), None);
}

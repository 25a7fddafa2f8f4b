//! Runs that were killed go on where they were; single trials are repeated by name.

use crate::ends::{INTERRUPTED, RUN_INCOMPLETE};
use crate::program::{Bench, events, records, signal};
use crate::running::Running;
use dyno_model::audit::AuditVerdict;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_model::record::{OpenLoop, TrialRecord};
use dyno_testkit::{require_server, wait_until};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::Command;

const SQLITE: &str = r#"
title = "To be killed"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = [1, 2], duration = "400ms", warmup = "0s" }
design = { blocks = 3 }
"#;

const TPCC: &str = r#"
title = "To be killed"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "tpcc", items = 200, customers = 30 }
load = { clients = [1, 2], duration = "400ms", warmup = "0s" }
design = { blocks = 2 }
"#;

const MARIADB: &str = r#"
title = "To be killed"
system = [{ name = "MariaDB", server = { kind = "mariadb" } }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = [1, 2], duration = "1s", warmup = "0s" }
factors = { "server.settings.max_connections" = [80, 90] }
design = { blocks = 2 }
"#;

fn finished(folder: &Path) -> BTreeMap<String, usize> {
    let mut finished = BTreeMap::new();
    for record in records(folder) {
        *finished.entry(record.trial.id).or_insert(0) += 1;
    }
    finished
}

/// Starts a run and kills it with signal 9 when it measures another trial after the first `trials`.
fn kill_after(bench: &Bench, spec: &str, trials: usize) {
    let run = Running::start(bench, spec);
    let folder = bench.path().join("r");
    wait_until("some trials are finished and the next one is measured", || {
        let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
        let last = text.trim_end().lines().last().unwrap_or_default();
        finished(&folder).len() >= trials && last.contains(r#""phase":"measure""#)
    });
    run.kill();
}

/// A run of one block, in whose first trial clients are measured.
fn measured_once(bench: &Bench) -> Running<'_> {
    let run =
        Running::of(bench, bench.command(&["run", "killed.toml", "--out", "r", "--blocks", "1"]));
    run.await_phase(Phase::Measure);
    run
}

fn every_trial_once(folder: &Path, trials: usize) {
    let finished = finished(folder);
    assert_eq!(finished.len(), trials, "none is lost: {finished:?}");
    assert!(finished.values().all(|count| *count == 1), "none is measured twice: {finished:?}");
}

#[test]
fn kill_9_and_resume_measure_every_trial_once_and_leave_no_server() {
    let (text, trials) =
        if require_server(ServerKind::Mariadb).is_some() { (MARIADB, 8) } else { (SQLITE, 6) };
    let bench = Bench::new();
    bench.file("killed.toml", text);
    kill_after(&bench, "killed.toml", 3);
    // On a busy machine the signal may come some trials late.
    let before = finished(&bench.path().join("r"));
    assert!((3..trials).contains(&before.len()), "{before:?}");
    wait_until("the supervisor has removed the server", || bench.names() == ["killed.toml", "r"]);
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    assert!(
        ended.stderr.contains(&format!("{} of {trials} trials measured", before.len())),
        "{ended}"
    );
    every_trial_once(&bench.path().join("r"), trials);
    assert!(before.keys().all(|id| !ended.stderr.contains(&format!("{id}  "))), "{ended}");
    assert_eq!(bench.names(), ["killed.toml", "r"]);
    let aside = std::fs::read_dir(bench.path().join("r/set-aside"));
    assert!(
        aside.map_or(0, Iterator::count) <= 1,
        "only the trial that was cut off, if it had written anything"
    );
    // The report is of the whole run.
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(json["completeness"]["measured"], trials);
    let again = bench.dyno(&["run", "killed.toml", "--resume", "r"]);
    assert!(again.is_done(), "nothing is left to do: {again}");
    every_trial_once(&bench.path().join("r"), trials);
}

#[test]
fn orders_committed_before_a_kill_are_absent_from_later_trials() {
    let bench = Bench::new();
    bench.file("killed.toml", TPCC);
    kill_after(&bench, "killed.toml", 1);
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    every_trial_once(&bench.path().join("r"), 4);
    for record in records(&bench.path().join("r")) {
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
    }
}

#[test]
fn another_plan_a_running_run_and_a_torn_line_are_seen() {
    let bench = Bench::new();
    bench.file("killed.toml", SQLITE);
    let run = Running::start(&bench, "killed.toml");
    let folder = bench.path().join("r");
    run.await_phase(Phase::Measure);
    // It must not end before it is asked for.
    signal("-STOP", run.pid());
    let refused = bench.dyno(&["run", "--resume", "r"]);
    assert_eq!(refused.code, 7, "{refused}");
    assert!(refused.stderr.contains("is being written by another dyno process"), "{refused}");
    signal("-CONT", run.pid());
    wait_until("a trial is finished", || !finished(&folder).is_empty());
    run.kill();

    let other =
        bench.dyno(&["run", "killed.toml", "--resume", "r", "--set", "load.duration=500ms"]);
    assert_eq!(other.code, 3, "{other}");
    assert!(
        other
            .stderr
            .contains("configurations[0].load.stop.duration was 400000000 and is 500000000"),
        "{other}"
    );
    // What is laid over a spec is not laid over the built-in one in its place.
    let other = bench.dyno(&["run", "--resume", "r", "--set", "load.duration=500ms"]);
    assert!(
        other.code == 2 && other.stderr.contains("r is not a run of the built-in experiment"),
        "{other}"
    );

    let mut events =
        std::fs::File::options().append(true).open(folder.join("events.jsonl")).unwrap();
    events.write_all(br#"{"at":"2026-11-21T10:00:00.000Z","event":"trial-fin"#).unwrap();
    drop(events);
    let ended = bench.dyno(&["run", "killed.toml", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    every_trial_once(&folder, 6);
    let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn a_trial_that_was_interrupted_is_measured_again() {
    let bench = Bench::new();
    bench.file("killed.toml", SQLITE.replace("400ms", "2s"));
    let run = measured_once(&bench);
    run.interrupt();
    let ended = run.ended();
    assert_eq!(ended.code, INTERRUPTED, "{ended}");
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(
        (&json["completeness"]["measured"], &json["completeness"]["valid"]),
        (&2.into(), &2.into()),
        "{report}"
    );
}

#[test]
fn a_trial_whose_supervisor_died_is_measured_again_on_resume() {
    let bench = Bench::new();
    bench.file("killed.toml", SQLITE.replace("400ms", "6s"));
    let run = measured_once(&bench);
    let supervisors = Command::new("pgrep").args(["-P", &run.pid().to_string()]).output().unwrap();
    let supervisors = String::from_utf8(supervisors.stdout).unwrap();
    signal("-9", supervisors.trim().parse().expect("dyno has one child, the supervisor"));
    let ended = run.ended();
    assert_eq!(ended.code, RUN_INCOMPLETE, "{ended}");
    assert!(ended.stderr.contains("ended early: b01-00"), "{ended}");
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(json["completeness"]["is_complete"], false, "{report}");
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    assert!(ended.stderr.contains("1 of 2 trials measured"), "{ended}");
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(json["completeness"]["is_complete"], true, "{report}");
    let aside = std::fs::read_dir(bench.path().join("r/set-aside"))
        .expect("what the first attempt left is kept");
    assert_eq!(aside.count(), 1);
}

#[test]
fn the_counts_of_an_interrupted_run_are_those_of_the_run_that_goes_on() {
    let bench = Bench::new();
    bench.file("long.toml", SQLITE.replace("400ms", "60s"));
    let running = Running::of(&bench, bench.command(&["run", "long.toml", "--out", "r"]));
    running.await_phase(Phase::Measure);
    running.interrupt();
    let ended = running.ended();
    assert_eq!(ended.code, INTERRUPTED, "{ended}");
    let reported = "0 of 6 trials measured, 6 left (ended early: b01-00";
    assert!(ended.stderr.contains(reported), "{ended}");
    assert!(!ended.stderr.contains("trials done"), "{ended}");
    let running = Running::of(&bench, bench.command(&["run", "--resume", "r"]));
    let is_measured =
        |event: &Event| matches!(event, Event::PhaseStarted { phase: Phase::Measure, .. });
    wait_until("the trial is measured again", || {
        events(&bench.path().join("r")).iter().filter(|it| is_measured(it)).count() == 2
    });
    running.interrupt();
    let ended = running.ended();
    assert!(ended.stderr.contains("resuming r: 0 of 6 trials measured"), "{ended}");
    assert!(ended.stderr.contains(reported), "{ended}");
}

#[test]
fn one_trial_is_repeated_by_its_name() {
    let bench = Bench::new();
    bench.file("short.toml", SQLITE);
    let ended = bench.dyno(&["run", "short.toml", "--trial", "b02-002", "--out", "one"]);
    assert!(ended.is_done(), "{ended}");
    let finished = finished(&bench.path().join("one"));
    assert_eq!(finished.keys().map(String::as_str).collect::<Vec<_>>(), ["b02-002"]);
    let wrong = bench.dyno(&["run", "short.toml", "--trial", "b20-002"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("the plan has no trial b20-002"), "{wrong}");
}

const OPEN_LOOP: &str = r#"
title = "Arrivals"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "oltp_point_select", table_size = 1000 }
load = { clients = [1, 2], rate = "2000/s", duration = "400ms", warmup = "0s" }
design = { blocks = 2 }
"#;

#[test]
fn a_trial_draws_the_same_arrivals_alone_resumed_and_in_a_run() {
    let bench = Bench::new();
    bench.file("open.toml", OPEN_LOOP);
    kill_after(&bench, "open.toml", 1);
    let resumed = bench.dyno(&["run", "--resume", "r"]);
    assert!(resumed.is_done(), "{resumed}");
    let whole = bench.dyno(&["run", "open.toml", "--out", "whole"]);
    assert!(whole.is_done(), "{whole}");
    let alone = bench.dyno(&["run", "open.toml", "--trial", "b02-002", "--out", "alone"]);
    assert!(alone.is_done(), "{alone}");
    // Arrivals come from the same seed as keys, and unlike these do not depend on how fast the
    // machine is.
    let arrived = |folder: &str| -> BTreeMap<String, u64> {
        let records = records(&bench.path().join(folder));
        let arrived =
            |record: &TrialRecord| record.open_loop.map(|OpenLoop { arrived, .. }| arrived);
        records
            .into_iter()
            .map(|record| (record.trial.id.clone(), arrived(&record).expect("an open loop")))
            .collect()
    };
    let expected = arrived("whole");
    assert_eq!(arrived("r"), expected);
    assert_eq!(arrived("alone"), BTreeMap::from([("b02-002".to_owned(), expected["b02-002"])]));
    assert_eq!(expected.values().collect::<BTreeSet<_>>().len(), 4, "{expected:?}");
    // The data are those of the experiment: the second trial of a block finds them made.
    for record in records(&bench.path().join("whole")) {
        assert_eq!(record.loading.0 == 0, record.trial.id.ends_with("-002"), "{}", record.trial.id);
    }
}

#[test]
fn the_budget_ends_a_run_after_its_block_also_when_resumed() {
    let bench = Bench::new();
    bench.file("auto.toml", SQLITE.replace("blocks = 3", "blocks = \"auto\", budget = \"1ms\""));
    kill_after(&bench, "auto.toml", 1);
    // A signal that came late found the run at its end.
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    let folder = bench.path().join("r");
    every_trial_once(&folder, 2);
    assert!(
        ended.stdout.contains("after 1 of at most 3 blocks: the budget was used up"),
        "{ended}"
    );
    let again = bench.dyno(&["run", "auto.toml", "--resume", "r"]);
    assert!(again.is_done(), "nothing is left to do: {again}");
    every_trial_once(&folder, 2);
}

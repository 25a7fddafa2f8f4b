//! Settings experiments on real servers: levels that need another start, their order, and what the
//! servers say they run with.

use crate::program::{Bench, events, failures};
use dyno_model::event::Event;
use dyno_model::plan::{Plan, ServerKind};
use dyno_testkit::require_server;
use std::path::Path;

/// Two settings with two levels each, and a workload option that needs no restart.
const THREADS: &str = r#"
title = "Threads and memory"

[[system]]
name = "MariaDB"
server = { kind = "mariadb" }

[workload]
kind = "rush"
rows = 10

[load]
clients = [1, 2]
transactions = 20

[factors]
threads = [
  { name = "as they come" },
  { name = "pool", "server.settings.thread_handling" = "pool-of-threads", "server.settings.thread_pool_size" = 3 },
]
"server.settings.innodb_buffer_pool_size" = ["32M", "64 MiB"]
"workload.variant" = ["in-place", "for-update"]

[design]
blocks = 2
exclude = [{ threads = "pool", server.settings.innodb_buffer_pool_size = "32M" }]
"#;

fn plan(folder: &Path) -> Plan {
    let bytes = std::fs::read(folder.join("plan.json")).expect("the plan is written first");
    serde_json::from_slice(&bytes).expect("a plan")
}

#[test]
fn every_restart_group_is_one_start_with_its_settings_read_back() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file("threads.toml", THREADS);
    let ended = bench.dyno(&["run", "threads.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let folder = bench.path().join("r");
    let plan = plan(&folder);
    assert_eq!((plan.configurations.len(), plan.starts()), (3 * 2 * 2, 3 * 2));
    let mut settings = None;
    let (mut starts, mut trials) = (0, 0);
    for event in events(&folder) {
        match event {
            Event::SystemReady { settings: found, .. } => {
                starts += 1;
                settings = Some(found);
            }
            Event::TrialFinished(record) => {
                trials += 1;
                let levels = &plan.configuration(&record.trial).levels;
                let found = settings.as_ref().expect("the server started before");
                let (handling, bytes) = (
                    if levels[0] == "pool" {
                        "pool-of-threads"
                    } else {
                        "one-thread-per-connection"
                    },
                    if levels[1] == "32M" { "33554432" } else { "67108864" },
                );
                assert_eq!(found["thread_handling"], handling, "{}", record.trial.id);
                assert_eq!(found["innodb_buffer_pool_size"], bytes, "{}", record.trial.id);
            }
            _ => {}
        }
    }
    assert_eq!((starts, trials), (6, 24));
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(
        report.contains("one-thread-per-connection | pool-of-threads")
            || report.contains("pool-of-threads | one-thread-per-connection")
    );
    assert_eq!(bench.names(), ["r", "threads.toml"], "no scratch folder is left");
}

#[test]
fn a_level_that_the_server_refuses_is_reported_before_anything_starts() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file("threads.toml", THREADS.replace("pool-of-threads", "pool-of-thredas"));
    let ended = bench.dyno(&["run", "threads.toml", "--out", "r"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(
        ended.stderr.contains("thread_handling") && ended.stderr.contains("pool-of-thredas"),
        "{ended}"
    );
    assert_eq!(bench.names(), ["threads.toml"]);
}

#[test]
fn a_setting_not_in_force_fails_only_its_restart_group() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    // The server raises this to what it needs and says so to nobody.
    let text = THREADS.replace(
        "\"server.settings.thread_pool_size\" = 3",
        "\"server.settings.open_files_limit\" = 10",
    );
    bench.file("threads.toml", text);
    let ended = bench.dyno(&["run", "threads.toml", "--out", "r", "--blocks", "1"]);
    assert_eq!(ended.code, 6, "{ended}");
    let reasons = failures(&bench.path().join("r"));
    assert_eq!(reasons.len(), 4, "the trials of one restart group: {ended}");
    assert!(
        reasons[0].contains("open_files_limit")
            && reasons[0].contains("requested \"10\", in force \""),
        "{}",
        reasons[0]
    );
    assert_eq!(bench.names(), ["r", "threads.toml"], "no scratch folder is left");
}

#[test]
fn a_data_set_is_loaded_once_and_restored_for_every_other_start() {
    for (kind, setting, levels) in [
        ("mariadb", "innodb_buffer_pool_size", "\"32M\", \"64M\""),
        ("postgres", "shared_buffers", "\"32M\", \"64M\""),
        ("sqlite", "cache_size", "-2000, -4000"),
    ] {
        let known = ServerKind::named(kind).expect("a kind");
        if require_server(known).is_none() {
            continue;
        }
        let bench = Bench::new();
        let spec = format!(
            "title = \"Restored\"\nsystem = [{{ name = \"S\", server = {{ kind = \"{kind}\" }} }}]\n\
             [workload]\nkind = \"oltp_insert\"\ntables = 1\ntable_size = 2000\nauto_inc = false\n\
             [load]\nclients = 2\ntransactions = 20\n\
             [factors]\nserver.settings.{setting} = [{levels}]\n[design]\nblocks = 2\ndata = \"restore\"\n"
        );
        bench.file("restored.toml", spec);
        let ended = bench.dyno(&["run", "restored.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        let (mut loads, mut starts, mut trials) = (0, 0, 0);
        for event in events(&bench.path().join("r")) {
            match event {
                Event::PhaseStarted { phase: dyno_model::event::Phase::Load, .. } => loads += 1,
                Event::SystemReady { .. } => starts += 1,
                Event::TrialFinished(record) => {
                    trials += 1;
                    // The audit counts rows: those of an earlier trial would be too many.
                    assert!(
                        record.is_valid() || record.counters.committed == 20,
                        "{kind}: {record:?}"
                    );
                    assert_eq!(
                        record.audit.verdict(),
                        dyno_model::audit::AuditVerdict::Intact,
                        "{kind}: {record:?}"
                    );
                    assert!(
                        record.loading.0 > 0,
                        "inserts change the data, so every trial gets a copy of its own"
                    );
                }
                _ => {}
            }
        }
        assert_eq!((loads, starts, trials), (1, 4, 4), "{kind}: {ended}");
        let report = bench.dyno(&["report", "r", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
        let times = &report["provenance"]["systems"][0]["starts"];
        let all = times["all"].as_array().unwrap_or_else(|| panic!("{kind}: {times}"));
        assert_eq!(all.len(), 4, "{kind}: each start is told");
        for start in all {
            assert!(start["starting_s"].as_f64() > Some(0.0), "{kind}: {start}");
            assert!(
                start["restoring_s"].as_f64() > Some(0.0),
                "{kind}: its copy is told apart: {start}"
            );
        }
        assert_eq!(
            bench.names(),
            ["r", "restored.toml"],
            "{kind}: no scratch folder and no saved data is left"
        );
    }
}

#[test]
fn configurations_with_the_same_data_share_one_load_per_start() {
    let bench = Bench::new();
    bench.file(
        "sizes.toml",
        "title = \"Sizes\"\nsystem = [{ name = \"S\", server = { kind = \"sqlite\" } }]\n\
         [workload]\nkind = \"oltp_read_only\"\n[load]\nclients = [1, 2, 3]\ntransactions = 6\n[factors]\n\
         server.settings.cache_size = [-2000, -4000]\nworkload.table_size = [100, 200]\n[design]\nblocks = 2\n",
    );
    let ended = bench.dyno(&["run", "sizes.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let events = events(&bench.path().join("r"));
    let is_load = |event: &&Event| {
        matches!(event, Event::PhaseStarted { phase: dyno_model::event::Phase::Load, .. })
    };
    let trials = events.iter().filter(|event| matches!(event, Event::TrialFinished(_))).count();
    // Two settings, two sizes, two blocks; the three numbers of clients share what is loaded.
    assert_eq!(
        (events.iter().filter(is_load).count(), trials),
        (2 * 2 * 2, 2 * 2 * 2 * 3),
        "{ended}"
    );
}

#[test]
fn data_that_a_trial_has_changed_for_good_are_used_by_no_other() {
    let bench = Bench::new();
    bench.file(
        "kinds.toml",
        "title = \"Kinds\"\nsystem = [{ name = \"S\", server = { kind = \"sqlite\" } }]\n\
         [workload]\ntable_size = 100\nauto_inc = false\n[load]\nclients = [1, 2]\ntransactions = 10\n[factors]\n\
         workload.kind = [\"oltp_read_only\", \"oltp_insert\"]\n[design]\nblocks = 4\n",
    );
    let ended = bench.dyno(&["run", "kinds.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let folder = bench.path().join("r");
    let plan = plan(&folder);
    let kinds: Vec<(u32, &str)> = plan
        .trials
        .iter()
        .map(|trial| (trial.block, plan.configuration(trial).workload.kind.as_str()))
        .collect();
    let follows = |pair: &[(u32, &str)]| {
        pair[0].0 == pair[1].0 && (pair[0].1, pair[1].1) == ("oltp_insert", "oltp_read_only")
    };
    assert!(
        kinds.windows(2).any(follows),
        "the order of this seed has what the test is about: {kinds:?}"
    );
    for event in events(&folder) {
        if let Event::TrialFinished(record) = event {
            let verdict = record.audit.verdict();
            assert_eq!(
                verdict,
                dyno_model::audit::AuditVerdict::Intact,
                "{}: {:?}",
                record.trial.id,
                record.audit
            );
        }
    }
}

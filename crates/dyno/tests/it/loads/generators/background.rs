//! Background workloads whose clients are divided among generators, as those of the measured one.

use super::services::generators;
use crate::program::{Bench, failures, flaws, records, signal};
use crate::running::Running;
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::event::Phase;
use dyno_model::plan::ServerKind;
use dyno_model::warning::Warning;
use dyno_testkit::require_server;

fn spec(system: &str, workload: &str, load: &str, background: &str) -> String {
    format!(
        "title = \"Divided\"\nsystem = [{{ name = \"S\", {system} }}]\nworkload = {workload}\n\
         load = {load}\ndesign = {{ blocks = 1 }}\n[[background]]\nname = \"night\"\n{background}\n"
    )
}

const RUSH: &str = "{ kind = \"rush\", variant = \"for-update\", ledger = true }";

#[test]
fn both_groups_are_divided_and_audited_and_begin_together() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let text = spec(
        "server = { kind = \"mariadb\" }",
        RUSH,
        "{ clients = 4, duration = \"1s\", warmup = \"0s\", generators = 3 }",
        "clients = 2\nworkload = { kind = \"oltp_insert\", tables = 2, table_size = 100 }",
    );
    bench.file("spec.toml", text);
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    let records = records(&bench.path().join("r"));
    let [record] = &records[..] else { panic!("{ended}") };
    let [night] = &record.background[..] else { panic!("{ended}") };
    let mut flaws = flaws(record);
    flaws.retain(|it| !matches!(it, Warning::FellBehind { .. }));
    assert!(flaws.is_empty(), "{flaws:?}");
    for (own, clients, parts) in [(record, 4, 3), (&night.record, 2, 2)] {
        let all = own.generators.as_ref().expect("there are several");
        assert_eq!(all.summaries.len(), parts, "each has a client: {ended}");
        assert_eq!(all.summaries.iter().map(|it| it.clients).sum::<u32>(), clients);
        let committed: u64 = all.summaries.iter().map(|it| it.committed).sum();
        assert!(committed > 0 && committed == own.counters.committed, "{ended}");
        assert_eq!(own.audit.verdict(), AuditVerdict::Intact, "{:?}", own.audit);
        assert!(own.counters.check().is_empty());
    }
    let is_counted = |check: &AuditCheck| {
        matches!(check, AuditCheck::Ledger { acknowledged, .. }
            if *acknowledged == record.counters.committed)
    };
    assert!(record.audit.checks.iter().any(is_counted), "{:?}", record.audit);
    assert_eq!(night.record.window_length, record.window_length, "it lasts as long");
    bench.forget_the_machine("r");
    let sheet = bench.dyno(&["report", "r", "--format", "csv"]).stdout;
    for name in ["worker-cpu@2", "worker-cpu@night: 1"] {
        let is_row = |line: &&str| line.starts_with("generator,") && line.contains(name);
        assert_eq!(sheet.lines().filter(is_row).count(), 1, "{name}: {sheet}");
    }
}

#[test]
fn a_generator_that_is_killed_fails_both_groups() {
    let bench = Bench::new();
    let text = spec(
        "server = { kind = \"sqlite\" }",
        "{ kind = \"rush\", variant = \"in-place\" }",
        "{ clients = 2, duration = \"60s\", warmup = \"0s\", generators = 2 }",
        "clients = 2\n[background.workload]\nkind = \"sql\"\n[[background.workload.scripts]]\n\
         name = \"q\"\nsql = \"SELECT 1;\"",
    );
    bench.file("spec.toml", text);
    let run = Running::start(&bench, "spec.toml");
    run.await_phase(Phase::Measure);
    signal("-KILL", generators(&bench)[0]);
    let ended = run.ended();
    let failed = &failures(&bench.path().join("r"))[0];
    assert!(failed.contains(" was lost: its process was killed (signal 9)"), "{failed}");
    assert_eq!((ended.code, generators(&bench).len()), (6, 0), "nothing is left");
}

#[test]
fn a_background_error_in_a_generator_stops_the_measured_group() {
    let bench = Bench::new();
    let text = spec(
        "server = { kind = \"sqlite\" }",
        "{ kind = \"rush\", variant = \"in-place\" }",
        "{ clients = 2, duration = \"1h\", warmup = \"0s\", generators = 2 }",
        "clients = 2\n[background.workload]\nkind = \"sql\"\n[[background.workload.scripts]]\n\
         name = \"q\"\nsql = \"\\\\set d random(0, 1000)\\n\\\\set z 1 / :d\\nSELECT 1;\"",
    );
    bench.file("spec.toml", text);
    let ended = Running::start(&bench, "spec.toml").ended();
    let records = records(&bench.path().join("r"));
    let [record] = &records[..] else { panic!("{ended}") };
    let stopped = record.facts.as_ref().and_then(|facts| facts.stopped.clone());
    let stopped = stopped.expect("it was stopped").to_string();
    assert!(stopped.contains("\"night\"") && stopped.contains("generator "), "{stopped}");
    assert!(stopped.contains("division by zero"), "{stopped}");
}

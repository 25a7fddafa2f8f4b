//! Tables that grow: the shipped experiment, and a disk that fills while clients insert.

use crate::program::{Bench, flaws, records};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::Growth;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::warning::Warning;
use dyno_testkit::require_server;
use std::path::Path;

/// The one audit of a growing table: the fewest rows that must be there, and those found.
fn row_count(record: &TrialRecord) -> (u64, u64) {
    let [AuditCheck::RowCount { expected_min, found, .. }] = record.audit.checks[..] else {
        panic!("{:?}", record.audit);
    };
    (expected_min, found)
}

#[test]
fn the_shipped_experiment_reaches_its_row_count_and_charts_it() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/disk-bottleneck.toml");
    let spec = spec.to_str().expect("a path of text");
    let ended = bench.dyno(&["run", spec, "--profile", "smoke", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 4, "two row formats in two buffer pools: {ended}");
    for record in &records {
        assert_eq!(row_count(record), (20_000, 20_000), "{:?}", record.warnings);
        assert_eq!(record.growth, Some(Growth { rows_before: 0, rows_per_transaction: 100 }));
        assert_eq!(record.counters.committed, 200);
    }
    let read = |name: &str| {
        std::fs::read_to_string(bench.path().join("r").join(name)).expect("it was written")
    };
    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "html", "--out", "again"]);
    assert_eq!(report.code, 0, "{report}");
    let html =
        std::fs::read_to_string(bench.path().join("again/report.html")).expect("it was written");
    let first = html.find("<figure id=").map(|at| &html[at..at + 30]).expect("a chart");
    assert!(first.starts_with("<figure id=\"growth\""), "{first}");
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).expect("JSON");
    assert_eq!(summary["trials"][0]["rows_inserted"], 20_000);
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(json["growth"]["milestones"].as_array().map(Vec::len), Some(10));
    assert_eq!(json["growth"]["series"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_table_too_large_for_the_disk_is_reported_before_the_run() {
    let bench = Bench::new();
    let text = r#"
title = "Too large"
system = [{ name = "S", server = { kind = "sqlite" } }]
workload = { kind = "mass-insert" }
load = { clients = 1, rows = 1_000_000_000_000_000 }
"#;
    bench.file("large.toml", text);
    let ended = bench.dyno(&["run", "large.toml", "--out", "r"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("MB are needed"), "{ended}");
    assert_eq!(bench.names(), ["large.toml"]);
}

#[test]
fn partitions_are_made_in_every_dialect_that_has_them() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        let text = format!(
            r#"
title = "Partitions"
system = [{{ name = "S", server = {{ kind = "{kind}" }} }}]
workload = {{ kind = "mass-insert", partitions = 3, rows_per_insert = 7, rows = 10, index = "email" }}
load = {{ clients = 3, rows = 1_000 }}
design = {{ blocks = 1 }}
"#
        );
        bench.file("parts.toml", &text);
        let ended = bench.dyno(&["run", "parts.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        let records = records(&bench.path().join("r"));
        // 10 and 142 times 7 is the first number of such rows from 1,000 on.
        assert_eq!(records.iter().map(row_count).collect::<Vec<_>>(), [(1_004, 1_004)], "{kind}");
        let looks = std::fs::read_to_string(bench.path().join("r/trials/b01-001/monitor.csv"))
            .expect("monitored");
        let columns: Vec<&str> = looks.lines().next().expect("a header").split(',').collect();
        let size = columns.iter().position(|column| *column == "server.data_bytes");
        let sizes = looks
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(size?)?.parse::<f64>().ok());
        assert!(
            sizes.fold(0.0, f64::max) > 1e5,
            "the server tells the size of its data, {kind}: {looks}"
        );
    }
}

/// A file system of memory that is too small for the target, and a folder that is not.
const FULL: &str = r#"
title = "A disk that fills"
workload = { kind = "mass-insert", rows_per_insert = 200 }
load = { clients = 4, rows = 1_000_000, time_limit = "5m" }
factors = { storage = ["small", "large"] }
design = { blocks = 1, data = "load", seed = 1 }

[[system]]
name = "S"
server = { kind = "mariadb", settings = { innodb_log_file_size = "8M" } }

[[storage]]
name = "small"
data = "small"
before = 'mkdir "$DYNO_DATA" && mount -t tmpfs -o size=100m,mode=755 tmpfs "$DYNO_DATA"'
after = 'umount "$DYNO_DATA"; rmdir "$DYNO_DATA"'

[[storage]]
name = "large"
data = "large"
"#;

/// Whether this user may mount at all: tests also run in containers without that right.
fn may_mount(bench: &Bench) -> bool {
    let folder = bench.path().join("probe");
    std::fs::create_dir(&folder).expect("it is new");
    let run = |program: &str, arguments: &[&str]| {
        std::process::Command::new(program)
            .args(arguments)
            .arg(&folder)
            .output()
            .is_ok_and(|out| out.status.success())
    };
    let may = run("mount", &["-t", "tmpfs", "tmpfs"]) && run("umount", &[]);
    std::fs::remove_dir(&folder).expect("nothing is mounted there");
    may
}

#[test]
fn a_full_disk_flags_its_trial_and_other_storage_is_measured() {
    use std::os::unix::fs::PermissionsExt;
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    if !may_mount(&bench) {
        eprintln!("not tested: a disk that fills, because this user may not mount file systems");
        return;
    }
    std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o755))
        .expect("it is ours");
    std::fs::create_dir(bench.path().join("large")).expect("it is new");
    bench.file("full.toml", FULL);
    let ended = bench.dyno(&["run", "full.toml", "--out", "r"]);
    let records = records(&bench.path().join("r"));
    let plan = std::fs::read_to_string(bench.path().join("r/plan.json")).expect("it was written");
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    let of = |storage: &str| {
        records.iter().find(|record| {
            plan["configurations"][record.trial.configuration]["levels"][0] == storage
        })
    };
    let large = of("large").unwrap_or_else(|| panic!("the other storage is measured: {ended}"));
    assert!(flaws(large).is_empty(), "{:?}", large.warnings);
    assert_eq!(row_count(large), (1_000_000, 1_000_000));
    let small =
        of("small").unwrap_or_else(|| panic!("the trial has its figures until then: {ended}"));
    // Whoever sees it first says it: dyno, which watches the disk, or the server, whose table is
    // full.
    let reason = small.warnings.iter().find_map(|warning| match warning {
        Warning::CutShort { reason } | Warning::SystemFailed { reason } => Some(reason.to_string()),
        _ => None,
    });
    assert!(reason.is_some_and(|reason| reason.contains("full")), "{:?}", small.warnings);
    assert!(!flaws(small).is_empty() && small.counters.committed > 0, "{:?}", small.counters);
    assert!(ended.stdout.contains("full"), "the report says so: {ended}");
    // The file system is gone and so are server and folders.
    assert_eq!(bench.names(), ["full.toml", "large", "r"], "{ended}");
    assert_eq!(std::fs::read_dir(bench.path().join("large")).expect("it is there").count(), 0);
    let marker = bench.path().to_str().expect("a path of text");
    assert!(dyno_testkit::processes_with(marker).is_empty());
    let mounts = std::fs::read_to_string("/proc/mounts").expect("Linux");
    assert!(!mounts.contains(marker), "{mounts}");
}

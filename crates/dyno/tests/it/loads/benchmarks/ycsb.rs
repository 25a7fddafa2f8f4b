//! The workload `ycsb` on real servers: rows and values are intact after every workload, and what
//! is planted is found.

use super::harmed;
use crate::audits::{LostUpdateInjector, Work};
use crate::program::{Bench, records};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{ServerKind, StopRule};
use dyno_model::record::TrialRecord;
use dyno_testkit::{require_server, running_server};
use std::sync::atomic::AtomicUsize;

/// None of them waits for its disk.
const ENGINES: [(ServerKind, &[(&str, &str)]); 4] = [
    (ServerKind::Sqlite, &[("synchronous", "OFF")]),
    (ServerKind::Mariadb, &[("innodb_flush_log_at_trx_commit", "2")]),
    (ServerKind::Mysql, &[("innodb_flush_log_at_trx_commit", "2")]),
    (ServerKind::Postgres, &[("synchronous_commit", "off")]),
];

fn work(kind: &'static str, more: &[(&'static str, OptionValue)]) -> Work {
    let mut work = Work::new(kind, more, 4, StopRule::Transactions(400));
    work.load.attempts_max = 1_000;
    work
}

/// Rows, values with a wrong checksum, and values of another key or field.
fn found(record: &TrialRecord) -> [u64; 3] {
    let counts = record.audit.checks.iter().filter_map(|check| match check {
        AuditCheck::RowCount { found, .. } => Some(*found),
        AuditCheck::Value { found, .. } => Some(found.unsigned_abs()),
        _ => None,
    });
    counts.collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{:?}", record.audit))
}

fn committed(record: &TrialRecord, name: &str) -> u64 {
    let named = record.transactions.iter().find(|it| it.name == name);
    named.and_then(|it| it.response.as_ref()).map_or(0, |it| it.count)
}

#[test]
fn every_workload_leaves_what_was_acknowledged_on_every_engine() {
    let nobody = AtomicUsize::new(0);
    for (kind, settings) in ENGINES {
        let Some(server) = running_server(kind, settings) else { continue };
        for workload in ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"] {
            let flag = |name, is_on| (name, OptionValue::Boolean(is_on));
            let more = match workload {
                "ycsb-a" => vec![flag("readallfields", false), flag("writeallfields", true)],
                "ycsb-d" => vec![flag("ledger", true)],
                "ycsb-e" => vec![("insertorder", OptionValue::Text("ordered".to_owned()))],
                _ => Vec::new(),
            };
            let work = work(workload, &more);
            assert_eq!(work.prepare(&server.target()), 1_000, "{kind}");
            let record = work.run(&server.target(), &nobody, &mut ());
            let counts = (record.counters.committed, record.counters.failed);
            assert_eq!(counts, (400, 0), "{kind} {workload}: {:?}", record.warnings);
            assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
            let inserted = committed(&record, "insert");
            assert_eq!(found(&record), [1_000 + inserted, 0, 0], "{kind} {workload}");
            assert_eq!(inserted > 0, ["ycsb-d", "ycsb-e"].contains(&workload), "{kind} {workload}");
            if workload == "ycsb-f" {
                // Four standard deviations.
                assert!(committed(&record, "read-modify-write").abs_diff(200) < 40, "{kind}");
            }
        }
    }
}

#[test]
fn external_changes_during_a_trial_are_found_on_every_engine() {
    let nobody = AtomicUsize::new(0);
    // Each row has one value that is damaged, and one of another field.
    let changes = "UPDATE usertable SET field8 = field9, field3 = 'user'";
    for (kind, settings) in ENGINES {
        let Some(server) = running_server(kind, settings) else { continue };
        let (work, target) = (work("ycsb-c", &[]), server.target());
        work.prepare(&target);
        for (sql, expected) in [
            (changes, [1_000, 1_000, 1_000]),
            ("DELETE FROM usertable WHERE ycsb_key < 'user2'", [0, 0, 0]),
        ] {
            let record = work.run(
                &target,
                &nobody,
                &mut LostUpdateInjector { target: &target, sql: Some(sql) },
            );
            assert_eq!(record.audit.verdict(), AuditVerdict::Violated, "{kind}: {sql}");
            let found = found(&record);
            match expected[0] {
                0 => assert!(found[0] < 1_000 && found[1] == found[0], "{kind}: {found:?}"),
                _ => assert_eq!(found, expected, "{kind}"),
            }
        }
    }
}

#[test]
fn one_line_takes_a_property_file_of_ycsb() {
    let bench = Bench::new();
    let core = "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=200\noperationcount=1000\n\
                readproportion=0.5\nupdateproportion=0\ninsertproportion=0.5\n\
                requestdistribution=latest\n";
    bench.file("mix", core);
    bench.file("wrong", format!("{core}threadcount=8\n"));
    let line = |more: &[&'static str]| {
        let first = ["run", "sqlite:a.db", "--workload", "ycsb", "--clients", "2"];
        let short = ["--blocks", "1", "--warmup", "0s", "--duration", "1s"];
        bench.dyno(&[&first[..], &short, more].concat())
    };
    let ended = line(&["--set", "workload.properties=\"mix\"", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let report = std::fs::read_to_string(bench.path().join("r/report.html"));
    assert!(
        report.is_ok_and(|it| it.contains("mix (without operationcount)")),
        "the report names the property that dyno does not use"
    );
    let record = records(&bench.path().join("r")).remove(0);
    let inserted = committed(&record, "insert");
    assert!(inserted > 0 && record.audit.verdict() <= AuditVerdict::Undecided, "{ended}");
    let before = bench.names();
    for (more, message) in [
        (["--set", "workload.properties=\"wrong\""], "wrong, line 8: dyno cannot use"),
        (["--set", "workload.properties=\"absent\""], "cannot read the property file `absent`"),
        (["--set", "workload.recordcount=0"], "`workload.recordcount` must be between 1 and"),
    ] {
        let ended = line(&more);
        assert!(!ended.is_done() && ended.stderr.contains(message), "{ended}");
        assert_eq!(bench.names(), before, "nothing is written");
    }
}

#[test]
fn inserts_of_several_generators_leave_what_was_acknowledged() {
    for (kind, name) in [(ServerKind::Mariadb, "mariadb"), (ServerKind::Postgres, "postgres")] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        let spec = format!(
            "title = \"G\"\n[[system]]\nname = \"S\"\nserver = {{ kind = \"{name}\" }}\n\
             [workload]\nkind = \"ycsb-d\"\ninsertproportion = 0.5\n\
             [load]\nclients = 7\nwarmup = \"0s\"\ntransactions = 2_000\n\
             attempts_max = 100\ngenerators = 3\n[design]\nblocks = 1\n"
        );
        bench.file("g.toml", spec);
        let ended = bench.dyno(&["run", "g.toml", "--out", "r"]);
        assert!(ended.is_done(), "{ended}");
        let record = records(&bench.path().join("r")).remove(0);
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{name}: {:?}", record.audit);
        assert_eq!((record.counters.committed, record.counters.failed), (2_000, 0), "{ended}");
        let inserted = committed(&record, "insert");
        assert!(inserted > 600, "{name}: {inserted}");
        assert_eq!(found(&record), [1_000 + inserted, 0, 0], "{name}");
    }
}

#[test]
fn a_killed_server_keeps_all_acknowledged_inserts() {
    let workload = "kind = \"ycsb-d\"\ninsertproportion = 0.5\n";
    for (kind, record) in harmed(&[ServerKind::Mariadb, ServerKind::Postgres], workload) {
        assert!(committed(&record, "insert") > 0, "{kind}: {:?}", record.counters);
    }
}

//! The workloads with a temporary table and without, on SQLite and on real servers: their audits,
//! and their counts beside the servers' own.

use crate::audits::{LostUpdateInjector, Work};
use crate::program::{Bench, SETTLING_QUESTIONS_MAX, postgres_commits, questions_max, records};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{Plan, ServerKind, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::require_server;
use std::sync::atomic::AtomicUsize;

const KINDS: [&str; 4] =
    ["in-list-select", "temp-table-select", "row-by-row-update", "temp-table-update"];

/// A trial of 50 transactions on SQLite, after which `sql` is run.
fn on_sqlite(kind: &'static str, sql: Option<&str>) -> TrialRecord {
    let bench = Bench::new();
    let target = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join("data.sqlite")));
    let work =
        Work::new(kind, &[("rows", OptionValue::Integer(200))], 3, StopRule::Transactions(50));
    assert_eq!(work.prepare(&target), 200);
    work.run(&target, &AtomicUsize::new(0), &mut LostUpdateInjector { target: &target, sql })
}

/// What the sums of c1 and c2 differ from what they have to be.
fn differences(record: &TrialRecord) -> Vec<(String, i64)> {
    let sums = record.audit.checks.iter().filter_map(|check| match check {
        AuditCheck::ColumnSum { column, expected_min, expected_max, found, .. } => {
            assert_eq!(expected_min, expected_max, "no transaction was cut off");
            Some((column.clone(), found - expected_min))
        }
        _ => None,
    });
    sums.collect()
}

#[test]
fn all_four_ways_leave_sqlite_as_their_commits_say() {
    for kind in KINDS {
        let record = on_sqlite(kind, None);
        assert_eq!((record.counters.committed, record.counters.failed), (50, 0), "{kind}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{kind}: {:?}", record.audit);
        assert_eq!(differences(&record), [("c1".to_owned(), 0), ("c2".to_owned(), 0)], "{kind}");
    }
}

#[test]
fn the_audit_finds_missing_updates_and_unexpected_changes() {
    for (kind, sql, expected) in [
        ("temp-table-update", "UPDATE dbatest SET c1 = c1 - 10 WHERE i = 7", [-10, 0]),
        ("row-by-row-update", "UPDATE dbatest SET c2 = c2 - 10000 WHERE i = 200", [0, -10_000]),
        ("temp-table-select", "UPDATE dbatest SET c1 = c1 + 1 WHERE i = 1", [1, 0]),
        ("in-list-select", "UPDATE dbatest SET c2 = c2 + 1 WHERE i = 1", [0, 1]),
    ] {
        let record = on_sqlite(kind, Some(sql));
        assert_eq!(record.audit.verdict(), AuditVerdict::Violated, "{kind}");
        let [c1, c2] = expected;
        assert_eq!(differences(&record), [("c1".to_owned(), c1), ("c2".to_owned(), c2)], "{kind}");
    }
    let record = on_sqlite("in-list-select", Some("DELETE FROM dbatest WHERE i = 3"));
    assert!(
        record
            .audit
            .checks
            .iter()
            .any(|check| matches!(check, AuditCheck::RowCount { found: 199, .. })),
        "{:?}",
        record.audit
    );
}

#[test]
fn all_four_workloads_share_data_and_match_server_counters() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        let kinds = KINDS.map(|kind| format!("\"{kind}\"")).join(", ");
        // Not too few rows for the clients: where updates meet they deadlock, and PostgreSQL looks
        // for deadlocks once a second.
        bench.file(
            "ways.toml",
            format!(
                "title = \"Ways\"\nsystem = [{{ name = \"S\", server = {{ kind = \"{kind}\" }} }}]\n\
                 [workload]\nrows = 20000\n[factors]\n\"workload.kind\" = [{kinds}]\n\
                 [load]\nclients = 6\ntransactions = 200\nattempts_max = 100\n[design]\nblocks = 1\n"
            ),
        );
        let ended = bench.dyno(&["run", "ways.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        let folder = bench.path().join("r");
        let loads = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
        assert_eq!(
            loads.matches("\"phase\":\"load\"").count(),
            1,
            "{kind}: one data set for all four"
        );
        let plan = std::fs::read(folder.join("plan.json")).expect("the plan is written first");
        let plan: Plan = serde_json::from_slice(&plan).expect("a plan");
        let records = records(&folder);
        assert_eq!(records.len(), 4, "{kind}: {ended}");
        for record in records {
            let way = plan.configuration(&record.trial).workload.kind.as_str();
            assert_eq!(
                (record.counters.committed, record.counters.failed),
                (200, 0),
                "{way} on {kind}"
            );
            assert_eq!(
                record.audit.verdict(),
                AuditVerdict::Intact,
                "{way} on {kind}: {:?}",
                record.audit
            );
            compare(kind, way, &record, questions_max(&folder, &record));
        }
    }
}

/// The server's counters over the trial beside dyno's.
fn compare(server: ServerKind, way: &str, record: &TrialRecord, questions: i64) {
    let counters = &record.counters;
    let ok = |kind: &str| -> i64 {
        let counts = counters.statements.iter().filter(|count| count.name == kind);
        counts.map(|count| i64::try_from(count.ok).expect("few")).sum()
    };
    let failed: u64 = counters.statements.iter().map(|count| count.failed).sum();
    let failed = i64::try_from(failed).expect("few");
    let theirs = |name: &str| record.server_counters.get(name).copied().unwrap_or(0);
    let agree = |counter: &str, found: i64, expected: i64, more: i64| {
        assert!(
            (expected..=expected + more).contains(&found),
            "{counter} of {way} on {server}: {found}, not {expected}"
        );
    };
    if server == ServerKind::Postgres {
        // What a dropped temporary table counted is forgotten with it, so rows are compared for
        // dbatest only. dyno's own questions commit too.
        let commits = if way == "in-list-select" { ok("select") } else { ok("commit") };
        let Some(counted) = postgres_commits(record) else { return };
        agree("xact_commit", counted, commits, SETTLING_QUESTIONS_MAX + 2 * questions);
        let updates = 20 * commits * i64::from(way.ends_with("update"));
        agree("tup_updated", theirs("tup_updated"), updates, i64::MAX / 2);
        return;
    }
    // So do the monitor's questions. Statements that failed count on the server and not here.
    agree("Com_select", theirs("Com_select"), ok("select"), questions);
    agree("Com_insert", theirs("Com_insert"), ok("fill"), failed);
    let updates = theirs("Com_update") + theirs("Com_update_multi");
    agree("Com_update and Com_update_multi", updates, ok("update"), failed);
    let joined = if way == "temp-table-update" { ok("update") } else { 0 };
    agree("Com_update_multi", theirs("Com_update_multi"), joined, failed);
    let created = theirs("Com_create_table") + theirs("Com_create_temporary_table");
    agree("Com_create_table", created, ok("create-temporary-table"), failed);
    let dropped = theirs("Com_drop_table") + theirs("Com_drop_temporary_table");
    agree("Com_drop_table", dropped, ok("drop-temporary-table"), failed);
    agree("Com_commit", theirs("Com_commit"), ok("commit"), 0);
    // Every row of an update is read for it by its key, and written once.
    let rows = 20 * i64::try_from(counters.committed).expect("few");
    if way.ends_with("update") {
        assert!(
            theirs("Handler_update") >= rows,
            "{way} on {server}: {}",
            theirs("Handler_update")
        );
    } else {
        assert!(
            theirs("Handler_read_key") >= rows,
            "{way} on {server}: {}",
            theirs("Handler_read_key")
        );
    }
}

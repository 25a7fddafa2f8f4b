//! Counters of servers agree with the executed statements.

use crate::{ask, connect, open_folder, running};
use dyno_drivers::Driver;
use dyno_host::counters::snapshot;
use dyno_model::engine::Capability;
use dyno_model::plan::ServerKind;
use dyno_testkit::wait_until;
use std::collections::BTreeMap;

/// Increase (or decrease) between two snapshots. Unchanged counters are left out, and one that is
/// missing in the first snapshot started at 0.
fn delta(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let changed = |(name, after): (&String, &i64)| {
        let change = after.checked_sub(before.get(name).copied().unwrap_or(0))?;
        (change != 0).then(|| (name.clone(), change))
    };
    after.iter().filter_map(changed).collect()
}

#[test]
fn the_mysql_family_counts_statements_by_kind() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql] {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE t (id INTEGER)");
        let before = snapshot(&target).unwrap();
        for _ in 0..3 {
            ask(&target, "INSERT INTO t VALUES (1)");
        }
        ask(&target, "SELECT * FROM t");
        let grown = delta(&before, &snapshot(&target).unwrap());
        assert_eq!(grown.get("Com_insert"), Some(&3), "{kind}: {grown:?}");
        assert_eq!(grown.get("Com_select"), Some(&1), "{kind}: {grown:?}");
        assert_eq!(grown.get("Com_update"), None, "{kind}: {grown:?}");
        wait_until("the server tells how long it has been up", || {
            snapshot(&target).unwrap()["Uptime"] > before["Uptime"]
        });
    }
}

#[test]
fn postgres_counts_transactions_and_statements_by_kind() {
    let scratch = open_folder();
    let settings = [("shared_preload_libraries", "pg_stat_statements")];
    let Some(server) = running(ServerKind::Postgres, scratch.path(), &settings) else { return };
    let target = server.target();
    ask(&target, "CREATE TABLE t (id INTEGER)");
    let before = snapshot(&target).unwrap();
    for _ in 0..3 {
        ask(&target, "INSERT INTO t VALUES (1)");
    }
    ask(&target, "SELECT * FROM t");
    // Sessions report when they end, and a new session may query before an old one has ended: also
    // the one that created the table, whose row in the catalogue counts too.
    let compares_commits = !connect(&target).identity().lacks(Capability::CommitCounter);
    let mut grown = delta(&before, &snapshot(&target).unwrap());
    wait_until("all sessions have reported", || {
        grown = delta(&before, &snapshot(&target).unwrap());
        // Four statements, and the first snapshot's.
        let commits = grown.get("xact_commit");
        assert!(compares_commits || commits.is_none(), "{grown:?}");
        grown.get("tup_inserted") >= Some(&3) && (!compares_commits || commits >= Some(&5))
    });
    assert_eq!(grown.get("calls.INSERT"), Some(&3), "{grown:?}");
    assert!(grown["wal_records"] > 0, "{grown:?}");
    wait_until("the server tells how long it has been up", || {
        snapshot(&target).unwrap()["Uptime"] > before["Uptime"]
    });
}

#[test]
fn embedded_databases_have_no_counters() {
    let scratch = open_folder();
    let server = running(ServerKind::Sqlite, scratch.path(), &[]).unwrap();
    assert!(snapshot(&server.target()).unwrap().is_empty());
}

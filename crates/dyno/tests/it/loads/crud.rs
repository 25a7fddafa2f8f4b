//! The workload `crud`: its audit on SQLite and on real servers, with losses that are planted, and
//! what a killed run leaves.

use crate::audits::{LostUpdateInjector, Work};
use crate::program::{Bench, records};
use crate::running::Running;
use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::OptionValue;
use dyno_model::event::Phase;
use dyno_model::plan::{ServerKind, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::running_server;
use std::sync::atomic::AtomicUsize;

const SERVERS: [ServerKind; 3] = [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];

fn crud(options: &[(&'static str, OptionValue)]) -> Work {
    let number = OptionValue::Integer;
    let mut all = vec![("rows", number(5)), ("repetitions", number(2))];
    all.extend_from_slice(options);
    Work::new("crud", &all, 3, StopRule::Transactions(30))
}

fn measure(work: &Work, target: &Target, meddling: Option<&str>) -> TrialRecord {
    work.prepare(target);
    work.run(target, &AtomicUsize::new(0), &mut LostUpdateInjector { target, sql: meddling })
}

fn query(target: &Target, sql: &str) {
    block_on(async {
        Connection::connect(target, &Io::Blocking).await?.query(sql, &mut Discard).await
    })
    .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
}

fn sqlite(bench: &Bench) -> Target {
    Target::new(Engine::Sqlite, Endpoint::File(bench.path().join("data.sqlite")))
}

/// Rows or sums that each check found, beside those that it had to find.
fn found(record: &TrialRecord) -> Vec<(i64, i64)> {
    let pair = |check: &AuditCheck| match check {
        AuditCheck::RowCount { expected_min, expected_max, found, .. } => {
            assert_eq!(expected_min, expected_max, "no transaction was cut off");
            (*found as i64, *expected_min as i64)
        }
        AuditCheck::ColumnSum { expected_min, found, .. } => (*found, *expected_min),
        other => panic!("unexpected check {other:?}"),
    };
    record.audit.checks.iter().map(pair).collect()
}

/// 30 transactions of two INSERTs of five rows, of which two each stay: ids 4, 5, 9 and 10, each
/// one higher after its UPDATE.
const INTACT: [(i64, i64); 4] = [(120, 120), (960, 960), (780, 780), (0, 0)];

#[test]
fn tables_match_all_crud_operations_and_are_dropped_at_the_end() {
    let bench = Bench::new();
    let servers: Vec<_> =
        SERVERS.into_iter().filter_map(|kind| running_server(kind, &[])).collect();
    let targets = servers.iter().map(dyno_testkit::RunningServer::target).chain([sqlite(&bench)]);
    for target in targets {
        let record = measure(&crud(&[]), &target, None);
        let engine = target.engine;
        assert_eq!(
            (record.counters.committed, record.counters.failed),
            (30, 0),
            "{engine}: {:?}",
            record.counters
        );
        assert_eq!(found(&record), INTACT, "{engine}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{engine}");
        let count = |name: &str| {
            let mut kinds = record.counters.statements.iter().filter(|kind| kind.name == name);
            kinds.next().map(|kind| kind.ok)
        };
        for (kind, sent) in [
            ("create-table", 30),
            ("insert", 60),
            ("select", 60),
            ("update", 60),
            ("delete", 60),
            ("check", 30),
        ] {
            assert_eq!(count(kind), Some(sent), "{kind} on {engine}");
        }
        // An attempt that was repeated drops what the first has left.
        assert!(count("drop-table") >= Some(30), "{engine}");
    }
}

#[test]
fn a_table_that_nobody_dropped_is_found() {
    let bench = Bench::new();
    let record = measure(&crud(&[]), &sqlite(&bench), Some("CREATE TABLE crud_2 (id INTEGER)"));
    assert_eq!(found(&record)[..3], INTACT[..3]);
    assert_eq!(found(&record)[3], (1, 0), "{:?}", record.audit);
    assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
    let another = measure(&crud(&[]), &sqlite(&bench), Some("CREATE TABLE crud_4 (id INTEGER)"));
    assert_eq!(another.audit.verdict(), AuditVerdict::Intact, "three clients have no fourth table");
}

#[test]
fn rows_that_a_storage_engine_swallows_are_missed() {
    let Some(server) = running_server(ServerKind::Mysql, &[]) else { return };
    let swallows = [("mysql_storage_engine", OptionValue::Text("blackhole".to_owned()))];
    let record = measure(&crud(&swallows), &server.target(), None);
    assert_eq!(record.counters.committed, 30, "all was acknowledged");
    assert_eq!(found(&record)[..4], [(0, 120), (0, 960), (0, 780), (0, 0)]);
    assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
    let AuditCheck::RowCount { table, .. } = &record.audit.checks[4] else {
        panic!("{:?}", record.audit)
    };
    assert!(table.starts_with("crud_") && table.contains("(transaction "), "{table}");
    assert_eq!(record.audit.checks.len(), 9, "five tables are named");
}

#[test]
fn updates_that_are_acknowledged_and_not_made_are_missed() {
    let Some(server) = running_server(ServerKind::Postgres, &[]) else { return };
    let target = server.target();
    query(
        &target,
        "CREATE FUNCTION swallow() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE made record; BEGIN \
         FOR made IN SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE' LOOP \
         EXECUTE format('CREATE RULE swallow AS ON UPDATE TO %s DO INSTEAD NOTHING', made.object_identity); \
         END LOOP; END $$",
    );
    query(
        &target,
        "CREATE EVENT TRIGGER swallow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION swallow()",
    );
    let record = measure(&crud(&[]), &target, None);
    // Each of the 120 rows that stay is one too low, and no UPDATE met a row.
    assert_eq!(found(&record)[..4], [(120, 120), (840, 960), (480, 780), (0, 0)]);
    assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
}

#[test]
fn tables_of_a_killed_run_are_replaced_or_cleaned_up() {
    let bench = Bench::new();
    let target = sqlite(&bench);
    let spec = |load: &str| {
        format!(
            "title = \"Left\"\n[[system]]\nname = \"S\"\nurl = \"sqlite:{}\"\n[workload]\nkind = \"crud\"\n\
             [load]\nclients = 2\nwarmup = \"0s\"\n{load}\n[design]\nblocks = 1\n",
            bench.path().join("data.sqlite").display()
        )
    };
    bench.file("endless.toml", spec("duration = \"10m\""));
    bench.file("short.toml", spec("transactions = 20"));
    // Killed in the midst of a trial, with a table left.
    let kill = |results: &str| {
        let command = bench.command(&["run", "endless.toml", "--out", results]);
        let run = Running::of(&bench, command);
        run.await_phase(Phase::Measure);
        run.kill();
        query(&target, "CREATE TABLE IF NOT EXISTS crud_1 (id INTEGER)");
    };
    kill("first");
    let ended = bench.dyno(&["run", "short.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = records(&bench.path().join("r"));
    assert_eq!(records[0].audit.verdict(), AuditVerdict::Intact, "{ended}");

    kill("second");
    let cleaned = bench.dyno(&["cleanup", "short.toml"]);
    assert!(cleaned.code == 0 && cleaned.stdout.contains("crud_1"), "{cleaned}");
    query(&target, "CREATE TABLE crud_1 (id INTEGER)");
}

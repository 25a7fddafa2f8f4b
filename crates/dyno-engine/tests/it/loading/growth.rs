//! `mass-insert` and its stop rule: a table grows to a number of rows, and the counters include
//! every row.

use crate::bench::{NOBODY, Scratch, build, native, null, trial_input};
use dyno_engine::loading::{Loading, load_data};
use dyno_engine::workload::Native;
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::Growth;
use dyno_model::catalog::OptionValue;
use dyno_model::event::Listener;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;

/// Counts the commits of all intervals, separately for the warm-up.
#[derive(Debug, Default)]
struct Commits {
    warm_up: u64,
    measured: u64,
}

impl Listener for Commits {
    fn interval(&mut self, interval: &IntervalRecord) {
        let commits = if interval.is_warmup { &mut self.warm_up } else { &mut self.measured };
        *commits += interval.response_times.len();
    }
}

/// A trial whose table grows.
fn grow(target: Target, native: Native, clients: u32, load: &LoadPlan) -> (TrialRecord, Commits) {
    let input = trial_input(target, clients, load);
    let mut commits = Commits::default();
    let record = native.run_trial(&input, &mut commits);
    let record = record.expect("the trial can be measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    (record, commits)
}

/// The same with four clients on the null driver, whose table has 40 rows whatever is inserted.
fn grow_null(script: &str, rows_per_insert: i64, rows: u64) -> TrialRecord {
    let options = [("rows_per_insert", OptionValue::Integer(rows_per_insert))];
    let target = null(&format!("value=40,{script}"));
    grow(target, native("mass-insert", &options, 4), 4, &LoadPlan::new(StopRule::Rows(rows))).0
}

#[test]
fn as_many_transactions_commit_as_bring_the_table_to_its_target() {
    for (batch, target, commits) in [(1, 1_000, 960), (25, 1_000, 39), (25, 65, 1), (7, 1_000, 138)]
    {
        let record = grow_null("", batch, target);
        assert_eq!(record.counters.committed, commits, "40 rows, {batch} at a time, to {target}");
        let growth = record.growth.expect("its table grows");
        assert_eq!(growth, Growth { rows_before: 40, rows_per_transaction: batch as u64 });
        let rows = growth.rows_after(record.counters.committed);
        assert!((target..target + batch as u64).contains(&rows), "{rows}");
    }
}

#[test]
fn permanently_failed_inserts_are_replaced_by_others() {
    let record = grow_null("insert.fail=duplicate-key:0.2", 10, 3_000);
    assert!(record.counters.failed > 0, "a fifth of 300 fails");
    assert_eq!(record.counters.committed, 296);
}

#[test]
fn rows_that_are_not_there_are_found_missing() {
    let record = grow_null("", 10, 500);
    let [AuditCheck::RowCount { table, expected_min, expected_max, found }] =
        &record.audit.checks[..]
    else {
        panic!("{:?}", record.audit);
    };
    assert_eq!((table.as_str(), *expected_min, *expected_max, *found), ("people", 500, 500, 40));
    assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
    assert!(record.warnings.contains(&Warning::AuditViolated), "{:?}", record.warnings);
}

#[test]
fn a_server_without_room_ends_the_trial_in_its_own_words() {
    let record = grow_null("insert.fail=out-of-resources:0.01", 10, 100_000);
    let cut_short =
        record.warnings.iter().any(|warning| matches!(warning, Warning::CutShort { .. }));
    assert!(cut_short && !record.is_valid(), "{:?}", record.warnings);
    assert!(record.counters.committed < 9_996);
}

/// Engine, options, and the beginning of the error.
type Refusal<'a> = (Engine, &'a [(&'a str, OptionValue)], &'a str);

#[test]
fn partitions_and_row_formats_are_refused_where_there_are_none() {
    let text = |word: &str| OptionValue::Text(word.to_owned());
    let rows: [Refusal<'_>; 3] = [
        (
            Engine::Sqlite,
            &[("partitions", OptionValue::Integer(3))],
            "SQLite does not support partitions",
        ),
        (
            Engine::Postgres,
            &[("row_format", text("compressed"))],
            "row_format = \"compressed\" is specific to InnoDB",
        ),
        (Engine::Null, &[("key_block_size", OptionValue::Integer(4))], "key_block_size needs"),
    ];
    for (engine, options, reason) in rows {
        let refused = build("mass-insert", options, engine, 4).err().expect("it cannot be built");
        assert!(refused.starts_with(reason), "{refused}");
    }
}

#[test]
fn each_dialect_has_its_partitions_and_its_row_format() {
    let options = [
        ("partitions", OptionValue::Integer(3)),
        ("row_format", OptionValue::Text("compressed".to_owned())),
        ("key_block_size", OptionValue::Integer(4)),
    ];
    let create = |engine, options: &[(&str, OptionValue)]| {
        let native = build("mass-insert", options, engine, 4).expect("the options fit");
        native.data().tables()[0].create.clone()
    };
    let mysql = create(Engine::Mysql, &options);
    assert!(
        mysql.contains(
            "ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 4 PARTITION BY KEY (no) PARTITIONS 3"
        ),
        "{mysql}"
    );
    let postgres = create(Engine::Postgres, &options[..1]);
    assert_eq!(
        postgres.matches("PARTITION OF people FOR VALUES WITH (MODULUS 3").count(),
        3,
        "{postgres}"
    );
}

#[test]
fn growth_target_includes_loaded_and_warm_up_rows() {
    let scratch = Scratch::new("growth");
    let target = Target::new(Engine::Sqlite, Endpoint::File(scratch.0.join("people.db")));
    let options = [
        ("rows_per_insert", OptionValue::Integer(10)),
        ("rows", OptionValue::Integer(25)),
        ("index", OptionValue::Text("email".to_owned())),
    ];
    let native = build("mass-insert", &options, Engine::Sqlite, 2).expect("the options fit");
    let loading =
        Loading { trial: "b01-001", target: &target, data: native.data(), interrupts: &NOBODY };
    assert_eq!(load_data(&loading, &mut Commits::default()).expect("it can be loaded"), 25);
    let plan = LoadPlan { warmup: Nanos(2_000_000), ..LoadPlan::new(StopRule::Rows(2_000)) };
    let (record, commits) = grow(target, native, 2, &plan);
    let [AuditCheck::RowCount { expected_min, found, .. }] = &record.audit.checks[..] else {
        panic!("{:?}", record.audit);
    };
    assert_eq!((*expected_min, *found), (2_005, 2_005), "the first number of tens above 2,000");
    // A transaction that starts in the warm-up and ends in the window is counted in neither; each
    // client may have one.
    assert!((196..=198).contains(&(commits.warm_up + commits.measured)), "{commits:?}");
    assert_eq!(commits.measured, record.counters.committed);
    assert_eq!(record.growth, Some(Growth { rows_before: 25, rows_per_transaction: 10 }));
}

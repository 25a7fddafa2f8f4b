//! Tests of runs before and after a schema change.

use super::*;
use dyno_model::catalog::WorkloadOptions;
use dyno_model::schema::{Schema, TableSchema};
use dyno_model::single::SingleTrial;
use dyno_store::TrialOutcome;

/// A run on a table with this index and number of rows.
fn with(name: &str, index: Option<&str>, rows: u64) -> Run {
    let indexes =
        index.map(|index| (index.to_owned(), "btree (n)".to_owned())).into_iter().collect();
    let table =
        TableSchema { columns: vec!["n int".to_owned()], indexes, rows: Some(rows), bytes: None };
    let schema = Schema::new([("orders".to_owned(), table)].into());
    let mut run = run_with(name, &[100.0; 3]);
    each_record(&mut run, |_, record| record.schema = Some(schema.clone()));
    run
}

#[test]
fn runs_of_another_schema_are_no_repeats() {
    let sides = (
        side(vec![with("a", None, 5), with("b", Some("orders_n"), 5)]),
        side(vec![run_with("c", &[100.0; 3])]),
    );
    let error =
        compare(&sides.0, &sides.1, &options(&METRICS)).expect_err("an index was made").to_string();
    let expected = "are no repeats of the same thing: INDEX orders_n ON orders is - in the one and btree (n) in the other";
    assert!(error.ends_with(expected), "{error}");
    // Runs of older versions have no schema, and numbers of rows may change.
    let repeats = vec![with("a", None, 5), run_with("b", &[100.0; 3]), with("c", None, 500)];
    compared(repeats, vec![run_with("d", &[100.0; 3])], &[ComparisonMetric::Throughput]);
}

#[test]
fn schema_change_within_a_run_does_not_prevent_comparison() {
    let mut changing = with("a", None, 5);
    let changed = with("b", Some("orders_n"), 5);
    let schema = changed.outcomes.values().find_map(|outcome| match outcome {
        TrialOutcome::Finished(record) => record.schema.clone(),
        TrialOutcome::Failed { .. } => None,
    });
    each_record(&mut changing, |index, record| {
        if index > 0 {
            record.schema.clone_from(&schema);
        }
    });
    compared(vec![changing], vec![run_with("c", &[100.0; 3])], &[ComparisonMetric::Throughput]);
}

#[test]
fn a_curve_over_clients_is_of_one_schema_where_the_tables_were_there() {
    let existing = |mut run: Run, clients: u32| {
        run.plan.configurations[0].clients = clients;
        let single = SingleTrial {
            name: String::new(),
            title: String::new(),
            description: String::new(),
            seed: 1,
            system: "MariaDB".to_owned(),
            target: SingleTrial::no_server(),
            clients,
            options: WorkloadOptions::default(),
            load: run.plan.configurations[0].load.clone(),
        };
        run.plan.systems[0].source = single.plan().systems.remove(0).source;
        run
    };
    let sides = |index| {
        let repeats = vec![existing(with("a", None, 5), 1), existing(with("b", index, 5), 8)];
        (side(repeats), side(vec![existing(run_with("c", &[100.0; 3]), 8)]))
    };
    let (base, new) = sides(Some("orders_n"));
    let error =
        compare(&base, &new, &options(&METRICS)).expect_err("an index was made").to_string();
    assert!(error.contains("INDEX orders_n ON orders is - in the one"), "{error}");
    let (base, new) = sides(None);
    compare(&base, &new, &options(&METRICS)).expect("one schema");
}

#[test]
fn a_schema_and_sizes_that_differ_between_the_sides_are_reported() {
    let text =
        |name: &str, base: &str, new: &str| (name.to_owned(), base.to_owned(), new.to_owned());
    let model = compared(
        vec![with("a", None, 5)],
        vec![with("b", Some("orders_n"), 500)],
        &[ComparisonMetric::Throughput],
    );
    assert_eq!(
        differing(&model, Condition::Schema),
        [text("INDEX orders_n ON orders", "-", "btree (n)")]
    );
    assert_eq!(differing(&model, Condition::TableSizes), [text("orders", "rows: 5", "rows: 500")]);
    let same = compared(
        vec![with("a", None, 5)],
        vec![with("b", None, 5)],
        &[ComparisonMetric::Throughput],
    );
    assert_eq!(differing(&same, Condition::Schema), []);
    assert_eq!(differing(&same, Condition::TableSizes), []);
}

//! Tests of growing tables: the stop rule by rows, milestones, published figures over rows.

use super::super::{estimate, parse};
use super::{GOOD, catalog, input};
use crate::plan::StopRule;
use crate::units::Nanos;

/// [`GOOD`] with a growing table.
fn growing(load: &str) -> String {
    let text = GOOD
        .replace("kind = \"rush\"", "kind = \"mass-insert\"")
        .replace("transactions = 10_000", load);
    let from = text.find("[workload]").expect("the table");
    let to = text.find("[load]").expect("the next one");
    format!(
        "{}[workload]\nkind = \"mass-insert\"\nrows_per_insert = 50\nrows = 100\n\n{}",
        &text[..from],
        &text[to..]
    )
}

#[test]
fn a_table_that_grows_ends_a_trial_by_its_rows() {
    let (_, plan) = parse(input(&growing("rows = 5_000\nmilestones = [1_000, 5_000]")), &catalog())
        .expect("good");
    let configuration = &plan.configurations[0];
    assert_eq!(configuration.load.stop, StopRule::Rows(5_000));
    assert_eq!(configuration.load.milestones, [1_000, 5_000]);
    assert_eq!(
        (configuration.load.warmup, configuration.load.time_limit),
        (Nanos(0), Nanos::from_secs(600))
    );
    // 4,900 rows in transactions of 50, at the assumed 1,000 per second.
    let estimate = estimate::trial(&plan, configuration);
    assert!(estimate.is_rate_assumed);
    assert_eq!(estimate.likely.0 % 1_000_000_000 % 100_000_000, 98_000_000, "{estimate:?}");
}

#[test]
fn rows_that_cannot_be_reached_are_refused_with_their_place() {
    let refused =
        |load: &str| parse(input(&growing(load)), &catalog()).expect_err("it is wrong").to_string();
    let rows = [
        ("rows = 100", "`load.rows` is 100, but `workload.rows` already loads 100"),
        (
            "rows = 5_000\nmilestones = [2_000, 1_000]",
            "`load.milestones` must be in ascending order",
        ),
        (
            "rows = 5_000\nmilestones = [6_000]",
            "`load.milestones` exceeds `load.rows`, which is 5000",
        ),
        ("transactions = 5_000\nmilestones = [600]", "`load.milestones` needs `load.rows`"),
        ("rows = 5_000\nduration = \"5s\"", "`load.rows` and `load.duration` cannot both be given"),
    ];
    for (load, reason) in rows {
        let said = refused(load);
        assert!(said.contains(reason), "{load}: {said}");
    }
    let said = parse(input(&GOOD.replace("transactions = 10_000", "rows = 10_000")), &catalog());
    let said = said.expect_err("counters do not grow").to_string();
    assert!(
        said.contains("`load.rows` cannot end workload `rush`, whose tables do not grow"),
        "{said}"
    );
}

#[test]
fn published_figures_may_stand_over_rows() {
    let published =
        "\n[[published]]\nsource = \"a study\"\nseries = \"plain\"\nmetric = \"throughput\"\n";
    let text = |rest: &str| format!("{GOOD}{published}{rest}");
    let (_, plan) =
        parse(input(&text("rows = [1_000_000, 2_000_000]\nvalues = [10, 5]\n")), &catalog())
            .expect("good");
    let last = plan.published.last().expect("it is there");
    assert_eq!((last.rows.as_slice(), last.clients.len()), (&[1_000_000, 2_000_000][..], 0));
    let both = parse(input(&text("rows = [1]\nclients = [1]\nvalues = [10]\n")), &catalog());
    let said = both.expect_err("one axis only").to_string();
    assert!(
        said.contains("`published.clients` and `published.rows` cannot both be given"),
        "{said}"
    );
    let lengths = parse(input(&text("rows = [1, 2]\nvalues = [10]\n")), &catalog());
    assert!(
        lengths
            .expect_err("a value is missing")
            .to_string()
            .contains("1 values for 2 numbers of rows")
    );
}

//! What the tiles at the top of a page say.

use crate::html;
use crate::messages::{EN, LANGUAGES};
use crate::tests::{rush, tiny_model};
use dyno_analysis::model::{
    EndedSearch, Estimate, KindCount, LimitRow, LimitVerdict, Metric, ReportModel, SearchRow,
    WorkloadRow,
};
use dyno_model::catalog::HTTP;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureDetail;
use dyno_model::limit::LimitMetric;
use dyno_model::plan::LoadBy;
use dyno_model::search::{Search, SearchEnd};
use dyno_model::units::Nanos;
use std::collections::BTreeMap;

/// The tiles of a page, each as its markup.
fn tiles(model: &ReportModel) -> Vec<String> {
    let page = html::render(model, EN);
    let (_, rest) = page.split_once("<ul class=\"tiles\"").expect("tiles");
    let (list, _) = rest.split_once("</ul>").expect("the list ends");
    list.split("<li ")
        .skip(1)
        .map(|tile| tile.replace('\u{2060}', "").replace('\u{a0}', " "))
        .collect()
}

#[track_caller]
fn tile(model: &ReportModel, title: &str) -> String {
    let all = tiles(model);
    let found = all.iter().find(|tile| tile.contains(title));
    found.unwrap_or_else(|| panic!("{title} in {all:?}")).clone()
}

fn searched(is_bound: bool, ended: Vec<SearchEnd>) -> ReportModel {
    let mut model = rush().clone();
    let search = Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P99,
        below: 20.0,
        transaction: None,
        from: None,
    };
    let ended =
        ended.into_iter().map(|end| EndedSearch { trial: "b01-001".to_owned(), steps: 3, end });
    model.searches =
        vec![SearchRow { configuration: 0, search, steps: Vec::new(), ended: ended.collect() }];
    let unit = Metric::HighestRate.unit();
    let found = Estimate { unit, mean: 640.0, interval: None, repeats: 4, is_bound };
    model.configurations[0].figures.set(Metric::HighestRate, Some(found));
    model
}

#[test]
fn a_search_of_which_one_block_is_undecided_has_no_passed_tile() {
    let of = |is_bound, ended| tile(&searched(is_bound, ended), "Maximum load");
    let passed = of(false, vec![]);
    assert!(passed.contains("640") && passed.contains("passed"), "{passed}");
    let open = of(false, vec![SearchEnd::Generator]);
    assert!(open.contains("undecided") && !open.contains("passed"), "{open}");
    assert!(open.contains("1 of 5 searches found no load"), "{open}");
    let failed = of(false, vec![SearchEnd::FailsEverywhere { slow: None, failing: None }]);
    assert!(failed.contains("failed") && !failed.contains("passed"), "{failed}");
    let bound = of(true, vec![]);
    assert!(bound.contains("≥ 640") && bound.contains("lower bound"), "{bound}");
}

#[test]
fn the_tile_of_failures_names_the_message_of_the_most_frequent() {
    let mut model = rush().clone();
    let failed = |kind: FailureKind, message: &str, count| FailureDetail {
        failure: kind.failure(message),
        statement: message.to_owned(),
        sql: String::new(),
        at: Nanos(0),
        count,
    };
    let row = &mut model.configurations[0];
    row.failed_by_kind = vec![KindCount { kind: FailureKind::Other, count: 17_092 }];
    row.retries_by_kind = vec![KindCount { kind: FailureKind::Deadlock, count: 20_000 }];
    row.errors.0 = vec![
        failed(FailureKind::Other, "relation does not exist", 3),
        failed(FailureKind::Other, "division by zero", 17_089),
        failed(FailureKind::Deadlock, "deadlock detected", 20_000),
    ];
    model.configurations.iter_mut().skip(1).for_each(|row| {
        (row.failed_by_kind, row.errors) = <_>::default();
    });
    let trial = model.trials.iter_mut().find_map(|trial| trial.figures.as_mut());
    trial.expect("a measured trial").set(Metric::Failed, Some(17_092_u64));
    let found = tile(&model, "Failed transactions");
    assert!(found.contains("mostly: division by zero"), "{found}");
    // A transaction that committed after a retry is not a failed one.
    assert!(!found.contains("deadlock"), "{found}");
    // Errors are headed by whose they are.
    let (sql, http) = ("sql".to_owned(), HTTP.to_owned());
    let rows = [
        (vec![sql.clone()], ["Database errors", "statement"]),
        (vec![http.clone()], ["HTTP errors", "request"]),
        (vec![http, sql], ["Errors of databases and HTTP services", "statement"]),
    ];
    for (kinds, words) in rows {
        let options = BTreeMap::new();
        let row = |kind| WorkloadRow { kind, background: None, options: options.clone() };
        model.provenance.workloads = kinds.into_iter().map(row).collect();
        let text = crate::render(&model, crate::Format::Text, EN);
        assert!(text.contains(&format!("\n{}\n", words[0])), "{words:?}: {text}");
        let page = html::render(&model, EN);
        let (_, errors) = page.split_once("id=\"errors\"").expect("the errors");
        assert!(words.iter().all(|word| errors.contains(word)), "{words:?}: {errors}");
    }
}

#[test]
fn a_limit_that_a_lower_percentile_fails_says_which() {
    let mut model = rush().clone();
    model.limits = vec![LimitRow {
        metric: LimitMetric::P99,
        value: 20.0,
        part: None,
        configuration: 0,
        figure: Some(31.0),
        is_bound: true,
        interval: None,
        repeats: 3,
        not_working: None,
        shortage: None,
        lower_percentile: Some(LimitMetric::P95),
        trials_needed: None,
        is_untested: false,
        verdict: LimitVerdict::Failed,
    }];
    let found = tile(&model, "p99 &lt; 20");
    assert!(found.contains("≥ 31.0 ms") && found.contains("failed"), "{found}");
    assert!(found.contains("p95; too few transactions for p99"), "{found}");
    for lang in LANGUAGES {
        let text = crate::render(&model, crate::Format::Text, lang);
        assert!(text.contains("≥ 31.0 ms (p95)"), "{}: {text}", lang.code);
    }
}

#[test]
fn an_interval_over_all_configurations_is_labelled_as_such() {
    let throughput = tile(tiny_model(), "Throughput");
    let notes = throughput.split("<span class=\"more\">").filter(|note| note.contains("interval:"));
    let intervals: Vec<&str> = notes.collect();
    let is_over_all = |note: &&str| note.starts_with("over 2 configurations: ");
    assert_eq!(
        intervals.iter().map(is_over_all).collect::<Vec<_>>(),
        [false, true],
        "{throughput}"
    );
}

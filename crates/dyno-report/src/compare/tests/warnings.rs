//! Sides that did not work, were not measured or have lower bounds, from the records to the text.

use crate::compare::render;
use crate::format::Format;
use crate::messages::{EN, compare as words};
use dyno_analysis::compare::model::{
    CompareModel, CompareWarning, CompareWarningKind, MetricPair, SideName,
};
use dyno_analysis::compare::{CompareOptions, METRICS, Side, compare};
use dyno_analysis::model::{RatioBound, Verdict};
use dyno_analysis::stats::verdict::Rules;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Severity;
use dyno_store::Run;
use dyno_store::fixture::{each_record, open_loop, run_with, stopped};
use std::collections::BTreeMap;

fn side(runs: Vec<Run>) -> Side {
    Side { folder: "side".to_owned(), runs, timelines: BTreeMap::new() }
}

fn question(metrics: &[ComparisonMetric]) -> CompareOptions {
    CompareOptions { metrics: metrics.to_vec(), rules: Rules::default(), systems: Vec::new() }
}

fn compared(base: Vec<Run>, new: Vec<Run>, metrics: &[ComparisonMetric]) -> CompareModel {
    compare(&side(base), &side(new), &question(metrics)).expect("comparable")
}

fn throughput(model: &CompareModel) -> &MetricPair {
    &model.configurations[0].metrics[0]
}

#[test]
fn a_side_with_one_stopped_trial_cannot_win_and_n_is_shown() {
    let base = run_with("a", &[100.0, 101.0, 102.0, 99.0, 100.5]);
    let mut new = run_with("b", &[214.0, 215.0, 213.0, 216.0, 212.0]);
    stopped(&mut new, |i| i == 3);
    let model = compared(vec![base], vec![new], &METRICS);
    for (_, pair) in model.comparisons() {
        assert_eq!(
            (pair.verdict, pair.ratio, pair.p),
            (Verdict::Invalid, None, None),
            "{:?}",
            pair.metric
        );
        let n = if pair.metric == ComparisonMetric::Throughput { 5 } else { 4 };
        assert_eq!(pair.new.map(|it| it.repeats), Some(n), "{:?}", pair.metric);
    }
    assert_eq!((model.outcome.verdict, model.outcome.not_working), (Verdict::Invalid, 5));
    let reported = |it: &CompareWarning| {
        matches!(it.kind, CompareWarningKind::DidNotWork { side: SideName::New, .. })
    };
    assert!(model.warnings.iter().any(|it| reported(it) && it.severity == Severity::Invalid));
    let text = render(&model, Format::Text, EN);
    assert!(
        text.contains("mean ms (n = 5 and 4)")
            && text.contains("Failed: new has no verdict in 5 of 5"),
        "{text}"
    );
}

#[test]
fn corrections_are_explained_only_where_something_was_compared() {
    let side = |name: &str| vec![run_with(name, &[100.0, 101.0, 102.0])];
    let mut model = compared(side("a"), side("b"), &METRICS);
    let notes = |model: &CompareModel| render(model, Format::Text, EN).contains("Benjamini");
    assert!(notes(&model));
    model.rules.family = 0;
    assert!(!notes(&model));
}

#[test]
fn a_new_side_without_commits_fails_the_comparison() {
    let base = run_with("a", &[100.0, 101.0, 102.0]);
    let mut new = run_with("b", &[100.0, 101.0, 102.0]);
    stopped(&mut new, |_| true);
    let model = compared(vec![base], vec![new], &[ComparisonMetric::Throughput]);
    assert_eq!((throughput(&model).verdict, model.outcome.not_working), (Verdict::Invalid, 1));
    let sentence = words::outcome(&model, EN);
    assert!(
        sentence.starts_with("Failed: ") && !sentence.contains("nothing is known"),
        "{sentence}"
    );
    // Where base did not work, new is not to blame.
    let mut base = run_with("a", &[100.0, 101.0, 102.0]);
    stopped(&mut base, |_| true);
    let model = compared(
        vec![base],
        vec![run_with("b", &[100.0, 101.0, 102.0])],
        &[ComparisonMetric::Throughput],
    );
    assert_eq!((model.outcome.invalid, model.outcome.not_working), (1, 0));
}

#[test]
fn a_run_without_a_measured_trial_is_named_with_its_remedy() {
    let base = vec![run_with("a", &[100.0, 101.0, 102.0])];
    let mut empty = run_with("empty", &[100.0]);
    empty.outcomes.clear();
    let model = compared(
        base,
        vec![run_with("b", &[100.0, 101.0, 102.0]), empty],
        &[ComparisonMetric::Throughput],
    );
    let named =
        CompareWarningKind::NothingMeasured { side: SideName::New, runs: vec!["empty".to_owned()] };
    let warning = model.warnings.iter().find(|it| it.kind == named).expect("named");
    assert_eq!(warning.severity, Severity::Warning);
    let sentence = words::warning(&warning.kind, EN);
    assert!(sentence.contains("empty") && sentence.contains("Remove these folders"), "{sentence}");
}

#[test]
fn a_lower_bound_of_p99_decides_only_when_it_is_already_worse() {
    let throughputs = [100.0, 101.0, 99.0, 100.5, 99.5];
    // One in fifty arrivals was 2 s old and never started; percentiles of the others are 10 ms.
    let overloaded = |name: &str| {
        let mut run = run_with(name, &throughputs);
        each_record(&mut run, |_, record| {
            let unstarted = record.transaction_latency.count / 50;
            record.open_loop = Some(open_loop(record, unstarted, 2_000_000_000));
        });
        run
    };
    let of_p99 = |base: Run, new: Run| {
        let model = compared(vec![base], vec![new], &[ComparisonMetric::P99Ms]);
        let pair = throughput(&model);
        assert!(
            pair.ratio_interval.is_none()
                && pair.by_ranks.is_none()
                && pair.repeats_needed.is_none()
        );
        ((pair.verdict, pair.bound, pair.ratio.is_some(), pair.p.is_some()), model)
    };
    let (worse, model) = of_p99(run_with("a", &throughputs), overloaded("b"));
    assert_eq!(worse, (Verdict::Worse, Some(RatioBound::AtLeast), true, true));
    for format in [Format::Text, Format::Html] {
        let page = render(&model, format, EN);
        assert!(page.contains("≥ 2,00") && page.contains("not started"), "{page}");
    }
    let csv = render(&model, Format::Csv, EN);
    assert!(csv.contains(",,2000."), "a lower end, and no value: {csv}");
    let (better, _) = of_p99(overloaded("a"), run_with("b", &throughputs));
    assert_eq!(better, (Verdict::Better, Some(RatioBound::AtMost), true, true));
    // A lower bound of 2 s that is better than the other side's value proves nothing.
    let mut slow = run_with("a", &throughputs);
    each_record(&mut slow, |_, record| record.transaction_latency.p99 = 20_000_000_000);
    let (open, _) = of_p99(slow, overloaded("b"));
    assert_eq!(open, (Verdict::Inconclusive, Some(RatioBound::AtLeast), true, false));
    let (unknown, _) = of_p99(overloaded("a"), overloaded("b"));
    assert_eq!(unknown, (Verdict::Inconclusive, Some(RatioBound::Unknown), false, false));
}

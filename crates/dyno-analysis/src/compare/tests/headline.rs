//! Tests of the headline of a comparison.

use super::*;
use crate::model::LimitVerdict;
use dyno_model::limit::{Limit, LimitMetric};
use dyno_store::TrialOutcome;

#[test]
fn decided_primary_metric_is_headline_and_p95_stays_undecided() {
    // Thirteen times the throughput; a response time that varies too much, and a percentile without
    // transactions.
    let base = run_with("a", &[100.0, 101.0, 102.0]);
    let mut new = run_with("b", &[1_300.0, 1_310.0, 1_320.0]);
    each_record(&mut new, |i, record| {
        record.transaction_latency.p95 = [1_000_000, 9_000_000, 90_000_000][i];
        record.transaction_latency.count = 500;
    });
    let model = compared(
        vec![base],
        vec![new],
        &[ComparisonMetric::Throughput, ComparisonMetric::P95Ms, ComparisonMetric::P99Ms],
    );
    let headline = model.headline().expect("a primary metric");
    assert_eq!(
        (headline.metric, headline.effect.verdict),
        (ComparisonMetric::Throughput, Some(Verdict::Better))
    );
    assert_eq!(model.outcome.verdict, Verdict::Better);
    let metrics =
        |all: Vec<&OverallEffect>| all.into_iter().map(|it| it.metric).collect::<Vec<_>>();
    assert_eq!(metrics(model.decided().collect()), [ComparisonMetric::Throughput]);
    assert_eq!(metrics(model.undecided().collect()), [ComparisonMetric::P95Ms]);
    assert_eq!(model.configurations[0].without_figures, [ComparisonMetric::P99Ms]);
    assert_eq!(
        (model.outcome.comparisons, model.outcome.inconclusive),
        (2, 1),
        "no data, no comparison"
    );
}

#[test]
fn spec_names_primary_metric_and_a_worse_metric_decides_outcome() {
    let run = |name: &str, p95: f64| {
        let mut run = run_with(name, &[100.0, 101.0, 99.0, 100.5]);
        run.plan.primary = Some(ComparisonMetric::P95Ms);
        each_record(&mut run, |i, record| {
            record.transaction_latency.p95 = (p95 * [1.0, 1.01, 0.99, 1.0][i % 4]) as u64;
        });
        run
    };
    let metrics = [ComparisonMetric::Throughput, ComparisonMetric::P95Ms];
    let model = compared(vec![run("a", 1e6)], vec![run("b", 2e6)], &metrics);
    assert_eq!(model.headline().map(|it| it.metric), Some(ComparisonMetric::P95Ms));
    assert_eq!(
        (model.outcome.verdict, model.outcome.worse, model.outcome.equivalent),
        (Verdict::Worse, 1, 1)
    );
    // Throughput does not differ, but the doubling of the 95th percentile is clearly significant.
    let by_throughput = |name: &str, p95| {
        let mut run = run(name, p95);
        run.plan.primary = None;
        run
    };
    let model = compared(vec![by_throughput("a", 1e6)], vec![by_throughput("b", 2e6)], &metrics);
    assert_eq!(model.headline().and_then(|it| it.effect.verdict), Some(Verdict::Equivalent));
    assert_eq!((model.outcome.verdict, model.outcome.worse), (Verdict::Worse, 1));
}

#[test]
fn a_comparison_that_cannot_be_made_is_counted() {
    let with_p99 = |name: &str, figures: &[f64]| {
        let mut run = run_with(name, figures);
        each_record(&mut run, |_, record| record.transaction_latency.count = 500);
        run
    };
    let not_made = |base: &[f64], new: &[f64], metrics: &[ComparisonMetric]| {
        let (base, new) = (with_p99("a", base), with_p99("b", new));
        compared(vec![base], vec![new], metrics).outcome.not_made
    };
    let three = [100.0, 101.0, 99.0];
    let (throughput, p99) = (ComparisonMetric::Throughput, ComparisonMetric::P99Ms);
    // Thirteen times slower, but one trial on a side.
    assert_eq!(not_made(&three, &[7.5], &[throughput]), 1);
    assert_eq!(not_made(&three, &three, &[throughput]), 0);
    assert_eq!(not_made(&three, &[1.0, 10.0, 1_000.0], &[throughput]), 0, "undecided, but tested");
    // Too few transactions for a percentile that was named; without names, it is left out.
    assert_eq!(not_made(&three, &three, &[p99]), 1);
    assert_eq!(not_made(&three, &three, &METRICS), 0);
}

#[test]
fn headline_configuration_has_the_highest_throughput_of_all() {
    let shape = Shape { clients: vec![1, 20], systems: 1, has_failures: false, ..Shape::small() };
    let model =
        compared(vec![shape.run("a")], vec![shape.run("b")], &[ComparisonMetric::Throughput]);
    let rate = |pair: &ConfigurationPair| {
        let of = &pair.metrics[0];
        of.base.into_iter().chain(of.new).map(|it| it.mean).fold(0.0, f64::max)
    };
    let first = model.headline_configuration().expect("figures");
    assert_eq!(model.configurations.len(), 2);
    assert!(model.configurations.iter().all(|pair| rate(pair) <= rate(first)));
}

#[test]
fn limits_of_both_sides_are_paired_and_the_worst_run_counts() {
    let run = |name: &str, rate: f64, limits: &[f64]| {
        let mut run = run_with(name, &[rate, rate + 1.0, rate - 1.0, rate]);
        let limit = |value: &f64| Limit {
            metric: LimitMetric::Throughput,
            value: *value,
            part: None,
            configurations: vec![0],
            aborts: false,
        };
        run.plan.limits = limits.iter().map(limit).collect();
        run
    };
    let base = vec![run("a", 100.0, &[500.0])];
    let model =
        compared(base, vec![run("b", 1_300.0, &[500.0, 700.0])], &[ComparisonMetric::Throughput]);
    let found: Vec<_> = model.limits.iter().map(|it| (it.value, it.base, it.new)).collect();
    let (passed, failed) = (Some(LimitVerdict::Passed), Some(LimitVerdict::Failed));
    assert_eq!(found, [(500.0, failed, passed), (700.0, None, passed)]);
    // The worst of several runs, in any order.
    for rates in [[1_300.0, 400.0], [400.0, 1_300.0]] {
        let two = vec![run("b", rates[0], &[500.0]), run("c", rates[1], &[500.0])];
        let model = compared(vec![run("a", 100.0, &[500.0])], two, &[ComparisonMetric::Throughput]);
        assert_eq!((model.limits[0].base, model.limits[0].new), (failed, failed), "{rates:?}");
    }
}

#[test]
fn timelines_are_drawn_where_there_is_no_curve_over_clients() {
    let point = |start_s: f64, throughput: f64| TimelinePoint {
        start_s,
        length_s: 1.0,
        is_warmup: start_s < 2.0,
        throughput: Some(throughput),
        failed: 0,
        retries: 0,
        mean_ms: None,
        p50_ms: None,
        p95_ms: None,
        p99_ms: None,
        max_ms: None,
    };
    let side = |name: &str, rate: f64| {
        let run = run_with(name, &[rate; 3]);
        let timeline = |(trial, _): (&String, &TrialOutcome)| {
            let points =
                (0..200).map(|second| point(f64::from(second), rate + f64::from(second % 2)));
            ((name.to_owned(), trial.clone()), points.collect())
        };
        let timelines = run.outcomes.iter().map(timeline).collect();
        Side { folder: name.to_owned(), runs: vec![run], timelines }
    };
    let (base, new) = (side("a", 100.0), side("b", 1_300.0));
    let model =
        compare(&base, &new, &options(&[ComparisonMetric::Throughput])).expect("comparable");
    let [pair] = &model.timelines[..] else { panic!("{:?}", model.timelines) };
    assert!(pair.base.len() <= 60 && pair.base.len() == pair.new.len());
    assert_eq!(
        (pair.base[0].at_s, pair.base[0].throughput, pair.new[0].throughput),
        (0.0, 100.5, 1_300.5)
    );
    let shape = Shape { clients: vec![1, 20], systems: 1, ..Shape::small() };
    let model =
        compared(vec![shape.run("a")], vec![shape.run("b")], &[ComparisonMetric::Throughput]);
    assert_eq!(model.timelines, []);
}

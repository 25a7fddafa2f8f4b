//! What is said first.

use super::*;

#[test]
fn the_headline_is_what_was_decided_on_the_primary_metric_and_what_is_open_comes_second() {
    // Thirteen times the throughput; a response time that scatters too much, and a percentile without transactions.
    let base = measured("a", &[100.0, 101.0, 102.0]);
    let mut new = measured("b", &[1_300.0, 1_310.0, 1_320.0]);
    each_record(&mut new, |i, record| {
        record.transaction.p95 = [1_000_000, 9_000_000, 90_000_000][i];
        record.transaction.count = 500;
    });
    let model = compared(vec![base], vec![new], &[Metric::Throughput, Metric::P95Ms, Metric::P99Ms]);
    let headline = model.headline().expect("a primary metric");
    assert_eq!((headline.metric, headline.effect.verdict), (Metric::Throughput, Some(Verdict::Better)));
    assert_eq!(model.outcome.verdict, Verdict::Better);
    let metrics = |all: Vec<&OverAll>| all.into_iter().map(|it| it.metric).collect::<Vec<_>>();
    assert_eq!(metrics(model.decided().collect()), [Metric::Throughput]);
    assert_eq!(metrics(model.undecided().collect()), [Metric::P95Ms]);
    assert_eq!(model.treatments[0].without_figures, [Metric::P99Ms]);
    assert_eq!((model.outcome.comparisons, model.outcome.inconclusive), (2, 1), "no data, no comparison");
}

#[test]
fn the_primary_metric_is_the_one_that_the_spec_names_and_what_is_worse_elsewhere_is_no_better() {
    let run = |name: &str, p95: f64| {
        let mut run = measured(name, &[100.0, 101.0, 99.0, 100.5]);
        run.plan.primary = Some(Metric::P95Ms);
        each_record(&mut run, |i, record| {
            record.transaction.p95 = (p95 * [1.0, 1.01, 0.99, 1.0][i % 4]) as u64;
        });
        run
    };
    let asked = [Metric::Throughput, Metric::P95Ms];
    let model = compared(vec![run("a", 1e6)], vec![run("b", 2e6)], &asked);
    assert_eq!(model.headline().map(|it| it.metric), Some(Metric::P95Ms));
    assert_eq!(
        (model.outcome.verdict, model.outcome.worse, model.outcome.equivalent),
        (Verdict::Worse, 1, 1)
    );
    // By throughput nothing differs; that the 95th percentile is twice as long is beyond doubt.
    let by_throughput = |name: &str, p95| {
        let mut run = run(name, p95);
        run.plan.primary = None;
        run
    };
    let model = compared(vec![by_throughput("a", 1e6)], vec![by_throughput("b", 2e6)], &asked);
    assert_eq!(model.headline().and_then(|it| it.effect.verdict), Some(Verdict::Equivalent));
    assert_eq!((model.outcome.verdict, model.outcome.worse), (Verdict::Worse, 1));
}

//! Shown values, missing values and lower bounds, in every form of the report.

use crate::messages::EN;
use crate::{Format, render};
use dyno_analysis::analyse;
use dyno_analysis::model::{ConfigurationRow, Figures, Metric, PercentilePoint};
use dyno_model::plan::ComparisonMetric;
use dyno_store::TrialOutcome;
use dyno_store::fixture::{Shape, leave_unstarted};

#[test]
fn percentiles_with_fewer_than_ten_values_beyond_are_omitted() {
    let mut data = Shape::small().read();
    for outcome in data.run.outcomes.values_mut() {
        if let TrialOutcome::Finished(record) = outcome {
            record.transaction_latency.count = 150;
        }
    }
    let model = analyse(&data);
    let figures = model.trials[0].figures.as_ref().expect("measured");
    let of = |figures: &Figures| {
        [Metric::P50, Metric::P95, Metric::P99].map(|metric| figures.get(metric).is_some())
    };
    assert!(figures.get(Metric::Max).is_some());
    assert_eq!(of(figures), [true, false, false], "7.5 and 1.5 values lie beyond");
    assert!(model.configurations.iter().all(|row| of(&row.figures) == [true, false, false]));
    assert!(
        model.panel(ComparisonMetric::P95Ms).is_none()
            && model.panel(ComparisonMetric::P99Ms).is_none()
    );
    let of_p95: Vec<_> =
        model.comparisons.iter().filter(|it| it.metric == ComparisonMetric::P95Ms).collect();
    assert!(
        !of_p95.is_empty()
            && of_p95.iter().all(|it| it.effect.ratio.is_none() && it.effect.p.is_none()),
        "{of_p95:?}"
    );
    let csv = render(&model, Format::Csv, EN);
    assert!(csv.contains(",p50,") && !csv.contains(",p95,") && !csv.contains(",p99,"), "{csv}");
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, EN)).expect("JSON");
    assert!(
        json["trials"][0]["figures"]["p95"].is_null() && json["configurations"][0]["p99"].is_null()
    );
}

#[test]
fn lower_bounds_are_shown_as_such_in_every_form_of_the_report() {
    let mut data = Shape::small().read();
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 0)
        .expect("planned")
        .id
        .clone();
    let commits = data.trials[&id].response_times.len();
    leave_unstarted(&mut data, 0, commits / 50);
    let model = analyse(&data);
    let [row, other] = [0, 1].map(|at: usize| &model.configurations[at].figures);
    let p99 = row.estimate(Metric::P99).expect("there are values");
    assert!(p99.is_bound && p99.interval.is_none() && p99.mean > 1_000.0, "{p99:?}");
    let is_value = |figures: &Figures, metric| figures.get(metric).is_some_and(|it| !it.is_bound());
    assert!(is_value(row, Metric::P50) && is_value(other, Metric::P99));
    let unstarted = row.count(Metric::NeverStarted);
    assert!(unstarted > Some(0) && other.get(Metric::Arrived).is_none());
    assert!(is_value(row, Metric::MergedP95) && !is_value(row, Metric::MergedP99));
    assert_eq!(row.count(Metric::MergedCensored), unstarted);
    let curve =
        model.percentile_curves.iter().find(|curve| curve.configuration == 0).expect("drawn");
    let end = |curve: &[PercentilePoint]| curve.last().expect("points").percentile;
    assert!(end(&curve.merged) < 98.1 && curve.repeats.iter().all(|curve| end(curve) < 98.1));
    let trial = model.trials.iter().find(|trial| trial.id == id).expect("planned");
    let trial = trial.figures.as_ref().expect("measured");
    assert!(!is_value(trial, Metric::P99) && is_value(trial, Metric::P50));
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let report = render(&model, format, EN);
        assert!(
            report.contains("not started") && report.contains("≥ 2,00"),
            "{format:?}: {report}"
        );
    }
    let csv = render(&model, Format::Csv, EN);
    assert!(csv.contains(",p99,milliseconds,,200"), "no value, but a lower end: {csv}");
    assert!(
        csv.contains(",never-started,count,") && csv.contains(",merged-p99,milliseconds,,200"),
        "{csv}"
    );
    let json = render(&model, Format::Json, EN);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["configurations"][0]["figures"]["p99"]["is_bound"], true);
    assert!(json["configurations"][1]["figures"]["p99"]["is_bound"].is_null());
}

#[test]
fn one_block_has_no_interval_anywhere() {
    let model =
        analyse(&Shape { blocks: 1, systems: 2, clients: vec![1, 8], ..Shape::small() }.read());
    let throughput =
        |row: &ConfigurationRow| row.figures.estimate(Metric::Throughput).expect("measured");
    assert!(model.configurations.iter().all(|row| throughput(row).interval.is_none()));
    let text = render(&model, Format::Text, EN).replace("\n  ", " ");
    assert!(text.contains("(one valid trial, no interval)"), "{text}");
}

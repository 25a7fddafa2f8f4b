//! Shown values, missing values and lower bounds, in every form of the report.

use crate::messages::EN;
use crate::{Format, render};
use dyno_analysis::analyse;
use dyno_analysis::model::PercentilePoint;
use dyno_model::plan::Metric;
use dyno_store::TrialOutcome;
use dyno_store::fixture::{Shape, never_started};

#[test]
fn a_percentile_with_fewer_than_ten_values_beyond_it_is_in_no_form_of_the_report() {
    let mut data = Shape::small().read();
    for outcome in data.run.outcomes.values_mut() {
        if let TrialOutcome::Finished(record) = outcome {
            record.transaction.count = 150;
        }
    }
    let model = analyse(&data);
    let figures = model.trials[0].figures.as_ref().expect("measured");
    assert!(figures.p50_ms.is_some() && figures.max_ms.is_some());
    assert_eq!((figures.p95_ms, figures.p99_ms), (None, None), "7.5 and 1.5 values lie beyond");
    assert!(
        model
            .configurations
            .iter()
            .all(|row| row.p50.is_some() && row.p95.is_none() && row.p99.is_none())
    );
    assert!(model.panel(Metric::P95Ms).is_none() && model.panel(Metric::P99Ms).is_none());
    let of_p95: Vec<_> = model.comparisons.iter().filter(|it| it.metric == Metric::P95Ms).collect();
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
        json["trials"][0]["figures"]["p95_ms"].is_null()
            && json["configurations"][0]["p99"].is_null()
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
    let commits = data.trials[&id].transaction.len();
    never_started(&mut data, 0, commits / 50);
    let model = analyse(&data);
    let (row, other) = (&model.configurations[0], &model.configurations[1]);
    let p99 = row.p99.expect("there are values");
    assert!(p99.is_bound && p99.interval.is_none() && p99.mean > 1_000.0, "{p99:?}");
    assert!(row.p50.is_some_and(|p50| !p50.is_bound) && other.p99.is_some_and(|p99| !p99.is_bound));
    assert!(row.unstarted.is_some_and(|unstarted| unstarted > 0) && other.arrived.is_none());
    let merged = row.merged.expect("merged");
    assert_eq!(
        (merged.bounds_from, merged.censored),
        (Some(99.0), row.unstarted.unwrap_or_default())
    );
    let curve =
        model.percentile_curves.iter().find(|curve| curve.configuration == 0).expect("drawn");
    let end = |curve: &[PercentilePoint]| curve.last().expect("points").percentile;
    assert!(end(&curve.merged) < 98.1 && curve.repeats.iter().all(|curve| end(curve) < 98.1));
    let trial =
        model.trials.iter().find(|trial| trial.id == id).and_then(|trial| trial.figures.as_ref());
    assert!(
        trial.is_some_and(
            |figures| figures.is_bound(Metric::P99Ms) && !figures.is_bound(Metric::P50Ms)
        )
    );
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
    assert_eq!(json["configurations"][0]["p99"]["is_bound"], true);
    assert!(json["configurations"][1]["p99"]["is_bound"].is_null());
}

#[test]
fn one_block_has_no_interval_anywhere() {
    let model =
        analyse(&Shape { blocks: 1, systems: 2, clients: vec![1, 8], ..Shape::small() }.read());
    assert!(
        model.configurations.iter().all(|row| row.throughput.expect("measured").interval.is_none())
    );
    let text = render(&model, Format::Text, EN).replace("\n  ", " ");
    assert!(text.contains("(one valid trial, no interval)"), "{text}");
}

//! Files of trackers of benchmarks: Bencher and github-action-benchmark.

use super::series::{Point, points};
use crate::figures;
use crate::json::indented;
use dyno_analysis::model::{ReportModel, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bencher Metric Format: figures with the ends of their intervals by configuration. Names of
/// measures are slugs; a unit is part of the name, because the format has no field for it and the
/// built-in measure `latency` has nanoseconds.
pub(super) fn bmf(model: &ReportModel) -> String {
    #[derive(Serialize)]
    struct ComparisonMetric {
        value: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        lower_value: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        upper_value: Option<f64>,
    }
    let mut benchmarks: BTreeMap<String, BTreeMap<String, ComparisonMetric>> = BTreeMap::new();
    for point in points(model) {
        let metric = ComparisonMetric {
            value: point.value,
            lower_value: point.interval().map(|interval| interval.low),
            upper_value: point.interval().map(|interval| interval.high),
        };
        let measure = slug(&point);
        benchmarks.entry(point.configuration).or_default().insert(measure, metric);
    }
    indented(&benchmarks)
}

/// Name of a measure in lower case, digits and hyphens, with its unit.
fn slug(point: &Point) -> String {
    let measure = point.measure();
    match measure.unit() {
        Unit::Milliseconds => format!("{}-ms", measure.id()),
        _ => measure.id().to_owned(),
    }
}

/// The list that github-action-benchmark reads: it takes one direction per file.
pub(super) fn github(model: &ReportModel, is_more_better: bool) -> String {
    #[derive(Serialize)]
    struct Benchmark {
        name: String,
        unit: &'static str,
        value: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<String>,
    }
    let wanted =
        points(model).into_iter().filter(|it| it.metric.is_more_better() == is_more_better);
    let benchmarks: Vec<Benchmark> = wanted
        .map(|point| Benchmark {
            name: point.series(),
            unit: figures::symbol(point.measure().unit()),
            value: point.value,
            range: point.interval().map(|interval| {
                let end = |value| figures::value(point.measure().unit(), value);
                format!("{} .. {}", end(interval.low), end(interval.high))
            }),
        })
        .collect();
    indented(&benchmarks)
}

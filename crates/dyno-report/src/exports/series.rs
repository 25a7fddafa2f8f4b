//! The figures of a configuration that are followed over runs, by name.

use crate::csv::{Sheet, word};
use crate::messages::{EN, names};
use dyno_analysis::model::{Figure, Metric, Range, ReportModel, Validity};
use dyno_model::plan::ComparisonMetric;
use dyno_model::printable;

/// The metrics that are followed.
const METRICS: [ComparisonMetric; 7] = [
    ComparisonMetric::Throughput,
    ComparisonMetric::MeanMs,
    ComparisonMetric::P50Ms,
    ComparisonMetric::P95Ms,
    ComparisonMetric::P99Ms,
    ComparisonMetric::HighestRate,
    ComparisonMetric::MostClients,
];

/// A figure of a configuration in one run. A lower bound is none, because programs that follow
/// benchmarks would take it for a value.
pub(super) struct Point {
    /// Name of the configuration; the same in every run.
    pub(super) configuration: String,
    pub(super) metric: ComparisonMetric,
    pub(super) value: f64,
    pub(super) interval: Option<Range>,
}

impl Point {
    pub(super) fn measure(&self) -> Metric {
        self.metric.into()
    }

    /// Name of its series, which is unique in a run.
    pub(super) fn series(&self) -> String {
        format!("{}: {}", self.configuration, self.measure().id())
    }
}

/// The figures of a run, by configuration.
pub(super) fn points(model: &ReportModel) -> Vec<Point> {
    let configurations = model.configurations.iter().enumerate();
    let figures = configurations.flat_map(|(index, row)| {
        METRICS
            .into_iter()
            .filter_map(move |metric| Some((index, metric, row.figures.get(metric)?)))
    });
    let points =
        figures.filter(|(.., figure)| !figure.is_bound()).map(|(index, metric, figure)| {
            let configuration = names::configuration(model, index, EN);
            let interval = match figure {
                Figure::Mean(estimate) => estimate.interval,
                _ => None,
            };
            Point {
                configuration: printable::line(&configuration).into_owned(),
                metric,
                value: figure.value(),
                interval,
            }
        });
    points.collect()
}

/// A row per run: start, name of the run, its validity, and a column per series. A value that a run
/// does not have is an empty cell. Runs without valid trials are `invalid`, and those of which some
/// configuration is, `partly-invalid`.
pub(super) fn table(models: &[&ReportModel]) -> String {
    let runs: Vec<(&ReportModel, Vec<Point>)> =
        models.iter().map(|model| (*model, points(model))).collect();
    let mut series: Vec<String> = Vec::new();
    for point in runs.iter().flat_map(|(_, points)| points) {
        if !series.contains(&point.series()) {
            series.push(point.series());
        }
    }
    let mut sheet = Sheet::default();
    let heads = ["time", "run", "dyno_version", "validity"];
    sheet.line(heads.into_iter().chain(series.iter().map(String::as_str)));
    for (model, points) in &runs {
        let provenance = &model.provenance;
        let validity = validity(model);
        let about = [&provenance.started_at, &provenance.run, &provenance.dyno_version, &validity];
        let values = series.iter().map(|name| {
            let point = points.iter().find(|point| point.series() == *name);
            point.map(|point| point.value.to_string()).unwrap_or_default()
        });
        sheet.line(about.into_iter().cloned().chain(values));
    }
    sheet.text()
}

/// The validity of a run: that of its configurations, if they agree.
fn validity(model: &ReportModel) -> String {
    let is_invalid = |validity| matches!(validity, Validity::Invalid | Validity::Missing);
    let invalid = model.configurations.iter().filter(|row| is_invalid(row.validity)).count();
    match invalid {
        0 if model.configurations.iter().any(|row| row.validity == Validity::Warned) => {
            word(&Validity::Warned)
        }
        0 => word(&Validity::Valid),
        all if all == model.configurations.len() => word(&Validity::Invalid),
        _ => "partly-invalid".to_owned(),
    }
}

//! The figures of a configuration that are followed over runs, by name.

use crate::csv::{CsvDocument, word};
use crate::messages::{EN, names};
use dyno_analysis::model::{Estimate, Figure, Metric, Range, ReportModel, Validity};
use dyno_model::plan::ComparisonMetric;
use dyno_model::printable;
use std::collections::HashMap;

/// The metrics that are followed.
pub(crate) const METRICS: [ComparisonMetric; 7] = [
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
pub(crate) struct Point {
    /// Name of the configuration; the same in every run.
    pub(crate) configuration: String,
    pub(crate) metric: ComparisonMetric,
    pub(crate) value: f64,
    /// The mean with its interval, if it is a mean over trials.
    pub(crate) estimate: Option<Estimate>,
}

impl Point {
    pub(super) fn measure(&self) -> Metric {
        self.metric.into()
    }

    pub(crate) fn interval(&self) -> Option<Range> {
        self.estimate?.interval
    }

    /// Name of its series, which is unique in a run.
    pub(super) fn series(&self) -> String {
        format!("{}: {}", self.configuration, self.measure().id())
    }
}

/// A figure of a configuration over runs.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) configuration: String,
    pub(crate) metric: ComparisonMetric,
    /// A point per run; `None` if the run has no value.
    pub(crate) points: Vec<Option<Point>>,
}

/// The figures of a run, by configuration.
pub(super) fn points(model: &ReportModel) -> Vec<Point> {
    let configurations = model.configurations.iter().enumerate();
    let figures = configurations.flat_map(|(index, row)| {
        METRICS
            .into_iter()
            .filter_map(move |metric| Some((index, metric, row.figures.get(metric)?)))
    });
    let points = figures.filter(|(.., figure)| !figure.is_bound());
    let points = points.map(|(index, metric, figure)| Point {
        configuration: configuration(model, index),
        metric,
        value: figure.value(),
        estimate: match figure {
            Figure::Mean(estimate) => Some(estimate),
            _ => None,
        },
    });
    points.collect()
}

/// Name of a configuration, which is the same in every run and language.
pub(crate) fn configuration(model: &ReportModel, index: usize) -> String {
    printable::line(&names::configuration(model, index, EN)).into_owned()
}

/// Index of the configuration of this name.
pub(crate) fn index_of(model: &ReportModel, name: &str) -> Option<usize> {
    (0..model.configurations.len()).find(|index| configuration(model, *index) == name)
}

/// All series of these runs, by the run in which they first have a value.
pub(crate) fn series(runs: &[&ReportModel]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let mut indices: HashMap<String, usize> = HashMap::new();
    for (run, model) in runs.iter().enumerate() {
        for point in points(model) {
            let name = point.series();
            let index = *indices.entry(name.clone()).or_insert(all.len());
            if index == all.len() {
                let (configuration, metric) = (point.configuration.clone(), point.metric);
                let points = runs.iter().map(|_| None).collect();
                all.push(Series { name, configuration, metric, points });
            }
            all[index].points[run] = Some(point);
        }
    }
    all
}

/// A row per run: start, name of the run, its validity, and a column per series. A value that a run
/// does not have is an empty cell. Runs without valid trials are `invalid`, and those of which some
/// configuration is, `partly-invalid`.
pub(super) fn table(runs: &[&ReportModel]) -> String {
    let series = series(runs);
    let mut document = CsvDocument::default();
    let heads = ["time", "run", "dyno_version", "validity"];
    document.line(heads.into_iter().chain(series.iter().map(|series| series.name.as_str())));
    for (run, model) in runs.iter().enumerate() {
        let provenance = &model.provenance;
        let validity = validity(model);
        let about = [&provenance.started_at, &provenance.run, &provenance.dyno_version, &validity];
        let value = |point: &Point| point.value.to_string();
        let values = series.iter().map(|it| it.points[run].as_ref().map(value).unwrap_or_default());
        document.line(about.into_iter().cloned().chain(values));
    }
    document.text()
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

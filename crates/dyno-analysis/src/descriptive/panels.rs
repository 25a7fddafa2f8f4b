//! Panels of charts over clients and over time.

use crate::model::{
    ErrorPoint, Metric, Panel, PanelPoint, PanelSeries, PublishedPoint, PublishedRows,
    PublishedSeries, RatePoint, RateSeries, RepeatDot, Timeline, TimelinePoint, Unit,
};
use crate::resources;
use crate::series::{series_name, varied};
use crate::view::View;
use dyno_model::latency::is_shown;
use dyno_model::lists;
use dyno_model::plan::{ComparisonMetric, Configuration, Plan, Published};
use dyno_model::record::is_rate;
use std::iter::zip;

pub(crate) fn panels(view: &View<'_>) -> Vec<Panel> {
    let searched = view.plan().metrics().into_iter().filter(|metric| metric.searched().is_some());
    [
        ComparisonMetric::Throughput,
        ComparisonMetric::MeanMs,
        ComparisonMetric::P95Ms,
        ComparisonMetric::P99Ms,
    ]
    .into_iter()
    .chain(searched)
    .map(|metric| Panel {
        metric,
        unit: Metric::from(metric).unit(),
        series: panel_series(view, metric),
    })
    .filter(|panel| !panel.series.is_empty())
    .collect()
}

/// The factor that varies the arrival rate.
const RATE: &str = "load.rate";

pub(crate) fn rates(view: &View<'_>) -> Vec<RateSeries> {
    let plan = view.plan();
    let Some(factor) = plan.factors.iter().position(|factor| factor == RATE) else {
        return Vec::new();
    };
    let mut varied = varied(&plan.factors, &plan.configurations.iter().collect::<Vec<_>>());
    varied[factor] = false;
    let others = |configuration: &Configuration| {
        let mut levels = configuration.levels.clone();
        levels.remove(factor);
        (configuration.system, configuration.clients, levels)
    };
    let mut series: Vec<(_, RateSeries)> = Vec::new();
    for (index, configuration) in view.configurations() {
        let Some(offered) = configuration.load.rate else { continue };
        let key = others(configuration);
        let (_, series) = lists::entry(
            &mut series,
            |(known, _)| *known == key,
            || {
                let label = series_name(plan, configuration, &varied).label;
                (
                    others(configuration),
                    RateSeries { label, clients: configuration.clients, points: Vec::new() },
                )
            },
        );
        series.points.push(RatePoint { offered, configuration: index });
    }
    let mut series: Vec<RateSeries> = series.into_iter().map(|(_, series)| series).collect();
    series
        .iter_mut()
        .for_each(|series| series.points.sort_by(|a, b| a.offered.total_cmp(&b.offered)));
    series.retain(|series| series.points.len() > 1);
    series
}

fn panel_series(view: &View<'_>, metric: ComparisonMetric) -> Vec<PanelSeries> {
    (0..view.series.len())
        .map(|series| {
            let mut points: Vec<_> = view
                .configurations()
                .filter(|(index, _)| view.series_of[*index] == series)
                .map(|(index, configuration)| PanelPoint {
                    clients: configuration.clients,
                    configuration: index,
                    estimate: view.estimate(index, metric),
                    repeats: repeat_dots(view, index, metric),
                })
                .filter(|point| !point.repeats.is_empty())
                .collect();
            points.sort_by_key(|point| point.clients);
            PanelSeries { series, points }
        })
        .filter(|series| !series.points.is_empty())
        .collect()
}

fn repeat_dots(view: &View<'_>, configuration: usize, metric: ComparisonMetric) -> Vec<RepeatDot> {
    view.measured_records(configuration)
        .iter()
        .filter_map(|record| {
            Some(RepeatDot {
                trial: record.trial.id.clone(),
                block: record.trial.block,
                value: record.figure(metric)?,
                is_valid: record.is_valid(),
            })
        })
        .collect()
}

pub(crate) fn timelines(view: &View<'_>) -> Vec<Timeline> {
    view.plan()
        .trials
        .iter()
        .filter_map(|trial| Some((trial, view.data.trials.get(&trial.id)?)))
        .filter(|(_, data)| !data.timeline.is_empty())
        .map(|(trial, data)| Timeline {
            trial: trial.id.clone(),
            configuration: trial.configuration,
            block: trial.block,
            points: data.timeline.iter().map(timeline_point).collect(),
            errors: data.errors.iter().map(error_point).collect(),
            resources: resources::timeline(view, trial),
        })
        .collect()
}

fn error_point(line: &dyno_store::ErrorLine) -> ErrorPoint {
    ErrorPoint { start_s: line.start_s, kind: line.kind, errors: line.errors }
}

/// An interval of a trial's time series, without figures from too short a time or too few
/// transactions.
pub(crate) fn timeline_point(line: &dyno_store::TimelineLine) -> TimelinePoint {
    let latency = |column: usize| line.latency_ms.map(|values| values[column]);
    let percentile = |percentage, column: usize| {
        latency(column).filter(|_| is_shown(line.committed, percentage))
    };
    TimelinePoint {
        start_s: line.start_s,
        length_s: line.length_s,
        is_warmup: line.is_warmup,
        throughput: is_rate(line.length_s).then(|| line.committed as f64 / line.length_s),
        failed: line.failed,
        retries: line.retries,
        mean_ms: latency(0),
        p50_ms: percentile(50.0, 1),
        p95_ms: percentile(95.0, 2),
        p99_ms: percentile(99.0, 3),
        max_ms: latency(4),
    }
}

pub(crate) fn published(plan: &Plan) -> Vec<PublishedSeries> {
    let series = |it: &Published| PublishedSeries {
        source: it.source.clone(),
        series: it.series.clone(),
        metric: it.metric,
        unit: if it.rows.is_empty() { Metric::from(it.metric).unit() } else { Unit::RowsPerSecond },
        system: it
            .system
            .as_ref()
            .and_then(|name| plan.systems.iter().position(|it| it.name == *name)),
        is_approximate: it.approximate,
        points: zip(&it.clients, &it.values)
            .map(|(clients, value)| PublishedPoint { clients: *clients, value: *value })
            .collect(),
        over_rows: zip(&it.rows, &it.values)
            .map(|(rows, value)| PublishedRows { rows: *rows, value: *value })
            .collect(),
    };
    plan.published.iter().map(series).collect()
}

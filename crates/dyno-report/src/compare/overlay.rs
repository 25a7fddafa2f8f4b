//! The curves of both sides in one chart: over clients, or over time if there is one number of
//! clients.

use super::notes;
use crate::chart::curves::{Curve, CurveChart, CurvePanel, CurvePoint, Style};
use crate::chart::frame::Drawn;
use crate::chart::palette::Slot;
use crate::chart::svg::Labels;
use crate::chart::text::{Quantity, spelled};
use crate::figures;
use crate::messages::{Lang, Message, compare, fill, headings, list, names, page};
use dyno_analysis::compare::model::{CompareModel, ConfigurationPair, LimitPair, SideName};
use dyno_analysis::model::{Estimate, MeanTimelinePoint, Metric};
use dyno_model::lists::distinct;
use dyno_model::plan::ComparisonMetric;
use maud::{Markup, PreEscaped, html};

/// Maximum number of panels in one chart.
const PANELS: usize = 6;

/// A chart of a metric; `None` if a side has fewer than two points.
pub(super) fn figure(model: &CompareModel, metric: ComparisonMetric, lang: Lang) -> Markup {
    let (mut panels, is_over_time) = match over_clients(model, metric, lang) {
        panels if panels.is_empty() => (over_time(model, metric, lang), true),
        panels => (panels, false),
    };
    if panels.is_empty() {
        return html! {};
    }
    for panel in &mut panels {
        panel.limits = limits(model, metric, lang);
    }
    let over = if is_over_time { &page::CHART_SECONDS } else { &headings::CLIENTS };
    let chart = chart(metric, over, is_over_time, panels, lang);
    let series = list(lang, &notes::legends(model, lang));
    let y_title = &chart.y_title;
    let description = match is_over_time {
        false => fill!(page::CHART_DESCRIPTION_CURVES, lang, metric = y_title, series),
        true => fill!(
            page::CHART_DESCRIPTION_POINTS,
            lang,
            metric = y_title,
            over = over.text(lang),
            series
        ),
    };
    let title = match (is_over_time, metric.is_more_better()) {
        (false, true) => page::CHART_TITLE_THROUGHPUT,
        (false, false) => page::CHART_TITLE_TIME,
        (true, true) => compare::CHART_THROUGHPUT_OVER_TIME,
        (true, false) => compare::CHART_TIME_OVER_TIME,
    };
    let title = if metric.is_more_better() {
        title.text(lang).to_owned()
    } else {
        names::labelled(title.text(lang), names::metric(metric, lang), lang)
    };
    let id = format!("overlay-{}", Metric::from(metric).id());
    let labels =
        Labels { id: &id, title: &title, description: &description, percent: lang.percent };
    html! {
        figure id=(id) {
            figcaption { strong { (title) } }
            div.scroll { (PreEscaped(Drawn::of(labels, |drawing| chart.draw(drawing)).inline())) }
        }
    }
}

/// Limits on a metric, with their labels.
fn limits(model: &CompareModel, metric: ComparisonMetric, lang: Lang) -> Vec<(f64, String)> {
    let all =
        model.limits.iter().filter(|it| it.part.is_none() && it.metric.metric() == Some(metric));
    let label = |it: &LimitPair| {
        fill!(page::CHART_LIMIT, lang, value = figures::limit_value(it.metric, it.value))
    };
    all.map(|it| (it.value, label(it))).collect()
}

fn chart(
    metric: ComparisonMetric,
    over: &Message,
    is_over_time: bool,
    panels: Vec<CurvePanel>,
    lang: Lang,
) -> CurveChart {
    let (y_title, logarithmic) = if metric.is_more_better() {
        (page::CHART_THROUGHPUT, page::CHART_THROUGHPUT_LOG)
    } else {
        (page::CHART_TIME, page::CHART_TIME_LOG)
    };
    CurveChart {
        x_title: over.text(lang).to_owned(),
        y_title: y_title.text(lang).to_owned(),
        y_title_logarithmic: logarithmic.text(lang).to_owned(),
        quantity: Quantity::of(metric),
        is_measured: is_over_time,
        begins_at_zero: true,
        columns: None,
        panels,
    }
}

/// The curves of base and new, with the runs' names.
fn curves(
    model: &CompareModel,
    style: Style,
    [base, new]: [Vec<CurvePoint>; 2],
    lang: Lang,
) -> Vec<Curve> {
    let points = [base, new].into_iter().enumerate().zip(notes::legends(model, lang));
    points.map(|((slot, points), label)| Curve { label, slot: Slot(slot), style, points }).collect()
}

/// Panels of the series with several numbers of clients.
fn over_clients(model: &CompareModel, metric: ComparisonMetric, lang: Lang) -> Vec<CurvePanel> {
    let labels = distinct(model.configurations.iter().map(|pair| pair.name.label.as_str()));
    let is_alone = labels.len() == 1;
    let panel = |label: &str| {
        let of_series: Vec<&ConfigurationPair> =
            model.configurations.iter().filter(|pair| pair.name.label == label).collect();
        let points = |side: SideName| {
            let point = |pair: &&ConfigurationPair| {
                let of = pair.metrics.iter().find(|it| it.metric == metric)?;
                let estimate = if side == SideName::Base { of.base } else { of.new };
                Some(point(pair, &estimate?, side, metric, lang))
            };
            let mut points: Vec<CurvePoint> = of_series.iter().filter_map(point).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            points
        };
        let sides = [SideName::Base, SideName::New].map(points);
        let title = if is_alone { String::new() } else { label.to_owned() };
        sides.iter().all(|points| points.len() > 1).then(|| CurvePanel {
            title,
            curves: curves(model, Style::Measured, sides, lang),
            ..CurvePanel::default()
        })
    };
    labels.into_iter().filter_map(panel).take(PANELS).collect()
}

fn point(
    pair: &ConfigurationPair,
    estimate: &Estimate,
    side: SideName,
    metric: ComparisonMetric,
    lang: Lang,
) -> CurvePoint {
    let quantity = Quantity::of(metric);
    let clients = names::clients(&[pair.name.clients], lang);
    let value = figures::bounded(spelled(quantity, estimate.mean), estimate.is_bound);
    let series = compare::side(side, lang);
    CurvePoint {
        x: f64::from(pair.name.clients),
        value: Some(estimate.mean),
        is_bound: estimate.is_bound,
        interval: figures::drawn_interval(estimate),
        tooltip: fill!(page::CHART_TIP_PLAIN, lang, series, clients, value),
        ..CurvePoint::default()
    }
}

/// Panels of the configurations' timelines.
fn over_time(model: &CompareModel, metric: ComparisonMetric, lang: Lang) -> Vec<CurvePanel> {
    let figure = |point: &MeanTimelinePoint| match metric {
        ComparisonMetric::Throughput => Some(point.throughput),
        ComparisonMetric::P99Ms => point.p99_ms,
        _ => None,
    };
    let points = |timeline: &[MeanTimelinePoint]| {
        let point = |point: &MeanTimelinePoint| {
            let value = figure(point)?;
            Some(CurvePoint { x: point.at_s, value: Some(value), ..CurvePoint::default() })
        };
        timeline.iter().filter_map(point).collect::<Vec<_>>()
    };
    let is_alone = model.timelines.len() == 1;
    let panels = model.timelines.iter().filter_map(|pair| {
        let sides = [points(&pair.base), points(&pair.new)];
        let configuration = &model.configurations[pair.configuration];
        let title = if is_alone { String::new() } else { compare::pair(configuration, lang) };
        let is_drawn = sides.iter().all(|points| points.len() > 1);
        is_drawn.then(|| CurvePanel {
            title,
            curves: curves(model, Style::TimeSeries, sides, lang),
            ..CurvePanel::default()
        })
    });
    panels.collect()
}

//! Figures of curves: converts the model's points to panels, with published figures, captions and
//! the data table below.

use crate::chart::curves::{Curve, CurveChart, CurvePanel, CurvePoint, Style, levels_of};
use crate::chart::frame::Drawn;
use crate::chart::palette::Slot;
use crate::chart::svg::Labels;
use crate::chart::text::{Quantity, spelled};
use crate::figures;
use crate::grid::titles_of_cells;
use crate::html::facets::{Facet, Member};
use crate::html::page::{ChartFigure, Page};
use crate::messages::{columns, fill, headings, list, names, page};
use dyno_analysis::model::{
    LimitRow, PanelPoint, PanelSeries, PublishedPoint, PublishedSeries, RepeatDot,
};
use dyno_model::lists::distinct;
use dyno_model::plan::ComparisonMetric;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Maximum number of panels in a figure, so that it fits on a page.
pub(in crate::html) const PANELS: usize = 12;
/// Published values that differ from the measured ones by this factor get a separate panel.
const PUBLISHED_FACTOR: f64 = 4.0;

/// With more configurations than this, points have no tooltips: they would be larger than the
/// chart, and the table below the chart has the same figures.
pub(in crate::html) const TOOLTIP_CONFIGURATIONS_MAX: usize = 60;

/// The axis of response times.
pub(in crate::html) fn time_axis(page: &Page<'_>) -> Axis {
    Axis {
        title: page.text(&page::CHART_TIME),
        logarithmic: page.text(&page::CHART_TIME_LOG),
        quantity: Quantity::Time,
    }
}

/// The response times with side-by-side panels, and their titles. Next to the name of one of
/// several groups, only the abbreviation fits.
pub(in crate::html) fn times(
    page: &Page<'_>,
    groups: usize,
) -> [(ComparisonMetric, &'static str); 3] {
    let (p95, p99) = match groups {
        ..=1 => (&page::CHART_PANEL_P95, &page::CHART_P99),
        _ => (&columns::P95, &columns::P99),
    };
    [
        (ComparisonMetric::MeanMs, page.text(&columns::MEAN)),
        (ComparisonMetric::P95Ms, page.text(p95)),
        (ComparisonMetric::P99Ms, page.text(p99)),
    ]
}

/// The y axis of a chart.
#[derive(Clone, Copy)]
pub(in crate::html) struct Axis {
    pub(in crate::html) title: &'static str,
    pub(in crate::html) logarithmic: &'static str,
    pub(in crate::html) quantity: Quantity,
}

/// The x axis of a chart that is not over clients.
#[derive(Clone, Copy)]
pub(in crate::html) struct Over {
    pub(in crate::html) title: &'static str,
    /// True for a measured quantity, false for levels.
    pub(in crate::html) is_measured: bool,
}

/// A figure of curves over clients, or over the given measured quantity.
pub(in crate::html) fn curves(
    page: &Page<'_>,
    (id, title): (String, String),
    (over, axis): (Option<Over>, Axis),
    columns: Option<usize>,
    panels: Vec<CurvePanel>,
    captions: Vec<String>,
) -> ChartFigure {
    let series = list(page.lang, &names_of(&panels));
    let (y_title, lang) = (axis.title, page.lang);
    let description = match over {
        None => fill!(page::CHART_DESCRIPTION_CURVES, lang, metric = y_title, series),
        Some(over) => {
            fill!(page::CHART_DESCRIPTION_POINTS, lang, metric = y_title, over = over.title, series)
        }
    };
    let chart = CurveChart {
        x_title: over.map_or_else(|| page.text(&headings::CLIENTS), |over| over.title).to_owned(),
        y_title: axis.title.to_owned(),
        y_title_logarithmic: axis.logarithmic.to_owned(),
        quantity: axis.quantity,
        is_measured: over.is_some_and(|over| over.is_measured),
        begins_at_zero: true,
        columns,
        panels,
    };
    let data = over.is_none().then(|| curve_data(page, &chart.panels, axis.quantity));
    let labels =
        Labels { id: &id, title: &title, description: &description, percent: page.lang.percent };
    let chart = Drawn::of(labels, |drawing| chart.draw(drawing));
    ChartFigure { id, title, topic: None, captions, chart, data }
}

/// Id of the first, second ... figure of a kind.
pub(in crate::html) fn part_id(id: &str, i: usize) -> String {
    if i == 0 { id.to_owned() } else { format!("{id}-{}", i + 1) }
}

/// Returns true when a metric has figures at more than one number of clients: a single one makes no
/// curve, and the tables have its figures.
pub(in crate::html) fn has_panels(page: &Page<'_>, metric: ComparisonMetric) -> bool {
    let series = page.model.panel(metric).into_iter().flat_map(|panel| &panel.series);
    let points = series.flat_map(|series| &series.points).filter(|point| point.estimate.is_some());
    points.map(|point| point.clients).collect::<BTreeSet<_>>().len() > 1
}

/// Charts of metrics over clients: a row of panels per facet, a column per metric.
pub(in crate::html) fn curve_figures(
    page: &Page<'_>,
    id: &str,
    title: &str,
    y_titles: &[(ComparisonMetric, &str)],
    axis: Axis,
    notes: &[String],
) -> Vec<ChartFigure> {
    let present: Vec<_> = y_titles.iter().filter(|(metric, _)| has_panels(page, *metric)).collect();
    if present.is_empty() {
        return Vec::new();
    }
    let rows_per_figure = (PANELS / present.len()).max(1);
    let (drawn, lone) = worth_drawing(page, y_titles);
    let chunks: Vec<&[Facet]> = drawn.chunks(rows_per_figure).collect();
    let mut figures = Vec::new();
    for (i, facets) in chunks.iter().enumerate() {
        let mut panels: Vec<CurvePanel> = facets
            .iter()
            .flat_map(|facet| {
                present
                    .iter()
                    .map(move |(metric, y_title)| metric_panel(page, facet, *metric, y_title))
            })
            .collect();
        let mut captions = vec![points_caption(page, &panels)];
        captions.extend_from_slice(notes);
        if !lone.is_empty() {
            captions.push(fill!(
                page::CHART_CAPTION_LONE,
                page.lang,
                series = list(page.lang, &lone)
            ));
        }
        add_published(page, facets, &present, &mut panels, &mut captions);
        let columns = (present.len() > 1).then_some(present.len());
        let name = (part_id(id, i), title.to_owned());
        figures.push(curves(page, name, (None, axis), columns, panels, captions));
    }
    figures
}

/// The panels without those of a single point, if others have more; and the lines that are omitted
/// with them.
fn worth_drawing<'a>(
    page: &Page<'a>,
    y_titles: &[(ComparisonMetric, &str)],
) -> (Vec<Facet>, Vec<&'a str>) {
    let series = || {
        y_titles
            .iter()
            .filter_map(|(metric, _)| page.model.panel(*metric))
            .flat_map(|it| &it.series)
    };
    let dots = |facet: &Facet| {
        let is_its_own = |series: &&PanelSeries| {
            facet.members.iter().any(|member| member.series == series.series)
        };
        let points = series()
            .filter(is_its_own)
            .flat_map(|series| series.points.iter().map(move |it| (series, it)));
        points.map(|(series, point)| (series.series, point.clients)).collect::<BTreeSet<_>>().len()
    };
    let (drawn, lone): (Vec<&Facet>, Vec<&Facet>) =
        page.facets.all.iter().partition(|facet| dots(facet) > 1);
    if drawn.is_empty() {
        return (page.facets.all.clone(), Vec::new());
    }
    let has_points = |at: usize| series().any(|it| it.series == at && !it.points.is_empty());
    let names =
        lone.iter().flat_map(|facet| &facet.members).filter(|member| has_points(member.series));
    let names = names.map(|member| page.model.series[member.series].label.as_str()).collect();
    (drawn.into_iter().cloned().collect(), names)
}

fn names_of(panels: &[CurvePanel]) -> Vec<&str> {
    distinct(panels.iter().flat_map(|panel| &panel.curves).map(|curve| curve.label.as_str()))
}

pub(in crate::html) fn metric_panel(
    page: &Page<'_>,
    facet: &Facet,
    metric: ComparisonMetric,
    y_title: &str,
) -> CurvePanel {
    let panel = page.model.panel(metric);
    let curves = facet.members.iter().filter_map(|member| {
        let series = panel?.series.iter().find(|series| series.series == member.series)?;
        Some(measured_curve(page, member, series, metric))
    });
    let title = match (facet.title.is_empty(), y_title.is_empty()) {
        (true, _) => y_title.to_owned(),
        (false, true) => facet.heading().to_owned(),
        (false, false) => {
            fill!(page::CHART_PANEL_OF, page.lang, group = facet.short, metric = y_title)
        }
    };
    CurvePanel {
        title,
        curves: curves.collect(),
        limits: limits(page, metric),
        ..CurvePanel::default()
    }
}

/// Limits on a metric, with their labels.
pub(in crate::html) fn limits(page: &Page<'_>, metric: ComparisonMetric) -> Vec<(f64, String)> {
    let rows = page.model.limits.iter().filter(|row| row.part.is_none());
    let of_metric = rows.filter(|row| row.metric.metric() == Some(metric));
    let label = |row: &LimitRow| {
        fill!(page::CHART_LIMIT, page.lang, value = figures::limit_value(row.metric, row.value))
    };
    distinct(of_metric.map(|row| (row.value, label(row))))
}

fn measured_curve(
    page: &Page<'_>,
    member: &Member,
    series: &PanelSeries,
    metric: ComparisonMetric,
) -> Curve {
    let points = series.points.iter().map(|point| curve_point(page, member.series, point, metric));
    Curve {
        label: member.label.clone(),
        slot: member.slot,
        style: Style::Measured,
        points: points.collect(),
    }
}

/// A point of a series, at its number of clients.
pub(in crate::html) fn curve_point(
    page: &Page<'_>,
    series: usize,
    point: &PanelPoint,
    metric: ComparisonMetric,
) -> CurvePoint {
    let quantity = Quantity::of(metric);
    let label = &page.model.series[series].label;
    let interval = point.estimate.as_ref().and_then(figures::drawn_interval);
    let stands = |dot: &&RepeatDot| {
        page.model.trials.iter().any(|trial| trial.id == dot.trial && trial.stood_still())
    };
    let (valid, unusable): (Vec<&RepeatDot>, _) = point.repeats.iter().partition(|it| it.is_valid);
    let values = |dots: Vec<&RepeatDot>| dots.iter().map(|dot| dot.value).collect();
    let clients = names::clients(&[point.clients], page.lang);
    let estimate = point
        .estimate
        .as_ref()
        .filter(|_| page.model.configurations.len() <= TOOLTIP_CONFIGURATIONS_MAX);
    let tooltip = estimate.map_or_else(String::new, |estimate| {
        let value = figures::bounded(spelled(quantity, estimate.mean), estimate.is_bound);
        match interval {
            None => fill!(page::CHART_TIP_PLAIN, page.lang, series = label, clients, value),
            Some((low, high)) => {
                let (low, high) = (spelled(quantity, low), spelled(quantity, high));
                let repeats = estimate.repeats;
                fill!(
                    page::CHART_TIP,
                    page.lang,
                    series = label,
                    clients,
                    value,
                    low,
                    high,
                    repeats
                )
            }
        }
    });
    CurvePoint {
        x: f64::from(point.clients),
        value: point.estimate.as_ref().map(|estimate| estimate.mean),
        is_bound: point.estimate.is_some_and(|estimate| estimate.is_bound),
        interval,
        repeats: values(valid),
        unusable: values(unusable),
        stood: if metric == ComparisonMetric::Throughput {
            point.repeats.iter().filter(stands).map(|dot| dot.value).collect()
        } else {
            Vec::new()
        },
        tooltip,
    }
}

/// Caption that explains points, bars and dots, with n.
pub(in crate::html) fn points_caption(page: &Page<'_>, panels: &[CurvePanel]) -> String {
    let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let counts = || points().filter(|point| point.value.is_some()).map(|point| point.repeats.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let crosses = points().any(|point| !point.unusable.is_empty());
    let crosses = crosses.then(|| page.text(&page::CHART_CAPTION_CROSSES));
    let with_crosses = |caption: &str| {
        [Some(caption), crosses].into_iter().flatten().collect::<Vec<_>>().join(page.lang.space)
    };
    if most < 2 {
        return with_crosses(page.text(&page::CHART_CAPTION_SINGLE));
    }
    let has_bars = points().any(|point| point.interval.is_some());
    let message = if has_bars { &page::CHART_CAPTION_POINTS } else { &page::CHART_CAPTION_DOTS };
    let caption =
        with_crosses(&fill!(message, page.lang, repeats = repeats_text(page, fewest, most)));
    let reach = points().filter_map(|point| point.value).fold(0.0, f64::max);
    let is_wide = points().filter_map(|point| point.interval).any(|(_, high)| high > reach * 1.4);
    if is_wide {
        [&caption, page.text(&page::CHART_CAPTION_WIDE)].join(page.lang.space)
    } else {
        caption
    }
}

pub(in crate::html) fn repeats_text(page: &Page<'_>, fewest: usize, most: usize) -> String {
    if fewest == most {
        format!("n = {most}")
    } else {
        let range = fill!(page::CHART_REPEATS_RANGE, page.lang, min = fewest, max = most);
        format!("n = {range}")
    }
}

/// Adds published figures: to the panels of their metric if they have a similar magnitude,
/// otherwise to a separate panel.
fn add_published(
    page: &Page<'_>,
    facets: &[Facet],
    y_titles: &[&(ComparisonMetric, &str)],
    panels: &mut Vec<CurvePanel>,
    captions: &mut Vec<String>,
) {
    let largest = |curves: &[Curve]| {
        let points = curves.iter().flat_map(|curve| &curve.points);
        points.filter_map(|point| point.value).fold(0.0, f64::max)
    };
    for (column, (metric, _)) in y_titles.iter().enumerate() {
        let series: Vec<(usize, &PublishedSeries)> = page
            .model
            .published
            .iter()
            .enumerate()
            .filter(|(_, s)| s.metric == *metric && !s.points.is_empty())
            .collect();
        if series.is_empty() {
            continue;
        }
        let curves: Vec<Curve> = series.iter().map(|(i, s)| published_curve(page, *i, s)).collect();
        let own = panels.iter().skip(column).step_by(y_titles.len());
        let ours = own.map(|panel| largest(&panel.curves)).fold(0.0, f64::max);
        let factor = largest(&curves) / ours;
        let is_of_our_size = (1.0 / PUBLISHED_FACTOR..=PUBLISHED_FACTOR).contains(&factor);
        let mut sources: Vec<&str> = series.iter().map(|(_, s)| s.source.as_str()).collect();
        sources.dedup();
        let sources = sources.join(page.lang.semicolon);
        if is_of_our_size || y_titles.len() > 1 {
            // A grid of several metrics has no room for an additional panel; its axis is
            // logarithmic if magnitudes differ.
            for (facet, panel) in
                facets.iter().zip(panels.iter_mut().skip(column).step_by(y_titles.len()))
            {
                let beside = series
                    .iter()
                    .zip(&curves)
                    .filter(|((_, series), _)| is_beside(page, series, facet));
                panel.curves.extend(beside.map(|(_, curve)| curve.clone()));
            }
            captions.push(fill!(page::CHART_CAPTION_PUBLISHED, page.lang, sources));
        } else {
            let title = page.text(&page::CHART_PUBLISHED_PANEL).to_owned();
            // A single panel of measured figures has no title; next to the published one it needs
            // one.
            for panel in panels.iter_mut().filter(|panel| panel.title.is_empty()) {
                page.text(&page::CHART_MEASURED_PANEL).clone_into(&mut panel.title);
            }
            panels.push(CurvePanel { title, curves, has_own_axis: true, ..CurvePanel::default() });
            captions.push(fill!(page::CHART_CAPTION_PUBLISHED_ASIDE, page.lang, sources));
        }
    }
}

/// Whether published figures of a system belong to a panel: it must have a curve of that system.
fn is_beside(page: &Page<'_>, series: &PublishedSeries, facet: &Facet) -> bool {
    series.system.is_none_or(|system| {
        facet.members.iter().any(|member| page.model.series[member.series].system == system)
    })
}

fn published_curve(page: &Page<'_>, i: usize, series: &PublishedSeries) -> Curve {
    let own = page.facets.slot_of_name(&series.series);
    let own = own.or_else(|| page.facets.slot_of_system(page.model, series.system?));
    let message = if series.is_approximate {
        &page::CHART_PUBLISHED_APPROXIMATE
    } else {
        &page::CHART_PUBLISHED_LABEL
    };
    let label = fill!(message, page.lang, series = series.series);
    let quantity = Quantity::of(series.metric);
    let point = |point: &PublishedPoint| {
        let (clients, value) =
            (names::clients(&[point.clients], page.lang), spelled(quantity, point.value));
        let tooltip = fill!(page::CHART_TIP_PLAIN, page.lang, series = label, clients, value);
        let x = f64::from(point.clients);
        CurvePoint { x, value: Some(point.value), tooltip, ..CurvePoint::default() }
    };
    let points = series.points.iter().map(point).collect();
    let slot = own.unwrap_or(Slot(page.facets.names() + i));
    Curve { points, label, slot, style: Style::Published }
}

/// The figures of a chart as a table: a row per series, a column per number of clients.
pub(in crate::html) fn curve_data(
    page: &Page<'_>,
    panels: &[CurvePanel],
    quantity: Quantity,
) -> Markup {
    let levels = levels_of(panels);
    let clients = levels.iter().map(|level| names::clients(&[*level as u32], page.lang));
    let heads: Vec<String> =
        [page.text(&headings::SYSTEM).to_owned()].into_iter().chain(clients).collect();
    html! {
        div.wide { table.stacked style=(titles_of_cells(heads.iter().map(String::as_str))) {
            thead { tr { @for (at, head) in heads.iter().enumerate() { th class=(if at == 0 { "l" } else { "n" }) scope="col" { (head) } } } }
            @for panel in panels {
                tbody {
                    @if !panel.title.is_empty() {
                        tr { th.group scope="rowgroup" colspan=(levels.len() + 1) { (panel.title) } }
                    }
                    @for curve in &panel.curves {
                        tr {
                            th scope="row" { (curve.label) }
                            @for level in &levels {
                                td.n { (data_cell(page, curve, *level, quantity)) }
                            }
                        }
                    }
                }
            }
        } }
    }
}

fn data_cell(page: &Page<'_>, curve: &Curve, level: f64, quantity: Quantity) -> Markup {
    let point = curve.points.iter().find(|point| (point.x - level).abs() < 0.5);
    let Some((point, value)) = point.and_then(|point| point.value.map(|value| (point, value)))
    else {
        return html! { (page.text(&headings::ABSENT)) };
    };
    let shown = if quantity == Quantity::Percent {
        figures::percent(value)
    } else {
        spelled(quantity, value)
    };
    html! {
        (figures::bounded(page.lang.figure(shown), point.is_bound))
        @if let Some((low, high)) = point.interval {
            " " br; span.pm { (spelled(quantity, low.max(0.0))) " – " (spelled(quantity, high)) }
        }
    }
}

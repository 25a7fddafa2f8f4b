//! Charts over the number of rows, which are the main charts for growing tables.

use crate::chart::curves::CurvePoint;
use crate::chart::frame::Drawn;
use crate::chart::growth::{GrowthChart, GrowthCurve, GrowthPanel};
use crate::chart::palette::Slot;
use crate::chart::svg::Labels;
use crate::chart::text::{Quantity, spelled};
use crate::figures;
use crate::html::facets::{Facet, Member};
use crate::html::page::{ChartFigure, Page};
use crate::messages::{Message, conclusion, fill, growth as texts, list, names, page};
use dyno_analysis::model::{
    Conclusion, Figures, Growth, GrowthPoint, GrowthSeries, Metric, PublishedRows, PublishedSeries,
};
use std::collections::BTreeSet;

/// A published curve is drawn if its number of rows is at most this multiple of the measured one.
const PUBLISHED_REACH: f64 = 1.25;

/// Definition of a panel: its title, quantity, upper end of the axis, figure, and the divisor of
/// the figure.
type Definition = (&'static Message, Quantity, Option<f64>, Metric, f64);

const PANELS: [Definition; 6] = [
    (&texts::GROWTH_PANEL_RATE, Quantity::Number, None, Metric::RowThroughput, 1.0),
    (&texts::GROWTH_PANEL_CPU, Quantity::Percent, Some(100.0), Metric::HostCpu, 1.0),
    (&texts::GROWTH_PANEL_READ, Quantity::Number, None, Metric::DiskRead, 1e6),
    (&texts::GROWTH_PANEL_WRITTEN, Quantity::Number, None, Metric::DiskWritten, 1e6),
    (&texts::GROWTH_PANEL_BUSY, Quantity::Percent, Some(100.0), Metric::DiskBusy, 1.0),
    (&texts::GROWTH_PANEL_DATA, Quantity::Number, None, Metric::Data, 1e6),
];

/// One figure per facet and number of clients; none without a growing table.
pub(in crate::html) fn charts(page: &Page<'_>) -> Vec<ChartFigure> {
    let Some(growth) = &page.model.growth else { return Vec::new() };
    let clients: BTreeSet<u32> = growth
        .series
        .iter()
        .map(|series| page.model.configurations[series.configuration].clients)
        .collect();
    let facets_and_clients = page
        .facets
        .all
        .iter()
        .flat_map(|facet| clients.iter().map(move |clients| (facet, *clients)));
    let drawn = facets_and_clients.filter_map(|(facet, at)| {
        let series = facet
            .members
            .iter()
            .filter_map(|member| Some((member, series(page, growth, member, at)?)));
        let series: Vec<(&Member, &GrowthSeries)> = series.collect();
        (!series.is_empty()).then_some((facet, at, series))
    });
    let is_one_of_many = clients.len() > 1;
    drawn
        .enumerate()
        .map(|(i, (facet, at, series))| {
            let group = match (facet.title.is_empty(), is_one_of_many) {
                (_, false) => facet.title.clone(),
                (true, true) => names::clients(&[at], page.lang),
                (false, true) => names::series_at(&facet.title, at, page.lang),
            };
            figure(page, growth, facet, i, &group, &series)
        })
        .collect()
}

fn series<'a>(
    page: &Page<'_>,
    growth: &'a Growth,
    member: &Member,
    clients: u32,
) -> Option<&'a GrowthSeries> {
    growth.series.iter().find(|series| {
        let row = &page.model.configurations[series.configuration];
        row.series == member.series && row.clients == clients
    })
}

fn figure(
    page: &Page<'_>,
    growth: &Growth,
    facet: &Facet,
    i: usize,
    group: &str,
    series: &[(&Member, &GrowthSeries)],
) -> ChartFigure {
    let warning = title(page, series);
    let title = match (warning, group.is_empty()) {
        (Some(warning), _) => warning,
        (None, true) => page.text(&texts::GROWTH).to_owned(),
        (None, false) => names::labelled(page.text(&texts::GROWTH), group, page.lang),
    };
    let end = growth.milestones.last().copied().unwrap_or(growth.rows_before) as f64;
    let mut panels: Vec<GrowthPanel> = PANELS
        .iter()
        .enumerate()
        .map(|(metric, of)| panel(page, growth, series, of, metric == 0))
        // Omits quantities that were measured at most once.
        .filter(|panel| {
            let seen = |curve: &GrowthCurve| {
                curve.marks.iter().filter(|mark| mark.value.is_some()).count()
            };
            panel.curves.iter().any(|curve| seen(curve) > 1)
        })
        .collect();
    if let Some(first) = panels.first_mut() {
        first.curves.extend(published(page, end));
    }
    let names: Vec<&str> = series.iter().map(|(member, _)| member.label.as_str()).collect();
    let id = if i == 0 { "growth".to_owned() } else { format!("growth-{}", i + 1) };
    let blocks = series.iter().map(|(_, series)| series.trials.len()).max().unwrap_or(0);
    let description = fill!(texts::GROWTH_DESCRIPTION, page.lang, series = list(page.lang, &names));
    let chart = GrowthChart {
        x_title: page.text(&texts::GROWTH_AXIS).to_owned(),
        rows: (growth.rows_before as f64, end),
        panels,
    };
    let mut captions = vec![fill!(texts::GROWTH_CAPTION, page.lang, blocks)];
    if !facet.title.is_empty() || !group.is_empty() {
        captions.insert(0, group.to_owned());
    }
    let shown = page.model.published.iter().filter(|series| !series.over_rows.is_empty());
    let sources: Vec<&str> = shown.map(|series| series.source.as_str()).collect();
    if !sources.is_empty() {
        let sources = sources.join(page.lang.semicolon);
        captions.push(fill!(page::CHART_CAPTION_PUBLISHED, page.lang, sources));
    }
    let labels =
        Labels { id: &id, title: &title, description: &description, percent: page.lang.percent };
    let chart = Drawn::of(labels, |drawing| chart.draw(drawing));
    ChartFigure { id, title, topic: None, captions, chart, data: None }
        .about(page.text(&texts::GROWTH))
}

/// The first conclusion about configurations of this figure.
fn title(page: &Page<'_>, series: &[(&Member, &GrowthSeries)]) -> Option<String> {
    let is_here = |configuration: usize| {
        series.iter().any(|(_, series)| series.configuration == configuration)
    };
    let found = page.model.conclusions.iter().find(|conclusion| match conclusion {
        Conclusion::GrowthCrossing { before, .. } => {
            is_here(before.leader) && is_here(before.other)
        }
        Conclusion::GrowthLead { lead } => is_here(lead.leader) && is_here(lead.other),
        Conclusion::GrowthSteps { configuration, .. } => is_here(*configuration),
        _ => false,
    });
    found.map(|conclusion| conclusion::sentence(page.model, conclusion, page.lang))
}

fn panel(
    page: &Page<'_>,
    growth: &Growth,
    series: &[(&Member, &GrowthSeries)],
    (title, quantity, max, metric, divisor): &Definition,
    with_trials: bool,
) -> GrowthPanel {
    let curve = |(member, series): &(&Member, &GrowthSeries)| {
        let mark = |(step, figures): (usize, &Figures)| {
            let (from, to) = growth.bounds(step);
            let estimate = figures.estimate(*metric);
            let tooltip = estimate.map_or_else(String::new, |estimate| {
                let value = spelled(*quantity, estimate.mean / divisor);
                let (from, to) = (figures::count(from), figures::count(to));
                fill!(texts::GROWTH_TIP, page.lang, series = member.label, from, to, value)
            });
            CurvePoint {
                x: f64::midpoint(from as f64, to as f64),
                value: estimate.map(|estimate| estimate.mean / divisor),
                interval: estimate
                    .and_then(|estimate| figures::drawn_interval(&estimate))
                    .map(|(low, high)| (low / divisor, high / divisor)),
                tooltip,
                ..CurvePoint::default()
            }
        };
        let trials = series.trials.iter().filter(|trial| with_trials && trial.is_usable);
        let repeats = trials.map(|trial| {
            let position = |p: &GrowthPoint| {
                (f64::midpoint(p.rows_from as f64, p.rows_to as f64), p.rows_per_second)
            };
            trial.points.iter().map(position).collect()
        });
        GrowthCurve {
            label: member.label.clone(),
            slot: member.slot,
            is_published: false,
            marks: series.steps.iter().enumerate().map(mark).collect(),
            repeats: repeats.collect(),
        }
    };
    GrowthPanel {
        title: page.text(title).to_owned(),
        quantity: *quantity,
        max: *max,
        curves: series.iter().map(curve).collect(),
    }
}

/// Published curves whose rows are on the axis.
fn published(page: &Page<'_>, end: f64) -> Vec<GrowthCurve> {
    let series = page.model.published.iter().enumerate().filter(|(_, series)| {
        series.over_rows.last().is_some_and(|point| point.rows as f64 <= end * PUBLISHED_REACH)
    });
    let curve = |(i, series): (usize, &PublishedSeries)| {
        let message = match series.is_approximate {
            true => &page::CHART_PUBLISHED_APPROXIMATE,
            false => &page::CHART_PUBLISHED_LABEL,
        };
        let mark = |point: &PublishedRows| CurvePoint {
            x: point.rows as f64,
            value: Some(point.value),
            ..CurvePoint::default()
        };
        GrowthCurve {
            label: fill!(message, page.lang, series = series.series),
            slot: Slot(page.facets.names() + i),
            is_published: true,
            marks: series.over_rows.iter().map(mark).collect(),
            repeats: Vec::new(),
        }
    };
    series.map(curve).collect()
}

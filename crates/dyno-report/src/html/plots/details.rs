//! Details of each configuration, collapsed: statements, distribution, timeline, trials.

use crate::cell::Cell;
use crate::chart::svg::Labels;
use crate::chart::timeline::{Moment, TimelineChart, TrialTimeline};
use crate::figures;
use crate::grid;
use crate::html::errors::ErrorPanel;
use crate::html::heat_map;
use crate::html::page::{ChartFigure, Page};
use crate::html::percentiles;
use crate::html::resources::{Panel, panels};
use crate::messages::{columns, fill, headings, names, notes, page};
use crate::{tables, words};
use dyno_analysis::model::{
    LoadPoint, Metric, PartKind, ReportModel, Scope, Timeline, TimelinePoint,
};
use dyno_model::fault::FaultRecord;
use dyno_model::plan::LoadBy;
use dyno_model::warning::Warning;
use maud::{Markup, html};

/// Maximum number of points in the lines of a configuration's charts, which keeps a page of many
/// configurations small.
struct Detail {
    seconds: usize,
    /// For the distribution of all trials combined, and of each alone.
    points: [usize; 2],
}

impl Detail {
    fn of(page: &Page<'_>) -> Self {
        match page.model.configurations.len() {
            ..=24 => Self { seconds: 120, points: [80, 40] },
            25..=60 => Self { seconds: 60, points: [50, 20] },
            _ => Self { seconds: 18, points: [32, 10] },
        }
    }
}

pub(in crate::html) fn section(page: &Page<'_>) -> Markup {
    let detail = Detail::of(page);
    let is_binned = step(page, &page.model.timelines.iter().collect::<Vec<_>>()) > 1;
    html! {
        section #details {
            h2 { (page.text(&page::PAGE_DETAILS)) }
            p { (page.text(&page::PAGE_DETAILS_NOTE)) }
            // Once for all charts, not below each.
            p.note {
                (page.text(&page::CHART_CAPTION_TIMELINE)) (page.lang.space) (page.text(&page::CHART_CAPTION_PERCENTILES)) (page.lang.space)
                (page.text(&notes::NOTE_MERGED))
                @if !page.model.heat_maps.is_empty() { (page.lang.space) (page.text(&page::CHART_CAPTION_HEAT)) }
                @if is_binned { (page.lang.space) (page.text(&page::CHART_CAPTION_BINNED)) }
            }
            @for configuration in 0..page.model.configurations.len() {
                details.configuration id={ "t" (configuration) } {
                    (summary(page, configuration))
                    (statements(page, configuration))
                    @if let Some(figure) = percentiles::of_configuration(page, configuration, detail.points) { (figure.markup(page)) }
                    @if let Some(figure) = timeline(page, configuration).filter(|_| !page.is_alone()) { (figure.markup(page)) }
                    @if let Some(figure) = heat_map::of_configuration(page, configuration).filter(|_| !page.is_alone()) { (figure.markup(page)) }
                    (trials(page, configuration))
                }
            }
        }
    }
}

fn summary(page: &Page<'_>, configuration: usize) -> Markup {
    let row = &page.model.configurations[configuration];
    html! {
        summary {
            b { (grid::unbroken(&names::configuration(page.model, configuration, page.lang))) }
            @if let Some(throughput) = &row.figures.estimate(Metric::Throughput) {
                span { (page.cell(&Cell::estimate(Some(throughput), None))) "\u{a0}" (figures::symbol(throughput.unit)) }
            }
            span { (page.chip(words::validity(row.validity))) }
        }
    }
}

fn statements(page: &Page<'_>, configuration: usize) -> Markup {
    let of = page.model.statements.iter().filter(|table| table.configuration == configuration);
    let table = tables::statements(page.model, of, page.lang).without_groups();
    let caption = format!("{} (ms)", page.text(&headings::STATEMENTS));
    if table.is_empty() {
        html! {}
    } else {
        grid::table(table, &caption, page.lang)
    }
}

/// The timeline of a configuration's trials.
pub(in crate::html) fn timeline(page: &Page<'_>, configuration: usize) -> Option<ChartFigure> {
    drawn(page, configuration, "s", page.text(&headings::TIMELINE).to_owned(), panels)
}

/// The timeline without the activity of machine and server.
pub(in crate::html) fn commit_charts(page: &Page<'_>, configuration: usize) -> Option<ChartFigure> {
    let name = names::configuration(page.model, configuration, page.lang);
    drawn(page, configuration, "f", name, |_| Vec::new())
}

fn drawn<'a>(
    page: &Page<'a>,
    configuration: usize,
    suffix: &str,
    heading: String,
    panels: impl FnOnce(&[&'a Timeline]) -> Vec<&'static Panel>,
) -> Option<ChartFigure> {
    let timelines: Vec<&Timeline> = page
        .model
        .timelines
        .iter()
        .filter(|t| t.configuration == configuration && !t.points.is_empty())
        .collect();
    if timelines.is_empty() {
        return None;
    }
    let step = step(page, &timelines);
    let name = names::configuration(page.model, configuration, page.lang);
    let title = fill!(page::CHART_TITLE_TIMELINE, page.lang, configuration = name);
    let id = format!("t{configuration}{suffix}");
    let panels = panels(&timelines);
    let row = page.model.faults.iter().find(|row| row.configuration == configuration);
    let errors = row.and_then(|_| ErrorPanel::of(&timelines));
    let description = fill!(page::CHART_DESCRIPTION_TIMELINE, page.lang, trials = timelines.len());
    let labels =
        Labels { id: &id, title: &title, description: &description, percent: page.lang.percent };
    let chart = TimelineChart {
        x_title: page.text(&page::CHART_SECONDS).to_owned(),
        throughput_title: page.text(&columns::THROUGHPUT).to_owned(),
        latency_title: page.text(&page::CHART_TIME).to_owned(),
        median_label: page.text(&page::CHART_MEDIAN).to_owned(),
        p99_label: page.text(&page::CHART_P99).to_owned(),
        tracks: (errors.iter().map(|errors| errors.track(page)))
            .chain(panels.iter().map(|panel| panel.track(page)))
            .collect(),
        repeats: timelines
            .iter()
            .map(|timeline| TrialTimeline {
                tracks: (errors.iter().map(|errors| errors.intervals(timeline, step)))
                    .chain(panels.iter().map(|panel| panel.intervals(timeline, step)))
                    .collect(),
                ..trial_timeline(page, timeline, step)
            })
            .collect(),
    };
    let faults = row.map(|row| {
        fill!(page::CHART_CAPTION_FAULTS, page.lang, faults = names::faults(row, page.lang))
    });
    let captions = panels.iter().map(|panel| page.text(panel.caption).to_owned());
    let captions =
        errors.iter().map(|_| page.text(&page::CHART_CAPTION_ERRORS).to_owned()).chain(captions);
    let staged = stages(page.model, configuration).next();
    let stages = staged.map(|_| page.text(&page::CHART_CAPTION_STAGES).to_owned());
    let offered = staged.filter(|(by, _)| *by == LoadBy::Rate);
    let offered = offered.map(|_| page.text(&page::CHART_CAPTION_OFFERED).to_owned());
    let captions = faults.into_iter().chain(stages).chain(offered).chain(captions).collect();
    let chart = page.drawn(labels, |drawing| chart.draw(drawing));
    Some(ChartFigure { id, title: heading, topic: None, captions, chart, data: None })
}

/// The stages of a configuration: what their load is given by, and its profile.
fn stages(
    model: &ReportModel,
    configuration: usize,
) -> impl Iterator<Item = (LoadBy, &[LoadPoint])> {
    let rows = model.parts(Scope::Stage).filter(move |row| row.configuration == configuration);
    rows.filter_map(|row| match &row.part {
        PartKind::Stage { by, profile } => Some((*by, profile.as_slice())),
        _ => None,
    })
}

/// Number of timeline intervals that are merged into one step of the line.
fn step(page: &Page<'_>, timelines: &[&Timeline]) -> usize {
    let longest = timelines.iter().map(|timeline| timeline.points.len()).max().unwrap_or(0);
    longest.div_ceil(Detail::of(page).seconds).max(1)
}

fn trial_timeline(page: &Page<'_>, timeline: &Timeline, step: usize) -> TrialTimeline {
    let trial = page.model.trials.iter().find(|trial| trial.id == timeline.trial);
    let block = timeline.block;
    let unusable = trial.map(|trial| trial.state).filter(|state| !state.is_usable());
    let title = match unusable {
        None => fill!(page::CHART_BLOCK, page.lang, block),
        Some(state) => {
            let state = words::state(state).text(page.lang);
            fill!(page::CHART_BLOCK_STATE, page.lang, block, state)
        }
    };
    let window =
        timeline.points.iter().find(|point| !point.is_warmup).map_or(0.0, |point| point.start_s);
    // In the grace period, clients that wait for an answer commit nothing, and no other client is
    // active.
    let closes =
        trial.and_then(|trial| Some(window + trial.figures.as_ref()?.value(Metric::WindowLength)?));
    let is_empty = |point: &&TimelinePoint| {
        point.throughput == Some(0.0)
            && !point.is_warmup
            && closes.is_none_or(|closes| point.start_s < closes - 0.01)
    };
    let empty = timeline.points.iter().filter(is_empty);
    let mut stalls: Vec<(f64, f64)> = empty.map(|p| (p.start_s, p.start_s + p.length_s)).collect();
    for warning in trial.map_or(&[][..], |trial| &trial.warnings) {
        if let Warning::Stall { longest_gap, at, .. } = warning {
            stalls.push((window + at, window + at + longest_gap));
        }
    }
    let stages: Vec<_> = stages(page.model, timeline.configuration).collect();
    let points = || stages.iter().flat_map(|(_, profile)| profile.iter());
    let rates = points().filter(|_| stages.iter().all(|(by, _)| *by == LoadBy::Rate));
    TrialTimeline {
        stages: stages
            .iter()
            .skip(1)
            .filter_map(|(_, profile)| Some(profile.first()?.at_s))
            .collect(),
        // The warm-up has the initial load of the first stage.
        offered: rates
            .clone()
            .take(1)
            .map(|first| (0.0, first.load))
            .chain(rates.map(|it| (it.at_s, it.load)))
            .collect(),
        title,
        points: binned(&timeline.points, step),
        stalls,
        faults: faults_of(page, timeline)
            .iter()
            .map(|fault| window + fault.at.as_secs_f64())
            .collect(),
        tracks: Vec::new(),
    }
}

fn faults_of<'a>(page: &Page<'a>, timeline: &Timeline) -> &'a [FaultRecord] {
    let row = page.model.faults.iter().find(|row| row.configuration == timeline.configuration);
    let trial = row.and_then(|row| row.trials.iter().find(|trial| trial.trial == timeline.trial));
    trial.map_or(&[], |trial| &trial.faults)
}

/// Merges `step` intervals: the mean throughput, the median of the medians, the maximum of the 99th
/// percentiles. Warm-up and measured window are never mixed.
fn binned(points: &[TimelinePoint], step: usize) -> Vec<Moment> {
    let phases = points.chunk_by(|a, b| a.is_warmup == b.is_warmup);
    phases.flat_map(|phase| phase.chunks(step.max(1)).map(bin)).collect()
}

fn bin(points: &[TimelinePoint]) -> Moment {
    let first = &points[0];
    let length: f64 = points.iter().map(|point| point.length_s).sum();
    // Weighted by length; intervals too short for a rate are ignored.
    let rates = || points.iter().filter_map(|point| Some((point.throughput?, point.length_s)));
    let rated: f64 = rates().map(|(_, length)| length).sum();
    let committed: f64 = rates().map(|(rate, length)| rate * length).sum();
    let mut medians: Vec<f64> = points.iter().filter_map(|point| point.p50_ms).collect();
    medians.sort_by(f64::total_cmp);
    Moment {
        start: first.start_s,
        length,
        is_warmup: first.is_warmup,
        throughput: (rated > 0.0).then(|| committed / rated),
        median: medians.get(medians.len() / 2).copied(),
        p99: points.iter().filter_map(|point| point.p99_ms).max_by(f64::total_cmp),
    }
}

fn trials(page: &Page<'_>, configuration: usize) -> Markup {
    let table = tables::trials(page.model, Some(configuration), page.lang);
    grid::table(table, page.text(&headings::TRIALS), page.lang)
}

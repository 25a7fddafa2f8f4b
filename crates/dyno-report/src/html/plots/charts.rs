//! The figures of the page's main part: converts the model's panels to charts, with titles that
//! state the result.

use crate::chart::curves::{Curve, CurvePanel, CurvePoint, Style, levels_of};
use crate::chart::text::Quantity;
use crate::figures;
use crate::html::curve_figures::{
    Axis, Over, PANELS, TOOLTIP_CONFIGURATIONS_MAX, curve_figures, curves, has_panels, limits,
    part_id, repeats_text, time_axis, times,
};
use crate::html::facets::{Facet, Member};
use crate::html::page::{ChartFigure, Page};
use crate::html::percentiles::percentiles;
use crate::html::titles;
use crate::messages::{conclusion, fill, list, names, page};
use dyno_analysis::model::{AuditRow, Conclusion, MeanTimelinePoint, Metric, Scope, TrialRow};
use dyno_model::lists::distinct;
use dyno_model::plan::ComparisonMetric;

/// The figures of the main part, most important first, and the collapsed ones. The selection
/// depends on the experiment: timelines of trials with faults or stages, questions if there are
/// several, the timeline of a single configuration, growth over rows, otherwise curves over
/// clients.
pub(in crate::html) fn charts(page: &Page<'_>) -> (Vec<ChartFigure>, Vec<ChartFigure>) {
    if page.is_alone() && page.model.growth.is_none() {
        let figures = crate::html::searches::figure(page)
            .into_iter()
            .chain(crate::html::details::timeline(page, 0));
        let figures = figures.chain(crate::html::heat_map::of_configuration(page, 0));
        return (figures.chain(percentiles(page)).collect(), Vec::new());
    }
    let is_changing = |configuration: &usize| {
        page.model.faults.iter().any(|row| row.configuration == *configuration)
            || page.model.parts(Scope::Stage).any(|row| row.configuration == *configuration)
    };
    let changing = (0..page.model.configurations.len()).filter(is_changing);
    let timelines: Vec<ChartFigure> = changing
        .filter_map(|configuration| crate::html::details::commit_charts(page, configuration))
        .collect();
    let (main, more) = over_clients(page);
    match timelines.is_empty() {
        true => (main, more),
        false => (timelines, main.into_iter().chain(more).collect()),
    }
}

/// The figures of an experiment that compares configurations.
fn over_clients(page: &Page<'_>) -> (Vec<ChartFigure>, Vec<ChartFigure>) {
    // If nothing was lost, a sentence says more than a chart of zeros.
    let has_losses = page
        .model
        .configurations
        .iter()
        .any(|row| row.figures.value(Metric::LostPercent) > Some(0.0));
    let mut kinds = vec![crate::html::forests::questions(page).into_iter().collect()];
    kinds.push(if has_losses { lost_updates(page) } else { Vec::new() });
    kinds.push(crate::html::growth::charts(page));
    let mut folded = Vec::new();
    // One number of clients makes no curve, and the mean over a growing table is not a suitable
    // main figure.
    let is_one_point =
        page.model.configurations.windows(2).all(|pair| pair[0].clients == pair[1].clients);
    if page.model.growth.is_none() || !is_one_point {
        let is_given = page.model.primary_metric != ComparisonMetric::Throughput;
        let (searches, over_rate) =
            (crate::html::searches::figure(page), crate::html::latency_throughput::over_rate(page));
        let is_reported = (over_rate.is_some() || searches.is_some()) && is_one_point;
        kinds.push(searches.into_iter().collect());
        kinds.push(over_rate.into_iter().collect());
        if !is_given {
            kinds.push(throughput(page));
        }
        // Three panels for each of many groups would fill a page, and the next chart includes mean
        // response times.
        if is_reported {
            // The same figures, unordered.
        } else if page.facets.all.len() <= 2 {
            kinds.push(response_time(page));
        } else {
            folded = response_time(page);
        }
        if is_one_point && !is_reported {
            kinds.push(timelines(page).into_iter().collect());
        }
        kinds.push(crate::html::latency_throughput::over_throughput(page).into_iter().collect());
        kinds.push(run_order(page).into_iter().collect());
    }
    let (mut main, mut more) = (Vec::new(), folded);
    for mut figures in kinds {
        // If a figure has several parts, the first is representative; two charts of growth are two
        // separate answers.
        more.extend(figures.split_off(figures.len().min(if page.model.growth.is_some() {
            2
        } else {
            1
        })));
        main.extend(figures);
    }
    let percentiles = percentiles(page);
    if percentiles.len() == 1 {
        main.extend(percentiles);
    } else {
        more.extend(percentiles);
    }
    (main, more)
}

fn throughput(page: &Page<'_>) -> Vec<ChartFigure> {
    let title = titles::throughput(page, crate::html::forests::questions(page).is_some());
    let metric = [(ComparisonMetric::Throughput, "")];
    let mut captions = Vec::new();
    let losers: Vec<&str> = losing_lines(page);
    if !losers.is_empty() {
        let series = list(page.lang, &losers);
        captions.push(fill!(page::CHART_CAPTION_NOT_KEPT, page.lang, series));
    }
    if page.model.trials.iter().any(TrialRow::stood_still) {
        captions.push(page.text(&page::CHART_CAPTION_STOOD).to_owned());
    }
    let axis = Axis {
        title: page.text(&page::CHART_THROUGHPUT),
        logarithmic: page.text(&page::CHART_THROUGHPUT_LOG),
        quantity: Quantity::Number,
    };
    let figures = curve_figures(page, "throughput", &title, &metric, axis, &captions).into_iter();
    figures.map(|figure| figure.about(page.text(&page::CHART_TITLE_THROUGHPUT))).collect()
}

fn losing_lines<'a>(page: &Page<'a>) -> Vec<&'a str> {
    let losing = page.model.audits.iter().filter(|audit| audit.has_lost_commits());
    let series = |audit: &AuditRow| {
        page.model.series[page.model.configurations[audit.configuration].series].label.as_str()
    };
    distinct(losing.map(series))
}

fn response_time(page: &Page<'_>) -> Vec<ChartFigure> {
    let metrics = times(page, page.facets.all.len());
    let axis = time_axis(page);
    let answer = titles::answer(page, &metrics.map(|(metric, _)| metric));
    let title = answer.unwrap_or_else(|| page.text(&page::CHART_TITLE_TIME).to_owned());
    let has_percentiles = metrics
        .iter()
        .any(|(metric, _)| *metric != ComparisonMetric::MeanMs && has_panels(page, *metric));
    let note = has_percentiles.then(|| page.text(&page::CHART_CAPTION_TIME).to_owned());
    let captions: Vec<String> = note.into_iter().collect();
    let figures =
        curve_figures(page, "response-time", &title, &metrics, axis, &captions).into_iter();
    figures.map(|figure| figure.about(page.text(&page::CHART_TITLE_TIME))).collect()
}

/// Timelines of throughput, for experiments with a single number of clients.
fn timelines(page: &Page<'_>) -> Option<ChartFigure> {
    let curve = |member: &Member| {
        let configuration =
            page.model.configurations.iter().position(|row| row.series == member.series)?;
        let point = |point: &MeanTimelinePoint| CurvePoint {
            x: point.at_s,
            value: Some(point.throughput),
            ..CurvePoint::default()
        };
        let points: Vec<CurvePoint> =
            page.model.mean_timeline(configuration).iter().map(point).collect();
        let (label, slot) = (member.label.clone(), member.slot);
        (points.len() > 1).then_some(Curve { label, slot, style: Style::TimeSeries, points })
    };
    let panel = |facet: &Facet| {
        let curves: Vec<Curve> = facet.members.iter().filter_map(curve).collect();
        let (title, limits) =
            (facet.heading().to_owned(), limits(page, ComparisonMetric::Throughput));
        (!curves.is_empty()).then(|| CurvePanel { title, curves, limits, ..CurvePanel::default() })
    };
    let panels: Vec<CurvePanel> = page.facets.all.iter().filter_map(panel).take(PANELS).collect();
    if panels.is_empty() {
        return None;
    }
    let axis = Axis {
        title: page.text(&page::CHART_THROUGHPUT),
        logarithmic: page.text(&page::CHART_THROUGHPUT_LOG),
        quantity: Quantity::Number,
    };
    let title = page.text(&crate::messages::compare::CHART_THROUGHPUT_OVER_TIME).to_owned();
    let over = Over { title: page.text(&page::CHART_SECONDS), is_measured: true };
    Some(curves(
        page,
        ("timelines".to_owned(), title),
        (Some(over), axis),
        None,
        panels,
        Vec::new(),
    ))
}

/// Lost updates over clients, in panels with more than one point.
fn lost_updates(page: &Page<'_>) -> Vec<ChartFigure> {
    // Skips panels without losses.
    let panels = page.facets.all.iter().map(|facet| lost_panel(page, facet)).filter(|panel| {
        panel.curves.iter().flat_map(|curve| &curve.points).any(|point| point.value > Some(0.0))
    });
    let (drawn, lone): (Vec<CurvePanel>, Vec<CurvePanel>) =
        panels.partition(|panel| levels_of([panel]).len() > 1);
    // A single point has its figure in the sentence above the chart and in the table.
    let lone: Vec<&str> = lone.iter().map(|panel| panel.title.as_str()).collect();
    let part = |(i, panels): (usize, &[CurvePanel])| {
        let title = page.text(&page::CHART_LOST);
        let axis = Axis { title, logarithmic: title, quantity: Quantity::Percent };
        let name = (part_id("lost-updates", i), lost_title(page));
        curves(page, name, (None, axis), None, panels.to_vec(), lost_captions(page, panels, &lone))
            .about(page.text(&page::CHART_TITLE_LOST))
    };
    drawn.chunks(PANELS).enumerate().map(part).collect()
}

fn lost_panel(page: &Page<'_>, facet: &Facet) -> CurvePanel {
    let audited = |configuration: usize| {
        let audit = page.model.audits.iter().find(|audit| audit.configuration == configuration)?;
        audit.commits.as_ref()
    };
    let curves = facet.members.iter().map(|member| {
        let rows = page
            .model
            .configurations
            .iter()
            .enumerate()
            .filter(|(_, row)| row.series == member.series);
        let mut points: Vec<CurvePoint> = rows
            .filter_map(|(configuration, row)| {
                let commits = audited(configuration)?;
                let label = &page.model.series[member.series].label;
                let clients = names::clients(&[row.clients], page.lang);
                let value = figures::percent(commits.lost_percent);
                let tooltip =
                    fill!(page::CHART_TIP_PLAIN, page.lang, series = label, clients, value);
                Some(CurvePoint {
                    x: f64::from(row.clients),
                    value: Some(commits.lost_percent),
                    repeats: commits.lost_percent_by_trial.clone(),
                    tooltip,
                    ..CurvePoint::default()
                })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Curve { label: member.label.clone(), slot: member.slot, style: Style::Measured, points }
    });
    let curves: Vec<Curve> = curves.filter(|curve| !curve.points.is_empty()).collect();
    CurvePanel { title: facet.heading().to_owned(), curves, ..CurvePanel::default() }
}

/// Captions: the marks, the definition of a loss, and the `lone` panels of a single point, which
/// are not drawn.
fn lost_captions(page: &Page<'_>, panels: &[CurvePanel], lone: &[&str]) -> Vec<String> {
    let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let counts = || points().map(|point| point.repeats.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let has_lines =
        page.model.configurations.windows(2).any(|pair| pair[0].clients != pair[1].clients);
    let repeats = repeats_text(page, fewest, most);
    let marks = match (most, has_lines) {
        (..2, _) => page.text(&page::CHART_CAPTION_SINGLE).to_owned(),
        (_, true) => fill!(page::CHART_CAPTION_LOST, page.lang, repeats),
        (_, false) => fill!(page::CHART_CAPTION_LOST_AT_ONE, page.lang, repeats),
    };
    let marks = [&marks, page.text(&page::CHART_CAPTION_LOST_MEANS)].join(page.lang.space);
    let lone = (!lone.is_empty())
        .then(|| fill!(page::CHART_CAPTION_LONE, page.lang, series = list(page.lang, lone)));
    [marks].into_iter().chain(lone).collect()
}

/// The primary metric of every trial, relative to the mean of its configuration, in run order;
/// `None` without repeats.
fn run_order(page: &Page<'_>) -> Option<ChartFigure> {
    if page.model.provenance.blocks < 2 {
        return None;
    }
    let mut curves_of: Vec<Curve> = Vec::new();
    for (position, trial, ratio) in page.model.run_order() {
        let series = page.model.configurations[trial.configuration].series;
        let member = page
            .facets
            .all
            .iter()
            .flat_map(|facet| &facet.members)
            .find(|it| it.series == series)?;
        let has_tooltip = page.model.configurations.len() <= TOOLTIP_CONFIGURATIONS_MAX;
        let tooltip = if has_tooltip {
            format!("{}: {}", trial.id, figures::ratio(ratio))
        } else {
            String::new()
        };
        let stood = if trial.stood_still() { vec![ratio] } else { Vec::new() };
        let point = CurvePoint {
            x: position as f64,
            value: Some(ratio),
            stood,
            tooltip,
            ..CurvePoint::default()
        };
        match curves_of.iter_mut().find(|curve| curve.label == member.label) {
            Some(curve) => curve.points.push(point),
            None => curves_of.push(Curve {
                label: member.label.clone(),
                slot: member.slot,
                style: Style::Points,
                points: vec![point],
            }),
        }
    }
    let panels =
        vec![CurvePanel { title: String::new(), curves: curves_of, ..CurvePanel::default() }];
    let metric = names::metric(page.model.primary_metric, page.lang);
    let title = page.text(&page::CHART_OF_MEAN);
    let axis = Axis { title, logarithmic: title, quantity: Quantity::Ratio };
    let name = ("run-order".to_owned(), fill!(page::CHART_TITLE_RUN_ORDER, page.lang, metric));
    let captions = vec![page.text(&page::CHART_CAPTION_RUN_ORDER).to_owned()];
    let over = Over { title: page.text(&page::CHART_RUN_ORDER), is_measured: true };
    (!panels[0].curves.is_empty())
        .then(|| curves(page, name, (Some(over), axis), None, panels, captions))
}

/// The worst loss as a sentence.
fn lost_title(page: &Page<'_>) -> String {
    let losses = page.model.conclusions.iter().filter_map(|c| match c {
        Conclusion::LostUpdates { percent_max, .. } => Some((*percent_max, c)),
        _ => None,
    });
    losses.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or_else(
        || page.text(&page::CHART_TITLE_LOST).to_owned(),
        |(_, c)| conclusion::sentence(page.model, c, page.lang),
    )
}

//! The chart of saturation searches: the limited metric over the load, with the limit, and the
//! highest load that passed.

use crate::chart::curves::{Curve, CurvePanel, CurvePoint, Style};
use crate::chart::palette::{SLOTS, Slot};
use crate::chart::text::Quantity;
use crate::figures;
use crate::html::curve_figures::{Axis, Over, curves, time_axis};
use crate::html::page::{ChartFigure, Page};
use crate::messages::{conclusion, fill, headings, page};
use dyno_analysis::model::{SearchRow, SearchStep};
use dyno_model::limit::LimitMetric;
use dyno_model::plan::LoadBy;
use dyno_model::search::Outcome;

/// All loads that were tested; `None` without a search, or if there are too many lines to
/// distinguish.
pub(in crate::html) fn figure(page: &Page<'_>) -> Option<ChartFigure> {
    let rows = &page.model.searches;
    let search = &rows.first()?.search;
    if rows.len() >= SLOTS {
        return None;
    }
    let limit = figures::limit_of(search);
    let label = |row: &SearchRow| conclusion::searched(page.model, row, page.lang);
    let point = |label: &str, step: &SearchStep| {
        let step = &step.step;
        let at = CurvePoint { x: step.load, ..CurvePoint::default() };
        match (step.outcome, step.figure) {
            (Outcome::Passed, Some(figure)) => {
                let load = conclusion::load(search.most, &figures::digits(step.load), page.lang);
                let reported =
                    figures::bounded(figures::of_limit(search.metric, figure), step.is_bound);
                let value = format!("{reported}, {} tx/s", figures::digits(step.throughput));
                let tooltip =
                    fill!(page::CHART_TIP_PLAIN, page.lang, series = label, clients = load, value);
                CurvePoint { value: Some(figure), tooltip, ..at }
            }
            (Outcome::Failed, Some(figure)) => CurvePoint { unusable: vec![figure], ..at },
            // A load without a figure is drawn on the limit, so that it is visible.
            (_, figure) => CurvePoint { stood: vec![figure.unwrap_or(search.below)], ..at },
        }
    };
    let curve = |(slot, row): (usize, &SearchRow)| {
        let label = label(row);
        let mut points: Vec<CurvePoint> =
            row.steps.iter().map(|step| point(&label, step)).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Curve { label, slot: Slot(slot), style: Style::Points, points }
    };
    let mut all: Vec<Curve> =
        rows.iter().enumerate().map(curve).filter(|it| !it.points.is_empty()).collect();
    let steps = || rows.iter().flat_map(|row| &row.steps).map(|step| &step.step);
    steps().next()?;
    let found = |row: &SearchRow| Some(page.model.estimate(row.configuration, row.metric())?.mean);
    let mut met: Vec<f64> = rows.iter().filter_map(found).collect();
    met.sort_by(f64::total_cmp);
    let at_limit = |x| CurvePoint { x, value: Some(search.below), ..CurvePoint::default() };
    let points: Vec<CurvePoint> = met.into_iter().map(at_limit).collect();
    if !points.is_empty() {
        let label = crate::tiles::name(page.model.primary_metric, page.lang);
        all.push(Curve { label, slot: Slot(rows.len()), style: Style::Published, points });
    }
    let value = figures::limit_value(search.metric, search.below);
    let limits = vec![(search.below, fill!(page::CHART_LIMIT, page.lang, value))];
    let panels = vec![CurvePanel { curves: all, limits, ..CurvePanel::default() }];
    let (over, axis) = axes(page, search.most, search.metric);
    let title = page.text(&page::CHART_TITLE_SEARCH).to_owned();
    let mut captions = vec![fill!(page::CHART_CAPTION_SEARCH, page.lang, limit)];
    let open = steps().filter(|step| step.figure.is_none()).count();
    if open > 0 {
        captions.push(fill!(page::CHART_CAPTION_SEARCH_OPEN, page.lang, count = open));
    }
    Some(curves(page, ("searches".to_owned(), title), (Some(over), axis), None, panels, captions))
}

fn axes(page: &Page<'_>, most: LoadBy, metric: LimitMetric) -> (Over, Axis) {
    let title = match most {
        LoadBy::Rate => &page::CHART_OFFERED,
        LoadBy::Clients => &headings::CLIENTS,
    };
    let over = Over { title: page.text(title), is_measured: true };
    let axis = match metric {
        LimitMetric::Failed => {
            let title = page.text(&page::CHART_FAILED);
            Axis { title, logarithmic: title, quantity: Quantity::Number }
        }
        _ => time_axis(page),
    };
    (over, axis)
}

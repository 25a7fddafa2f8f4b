//! Percentile plots: the series of a facet at the largest number of clients, and each configuration
//! alone.

use crate::chart::palette::Slot;
use crate::chart::percentiles::{Distribution, PercentileChart};
use crate::chart::svg::Labels;
use crate::html::facets::Facet;
use crate::html::page::{ChartFigure, Page};
use crate::messages::{fill, headings, list, names, page};
use dyno_analysis::model::{PercentileCurve, PercentilePoint};

/// Maximum number of facets with a plot.
const FACETS: usize = 6;

/// One plot per facet, at the largest number of clients.
pub(in crate::html) fn percentiles(page: &Page<'_>) -> Vec<ChartFigure> {
    let curves = &page.model.percentile_curves;
    let at = |curve: &PercentileCurve| page.model.configurations[curve.configuration].clients;
    let Some(clients) = curves.iter().map(at).max() else { return Vec::new() };
    let facets = page.facets.all.iter().take(FACETS).enumerate();
    facets.filter_map(|(i, facet)| of_facet(page, facet, i, clients)).collect()
}

fn of_facet(page: &Page<'_>, facet: &Facet, i: usize, clients: u32) -> Option<ChartFigure> {
    let curve_of = |series: usize| {
        page.model.percentile_curves.iter().find(|curve| {
            let row = &page.model.configurations[curve.configuration];
            row.series == series && row.clients == clients
        })
    };
    let distribution = |member: &crate::html::facets::Member| {
        Some(distribution(curve_of(member.series)?, member.label.clone(), member.slot, [80, 40]))
    };
    let curves: Vec<Distribution> = facet.members.iter().filter_map(distribution).collect();
    let at = names::clients(&[clients], page.lang);
    let title = if facet.title.is_empty() {
        fill!(page::CHART_TITLE_PERCENTILES, page.lang, clients = at)
    } else {
        fill!(page::CHART_TITLE_PERCENTILES_OF, page.lang, group = facet.title, clients = at)
    };
    let height = if page.facets.all.len() > 1 { 240.0 } else { 270.0 };
    // In a sequence of such charts, only the first has captions.
    let captions = (i == 0).then(|| page.text(&page::CHART_CAPTION_PERCENTILES).to_owned());
    let figure = ChartFigure {
        captions: captions.into_iter().collect(),
        ..figure(page, format!("percentiles-{}", i + 1), title, height, curves)?
    };
    Some(figure)
}

/// The plot of one configuration, with a maximum number of points for all its trials combined and
/// for each alone.
pub(in crate::html) fn of_configuration(
    page: &Page<'_>,
    configuration: usize,
    points: [usize; 2],
) -> Option<ChartFigure> {
    let curve =
        page.model.percentile_curves.iter().find(|curve| curve.configuration == configuration)?;
    let name = names::configuration(page.model, configuration, page.lang);
    let title = fill!(page::CHART_TITLE_DISTRIBUTION, page.lang, configuration = name);
    let curves = vec![distribution(curve, name, Slot(0), points)];
    let figure = figure(page, format!("t{configuration}d"), title, 230.0, curves)?;
    Some(ChartFigure { title: page.text(&headings::PERCENTILES).to_owned(), ..figure })
}

fn distribution(
    curve: &PercentileCurve,
    label: String,
    slot: Slot,
    [merged, repeat]: [usize; 2],
) -> Distribution {
    let positions = |points: &Vec<PercentilePoint>, most: usize| {
        thinned(points, most).iter().map(|point| (point.one_in, point.value_ms)).collect()
    };
    let repeats = curve.repeats.iter().map(|points| positions(points, repeat)).collect();
    Distribution { label, slot, merged: positions(&curve.merged, merged), repeats }
}

fn figure(
    page: &Page<'_>,
    id: String,
    title: String,
    height: f64,
    curves: Vec<Distribution>,
) -> Option<ChartFigure> {
    if curves.is_empty() {
        return None;
    }
    let names: Vec<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
    let description =
        fill!(page::CHART_DESCRIPTION_PERCENTILES, page.lang, series = list(page.lang, &names));
    let chart = PercentileChart {
        x_title: page.text(&page::CHART_PERCENTILE).to_owned(),
        y_title: page.text(&page::CHART_TIME_LOG).to_owned(),
        height,
        curves,
    };
    let labels =
        Labels { id: &id, title: &title, description: &description, percent: page.lang.percent };
    let chart = page.drawn(labels, |drawing| chart.draw(drawing));
    Some(ChartFigure { id, title, topic: None, captions: Vec::new(), chart, data: None })
}

/// Reduces the points to at most `most`, evenly by position; the first and the last are always
/// kept.
fn thinned<T: Copy>(points: &[T], most: usize) -> Vec<T> {
    if points.len() <= most || most < 2 {
        return points.to_vec();
    }
    (0..most).map(|i| points[i * (points.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends() {
        let points: Vec<usize> = (0..1000).collect();
        let shown = thinned(&points, 40);
        assert_eq!((shown.len(), shown[0], shown[39]), (40, 0, 999));
        assert_eq!(thinned(&points[..3], 40), [0, 1, 2]);
        assert!(thinned::<usize>(&[], 40).is_empty());
    }
}

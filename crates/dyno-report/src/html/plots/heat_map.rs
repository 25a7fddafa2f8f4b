//! Latency heat maps: response times over the course of a trial.

use crate::chart::heat_map::{HeatChart, HeatMapColumn};
use crate::chart::svg::Labels;
use crate::chart::text::{Quantity, axis_label};
use crate::figures;
use crate::html::page::{ChartFigure, Page};
use crate::messages::{fill, names, page};
use dyno_analysis::model::{HeatColumn, HeatMap};

/// The heat map of a configuration, if it has one.
pub(in crate::html) fn of_configuration(
    page: &Page<'_>,
    configuration: usize,
) -> Option<ChartFigure> {
    let map = page.model.heat_maps.iter().find(|map| map.configuration == configuration)?;
    let name = names::configuration(page.model, configuration, page.lang);
    let id = format!("t{configuration}h");
    let trial = &map.trial;
    let labels = Labels {
        id: &id,
        title: &fill!(page::CHART_TITLE_HEAT, page.lang, trial, configuration = name),
        description: &fill!(page::CHART_DESCRIPTION_HEAT, page.lang, trial),
        percent: page.lang.percent,
    };
    let stretch = |column: &HeatColumn| HeatMapColumn {
        start: column.start_s,
        length: column.length_s,
        counts: column.counts.clone(),
        tooltip: tooltip(page, map, column),
    };
    let chart = HeatChart {
        x_title: page.text(&page::CHART_SECONDS).to_owned(),
        y_title: page.text(&page::CHART_TIME).to_owned(),
        key_title: page.text(&page::CHART_HEAT_KEY).to_owned(),
        bands: map.bands_ms.clone(),
        columns: map.columns.iter().map(stretch).collect(),
    };
    // With many configurations, the caption appears once for all.
    let captions = page.is_alone().then(|| page.text(&page::CHART_CAPTION_HEAT).to_owned());
    let title = fill!(page::CHART_HEAT_OF, page.lang, trial);
    let chart = page.drawn(labels, |drawing| chart.draw(drawing));
    Some(ChartFigure {
        id,
        title,
        topic: None,
        captions: captions.into_iter().collect(),
        chart,
        data: None,
    })
}

/// `12.0 to 13.0 s: 3,420 committed, most in 0.75 ms to 1.0 ms, none took more than 5.6 ms`.
fn tooltip(page: &Page<'_>, map: &HeatMap, column: &HeatColumn) -> String {
    let end = column.start_s + column.length_s;
    let (from, to) = (format!("{:.1}", column.start_s), format!("{end:.1}"));
    // Of equal counts, the fastest band.
    let most = column.counts.iter().enumerate().rev().max_by_key(|(_, count)| **count);
    let last = column.counts.iter().rposition(|count| *count > 0);
    let Some(((most, _), last)) = most.zip(last) else {
        return fill!(page::CHART_TIP_HEAT_NOTHING, page.lang, from, to);
    };
    let time = |band: usize| {
        axis_label(Quantity::Time, map.bands_ms.get(band).copied().unwrap_or_default(), 1.0)
    };
    let committed = figures::count(column.counts.iter().sum());
    let [low, high, longest] = [most, most + 1, last + 1].map(time);
    fill!(page::CHART_TIP_HEAT, page.lang, from, to, committed, low, high, longest)
}

//! Charts of latency against throughput: over throughput in a closed loop, over the arrival rate in
//! an open loop.

use crate::chart::curves::{Curve, CurvePanel, CurvePoint, Style};
use crate::chart::palette::{SLOTS, Slot};
use crate::chart::text::{Quantity, spelled};
use crate::figures;
use crate::html::curve_figures::{
    Over, PANELS, curve_point, curves, limits, points_caption, time_axis, times,
};
use crate::html::facets::{Facet, Member};
use crate::html::page::{ChartFigure, Page};
use crate::html::titles;
use crate::messages::{fill, names, page};
use dyno_analysis::model::{PanelPoint, RatePoint, RateSeries};
use dyno_model::plan::ComparisonMetric;

/// The mean response time over throughput, a line from the smallest number of clients to the
/// largest; `None` with an arrival rate.
pub(in crate::html) fn over_throughput(page: &Page<'_>) -> Option<ChartFigure> {
    let model = page.model;
    let series_of = |metric: ComparisonMetric, series: usize| {
        model.panel(metric).and_then(|panel| panel.series.iter().find(|it| it.series == series))
    };
    let curve = |member: &Member| {
        let (rates, times) = (
            series_of(ComparisonMetric::Throughput, member.series)?,
            series_of(ComparisonMetric::MeanMs, member.series)?,
        );
        let point = |rate: &PanelPoint| {
            let time =
                times.points.iter().find(|time| time.clients == rate.clients)?.estimate?.mean;
            let x = rate.estimate?.mean;
            let value = format!("{} tx/s, {}", figures::digits(x), spelled(Quantity::Time, time));
            let clients = names::clients(&[rate.clients], page.lang);
            let tooltip =
                fill!(page::CHART_TIP_PLAIN, page.lang, series = member.label, clients, value);
            Some(CurvePoint { x, value: Some(time), tooltip, ..CurvePoint::default() })
        };
        let points: Vec<CurvePoint> = rates.points.iter().filter_map(point).collect();
        let curve = Curve {
            label: member.label.clone(),
            slot: member.slot,
            style: Style::Measured,
            points,
        };
        (curve.points.len() > 2).then_some(curve)
    };
    let panel = |facet: &Facet| {
        let curves: Vec<Curve> = facet.members.iter().filter_map(curve).collect();
        let title = facet.heading().to_owned();
        (!curves.is_empty()).then_some(CurvePanel { title, curves, ..CurvePanel::default() })
    };
    let panels: Vec<CurvePanel> = page.facets.all.iter().filter_map(panel).take(PANELS).collect();
    if panels.is_empty() || model.has_open_loop() {
        return None;
    }
    let clients = || model.configurations.iter().map(|row| row.clients);
    let [first, last] =
        [clients().min()?, clients().max()?].map(|clients| names::clients(&[clients], page.lang));
    let captions = vec![fill!(page::CHART_CAPTION_TRADE, page.lang, first, last)];
    let name = ("trade".to_owned(), page.text(&page::CHART_TITLE_TRADE).to_owned());
    let over = Some(Over { title: page.text(&page::CHART_THROUGHPUT), is_measured: true });
    Some(curves(page, name, (over, time_axis(page)), None, panels, captions))
}

/// Response times over the arrival rate, a line for each combination of the other factors; `None`
/// if the rate is not a factor, or if there are too many lines to distinguish.
pub(in crate::html) fn over_rate(page: &Page<'_>) -> Option<ChartFigure> {
    let model = page.model;
    if model.rates.is_empty() || model.rates.len() > SLOTS {
        return None;
    }
    let has_clients = model.rates.windows(2).any(|pair| pair[0].clients != pair[1].clients);
    let label = |series: &RateSeries| match has_clients {
        true => names::series_at(&series.label, series.clients, page.lang),
        false => series.label.clone(),
    };
    let metrics = times(page, 1);
    let panel = |(metric, title): &(ComparisonMetric, &str)| {
        let series = &model.panel(*metric)?.series;
        let point = |at: &RatePoint| {
            let found = series
                .iter()
                .flat_map(|series| &series.points)
                .find(|it| it.configuration == at.configuration)?;
            let series = model.configurations[at.configuration].series;
            Some(CurvePoint { x: at.offered, ..curve_point(page, series, found, *metric) })
        };
        let curve = |(slot, series): (usize, &RateSeries)| Curve {
            label: label(series),
            slot: Slot(slot),
            style: Style::Measured,
            points: series.points.iter().filter_map(point).collect(),
        };
        let curves = model.rates.iter().enumerate().map(curve).collect();
        let (title, limits) = ((*title).to_owned(), limits(page, *metric));
        Some(CurvePanel { title, curves, limits, ..CurvePanel::default() })
    };
    let panels: Vec<CurvePanel> = metrics.iter().filter_map(panel).collect();
    let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    if points().filter(|point| point.value.is_some()).count() < 2 {
        return None;
    }
    let answer = titles::answer(page, &metrics.map(|(metric, _)| metric));
    let title = answer.unwrap_or_else(|| page.text(&page::CHART_TITLE_RATES).to_owned());
    let mut captions =
        vec![points_caption(page, &panels), page.text(&page::CHART_CAPTION_RATES).to_owned()];
    if points().any(|point| point.value.is_none()) {
        captions.push(page.text(&page::CHART_CAPTION_RATES_END).to_owned());
    }
    let over = Over { title: page.text(&page::CHART_OFFERED), is_measured: false };
    let columns = Some(panels.len());
    let figure = curves(
        page,
        ("over-rate".to_owned(), title),
        (Some(over), time_axis(page)),
        columns,
        panels,
        captions,
    );
    Some(figure.about(page.text(&page::CHART_TITLE_RATES)))
}

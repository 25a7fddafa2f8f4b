//! A small chart of a figure over the runs.

use crate::chart::curves::{Curve, CurveChart, CurvePanel, CurvePoint, Style};
use crate::chart::frame::Drawn;
use crate::chart::palette::Slot;
use crate::chart::svg::Labels;
use crate::chart::text::{Quantity, spelled};
use crate::exports::series::{Point, Series};
use crate::figures;
use crate::messages::{Lang, fill, history, names, page};
use crate::metrics;
use dyno_analysis::model::{Provenance, ReportModel};
use maud::{Markup, PreEscaped, html};

/// With more runs than this, a chart takes the width of the page.
const SMALL_MAX: usize = 24;

/// The chart of a series of this configuration.
pub(super) fn figure(
    runs: &[ReportModel],
    series: &Series,
    configuration: &str,
    id: &str,
    lang: Lang,
) -> Markup {
    let title = crate::tiles::name(series.metric, lang);
    let quantity = Quantity::of(series.metric);
    let heading = metrics::heading(series.metric.into()).filter(|_| quantity == Quantity::Number);
    // The labels of an axis of times have their units.
    let y_title = heading.map_or("", |heading| heading.text(lang));
    let points = (1..).zip(runs).zip(&series.points);
    let points =
        points.map(|((x, run), point)| self::point(x, &run.provenance, point.as_ref(), lang));
    let curve = Curve {
        label: String::new(),
        slot: Slot(0),
        style: Style::Measured,
        points: points.collect(),
    };
    let over = history::HISTORY_AXIS.text(lang);
    let chart = CurveChart {
        x_title: over.to_owned(),
        y_title: y_title.to_owned(),
        // Only times have logarithmic axes.
        y_title_logarithmic: page::CHART_TIME_LOG.text(lang).to_owned(),
        quantity,
        is_measured: false,
        begins_at_zero: false,
        panels: vec![CurvePanel { curves: vec![curve], ..CurvePanel::default() }],
        columns: None,
    };
    let description =
        fill!(page::CHART_DESCRIPTION_POINTS, lang, metric = title, over, series = configuration);
    let labels = Labels { id, title: &title, description: &description, percent: lang.percent };
    let drawn = match runs.len() {
        ..=SMALL_MAX => Drawn::small(labels, |drawing| chart.draw(drawing)),
        _ => Drawn::of(labels, |drawing| chart.draw(drawing)),
    };
    html! {
        figure id=(id) {
            figcaption { strong { (title) } }
            div.scroll { (PreEscaped(drawn.inline())) }
        }
    }
}

/// The mark of a run, whose number is `x`.
fn point(x: u32, run: &Provenance, point: Option<&Point>, lang: Lang) -> CurvePoint {
    let at = CurvePoint { x: f64::from(x), ..CurvePoint::default() };
    let Some(point) = point else {
        // On the axis, wherever it begins.
        return CurvePoint { unusable: vec![0.0], ..at };
    };
    let spelled = |value| spelled(Quantity::of(point.metric), value);
    let (run, started) = (&run.run, names::to_the_second(&run.started_at));
    let value = spelled(point.value);
    let tooltip = match point.interval() {
        None => fill!(history::HISTORY_TIP_PLAIN, lang, run, started, value),
        Some(interval) => {
            let (low, high) = (spelled(interval.low), spelled(interval.high));
            fill!(history::HISTORY_TIP, lang, run, started, value, low, high)
        }
    };
    CurvePoint {
        value: Some(point.value),
        interval: point.estimate.as_ref().and_then(figures::drawn_interval),
        tooltip,
        ..at
    }
}

//! The percentile plot: response time by percentile. The x axis is `1 / (1 - p)` on a logarithmic
//! scale, so that the step from 99 % to 99.9 % is as wide as that from 90 % to 99 %, because
//! systems differ most in the tail.

use super::frame::{
    Frame, Key, MEDIUM, SMALL, Tick, label_room, legend, ticks, x_axis, x_title, y_axis,
};
use super::labels::spread_out;
use super::palette::Slot;
use super::scale::{Scale, ScaleKind, rounded_out};
use super::svg::{Anchor, Chart, Drawing};
use super::text::{Quantity, width_em};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PercentileChart {
    pub(crate) x_title: String,
    /// Name of the (logarithmic) y axis.
    pub(crate) y_title: String,
    /// Height of the whole chart.
    pub(crate) height: f64,
    pub(crate) curves: Vec<Distribution>,
}

/// One series: points by ascending percentile.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Distribution {
    pub(crate) label: String,
    pub(crate) slot: Slot,
    /// `(1 / (1 - p), milliseconds)` of all repeats combined.
    pub(crate) merged: Vec<(f64, f64)>,
    /// The same for each repeat, drawn as a thin line.
    pub(crate) repeats: Vec<Vec<(f64, f64)>>,
}

/// Labelled positions of the x axis: `1 / (1 - p)`, and the percentile.
const PERCENTILES: [(f64, &str); 8] = [
    (1.0, "0"),
    (2.0, "50"),
    (10.0, "90"),
    (100.0, "99"),
    (1e3, "99.9"),
    (1e4, "99.99"),
    (1e5, "99.999"),
    (1e6, "99.9999"),
];

impl PercentileChart {
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let widest =
            self.curves.iter().map(|c| width_em(&c.label) * MEDIUM + 22.0).fold(0.0, f64::max);
        let is_labelled = self.curves.len() > 1
            && widest < 0.28 * width
            && (self.curves.len() as f64) * 15.0 < self.height - 60.0;
        // Half a label of the y axis extends above the plot area.
        let mut top = 8.0;
        if self.curves.len() > 1 && !is_labelled {
            let keys =
                self.curves.iter().map(|c| Key { label: c.label.clone(), slot: c.slot, class: "" });
            top += legend(&mut drawing, keys, 8.0, 4.0, width - 16.0);
        }
        let (y_low, y_high) = self.span();
        let probe = Scale::logarithmic(y_low, y_high, 1.0, 0.0);
        let left = (label_room(&ticks(&probe, Quantity::Time, 6)) + 20.0).ceil();
        let right = width - if is_labelled { f64::max(widest + 8.0, 24.0) } else { 24.0 };
        let frame = Frame { left, right, top, bottom: f64::max(top + 60.0, self.height - 46.0) };
        let y = Scale::logarithmic(y_low, y_high, frame.bottom, frame.top);
        let x = Scale::logarithmic(1.0, self.rarest(), frame.left, frame.right);
        y_axis(&mut drawing, frame, &ticks(&y, Quantity::Time, 6));
        let x_ticks: Vec<Tick> = PERCENTILES
            .iter()
            .filter(|(one_in, _)| x.shows(*one_in))
            .map(|(one_in, label)| Tick { position: x.at(*one_in), label: format!("{label} %") })
            .collect();
        let rules: Vec<_> = x_ticks
            .iter()
            .map(|tick| ((tick.position, frame.top), (tick.position, frame.bottom)))
            .collect();
        drawing.lines("grid", &rules);
        x_axis(&mut drawing, frame, &x_ticks);
        for curve in &self.curves {
            draw_curve(&mut drawing, curve, &x, &y, is_labelled);
        }
        if is_labelled {
            self.draw_labels(&mut drawing, &x, &y, frame);
        }
        let (middle, centre) = (frame.middle(), f64::midpoint(frame.top, frame.bottom));
        drawing.upright_text("axis-title", (14.0, centre), &self.y_title);
        let room = 2.0 * middle.min(width - middle) - 8.0;
        let more = x_title(&mut drawing, (middle, frame.bottom + 36.0), room, &self.x_title);
        drawing.finish(frame.bottom + 46.0 + more)
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.curves
            .iter()
            .flat_map(|curve| curve.merged.iter().chain(curve.repeats.iter().flatten()))
    }

    fn rarest(&self) -> f64 {
        self.points()
            .map(|(one_in, _)| *one_in)
            .filter(|one_in| one_in.is_finite())
            .fold(10.0, f64::max)
    }

    fn span(&self) -> (f64, f64) {
        let times =
            || self.points().map(|(_, time)| *time).filter(|time| time.is_finite() && *time > 0.0);
        let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        if high > 0.0 {
            rounded_out(ScaleKind::Logarithmic, low * 0.98, high * 1.02, 6)
        } else {
            (0.1, 10.0)
        }
    }

    fn draw_labels(&self, drawing: &mut Drawing, x: &Scale, y: &Scale, frame: Frame) {
        let ends: Vec<_> = self
            .curves
            .iter()
            .filter_map(|curve| {
                curve.merged.last().map(|(one_in, time)| (curve, x.at(*one_in), y.at(*time)))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, _, y)| *y).collect();
        let placed = spread_out(&wanted, SMALL + 4.0, frame.top + 2.0, frame.bottom - 2.0);
        let left = frame.right + 4.0;
        for ((curve, x, y), label) in ends.into_iter().zip(placed) {
            drawing.open(curve.slot.class());
            drawing.line("leader", (x + 5.0, y), (left, label));
            drawing.marker("mark", curve.slot, (left + 6.0, label), "");
            drawing.close();
            drawing.text("label", (left + 15.0, label + 4.0), Anchor::Start, &curve.label);
        }
    }
}

fn draw_curve(
    drawing: &mut Drawing,
    curve: &Distribution,
    x: &Scale,
    y: &Scale,
    is_labelled: bool,
) {
    let line = |points: &[(f64, f64)]| -> Vec<Option<(f64, f64)>> {
        points.iter().map(|(one_in, time)| Some((x.at(*one_in), y.at(*time)))).collect()
    };
    drawing.open(curve.slot.class());
    for repeat in &curve.repeats {
        drawing.curve("thin", &line(repeat));
    }
    drawing.curve("curve", &line(&curve.merged));
    // A label at the end of a line includes its marker.
    if let Some((one_in, time)) = curve.merged.last().filter(|_| !is_labelled) {
        drawing.marker("mark", curve.slot, (x.at(*one_in), y.at(*time)), "");
    }
    drawing.close();
}

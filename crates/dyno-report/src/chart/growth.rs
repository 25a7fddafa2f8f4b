//! Charts over the number of rows: panels one below the other on the same axis, with throughput at
//! the top and machine and disk below it.

use super::curves::CurvePoint;
use super::frame::{
    Frame, Key, Tick, is_narrow, label_room, legend, panel_title, ticks, x_axis, y_axis,
};
use super::palette::Slot;
use super::scale::{Scale, ScaleKind, or_one, rounded_out};
use super::svg::{Anchor, Chart, Drawing};
use super::text::Quantity;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GrowthChart {
    pub(crate) x_title: String,
    /// Numbers of rows at both ends of the axis.
    pub(crate) rows: (f64, f64),
    /// Panels from top to bottom.
    pub(crate) panels: Vec<GrowthPanel>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GrowthPanel {
    /// Its quantity, with the unit.
    pub(crate) title: String,
    /// The quantity on its y axis.
    pub(crate) quantity: Quantity,
    /// Upper end of its axis, unless the data determine it.
    pub(crate) max: Option<f64>,
    pub(crate) curves: Vec<GrowthCurve>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GrowthCurve {
    pub(crate) label: String,
    pub(crate) slot: Slot,
    /// True for published figures.
    pub(crate) is_published: bool,
    /// Means by ascending number of rows; the curve has no gaps.
    pub(crate) marks: Vec<CurvePoint>,
    /// Single trials: number of rows and value.
    pub(crate) repeats: Vec<Vec<(f64, f64)>>,
}

/// Height of the plot area of the first panel and of the others.
const FIRST: f64 = 230.0;
const OTHER: f64 = 84.0;
/// Room for a panel's title above it.
const TITLE: f64 = 30.0;
/// Factor by which intervals and single trials may extend the axis beyond the largest mean; the
/// rest is cut off.
const ALLOWANCE: f64 = 1.35;

impl GrowthCurve {
    fn key(&self) -> Key {
        let class = if self.is_published { "published" } else { "" };
        Key { label: self.label.clone(), slot: self.slot, class }
    }
}

impl GrowthPanel {
    fn max(&self) -> f64 {
        let marks = || self.curves.iter().flat_map(|curve| &curve.marks);
        let finite = |value: &f64| value.is_finite();
        let mean = marks().filter_map(|mark| mark.value).filter(finite).fold(0.0, f64::max);
        let beyond = marks().filter_map(|mark| Some(mark.interval?.1));
        let single = self
            .curves
            .iter()
            .flat_map(|curve| curve.repeats.iter().flatten())
            .map(|point| point.1);
        let all = beyond.chain(single).filter(finite).fold(mean, f64::max);
        // Without any mean, only trials determine the axis.
        let top = if mean > 0.0 { all.min(mean * ALLOWANCE) } else { all };
        self.max.unwrap_or_else(|| rounded_out(ScaleKind::Linear, 0.0, or_one(top), 3).1)
    }

    fn scale(&self, frame: Frame) -> Scale {
        Scale::linear(0.0, self.max(), frame.bottom, frame.top)
    }

    fn ticks(&self, frame: Frame) -> Vec<Tick> {
        ticks(&self.scale(frame), self.quantity, if frame.height() > 150.0 { 5 } else { 2 })
    }

    fn draw(&self, drawing: &mut Drawing, frame: Frame, x: &Scale) {
        drawing.open("panel");
        panel_title(drawing, "panel-title", frame, &self.title);
        let y = self.scale(frame);
        y_axis(drawing, frame, &self.ticks(frame));
        let (left, right) = (frame.left, frame.right);
        let position = |rows: f64, value: f64| {
            (x.at(rows).clamp(left, right), y.at(value).clamp(frame.top, frame.bottom))
        };
        for curve in &self.curves {
            drawing.open(curve.slot.class());
            for repeat in &curve.repeats {
                let points =
                    repeat.iter().filter(|(rows, value)| rows.is_finite() && value.is_finite());
                drawing.curve(
                    "thin",
                    &points.map(|(rows, value)| Some(position(*rows, *value))).collect::<Vec<_>>(),
                );
            }
            drawing.close();
        }
        for curve in &self.curves {
            let class = if curve.is_published { " published" } else { "" };
            drawing.open(&format!("{}{class}", curve.slot.class()));
            let known = |mark: &CurvePoint| mark.value.filter(|value| value.is_finite());
            let line =
                curve.marks.iter().map(|mark| known(mark).map(|value| position(mark.x, value)));
            drawing.curve("curve", &line.collect::<Vec<_>>());
            let bars = curve.marks.iter().filter_map(|mark| {
                let (low, high) =
                    mark.interval.filter(|(low, high)| low.is_finite() && high.is_finite())?;
                Some((position(mark.x, low), position(mark.x, high)))
            });
            drawing.lines("bar", &bars.collect::<Vec<_>>());
            for mark in &curve.marks {
                if let Some(value) = known(mark) {
                    drawing.marker("mark", curve.slot, position(mark.x, value), &mark.tooltip);
                }
            }
            drawing.close();
        }
        drawing.close();
    }
}

impl GrowthChart {
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let height = |i: usize| if i == 0 { FIRST } else { OTHER };
        let probe = |i: usize| Frame { left: 0.0, right: 1.0, top: 0.0, bottom: height(i) };
        let rooms =
            self.panels.iter().enumerate().map(|(i, panel)| label_room(&panel.ticks(probe(i))));
        let left = rooms.fold(30.0, f64::max) + 4.0;
        let keys = self.panels.iter().flat_map(|panel| &panel.curves).map(GrowthCurve::key);
        let mut top = 4.0 + legend(&mut drawing, keys, 8.0, 4.0, width - 16.0);
        let (from, to) = self.rows;
        let (from, to) = if to > from { (from, to) } else { (0.0, 1.0) };
        for (i, panel) in self.panels.iter().enumerate() {
            top += TITLE;
            let frame = Frame { left, right: width - 24.0, top, bottom: top + height(i) };
            let x = Scale::linear(from, to, frame.left, frame.right);
            panel.draw(&mut drawing, frame, &x);
            let is_last = i + 1 == self.panels.len();
            let labels = if is_last {
                ticks(&x, Quantity::Number, if is_narrow(width) { 4 } else { 8 })
            } else {
                Vec::new()
            };
            x_axis(&mut drawing, frame, &labels);
            top = frame.bottom;
        }
        drawing.text(
            "axis-title",
            (f64::midpoint(left, width), top + 36.0),
            Anchor::Middle,
            &self.x_title,
        );
        drawing.finish(top + 46.0)
    }
}

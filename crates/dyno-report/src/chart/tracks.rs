//! Panels below a timeline, on its axis of time: areas stacked on each other, and lines over them. Each says what a resource
//! did while throughput was as it was.

use super::frame::{Frame, MEDIUM, Tick, ticks};
use super::palette::Slot;
use super::scale::{Scale, Spread, rounded_out};
use super::svg::{Anchor, Drawing};
use super::text::{Quantity, width_em};

/// What a panel shows; all repeats have the same panels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    /// Name of its y axis.
    pub(crate) title: String,
    /// Unit of its values.
    pub(crate) quantity: Quantity,
    /// Where its axis ends, when that is not left to the data.
    pub(crate) max: Option<f64>,
    /// Names of the areas, the lowest first.
    pub(crate) areas: Vec<String>,
    /// Names of the lines.
    pub(crate) lines: Vec<String>,
}

/// What a panel shows of one repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TrackCourse {
    /// Stretches in order of time.
    pub(crate) stretches: Vec<Stretch>,
}

/// Values between two looks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Stretch {
    /// Start in seconds since the first client began.
    pub(crate) start: f64,
    /// Length in seconds.
    pub(crate) length: f64,
    /// One value per area; what was not seen is nothing.
    pub(crate) areas: Vec<Option<f64>>,
    /// One value per line.
    pub(crate) lines: Vec<Option<f64>>,
}

/// Height of a panel's plot area.
pub(super) const HEIGHT: f64 = 62.0;
/// Room for the key above it.
pub(super) const KEY: f64 = 24.0;

impl Track {
    /// The y axis that all repeats share.
    pub(super) fn scale(&self, courses: &[&TrackCourse], frame: Frame) -> Scale {
        let tops = courses.iter().flat_map(|course| &course.stretches).flat_map(|stretch| {
            let stacked: f64 = stretch.areas.iter().flatten().filter(|value| value.is_finite()).sum();
            let lines = stretch.lines.iter().flatten().copied().fold(0.0, f64::max);
            [stacked, lines]
        });
        let top = tops.filter(|top| top.is_finite()).fold(0.0, f64::max);
        let max = self.max.unwrap_or_else(|| rounded_out(Spread::Linear, 0.0, top.max(1e-9), 2).1);
        Scale::linear(0.0, max, frame.bottom, frame.top)
    }

    pub(super) fn ticks(&self, scale: &Scale) -> Vec<Tick> {
        ticks(scale, self.quantity, 2)
    }

    /// Names with what they look like, in a row that ends above `bottom`.
    pub(super) fn draw_key(&self, drawing: &mut Drawing, left: f64, bottom: f64) {
        let mut x = left;
        let names =
            self.areas.iter().map(|name| (name, true)).chain(self.lines.iter().map(|name| (name, false)));
        for (i, (name, is_area)) in names.enumerate() {
            drawing.open(&format!("track {}", Slot(i).class()));
            if is_area {
                drawing.rectangle("area", (x, bottom - 13.0), (x + 12.0, bottom - 4.0));
            } else {
                drawing.line("curve", (x, bottom - 8.0), (x + 16.0, bottom - 8.0));
            }
            drawing.close();
            let begin = x + if is_area { 16.0 } else { 20.0 };
            drawing.text("side", (begin, bottom - 4.5), Anchor::Start, name);
            x = begin + width_em(name) * MEDIUM + 12.0;
        }
    }

    /// One repeat: areas from the lowest to the highest, then lines.
    pub(super) fn draw(&self, drawing: &mut Drawing, course: &TrackCourse, x: &Scale, y: &Scale) {
        let mut ground = vec![0.0; course.stretches.len()];
        for (i, _) in self.areas.iter().enumerate() {
            let mut upper = Vec::with_capacity(2 * ground.len());
            let mut lower = Vec::with_capacity(2 * ground.len());
            for (stretch, below) in course.stretches.iter().zip(&mut ground) {
                let value = stretch.areas.get(i).copied().flatten().filter(|value| value.is_finite());
                let top = *below + value.unwrap_or(0.0).max(0.0);
                let (from, to) = (x.at(stretch.start), x.at(stretch.start + stretch.length));
                upper.extend([(from, y.at(top)), (to, y.at(top))]);
                lower.extend([(from, y.at(*below)), (to, y.at(*below))]);
                *below = top;
            }
            drawing.open(&format!("track {}", Slot(i).class()));
            drawing.band("area", &upper, &lower);
            drawing.close();
        }
        for (i, _) in self.lines.iter().enumerate() {
            let places = course.stretches.iter().flat_map(|stretch| {
                let value = stretch.lines.get(i).copied().flatten().filter(|value| value.is_finite());
                let place = |at: f64| value.map(|value| (x.at(at), y.at(value)));
                [place(stretch.start), place(stretch.start + stretch.length)]
            });
            drawing.open(&format!("track {}", Slot(self.areas.len() + i).class()));
            drawing.curve("curve", &places.collect::<Vec<_>>());
            drawing.close();
        }
    }
}

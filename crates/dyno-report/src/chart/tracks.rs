//! Panels below a timeline, on the same time axis: stacked areas with lines over them. Each shows
//! the use of a resource next to the throughput at that time.

use super::frame::{Frame, MEDIUM, Tick, ticks};
use super::palette::Slot;
use super::scale::{Scale, ScaleKind, or_one, rounded_out};
use super::svg::{Anchor, Drawing};
use super::text::{Quantity, width_em};

/// Definition of a panel; all repeats have the same panels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    /// Name of its y axis.
    pub(crate) title: String,
    /// Unit of its values.
    pub(crate) quantity: Quantity,
    /// Upper end of its axis, unless the data determine it.
    pub(crate) max: Option<f64>,
    /// Names of the areas, from bottom to top.
    pub(crate) areas: Vec<String>,
    /// Names of the lines.
    pub(crate) lines: Vec<String>,
}

/// Data of a panel for one repeat: intervals in order of time.
pub(crate) type TrackIntervals = Vec<TrackInterval>;

/// Values between two samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TrackInterval {
    /// Start in seconds since the common start.
    pub(crate) start: f64,
    /// Length in seconds.
    pub(crate) length: f64,
    /// One value per area; `None` if it was not measured.
    pub(crate) areas: Vec<Option<f64>>,
    /// One value per line.
    pub(crate) lines: Vec<Option<f64>>,
}

/// Height of a panel's plot area.
pub(super) const HEIGHT: f64 = 62.0;
/// Height of the key above it, and of each further line of the key.
const KEY: f64 = 24.0;
const KEY_LINE: f64 = 14.0;

/// Width of the sample of an area or a line before its name.
fn sample_width(is_area: bool) -> f64 {
    if is_area { 16.0 } else { 20.0 }
}

impl Track {
    /// The y axis, which all repeats share.
    pub(super) fn scale(&self, repeats: &[&TrackIntervals], frame: Frame) -> Scale {
        let tops = repeats.iter().copied().flatten().flat_map(|interval| {
            let stacked: f64 =
                interval.areas.iter().flatten().filter(|value| value.is_finite()).sum();
            let lines = interval.lines.iter().flatten().copied().fold(0.0, f64::max);
            [stacked, lines]
        });
        let top = tops.filter(|top| top.is_finite()).fold(0.0, f64::max);
        let max = self.max.unwrap_or_else(|| rounded_out(ScaleKind::Linear, 0.0, or_one(top), 2).1);
        Scale::linear(0.0, max, frame.bottom, frame.top)
    }

    pub(super) fn ticks(&self, scale: &Scale) -> Vec<Tick> {
        ticks(scale, self.quantity, 2)
    }

    /// Names of areas and lines, their x offset, and their row, for the given width.
    fn keys(&self, room: f64) -> Vec<(&str, bool, f64, usize)> {
        let areas = self.areas.iter().map(|name| (name.as_str(), true));
        let (mut at, mut line) = (0.0, 0);
        let names = areas.chain(self.lines.iter().map(|name| (name.as_str(), false)));
        names
            .map(|(name, is_area)| {
                let width = sample_width(is_area) + width_em(name) * MEDIUM;
                if at > 0.0 && at + width > room {
                    (at, line) = (0.0, line + 1);
                }
                let begin = at;
                at += width + 12.0;
                (name, is_area, begin, line)
            })
            .collect()
    }

    /// Height of the key above the plot area, for the given width.
    pub(super) fn key_height(&self, room: f64) -> f64 {
        KEY + self.keys(room).last().map_or(0.0, |(.., line)| *line as f64 * KEY_LINE)
    }

    /// Draws the key in rows that end above the position, which is the upper left corner of the
    /// plot area.
    pub(super) fn draw_key(&self, drawing: &mut Drawing, (left, bottom): (f64, f64), room: f64) {
        let keys = self.keys(room);
        let last = keys.last().map_or(0, |(.., line)| *line);
        for (i, (name, is_area, begin, line)) in keys.into_iter().enumerate() {
            let (x, y) = (left + begin, bottom - (last - line) as f64 * KEY_LINE);
            drawing.open(&format!("track {}", Slot(i).class()));
            if is_area {
                drawing.rectangle("area", (x, y - 13.0), (x + 12.0, y - 4.0));
            } else {
                drawing.line("curve", (x, y - 8.0), (x + 16.0, y - 8.0));
            }
            drawing.close();
            drawing.text("side", (x + sample_width(is_area), y - 4.5), Anchor::Start, name);
        }
    }

    /// Draws one repeat: areas from the bottom to the top, then lines.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        intervals: &TrackIntervals,
        x: &Scale,
        y: &Scale,
    ) {
        let mut ground = vec![0.0; intervals.len()];
        for (i, _) in self.areas.iter().enumerate() {
            let mut upper = Vec::with_capacity(2 * ground.len());
            let mut lower = Vec::with_capacity(2 * ground.len());
            for (interval, below) in intervals.iter().zip(&mut ground) {
                let value =
                    interval.areas.get(i).copied().flatten().filter(|value| value.is_finite());
                let top = *below + value.unwrap_or(0.0).max(0.0);
                let (from, to) = (x.at(interval.start), x.at(interval.start + interval.length));
                upper.extend([(from, y.at(top)), (to, y.at(top))]);
                lower.extend([(from, y.at(*below)), (to, y.at(*below))]);
                *below = top;
            }
            drawing.open(&format!("track {}", Slot(i).class()));
            drawing.band("area", &upper, &lower);
            drawing.close();
        }
        for (i, _) in self.lines.iter().enumerate() {
            let positions = intervals.iter().flat_map(|interval| {
                let value =
                    interval.lines.get(i).copied().flatten().filter(|value| value.is_finite());
                let position = |at: f64| value.map(|value| (x.at(at), y.at(value)));
                [position(interval.start), position(interval.start + interval.length)]
            });
            drawing.open(&format!("track {}", Slot(self.areas.len() + i).class()));
            drawing.curve("curve", &positions.collect::<Vec<_>>());
            drawing.close();
        }
    }
}

//! The latency heat map: the distribution of response times over the course of a trial, with time
//! from left to right and response time upwards; darker cells have more transactions. It shows
//! effects that percentiles hide: two kinds of transactions, a stall and the clients that waited in
//! it, a cache that warms up.

use super::frame::{Frame, MEDIUM, SMALL, Tick, is_narrow, label_room, ticks, x_axis, y_axis};
use super::scale::Scale;
use super::svg::{Anchor, Chart, Drawing, LineSegment};
use super::text::{Quantity, axis_label, shortened, width_em};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeatChart {
    pub(crate) x_title: String,
    /// Name of the (logarithmic) y axis.
    pub(crate) y_title: String,
    /// Title of the colour key.
    pub(crate) key_title: String,
    /// Lower bounds of the bands in milliseconds, ascending, and the upper bound of the last.
    pub(crate) bands: Vec<f64>,
    /// Time intervals in order.
    pub(crate) columns: Vec<HeatMapColumn>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct HeatMapColumn {
    /// Start in seconds since the common start.
    pub(crate) start: f64,
    /// Length in seconds.
    pub(crate) length: f64,
    /// Number of transactions per band.
    pub(crate) counts: Vec<u64>,
    /// Its figures as text.
    pub(crate) tooltip: String,
}

/// Number of shades, which `chart.css` defines.
const SHADES: usize = 5;
const HEIGHT: f64 = 168.0;
const TOP: f64 = 30.0;

impl HeatChart {
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let bands: Vec<f64> =
            self.bands.iter().copied().filter(|it| it.is_finite() && *it > 0.0).collect();
        let (low, high) =
            (bands.first().copied().unwrap_or(0.1), bands.last().copied().unwrap_or(10.0));
        let high = if high > low { high } else { low * 10.0 };
        // On a phone, the title of the key appears below the shades.
        let top = if is_narrow(width) { TOP + 14.0 } else { TOP };
        let probe = Frame { left: 0.0, right: 1.0, top, bottom: top + HEIGHT };
        let y = Scale::logarithmic(low, high, probe.bottom, probe.top);
        let y_ticks = ticks(&y, Quantity::Time, 5);
        let frame = Frame { left: label_room(&y_ticks) + 20.0, right: width - 8.0, ..probe };
        let is_drawn =
            |it: &&HeatMapColumn| it.start.is_finite() && it.length.is_finite() && it.length > 0.0;
        let columns: Vec<&HeatMapColumn> = self.columns.iter().filter(is_drawn).collect();
        let begin = columns.iter().map(|it| it.start).fold(f64::INFINITY, f64::min);
        let end = columns.iter().map(|it| it.start + it.length).fold(0.0, f64::max);
        let (begin, end) = if begin < end { (begin, end) } else { (0.0, 1.0) };
        let x = Scale::linear(begin, end, frame.left, frame.right);
        y_axis(&mut drawing, frame, &y_ticks);
        let shades = Shades::of(&columns);
        let mut cells: Vec<Vec<LineSegment>> = vec![Vec::new(); SHADES];
        for column in &columns {
            let (left, right) = (x.at(column.start), x.at(column.start + column.length));
            for (count, band) in column.counts.iter().zip(bands.windows(2)) {
                if let Some(shade) = shades.shade(*count, column.length) {
                    cells[shade].push(((left, y.at(band[1])), (right, y.at(band[0]))));
                }
            }
        }
        drawing.open("heat");
        for (shade, corners) in cells.iter().enumerate() {
            drawing.rectangles(&format!("l{}", shade + 1), corners);
        }
        drawing.close();
        drawing.open("columns");
        for column in columns.iter().filter(|it| !it.tooltip.is_empty()) {
            let (left, right) = (x.at(column.start), x.at(column.start + column.length));
            drawing.spot((left, frame.top), (right, frame.bottom), &column.tooltip);
        }
        drawing.close();
        let seconds = x.ticks(if is_narrow(width) { 4 } else { 8 });
        let step = seconds.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0_f64, f64::min);
        let label = |value: f64| Tick {
            position: x.at(value),
            label: axis_label(Quantity::Number, value, step),
        };
        x_axis(&mut drawing, frame, &seconds.into_iter().map(label).collect::<Vec<_>>());
        self.draw_key(&mut drawing, &shades, frame.left, width);
        drawing.upright_text(
            "axis-title",
            (12.0, f64::midpoint(frame.top, frame.bottom)),
            &self.y_title,
        );
        drawing.text(
            "axis-title",
            (frame.middle(), frame.bottom + 34.0),
            Anchor::Middle,
            &self.x_title,
        );
        drawing.finish(frame.bottom + 42.0)
    }

    /// Draws the shades with the rates at their boundaries.
    fn draw_key(&self, drawing: &mut Drawing, shades: &Shades, left: f64, width: f64) {
        const WIDE: f64 = 22.0;
        let label =
            |value: f64| axis_label(Quantity::Number, value, if value < 1.0 { 0.01 } else { 1.0 });
        let (least, most) = (label(shades.least), label(shades.most));
        drawing.text("side", (left, 16.0), Anchor::Start, &least);
        let begin = left + width_em(&least) * MEDIUM + 6.0;
        drawing.open("heat");
        for shade in 0..SHADES {
            let at = begin + shade as f64 * WIDE;
            drawing.rectangle(&format!("l{}", shade + 1), (at, 6.0), (at + WIDE, 18.0));
        }
        drawing.close();
        let end = begin + SHADES as f64 * WIDE + 6.0;
        if is_narrow(width) {
            drawing.text("side", (end, 16.0), Anchor::Start, &most);
            drawing.text(
                "side",
                (4.0, 32.0),
                Anchor::Start,
                &shortened(&self.key_title, width - 8.0, SMALL),
            );
        } else {
            let text = format!("{most} {}", self.key_title);
            drawing.text("side", (end, 16.0), Anchor::Start, &text);
        }
    }
}

/// Maps rates to shades: steps of equal factors from the smallest to the largest rate.
struct Shades {
    least: f64,
    most: f64,
}

impl Shades {
    fn of(columns: &[&HeatMapColumn]) -> Self {
        let rates = || {
            columns.iter().flat_map(|column| {
                column
                    .counts
                    .iter()
                    .filter(|count| **count > 0)
                    .map(|count| *count as f64 / column.length)
            })
        };
        let least = rates().fold(f64::INFINITY, f64::min);
        Self {
            least: if least.is_finite() { least } else { 0.0 },
            most: rates().fold(0.0, f64::max),
        }
    }

    /// `None` for a count of zero.
    fn shade(&self, count: u64, length: f64) -> Option<usize> {
        let rate = count as f64 / length;
        let share = (rate / self.least).ln() / (self.most / self.least).ln();
        let share = if share.is_finite() { share } else { 1.0 };
        (count > 0).then(|| ((share * SHADES as f64) as usize).min(SHADES - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_rise_with_the_rate_by_equal_factors() {
        let column =
            HeatMapColumn { length: 2.0, counts: vec![2, 0, 20_000], ..HeatMapColumn::default() };
        let shades = Shades::of(&[&column]);
        assert_eq!((shades.least, shades.most), (1.0, 10_000.0));
        let of = |rate: u64| shades.shade(2 * rate, 2.0);
        assert_eq!(
            [of(0), of(1), of(6), of(7), of(10_000)],
            [None, Some(0), Some(0), Some(1), Some(4)]
        );
        let alone = HeatMapColumn { length: 1.0, counts: vec![5], ..HeatMapColumn::default() };
        assert_eq!(Shades::of(&[&alone]).shade(5, 1.0), Some(4), "one rate is the largest");
    }
}

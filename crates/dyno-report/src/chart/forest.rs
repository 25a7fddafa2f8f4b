//! The forest plot: ratios of compared configurations with their intervals on a logarithmic axis,
//! the line of equality, and the equivalence margin.

use super::frame::{Frame, MEDIUM, Tick, is_narrow, x_axis, x_title};
use super::palette::Slot;
use super::scale::Scale;
use super::svg::{Anchor, Chart, Drawing};
use super::text::{Quantity, axis_label, shortened, width_em, wrapped};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestChart {
    pub(crate) x_title: String,
    /// Label left of the line of equality, below the axis.
    pub(crate) below_label: String,
    /// Label right of the line of equality.
    pub(crate) above_label: String,
    /// Equivalence margin, as a share: smaller differences count as none.
    pub(crate) margin: f64,
    /// Rows grouped under headings.
    pub(crate) groups: Vec<ForestGroup>,
}

/// Rows with a common heading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestGroup {
    pub(crate) title: String,
    pub(crate) rows: Vec<ForestRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestRow {
    pub(crate) label: String,
    /// Subject divided by baseline.
    pub(crate) ratio: Option<f64>,
    pub(crate) interval: Option<(f64, f64)>,
    /// The ratio and its interval as text.
    pub(crate) figures: String,
    /// Verdict in a word.
    pub(crate) verdict: String,
    /// Class of the verdict: `better`, `worse`, `equivalent`, `inconclusive`, `invalid`.
    pub(crate) class: &'static str,
}

const ROW: f64 = 21.0;
/// Height of each line of a name that takes several lines.
const LINE: f64 = 15.0;
/// Height of a line below the axis.
const SIDE_LINE: f64 = 14.0;
/// Maximum number of rows per figure, headings included: as many as fit on a page of A4.
const ROWS: usize = 38;
/// Ratios beyond this are drawn as an arrow at the end of the axis.
const FARTHEST: f64 = 1e4;

impl ForestChart {
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let widest = |text: fn(&ForestRow) -> &str| {
            rows().map(|row| width_em(text(row)) * MEDIUM).fold(0.0, f64::max)
        };
        let figures_room = (widest(|row| &row.figures) + 14.0).min(170.0);
        let verdict_room = (widest(|row| &row.verdict) + 8.0).min(130.0);
        // On a phone, the name and the verdict appear above the interval.
        let is_narrow = is_narrow(width);
        let label_room = match is_narrow {
            true => width - verdict_room,
            false => (widest(|row| &row.label) + 26.0).clamp(90.0, 260.0),
        };
        let titles: Vec<Vec<String>> = self
            .groups
            .iter()
            .map(|group| wrapped(&group.title, width - 8.0, MEDIUM * 1.08))
            .collect();
        let labels = |row: &ForestRow| wrapped(&row.label, label_room - 22.0, MEDIUM);
        let row_height = |row: &ForestRow| {
            let labelled = ROW.max(labels(row).len() as f64 * LINE + 4.0);
            if is_narrow { ROW + labelled } else { labelled }
        };
        let title_height = |lines: &Vec<String>| lines.len() as f64 * LINE + 4.0;
        let titled = titles.iter().filter(|lines| !lines.is_empty());
        let height =
            rows().map(row_height).sum::<f64>() + titled.clone().map(title_height).sum::<f64>();
        let frame = Frame {
            left: if is_narrow { 4.0 } else { label_room },
            right: if is_narrow { width } else { width - verdict_room } - figures_room - 8.0,
            top: 8.0,
            bottom: 8.0 + height.max(ROW) + 4.0,
        };
        let x = self.scale(frame);
        self.draw_ground(&mut drawing, frame, &x);
        let mut y = frame.top + ROW / 2.0;
        for (group, lines) in self.groups.iter().zip(&titles) {
            for (i, line) in lines.iter().enumerate() {
                drawing.text("panel-title", (4.0, y + 4.0 + i as f64 * LINE), Anchor::Start, line);
            }
            y += if lines.is_empty() { 0.0 } else { title_height(lines) };
            for row in &group.rows {
                let below = y + row_height(row) - ROW;
                for (i, line) in labels(row).iter().enumerate() {
                    drawing.text("label", (14.0, y + 4.0 + i as f64 * LINE), Anchor::Start, line);
                }
                draw_row(&mut drawing, row, &x, below, frame);
                let figures = shortened(&row.figures, figures_room, MEDIUM);
                drawing.text(
                    "figures",
                    (frame.right + figures_room, below + 4.0),
                    Anchor::End,
                    &figures,
                );
                let verdict = shortened(&row.verdict, verdict_room, MEDIUM);
                let left = width - verdict_room + 2.0;
                let beside = if is_narrow { y } else { below };
                drawing.text(
                    &format!("verdict {}", row.class),
                    (left, beside + 4.0),
                    Anchor::Start,
                    &verdict,
                );
                y += row_height(row);
            }
        }
        let below = frame.bottom + 52.0 + self.lowered(frame);
        let middle = if is_narrow { width / 2.0 } else { frame.middle() };
        let more = x_title(&mut drawing, (middle, below), width - 16.0, &self.x_title);
        drawing.finish(below + more + 10.0)
    }

    /// An axis that includes 1, the margin, every ratio and every interval of reasonable width.
    fn scale(&self, frame: Frame) -> Scale {
        let below = self.reach(|ratio| -ratio.ln());
        let above = self.reach(f64::ln);
        Scale::logarithmic((-below).exp(), above.exp(), frame.left + 12.0, frame.right - 12.0)
    }

    /// Extent of the axis on one side of 1, in logarithms; `distance` is positive on that side.
    fn reach(&self, distance: fn(f64) -> f64) -> f64 {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let farthest = |values: &mut dyn Iterator<Item = f64>| {
            let usable = values.filter(|value| value.is_finite() && *value > 0.0);
            usable.map(distance).fold(0.0, f64::max)
        };
        let ratio = farthest(&mut rows().filter_map(|row| row.ratio));
        let interval = farthest(
            &mut rows().filter_map(|row| row.interval).flat_map(|(low, high)| [low, high]),
        );
        // Intervals from two repeats can be extremely wide: they may widen the axis, but not
        // dominate it.
        let reach = interval.min(ratio * 1.6 + 0.35).max(ratio).max((1.0 + self.margin).ln() * 2.0);
        (reach * 1.08).clamp(0.1, FARTHEST.ln())
    }

    /// Vertical offset of the right label below the axis: one line if both labels do not fit side
    /// by side.
    fn lowered(&self, frame: Frame) -> f64 {
        let widest = f64::max(width_em(&self.below_label), width_em(&self.above_label)) * MEDIUM;
        if 2.0 * widest + 8.0 > frame.width() { SIDE_LINE } else { 0.0 }
    }

    fn draw_ground(&self, drawing: &mut Drawing, frame: Frame, x: &Scale) {
        let margin = 1.0 + self.margin.max(0.0);
        drawing.rectangle("margin", (x.at(1.0 / margin), frame.top), (x.at(margin), frame.bottom));
        let values = ratio_ticks(x);
        let rules: Vec<_> = values
            .iter()
            .map(|value| ((x.at(*value), frame.top), (x.at(*value), frame.bottom)))
            .collect();
        drawing.lines("grid", &rules);
        drawing.line("equality", (x.at(1.0), frame.top), (x.at(1.0), frame.bottom));
        let label = |value: f64| axis_label(Quantity::Ratio, value, 1.0);
        let ticks: Vec<Tick> = values
            .into_iter()
            .map(|value| Tick { position: x.at(value), label: label(value) })
            .collect();
        x_axis(drawing, frame, &ticks);
        // Labels that do not fit side by side are placed one below the other.
        let (lower, room) = (self.lowered(frame), frame.width());
        let (below, above) = (
            shortened(&self.below_label, room, MEDIUM),
            shortened(&self.above_label, room, MEDIUM),
        );
        drawing.text("side", (frame.left, frame.bottom + 33.0), Anchor::Start, &below);
        drawing.text("side", (frame.right, frame.bottom + 33.0 + lower), Anchor::End, &above);
    }
}

/// Splits groups into figures of at most [`ROWS`] rows; a group is split only if it alone is
/// longer.
pub(crate) fn parts(groups: Vec<ForestGroup>) -> Vec<Vec<ForestGroup>> {
    let mut parts: Vec<Vec<ForestGroup>> = Vec::new();
    let mut used = usize::MAX;
    for group in groups {
        for rows in group.rows.chunks(ROWS - 1) {
            let needed = rows.len() + 1;
            if used.saturating_add(needed) > ROWS {
                parts.push(Vec::new());
                used = 0;
            }
            used += needed;
            let piece = ForestGroup { title: group.title.clone(), rows: rows.to_vec() };
            parts.last_mut().expect("a part was opened for the first piece").push(piece);
        }
    }
    parts
}

/// Round ratios around 1, symmetric: 2 and 0.5 are equally far.
fn ratio_ticks(x: &Scale) -> Vec<f64> {
    let (low, high) = x.domain();
    let steps: &[f64] = match high.max(1.0 / low) {
        h if h < 1.25 => &[1.05, 1.1, 1.2],
        h if h < 1.7 => &[1.1, 1.25, 1.5],
        h if h < 4.0 => &[1.25, 1.5, 2.0, 3.0],
        h if h < 12.0 => &[2.0, 3.0, 5.0, 10.0],
        h if h < 120.0 => &[2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
        _ => &[10.0, 100.0, 1000.0, 10_000.0],
    };
    let mut values: Vec<f64> =
        steps.iter().copied().flat_map(|step| [step, 1.0 / step]).chain([1.0]).collect();
    values.retain(|value| x.shows(*value));
    values.sort_by(f64::total_cmp);
    values
}

fn draw_row(drawing: &mut Drawing, row: &ForestRow, x: &Scale, y: f64, frame: Frame) {
    let Some(ratio) = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0) else {
        drawing.text("tick", (frame.middle(), y + 4.0), Anchor::Middle, "—");
        return;
    };
    drawing.open(&format!("comparison {}", row.class));
    if let Some((low, high)) = row.interval {
        let mut bars = vec![((x.at(low), y), (x.at(high), y))];
        for (end, inward) in [(low, 5.0), (high, -5.0)] {
            let position = x.at(end);
            if x.shows(end) {
                bars.push(((position, y - 4.0), (position, y + 4.0)));
            } else {
                // An arrowhead: the interval extends beyond the axis.
                bars.push(((position + inward, y - 4.0), (position, y)));
                bars.push(((position, y), (position + inward, y + 4.0)));
            }
        }
        drawing.lines("bar", &bars);
    }
    drawing.marker(
        "mark",
        marker_of(row.class),
        (x.at(ratio), y),
        &format!("{}: {}", row.label, row.figures),
    );
    drawing.close();
}

/// Verdicts differ in shape as well as in colour.
fn marker_of(class: &str) -> Slot {
    match class {
        "better" => Slot(2),
        "worse" => Slot(4),
        "equivalent" => Slot(1),
        _ => Slot(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_ticks_are_mirrored_around_one() {
        let x = Scale::logarithmic(0.3, 1.0 / 0.3, 0.0, 100.0);
        let ticks = ratio_ticks(&x);
        assert_eq!(ticks.len(), 9);
        let one_sided = ratio_ticks(&Scale::logarithmic(0.6, 1.12, 0.0, 100.0));
        assert!(one_sided.contains(&0.8) && !one_sided.contains(&1.25), "{one_sided:?}");
        for (low, high) in ticks.iter().zip(ticks.iter().rev()) {
            assert!((low * high - 1.0).abs() < 1e-9, "{ticks:?}");
        }
    }
}

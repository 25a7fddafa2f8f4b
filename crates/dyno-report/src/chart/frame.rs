//! The plot area of one panel with its axes, and the legend above a figure.

use super::palette::Slot;
use super::scale::Scale;
use super::svg::{Anchor, Chart, Drawing, Labels};
use super::text::{Quantity, axis_label, shortened, width_em, wrapped};

/// Font size of tick labels and of labels at lines, in units of the picture.
pub(crate) const SMALL: f64 = 11.0;
/// Font size of panel titles.
pub(crate) const MEDIUM: f64 = 12.0;
/// Width of a chart. On screen and on A4 it is shown at nearly this size, so text keeps its size.
pub(crate) const WIDTH: f64 = 820.0;
/// Width of a chart for a phone, where it is shown at this size.
pub(crate) const NARROW: f64 = 372.0;

/// Returns true when the chart is too narrow for panels, labels or figures side by side.
pub(crate) fn is_narrow(width: f64) -> bool {
    width < 500.0
}

/// A chart in two layouts, one for screen and paper and one for a phone. A style sheet shows one of
/// them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    broad: Chart,
    narrow: Option<Chart>,
    /// True when the narrow layout is used on every medium.
    is_small: bool,
}

impl Drawn {
    /// Calls `draw` for both widths.
    pub(crate) fn of(labels: Labels<'_>, draw: impl Fn(Drawing) -> Chart) -> Self {
        let [broad, narrow] = ["-", "-n"].map(|end| format!("{}{end}", labels.id));
        Self {
            broad: draw(Drawing::new(Labels { id: &broad, ..labels }, WIDTH)),
            narrow: Some(draw(Drawing::new(Labels { id: &narrow, ..labels }, NARROW))),
            is_small: false,
        }
    }

    /// A chart with the narrow layout only, for many charts side by side.
    pub(crate) fn small(labels: Labels<'_>, draw: impl Fn(Drawing) -> Chart) -> Self {
        let id = format!("{}-", labels.id);
        Self {
            broad: draw(Drawing::new(Labels { id: &id, ..labels }, NARROW)),
            narrow: None,
            is_small: true,
        }
    }

    /// Keeps the narrow layout only, for one of many collapsed charts.
    pub(crate) fn made_small(&self) -> Self {
        Self {
            broad: self.narrow.clone().unwrap_or_else(|| self.broad.clone()),
            narrow: None,
            is_small: self.narrow.is_some() || self.is_small,
        }
    }

    /// The `svg` elements for a page.
    pub(crate) fn inline(&self) -> String {
        let narrow = self.narrow.as_ref().map(|chart| chart.inline(" narrow"));
        self.broad.inline(if self.is_small { " small" } else { "" }) + &narrow.unwrap_or_default()
    }

    /// A separate SVG file.
    pub(crate) fn stand_alone(&self, lang: &str) -> String {
        self.broad.stand_alone(lang)
    }
}

/// The plot area of a panel, in units of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> f64 {
        f64::midpoint(self.left, self.right)
    }
}

/// A labelled position on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Coordinate in the picture.
    pub(crate) position: f64,
    pub(crate) label: String,
}

/// About `wanted` labelled positions of a scale.
pub(crate) fn ticks(scale: &Scale, quantity: Quantity, wanted: usize) -> Vec<Tick> {
    let values = scale.ticks(wanted);
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.fold(f64::INFINITY, f64::min);
    let step =
        if step.is_finite() { step } else { values.first().map_or(1.0, |value| value.abs()) };
    // On a logarithmic axis, the decimals of a label depend on its value.
    let step_for = |value: f64| match scale.spread() {
        super::scale::ScaleKind::Linear => step,
        super::scale::ScaleKind::Logarithmic => step.max(10f64.powf(value.abs().log10().floor())),
    };
    let label = |value: f64| axis_label(quantity, value, step_for(value));
    values
        .into_iter()
        .map(|value| Tick { position: scale.at(value), label: label(value) })
        .collect()
}

/// Width of the labels of a y axis, including their distance to the axis.
pub(crate) fn label_room(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| width_em(&tick.label) * SMALL).fold(0.0, f64::max) + 8.0
}

/// The y axis: a grid line across the panel and a label at its left for every tick.
pub(crate) fn y_axis(drawing: &mut Drawing, frame: Frame, ticks: &[Tick]) {
    y_grid(drawing, frame, ticks);
    drawing.open_column("tick e", frame.left - 6.0);
    for tick in ticks {
        drawing.label_at('y', tick.position + 3.8, &tick.label);
    }
    drawing.close();
}

/// The grid lines of the y axis, without labels.
pub(crate) fn y_grid(drawing: &mut Drawing, frame: Frame, ticks: &[Tick]) {
    let rules: Vec<_> = ticks
        .iter()
        .map(|tick| ((frame.left, tick.position), (frame.right, tick.position)))
        .collect();
    drawing.lines("grid", &rules);
}

/// The x axis: base line, tick marks, and as many labels as fit without overlap. The first and the
/// last label take precedence, then labels from left to right.
pub(crate) fn x_axis(drawing: &mut Drawing, frame: Frame, ticks: &[Tick]) {
    let strokes = ticks
        .iter()
        .map(|tick| ((tick.position, frame.bottom), (tick.position, frame.bottom + 4.0)));
    let base = ((frame.left, frame.bottom), (frame.right, frame.bottom));
    drawing.lines("axis", &[base].into_iter().chain(strokes).collect::<Vec<_>>());
    if ticks.iter().any(|tick| !tick.label.is_empty()) {
        drawing.open_row("tick m", frame.bottom + 16.0);
        for i in labels_that_fit(ticks) {
            drawing.label_at('x', ticks[i].position, &ticks[i].label);
        }
        drawing.close();
    }
}

/// Indices of ticks whose labels do not overlap, in ascending order.
fn labels_that_fit(ticks: &[Tick]) -> Vec<usize> {
    let extent = |i: usize| {
        let half = width_em(&ticks[i].label) * SMALL / 2.0 + 3.0;
        (ticks[i].position - half, ticks[i].position + half)
    };
    let mut fitting: Vec<usize> = Vec::new();
    let last = ticks.len().saturating_sub(1);
    let order = (!ticks.is_empty())
        .then_some(0)
        .into_iter()
        .chain((last > 0).then_some(last))
        .chain(1..last);
    for i in order {
        let (from, to) = extent(i);
        let is_free = fitting.iter().all(|other| {
            let (other_from, other_to) = extent(*other);
            to <= other_from || from >= other_to
        });
        if is_free {
            fitting.push(i);
        }
    }
    fitting.sort_unstable();
    fitting
}

pub(crate) fn title_lines(title: &str, width: f64) -> Vec<String> {
    // Bold letters are about a twelfth wider than regular ones.
    wrapped(title, width, MEDIUM * 1.08)
}

/// Title of a panel, above its left edge and no wider than the panel; `class` is empty inside a
/// group of panel titles.
pub(crate) fn panel_title(drawing: &mut Drawing, class: &str, frame: Frame, title: &str) {
    let lines = title_lines(title, frame.width());
    for (i, line) in lines.iter().rev().enumerate() {
        let y = frame.top - 8.0 - i as f64 * TITLE_LINE;
        drawing.text(class, (frame.left, y), Anchor::Start, line);
    }
}

/// Height of a line of an axis title.
pub(crate) const TITLE_LINE: f64 = 14.0;

/// The title of an x axis, on as many lines as it needs, centred at the position; returns its
/// height below the axis.
pub(crate) fn x_title(
    drawing: &mut Drawing,
    (middle, y): (f64, f64),
    room: f64,
    title: &str,
) -> f64 {
    let lines = wrapped(title, room, MEDIUM);
    for (i, line) in lines.iter().enumerate() {
        drawing.text("axis-title", (middle, y + i as f64 * TITLE_LINE), Anchor::Middle, line);
    }
    lines.len().saturating_sub(1) as f64 * TITLE_LINE
}

/// Appearance of a series, for legends and labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) label: String,
    pub(crate) slot: Slot,
    /// Additional classes, e.g. `published`.
    pub(crate) class: &'static str,
}

/// A short line with the marker of a series; the position is its left end.
pub(crate) fn sample(drawing: &mut Drawing, key: &Key, position: (f64, f64)) {
    drawing.open(&format!("{} {}", key.slot.class(), key.class));
    drawing.line("curve", position, (position.0 + 26.0, position.1));
    drawing.marker("mark", key.slot, (position.0 + 13.0, position.1), "");
    drawing.close();
}

/// The legend, with a key per series in order of appearance, on as many rows as it needs, from
/// `top` downwards; returns its height.
pub(crate) fn legend(
    drawing: &mut Drawing,
    keys: impl IntoIterator<Item = Key>,
    left: f64,
    top: f64,
    width: f64,
) -> f64 {
    const ROW: f64 = 20.0;
    let (mut x, mut y) = (left, top + ROW / 2.0);
    let mut shown: Vec<Key> = Vec::new();
    for key in keys {
        if shown.contains(&key) || key.label.is_empty() {
            continue;
        }
        let label = shortened(&key.label, width - 40.0, MEDIUM);
        let needed = 32.0 + width_em(&label) * MEDIUM + 18.0;
        if x > left && x + needed - 18.0 > left + width {
            x = left;
            y += ROW;
        }
        sample(drawing, &key, (x, y));
        drawing.text("label", (x + 32.0, y + 4.0), Anchor::Start, &label);
        x += needed;
        shown.push(key);
    }
    if shown.is_empty() { 0.0 } else { y + ROW / 2.0 - top + 4.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_touch_are_left_out_but_the_ends_stay() {
        let ticks: Vec<_> = (0..20)
            .map(|i| Tick { position: f64::from(i) * 10.0, label: format!("{}", i * 100) })
            .collect();
        let fitting = labels_that_fit(&ticks);
        assert_eq!((fitting.first(), fitting.last()), (Some(&0), Some(&19)));
        assert!(fitting.len() < 10, "{fitting:?}");
        assert!(labels_that_fit(&[]).is_empty());
        assert_eq!(labels_that_fit(&ticks[..1]), [0]);
    }
}

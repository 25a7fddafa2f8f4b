//! Charts over the number of clients, or over a measured quantity: lines through means with
//! intervals, every repeat as a dot, and published figures for comparison, in one panel or in small
//! multiples on equal axes.

use super::frame::{
    Frame, Key, MEDIUM, SMALL, TITLE_LINE, Tick, is_narrow, label_room, legend, panel_title, ticks,
    title_lines, x_axis, x_title, y_axis, y_grid,
};
use super::labels::spread_out;
use super::palette::Slot;
use super::scale::{Scale, ScaleKind, spread_for_levels};
use super::svg::{Anchor, Chart, Drawing};
use super::text::{Quantity, axis_label, width_em};

/// A chart over the number of clients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurveChart {
    pub(crate) x_title: String,
    /// Name of the y axis with its unit.
    pub(crate) y_title: String,
    /// The same title, stating that the axis is logarithmic; used if it is.
    pub(crate) y_title_logarithmic: String,
    /// The quantity on the y axis.
    pub(crate) quantity: Quantity,
    /// True when the x axis shows measured values, starting at zero; otherwise it shows labelled
    /// levels.
    pub(crate) is_measured: bool,
    /// False when small differences between large values matter. Logarithmic axes and those of
    /// ratios never begin at zero.
    pub(crate) begins_at_zero: bool,
    /// Panels, all on the same axes unless they have their own.
    pub(crate) panels: Vec<CurvePanel>,
    /// Number of columns of panels; `None`: derived from the number of panels.
    pub(crate) columns: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CurvePanel {
    /// What distinguishes the panel; empty for a single panel.
    pub(crate) title: String,
    pub(crate) curves: Vec<Curve>,
    /// True when its values differ in magnitude from those of the other panels, so that it has a
    /// separate y axis.
    pub(crate) has_own_axis: bool,
    /// Limits, drawn as horizontal lines, with their labels.
    pub(crate) limits: Vec<(f64, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// Its name; empty for the only curve of a chart that is named elsewhere.
    pub(crate) label: String,
    pub(crate) slot: Slot,
    pub(crate) style: Style,
    /// Points in the order in which the line connects them.
    pub(crate) points: Vec<CurvePoint>,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Measured figures, connected by a line.
    Measured,
    /// Published figures, connected by a dotted line.
    Published,
    /// Measured figures without a line.
    Points,
    /// Intervals of a trial, too many for markers.
    TimeSeries,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CurvePoint {
    /// Number of clients, or the measured quantity.
    pub(crate) x: f64,
    /// Mean; `None` when there is no usable figure.
    pub(crate) value: Option<f64>,
    /// True when the mean is only a lower bound; its bar is open at the top.
    pub(crate) is_bound: bool,
    pub(crate) interval: Option<(f64, f64)>,
    /// Values of all repeats that the mean includes.
    pub(crate) repeats: Vec<f64>,
    /// Values of unusable repeats; drawn as crosses.
    pub(crate) unusable: Vec<f64>,
    /// Values of repeats that stalled; drawn with a ring.
    pub(crate) stood: Vec<f64>,
    pub(crate) tooltip: String,
}

/// Share by which intervals may extend the axis beyond the largest value; the rest is cut off.
/// Intervals from two repeats are twelve standard errors wide and would compress the figures
/// themselves.
const INTERVAL_ALLOWANCE: f64 = 0.4;

impl Curve {
    fn key(&self) -> Key {
        let class = match self.style {
            Style::Measured => "",
            Style::Published => "published",
            Style::Points => "points",
            Style::TimeSeries => "time",
        };
        Key { label: self.label.clone(), slot: self.slot, class }
    }

    fn class(&self) -> String {
        format!("{} {}", self.slot.class(), self.key().class).trim_end().to_owned()
    }
}

/// The y axis of one panel or of all panels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) spread: ScaleKind,
    low: f64,
    high: f64,
}

impl Span {
    /// The range that includes all values of these panels: from zero when linear; logarithmic if
    /// response times span more than one order of magnitude, if whole lines differ by a factor of
    /// 100, or if whole panels differ so much that the lines of the lowest would coincide with its
    /// axis.
    fn of(panels: &[&CurvePanel], quantity: Quantity, begins_at_zero: bool) -> Self {
        let curves = || panels.iter().flat_map(|panel| &panel.curves);
        let points = || curves().flat_map(|curve| &curve.points);
        let values = || {
            let shown = points().flat_map(|p| p.value.into_iter().chain(p.repeats.iter().copied()));
            let limits = panels.iter().flat_map(|panel| &panel.limits).map(|(value, _)| *value);
            let unusable = points().flat_map(|p| p.unusable.iter().chain(&p.stood).copied());
            shown.chain(unusable).chain(limits).filter(|value| value.is_finite())
        };
        let high = values().fold(0.0, f64::max);
        let low = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let peak = |curve: &Curve| curve.points.iter().filter_map(|p| p.value).fold(0.0, f64::max);
        let lowest = |peaks: &mut dyn Iterator<Item = f64>| {
            peaks.filter(|peak| *peak > 0.0).fold(f64::INFINITY, f64::min)
        };
        let lowest_curve = lowest(&mut curves().map(peak));
        let lowest_panel =
            lowest(&mut panels.iter().map(|p| p.curves.iter().map(peak).fold(0.0, f64::max)));
        let is_logarithmic = match quantity {
            Quantity::Time => high / low > 12.0,
            Quantity::Number => high / lowest_curve > 100.0 || high / lowest_panel > 12.0,
            Quantity::Percent | Quantity::Ratio => false,
        };
        let intervals = || points().filter_map(|p| p.interval);
        let reach = intervals()
            .map(|(_, to)| to)
            .fold(high, f64::max)
            .min(high * (1.0 + INTERVAL_ALLOWANCE));
        if is_logarithmic {
            let from = intervals()
                .map(|(from, _)| from)
                .filter(|from| *from > low * 0.4)
                .fold(low, f64::min);
            Self { spread: ScaleKind::Logarithmic, low: from * 0.85, high: reach * 1.15 }
        } else {
            let high = if reach > 0.0 { reach * 1.05 } else { 1.0 };
            let from = intervals().map(|(from, _)| from).fold(low, f64::min);
            let from = from.max(low * (1.0 - INTERVAL_ALLOWANCE));
            // Ratios have no natural zero.
            let has_no_zero = quantity == Quantity::Ratio || !begins_at_zero;
            let is_zero = |point: &CurvePoint| point.value.is_some_and(|value| value <= 0.0);
            let has_no_zero = has_no_zero && low.is_finite() && !points().any(is_zero);
            let low = if has_no_zero { from * 0.95 } else { 0.0 };
            Self { spread: ScaleKind::Linear, low, high }
        }
    }

    fn scale(self, frame: Frame) -> Scale {
        Scale::new(self.spread, self.low, self.high, frame.bottom, frame.top)
    }

    fn ticks(self, frame: Frame, quantity: Quantity) -> Vec<Tick> {
        ticks(&self.scale(frame), quantity, if frame.height() > 180.0 { 6 } else { 4 })
    }
}

/// Layout of the chart.
struct Layout {
    columns: usize,
    cell_height: f64,
    /// Width of the y axis labels, left of the first column.
    left: f64,
    /// Width of the line labels at the right of every panel; 0 if there is a legend instead.
    label_width: f64,
    width: f64,
    /// Height of additional lines in panel titles.
    title_room: f64,
    /// Share of the width for the first of two columns.
    first_share: f64,
}

impl Layout {
    fn of(chart: &CurveChart, span: Span, width: f64) -> Self {
        let count = chart.panels.len().max(1);
        let has_lines = chart.levels().len() > 1;
        let columns = chart.columns.unwrap_or(match count {
            1 => 1,
            2 | 4 => 2,
            // Points without lines need little width: one row less than with three columns.
            7 | 8 if !has_lines => 4,
            _ => 3,
        });
        let columns = if is_narrow(width) { 1 } else { columns };
        let rows = count.div_ceil(columns);
        let cell_height = match (columns, rows) {
            _ if is_narrow(width) => 216.0,
            (1, _) if !has_lines => 240.0,
            // Three charts fit on a page of A4.
            (1, _) | (_, 1) => 270.0,
            (2, _) => 236.0,
            _ => 196.0,
        };
        let probe = Frame { left: 0.0, right: 1.0, top: 0.0, bottom: cell_height - 50.0 };
        let left = label_room(&span.ticks(probe, chart.quantity)) + 20.0;
        let has_aside = columns == 2 && count == 2 && chart.panels[1].has_own_axis;
        let first_share = if has_aside { 0.62 } else { 1.0 / columns as f64 };
        let labels = chart.curves().map(|curve| &curve.label).filter(|label| !label.is_empty());
        let widest = labels.map(|label| width_em(label) * MEDIUM + 22.0).fold(0.0, f64::max);
        let room = (width - left) * if has_aside { 0.38 } else { 1.0 / columns as f64 };
        let most = chart.panels.iter().map(|panel| panel.curves.len()).max().unwrap_or(0);
        let fits =
            room - widest > 190.0 && widest < 230.0 && most as f64 * 15.0 < cell_height - 60.0;
        let label_width = if has_lines && fits { widest } else { 0.0 };
        let cell = (width - left) * if has_aside { 0.38 } else { 1.0 / columns as f64 };
        let lines = |panel: &CurvePanel| title_lines(&panel.title, cell - label_width - 20.0).len();
        let lines = chart.panels.iter().map(lines).max().unwrap_or(0);
        Self {
            title_room: lines.saturating_sub(1) as f64 * TITLE_LINE,
            columns,
            cell_height,
            left,
            width,
            label_width,
            first_share,
        }
    }

    /// Height of the panels over which the y axis title is centred: all of them if they fit on a
    /// screen.
    fn reach(&self) -> f64 {
        if is_narrow(self.width) { self.cell_height } else { f64::INFINITY }
    }

    /// Plot area of panel `i`, whose row begins at `top`.
    fn frame(&self, i: usize, panel: &CurvePanel, own_room: f64, top: f64) -> Frame {
        let (row, column) = (i / self.columns, i % self.columns);
        let whole = self.width - self.left;
        let (from, width) = if self.columns == 2 {
            let shares = [self.first_share, 1.0 - self.first_share];
            (if column == 0 { 0.0 } else { whole * shares[0] }, whole * shares[column])
        } else {
            (column as f64 * whole / self.columns as f64, whole / self.columns as f64)
        };
        let top = top
            + row as f64 * (self.cell_height + self.title_room)
            + if panel.title.is_empty() { 8.0 } else { 28.0 + self.title_room };
        let bottom =
            top + self.cell_height - 68.0 + if panel.title.is_empty() { 20.0 } else { 0.0 };
        let gutter = if panel.has_own_axis && column > 0 { own_room } else { 0.0 };
        let left = self.left + from + gutter + if column > 0 { 10.0 } else { 0.0 };
        Frame { left, right: self.left + from + width - self.label_width - 8.0, top, bottom }
    }
}

impl CurveChart {
    fn curves(&self) -> impl Iterator<Item = &Curve> {
        self.panels.iter().flat_map(|panel| &panel.curves)
    }

    /// Numbers of clients on the x axis of the panels that share it.
    fn levels(&self) -> Vec<f64> {
        levels_of(self.panels.iter().filter(|panel| !panel.has_own_axis))
    }

    pub(super) fn shared_span(&self) -> Span {
        let shared: Vec<&CurvePanel> =
            self.panels.iter().filter(|panel| !panel.has_own_axis).collect();
        Span::of(&shared, self.quantity, self.begins_at_zero)
    }

    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let span = self.shared_span();
        let layout = Layout::of(self, span, width);
        let shared_levels = self.levels();
        let mut top = 4.0;
        if layout.label_width == 0.0 {
            top += legend(&mut drawing, self.curves().map(Curve::key), 8.0, top, width - 16.0);
        }
        let mut bottom = top;
        for (i, panel) in self.panels.iter().enumerate() {
            let own = match panel.has_own_axis {
                true => Span::of(&[panel], self.quantity, self.begins_at_zero),
                false => span,
            };
            let probe = layout.frame(i, panel, 0.0, top);
            let own_room = label_room(&own.ticks(probe, self.quantity));
            let frame = layout.frame(i, panel, own_room, top);
            let levels =
                if panel.has_own_axis { levels_of([panel]) } else { shared_levels.clone() };
            let is_labelled = i % layout.columns == 0 || panel.has_own_axis;
            self.draw_panel(
                &mut drawing,
                panel,
                frame,
                own,
                &levels,
                (is_labelled, layout.label_width),
            );
            bottom = f64::max(bottom, frame.bottom);
        }
        let is_logarithmic = span.spread == ScaleKind::Logarithmic;
        let y_title = if is_logarithmic { &self.y_title_logarithmic } else { &self.y_title };
        drawing.upright_text(
            "axis-title",
            (14.0, f64::midpoint(top, bottom.min(top + layout.reach()))),
            y_title,
        );
        let middle = f64::midpoint(layout.left, width - layout.label_width);
        let more =
            x_title(&mut drawing, (middle, bottom + 36.0), width - layout.left, &self.x_title);
        drawing.finish(bottom + 46.0 + more)
    }

    /// Draws one panel; `labels` gives whether the y axis is labelled, and the width for labels at
    /// the lines.
    fn draw_panel(
        &self,
        drawing: &mut Drawing,
        panel: &CurvePanel,
        frame: Frame,
        span: Span,
        levels: &[f64],
        (is_labelled, label_width): (bool, f64),
    ) {
        drawing.open("panel");
        panel_title(drawing, "panel-title", frame, &panel.title);
        let y = span.scale(frame);
        let axis = if is_labelled { y_axis } else { y_grid };
        axis(drawing, frame, &span.ticks(frame, self.quantity));
        for (value, label) in &panel.limits {
            let at = y.at(*value);
            drawing.line("limit", (frame.left, at), (frame.right, at));
            // Above the line if the panel has room there.
            let text = if at - 16.0 > frame.top { at - 4.0 } else { at + 12.0 };
            drawing.text("limit-label", (frame.left + 4.0, text), Anchor::Start, label);
        }
        let (first, last) =
            (levels.first().copied().unwrap_or(0.0), levels.last().copied().unwrap_or(1.0));
        let inset = (frame.width() * 0.04).clamp(8.0, 24.0);
        let x = match self.is_measured {
            true => Scale::linear(0.0, last.max(1e-9) * 1.03, frame.left, frame.right),
            false => Scale::new(
                spread_for_levels(levels),
                first,
                last,
                frame.left + inset,
                frame.right - inset,
            ),
        };
        let level = |level: &f64| Tick {
            position: x.at(*level),
            label: axis_label(Quantity::Number, *level, 1.0),
        };
        let ticks = match self.is_measured {
            true => ticks(&x, Quantity::Number, if frame.width() < 200.0 { 4 } else { 6 }),
            false => levels.iter().map(level).collect(),
        };
        x_axis(drawing, frame, &ticks);
        let count = panel.curves.len();
        let shift = if self.is_measured { 0.0 } else { shifts(count, levels.len(), frame) };
        let coordinates = PanelCoordinates { x, y, frame, shift, count };
        // Dots below all lines and lines below all markers, so that no series hides the mean of
        // another.
        for draw in [draw_repeats, draw_line, draw_markers] {
            for (i, curve) in panel.curves.iter().enumerate() {
                draw(drawing, curve, &coordinates, i);
            }
        }
        if label_width > 0.0 {
            draw_labels(drawing, panel, &coordinates);
        }
        drawing.close();
    }
}

/// All numbers of clients in these panels, in ascending order.
pub(crate) fn levels_of<'a>(panels: impl IntoIterator<Item = &'a CurvePanel>) -> Vec<f64> {
    let curves = panels.into_iter().flat_map(|panel| &panel.curves);
    let mut levels: Vec<f64> =
        curves.flat_map(|curve| &curve.points).map(|point| point.x).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// Horizontal offset of a series, so that its markers do not overlap those of others: a few units
/// in a chart over several levels; separate columns when there is only one level.
fn shifts(curves: usize, levels: usize, frame: Frame) -> f64 {
    let curves = curves.max(1) as f64;
    if levels > 1 { (16.0 / curves).min(4.0) } else { (frame.width() * 0.8 / curves).min(70.0) }
}

/// Coordinates of a panel's points.
struct PanelCoordinates {
    x: Scale,
    y: Scale,
    frame: Frame,
    /// Distance between neighbouring series at one level.
    shift: f64,
    /// Number of series.
    count: usize,
}

impl PanelCoordinates {
    /// The x coordinate of a level for series `i`.
    fn x(&self, i: usize, level: f64) -> f64 {
        let shift = (i as f64 - (self.count as f64 - 1.0) / 2.0) * self.shift;
        (self.x.at(level) + shift).clamp(self.frame.left, self.frame.right)
    }

    fn point(&self, i: usize, point: &CurvePoint) -> Option<(f64, f64)> {
        point.value.map(|value| (self.x(i, point.x), self.y.at(value)))
    }
}

fn draw_repeats(drawing: &mut Drawing, curve: &Curve, coordinates: &PanelCoordinates, i: usize) {
    let dots = |values: fn(&CurvePoint) -> &Vec<f64>| -> Vec<(f64, f64)> {
        let of_point = |point: &CurvePoint| {
            let at = coordinates.x(i, point.x);
            values(point).iter().map(|value| (at, coordinates.y.at(*value))).collect::<Vec<_>>()
        };
        curve.points.iter().flat_map(of_point).collect()
    };
    drawing.open(&curve.class());
    drawing.dots("dot", &dots(|point| &point.repeats));
    let crosses: Vec<_> = dots(|point| &point.unusable)
        .into_iter()
        .flat_map(|(x, y)| {
            [((x - 3.0, y - 3.0), (x + 3.0, y + 3.0)), ((x - 3.0, y + 3.0), (x + 3.0, y - 3.0))]
        })
        .collect();
    drawing.lines("cross", &crosses);
    for (x, y) in dots(|point| &point.stood) {
        drawing.marker("ring", Slot(0), (x, y), "");
    }
    drawing.close();
}

fn draw_line(drawing: &mut Drawing, curve: &Curve, coordinates: &PanelCoordinates, i: usize) {
    drawing.open(&curve.class());
    if curve.style != Style::Points {
        let line: Vec<_> = curve.points.iter().map(|point| coordinates.point(i, point)).collect();
        drawing.curve("curve", &line);
    }
    let mut bars = Vec::new();
    for point in curve.points.iter().filter(|point| point.is_bound) {
        let position = coordinates.point(i, point);
        bars.extend(position.map(|(x, y)| ((x, y), (x, coordinates.frame.top))));
    }
    for point in &curve.points {
        let (Some((x, _)), Some((from, to))) = (coordinates.point(i, point), point.interval) else {
            continue;
        };
        bars.push(((x, coordinates.y.at(from)), (x, coordinates.y.at(to))));
        // An end beyond the axis has no cap, because the bar continues.
        for end in [from, to].into_iter().filter(|end| coordinates.y.shows(*end)) {
            bars.push(((x - 3.5, coordinates.y.at(end)), (x + 3.5, coordinates.y.at(end))));
        }
    }
    drawing.lines("bar", &bars);
    drawing.close();
}

fn draw_markers(drawing: &mut Drawing, curve: &Curve, coordinates: &PanelCoordinates, i: usize) {
    if curve.style == Style::TimeSeries {
        return;
    }
    drawing.open(&curve.class());
    let (with_tooltip, others): (Vec<&CurvePoint>, Vec<_>) =
        curve.points.iter().partition(|point| !point.tooltip.is_empty());
    for point in with_tooltip {
        if let Some(position) = coordinates.point(i, point) {
            drawing.marker("mark", curve.slot, position, &point.tooltip);
        }
    }
    let others: Vec<_> =
        others.into_iter().filter_map(|point| coordinates.point(i, point)).collect();
    drawing.markers("mark", curve.slot, &others);
    drawing.close();
}

/// Series names at the right ends of the lines, moved apart where they would overlap.
fn draw_labels(drawing: &mut Drawing, panel: &CurvePanel, coordinates: &PanelCoordinates) {
    let ends: Vec<_> = panel
        .curves
        .iter()
        .enumerate()
        .filter_map(|(i, curve)| {
            curve
                .points
                .iter()
                .rev()
                .find_map(|point| coordinates.point(i, point))
                .map(|end| (curve, end))
        })
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
    let placed = spread_out(
        &wanted,
        SMALL + 4.0,
        coordinates.frame.top + 2.0,
        coordinates.frame.bottom - 2.0,
    );
    let left = coordinates.frame.right + 4.0;
    for ((curve, (x, y)), label) in ends.into_iter().zip(placed) {
        drawing.open(&curve.class());
        if (label - y).abs() > 5.0 || left - x > 40.0 {
            drawing.line("leader", (x + 6.0, y), (left - 1.0, label));
        }
        drawing.marker("mark", curve.slot, (left + 6.0, label), "");
        drawing.close();
        drawing.text("label", (left + 15.0, label + 4.0), Anchor::Start, &curve.label);
    }
}

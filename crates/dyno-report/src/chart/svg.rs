//! The SVG writer: it produces elements as text, escapes every text and keeps every coordinate
//! finite.
//!
//! Colours, dashes and line widths are set by class in `assets/chart.css`, so that dark mode, grey
//! print and stand-alone files need no second drawing.

use super::palette::{Mark, Slot};
use super::text::wrapped;
use std::fmt::Write as _;

/// Anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text begins at the given position.
    Start,
    Middle,
    End,
}

/// A straight line between two points.
pub(crate) type LineSegment = ((f64, f64), (f64, f64));

/// Id and texts of a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Labels<'a> {
    /// Unique in the page.
    pub(crate) id: &'a str,
    /// The result that the chart shows, or its subject.
    pub(crate) title: &'a str,
    /// Description for screen readers.
    pub(crate) description: &'a str,
    /// Suffix of a percentage in the language of the texts.
    pub(crate) percent: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    id: String,
    title: String,
    description: String,
    width: f64,
    height: f64,
    body: String,
}

/// Style sheet of all charts; part of the page's style sheet and of every stand-alone chart file.
pub(crate) const STYLE_SHEET: &str = include_str!("../assets/chart.css");

/// Font size of the heading of a stand-alone chart, as in the style sheet.
const HEADING_SIZE: f64 = 14.0;
/// Height of a line of that heading.
const HEADING_LINE: f64 = 19.0;

impl Chart {
    /// The `svg` element for a page that includes [`STYLE_SHEET`], with additional classes.
    pub(crate) fn inline(&self, class: &str) -> String {
        let (width, height) = (coordinate(self.width), coordinate(self.height));
        let view_box = format!("0 0 {width} {height}");
        // Inline SVG needs no namespace declaration.
        format!("{}{}</svg>", self.opening(class, &view_box, ""), self.body)
    }

    /// A separate file with style sheet, background and heading. The language code selects the
    /// fonts.
    pub(crate) fn stand_alone(&self, lang: &str) -> String {
        // Bold letters are about a twelfth wider than regular ones.
        let lines = wrapped(&self.title, self.width - 16.0, HEADING_SIZE * 1.08);
        let heading = HEADING_LINE * lines.len() as f64 + 12.0;
        let (width, height) = (coordinate(self.width), coordinate(self.height + heading));
        let view_box = format!("0 -{heading} {width} {height}");
        let size = format!(
            r#" width="{width}" height="{height}" xml:lang="{lang}" xmlns="http://www.w3.org/2000/svg""#
        );
        let mut text = format!(
            r#"<style>{STYLE_SHEET}</style><rect class="ground" x="0" y="-{heading}" width="{width}" height="{height}"/>"#
        );
        for (i, line) in lines.iter().enumerate() {
            let y = coordinate(HEADING_LINE * (i + 1) as f64 - heading);
            let _ = write!(text, r#"<text class="heading" x="8" y="{y}">{}</text>"#, escaped(line));
        }
        format!("{}{text}{}</svg>\n", self.opening("", &view_box, &size), self.body)
    }

    fn opening(&self, class: &str, view_box: &str, size: &str) -> String {
        let id = escaped(&self.id);
        format!(
            r#"<svg class="chart{class}" viewBox="{view_box}"{size} role="img" aria-labelledby="{id}t {id}d"><title id="{id}t">{}</title><desc id="{id}d">{}</desc>"#,
            escaped(&self.title),
            escaped(&self.description),
        )
    }
}

/// Escapes the special characters of XML, and removes those that XML forbids.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => safe.push(c),
        }
    }
    safe
}

/// A coordinate with one decimal, in the shortest form. NaN becomes 0.
fn coordinate(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A picture under construction. Coordinates increase to the right and down from the upper left
/// corner.
#[derive(Debug)]
pub(crate) struct Drawing {
    id: String,
    title: String,
    description: String,
    percent: &'static str,
    width: f64,
    body: String,
}

impl Drawing {
    /// An empty picture.
    pub(crate) fn new(labels: Labels<'_>, width: f64) -> Self {
        let [id, title, description] =
            [labels.id, labels.title, labels.description].map(str::to_owned);
        let percent = labels.percent;
        Self { id, title, description, percent, width, body: String::new() }
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// Returns the chart, once its height is known.
    pub(crate) fn finish(self, height: f64) -> Chart {
        let Self { id, title, description, percent: _, width, body } = self;
        Chart { id, title, description, width, height, body }
    }

    /// Opens a group with these classes.
    pub(crate) fn open(&mut self, class: &str) {
        let _ = write!(self.body, r#"<g class="{}">"#, escaped(class));
    }

    /// Opens a group of labels in a column, all at `x`; [`Self::label_at`] then writes the labels.
    pub(crate) fn open_column(&mut self, class: &str, x: f64) {
        let _ = write!(
            self.body,
            r#"<g class="{}" transform="translate({})">"#,
            escaped(class),
            coordinate(x)
        );
    }

    /// Opens a group of labels in a row, all at `y`.
    pub(crate) fn open_row(&mut self, class: &str, y: f64) {
        let _ = write!(
            self.body,
            r#"<g class="{}" transform="translate(0 {})">"#,
            escaped(class),
            coordinate(y)
        );
    }

    /// A label of a column or row: the name of the coordinate that varies, and its value.
    pub(crate) fn label_at(&mut self, axis: char, position: f64, text: &str) {
        let _ = write!(
            self.body,
            r#"<text {axis}="{}">{}</text>"#,
            coordinate(position),
            self.escaped(text)
        );
    }

    /// Closes the most recently opened group.
    pub(crate) fn close(&mut self) {
        self.body.push_str("</g>");
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.lines(class, &[(from, to)]);
    }

    /// Many separate straight lines as one element.
    pub(crate) fn lines(&mut self, class: &str, lines: &[LineSegment]) {
        let mut path = PathData::default();
        for (from, to) in lines {
            path.move_to(*from);
            path.line_to(*to);
        }
        self.path(class, &path.finish());
    }

    fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            let _ = write!(self.body, r#"<path{} d="{data}"/>"#, class_attribute(class));
        }
    }

    /// A line through points; `None` leaves a gap.
    pub(crate) fn curve(&mut self, class: &str, points: &[Option<(f64, f64)>]) {
        self.path(class, &path_data(points));
    }

    /// The areas between lines and a base level for each, for contiguous points, as one element.
    pub(crate) fn areas(&mut self, class: &str, areas: &[(Vec<(f64, f64)>, f64)]) {
        let mut data = String::new();
        for (points, level) in areas {
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let outline = points.iter().copied().chain([(last.0, *level), (first.0, *level)]);
            data.push_str(&path_data(&outline.map(Some).collect::<Vec<_>>()));
            data.push('Z');
        }
        self.path(class, &data);
    }

    /// The area between two lines with the same x coordinates.
    pub(crate) fn band(&mut self, class: &str, upper: &[(f64, f64)], lower: &[(f64, f64)]) {
        let outline: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().map(Some).collect();
        if !outline.is_empty() {
            self.path(class, &format!("{}Z", path_data(&outline)));
        }
    }

    /// A rectangle given by two corners.
    pub(crate) fn rectangle(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let (x, y, width, height) =
            (coordinate(x), coordinate(y), coordinate(width), coordinate(height));
        let class = class_attribute(class);
        let _ = write!(
            self.body,
            r#"<rect{class} x="{x}" y="{y}" width="{width}" height="{height}"/>"#
        );
    }

    /// Many rectangles as one element, each given by two corners.
    pub(crate) fn rectangles(&mut self, class: &str, corners: &[LineSegment]) {
        let mut data = String::new();
        // Coordinates are rounded on output, so that neighbours must share their edges.
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        for (from, to) in corners {
            let (x, y) = (tenths(from.0), tenths(from.1));
            let (width, height) = (tenths(to.0) - x, tenths(to.1) - y);
            let (back, across, down) = (coordinate(-width), coordinate(width), coordinate(height));
            let _ = write!(data, "M{} {}h{across}v{down}h{back}Z", coordinate(x), coordinate(y));
        }
        self.path(class, &data);
    }

    /// A transparent rectangle with a tooltip.
    pub(crate) fn spot(&mut self, from: (f64, f64), to: (f64, f64), tooltip: &str) {
        let (x, y) = (coordinate(from.0), coordinate(from.1));
        let (width, height) = (coordinate(to.0 - from.0), coordinate(to.1 - from.1));
        let tooltip = escaped(tooltip);
        let _ = write!(
            self.body,
            r#"<rect class="mark" x="{x}" y="{y}" width="{width}" height="{height}"><title>{tooltip}</title></rect>"#
        );
    }

    /// Small dots as one element: zero-length strokes with round caps.
    pub(crate) fn dots(&mut self, class: &str, positions: &[(f64, f64)]) {
        let mut data = String::new();
        for position in positions {
            let _ = write!(data, "M{} {}h0", coordinate(position.0), coordinate(position.1));
        }
        self.path(class, &data);
    }

    /// The marker of a slot, with a tooltip unless it is empty.
    pub(crate) fn marker(&mut self, class: &str, slot: Slot, position: (f64, f64), tooltip: &str) {
        let (x, y) = (coordinate(position.0), coordinate(position.1));
        let shape = slot.mark().shape();
        let _ = write!(self.body, r#"<path{} d="M{x} {y}{shape}""#, class_attribute(class));
        if tooltip.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></path>", escaped(tooltip));
        }
    }

    /// Markers of a slot without tooltips, as one element.
    pub(crate) fn markers(&mut self, class: &str, slot: Slot, positions: &[(f64, f64)]) {
        let mut data = String::new();
        for (x, y) in positions {
            let _ = write!(data, "M{} {}{}", coordinate(*x), coordinate(*y), slot.mark().shape());
        }
        self.path(class, &data);
    }

    /// A text. Without a class, it inherits the style and anchor of its group.
    pub(crate) fn text(&mut self, class: &str, position: (f64, f64), anchor: Anchor, text: &str) {
        let (x, y) = (coordinate(position.0), coordinate(position.1));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " m",
            Anchor::End => " e",
        };
        let class = class_attribute(format!("{class}{anchor}").trim_start());
        let _ = write!(self.body, r#"<text{class} x="{x}" y="{y}">{}</text>"#, self.escaped(text));
    }

    /// A text with its percentage in the format of the language.
    fn escaped(&self, text: &str) -> String {
        match text.strip_suffix(" %") {
            Some(number) => escaped(number) + self.percent,
            None => escaped(text),
        }
    }

    /// A text that is rotated to read upwards, centred at the position.
    pub(crate) fn upright_text(&mut self, class: &str, position: (f64, f64), text: &str) {
        let (x, y) = (coordinate(position.0), coordinate(position.1));
        let _ = write!(
            self.body,
            r#"<text class="{} m" transform="translate({x} {y})rotate(-90)">{}</text>"#,
            escaped(class),
            escaped(text)
        );
    }
}

fn class_attribute(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(r#" class="{}""#, escaped(class)) }
}

fn path_data(points: &[Option<(f64, f64)>]) -> String {
    let mut path = PathData::default();
    let mut is_drawing = false;
    for point in points {
        match point {
            Some(point) if is_drawing => path.line_to(*point),
            Some(point) => path.move_to(*point),
            None => {}
        }
        is_drawing = point.is_some();
    }
    path.finish()
}

/// The `d` attribute of a path in a short form, because reports contain thousands of points. Steps
/// are relative and in whole tenths of a unit, so that rounding errors do not accumulate;
/// separators are omitted where possible; successive steps in the same direction along an axis are
/// merged.
#[derive(Default)]
struct PathData {
    data: String,
    /// A pending step, which the next may extend.
    waiting: Option<(i64, i64)>,
    /// Current position, in tenths.
    at: (i64, i64),
    /// The command that a further pair of numbers would continue.
    open: Option<char>,
}

/// A coordinate in tenths of a unit. NaN becomes 0.
fn tenths(value: f64) -> i64 {
    if value.is_finite() { (value * 10.0).round() as i64 } else { 0 }
}

impl PathData {
    fn finish(mut self) -> String {
        self.write_waiting();
        self.data
    }

    fn move_to(&mut self, (x, y): (f64, f64)) {
        self.write_waiting();
        let _ = write!(self.data, "M{} {}", coordinate(x), coordinate(y));
        self.at = (tenths(x), tenths(y));
        self.open = None;
    }

    fn line_to(&mut self, (x, y): (f64, f64)) {
        let to = (tenths(x), tenths(y));
        let step = (to.0 - self.at.0, to.1 - self.at.1);
        self.at = to;
        self.waiting = match (self.waiting, step) {
            (waiting, (0, 0)) => waiting,
            (Some((before, 0)), (dx, 0)) if (before > 0) == (dx > 0) => Some((before + dx, 0)),
            (Some((0, before)), (0, dy)) if (before > 0) == (dy > 0) => Some((0, before + dy)),
            _ => {
                self.write_waiting();
                Some(step)
            }
        };
    }

    fn write_waiting(&mut self) {
        match self.waiting.take() {
            None => {}
            Some((dx, 0)) => self.command('h', &[dx]),
            Some((0, dy)) => self.command('v', &[dy]),
            Some((dx, dy)) => self.command('l', &[dx, dy]),
        }
    }

    fn command(&mut self, command: char, steps: &[i64]) {
        let mut needs_separator = self.open == Some(command);
        if !needs_separator {
            self.data.push(command);
        }
        self.open = Some(command);
        for step in steps {
            if needs_separator && *step >= 0 {
                self.data.push(' ');
            }
            let sign = if *step < 0 { "-" } else { "" };
            let (whole, tenth) = (step.abs() / 10, step.abs() % 10);
            let _ = match (whole, tenth) {
                (whole, 0) => write!(self.data, "{sign}{whole}"),
                (0, tenth) => write!(self.data, "{sign}.{tenth}"),
                (whole, tenth) => write!(self.data, "{sign}{whole}.{tenth}"),
            };
            needs_separator = true;
        }
    }
}

impl Mark {
    /// Outline relative to its centre, about 8 units across.
    fn shape(self) -> &'static str {
        match self {
            Self::Circle => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
            Self::Square => "m-3.6 -3.6h7.2v7.2h-7.2Z",
            Self::Triangle => "m0 -4.8l4.6 8h-9.2Z",
            Self::Diamond => "m0 -5.2l5.2 5.2l-5.2 5.2l-5.2 -5.2Z",
            Self::TriangleDown => "m0 4.8l4.6 -8h-9.2Z",
            Self::Plus => "m-1.6 -4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2Z",
            Self::Pentagon => "m0 -4.8l4.6 3.3l-1.8 5.4h-5.6l-1.8 -5.4Z",
            Self::Bar => "m-5 -2h10v4h-10Z",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<script>&\"'"), "&lt;script&gt;&amp;&quot;&#39;");
        assert_eq!(escaped("a\u{0}b\nc"), "ab c");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        for (value, text) in
            [(1.0, "1"), (1.25, "1.2"), (-0.01, "0"), (f64::NAN, "0"), (f64::INFINITY, "0")]
        {
            assert_eq!(coordinate(value), text);
        }
    }

    #[test]
    fn a_gap_interrupts_a_curve() {
        assert_eq!(
            path_data(&[Some((0.0, 1.0)), None, Some((2.0, 3.0)), Some((4.0, 5.0))]),
            "M0 1M2 3l2 2"
        );
    }

    #[test]
    fn paths_are_written_short_and_do_not_drift() {
        let steps = [(0.0, 10.0), (5.0, 10.0), (5.0, 9.5), (6.1, 9.9), (7.2, 9.2), (8.0, 9.2)];
        assert_eq!(
            path_data(&steps.map(Some)),
            "M0 10h5v-.5l1.1.4 1.1-.7h.8".replace(".1.4", ".1 .4")
        );
        // A third of a tenth, thirty times, is ten tenths.
        let slow: Vec<_> = (0..=30).map(|i| Some((f64::from(i) / 30.0, 0.0))).collect();
        let travelled: f64 =
            path_data(&slow)[5..].split_whitespace().map(|step| step.parse::<f64>().unwrap()).sum();
        assert!((travelled - 1.0).abs() < 1e-9, "{travelled}");
    }

    #[test]
    fn a_chart_that_stands_alone_brings_its_style_and_heading() {
        let chart = Drawing::new(
            Labels { id: "c", title: "A & B", description: "what", percent: "%" },
            100.0,
        )
        .finish(50.0);
        let file = chart.stand_alone("ko");
        assert!(file.contains("<style>") && file.contains(">A &amp; B</text>"));
        assert!(
            file.contains("xml:lang=\"ko\"") && file.contains(":lang(ko){--sans:"),
            "fonts of its language"
        );
        assert!(!chart.inline("").contains("<style>"));
    }
}

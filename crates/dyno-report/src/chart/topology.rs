//! Who talks to whom: boxes in columns from left to right, lines between them, and a frame around what is on one machine.

use super::frame::{MEDIUM, SMALL, WIDTH};
use super::svg::{Anchor, Chart, Drawing};
use super::text::{shortened, width_em};

/// The picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TopologyChart {
    /// Unique in the page.
    pub(crate) id: String,
    /// What is drawn.
    pub(crate) title: String,
    /// The same in words, for readers who cannot see it.
    pub(crate) description: String,
    /// Name of the machine, which stands over its frame.
    pub(crate) machine: String,
    /// Columns that are on the machine, from the left.
    pub(crate) inside: usize,
    /// Boxes by column.
    pub(crate) columns: Vec<Vec<Place>>,
    /// Which boxes talk to each other, as column and row.
    pub(crate) links: Vec<[(usize, usize); 2]>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Place {
    /// What it is.
    pub(crate) name: String,
    /// More of it; perhaps empty.
    pub(crate) note: String,
}

const GAP: f64 = 46.0;
const BETWEEN: f64 = 14.0;
const HIGH: f64 = 40.0;
const PADDING: f64 = 11.0;
const FRAME: f64 = 12.0;
const HEAD: f64 = 22.0;

/// A box with its place.
struct Drawn<'a> {
    place: &'a Place,
    left: f64,
    top: f64,
    width: f64,
}

impl TopologyChart {
    /// Draws it.
    pub(crate) fn draw(&self) -> Chart {
        let mut drawing = Drawing::new(&self.id, &self.title, &self.description, WIDTH);
        let (boxes, bottom) = self.layout();
        let ends = |column: usize| boxes.get(column).and_then(|it| it.first()).map(|it| it.left + it.width);
        if let Some(right) = self.inside.checked_sub(1).and_then(ends) {
            drawing.rectangle("machine", (1.0, 1.0), (right + FRAME, bottom + FRAME));
            let name = shortened(&self.machine, right - FRAME, SMALL);
            drawing.text("side", (FRAME, 16.0), Anchor::Start, &name);
        }
        let find = |(column, row): (usize, usize)| boxes.get(column).and_then(|it| it.get(row));
        for (from, to) in self.links.iter().filter_map(|[from, to]| Some((find(*from)?, find(*to)?))) {
            let middle = |it: &Drawn<'_>| it.top + HIGH / 2.0;
            // Boxes of one column are joined from top to bottom.
            if (from.left - to.left).abs() < 1e-6 {
                let x = from.left + from.width / 2.0;
                drawing.line("link", (x, from.top + HIGH), (x, to.top));
            } else {
                drawing.line("link", (from.left + from.width, middle(from)), (to.left, middle(to)));
            }
        }
        for it in boxes.iter().flatten() {
            let right = it.left + it.width;
            drawing.rectangle("node", (it.left, it.top), (right, it.top + HIGH));
            let middle = it.left + it.width / 2.0;
            let room = it.width - PADDING;
            let lower = if it.place.note.is_empty() { HIGH / 2.0 + 4.0 } else { 17.0 };
            let name = shortened(&it.place.name, room, MEDIUM * 1.08);
            drawing.text("node-name", (middle, it.top + lower), Anchor::Middle, &name);
            let note = shortened(&it.place.note, room, SMALL);
            drawing.text("side", (middle, it.top + 32.0), Anchor::Middle, &note);
        }
        drawing.finish(bottom + FRAME + 1.0)
    }

    /// Boxes by column, each column in the middle of the height; and where the lowest ends.
    fn layout(&self) -> (Vec<Vec<Drawn<'_>>>, f64) {
        let columns = self.columns.len().max(1) as f64;
        let widest = (WIDTH - 2.0 * FRAME - (columns - 1.0) * GAP) / columns;
        let rows = self.columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let height = |rows: usize| rows as f64 * (HIGH + BETWEEN) - BETWEEN;
        let mut left = FRAME;
        let mut boxes = Vec::new();
        for column in &self.columns {
            let wide = |it: &Place| (width_em(&it.name) * MEDIUM * 1.08).max(width_em(&it.note) * SMALL);
            let width = column.iter().map(wide).fold(40.0, f64::max) + 2.0 * PADDING;
            let width = width.min(widest);
            let top = HEAD + (height(rows) - height(column.len().max(1))) / 2.0;
            let drawn = |(row, place)| Drawn { place, left, top: top + row as f64 * (HIGH + BETWEEN), width };
            boxes.push(column.iter().enumerate().map(drawn).collect());
            left += width + GAP;
        }
        (boxes, HEAD + height(rows))
    }
}

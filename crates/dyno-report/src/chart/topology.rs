//! The topology diagram: boxes in columns from left to right, lines between them, and a frame
//! around the boxes on the same machine.

use super::frame::{MEDIUM, SMALL, is_narrow};
use super::svg::{Anchor, Chart, Drawing};
use super::text::{width_em, wrapped};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TopologyChart {
    /// Name of the machine, which appears above its frame.
    pub(crate) machine: String,
    /// Columns on the machine.
    pub(crate) inside: Range<usize>,
    /// Boxes by column.
    pub(crate) columns: Vec<Vec<ChartNode>>,
    /// Connections between boxes, as column and row.
    pub(crate) links: Vec<[(usize, usize); 2]>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ChartNode {
    /// Its label.
    pub(crate) name: String,
    /// A second label; may be empty.
    pub(crate) note: String,
}

const GAP: f64 = 46.0;
/// Gap in the vertical layout.
const GAP_BELOW: f64 = 26.0;
const BETWEEN: f64 = 14.0;
const PADDING: f64 = 11.0;
const FRAME: f64 = 12.0;
const HEAD: f64 = 22.0;
const LINE: f64 = 15.0;

/// A box with its position, and its name and note split into lines.
struct Drawn {
    name: Vec<String>,
    note: Vec<String>,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Drawn {
    /// A box without a position.
    fn of(node: &ChartNode, width: f64) -> Self {
        let room = width - PADDING;
        let name = wrapped(&node.name, room, MEDIUM * 1.08);
        let note = wrapped(&node.note, room, SMALL);
        let height = (name.len() + note.len()) as f64 * LINE + 10.0;
        Self { name, note, left: 0.0, top: 0.0, width, height }
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn centre(&self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    fn draw(&self, drawing: &mut Drawing) {
        drawing.rectangle("node", (self.left, self.top), (self.right(), self.bottom()));
        let middle = self.centre().0;
        let lines = self.name.iter().map(|line| ("node-name", line));
        let mut y = self.top + 5.0 + LINE * 0.75;
        for (class, line) in lines.chain(self.note.iter().map(|line| ("side", line))) {
            drawing.text(class, (middle, y), Anchor::Middle, line);
            y += LINE;
        }
    }
}

impl TopologyChart {
    /// Draws the diagram: from left to right, or from top to bottom on a phone.
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let mut boxes = if is_narrow(width) { self.rows(width) } else { self.columns(width) };
        let ends = |boxes: &[Vec<Drawn>], end: fn(&Drawn) -> f64| {
            boxes.iter().flatten().map(end).fold(HEAD, f64::max) + FRAME
        };
        if boxes[self.inside()].iter().any(|column| !column.is_empty()) {
            self.draw_machine(&mut drawing, &mut boxes);
        }
        let find = |(column, row): (usize, usize)| boxes.get(column).and_then(|it| it.get(row));
        for (from, to) in
            self.links.iter().filter_map(|[from, to]| Some((find(*from)?, find(*to)?)))
        {
            // Boxes of the same column, or in the vertical layout, are connected from above. Those
            // of two columns are connected from the side, at any vertical distance.
            let is_beside = !is_narrow(width) && from.right() < to.left;
            if !is_beside && from.bottom() < to.top {
                let (above, below) = (from.centre().0, to.centre().0);
                drawing.line("link", (above, from.bottom()), (below, to.top));
            } else if from.right() < to.left {
                let (before, behind) = (from.centre().1, to.centre().1);
                drawing.line("link", (from.right(), before), (to.left, behind));
            }
        }
        for it in boxes.iter().flatten() {
            it.draw(&mut drawing);
        }
        drawing.finish(ends(&boxes, Drawn::bottom) + 1.0)
    }

    /// The columns on the machine, as far as they exist.
    fn inside(&self) -> Range<usize> {
        let end = self.inside.end.min(self.columns.len());
        self.inside.start.min(end)..end
    }

    /// The frame around the boxes on the machine, with its name above them; boxes move down to make
    /// room for the name.
    fn draw_machine(&self, drawing: &mut Drawing, boxes: &mut [Vec<Drawn>]) {
        let (width, inside) = (drawing.width(), self.inside());
        let is_narrow = is_narrow(width);
        let framed = boxes[inside.clone()].iter().flatten();
        let (left, right) = match is_narrow {
            true => (1.0, width - 1.0),
            false => framed.fold((width, HEAD), |(left, right), it| {
                (left.min(it.left - FRAME + 1.0), right.max(it.right() + FRAME))
            }),
        };
        let machine = wrapped(&self.machine, right - left + 1.0 - 2.0 * FRAME, SMALL);
        let lowered = machine.len().saturating_sub(1) as f64 * LINE;
        let (head, rows) = match is_narrow {
            true => (boxes[inside.start].first().map_or(HEAD, |it| it.top) - HEAD, inside),
            false => (0.0, 0..boxes.len()),
        };
        let moved = if is_narrow { rows.start..boxes.len() } else { rows.clone() };
        boxes[moved].iter_mut().flatten().for_each(|it| it.top += lowered);
        let bottom = boxes[rows].iter().flatten().map(Drawn::bottom).fold(HEAD, f64::max) + FRAME;
        drawing.rectangle("machine", (left, head + 1.0), (right, bottom));
        for (i, line) in machine.iter().enumerate() {
            let y = head + 16.0 + i as f64 * LINE;
            drawing.text("side", (left - 1.0 + FRAME, y), Anchor::Start, line);
        }
    }

    /// Boxes by column; each column is centred vertically.
    fn columns(&self, width: f64) -> Vec<Vec<Drawn>> {
        let columns = self.columns.len().max(1) as f64;
        let widest = (width - 2.0 * FRAME - (columns - 1.0) * GAP) / columns;
        let mut left = FRAME;
        let mut boxes: Vec<Vec<Drawn>> = Vec::new();
        for column in &self.columns {
            let wide = |it: &ChartNode| {
                (width_em(&it.name) * MEDIUM * 1.08).max(width_em(&it.note) * SMALL)
            };
            let width = (column.iter().map(wide).fold(40.0, f64::max) + 2.0 * PADDING).min(widest);
            boxes
                .push(column.iter().map(|node| Drawn { left, ..Drawn::of(node, width) }).collect());
            left += width + GAP;
        }
        let height =
            |column: &[Drawn]| column.iter().map(|it| it.height + BETWEEN).sum::<f64>() - BETWEEN;
        let highest = boxes.iter().map(|column| height(column)).fold(0.0, f64::max);
        for column in &mut boxes {
            let mut top = HEAD + (highest - height(column)) / 2.0;
            for it in column {
                it.top = top;
                top += it.height + BETWEEN;
            }
        }
        boxes
    }

    /// The same columns as rows.
    fn rows(&self, width: f64) -> Vec<Vec<Drawn>> {
        let mut top = HEAD;
        let mut boxes = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            // Room for the name of the machine.
            top += if at > 0 && at == self.inside.start { HEAD } else { 0.0 };
            let count = column.len().max(1) as f64;
            let wide = (width - 2.0 * FRAME - (count - 1.0) * BETWEEN) / count;
            let drawn = |(at, node)| Drawn {
                left: FRAME + at as f64 * (wide + BETWEEN),
                top,
                ..Drawn::of(node, wide)
            };
            let row: Vec<Drawn> = column.iter().enumerate().map(drawn).collect();
            top = row.iter().map(Drawn::bottom).fold(top, f64::max) + GAP_BELOW;
            boxes.push(row);
        }
        boxes
    }
}

//! Tables with a row per treatment: the rows of a line stand together under its name.

use super::{Page, cells};
use crate::messages::{Message, conclusion, headings};
use maud::{Markup, html};

/// A column after the first.
#[derive(Clone, Copy)]
pub(super) enum Column {
    /// Figures, to the right.
    Figure(&'static Message),
    /// Words, to the left.
    Word(&'static Message),
}

/// One treatment's cells after the first.
pub(super) struct Row {
    /// Index of the treatment.
    pub(super) treatment: usize,
    /// One `td` per column.
    pub(super) cells: Markup,
}

/// The table. With one number of clients per line there is nothing to group, and the first column names the treatment.
pub(super) fn table(page: &Page<'_>, columns: &[Column], rows: &[Row]) -> Markup {
    let groups = by_line(page, rows);
    let is_grouped = groups.iter().any(|(_, rows)| rows.len() > 1);
    let first = if is_grouped { &headings::CLIENTS } else { &headings::SYSTEM };
    let name = |treatment: usize| match is_grouped {
        true => conclusion::clients(&[page.model.treatments[treatment].clients], page.lang),
        false => cells::treatment_name(page, treatment),
    };
    html! {
        div.wide { table.sortable {
            thead { tr {
                th.l scope="col" { (page.text(first)) }
                @for column in columns {
                    @match column {
                        Column::Figure(message) => th scope="col" { (page.text(message)) },
                        Column::Word(message) => th.l scope="col" { (page.text(message)) },
                    }
                }
            } }
            @for (line, rows) in groups {
                tbody {
                    @if is_grouped {
                        tr { th.group scope="rowgroup" colspan=(columns.len() + 1) { (page.model.lines[line].label) } }
                    }
                    @for row in rows {
                        tr {
                            th scope="row" { a href={ "#t" (row.treatment) } { (name(row.treatment)) } }
                            (row.cells)
                        }
                    }
                }
            }
        } }
    }
}

/// Rows by line, lines in order of their first row.
fn by_line<'r>(page: &Page<'_>, rows: &'r [Row]) -> Vec<(usize, Vec<&'r Row>)> {
    let mut groups: Vec<(usize, Vec<&Row>)> = Vec::new();
    for row in rows {
        let line = page.model.treatments[row.treatment].line;
        match groups.iter_mut().find(|(other, _)| *other == line) {
            Some((_, members)) => members.push(row),
            None => groups.push((line, vec![row])),
        }
    }
    groups
}

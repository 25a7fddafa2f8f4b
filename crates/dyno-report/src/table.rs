//! A table of texts, laid out for a terminal or as Markdown. All that text and Markdown take from outside is made safe to print here.

use dyno_model::printable::{self, line};
use unicode_width::UnicodeWidthStr;

/// Blanks between two columns.
const GAP: usize = 2;

/// Side of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Texts.
    Left,
    /// Figures.
    Right,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    /// A line over the rows that follow.
    Group(String),
    Cells(Vec<String>),
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(title, align)| (line(title).into_owned(), *align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When the row has not as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "every row has a cell per column");
        self.rows.push(Row::Cells(cells.into_iter().map(|cell| line(&cell).into_owned()).collect()));
    }

    /// Adds a line over the rows that follow.
    pub fn group(&mut self, title: &str) {
        self.rows.push(Row::Group(line(title).into_owned()));
    }

    /// True without rows of cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row, Row::Cells(_)))
    }

    /// Columns aligned by blanks, as wide as their widest cell. Rows under a group are indented.
    #[must_use]
    pub fn to_text(&self) -> String {
        let widths = self.widths();
        let indent = if self.rows.iter().any(|row| matches!(row, Row::Group(_))) { "  " } else { "" };
        let titles: Vec<_> = self.columns.iter().map(|(title, _)| title.clone()).collect();
        let mut text = self.text_line(indent, &titles, &widths);
        for row in &self.rows {
            match row {
                Row::Group(title) => {
                    text.push_str(title);
                    text.push('\n');
                }
                Row::Cells(cells) => text.push_str(&self.text_line(indent, cells, &widths)),
            }
        }
        text
    }

    fn text_line(&self, indent: &str, cells: &[String], widths: &[usize]) -> String {
        let mut line = indent.to_owned();
        for (i, ((cell, width), (_, align))) in cells.iter().zip(widths).zip(&self.columns).enumerate() {
            if i > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let blanks = " ".repeat(width - cell.width());
            match align {
                Align::Left => line.extend([cell.as_str(), blanks.as_str()]),
                Align::Right => line.extend([blanks.as_str(), cell.as_str()]),
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(title, _)| title.width()).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.width());
                }
            }
        }
        widths
    }

    /// A Markdown table. A group becomes a first column that is filled in every row, so that each row stands for itself.
    #[must_use]
    pub fn to_markdown(&self, group_title: &str) -> String {
        let has_groups = self.rows.iter().any(|row| matches!(row, Row::Group(_)));
        let mut head = String::from("|");
        let mut rule = String::from("|");
        if has_groups {
            head.push_str(&format!(" {} |", escaped(group_title)));
            rule.push_str("---|");
        }
        for (title, align) in &self.columns {
            head.push_str(&format!(" {} |", escaped(title)));
            rule.push_str(if *align == Align::Right { "---:|" } else { "---|" });
        }
        let mut text = format!("{head}\n{rule}\n");
        let mut group = "";
        for row in &self.rows {
            match row {
                Row::Group(title) => group = title,
                Row::Cells(cells) => {
                    text.push('|');
                    if has_groups {
                        text.push_str(&format!(" {} |", escaped(group)));
                    }
                    for cell in cells {
                        text.push_str(&format!(" {} |", escaped(cell)));
                    }
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// Text for Markdown: no character of it is read as markup.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// Breaks a text at blanks so that no line is wider than `width` columns, where words allow it. The first line begins
/// with `first`, the others with as many blanks.
#[must_use]
pub fn wrapped(text: &str, first: &str, width: usize) -> String {
    let indent = " ".repeat(first.width());
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;
    let text = printable::line(text);
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        // A figure and its per cent sign stay together.
        let with_sign = words.next_if(|next| next.starts_with('%')).map(|sign| format!("{word} {sign}"));
        let word = with_sign.as_deref().unwrap_or(word);
        let blank = usize::from(is_begun);
        if is_begun && line.width() + blank + word.width() > width {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line.clone_from(&indent);
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn table() -> Table {
        let mut table = Table::new(&[("system", Align::Left), ("tx/s", Align::Right)]);
        table.row(vec!["데이터베이스".into(), "1,234".into()]);
        table.row(vec!["a|b".into(), "5".into()]);
        table
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_snapshot!(table().to_text(), @r"
        system         tx/s
        데이터베이스  1,234
        a|b               5
        ");
    }

    #[test]
    fn markdown_is_escaped() {
        assert_snapshot!(table().to_markdown("-"), @r"
        | system | tx/s |
        |---|---:|
        | 데이터베이스 | 1,234 |
        | a\|b | 5 |
        ");
    }

    #[test]
    fn groups_stand_over_their_rows_in_text_and_in_them_in_markdown() {
        let mut table = Table::new(&[("clients", Align::Right)]);
        table.group("MariaDB");
        table.row(vec!["1".into()]);
        assert_eq!(table.to_text(), "  clients\nMariaDB\n        1\n");
        assert_snapshot!(table.to_markdown("system"), @r"
        | system | clients |
        |---|---:|
        | MariaDB | 1 |
        ");
    }

    #[test]
    fn long_sentences_break_at_blanks_and_stay_indented() {
        assert_eq!(wrapped("one two three four", "* ", 10), "* one two\n  three\n  four\n");
        assert_eq!(wrapped("unbreakablelongword x", "- ", 8), "- unbreakablelongword\n  x\n");
        assert_eq!(wrapped("", "- ", 8), "-\n");
        assert_eq!(wrapped("at most 95 % of it", "", 10), "at most\n95 % of it\n");
    }
}

//! A table of typed cells, and how it is laid out for a terminal or as Markdown. All that text and Markdown take from outside is made safe to print here.

use crate::breaks;
use crate::cell::{Cell, Value};
use crate::messages::{Lang, Message, headings};
use dyno_model::printable::{self, line};
use unicode_width::UnicodeWidthStr;

/// Blanks between two columns.
const GAP: usize = 2;
/// Columns of the narrowest terminal that tables are laid out for; one that is a little wider has its columns nearer to each other.
const TERMINAL: usize = 80;

/// Side of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Texts.
    Left,
    /// Figures.
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) heading: &'static Message,
    pub(crate) align: Align,
    /// Which forms have it.
    pub(crate) form: Form,
}

/// Which forms of a report have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    All,
    /// Text and Markdown; the page has it beside another figure.
    Text,
    /// The page; a terminal is too narrow.
    Page,
}

impl Column {
    /// A column of figures.
    pub(crate) fn right(heading: &'static Message) -> Self {
        Self { heading, align: Align::Right, form: Form::All }
    }

    /// A column of words.
    pub(crate) fn left(heading: &'static Message) -> Self {
        Self { heading, align: Align::Left, form: Form::All }
    }

    /// The column, in text and Markdown only.
    pub(crate) fn in_text(self) -> Self {
        Self { form: Form::Text, ..self }
    }

    /// The column, in the page only.
    pub(crate) fn in_page(self) -> Self {
        Self { form: Form::Page, ..self }
    }
}

/// A table of typed cells, which every form lays out in its way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// Its rows, by what stands over them.
    pub(crate) groups: Vec<Group>,
    /// Titles of the names of groups, where these are columns in the page.
    pub(crate) names: &'static [&'static Message],
}

/// Rows under common names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Group {
    /// What they belong to; none in a table without groups.
    pub(crate) names: Vec<String>,
    /// A cell per column.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), groups: Vec::new(), names: &[] }
    }

    /// The same, whose groups are pairs of what is judged and what it is judged against.
    pub(crate) fn of_pairs(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { names: &[&headings::SUBJECT, &headings::BASELINE], ..Self::new(columns) }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When the row has not as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "every row has a cell per column");
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.rows.push(cells);
        }
    }

    /// Puts the rows that follow under these names.
    pub(crate) fn group<S: AsRef<str>>(&mut self, names: &[S]) {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        if self.groups.last().is_none_or(|group| group.names != names) {
            self.groups.push(Group { names, rows: Vec::new() });
        }
    }

    /// The table without some columns.
    pub(crate) fn without(self, headings: &[&Message]) -> Self {
        self.only(|column| !headings.contains(&column.heading))
    }

    /// The table without names over its rows, where these are told already.
    pub(crate) fn without_groups(mut self) -> Self {
        self.groups.iter_mut().for_each(|group| group.names.clear());
        self
    }

    /// The table with those columns that a form has: all but those of the other one.
    pub(crate) fn for_form(self, other: Form) -> Self {
        self.only(|column| column.form != other)
    }

    /// The table without columns that have no figure in any row: intervals of a single block, a processor that was not looked at.
    pub(crate) fn without_absent_columns(self) -> Self {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let is_told = |at: usize| at == 0 || rows().any(|row| row[at].value != Value::Absent);
        let told: Vec<bool> = (0..self.columns.len()).map(is_told).collect();
        let mut places = told.into_iter();
        self.only(|_| places.next() == Some(true))
    }

    fn only(mut self, mut is_kept: impl FnMut(&Column) -> bool) -> Self {
        let kept: Vec<bool> = self.columns.iter().map(&mut is_kept).collect();
        let mut places = kept.iter();
        self.columns.retain(|_| places.next() == Some(&true));
        for row in self.groups.iter_mut().flat_map(|group| &mut group.rows) {
            let mut places = kept.iter();
            row.retain(|_| places.next() == Some(&true));
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    pub(crate) fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// Columns aligned by blanks, as wide as their widest cell. Rows under a group are indented.
    pub(crate) fn to_text(&self, lang: Lang) -> String {
        let plain = Plain::of(&self.clone().without_absent_columns(), lang);
        let widths = plain.widths();
        let gaps = widths.len().saturating_sub(1);
        let needed = |indent: usize, gap: usize| indent + widths.iter().sum::<usize>() + gap * gaps;
        let indents = if plain.has_groups() { ["  ", " "] } else { ["", ""] };
        let (indent, gap) = match needed(indents[0].len(), GAP) > TERMINAL {
            true if needed(indents[1].len(), GAP - 1) <= TERMINAL => (indents[1], GAP - 1),
            _ => (indents[0], GAP),
        };
        let line = |cells: &[String]| plain.text_line(indent, cells, &widths, gap);
        let mut text = line(&plain.titles);
        for (group, rows) in &plain.groups {
            if !group.is_empty() {
                text.push_str(group);
                text.push('\n');
            }
            text.extend(rows.iter().map(|cells| line(cells)));
        }
        text
    }

    /// A Markdown table. A group becomes a first column that is filled in every row, so that each row stands for itself.
    pub(crate) fn to_markdown(&self, group_title: &str, lang: Lang) -> String {
        let plain = Plain::of(self, lang);
        let line = |group: &str, cells: &[String]| {
            let group = plain.has_groups().then(|| format!(" {} |", escaped(group)));
            let cells: String = cells.iter().map(|cell| format!(" {} |", escaped(cell))).collect();
            format!("|{}{cells}\n", group.unwrap_or_default())
        };
        let rule = |align: &Align| if *align == Align::Right { "---:|" } else { "---|" };
        let rules: String = plain.aligns.iter().map(rule).collect();
        let first = if plain.has_groups() { "---|" } else { "" };
        let mut text = format!("{}|{first}{rules}\n", line(group_title, &plain.titles));
        for (group, rows) in &plain.groups {
            text.extend(rows.iter().map(|cells| line(group, cells)));
        }
        text
    }
}

/// A table of texts that are safe to print.
struct Plain {
    titles: Vec<String>,
    aligns: Vec<Align>,
    groups: Vec<(String, Vec<Vec<String>>)>,
}

impl Plain {
    fn of(table: &Table, lang: Lang) -> Self {
        let table = table.clone().for_form(Form::Page);
        let safe = |text: &str| line(text).into_owned();
        let row = |row: &Vec<Cell>| row.iter().map(|cell| safe(&cell.plain(lang))).collect();
        let group = |group: &Group| (safe(&group.names.join(" : ")), group.rows.iter().map(row).collect());
        Self {
            titles: table.columns.iter().map(|column| safe(column.heading.text(lang))).collect(),
            aligns: table.columns.iter().map(|column| column.align).collect(),
            groups: table.groups.iter().map(group).collect(),
        }
    }

    fn has_groups(&self) -> bool {
        self.groups.iter().any(|(group, _)| !group.is_empty())
    }

    fn text_line(&self, indent: &str, cells: &[String], widths: &[usize], gap: usize) -> String {
        let mut line = indent.to_owned();
        for (i, ((cell, width), align)) in cells.iter().zip(widths).zip(&self.aligns).enumerate() {
            if i > 0 {
                line.push_str(&" ".repeat(gap));
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
        let mut widths: Vec<usize> = self.titles.iter().map(|title| title.width()).collect();
        for cells in self.groups.iter().flat_map(|(_, rows)| rows) {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.width());
            }
        }
        widths
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

/// Breaks a text so that no line is wider than `width` columns, where words allow it. The first line begins
/// with `first`, the others with as many blanks.
pub(crate) fn wrapped(text: &str, first: &str, width: usize) -> String {
    let indent = " ".repeat(first.width());
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;
    let text = printable::line(text);
    let mut words = breaks::parts(&text).peekable();
    while let Some((is_spaced, word)) = words.next() {
        // A figure and its per cent sign stay together.
        let with_sign =
            words.next_if(|(_, next)| next.starts_with('%')).map(|(_, sign)| format!("{word} {sign}"));
        let word = with_sign.as_deref().unwrap_or(word);
        let blank = usize::from(is_begun && is_spaced);
        if is_begun && line.width() + blank + word.width() > width {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line.clone_from(&indent);
        } else if blank > 0 {
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
    use crate::messages::EN;
    use insta::assert_snapshot;

    fn table() -> Table {
        let mut table = Table::new([Column::left(&headings::SYSTEM), Column::right(&headings::THROUGHPUT)]);
        table.row(["데이터베이스", "1,234"].map(Cell::text));
        table.row(["a|b", "5"].map(Cell::text));
        table
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_snapshot!(table().to_text(EN), @r"
        system         tx/s
        데이터베이스  1,234
        a|b               5
        ");
    }

    #[test]
    fn markdown_is_escaped() {
        assert_snapshot!(table().to_markdown("-", EN), @r"
        | system | tx/s |
        |---|---:|
        | 데이터베이스 | 1,234 |
        | a\|b | 5 |
        ");
    }

    #[test]
    fn groups_stand_over_their_rows_in_text_and_in_them_in_markdown() {
        let mut table = Table::new([Column::right(&headings::CLIENTS)]);
        table.group(&["MariaDB"]);
        table.row([Cell::text("1")]);
        assert_eq!(table.to_text(EN), "  clients\nMariaDB\n        1\n");
        assert_snapshot!(table.to_markdown("system", EN), @r"
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

    #[test]
    fn japanese_sentences_break_without_blanks() {
        assert_eq!(wrapped("応答時間は 95 % です。", "* ", 10), "* 応答時間\n  は 95 %\n  です。\n");
    }
}

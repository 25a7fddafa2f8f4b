//! A table of typed cells, and its layout for a terminal or as Markdown. Text from outside is
//! sanitized here before it is printed as text or Markdown.

use crate::breaks;
use crate::cell::{Cell, Value};
use crate::messages::{Lang, Message, columns, headings};
use dyno_model::printable::{self, line};
use unicode_width::UnicodeWidthStr;

/// Spaces between two columns.
const GAP: usize = 2;
/// Width of the narrowest supported terminal, in columns; a table that is slightly wider gets
/// narrower gaps.
const TERMINAL: usize = 80;

/// Columns that qualify the one before, from which they are not separated.
const FOLLOWING: [&Message; 2] = [&columns::AT_MOST, &headings::INTERVAL];

/// Maximum number of lines of column titles in text.
const TITLE_LINES: usize = 3;

/// Alignment of a column.
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
    /// The forms that show it.
    pub(crate) form: Form,
}

/// The forms of a report that show a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    All,
    /// Text and Markdown; the page shows the value next to another figure.
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
}

/// A table of typed cells, which every form lays out separately.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// Its rows, by group.
    pub(crate) groups: Vec<Group>,
    /// Titles for the names of groups, if these are columns in the page.
    pub(crate) names: &'static [&'static Message],
}

/// Rows under common names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Group {
    /// The names of the group; empty in a table without groups.
    pub(crate) names: Vec<String>,
    /// A cell per column.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), groups: Vec::new(), names: &[] }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When the number of cells differs from the number of columns.
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

    /// Adds the following rows under these names.
    pub(crate) fn group<S: AsRef<str>>(&mut self, names: &[S]) {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        if self.groups.last().is_none_or(|group| group.names != names) {
            self.groups.push(Group { names, rows: Vec::new() });
        }
    }

    pub(crate) fn without(self, headings: &[&Message]) -> Self {
        self.only(|column| !headings.contains(&column.heading))
    }

    /// The table without group names, if these are shown elsewhere.
    pub(crate) fn without_groups(mut self) -> Self {
        self.groups.iter_mut().for_each(|group| group.names.clear());
        self
    }

    /// The table without the columns that only the other form shows.
    pub(crate) fn for_form(self, other: Form) -> Self {
        self.only(|column| column.form != other)
    }

    /// The table without columns that have no figure in any row, such as intervals of a single
    /// block or CPU times that were not measured.
    pub(crate) fn without_absent_columns(self) -> Self {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let has_values = |at: usize| at == 0 || rows().any(|row| row[at].value != Value::Absent);
        let has_cells: Vec<bool> = (0..self.columns.len()).map(has_values).collect();
        let mut has_cells = has_cells.into_iter();
        self.only(|_| has_cells.next() == Some(true))
    }

    fn only(mut self, mut is_kept: impl FnMut(&Column) -> bool) -> Self {
        let is_shown: Vec<bool> = self.columns.iter().map(&mut is_kept).collect();
        let mut flags = is_shown.iter();
        self.columns.retain(|_| flags.next() == Some(&true));
        for row in self.groups.iter_mut().flat_map(|group| &mut group.rows) {
            let mut flags = is_shown.iter();
            row.retain(|_| flags.next() == Some(&true));
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    pub(crate) fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// Text with columns aligned by spaces, as wide as their widest cell; a table that is too wide
    /// for a terminal is split into parts below each other. Rows of a group are indented.
    pub(crate) fn to_text(&self, lang: Lang) -> String {
        let parts = Plain::of(&self.clone().without_absent_columns(), lang).parts();
        parts.iter().map(Plain::to_text).collect::<Vec<_>>().join("\n")
    }

    /// A Markdown table. A group becomes a first column that is filled in every row, so that each
    /// row is complete.
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

/// A table of sanitized texts.
#[derive(Clone)]
struct Plain {
    titles: Vec<String>,
    aligns: Vec<Align>,
    /// For each column, whether it qualifies the one before.
    follows: Vec<bool>,
    groups: Vec<(String, Vec<Vec<String>>)>,
}

impl Plain {
    fn of(table: &Table, lang: Lang) -> Self {
        let table = table.clone().for_form(Form::Page);
        let safe = |text: &str| line(text).into_owned();
        let row = |row: &Vec<Cell>| row.iter().map(|cell| safe(&cell.plain(lang))).collect();
        let group =
            |group: &Group| (safe(&group.names.join(" : ")), group.rows.iter().map(row).collect());
        Self {
            titles: table.columns.iter().map(|column| safe(column.heading.text(lang))).collect(),
            aligns: table.columns.iter().map(|column| column.align).collect(),
            follows: table
                .columns
                .iter()
                .map(|column| FOLLOWING.contains(&column.heading))
                .collect(),
            groups: table.groups.iter().map(group).collect(),
        }
    }

    fn has_groups(&self) -> bool {
        self.groups.iter().any(|(group, _)| !group.is_empty())
    }

    fn with(&self, columns: &[usize]) -> Self {
        let of = |cells: &Vec<String>| columns.iter().map(|at| cells[*at].clone()).collect();
        let group = |(name, rows): &(String, Vec<Vec<String>>)| {
            (name.clone(), rows.iter().map(of).collect())
        };
        Self {
            titles: of(&self.titles),
            aligns: columns.iter().map(|at| self.aligns[*at]).collect(),
            follows: columns.iter().map(|at| self.follows[*at]).collect(),
            groups: self.groups.iter().map(group).collect(),
        }
    }

    /// Splits the table into parts that fit a terminal; each part repeats the column that names the
    /// rows.
    fn parts(self) -> Vec<Self> {
        if self.fitting().is_some() {
            return vec![self];
        }
        let words = self.aligns.iter().skip(1).take_while(|align| **align == Align::Left).count();
        let names: Vec<usize> = (0..=words).collect();
        let mut parts = Vec::new();
        let mut taken = names.clone();
        let mut rest = (names.len()..self.titles.len()).peekable();
        while let Some(column) = rest.next() {
            let mut next = vec![column];
            while let Some(following) = rest.next_if(|column| self.follows[*column]) {
                next.push(following);
            }
            let more = [&taken[..], &next].concat();
            if taken.len() > names.len() && self.with(&more).fitting().is_none() {
                parts.push(self.with(&taken));
                taken = [&names[..], &next].concat();
            } else {
                taken = more;
            }
        }
        parts.push(self.with(&taken));
        parts
    }

    /// The first layout that fits a terminal: first with narrower gaps, then with titles on several
    /// lines.
    fn fitting(&self) -> Option<Layout> {
        self.layouts().find(|layout| {
            let gaps = layout.gap * layout.widths.len().saturating_sub(1);
            layout.indent.len() + layout.widths.iter().sum::<usize>() + gaps <= TERMINAL
        })
    }

    fn layouts(&self) -> impl Iterator<Item = Layout> {
        let indents = if self.has_groups() { ["  ", " "] } else { ["", ""] };
        (1..=TITLE_LINES).flat_map(move |lines| {
            let widths = self.widths(lines);
            let layout = move |(indent, gap)| Layout { indent, gap, widths: widths.clone() };
            indents.into_iter().zip([GAP, GAP - 1]).map(layout)
        })
    }

    fn to_text(&self) -> String {
        let Some(layout) = self.fitting().or_else(|| self.layouts().next()) else {
            return String::new();
        };
        let titles = self.titles.iter().zip(&layout.widths);
        let titles: Vec<Vec<String>> = titles.map(|(title, width)| folded(title, *width)).collect();
        let most = titles.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for at in 0..most {
            // Titles are aligned at their last lines.
            let line = |title: &Vec<String>| {
                (at + title.len()).checked_sub(most).map_or("", |at| &title[at]).to_owned()
            };
            text.push_str(&self.text_line(&titles.iter().map(line).collect::<Vec<_>>(), &layout));
        }
        for (group, rows) in &self.groups {
            if !group.is_empty() {
                text.push_str(group);
                text.push('\n');
            }
            text.extend(rows.iter().map(|cells| self.text_line(cells, &layout)));
        }
        text
    }

    fn text_line(&self, cells: &[String], layout: &Layout) -> String {
        let mut line = layout.indent.to_owned();
        for (i, ((cell, width), align)) in
            cells.iter().zip(&layout.widths).zip(&self.aligns).enumerate()
        {
            if i > 0 {
                line.push_str(&" ".repeat(layout.gap));
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

    /// Column widths with titles on at most this many lines.
    fn widths(&self, lines: usize) -> Vec<usize> {
        let narrowest =
            |title: &String| (0..title.width()).find(|width| folded(title, *width).len() <= lines);
        // A line is at least as wide as its longest word, even if that exceeds the limit.
        let needed = |title: &String| {
            let lines = folded(title, narrowest(title).unwrap_or(title.width()));
            lines.iter().map(|line| line.width()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.titles.iter().map(needed).collect();
        for cells in self.groups.iter().flat_map(|(_, rows)| rows) {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }
}

/// Positions of the columns in text.
struct Layout {
    indent: &'static str,
    gap: usize,
    widths: Vec<usize>,
}

/// Splits a title into as few lines of whole words as the width allows.
fn folded(title: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in title.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Escapes text for Markdown: no character of it is read as markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// Wraps a text at `width` columns, where words allow it. The first line begins with `first`, the
/// others with as many spaces.
pub(crate) fn wrapped(text: &str, first: &str, width: usize) -> String {
    let indent = " ".repeat(first.width());
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;
    let text = printable::line(text);
    let mut words = breaks::parts(&text).peekable();
    while let Some((is_spaced, word)) = words.next() {
        let (before, mut whole) = (if is_spaced { " " } else { "" }, word.to_owned());
        while let Some((_, next)) = words.next_if(|(is_spaced, next)| {
            *is_spaced && breaks::is_bound(&format!("{line}{before}{whole}"), next)
        }) {
            whole.extend([" ", next]);
        }
        let word = whole.as_str();
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
        let mut table =
            Table::new([Column::left(&headings::SYSTEM), Column::right(&columns::THROUGHPUT)]);
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
        assert_eq!(wrapped("nothing for 5.88 s.", "", 16), "nothing for\n5.88 s.\n");
        assert_eq!(wrapped("최대 클라이언트 12개", "", 16), "최대\n클라이언트 12개\n");
    }

    #[test]
    fn japanese_sentences_break_without_blanks() {
        assert_eq!(
            wrapped("応答時間は 95 % です。", "* ", 10),
            "* 応答時間\n  は 95 %\n  です。\n"
        );
    }

    #[test]
    fn wide_tables_fold_headings_and_wrap_columns_in_a_terminal() {
        let wide = |columns: usize| {
            let first = [Column::left(&headings::SYSTEM), Column::left(&headings::FAULT)];
            let others = [Column::right(&columns::NEVER_STARTED), Column::right(&columns::AT_MOST)];
            let mut table =
                Table::new(first.into_iter().chain(others.into_iter().cycle().take(columns)));
            table.row((0..columns + 2).map(|at| Cell::text(format!("c{at}"))));
            table.to_text(EN)
        };
        assert_snapshot!(wide(10), @r###"
                         not   at     not   at     not   at     not   at     not   at
        system fault started most started most started most started most started most
        c0     c1         c2   c3      c4   c5      c6   c7      c8   c9     c10  c11
        "###);
        assert_snapshot!(wide(14), @r###"
                         not   at     not   at     not   at     not   at     not   at
        system fault started most started most started most started most started most
        c0     c1         c2   c3      c4   c5      c6   c7      c8   c9     c10  c11

        system  fault  not started  at most  not started  at most
        c0      c1             c12      c13          c14      c15
        "###);
        for columns in 1..40 {
            let text = wide(columns);
            assert!(text.lines().all(|line| line.width() <= TERMINAL), "{text}");
            assert!(
                (0..columns + 2)
                    .all(|at| text.split_whitespace().any(|cell| cell == format!("c{at}")))
            );
        }
    }
}

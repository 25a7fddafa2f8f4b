//! Tables of the HTML page, for reports and comparisons. Intervals and the like, which plain text
//! shows in separate columns, appear next to their figure.

use crate::breaks::{is_bound, is_particle};
use crate::cell::{Cell, Value};
use crate::messages::{Lang, Message, fill, headings, names, page};
use crate::table::{Align, Column, Form, Group, Table};
use crate::words::Word;
use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

/// A word in a frame; chips differ in symbol and shape as well as in colour.
pub(crate) fn chip(word: Word, lang: Lang) -> Markup {
    html! { span class={ "chip " (word.class) } { (word.text(lang)) } }
}

/// Longest word that is kept on one line, in bytes; it fits on a phone.
const LONGEST_WORD: usize = 28;
/// Widest cell text that is kept on one line, in terminal columns: names of variants, metrics and
/// trials.
const KEPT_WIDTH: usize = 18;
/// Width from which a cell's text counts as a sentence, which needs more room.
const SENTENCE_WIDTH: usize = 40;
/// Maximum number of rows of a table that is kept on one printed page, together with its header.
const SHORT_ROWS: usize = 10;
/// Width of a phone (390 pixels), in terminal columns of up to eight pixels each.
const TELEPHONE: usize = 45;
/// Gap between two columns of a table, in terminal columns.
const GAP: usize = 2;
/// Width of the frame and symbol of a chip, in terminal columns.
const FRAME: usize = 5;

/// Keeps words with hyphens on one line: `read-modify-write`, `--release`.
pub(crate) fn unbroken(text: &str) -> Markup {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut rest = text;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let is_word = rest.starts_with(is_inside);
        let (part, after) =
            rest.split_at(rest.find(|c| is_inside(c) != is_word).unwrap_or(rest.len()));
        let has_hyphen = part.contains('-') && part.contains(|c: char| c.is_ascii_alphanumeric());
        parts.push((part, is_word && has_hyphen && part.len() <= LONGEST_WORD));
        rest = after;
    }
    html! { @for (part, is_kept) in parts { @if is_kept { span.w { (part) } } @else { (part) } } }
}

/// Renders the table, with a caption unless it is empty. Readers can sort its rows; groups stay
/// together.
pub(crate) fn table(table: Table, caption: &str, lang: Lang) -> Markup {
    let table = table.for_form(Form::Text).without_absent_columns();
    let of_configurations =
        table.columns.first().is_some_and(|column| column.heading == &headings::CLIENTS);
    // With one number of clients per series there is nothing to group, and the first column names
    // the configuration.
    let is_flat = of_configurations && table.groups.iter().all(|group| group.rows.len() < 2);
    // Names of pairs are headings over their rows, or columns where each pair has one row.
    let names =
        if table.groups.iter().all(|group| group.rows.len() < 2) { table.names } else { &[] };
    let has_titles = names.is_empty() && !is_flat;
    let named_groups = if has_titles {
        table.groups.iter().filter(|group| !group.names.is_empty()).count()
    } else {
        0
    };
    let first = if is_flat { Some(&headings::SYSTEM) } else { None };
    let headings = names.iter().copied().chain(table.columns.iter().map(|column| column.heading));
    let cell_titles = is_wide(widths(&table, names, is_flat, lang))
        .then(|| titles_of_cells(headings.map(|heading| heading.text(lang))));
    html! {
        div.wide { table class={ "sortable" @if table.rows() + named_groups <= SHORT_ROWS { " short" } @if cell_titles.is_some() { " stacked" } } style=[cell_titles] {
            @if !caption.is_empty() { caption { (caption) } }
            thead { tr {
                @for name in names { th.l { (name.text(lang)) } }
                @for (i, column) in table.columns.iter().enumerate() {
                    @let heading = first.filter(|_| i == 0).unwrap_or(column.heading);
                    @let is_left = column.align == Align::Left || of_configurations && i == 0;
                    th class=[is_left.then_some("l")] { (heading.text(lang)) }
                }
            } }
            @if has_titles {
                @for group in &table.groups { tbody {
                    @for name in titles(group, lang) {
                        tr { th.group scope="rowgroup" colspan=(table.columns.len()) { span { (unbroken(&name)) } } }
                    }
                    (rows(group, &[], &table.columns, is_flat, lang))
                } }
            } @else {
                tbody { @for group in &table.groups { (rows(group, names, &table.columns, is_flat, lang)) } }
            }
        } }
    }
}

/// Headings of a group: its name, or the two sides of a comparison.
fn titles(group: &Group, lang: Lang) -> Vec<String> {
    match &group.names[..] {
        [subject, baseline] => {
            vec![fill!(page::CHART_AGAINST, lang, subject, baseline)]
        }
        names => names.to_vec(),
    }
}

/// Returns true when columns of these widths do not fit on a phone; the style sheet then stacks
/// their cells.
pub(crate) fn is_wide(widths: impl IntoIterator<Item = usize>) -> bool {
    widths.into_iter().map(|width| width + GAP).sum::<usize>() > TELEPHONE
}

/// Column titles for the style sheet: stacked rows have no header, so each cell shows its title.
pub(crate) fn titles_of_cells<'a>(titles: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = titles.into_iter().map(|title| title.replace('\'', "\\27 "));
    quoted.enumerate().map(|(at, title)| format!("--t{at}:'{title}';")).collect()
}

/// Approximate minimum width of each column, in terminal columns.
fn widths(table: &Table, names: &[&Message], is_flat: bool, lang: Lang) -> Vec<usize> {
    let rows = || table.groups.iter().flat_map(|group| &group.rows);
    let named = |at: usize| table.groups.iter().filter_map(move |group| group.names.get(at));
    let of_name = |at: usize| named(at).map(|name| least_width(name)).max().unwrap_or(0);
    let of_column = |(at, column): (usize, &Column)| {
        let cells = rows().map(|row| cell_width(&row[at], lang)).max().unwrap_or(0);
        let name_width = if is_flat && at == 0 { of_name(0) } else { 0 };
        cells.max(name_width).max(longest_word(column.heading.text(lang)))
    };
    (0..names.len()).map(of_name).chain(table.columns.iter().enumerate().map(of_column)).collect()
}

fn longest_word(text: &str) -> usize {
    text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Minimum width of a text that wraps at spaces if it is long.
fn least_width(text: &str) -> usize {
    longest_word(text).max(text.width().min(KEPT_WIDTH))
}

fn cell_width(cell: &Cell, lang: Lang) -> usize {
    let text = cell.plain(lang);
    match &cell.value {
        Value::Configuration { clients, .. } => names::clients(&[*clients], lang).width(),
        Value::Word(_) | Value::Marked(_) => text.width() + FRAME,
        Value::Figure { half: Some(half), .. } => text.width() + " ± ".width() + half.width(),
        Value::Text(_) => least_width(&text),
        _ => text.width(),
    }
}

/// `named` are the titles of the columns for the names of the group, if any.
fn rows(
    group: &Group,
    name_titles: &[&Message],
    columns: &[Column],
    is_flat: bool,
    lang: Lang,
) -> Markup {
    let names = if name_titles.is_empty() { &[] } else { &group.names[..] };
    let series = if is_flat { group.names.first().map(String::as_str) } else { None };
    html! {
        @for row in &group.rows { tr {
            @for (i, name) in names.iter().enumerate() {
                @if i == 0 { th class=[unbroken_class(name)] scope="row" { (whole(name)) } } @else { td class={ "l" @if unbroken_class(name).is_some() { " k" } } { (whole(name)) } }
            }
            @for (i, (cell, column)) in row.iter().zip(columns).enumerate() {
                @if i == 0 && names.is_empty() {
                    th class=[head_class(cell, column, series, lang)] scope="row" { (content(cell, series, lang)) }
                } @else {
                    td class=[class(cell, column, lang)] title=[cell.detail.as_deref()] { (content(cell, series, lang)) }
                }
            }
        } }
    }
}

/// A cell text that may be kept on one line.
fn whole(text: &str) -> Markup {
    if unbroken_class(text).is_some() {
        html! { (text) }
    } else {
        unbroken(text)
    }
}

/// Prevents line breaks between a figure and its unit, between the ends of a range, and between a
/// punctuation mark and its particle. Specs and the script at the end stay verbatim.
pub(crate) fn with_whole_figures(page: &str) -> String {
    let (page, script) = page.split_at(page.rfind("<script>").unwrap_or(page.len()));
    let mut whole = String::with_capacity(page.len() + script.len());
    for part in page.split_inclusive("</pre>") {
        let (text, spec) = part.split_at(part.find("<pre").unwrap_or(part.len()));
        let mut from = 0;
        for (at, sign) in text.match_indices([' ', '%', ')', '～']) {
            let (before, after) = (&text[..at], &text[at + sign.len()..]);
            // No-break space, and word joiner.
            let (to, bond) = match sign {
                " " if is_bound(before, after) => (at, "\u{a0}"),
                "～" if after.starts_with(|sign: char| sign.is_ascii_digit()) => {
                    (at, "\u{2060}～\u{2060}")
                }
                _ if sign.starts_with(|sign| is_particle(sign, after)) => {
                    (at + sign.len(), "\u{2060}")
                }
                _ => continue,
            };
            whole.extend([&text[from..to], bond]);
            from = at + sign.len();
        }
        whole.extend([&text[from..], spec]);
    }
    whole + script
}

/// Removes the end tags of cells and rows, which are optional in HTML: tables of many
/// configurations make up a third of a page.
pub(crate) fn without_optional_ends(page: &str) -> String {
    let mut short = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find("</t") {
        let (before, from) = rest.split_at(at);
        short.push_str(before);
        let end = ["</td>", "</th>", "</tr>", "</thead>", "</tbody>"]
            .into_iter()
            .find(|end| from.starts_with(end));
        let unchanged = if end.is_some() { "" } else { "</t" };
        short.push_str(unchanged);
        rest = &from[end.map_or(unchanged.len(), str::len)..];
    }
    short + rest
}

/// CSS class of a text that is kept on one line.
fn unbroken_class(text: &str) -> Option<&'static str> {
    (text.width() <= KEPT_WIDTH).then_some("k")
}

/// CSS class of the cell that names a row.
fn head_class(
    cell: &Cell,
    column: &Column,
    series: Option<&str>,
    lang: Lang,
) -> Option<&'static str> {
    match (&cell.value, column.align) {
        (Value::Configuration { .. }, _) if series.is_some() => None,
        (Value::Configuration { .. }, _) => Some("k"),
        (_, Align::Right) => Some("r"),
        (_, Align::Left) => unbroken_class(&cell.plain(lang)),
    }
}

fn class(cell: &Cell, column: &Column, lang: Lang) -> Option<&'static str> {
    let is_long = match &cell.value {
        Value::Figure { text, half, .. } => half.is_some() || text.contains(' '),
        Value::Span(..) => true,
        _ => false,
    };
    match (column.align, is_long, cell.is_alarming) {
        (Align::Left, ..) => Some(match cell.plain(lang).width() {
            ..=KEPT_WIDTH => "l k",
            SENTENCE_WIDTH.. => "l long",
            _ => "l",
        }),
        (Align::Right, true, true) => Some("n alarm"),
        (Align::Right, true, false) => Some("n"),
        (Align::Right, false, true) => Some("alarm"),
        (Align::Right, false, false) => None,
    }
}

/// Content of a cell; a configuration without a series heading includes the name of its series.
pub(crate) fn content(cell: &Cell, series: Option<&str>, lang: Lang) -> Markup {
    match &cell.value {
        Value::Word(word) => chip(*word, lang),
        Value::Marked(word) => html! { span class={ "chip " (word.class) } { (cell.plain(lang)) } },
        Value::Figure { text, half, repeats } => html! {
            (lang.figure(text.clone()))
            @if let Some(half) = half { span.pm { " ± " (half) } }
            @if let Some(repeats) = repeats { span.pm { " (n = " (repeats) ")" } }
        },
        Value::Span(low, high, _) if low != high => html! {
            (lang.figure(low.clone())) " – " (lang.figure(high.clone()))
        },
        Value::Configuration { index, clients } => {
            let text = match series {
                Some(line) => names::series_at(line, *clients, lang),
                None => names::clients(&[*clients], lang),
            };
            html! { a href={ "#t" (index) } { (whole(&text)) } }
        }
        _ => whole(&cell.plain(lang)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::EN;

    #[test]
    fn figures_are_joined_to_units_and_particles_outside_of_specs() {
        let page = "<p>RAID1(2개)은 12 %입니다, 3 ms, 16～20、A～B.<pre>a = 12 %입니다, 16～20</pre>12 %입니다";
        let joined = "12\u{a0}%\u{2060}입니다";
        let range = "16\u{2060}～\u{2060}20";
        let whole = format!(
            "<p>RAID1(2개)\u{2060}은 {joined}, 3\u{a0}ms, {range}、A～B.<pre>a = 12 %입니다, 16～20</pre>{joined}"
        );
        assert_eq!(with_whole_figures(page), whole);
    }

    #[test]
    fn a_table_is_short_by_its_rows_and_the_names_over_them() {
        let short = |groups: usize| {
            let mut table = Table::new([Column::left(&headings::METRIC)]);
            for row in 0..8 {
                table.group(&[format!("group {}", row * groups / 8)]);
                table.row([Cell::text("x")]);
            }
            self::table(table, "", EN).into_string().contains("sortable short")
        };
        assert!(short(2) && !short(4));
    }

    #[test]
    fn titles_of_cells_are_strings_of_a_style_sheet() {
        assert_eq!(titles_of_cells(["n", "server's"]), "--t0:'n';--t1:'server\\27 s';");
    }
}

//! Tables in the page: of the report and of a comparison. What plain text has in a column of its own stands beside its figure.

use crate::cell::{Cell, Value};
use crate::messages::{Lang, headings, names};
use crate::table::{Align, Column, Form, Group, Table};
use crate::words::Word;
use maud::{Markup, html};

/// A word in a frame, told apart by sign and shape as well as by colour.
pub(crate) fn chip(word: Word, lang: Lang) -> Markup {
    html! { span class={ "chip " (word.class) } { (word.text(lang)) } }
}

/// The table, with a caption unless it is empty. A reader may sort its rows; groups stay together.
pub(crate) fn table(table: Table, caption: &str, lang: Lang) -> Markup {
    let table = table.for_form(Form::Text);
    let of_treatments = table.columns.first().is_some_and(|column| column.heading == &headings::CLIENTS);
    // With one number of clients per line there is nothing to group, and the first column names the treatment.
    let is_flat = of_treatments && table.groups.iter().all(|group| group.rows.len() < 2);
    let has_titles = table.names.is_empty() && !is_flat;
    let first = if is_flat { Some(&headings::SYSTEM) } else { None };
    html! {
        div.wide { table.sortable {
            @if !caption.is_empty() { caption { (caption) } }
            thead { tr {
                @for name in table.names { th.l scope="col" { (name.text(lang)) } }
                @for (i, column) in table.columns.iter().enumerate() {
                    @let heading = first.filter(|_| i == 0).unwrap_or(column.heading);
                    @let is_left = column.align == Align::Left || of_treatments && i == 0;
                    th class=[is_left.then_some("l")] scope="col" { (heading.text(lang)) }
                }
            } }
            @if has_titles {
                @for group in &table.groups { tbody {
                    @for name in &group.names {
                        tr { th.group scope="rowgroup" colspan=(table.columns.len()) { (name) } }
                    }
                    (rows(group, &table.columns, is_flat, lang))
                } }
            } @else {
                tbody { @for group in &table.groups { (rows(group, &table.columns, is_flat, lang)) } }
            }
        } }
    }
}

fn rows(group: &Group, columns: &[Column], is_flat: bool, lang: Lang) -> Markup {
    // Names of pairs are columns here.
    let names = if group.names.len() > 1 { &group.names[..] } else { &[] };
    let label = if is_flat { group.names.first().map(String::as_str) } else { None };
    html! {
        @for row in &group.rows { tr {
            @for (i, name) in names.iter().enumerate() {
                @if i == 0 { th scope="row" { (name) } } @else { td.l { (name) } }
            }
            @for (i, (cell, column)) in row.iter().zip(columns).enumerate() {
                @if i == 0 && names.is_empty() {
                    th scope="row" { (content(cell, label, lang)) }
                } @else {
                    td class=[class(cell, column)] title=[cell.detail.as_deref()] { (content(cell, label, lang)) }
                }
            }
        } }
    }
}

fn class(cell: &Cell, column: &Column) -> Option<&'static str> {
    let is_long = match &cell.value {
        Value::Figure { text, half, .. } => half.is_some() || text.contains(' '),
        Value::Span(..) => true,
        _ => false,
    };
    match (column.align, is_long, cell.is_alarming) {
        (Align::Left, ..) => Some("l"),
        (Align::Right, true, true) => Some("n alarm"),
        (Align::Right, true, false) => Some("n"),
        (Align::Right, false, true) => Some("alarm"),
        (Align::Right, false, false) => None,
    }
}

/// What a cell shows; a treatment without a line over it is named with its line.
pub(crate) fn content(cell: &Cell, line: Option<&str>, lang: Lang) -> Markup {
    match &cell.value {
        Value::Word(word) => chip(*word, lang),
        Value::Marked(word) => html! { span class={ "chip " (word.class) } { (cell.plain(lang)) } },
        Value::Figure { text, half, repeats } => html! {
            (text)
            @if let Some(half) = half { span.pm { " ± " (half) } }
            @if let Some(repeats) = repeats { span.pm { " (n = " (repeats) ")" } }
        },
        Value::Span(low, high, _) if low != high => html! { (low) " – " (high) },
        Value::Treatment { index, clients } => {
            let text = match line {
                Some(line) => names::line_at(line, *clients, lang),
                None => names::clients(&[*clients], lang),
            };
            html! { a href={ "#t" (index) } { (text) } }
        }
        _ => html! { (cell.plain(lang)) },
    }
}

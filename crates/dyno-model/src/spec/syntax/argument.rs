//! `--set key=value`: one value that overrides the file, with its own positions.

use crate::spec::diagnostic::{Diagnostic, Problems, Source, Span};
use crate::spec::reader::unknown_system;
use crate::spec::tree::{self, Entry, Node, Table, Value};

/// Applies one argument to the document. `source` is its number.
pub(in crate::spec) fn apply(
    document: &mut Table,
    source: usize,
    sources: &[Source],
    problems: &Problems,
) {
    let text = &sources[source].text;
    match read(text, source, problems) {
        Err(diagnostic) => problems.report(*diagnostic),
        Ok((path, value)) => override_with(document, &path, value, problems),
    }
}

/// One part of a dotted path.
type Step = (String, Span);

fn read(
    text: &str,
    source: usize,
    problems: &Problems,
) -> Result<(Vec<Step>, Node), Box<Diagnostic>> {
    let help = "write `KEY=VALUE`, for example `load.clients=[1,8]`";
    let Some(equals) = equals_sign(text) else {
        let whole = Span::new(source, 0..text.len());
        return Err(Box::new(Diagnostic::new(whole, "the argument has no `=`").help(help)));
    };
    let path = path(&text[..equals], source)?;
    let value = &text[equals + 1..];
    let offset = equals + 1 + (value.len() - value.trim_start().len());
    let value = value.trim();
    let span = Span::new(source, offset..offset + value.len());
    let as_text = Node { span, value: Value::Text(value.to_owned()) };
    // Lists, tables and quoted texts must be TOML; any other word that is not TOML is text.
    let is_meant_as_toml = value.starts_with(['[', '{', '"', '\'']);
    let node = match tree::value_from_toml(value, source, offset, problems) {
        Ok(node) => node,
        Err(diagnostic) if is_meant_as_toml => return Err(diagnostic),
        Err(_) => as_text,
    };
    Ok((path, node))
}

/// The first `=` outside quotes.
fn equals_sign(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('=', None) => return Some(at),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Splits `a."b c".d` at its dots.
fn path(text: &str, source: usize) -> Result<Vec<Step>, Box<Diagnostic>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut step = String::new();
    let mut start = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('.', None) => {
                steps.push((step.trim().to_owned(), Span::new(source, start..at)));
                step.clear();
                start = at + 1;
            }
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => step.push(c),
        }
    }
    steps.push((step.trim().to_owned(), Span::new(source, start..text.len())));
    match steps.iter().find(|(name, _)| name.is_empty()) {
        Some((_, span)) => {
            let help = "write dotted keys, for example `load.clients` or \
                        `system.NAME.server.settings.SETTING`";
            Err(Box::new(Diagnostic::new(*span, "a part of the key is empty").help(help)))
        }
        None => Ok(steps),
    }
}

/// Applies a profile to a document. `system` as a table changes keys of the systems that it names;
/// as a list it replaces all of them.
pub(in crate::spec) fn apply_profile(document: &mut Table, profile: &Table, problems: &Problems) {
    let is_by_name =
        |entry: &&Entry| entry.key == "system" && matches!(entry.node.value, Value::Table(_));
    let (by_name, others): (Vec<&Entry>, Vec<&Entry>) =
        profile.entries.iter().partition(is_by_name);
    tree::merge(document, &Table { entries: others.into_iter().cloned().collect() }, "");
    for entry in by_name {
        let Value::Table(systems) = &entry.node.value else { continue };
        for system in &systems.entries {
            let path = [(entry.key.clone(), entry.key_span), (system.key.clone(), system.key_span)];
            override_with(document, &path, system.node.clone(), problems);
        }
    }
}

fn override_with(document: &mut Table, path: &[Step], value: Node, problems: &Problems) {
    match path {
        [(first, span), ..] if first == "profile" => {
            let help = "choose one with `--profile NAME`, then set its keys";
            problems.refuse(*span, "profiles cannot be changed here", help);
        }
        [(first, span), name, rest @ ..] if first == "system" => {
            let Some(system) = find_system(document, *span, name, problems) else { return };
            match (rest, value.value) {
                ([], Value::Table(table)) => tree::merge(system, &table, "system"),
                ([], other) => {
                    let message =
                        format!("`system.{}` must be a table, not {}", name.0, other.type_name());
                    let help = format!(
                        "name a key of the system, for example `system.{}.query_mode=simple`",
                        name.0
                    );
                    problems.refuse(value.span, message, help);
                }
                (rest, inner) => {
                    tree::merge(
                        system,
                        &nested(rest, Node { span: value.span, value: inner }),
                        "system",
                    );
                }
            }
        }
        _ => tree::merge(document, &nested(path, value), ""),
    }
}

/// A table with the value at the end of a path. The path has at least one step.
fn nested(path: &[Step], value: Node) -> Table {
    let mut node = value;
    for (key, key_span) in path.iter().rev() {
        let span = node.span;
        let entry = Entry { key: key.clone(), key_span: *key_span, node };
        node = Node { span, value: Value::Table(Table { entries: vec![entry] }) };
    }
    match node.value {
        Value::Table(table) => table,
        _ => Table::default(),
    }
}

fn find_system<'d>(
    document: &'d mut Table,
    span: Span,
    name: &Step,
    problems: &Problems,
) -> Option<&'d mut Table> {
    let items = document
        .entries
        .iter_mut()
        .find(|entry| entry.key == "system")
        .map(|entry| &mut entry.node.value);
    let Some(Value::List(items)) = items else {
        problems.report(Diagnostic::new(span, "the file has no systems to change"));
        return None;
    };
    let name_of = |item: &Node| item.value.table()?.get("name")?.value.text().map(str::to_owned);
    let names: Vec<Option<String>> = items.iter().map(name_of).collect();
    let Some(i) = names.iter().position(|other| other.as_deref() == Some(&name.0)) else {
        let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        unknown_system(name.1, &name.0, &known, problems);
        return None;
    };
    match &mut items[i].value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

//! `[workload]`: the kind and its options, checked against the catalog.

use super::diagnostic::{Diagnostic, Problems, Span};
use super::keys::WORKLOAD;
use super::quantity;
use super::reader::{Fields, in_words, integer, unknown_word, wrong_type};
use super::request;
use super::scripts;
use super::tree::{Entry, Node, Table, Value};
use crate::catalog::{HTTP, OptionDescription, OptionKind, OptionValue, WorkloadDescription};
use crate::plan::WorkloadPlan;
use crate::words::{list, nearest, suggestion};
use std::collections::BTreeMap;

/// What workloads there are, and where their scripts are read.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) catalog: &'a [WorkloadDescription],
    pub(super) scripts: scripts::Place<'a>,
    pub(super) names: super::names::NamesOf,
}

/// Reads the table; `None` when it cannot be made sense of. With `is_varied` the kind is that of a factor's level.
pub(super) fn read(
    table: &Table,
    span: Span,
    is_varied: bool,
    known: Known<'_>,
    problems: &Problems,
) -> Option<WorkloadPlan> {
    let catalog = known.catalog;
    let names: Vec<&str> = catalog.iter().map(|workload| workload.name).collect();
    let Some(node) = table.get("kind") else {
        let help = match is_varied {
            true => "some levels of `[factors]` give `workload.kind`: all have to".to_owned(),
            false => format!("add for example `kind = \"rush\"`; workloads: {}", list(&names)),
        };
        problems
            .report(Diagnostic::new(span, format!("missing key `kind` in {}", WORKLOAD.heading)).help(help));
        return None;
    };
    let Value::Text(kind) = &node.value else {
        wrong_type(node.span, "workload.kind", "a text", &node.value, problems);
        return None;
    };
    let Some(description) = catalog.iter().find(|workload| workload.name == kind) else {
        let message = format!("there is no workload `{kind}`");
        let help = suggestion(kind, &names, "workloads");
        problems.report(Diagnostic::new(node.span, message).label("not a workload").help(help));
        return None;
    };
    let mut options = description.defaults();
    let takes_requests = kind == HTTP;
    let is_option = |key: &str| key != "kind" && !(takes_requests && key == "request");
    for entry in table.entries.iter().filter(|entry| is_option(&entry.key)) {
        match description.options.iter().find(|option| option.name == entry.key) {
            None => {
                let names: Vec<&str> = description.options.iter().map(|option| option.name).collect();
                let message = format!("workload `{kind}` has no option `{}`", entry.key);
                let help = match nearest(&entry.key, names.iter().copied().chain(["kind"])) {
                    Some(candidate) => format!("did you mean `{candidate}`?"),
                    None => format!("its options: {}; `dyno workloads {kind}` explains them", list(&names)),
                };
                let mut diagnostic =
                    Diagnostic::new(entry.key_span, message).label("not an option").help(help);
                if is_varied {
                    // The option is right for another kind perhaps; every kind that is varied has to know it.
                    diagnostic = diagnostic.related(node.span, "for this kind");
                }
                problems.report(diagnostic);
            }
            Some(option) => {
                if let Some(value) = value(option, &entry.node, known, problems) {
                    options.0.insert(entry.key.clone(), value);
                }
            }
        }
    }
    for option in
        description.options.iter().filter(|option| option.kind == OptionKind::Scripts { is_required: true })
    {
        if table.get(option.name).is_none() {
            let message = format!("missing key `{}` in {}", option.name, WORKLOAD.heading);
            let help = format!(
                "name files of SQL with their weights: `{} = [\"read.sql@8\", \"write.sql\"]`",
                option.name
            );
            problems.report(Diagnostic::new(span, message).help(help));
        }
    }
    let fields = Fields { section: &WORKLOAD, table, span, problems };
    let requests = if takes_requests { request::read(&fields) } else { Vec::new() };
    Some(WorkloadPlan { requests, ..WorkloadPlan::new(kind, options) })
}

/// A table of texts.
fn texts(table: &Table, path: &str, problems: &Problems) -> Option<BTreeMap<String, String>> {
    let text = |entry: &Entry| match &entry.node.value {
        Value::Text(text) => Some((entry.key.clone(), text.clone())),
        other => {
            wrong_type(entry.node.span, &format!("{path}.{:?}", entry.key), "a text", other, problems);
            None
        }
    };
    table.entries.iter().map(text).collect()
}

fn value(
    option: &OptionDescription,
    node: &Node,
    known: Known<'_>,
    problems: &Problems,
) -> Option<OptionValue> {
    let path = format!("workload.{}", option.name);
    match (&option.kind, &node.value) {
        (OptionKind::Integer { min, max }, Value::Text(text)) if option.name.ends_with("_bytes") => {
            let range = *min..=*max;
            let Some(bytes) = quantity::size(text) else {
                let message = format!("`{path}` cannot be `{text}`");
                let help = "write bytes as a number, or with a unit: `\"64K\"`, `\"8M\"`, `\"4G\"`";
                problems.report(Diagnostic::new(node.span, message).label("no size").help(help));
                return None;
            };
            if !range.contains(&bytes) {
                let message = format!("`{path}` must be {}, got {bytes}", in_words(&range));
                problems.report(Diagnostic::new(node.span, message).label("out of range"));
                return None;
            }
            Some(OptionValue::Integer(bytes))
        }
        (OptionKind::Integer { min, max }, _) => {
            integer(node, &path, &(*min..=*max), problems).map(OptionValue::Integer)
        }
        (OptionKind::Number { min, max }, Value::Integer(_) | Value::Number(_)) => {
            let value = match node.value {
                Value::Integer(value) => value as f64,
                Value::Number(value) => value,
                _ => return None,
            };
            if (*min..=*max).contains(&value) {
                return Some(OptionValue::Number(value));
            }
            let message = format!("`{path}` must be between {min} and {max}, got {value}");
            problems.report(Diagnostic::new(node.span, message).label("out of range"));
            None
        }
        (OptionKind::Boolean, Value::Boolean(value)) => Some(OptionValue::Boolean(*value)),
        (OptionKind::Text, Value::Text(text)) => Some(OptionValue::Text(text.clone())),
        (OptionKind::Scripts { .. }, Value::List(items)) => {
            scripts::read(items, node.span, &path, known.scripts, problems).map(OptionValue::Scripts)
        }
        (OptionKind::Texts, Value::Table(table)) => texts(table, &path, problems).map(OptionValue::Texts),
        (OptionKind::Choice(words), Value::Text(text)) => {
            if words.contains(&text.as_str()) {
                return Some(OptionValue::Text(text.clone()));
            }
            unknown_word(node.span, &path, text, words, problems);
            None
        }
        (kind, found) => {
            let expected = match kind {
                OptionKind::Integer { .. } => "an integer".to_owned(),
                OptionKind::Number { .. } => "a number".to_owned(),
                OptionKind::Boolean => "true or false".to_owned(),
                OptionKind::Choice(words) => format!("one of {}", list(words)),
                OptionKind::Text => "a text".to_owned(),
                OptionKind::Texts => "a table of texts".to_owned(),
                OptionKind::Scripts { .. } => "a list of files, or tables `[[workload.scripts]]`".to_owned(),
            };
            wrong_type(node.span, &path, &expected, found, problems);
            None
        }
    }
}

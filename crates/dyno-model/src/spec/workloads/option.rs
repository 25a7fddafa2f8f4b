//! Value of a workload option.

use crate::catalog::{OptionKind, OptionValue, WorkloadDescription};
use crate::spec::diagnostic::{Diagnostic, Problems};
use crate::spec::quantity;
use crate::spec::reader::{integer, unknown_word, wrong_type};
use crate::spec::scripts;
use crate::spec::tree::{Entry, Node, Table, Value};
use crate::words::list;
use std::collections::BTreeMap;

/// The option with the scripts of a workload, and the key for one of them.
pub(in crate::spec) const SCRIPTS: &str = "scripts";
pub(in crate::spec) const SCRIPT: &str = "script";

/// The known workloads, and the reader of their scripts.
#[derive(Clone, Copy)]
pub(in crate::spec) struct Known<'a> {
    pub(in crate::spec) catalog: &'a [WorkloadDescription],
    pub(in crate::spec) scripts: scripts::ScriptFiles<'a>,
    pub(in crate::spec) names: crate::spec::names::NamesOf,
}

/// `script = "FILE"`, if given.
pub(in crate::spec) fn one_script(
    node: &Node,
    known: Known<'_>,
    problems: &Problems,
) -> Option<OptionValue> {
    let path = format!("workload.{SCRIPT}");
    if node.value.text().is_none() {
        wrong_type(node, &path, "a file", problems);
        return None;
    }
    let one = std::slice::from_ref(node);
    scripts::read(one, node.span, &path, known.scripts, problems).map(OptionValue::Scripts)
}

/// A table of texts; optionally also of values that are converted to text.
fn texts(
    table: &Table,
    kind: &OptionKind,
    path: &str,
    problems: &Problems,
) -> Option<BTreeMap<String, String>> {
    let takes_values = *kind == OptionKind::Values;
    let text = |entry: &Entry| {
        let text = match &entry.node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(value) if takes_values => value.to_string(),
            Value::Number(value) if takes_values => value.to_string(),
            Value::Boolean(value) if takes_values => value.to_string(),
            _ => {
                let expected =
                    if takes_values { "a number, true, false or a string" } else { "a string" };
                wrong_type(&entry.node, &format!("{path}.{:?}", entry.key), expected, problems);
                return None;
            }
        };
        Some((entry.key.clone(), text))
    };
    table.entries.iter().map(text).collect()
}

/// The value of an option, validated against its type.
pub(in crate::spec) fn value(
    name: &str,
    kind: &OptionKind,
    node: &Node,
    known: Known<'_>,
    problems: &Problems,
) -> Option<OptionValue> {
    let path = format!("workload.{name}");
    match (kind, &node.value) {
        (OptionKind::Integer { min, max }, Value::Text(text)) if name.ends_with("_bytes") => {
            let Some(bytes) = quantity::size(text) else {
                let message = format!("`{path}` cannot be `{text}`");
                let help = "write bytes as a number, or with a unit: `\"64K\"`, `\"8M\"`, `\"4G\"`";
                problems.report(Diagnostic::new(node.span, message).label("no size").help(help));
                return None;
            };
            let node = Node { span: node.span, value: Value::Integer(bytes) };
            integer(&node, &path, &(*min..=*max), problems).map(OptionValue::Integer)
        }
        (OptionKind::Integer { min, max }, _) => {
            integer(node, &path, &(*min..=*max), problems).map(OptionValue::Integer)
        }
        (OptionKind::Number { min, max }, Value::Integer(_) | Value::Number(_)) => {
            let value = node.value.as_number()?;
            if (*min..=*max).contains(&value) {
                return Some(OptionValue::Number(value));
            }
            let message = format!("`{path}` must be between {min} and {max}, got {value}");
            problems.report(Diagnostic::new(node.span, message).label("out of range"));
            None
        }
        (OptionKind::Boolean, Value::Boolean(value)) => Some(OptionValue::Boolean(*value)),
        (OptionKind::Text, Value::Text(text)) => Some(OptionValue::Text(text.clone())),
        (OptionKind::Scripts { is_required }, Value::List(_) | Value::Text(_)) => {
            let items = match &node.value {
                Value::List(items) => items,
                _ => std::slice::from_ref(node),
            };
            let kind =
                if *is_required { scripts::TextKind::Script } else { scripts::TextKind::Setup };
            let files = scripts::ScriptFiles { kind, ..known.scripts };
            scripts::read(items, node.span, &path, files, problems).map(OptionValue::Scripts)
        }
        (OptionKind::Texts | OptionKind::Values, Value::Table(table)) => {
            texts(table, kind, &path, problems).map(OptionValue::Texts)
        }
        (OptionKind::Choice(words), Value::Text(text)) => {
            if words.contains(&text.as_str()) {
                return Some(OptionValue::Text(text.clone()));
            }
            unknown_word(node.span, &path, text, words, problems);
            None
        }
        (kind, _) => {
            let expected = match kind {
                OptionKind::Integer { .. } => "an integer".to_owned(),
                OptionKind::Number { .. } => "a number".to_owned(),
                OptionKind::Boolean => "true or false".to_owned(),
                OptionKind::Choice(words) => format!("one of {}", list(words)),
                OptionKind::Text => "a string".to_owned(),
                OptionKind::Properties(_) => "a file".to_owned(),
                OptionKind::Texts => "a table of texts".to_owned(),
                OptionKind::Scripts { .. } => {
                    "a file, a list of files, or tables `[[workload.scripts]]`".to_owned()
                }
                OptionKind::Values => "a table of values by name".to_owned(),
            };
            wrong_type(node, &path, &expected, problems);
            None
        }
    }
}

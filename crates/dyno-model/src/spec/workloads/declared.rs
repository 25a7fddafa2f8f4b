//! Options that the user's own scripts declare: keys of `[workload]` in addition to those of the
//! workload itself.

use crate::catalog::{DeclaredOption, LUA, OptionKind, OptionValue, WorkloadOptions};
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::option::{self, Known, SCRIPTS};
use crate::spec::quantity;
use crate::spec::reader::wrong_type;
use crate::spec::tree::{Entry, Node, Value};
use crate::words::{list, nearest};

/// Reads the keys that the workload does not define; `scripts` is the position where its scripts
/// are named.
pub(in crate::spec) fn read(
    entries: &[&Entry],
    options: &mut WorkloadOptions,
    scripts: Span,
    known: Known<'_>,
    problems: &Problems,
) {
    // Without scripts there are no declarations, and the reason was already reported.
    let has_scripts = !options.scripts(SCRIPTS).is_empty();
    let Some(declared) = known.scripts.declared.filter(|_| has_scripts) else { return };
    let declared = match declared(options) {
        Ok(Some(declared)) => declared,
        Ok(None) => return any(entries, options, problems),
        Err(why) => {
            // Lines after the first are help.
            let (message, help) = why
                .split_once("\nhint: ")
                .map_or((why.as_str(), None), |(it, help)| (it, Some(help)));
            let help = help.map(str::to_owned);
            return problems.report(Diagnostic { help, ..Diagnostic::new(scripts, message) });
        }
    };
    for entry in entries {
        let key = entry.key.replace('-', "_");
        match declared.iter().find(|option| option.name == key) {
            Some(option) => {
                if let Some(value) = value(option, &entry.node, known, problems) {
                    options.0.insert(key, value);
                }
            }
            None => unknown(entry, &declared, problems),
        }
    }
    for DeclaredOption { name, default, .. } in declared {
        let is_given = entries.iter().any(|entry| entry.key.replace('-', "_") == name);
        match default {
            _ if is_given => {}
            Some(default) => drop(options.0.insert(name, default)),
            None => {
                let message =
                    format!("the scripts have different defaults for the option `{name}`");
                let help = format!("set it explicitly: `{name} = ...`");
                problems.refuse(scripts, message, help);
            }
        }
    }
}

fn unknown(entry: &Entry, declared: &[DeclaredOption], problems: &Problems) {
    let names: Vec<&str> = declared.iter().map(|option| option.name.as_str()).collect();
    let message = format!("the scripts have no option `{}`", entry.key);
    let help = match nearest(&entry.key, names.iter().copied().chain(["kind", SCRIPTS])) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("their options: {}", list(&names)),
    };
    problems.report(Diagnostic::new(entry.key_span, message).label("not an option").help(help));
}

/// Numbers may have units, as on sysbench's command line.
fn value(
    option: &DeclaredOption,
    node: &Node,
    known: Known<'_>,
    problems: &Problems,
) -> Option<OptionValue> {
    if let (OptionKind::Number { .. }, Value::Text(text)) = (&option.kind, &node.value)
        && let Some(size) = quantity::size(text)
    {
        return Some(OptionValue::Integer(size));
    }
    option::value(&option.name, &option.kind, node, known, problems)
}

/// Scripts that declare no options accept any option.
fn any(entries: &[&Entry], options: &mut WorkloadOptions, problems: &Problems) {
    for entry in entries {
        let value = match &entry.node.value {
            Value::Boolean(value) => OptionValue::Boolean(*value),
            Value::Integer(value) => OptionValue::Integer(*value),
            Value::Number(value) => OptionValue::Number(*value),
            Value::Text(text) => OptionValue::Text(text.clone()),
            _ => {
                let path = format!("{LUA}'s option `{}`", entry.key);
                wrong_type(&entry.node, &path, "a string, a number, or true or false", problems);
                continue;
            }
        };
        options.0.insert(entry.key.replace('-', "_"), value);
    }
}

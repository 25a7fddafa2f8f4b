//! Selection of configurations by their levels: those that `design.exclude` removes because they
//! are meaningless or take too long, and those that a limit applies to.

use crate::plan::{Configuration, SystemPlan};
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::factors::Factor;
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::tree::{Node, Value};
use crate::words::{list, suggestion};

/// Configurations that have one of the named levels in every key of a table.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::spec) struct Choice {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    /// Indexes into the systems.
    System(Vec<usize>),
    Clients(Vec<u32>),
    Level {
        factor: usize,
        names: Vec<String>,
    },
}

impl Choice {
    /// True when it matches the configuration.
    pub(in crate::spec) fn holds(&self, configuration: &Configuration) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::System(systems) => systems.contains(&configuration.system),
            Condition::Clients(clients) => clients.contains(&configuration.clients),
            Condition::Level { factor, names } => names.contains(&configuration.levels[*factor]),
        })
    }
}

/// The systems, factors and clients that selections can refer to.
pub(in crate::spec) struct Known<'a> {
    pub systems: &'a [SystemPlan],
    pub factors: &'a [Factor],
}

/// Reads a list of tables.
pub(in crate::spec) fn read(fields: &Fields<'_>, key: &str, known: &Known<'_>) -> Vec<Choice> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let (path, problems) = (fields.path(key), fields.problems);
    let Value::List(items) = &node.value else {
        wrong_type(node, &path, "a list of tables", problems);
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| one(item, &format!("each item of {path}"), known, problems))
        .collect()
}

/// Reads one table, which messages call `what`.
pub(in crate::spec) fn one(
    item: &Node,
    what: &str,
    known: &Known<'_>,
    problems: &Problems,
) -> Option<Choice> {
    let Value::Table(table) = &item.value else {
        wrong_type(item, what, "a table", problems);
        return None;
    };
    if table.entries.is_empty() {
        let message = "an empty table would select every configuration";
        let help = "name levels: `{ \"workload.rows\" = 100, clients = 1000 }`";
        problems.refuse(item.span, message, help);
        return None;
    }
    let leaves = table.leaves().into_iter();
    let conditions =
        leaves.map(|(path, leaf)| condition(&path, leaf.key_span, &leaf.node, known, problems));
    Some(Choice { conditions: conditions.collect::<Option<_>>()? })
}

fn condition(
    path: &str,
    key_span: Span,
    node: &Node,
    known: &Known<'_>,
    problems: &Problems,
) -> Option<Condition> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let text = |item: &Node| {
        let text = item.value.scalar_text();
        if text.is_none() {
            wrong_type(item, path, "a level or a list of levels", problems);
        }
        text
    };
    let unknown = |item: &Node, word: &str, words: &[&str], what: &str| {
        let message = format!("`{path}` has no {what} `{word}`");
        let help = suggestion(word, words, &format!("{what}s"));
        problems.report(
            Diagnostic::new(item.span, message).label("no configuration has it").help(help),
        );
    };
    match path {
        "system" => {
            let names: Vec<&str> =
                known.systems.iter().map(|system| system.name.as_str()).collect();
            let index = |item: &Node| {
                let word = text(item)?;
                let index = names.iter().position(|name| *name == word);
                if index.is_none() {
                    unknown(item, &word, &names, "system");
                }
                index
            };
            Some(Condition::System(items.iter().map(index).collect::<Option<_>>()?))
        }
        // A number of clients that this profile does not measure is not an error: other profiles
        // may.
        "clients" | "load.clients" => {
            let count = |item: &Node| match &item.value {
                Value::Integer(value) => u32::try_from(*value).ok(),
                _ => {
                    wrong_type(item, path, "an integer or a list of integers", problems);
                    None
                }
            };
            Some(Condition::Clients(items.iter().map(count).collect::<Option<_>>()?))
        }
        _ => {
            let Some(factor) = known.factors.iter().position(|factor| factor.name == path) else {
                let names = known.factors.iter().map(|factor| factor.name.as_str());
                let names: Vec<&str> = ["system", "clients"].into_iter().chain(names).collect();
                let message = format!("`{path}` is not a factor of this experiment");
                let help = format!("factors: {}", list(&names));
                problems.refuse(key_span, message, help);
                return None;
            };
            let levels: Vec<&str> =
                known.factors[factor].levels.iter().map(|level| level.name.as_str()).collect();
            let name = |item: &Node| {
                let word = text(item)?;
                let is_level = levels.contains(&word.as_str());
                if !is_level {
                    unknown(item, &word, &levels, "level");
                }
                is_level.then_some(word)
            };
            let names = items.iter().map(name).collect::<Option<_>>()?;
            Some(Condition::Level { factor, names })
        }
    }
}

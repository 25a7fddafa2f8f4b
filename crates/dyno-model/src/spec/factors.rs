//! `[factors]`: what is varied besides systems and clients, and every combination of its levels.

use super::diagnostic::{Diagnostic, Problems, Span};
use super::keys::{FACTORS, LOAD};
use super::reader::{list, suggestion, wrong_type};
use super::tree::{Entry, Node, Table, Value};

/// Most combinations of levels. Ten thousand treatments are a slip of the finger, not an experiment.
const COMBINATIONS_MAX: usize = 10_000;

/// What a factor changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// An option of the workload.
    Workload(String),
    /// A key of `[load]`.
    Load(String),
    /// How statements travel, for all systems.
    QueryMode,
}

/// One factor with its levels as they stand in the file.
#[derive(Debug)]
pub(super) struct Factor {
    pub name: String,
    pub place: Place,
    pub key_span: Span,
    pub levels: Vec<Node>,
}

/// Reads the table. Factors with errors are left out.
pub(super) fn read(document: &Table, problems: &Problems) -> Vec<Factor> {
    let mut factors = Vec::new();
    match document.get("factors") {
        None => {}
        Some(Node { value: Value::Table(table), .. }) => collect(table, "", document, &mut factors, problems),
        Some(node) => wrong_type(node.span, "factors", "a table", &node.value, problems),
    }
    factors
}

/// Paths may be quoted (`"workload.rows" = [...]`) or not (`workload.rows = [...]`), which nests tables.
fn collect(table: &Table, prefix: &str, document: &Table, factors: &mut Vec<Factor>, problems: &Problems) {
    for entry in &table.entries {
        let name = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        if let Value::Table(inner) = &entry.node.value {
            collect(inner, &name, document, factors, problems);
            continue;
        }
        if let Some(first) = factors.iter().find(|factor| factor.name == name) {
            let message = format!("factor `{name}` is given twice");
            problems.report(Diagnostic::new(entry.key_span, message).related(first.key_span, "first here"));
            continue;
        }
        let Some(place) = place(&name, entry.key_span, problems) else { continue };
        check_not_fixed(&name, &place, entry, document, problems);
        if let Some(levels) = levels(&name, &entry.node, problems) {
            factors.push(Factor { name, place, key_span: entry.key_span, levels });
        }
    }
}

fn place(name: &str, span: Span, problems: &Problems) -> Option<Place> {
    let refuse = |message: String, help: String| {
        problems.report(Diagnostic::new(span, message).label("not a factor").help(help));
        None
    };
    let per_system = "write one [[system]] for each of its levels";
    match name.split_once('.') {
        Some(("workload", "kind")) => refuse(
            "the kind of workload cannot be varied within an experiment".to_owned(),
            "write one spec per workload, with the same systems".to_owned(),
        ),
        Some(("workload", option)) => Some(Place::Workload(option.to_owned())),
        Some(("load", "clients")) => refuse(
            "clients are varied by `load.clients`, not by a factor".to_owned(),
            "put the list there: `clients = [1, 8, 64]`".to_owned(),
        ),
        Some(("load", key)) if LOAD.keys.iter().any(|known| known.name == key) => {
            Some(Place::Load(key.to_owned()))
        }
        Some(("load", key)) => {
            let known: Vec<&str> =
                LOAD.keys.iter().map(|known| known.name).filter(|name| *name != "clients").collect();
            refuse(format!("unknown key `{key}` in {}", LOAD.heading), suggestion(key, &known, "its keys"))
        }
        Some(("system", "query_mode")) => Some(Place::QueryMode),
        Some(("server" | "system", _)) => {
            refuse(format!("varying `{name}` is not supported yet"), per_system.to_owned())
        }
        None if name == "storage" => {
            refuse("varying `storage` is not supported yet".to_owned(), per_system.to_owned())
        }
        _ => {
            let places = ["workload.OPTION", "load.KEY", "system.query_mode"];
            refuse(
                format!("unknown factor `{name}` in {}", FACTORS.heading),
                format!("factors: {}", list(&places)),
            )
        }
    }
}

/// A value that is both fixed and varied is a contradiction that nobody should have to guess about.
fn check_not_fixed(name: &str, place: &Place, entry: &Entry, document: &Table, problems: &Problems) {
    let (section, key) = match place {
        Place::Workload(option) => ("workload", option.as_str()),
        Place::Load(key) => ("load", key.as_str()),
        Place::QueryMode => return,
    };
    if let Some(fixed) = document.table(section).and_then(|table| table.entry(key)) {
        let message = format!("`{name}` is a factor and also has a fixed value");
        problems.report(
            Diagnostic::new(entry.key_span, message)
                .label("varied here")
                .related(fixed.key_span, "fixed here")
                .help("remove one of them"),
        );
    }
}

fn levels(name: &str, node: &Node, problems: &Problems) -> Option<Vec<Node>> {
    let help = format!("write for example `\"{name}\" = [LEVEL, LEVEL]`");
    let Value::List(items) = &node.value else {
        let message = format!("factor `{name}` must be a list of levels, not {}", node.value.type_name());
        problems.report(Diagnostic::new(node.span, message).help(help));
        return None;
    };
    if items.is_empty() {
        let message = format!("factor `{name}` has no levels");
        problems.report(Diagnostic::new(node.span, message).label("nothing to vary").help(help));
        return None;
    }
    if items.len() > COMBINATIONS_MAX {
        let message = format!("factor `{name}` has more than {COMBINATIONS_MAX} levels");
        problems.report(Diagnostic::new(node.span, message));
        return None;
    }
    for (i, item) in items.iter().enumerate() {
        let Some(text) = item.value.scalar_text() else {
            wrong_type(
                item.span,
                &format!("each level of {name}"),
                "a text, a number, true or false",
                &item.value,
                problems,
            );
            return None;
        };
        if let Some(first) = items.iter().take(i).find(|other| other.value == item.value) {
            let message = format!("factor `{name}` has level `{text}` twice");
            problems
                .report(Diagnostic::new(item.span, message).label("again").related(first.span, "first here"));
        }
    }
    Some(items.clone())
}

/// Every combination of levels as indexes, the last factor varying fastest; one empty combination without factors.
pub(super) fn combinations(factors: &[Factor], problems: &Problems) -> Vec<Vec<usize>> {
    let count = factors.iter().try_fold(1_usize, |count, factor| count.checked_mul(factor.levels.len()));
    if count.is_none_or(|count| count > COMBINATIONS_MAX) {
        let span = factors.first().map(|factor| factor.key_span).unwrap_or_default();
        let message = format!("the factors have more than {COMBINATIONS_MAX} combinations");
        problems.report(Diagnostic::new(span, message).help("vary fewer factors, or fewer levels of each"));
        return Vec::new();
    }
    let mut combinations = vec![Vec::new()];
    for factor in factors {
        combinations = combinations
            .into_iter()
            .flat_map(|combination: Vec<usize>| {
                (0..factor.levels.len()).map(move |level| {
                    let mut longer = combination.clone();
                    longer.push(level);
                    longer
                })
            })
            .collect();
    }
    combinations
}

/// A table with the levels of a combination written into it. `key_of` says which factors belong to the table.
pub(super) fn with_levels(
    table: &Table,
    factors: &[Factor],
    combination: &[usize],
    key_of: impl Fn(&Place) -> Option<&str>,
) -> Table {
    let mut table = table.clone();
    for (factor, level) in factors.iter().zip(combination) {
        let Some(key) = key_of(&factor.place) else { continue };
        table.entries.retain(|entry| entry.key != key);
        let node = factor.levels[*level].clone();
        table.entries.push(Entry { key: key.to_owned(), key_span: factor.key_span, node });
    }
    table
}

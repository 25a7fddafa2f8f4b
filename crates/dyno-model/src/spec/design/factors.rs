//! `[factors]`: the factors that vary besides systems and clients, and every combination of their
//! levels.
//!
//! A factor is a path with values (`"workload.rows" = [100, 1000]`), or a name with named levels,
//! each of which may change several things at once:
//!
//! ```toml
//! "pool" = [{ name = "threads", "server.settings.thread_handling" = "pool-of-threads" }]
//! ```

use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::keys::{FACTORS, LOAD};
use crate::spec::reader::wrong_type;
use crate::spec::tree::{Entry, Node, Table, Value};
use crate::words::{list, suggestion};

/// Maximum number of combinations of levels. Ten thousand configurations are a typing mistake, not
/// an experiment.
const COMBINATIONS_MAX: usize = 10_000;

/// Prefix of the name of a setting.
const SETTINGS: &str = "server.settings.";
/// Suffix of the name of a background workload.
const CLIENTS: &str = ".clients";

/// The target of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::spec) enum FactorTarget {
    /// An option of the workload, or its kind.
    Workload(String),
    /// A key of `[load]`.
    Load(String),
    /// The query mode, for all systems.
    QueryMode,
    /// A setting of the servers that dyno starts: of the named system, or of all.
    Setting { system: Option<String>, name: String },
    /// Storage of the data of servers.
    Storage,
    /// The network path to the server.
    Endpoint,
    /// The number of clients of a background workload, by its name.
    Background(String),
}

impl FactorTarget {
    /// True when the two conflict.
    fn collides(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Setting { system: a, name: one }, Self::Setting { system: b, name: two }) => {
                is_same_setting(one, two) && (a.is_none() || b.is_none() || a == b)
            }
            _ => self == other,
        }
    }
}

/// Servers of the MySQL family treat `-` and `_` alike.
pub(in crate::spec) fn is_same_setting(one: &str, two: &str) -> bool {
    let plain = |name: &str| name.trim_start_matches('-').replace('-', "_").to_ascii_lowercase();
    plain(one) == plain(two)
}

/// One factor with its levels.
#[derive(Debug)]
pub(in crate::spec) struct Factor {
    pub name: String,
    pub key_span: Span,
    pub levels: Vec<Level>,
}

impl Factor {
    /// All targets of its levels.
    pub(in crate::spec) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.levels.iter().flat_map(|level| &level.changes)
    }
}

/// True when its levels select the kind of workload.
pub(in crate::spec) fn vary_kind(factors: &[Factor]) -> bool {
    let mut changes = factors.iter().flat_map(Factor::changes);
    changes.any(|change| matches!(&change.target, FactorTarget::Workload(key) if key == "kind"))
}

/// One level: its name in reports, and its values.
#[derive(Debug)]
pub(in crate::spec) struct Level {
    pub name: String,
    pub span: Span,
    pub changes: Vec<Change>,
}

/// One value that a level sets.
#[derive(Debug)]
pub(in crate::spec) struct Change {
    pub target: FactorTarget,
    pub key_span: Span,
    pub node: Node,
}

/// Reads the table. Factors with errors are left out.
pub(in crate::spec) fn read(document: &Table, problems: &Problems) -> Vec<Factor> {
    let mut factors = Vec::new();
    match document.get("factors") {
        None => {}
        Some(Node { value: Value::Table(table), .. }) => {
            collect(table, document, &mut factors, problems);
        }
        Some(node) => wrong_type(node, "factors", "a table", problems),
    }
    check_collisions(&factors, problems);
    factors
}

fn collect(table: &Table, document: &Table, factors: &mut Vec<Factor>, problems: &Problems) {
    for (name, entry) in table.leaves() {
        if let Some(first) = factors.iter().find(|factor| factor.name == name) {
            let message = format!("factor `{name}` is given twice");
            problems.report(
                Diagnostic::new(entry.key_span, message).related(first.key_span, "first here"),
            );
            continue;
        }
        let levels = if is_named(&entry.node) {
            named_levels(&name, &entry.node, document, problems)
        } else {
            let Some(target) = target(&name, entry.key_span, problems) else { continue };
            check_not_fixed(&name, &target, entry.key_span, document, problems);
            plain_levels(&name, &target, entry, problems)
        };
        if let Some(levels) = levels {
            factors.push(Factor { name, key_span: entry.key_span, levels });
        }
    }
}

/// True for a list whose first item is a table: a factor with named levels.
fn is_named(node: &Node) -> bool {
    matches!(&node.value, Value::List(items) if matches!(items.first(), Some(Node { value: Value::Table(_), .. })))
}

fn target(name: &str, span: Span, problems: &Problems) -> Option<FactorTarget> {
    let refuse = |message: String, help: String| {
        problems.report(Diagnostic::new(span, message).label("not a factor").help(help));
        None
    };
    let per_system = "write one [[system]] for each of its levels";
    if let Some(setting) = name.strip_prefix(SETTINGS) {
        return Some(FactorTarget::Setting { system: None, name: setting.to_owned() });
    }
    if let Some((system, setting)) =
        name.strip_prefix("system.").and_then(|rest| rest.split_once(&format!(".{SETTINGS}")))
    {
        return Some(FactorTarget::Setting {
            system: Some(system.to_owned()),
            name: setting.to_owned(),
        });
    }
    match name.split_once('.') {
        Some(("workload", option)) => Some(FactorTarget::Workload(option.to_owned())),
        Some(("load", "clients")) => refuse(
            "clients are varied by `load.clients`, not by a factor".to_owned(),
            "write the list there: `clients = [1, 8, 64]`".to_owned(),
        ),
        Some(("load", key)) if LOAD.keys.iter().any(|known| known.name == key) => {
            Some(FactorTarget::Load(key.to_owned()))
        }
        Some(("load", key)) => {
            let known: Vec<&str> = LOAD
                .keys
                .iter()
                .map(|known| known.name)
                .filter(|name| *name != "clients")
                .collect();
            refuse(
                format!("unknown key `{key}` in {}", LOAD.heading),
                suggestion(key, &known, "its keys"),
            )
        }
        Some(("system", "query_mode")) => Some(FactorTarget::QueryMode),
        Some(("server" | "system", _)) => refuse(
            format!("`{name}` cannot be varied"),
            format!(
                "`\"server.settings.NAME\"` varies a setting of the server; for anything else, \
                 {per_system}"
            ),
        ),
        Some(("background", rest)) if rest.len() > CLIENTS.len() && rest.ends_with(CLIENTS) => {
            Some(FactorTarget::Background(rest[..rest.len() - CLIENTS.len()].to_owned()))
        }
        None if name == "storage" => Some(FactorTarget::Storage),
        None if name == "endpoint" => Some(FactorTarget::Endpoint),
        _ => {
            let known = [
                "workload.kind",
                "workload.OPTION",
                "load.KEY",
                "server.settings.NAME",
                "system.query_mode",
                "background.NAME.clients",
                "storage",
                "endpoint",
            ];
            refuse(
                format!("unknown factor `{name}` in {}", FACTORS.heading),
                format!(
                    "factors: {}; a factor with any other name has named levels: \
                     `[{{ name = \"...\", ... }}]`",
                    list(&known)
                ),
            )
        }
    }
}

/// Reports values that are both fixed and varied, which is a contradiction.
fn check_not_fixed(
    name: &str,
    target: &FactorTarget,
    span: Span,
    document: &Table,
    problems: &Problems,
) {
    let fixed = match target {
        FactorTarget::Workload(option) => {
            document.table("workload").and_then(|table| table.entry(option))
        }
        FactorTarget::Load(key) => document.table("load").and_then(|table| table.entry(key)),
        // The reader of [[background]] reports this.
        FactorTarget::QueryMode
        | FactorTarget::Storage
        | FactorTarget::Endpoint
        | FactorTarget::Background(_) => None,
        FactorTarget::Setting { system, name } => fixed_setting(document, system.as_deref(), name),
    };
    if let Some(fixed) = fixed {
        let message = format!("`{name}` is a factor and also has a fixed value");
        let diagnostic = Diagnostic::new(span, message).label("varied here");
        problems
            .report(diagnostic.related(fixed.key_span, "fixed here").help("remove one of them"));
    }
}

/// The position in the file that fixes a setting.
fn fixed_setting<'d>(document: &'d Table, system: Option<&str>, name: &str) -> Option<&'d Entry> {
    let Some(Node { value: Value::List(systems), .. }) = document.get("system") else {
        return None;
    };
    systems.iter().find_map(|node| {
        let table = node.value.table()?;
        let name_of = || table.get("name").and_then(|node| node.value.text());
        let is_meant = system.is_none_or(|system| name_of() == Some(system));
        let settings = table.table("server")?.table("settings").filter(|_| is_meant)?;
        settings.entries.iter().find(|entry| is_same_setting(&entry.key, name))
    })
}

/// The items of a list of levels.
fn items<'n>(name: &str, node: &'n Node, problems: &Problems) -> Option<&'n [Node]> {
    let help = format!("write for example `\"{name}\" = [LEVEL, LEVEL]`");
    let Value::List(items) = &node.value else {
        let message =
            format!("factor `{name}` must be a list of levels, not {}", node.value.type_name());
        problems.refuse(node.span, message, help);
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
    Some(items)
}

/// Levels of a factor that is a path: its values.
fn plain_levels(
    name: &str,
    target: &FactorTarget,
    entry: &Entry,
    problems: &Problems,
) -> Option<Vec<Level>> {
    let mut levels: Vec<Level> = Vec::new();
    for item in items(name, &entry.node, problems)? {
        let Some(text) = item.value.scalar_text() else {
            let path = format!("each level of {name}");
            wrong_type(item, &path, "a string, a number, true or false", problems);
            return None;
        };
        check_new(name, &text, item.span, &levels, problems);
        let change =
            Change { target: target.clone(), key_span: entry.key_span, node: item.clone() };
        levels.push(Level { name: text, span: item.span, changes: vec![change] });
    }
    Some(levels)
}

fn named_levels(
    name: &str,
    node: &Node,
    document: &Table,
    problems: &Problems,
) -> Option<Vec<Level>> {
    let example = "write for example \
                   `{ name = \"pool\", \"server.settings.thread_handling\" = \"pool-of-threads\" }`";
    let mut levels: Vec<Level> = Vec::new();
    for item in items(name, node, problems)? {
        let Value::Table(table) = &item.value else {
            let path = format!("each level of {name}");
            wrong_type(item, &path, "a table like the first one", problems);
            return None;
        };
        let Some(text) = table.get("name").and_then(|node| node.value.scalar_text()) else {
            let message = format!("a level of factor `{name}` has no name");
            problems.refuse(item.span, message, example);
            return None;
        };
        check_new(name, &text, item.span, &levels, problems);
        let changes = changes_of(table, document, problems);
        levels.push(Level { name: text, span: item.span, changes });
    }
    if levels.iter().all(|level| level.changes.is_empty()) {
        let message = format!("no level of factor `{name}` changes anything");
        problems.refuse(node.span, message, example);
    }
    Some(levels)
}

fn changes_of(table: &Table, document: &Table, problems: &Problems) -> Vec<Change> {
    let mut changes = Vec::new();
    for (path, entry) in table.leaves() {
        if path == "name" {
            continue;
        }
        let Some(target) = target(&path, entry.key_span, problems) else { continue };
        check_not_fixed(&path, &target, entry.key_span, document, problems);
        // Keys of these tables accept the same values as in the table itself, whose reader
        // validates them.
        let is_checked_there = matches!(target, FactorTarget::Workload(_) | FactorTarget::Load(_));
        if entry.node.value.scalar_text().is_none() && !is_checked_there {
            let expected = "a string, a number, true or false";
            wrong_type(&entry.node, &path, expected, problems);
            continue;
        }
        changes.push(Change { target, key_span: entry.key_span, node: entry.node.clone() });
    }
    changes
}

fn check_new(factor: &str, level: &str, span: Span, levels: &[Level], problems: &Problems) {
    if let Some(first) = levels.iter().find(|other| other.name == level) {
        let message = format!("factor `{factor}` has level `{level}` twice");
        problems.report(
            Diagnostic::new(span, message).label("again").related(first.span, "first here"),
        );
    }
}

/// Two factors, or one level, must not set the same target.
fn check_collisions(factors: &[Factor], problems: &Problems) {
    let report = |later: &Change, earlier: &Change| {
        let diagnostic = Diagnostic::new(later.key_span, "this is set by two levels at once");
        problems.report(
            diagnostic.related(earlier.key_span, "also here").help("let one factor change it"),
        );
    };
    for (i, factor) in factors.iter().enumerate() {
        for level in &factor.levels {
            for (j, change) in level.changes.iter().enumerate() {
                let mut before = level.changes[..j].iter();
                if let Some(other) = before.find(|other| other.target.collides(&change.target)) {
                    report(change, other);
                }
            }
        }
        let others = || factors[..i].iter().flat_map(Factor::changes);
        let collision = factor.changes().find_map(|change| {
            others()
                .find(|other| other.target.collides(&change.target))
                .map(|other| (change, other))
        });
        if let Some((change, other)) = collision {
            report(change, other);
        }
    }
}

/// Every combination of levels as indexes, the last factor varying fastest; one empty combination
/// without factors.
pub(in crate::spec) fn combinations(factors: &[Factor], problems: &Problems) -> Vec<Vec<usize>> {
    let count =
        factors.iter().try_fold(1_usize, |count, factor| count.checked_mul(factor.levels.len()));
    if count.is_none_or(|count| count > COMBINATIONS_MAX) {
        let span = factors.first().map(|factor| factor.key_span).unwrap_or_default();
        let message = format!("the factors have more than {COMBINATIONS_MAX} combinations");
        problems.refuse(span, message, "vary fewer factors, or fewer levels of each");
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

/// The effects of the levels of a combination.
pub(in crate::spec) fn changes<'f>(
    factors: &'f [Factor],
    combination: &'f [usize],
) -> impl Iterator<Item = &'f Change> {
    factors.iter().zip(combination).flat_map(|(factor, level)| &factor.levels[*level].changes)
}

/// A copy of a table with the levels of a combination written into it. `key_of` selects the changes
/// that belong to the table.
pub(in crate::spec) fn with_levels(
    table: &Table,
    factors: &[Factor],
    combination: &[usize],
    key_of: impl Fn(&FactorTarget) -> Option<&str>,
) -> Table {
    let mut table = table.clone();
    for change in changes(factors, combination) {
        let Some(key) = key_of(&change.target) else { continue };
        table.entries.retain(|entry| entry.key != key);
        table.entries.push(Entry {
            key: key.to_owned(),
            key_span: change.key_span,
            node: change.node.clone(),
        });
    }
    table
}

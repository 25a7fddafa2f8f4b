//! `[workload]`: the kind and its options, validated against the catalog.

use crate::catalog::{HTTP, LUA, OptionDescription, OptionKind, PROPERTIES, WorkloadDescription};
use crate::plan::WorkloadPlan;
use crate::spec::declared;
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::keys::WORKLOAD;
use crate::spec::option::{Known, SCRIPT, SCRIPTS, one_script, value};
use crate::spec::properties;
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::request;
use crate::spec::tree::{Entry, Table, Value};
use crate::words::{list, nearest, suggestion};

/// Where the kind of a workload is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::spec) enum KindSource {
    /// In its table.
    Table,
    /// By the levels of a factor.
    Factor,
}

/// Reads the table; `None` when it is invalid.
pub(in crate::spec) fn read(
    table: &Table,
    span: Span,
    source: KindSource,
    known: Known<'_>,
    problems: &Problems,
) -> Option<WorkloadPlan> {
    let catalog = known.catalog;
    let names: Vec<&str> = catalog.iter().map(|workload| workload.name).collect();
    let Some(node) = table.get("kind") else {
        let help = match source {
            KindSource::Factor => {
                "some levels of `[factors]` set `workload.kind`, so all must".to_owned()
            }
            KindSource::Table => {
                format!("add for example `kind = \"rush\"`; workloads: {}", list(&names))
            }
        };
        problems.refuse(span, format!("missing key `kind` in {}", WORKLOAD.heading), help);
        return None;
    };
    let Value::Text(kind) = &node.value else {
        wrong_type(node, "workload.kind", "a string", problems);
        return None;
    };
    let Some(description) = catalog.iter().find(|workload| workload.name == kind) else {
        let message = format!("unknown workload `{kind}`");
        let help = suggestion(kind, &names, "workloads");
        problems.report(Diagnostic::new(node.span, message).label("not a workload").help(help));
        return None;
    };
    let mut options = description.defaults();
    // Options of the spec replace those of the file.
    if let Some(node) = table.get(PROPERTIES) {
        properties::read(node, description, &mut options, known, problems);
    }
    let takes_requests = kind == HTTP;
    let is_option = |key: &str| key != "kind" && !(takes_requests && key == "request");
    let mut others = Vec::new();
    for entry in table.entries.iter().filter(|entry| is_option(&entry.key)) {
        let name = if entry.key == SCRIPT { SCRIPTS } else { &entry.key };
        match description.options.iter().find(|option| option.name == name) {
            None if kind == LUA => others.push(entry),
            Some(OptionDescription { kind: OptionKind::Properties(_), .. }) => {}
            None => unknown(description, entry, node.span, source, problems),
            Some(option) => {
                let value = match entry.key == SCRIPT {
                    true => one_script(&entry.node, known, problems),
                    false => value(option.name, &option.kind, &entry.node, known, problems),
                };
                options.0.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
    }
    require_scripts(description, table, span, problems);
    if kind == LUA {
        let scripts =
            table.get(SCRIPTS).or_else(|| table.get(SCRIPT)).map_or(span, |node| node.span);
        declared::read(&others, &mut options, scripts, known, problems);
    }
    let fields = Fields { section: &WORKLOAD, table, span, problems };
    let requests = if takes_requests { request::read(&fields) } else { Vec::new() };
    Some(WorkloadPlan { requests, ..WorkloadPlan::new(kind, options) })
}

/// An option that the kind does not have.
fn unknown(
    description: &WorkloadDescription,
    entry: &Entry,
    kind: Span,
    source: KindSource,
    problems: &Problems,
) {
    let name = description.name;
    let names: Vec<&str> = description.options.iter().map(|option| option.name).collect();
    let message = format!("workload `{name}` has no option `{}`", entry.key);
    let help = match nearest(&entry.key, names.iter().copied().chain(["kind"])) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("its options: {}; `dyno workloads {name}` explains them", list(&names)),
    };
    let mut diagnostic = Diagnostic::new(entry.key_span, message).label("not an option").help(help);
    if source == KindSource::Factor {
        // The option may be valid for another kind; every varied kind must support it.
        diagnostic = diagnostic.related(kind, "for this kind");
    }
    problems.report(diagnostic);
}

/// Required scripts, given by one of their keys.
fn require_scripts(
    description: &WorkloadDescription,
    table: &Table,
    span: Span,
    problems: &Problems,
) {
    let is_required = |kind: &OptionKind| *kind == OptionKind::Scripts { is_required: true };
    if !description.options.iter().any(|option| option.name == SCRIPTS && is_required(&option.kind))
    {
        return;
    }
    match (table.get(SCRIPT), table.get(SCRIPTS)) {
        (None, None) => {
            let message = format!("missing key `{SCRIPTS}` in {}", WORKLOAD.heading);
            let extension = if description.name == LUA { "lua" } else { "sql" };
            let help = format!(
                "name files with their weights: \
                 `{SCRIPTS} = [\"read.{extension}@8\", \"write.{extension}\"]`"
            );
            problems.refuse(span, message, help);
        }
        (Some(script), Some(scripts)) => {
            let message = format!("`{SCRIPT}` and `{SCRIPTS}` cannot both be given");
            problems.refuse_both(script.span, scripts.span, message);
        }
        _ => {}
    }
}

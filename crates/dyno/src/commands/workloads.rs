//! `dyno workloads`: describes the built-in workloads with statements, options and audits, taken
//! from the code that runs them.

use crate::cli::WorkloadsArguments;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_engine::workload::sample_statements;
use dyno_model::catalog::{OptionDescription, OptionKind, OptionValue, WorkloadDescription};
use dyno_model::exit_code;
use dyno_model::plan::WorkloadPlan;
use dyno_model::target::Engine;
use dyno_model::words;
use dyno_pgbench::{TPCB, tpcb_statements};
use serde_json::{Value, json};
use std::fmt::Write;

/// Width for wrapping prose, columns.
const WIDTH: usize = 80;

/// Lists the workloads, or explains one.
///
/// # Errors
/// When there is no workload of that name.
pub(crate) fn workloads(
    arguments: &WorkloadsArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let text = match &arguments.name {
        None if arguments.json => pretty(&Value::Array(catalog.iter().map(as_json).collect())),
        None => list(catalog),
        Some(name) => {
            let workload = find(name, catalog)?;
            if arguments.json { pretty(&as_json(workload)) } else { explanation(workload) }
        }
    };
    if arguments.json { printer.result(&text) } else { printer.prose(&text) }?;
    Ok(exit_code::OK)
}

fn find<'c>(
    name: &str,
    catalog: &'c [WorkloadDescription],
) -> Result<&'c WorkloadDescription, Failure> {
    catalog.iter().find(|workload| workload.name == name).ok_or_else(|| {
        let near = words::nearest(name, catalog.iter().map(|workload| workload.name));
        let failure = Failure::new(exit_code::USAGE, format!("unknown workload `{name}`"));
        match near {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("`dyno workloads` lists them"),
        }
    })
}

fn list(catalog: &[WorkloadDescription]) -> String {
    let width = catalog.iter().map(|workload| workload.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for workload in catalog {
        let summary = wrapped(workload.summary, WIDTH - width - 2, &" ".repeat(width + 2));
        let _ = writeln!(text, "{:width$}  {summary}", workload.name);
    }
    text.push_str("\n`dyno workloads NAME` shows statements, options and audit of one.");
    text
}

fn explanation(workload: &WorkloadDescription) -> String {
    let mut text = format!("{}\n  {}\n", workload.name, wrapped(workload.summary, WIDTH - 2, "  "));
    let _ = writeln!(text, "\nAudit\n  {}", wrapped(workload.audit, WIDTH - 2, "  "));
    for (dialects, statements) in statements(workload) {
        let _ = writeln!(text, "\nStatements ({dialects}; ? is a value)");
        let width = statements.iter().map(|(kind, _)| kind.len()).max().unwrap_or_default();
        for (kind, sql) in statements {
            let _ = writeln!(text, "  {kind:width$}  {sql}");
        }
    }
    if !workload.options.is_empty() {
        let _ = writeln!(
            text,
            "\nOptions, in [workload] of a spec or with --set workload.OPTION=VALUE"
        );
    }
    for option in &workload.options {
        let _ = writeln!(
            text,
            "  {}: {}, default {}",
            option.name,
            takes(&option.kind),
            value(&option.default)
        );
        let _ = writeln!(text, "      {}", wrapped(option.help, WIDTH - 6, "      "));
    }
    text
}

/// Kinds and texts of the statements with default options.
type Statements = Vec<(String, String)>;

/// Statements per dialect; dialects with equal statements are grouped.
fn statements(workload: &WorkloadDescription) -> Vec<(String, Statements)> {
    let plan = WorkloadPlan::new(workload.name, workload.defaults());
    let mut groups: Vec<(String, Statements)> = Vec::new();
    for engine in Engine::ALL.into_iter().filter(|engine| engine.keeps_data()) {
        let heading = engine.traits().products;
        let statements = match workload.name {
            TPCB => tpcb_statements(engine),
            _ => sample_statements(&plan, engine),
        };
        match groups.iter_mut().find(|(_, other)| *other == statements) {
            Some((headings, _)) => {
                let _ = write!(headings, ", {heading}");
            }
            None => groups.push((heading.to_owned(), statements)),
        }
    }
    groups.retain(|(_, statements)| !statements.is_empty());
    groups
}

fn takes(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Integer { min, max: i64::MAX } => format!("integer, {min} or more"),
        OptionKind::Integer { min, max } => format!("integer, {min} to {max}"),
        OptionKind::Number { min, max } => format!("number, {min} to {max}"),
        OptionKind::Boolean => "true or false".to_owned(),
        OptionKind::Choice(words) => words.join(" | "),
        OptionKind::Text => "string".to_owned(),
        OptionKind::Properties(_) => "file".to_owned(),
        OptionKind::Scripts { .. } => "files with weights, or [[workload.scripts]]".to_owned(),
        OptionKind::Texts => "table of strings".to_owned(),
        OptionKind::Values => "table of values".to_owned(),
    }
}

fn value(value: &OptionValue) -> String {
    match value {
        OptionValue::Text(text) if text.is_empty() => "empty".to_owned(),
        OptionValue::Scripts(_) | OptionValue::Texts(_) => "none".to_owned(),
        other => other.to_string(),
    }
}

fn as_json(workload: &WorkloadDescription) -> Value {
    let options: Vec<Value> = workload.options.iter().map(option_as_json).collect();
    let statements: Vec<Value> = statements(workload)
        .into_iter()
        .map(|(dialects, statements)| {
            let statements: Vec<Value> = statements
                .into_iter()
                .map(|(kind, sql)| json!({ "kind": kind, "sql": sql }))
                .collect();
            json!({ "dialects": dialects, "statements": statements })
        })
        .collect();
    json!({
        "name": workload.name,
        "summary": workload.summary,
        "audit": workload.audit,
        "options": options,
        "statements": statements,
    })
}

fn option_as_json(option: &OptionDescription) -> Value {
    let (kind, range) = match &option.kind {
        OptionKind::Integer { min, max } => ("integer", json!({ "min": min, "max": max })),
        OptionKind::Number { min, max } => ("number", json!({ "min": min, "max": max })),
        OptionKind::Boolean => ("boolean", Value::Null),
        OptionKind::Choice(words) => ("choice", json!({ "words": words })),
        OptionKind::Text => ("text", Value::Null),
        OptionKind::Scripts { .. } => ("scripts", Value::Null),
        OptionKind::Properties(_) => ("file", Value::Null),
        OptionKind::Texts => ("texts", Value::Null),
        OptionKind::Values => ("values", Value::Null),
    };
    json!({ "name": option.name, "type": kind, "range": range, "default": option.default, "help": option.help })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// Wraps prose to `width` columns; `indent` precedes every line but the first.
fn wrapped(prose: &str, width: usize, indent: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in prose.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            let _ = write!(text, "\n{indent}");
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_at_words() {
        assert_eq!(wrapped("one two  three four", 9, "  "), "one two\n  three\n  four");
        assert_eq!(wrapped("averyveryverylongword x", 5, ""), "averyveryverylongword\nx");
    }

    #[test]
    fn a_mistyped_name_is_reported_with_the_one_that_was_meant() {
        let catalog = crate::workload::catalog();
        let refused = |name: &str| format!("{:?}", find(name, &catalog).err());
        assert!(find("rush", &catalog).is_ok());
        assert!(refused("rsuh").contains("did you mean `rush`?"), "{}", refused("rsuh"));
        assert!(refused("something").contains("lists them"), "{}", refused("something"));
    }

    #[test]
    fn each_workload_lists_its_options_audit_and_fixed_statements() {
        // bulk_insert generates its statement each time; the others send statements of the user.
        let others = ["bulk_insert", "http", "lua", "sql"];
        for workload in crate::workload::catalog() {
            let text = explanation(&workload);
            assert!(text.contains("\nAudit\n"), "{text}");
            assert_eq!(text.contains("\nStatements ("), !others.contains(&workload.name), "{text}");
            assert!(
                workload
                    .options
                    .iter()
                    .all(|option| text.contains(&format!("\n  {}: ", option.name))),
                "{text}"
            );
            assert_eq!(as_json(&workload)["name"], workload.name);
        }
    }
}

//! Generates docs/reference from the code, and fails if the files there differ.

use crate::cli::Cli;
use crate::spec_schema::spec_schema;
use clap::{Arg, Command, CommandFactory};
use dyno_analysis::model::Metric;
use dyno_model::exit_code;
use dyno_model::spec::keys::SECTIONS;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable: writes the files instead of comparing them.
const UPDATE: &str = "UPDATE_DOCS";

const GENERATED: &str =
    "<!-- Made from the code by `UPDATE_DOCS=1 cargo test -p dyno reference`; do not edit. -->\n\n";

#[test]
fn the_reference_in_docs_is_what_the_code_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let page = |text: String| format!("{GENERATED}{text}");
    let schema = |schema: &Value| format!("{schema:#}\n");
    let [report, summary] = [dyno_report::report_schema(), dyno_store::summary_schema()]
        .map(|schema| in_terms_of_json(schema.to_value()));
    let pages = [
        ("cli.md", page(cli())),
        ("spec.md", page(spec())),
        ("exit-codes.md", page(exit_codes())),
        ("files.md", page(files())),
        ("json.md", page(json(&report, &summary))),
        ("metrics.md", page(metrics())),
        ("spec.schema.json", schema(&spec_schema())),
        ("report.schema.json", schema(&report)),
        ("summary.schema.json", schema(&summary)),
    ];
    for (name, text) in pages {
        let path = folder.join(name);
        if std::env::var_os(UPDATE).is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "docs/reference/{name} is out of date: {UPDATE}=1 cargo test -p dyno reference"
        );
    }
}

fn cli() -> String {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut text = "# Command line\n\n".to_owned();
    let _ =
        writeln!(text, "{}\n", root.get_long_about().map(ToString::to_string).unwrap_or_default());
    let _ =
        writeln!(text, "{}\n", root.get_after_help().map(ToString::to_string).unwrap_or_default());
    text.push_str(
        "Results go to standard output, everything else to standard error. `NO_COLOR` turns \
         colours off. Exit codes: [exit-codes.md](exit-codes.md).\n",
    );
    for command in root
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
    {
        describe(command, &mut text);
    }
    text
}

fn describe(command: &Command, text: &mut String) {
    let _ = writeln!(text, "\n## dyno {}\n", command.get_name());
    let _ =
        writeln!(text, "{}.\n", command.get_about().map(ToString::to_string).unwrap_or_default());
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(text, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let _ = writeln!(text, "| argument | meaning |\n|---|---|");
    let is_shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    for argument in command.get_arguments().filter(is_shown) {
        let help = argument
            .get_long_help()
            .or_else(|| argument.get_help())
            .map(ToString::to_string)
            .unwrap_or_default();
        let help = help.replace("\n\n", "; ").replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {help}{} |", signature(argument), values(argument));
    }
    if let Some(examples) = command.get_after_long_help() {
        let _ = writeln!(text, "\n```text\n{examples}\n```");
    }
}

fn signature(argument: &Arg) -> String {
    let value =
        argument.get_value_names().and_then(|names| names.first()).map(|name| format!("<{name}>"));
    let takes_value = argument.get_action().takes_values();
    match (argument.get_long(), value.filter(|_| takes_value)) {
        (None, Some(value)) => value,
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, None) => argument.get_id().to_string(),
    }
}

fn values(argument: &Arg) -> String {
    if !argument.get_action().takes_values() {
        return String::new();
    }
    let words: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let mut text = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    if let [default] = argument.get_default_values() {
        let _ = write!(text, "; default `{}`", default.to_string_lossy());
    }
    text
}

fn spec() -> String {
    let mut text = "# The spec file\n\nTOML. Unknown keys are errors; all errors are shown at \
                    once, each with its line, column and remedy.\n\n\
                    * A **duration** is a string with numbers and units: `\"500ms\"`, `\"30s\"`, \
                    `\"5m\"`, `\"1h30m\"`.\n\
                    * **Paths** are relative to the folder of the spec. Commands run in the folder \
                    in which dyno runs.\n\
                    * Whole numbers may have underscores: `10_000`. Options of workloads that \
                    count bytes (their names end in `_bytes`) also take sizes such as `\"64K\"` or \
                    `\"4G\"`, powers of 1024.\n\
                    * **Order of precedence, lowest first**: file, then `--profile NAME`, then \
                    `--set KEY=VALUE` in their order. Tables are merged key by key, everything \
                    else is replaced.\n"
        .to_owned();
    for section in SECTIONS {
        let heading =
            if section.heading.is_empty() { "The top of the file" } else { section.heading };
        let _ = writeln!(text, "\n## {heading}\n\n{}", section.about);
        if section.keys.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n| key | takes | default | meaning |\n|---|---|---|---|");
        for key in section.keys {
            let cell = |text: &str| text.replace('|', "\\|");
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                key.name,
                cell(&key.value_type.to_string()),
                cell(key.default),
                cell(key.help)
            );
        }
    }
    text
}

fn exit_codes() -> String {
    let mut text =
        "# Exit codes\n\nPublic and stable.\n\n| code | meaning |\n|---|---|\n".to_owned();
    for (code, meaning) in exit_code::ALL {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text
}

/// The metrics of reports, as `report.csv` and `figures` of `report.json` name them.
fn metrics() -> String {
    let mut text = "# Metrics\n\nThe metrics of a report: the column `metric` of `report.csv`, \
                    and `figures` in `report.json`. A figure is a number, a lower bound \
                    (`at_least`), or a mean over trials with its interval.\n\n\
                    | name | unit | meaning |\n|---|---|---|\n"
        .to_owned();
    for metric in Metric::ALL {
        let unit = serde_json::to_value(metric.unit()).expect("a word");
        let unit = unit.as_str().unwrap_or_default();
        let meaning = metric.description().trim();
        let _ = writeln!(text, "| `{}` | {unit} | {meaning} |", metric.id());
    }
    text
}

/// The fields of `report.json` and `summary.json` as tables.
fn json(report: &Value, summary: &Value) -> String {
    let mut text = "# JSON\n\nWhat other programs read: `report.json` (`dyno run --json`, \
                    `dyno report --format json`) and `summary.json` of each results folder. The \
                    same as JSON Schema (draft 2020-12): [report.schema.json](report.schema.json), \
                    [summary.schema.json](summary.schema.json). Fields are only added within a \
                    version (`report_format`, `format`). Whether limits were kept is in `limits` \
                    of both:\n\n\
                    ```sh\njq -r '.limits[] | \"\\(.verdict) \\(.metric) \\(.figure)\"' RESULTS/summary.json\n```\n"
        .to_owned();
    for (name, schema) in [("report.json", report), ("summary.json", summary)] {
        let _ = writeln!(text, "\n## {name}\n");
        fields(schema, &mut text);
        for (of, definition) in schema["$defs"].as_object().into_iter().flatten() {
            let _ = writeln!(text, "\n### {of} in {name}\n\n{}\n", description(definition));
            fields(definition, &mut text);
        }
    }
    text
}

/// A schema whose descriptions refer to fields of the document: the doc comments that they are made
/// from refer to items of Rust.
fn in_terms_of_json(mut schema: Value) -> Value {
    match &mut schema {
        Value::String(text) if text.contains("[`") => {
            let mut parts = text.split("[`");
            let mut plain = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let (path, rest) = part.split_once("`]").unwrap_or((part, ""));
                // Modules are lower-case; fields are so only after their type.
                let is_module = |name: &&str| name.chars().all(|c| c.is_lowercase() || c == '_');
                let names: Vec<&str> = path.split("::").skip_while(is_module).collect();
                let names = names.strip_prefix(&["ReportModel"]).unwrap_or(&names);
                let _ = write!(plain, "`{}`{rest}", names.join("."));
            }
            *text = plain;
        }
        Value::Object(object) => {
            object.values_mut().for_each(|inner| *inner = in_terms_of_json(inner.take()));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|inner| *inner = in_terms_of_json(inner.take()));
        }
        _ => {}
    }
    schema
}

#[test]
fn no_description_of_json_names_a_path_of_rust() {
    let text = |schema: &str| in_terms_of_json(Value::from(schema));
    assert_eq!(text("Index into [`crate::model::ReportModel::series`]."), "Index into `series`.");
    assert_eq!(text("As [`super::LimitRow::figure`]; [`N`]"), "As `LimitRow.figure`; `N`");
    for schema in [dyno_report::report_schema(), dyno_store::summary_schema()] {
        let text = in_terms_of_json(schema.to_value()).to_string();
        let found = ["::", "[`", "``"].into_iter().find_map(|sign| Some((text.find(sign)?, sign)));
        if let Some((at, sign)) = found {
            panic!("{sign}: {}", text[..at].chars().rev().take(90).collect::<String>());
        }
    }
}

/// A table of an object's fields, or of an enum's values; empty for other types.
fn fields(schema: &Value, text: &mut String) {
    let cell = |text: String| text.replace('|', "\\|").replace('\n', " ");
    if let Some(properties) = schema["properties"].as_object() {
        text.push_str("| field | type | meaning |\n|---|---|---|\n");
        for (name, field) in properties {
            let _ = writeln!(
                text,
                "| `{name}` | {} | {} |",
                cell(kind(field)),
                cell(description(field))
            );
        }
    }
    let variants =
        ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    for variant in variants {
        let _ = writeln!(text, "* {}: {}", kind(variant), cell(description(variant)));
    }
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// The type of a value, as a word or a link.
fn kind(schema: &Value) -> String {
    let either = ["anyOf", "oneOf"].into_iter().find_map(|key| schema[key].as_array());
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("`{name}`");
    }
    if let Some(either) = either {
        return either.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(constant) = schema.get("const") {
        return format!("`{constant}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(properties) = schema["properties"].as_object() {
        // The name of the variant is among the fields.
        let field = |(name, schema): (&String, &Value)| match schema.get("const") {
            Some(constant) => format!("`{name}` = `{constant}`"),
            None => format!("`{name}`"),
        };
        let names: Vec<String> = properties.iter().map(field).collect();
        return format!("object with {}", names.join(", "));
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

/// All files of the crates by folder, each with the first sentence of its module comment, without
/// unit tests.
fn files() -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut folders = BTreeMap::new();
    collect(&crates, &crates, &mut folders);
    let mut text = "# Files\n\nEvery folder and file of `crates/`, with the first sentence of its \
                    documentation. The `lib.rs` of a crate states its purpose, reading order and \
                    invariants.\n"
        .to_owned();
    for (folder, mut files) in folders {
        let _ = writeln!(text, "\n## {folder}\n");
        let heads = ["lib.rs", "main.rs", "mod.rs"].map(str::to_owned);
        let inside = heads.iter().find_map(|name| files.remove(name));
        if let Some(about) = inside.or_else(|| head(&crates.join(format!("{folder}.rs")))) {
            let _ = writeln!(text, "{about}.\n");
        }
        if !files.is_empty() {
            let _ = writeln!(text, "| file | what it is |\n|---|---|");
        }
        for (name, about) in files {
            let _ = writeln!(text, "| `{name}` | {about} |");
        }
    }
    text
}

/// The files below a folder with their first sentences, grouped by folder.
fn collect(crates: &Path, folder: &Path, folders: &mut BTreeMap<String, BTreeMap<String, String>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let folder_name = folder.strip_prefix(crates).unwrap().display().to_string();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_unit_test = folder_name.contains("/src") && (name == "tests" || name == "tests.rs");
        if path.is_dir() && name != "target" && !is_unit_test {
            collect(crates, &path, folders);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_unit_test {
            let about = head(&path)
                .unwrap_or_else(|| panic!("{folder_name}/{name} must say in `//!` what it is"));
            folders.entry(folder_name).or_default().insert(name, about);
        }
    }
}

/// The first sentence of a file's module comment, without links.
fn head(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let words = lines.collect::<Vec<_>>().join(" ");
    let sentence = words.split(". ").next().unwrap_or_default().trim_end_matches(['.', ':']);
    let plain = sentence.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    (!plain.is_empty()).then_some(plain)
}

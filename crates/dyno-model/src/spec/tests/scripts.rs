//! Scripts of SQL: files, weights, texts in the spec.

use super::super::{Input, parse};
use crate::catalog::{OptionDescription, OptionKind, OptionValue, SqlScript, WorkloadDescription};
use std::path::Path;

/// A catalogue with a workload that takes scripts.
fn catalog() -> Vec<WorkloadDescription> {
    let scripts = OptionDescription {
        name: "scripts",
        kind: OptionKind::Scripts { is_required: true },
        default: OptionValue::Scripts(Vec::new()),
        help: "",
    };
    vec![WorkloadDescription { name: "sql", summary: "", audit: "", options: vec![scripts] }]
}

/// One file is there, beside the spec.
fn script(file: &Path) -> Result<String, String> {
    match file.to_str() {
        Some("here/read.sql") => Ok("SELECT 1;".to_owned()),
        _ => Err("it is not there".to_owned()),
    }
}

/// What a spec with this `[workload]` gives: the scripts, or all errors.
fn read(workload: &str) -> Result<Vec<SqlScript>, String> {
    let text = format!(
        "title = \"own\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = 1\nduration = \"1s\"\n\
         [workload]\nkind = \"sql\"\n{workload}"
    );
    let input = Input { file_name: "here/own.toml", text: &text, script: Some(script), ..Input::default() };
    let (_, plan) = parse(input, &catalog()).map_err(|errors| errors.to_string())?;
    Ok(plan.treatments[0].workload.options.scripts("scripts").to_vec())
}

#[test]
fn scripts_are_files_with_weights_or_tables() {
    let script =
        |name: &str, weight, text: &str| SqlScript { name: name.to_owned(), weight, text: text.to_owned() };
    assert_eq!(read("scripts = [\"read.sql@8\"]"), Ok(vec![script("read", 8, "SELECT 1;")]));
    let tables = "[[workload.scripts]]\nfile = \"read.sql\"\n[[workload.scripts]]\nname = \"two\"\nweight = 3\nsql = \"SELECT 2\"\n";
    assert_eq!(read(tables), Ok(vec![script("read", 1, "SELECT 1;"), script("two", 3, "SELECT 2")]));
    let option = OptionValue::Scripts(vec![script("read", 8, "SELECT 1;"), script("two", 1, "x")]);
    assert_eq!(option.to_string(), "read@8, two");
}

#[test]
fn mistakes_in_scripts_name_their_place_and_what_to_write() {
    for (workload, expected) in [
        ("", "missing key `scripts`"),
        ("scripts = []", "names no script"),
        ("scripts = \"read.sql\"", "must be a list of files"),
        ("scripts = [1]", "must be a file or a table"),
        ("scripts = [\"read.sql@0\"]", "between 1 and 1000000, got `0`"),
        ("scripts = [\"none.sql\"]", "cannot read the script `none.sql`: it is not there"),
        ("scripts = [\"read.sql\", \"read.sql@2\"]", "two scripts are called `read`"),
        ("[[workload.scripts]]\nname = \"a\"", "missing key `sql`"),
        ("[[workload.scripts]]\nsql = \"SELECT 1\"", "missing key `name`"),
        ("[[workload.scripts]]\nsql = \"x\"\nfile = \"read.sql\"", "both `file` and `sql`"),
        ("[[workload.scripts]]\nname = \"a\"\nsql = \"x\"\nwait = 1", "unknown key `wait`"),
    ] {
        let said = read(workload).expect_err(workload);
        assert!(said.contains(expected), "{workload}: {said}");
        assert!(said.contains("here/own.toml:"), "the place is named: {said}");
    }
}

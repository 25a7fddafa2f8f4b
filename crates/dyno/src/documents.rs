//! What README and guide show is what the program takes: each command line is parsed, and each block of TOML is a spec or a part of one.

use crate::cli::Cli;
use crate::workload::catalog;
use clap::Parser;
use dyno_model::spec::{Input, parse};
use std::path::Path;
use toml::{Table, Value};

/// A document of the repository.
fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Blocks of code in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next().map(str::to_owned)).collect()
}

/// Words of a line as a shell has them, up to a comment, a redirection or the next command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => (quote, is_word) = (Some(letter), true),
            (Some(open), close) if open == close => quote = None,
            (None, '#') if !is_word => break,
            (None, '>' | '&' | '|' | ';') => break,
            (None, ' ') if is_word => {
                words.push(std::mem::take(&mut word));
                is_word = false;
            }
            (None, ' ') => {}
            _ => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    words.extend(is_word.then_some(word));
    words
}

#[test]
fn every_command_line_in_readme_and_guide_is_one_that_dyno_takes() {
    let mut known = 0;
    for name in ["README.md", "docs/guide.md", "docs/experiments/README.md", "docs/methodology.md"] {
        for block in blocks(&document(name), "sh") {
            for line in block.replace("\\\n", " ").lines() {
                let line = line.replace("cargo run --release -- ", "dyno ");
                let words = words(line.trim());
                if words.first().is_none_or(|program| program != "dyno") {
                    continue;
                }
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{name}: {line}\n{error}");
                }
                known += 1;
            }
        }
    }
    assert!(known > 20, "{known} lines");
}

/// What a part of a spec may need around it: one of several systems, workloads and loads.
const SYSTEMS: [&str; 5] = [
    "name = \"MySQL\"\nserver = { kind = \"mysql\" }",
    "name = \"Ours\"\nserver = { kind = \"postgres\" }",
    "name = \"Ours\"\nserver = { kind = \"ndb\" }",
    "name = \"Ours\"\nserver = { kind = \"galera\" }",
    "name = \"Ours\"\nurl = \"postgres://me@localhost/shop\"",
];
const WORKLOADS: [&str; 4] = [
    "kind = \"oltp_read_write\"",
    "kind = \"sql\"\nscripts = [\"pay.sql\", \"new-order.sql\", \"read.sql\"]",
    "kind = \"rush\"",
    "kind = \"mass-insert\"",
];
const LOADS: [&str; 3] = [
    "clients = [1, 8]\nduration = \"30s\"",
    "clients = [1, 8]\n[[load.stages]]\nname = \"spike\"\nduration = \"1s\"\nrate = \"100/s\"",
    "clients = [1, 8]",
];

/// Everything that may be around a part.
fn surroundings() -> Vec<String> {
    let mut all = Vec::new();
    for load in LOADS {
        for system in SYSTEMS {
            for workload in WORKLOADS {
                all.push(format!(
                    "title = \"t\"\n[[system]]\n{system}\n[workload]\n{workload}\n[load]\n{load}\n[design]\nblocks = 3\n"
                ));
            }
        }
    }
    all
}

/// The spec that a block is, or is a part of with this around it. Keys that stand in no table belong to a system.
fn whole(block: &str, around: &str) -> String {
    let part: Table = block.parse().unwrap_or_else(|error| panic!("{block}\n{error}"));
    let mut spec: Table = around.parse().expect("it is TOML");
    let is_top = |key: &str| dyno_model::spec::keys::TOP.keys.iter().any(|known| known.name == key);
    let (top, of_system): (Table, Table) = part.into_iter().partition(|(key, _)| is_top(key));
    for (key, value) in top {
        match (spec.get_mut(&key), value) {
            (Some(Value::Table(around)), Value::Table(part)) => around.extend(part),
            (_, value) => drop(spec.insert(key, value)),
        }
    }
    if !of_system.is_empty() {
        let mut system = Table::from_iter([("name".to_owned(), Value::from("Ours"))]);
        system.extend(of_system);
        spec.insert("system".to_owned(), Value::Array(vec![Value::Table(system)]));
    }
    toml::to_string(&spec).expect("it was TOML")
}

#[test]
fn every_block_of_toml_in_the_guide_is_a_spec_or_a_part_of_one() {
    let blocks = blocks(&document("docs/guide.md"), "toml");
    assert!(blocks.len() > 20, "{} blocks", blocks.len());
    for block in blocks {
        let mut first = None;
        let is_taken = surroundings().iter().any(|around| {
            let text = whole(&block, around);
            let refusal = refusal(&text);
            let is_right = refusal.is_none();
            first = first.take().or(refusal.map(|errors| format!("{text}\n{errors}")));
            is_right
        });
        assert!(
            is_taken,
            "{block}\nis with nothing around it a spec; the first try:\n{}",
            first.unwrap_or_default()
        );
    }
}

/// What is wrong with a spec. Files that it names are there.
fn refusal(text: &str) -> Option<String> {
    let script = |file: &Path| {
        Ok(match file.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => "seconds,rate\n0,10\n60,20\n".to_owned(),
            _ => "SELECT 1;".to_owned(),
        })
    };
    let variable = |_: &str| Some("postgres://me@localhost/shop".to_owned());
    let input = Input {
        file_name: "guide.toml",
        text,
        variable: Some(variable),
        script: Some(script),
        ..Input::default()
    };
    parse(input, &catalog()).err().map(|errors| errors.to_string())
}

//! The JSON schema of spec files, from the table of keys: editors with a TOML plug-in complete and
//! check specs with it.

use dyno_model::spec::keys::{Key, SECTIONS, Section, ValueType};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// Tables in which the user chooses keys.
const OPEN: [&str; 3] = ["workload.", "factors.", "profile."];

/// Keys that a spec does not need if a factor or a profile sets them.
const ELSEWHERE: [&str; 2] = ["workload", "workload.kind"];

/// The schema. It checks names, types and ranges of keys; `dyno plan` checks everything.
pub(crate) fn spec_schema() -> Value {
    let top = SECTIONS.iter().find(|section| section.prefix.is_empty()).expect("the top");
    let mut schema = table(top);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Spec of dyno");
    let tables = SECTIONS.iter().filter(|section| !section.prefix.is_empty());
    let tables: Map<String, Value> =
        tables.map(|section| (name(section.prefix).to_owned(), table(section))).collect();
    schema["$defs"] = tables.into();
    schema
}

/// A section's name among the definitions: `load.find`.
fn name(prefix: &str) -> &str {
    prefix.trim_end_matches('.')
}

fn table(section: &Section) -> Value {
    let path = |key: &Key| format!("{}{}", section.prefix, key.name);
    let keys: Map<String, Value> = section
        .keys
        .iter()
        .map(|key| {
            let mut schema = value(key, &path(key));
            schema["description"] = json!(format!("{} (default: {})", key.help, key.default));
            (key.name.to_owned(), schema)
        })
        .collect();
    let is_needed =
        |key: &&Key| key.default == "required" && !ELSEWHERE.contains(&path(key).as_str());
    let required: Vec<&str> = section.keys.iter().filter(is_needed).map(|key| key.name).collect();
    json!({
        "type": "object",
        "description": section.about,
        "properties": keys,
        "required": required,
        "additionalProperties": match section.prefix {
            // A name with points may be written as tables.
            "factors." => json!({ "anyOf": [
                { "type": "array" },
                { "type": "object", "additionalProperties": { "type": "array" } },
            ] }),
            "profile." => open_table(),
            prefix => json!(OPEN.contains(&prefix)),
        },
    })
}

/// The schema of a key's values.
fn value(key: &Key, path: &str) -> Value {
    let whole = |range: &RangeInclusive<i64>| match *range.end() {
        i64::MAX => json!({ "type": "integer", "minimum": range.start() }),
        end => json!({ "type": "integer", "minimum": range.start(), "maximum": end }),
    };
    let list = |of: Value| json!({ "type": "array", "items": of });
    let text = || json!({ "type": "string" });
    match &key.value_type {
        ValueType::Integer(range) if path == "design.blocks" => {
            json!({ "anyOf": [whole(range), { "const": "auto" }] })
        }
        ValueType::Integer(range) => whole(range),
        ValueType::IntegerOrList(range) => json!({ "anyOf": [whole(range), list(whole(range))] }),
        ValueType::Integers(range) => list(whole(range)),
        ValueType::Duration { .. } | ValueType::Rate => text(),
        ValueType::StageRate => json!({ "anyOf": [text(), { "const": 0 }, { "type": "array" }] }),
        ValueType::RateOrClients => json!({ "anyOf": [text(), { "type": "integer" }] }),
        ValueType::NumbersFrom(least) => list(json!({ "type": "number", "minimum": least })),
        ValueType::Words(words) => in_words(words, path),
    }
}

/// A table with keys that the user chooses.
fn open_table() -> Value {
    json!({ "type": "object", "additionalProperties": true })
}

/// The schema of values that the table of keys describes in words.
fn in_words(words: &str, path: &str) -> Value {
    let path = if path == "background.workload" { "workload" } else { path };
    let own = || match SECTIONS.iter().any(|section| name(section.prefix) == path) {
        true => json!({ "$ref": format!("#/$defs/{path}") }),
        false => open_table(),
    };
    match words {
        _ if path == "profile" => own(),
        "table" => own(),
        "`true` or `false`" | "true or false" => json!({ "type": "boolean" }),
        "`0`" => json!({ "const": 0 }),
        "list of tables" => json!({ "type": "array", "items": open_table() }),
        "list of strings" => json!({ "type": "array", "items": { "type": "string" } }),
        "1 to 100, or a list of names" => json!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 100 },
                { "type": "array", "items": { "type": "string" } },
            ],
        }),
        _ if words.starts_with("tables") => json!({ "type": "array", "items": own() }),
        _ if words.starts_with("table of") => open_table(),
        _ => alternatives(words)
            .map_or_else(|| json!({ "type": "string" }), |words| json!({ "enum": words })),
    }
}

/// The words of `` `a`, `b` or `c` ``, if there is nothing else.
fn alternatives(words: &str) -> Option<Vec<&str>> {
    let is_word =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let parts: Vec<&str> = words.split('`').collect();
    let between = parts.iter().step_by(2).all(|part| ["", ", ", " or "].contains(part));
    let words: Vec<&str> = parts.iter().skip(1).step_by(2).copied().collect();
    (between && !words.is_empty() && words.iter().all(|word| is_word(word))).then_some(words)
}

#[test]
fn words_become_choices_only_if_there_is_nothing_else() {
    assert_eq!(alternatives("`even`"), Some(vec!["even"]));
    assert_eq!(alternatives("`a`, `b-c` or `d`"), Some(vec!["a", "b-c", "d"]));
    for words in ["`system` or a factor", "`\"> 5000/s\"`", "`HOST:PORT` or the path", "string"] {
        assert_eq!(alternatives(words), None, "{words}");
    }
}

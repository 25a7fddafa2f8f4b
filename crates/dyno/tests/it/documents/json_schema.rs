//! What dyno writes as JSON is what its schemas in docs/reference say, and nothing else.

use crate::program::Bench;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A schema of docs/reference.
struct Schema(Value);

impl Schema {
    fn named(name: &str) -> Self {
        let path = dyno_testkit::repository::root().join("docs/reference").join(name);
        Self(
            serde_json::from_str(&std::fs::read_to_string(path).expect("it is there"))
                .expect("JSON"),
        )
    }

    /// Panics when a document is not as the schema says, or has fields that it does not know.
    #[track_caller]
    fn holds(&self, document: &Value) {
        let wrong = self.whole(&self.0, document, "$");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What is wrong with a value that stands for itself.
    fn whole(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let mut wrong = self.part(schema, value, path);
        if let Some(object) = value.as_object() {
            let mut known = BTreeSet::new();
            if self.fields(schema, &mut known) {
                let unknown = object.keys().filter(|name| !known.contains(name.as_str()));
                wrong.extend(unknown.map(|name| format!("{path}.{name} is not in the schema")));
            }
        }
        wrong
    }

    /// Names of fields; false where any name may stand.
    fn fields<'s>(&'s self, schema: &'s Value, known: &mut BTreeSet<&'s str>) -> bool {
        let Some(schema) = schema.as_object() else { return false };
        known.extend(
            schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::keys)
                .map(String::as_str),
        );
        let parts = ["anyOf", "oneOf", "allOf"]
            .into_iter()
            .filter_map(|key| schema.get(key)?.as_array())
            .flatten();
        let parts: Vec<&Value> =
            parts.chain(schema.get("$ref").map(|path| self.referred(path))).collect();
        let is_free =
            schema.get("additionalProperties").is_some_and(|it| *it != Value::Bool(false));
        let is_any =
            schema.keys().all(|key| ["description", "title", "default"].contains(&key.as_str()));
        let mut is_known = !is_free && !is_any;
        for part in parts {
            is_known &= self.fields(part, known);
        }
        is_known
    }

    fn referred(&self, path: &Value) -> &Value {
        let path = path.as_str().expect("a path").trim_start_matches('#');
        self.0.pointer(path).unwrap_or_else(|| panic!("no {path}"))
    }

    fn part(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Some(reference) = schema.get("$ref") {
            wrong.extend(self.part(self.referred(reference), value, path));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(either) = schema.get(key).and_then(Value::as_array)
                && either.iter().all(|one| !self.part(one, value, path).is_empty())
            {
                wrong.push(format!("{path}: {value} is none of {key}"));
            }
        }
        for one in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            wrong.extend(self.part(one, value, path));
        }
        let is_other = schema.get("const").is_some_and(|one| one != value)
            || schema.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value));
        let is_type = |name: &Value| match name.as_str().unwrap_or_default() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("type {other}"),
        };
        let is_of_type = match schema.get("type") {
            None => true,
            Some(Value::Array(names)) => names.iter().any(is_type),
            Some(name) => is_type(name),
        };
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let is_outside = value.as_f64().is_some_and(|number| {
            bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most)
        });
        if is_other || is_outside || !is_of_type {
            wrong.push(format!("{path}: {value} is not {schema}"));
        }
        for (at, item) in value.as_array().into_iter().flatten().enumerate() {
            let fixed = schema.get("prefixItems").and_then(|all| all.get(at));
            let items = fixed.or(schema.get("items"));
            wrong.extend(
                items.map_or_else(Vec::new, |items| {
                    self.whole(items, item, &format!("{path}[{at}]"))
                }),
            );
        }
        if let Some(object) = value.as_object() {
            wrong.extend(self.object(schema, object, path));
        }
        wrong
    }

    fn object(&self, schema: &Value, object: &Map<String, Value>, path: &str) -> Vec<String> {
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let missing = required.filter(|name| !object.contains_key(*name));
        let mut wrong: Vec<String> =
            missing.map(|name| format!("{path}.{name} is missing")).collect();
        for (name, field) in object {
            let of_name = schema.get("properties").and_then(|all| all.get(name));
            let of_any = schema.get("additionalProperties").filter(|it| it.is_object());
            if let Some(schema) = of_name.or(of_any) {
                wrong.extend(self.whole(schema, field, &format!("{path}.{name}")));
            }
        }
        wrong
    }
}

const SPEC: &str = r#"
title = "Two systems with limits"
system = [{ name = "A", url = "null:" }, { name = "B", server = { kind = "sqlite" } }]
workload = { kind = "rush", rows = 10, variant = "in-place" }
load = { clients = [1, 3], duration = "300ms", warmup = "0s" }
design = { blocks = 3 }
[[limit]]
p50 = "< 1h"
"p99.9" = "< 1ms"
max = "< 1h"
failed = "< 50 %"
lost = 0
[[limit]]
throughput = "> 1000000000/s"
where = { system = "A" }
"#;

#[test]
fn reports_and_summaries_are_what_their_schemas_say() {
    let bench = Bench::new();
    bench.file("x.toml", SPEC);
    let ended = bench.dyno(&["run", "x.toml", "--out", "r", "--json", "--quiet"]);
    let report: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"));
    Schema::named("report.schema.json").holds(&report);
    let text = std::fs::read_to_string(bench.path().join("r/summary.json")).expect("it is written");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    Schema::named("summary.schema.json").holds(&summary);
    // Both say of each limit how it came out.
    let verdicts = |document: &Value| -> Vec<(String, String)> {
        let limits = document["limits"].as_array().expect("limits");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        limits.iter().map(|row| (text(&row["metric"]), text(&row["verdict"]))).collect()
    };
    assert_eq!(verdicts(&report), verdicts(&summary));
    assert_eq!(verdicts(&report).len(), 5 * 4 + 2, "{ended}");
    let of = |metric: &str, verdict: &str| {
        verdicts(&summary).contains(&(metric.to_owned(), verdict.to_owned()))
    };
    // Only one of the systems keeps data that could be audited.
    assert!(of("lost", "passed") && of("lost", "undecided"), "{text}");
}

#[test]
fn a_report_with_fields_that_no_schema_has_is_not_as_its_schema_says() {
    let schema = Schema::named("summary.schema.json");
    let summary = serde_json::json!({ "format": 1, "title": "t", "planned": 0, "measured": 0, "failed": 0, "trials": [] });
    schema.holds(&summary);
    for (field, value) in
        [("more", serde_json::json!(1)), ("title", serde_json::json!(1)), ("planned", Value::Null)]
    {
        let mut wrong = summary.clone();
        wrong[field] = value;
        assert!(!schema.whole(&schema.0, &wrong, "$").is_empty(), "{field}");
    }
}

#[test]
fn specs_are_what_their_schema_says_and_mistakes_are_not() {
    let schema = Schema::named("spec.schema.json");
    let folder = dyno_testkit::repository::root().join("experiments");
    let files = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("it").path());
    let specs: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    assert!(specs.len() > 10);
    let read = |text: &str| -> Value {
        let table: toml::Table = text.parse().expect("TOML");
        serde_json::to_value(table).expect("JSON")
    };
    for path in specs {
        let spec = read(&std::fs::read_to_string(&path).expect("readable"));
        let wrong = schema.whole(&schema.0, &spec, "$");
        assert!(wrong.is_empty(), "{}: {}", path.display(), wrong.join("\n"));
    }
    schema.holds(&read(SPEC));
    for (right, wrong) in [
        ("blocks = 3", "blocks = 0"),
        ("blocks = 3", "blocks = \"many\""),
        ("blocks = 3", "block = 3"),
        ("clients = [1, 3]", "clients = [0]"),
        ("duration = \"300ms\"", "duration = 300"),
        ("kind = \"sqlite\"", "kind = \"oracle\""),
        ("lost = 0", "lost = 1"),
        ("title = \"Two systems with limits\"", ""),
    ] {
        assert!(SPEC.contains(right), "{right}");
        let spec = read(&SPEC.replace(right, wrong));
        assert!(!schema.whole(&schema.0, &spec, "$").is_empty(), "{wrong}");
    }
}

//! `[[published]]`: published figures of others, drawn next to the measured ones.

use super::diagnostic::Diagnostic;
use super::keys::{PUBLISHED, ValueType};
use super::load;
use super::reader::{Fields, unknown_system, wrong_type};
use super::tree::Value;
use crate::plan::{ComparisonMetric, Published};

/// Values of `metric`, and of `design.primary`.
pub(super) const METRICS: [(&str, ComparisonMetric); 4] = [
    ("throughput", ComparisonMetric::Throughput),
    ("mean-ms", ComparisonMetric::MeanMs),
    ("p95-ms", ComparisonMetric::P95Ms),
    ("p99-ms", ComparisonMetric::P99Ms),
];

/// Reads all tables. `systems` are the valid values of `system`.
pub(super) fn read(top: &Fields<'_>, systems: &[&str]) -> Vec<Published> {
    top.each("published", &PUBLISHED).filter_map(|fields| one(&fields, systems)).collect()
}

fn one(fields: &Fields<'_>, systems: &[&str]) -> Option<Published> {
    let source =
        fields.required_text("source", "add the source of the values, with machine and year");
    let series =
        fields.required_text("series", "name the curve, for example `series = \"MySQL 5.0.7\"`");
    let help = "add for example `metric = \"throughput\"`";
    let metric = fields.required_choice("metric", &METRICS, help);
    let clients = match (fields.node("clients"), fields.node("rows")) {
        (Some(node), _) => load::client_list(fields, node),
        (None, Some(_)) => Vec::new(),
        (None, None) => {
            fields.missing("clients", "list the numbers of clients: `clients = [1, 20, 40]`");
            Vec::new()
        }
    };
    let rows = fields.node("rows");
    if let (Some(clients), Some(rows)) = (fields.node("clients"), rows) {
        let message = "`published.clients` and `published.rows` cannot both be given";
        fields.problems.refuse_both(rows.span, clients.span, message);
    }
    let rows = rows.map(|node| load::row_list(fields, "rows", node)).unwrap_or_default();
    let values = values(fields);
    check_lengths(fields);
    let approximate = fields.boolean("approximate").unwrap_or(false);
    let system = fields.text("system");
    if let Some(name) = system.filter(|name| !systems.contains(name)) {
        unknown_system(fields.span_of("system"), name, systems, fields.problems);
    }
    Some(Published {
        source: source?.to_owned(),
        series: series?.to_owned(),
        metric: metric?,
        clients,
        rows,
        values,
        approximate,
        system: system.map(str::to_owned),
    })
}

fn values(fields: &Fields<'_>) -> Vec<f64> {
    let Some(node) = fields.node("values") else {
        fields
            .missing("values", "list one value per number of clients: `values = [310, 950, 1020]`");
        return Vec::new();
    };
    let Value::List(items) = &node.value else {
        wrong_type(node, &fields.path("values"), "a list of numbers", fields.problems);
        return Vec::new();
    };
    let &ValueType::NumbersFrom(least) = fields.value_type("values") else {
        unreachable!("values are numbers by keys.rs")
    };
    let mut values = Vec::new();
    for item in items {
        let Some(value) = item.value.as_number() else {
            wrong_type(item, "each of published.values", "a number", fields.problems);
            continue;
        };
        if value < f64::from(least) {
            let message = format!("`published.values` must be {least} or more, got {value}");
            fields.problems.report(Diagnostic::new(item.span, message).label("out of range"));
        }
        values.push(value);
    }
    values
}

fn check_lengths(fields: &Fields<'_>) {
    let (axis, things) = match fields.node("rows") {
        Some(rows) => (Some(rows), "rows"),
        None => (fields.node("clients"), "clients"),
    };
    let (Some(axis), Some(values)) = (axis, fields.node("values")) else { return };
    if let (Value::List(counts), Value::List(figures)) = (&axis.value, &values.value)
        && counts.len() != figures.len()
    {
        let message = format!("{} values for {} numbers of {things}", figures.len(), counts.len());
        let diagnostic = Diagnostic::new(values.span, message)
            .label(format!("{} values", figures.len()))
            .related(axis.span, format!("{} numbers of {things}", counts.len()));
        fields.problems.report(diagnostic.help(format!("give one value per number of {things}")));
    }
}

//! `[[background]]`: background workloads, which run concurrently with the measured workload.

use crate::catalog::HTTP;
use crate::client_group::BackgroundPlan;
use crate::plan::{EndpointPlan, StopRule, Via};
use crate::spec::diagnostic::Diagnostic;
use crate::spec::factors::{Factor, FactorTarget};
use crate::spec::keys::{BACKGROUND, CLIENTS_MAX};
use crate::spec::load::{own_think, thinks_at_a_rate};
use crate::spec::option::Known;
use crate::spec::reader::{Fields, integer};
use crate::spec::workload::{self, KindSource};
use crate::words::suggestion;
use std::collections::BTreeMap;

/// Maximum length of a name, in characters.
const NAME_MAX: usize = 60;

/// Reads all tables. `measured_loads` contains the stop rule of trials, and the kinds of their own
/// workloads.
pub(in crate::spec) fn read(
    top: &Fields<'_>,
    factors: &[Factor],
    measured_loads: &[(StopRule, &str)],
    endpoints: &[EndpointPlan],
    known: Known<'_>,
) -> Vec<BackgroundPlan> {
    let mut found: Vec<BackgroundPlan> = Vec::new();
    for fields in top.each("background", &BACKGROUND) {
        let Some(background) = one(&fields, factors, known) else { continue };
        if found.iter().any(|other| other.name == background.name) {
            let message = format!("two background workloads are named `{}`", background.name);
            fields.refuse("name", message, "names must be unique: change one");
        }
        found.push(background);
    }
    if let Some(first) = found.first() {
        check_trials(top, &first.name, measured_loads, endpoints);
    }
    check_levels(factors, &found, top);
    found
}

/// All background workloads of a configuration, with the numbers of clients that levels set, by
/// name.
pub(in crate::spec) fn with_clients(
    all: &[BackgroundPlan],
    levels: &BTreeMap<String, u32>,
) -> Vec<BackgroundPlan> {
    let clients = |background: &BackgroundPlan| {
        levels.get(&background.name).copied().unwrap_or(background.clients)
    };
    let with_clients = all.iter().map(|it| BackgroundPlan { clients: clients(it), ..it.clone() });
    with_clients.filter(|background| background.clients > 0).collect()
}

fn one(fields: &Fields<'_>, factors: &[Factor], known: Known<'_>) -> Option<BackgroundPlan> {
    let name = fields.required_text("name", "add for example `name = \"report\"`").map(str::trim);
    let example = "add for example `workload = { kind = \"sql\", scripts = [\"report.sql\"] }`";
    if fields.node("workload").is_none() {
        fields.missing("workload", example);
    }
    let workload = fields.table("workload").and_then(|(table, span)| {
        workload::read(table, span, KindSource::Table, known, fields.problems)
    });
    let rate = fields.node("rate").and_then(|node| fields.rate("rate", node));
    let think = fields.duration("think");
    let clients = fields.integer("clients");
    if let (Some(_), Some(node)) = (rate, fields.node("think")) {
        thinks_at_a_rate(fields, "background.think", "background.rate", node.span);
    }
    if let (Some(_), Some(workload)) = (rate, &workload)
        && let Some(think) = own_think(workload)
    {
        let think = format!("background.workload.{think}");
        thinks_at_a_rate(fields, &think, "background.rate", fields.span_of("workload"));
    }
    if workload.as_ref().is_some_and(|workload| workload.kind == HTTP) {
        let message = "the workload `http` cannot run in the background, because it does not \
                       access a database";
        fields.refuse("workload", message, "measure it in a separate spec");
    }
    let name = name?;
    if name.chars().count() > NAME_MAX || name.chars().any(char::is_control) {
        let message =
            format!("`background.name` must be one line of at most {NAME_MAX} characters");
        fields.refuse("name", message, "shorten it");
    }
    let varied =
        factors.iter().flat_map(Factor::changes).find(|change| is_of(&change.target, name));
    if let (Some(change), Some(entry)) = (varied, fields.table.entry("clients")) {
        let message = format!("`background.{name}.clients` is a factor and also has a fixed value");
        let diagnostic = Diagnostic::new(change.key_span, message).label("varied here");
        fields
            .problems
            .report(diagnostic.related(entry.key_span, "fixed here").help("remove one of them"));
    }
    Some(BackgroundPlan {
        name: name.to_owned(),
        workload: workload?,
        clients: clients.unwrap_or(1),
        rate,
        think,
    })
}

fn is_of(target: &FactorTarget, name: &str) -> bool {
    matches!(target, FactorTarget::Background(of) if of == name)
}

/// Features that trials with a background workload do not support.
fn check_trials(
    top: &Fields<'_>,
    name: &str,
    measured_loads: &[(StopRule, &str)],
    endpoints: &[EndpointPlan],
) {
    if measured_loads.iter().any(|(stop, _)| !matches!(stop, StopRule::Duration(_))) {
        let message = format!("with the background workload `{name}`, trials must end by time");
        let help = "replace the number of transactions or rows with `load.duration` or \
                    [[load.stages]]";
        top.refuse("load", message, help);
    }
    if top.node("fault").is_some() {
        let message = format!("faults cannot be combined with a background workload (`{name}`)");
        top.refuse("fault", message, "remove the faults, or [[background]]");
    }
    if measured_loads.iter().any(|(_, kind)| *kind == HTTP) {
        let message = format!("the workload `http` cannot have a background workload (`{name}`)");
        let help =
            "choose a workload that accesses the database directly, or remove [[background]]";
        top.refuse("workload", message, help);
    }
    if endpoints.iter().any(|endpoint| matches!(endpoint.via, Via::Application(_))) {
        let message = format!(
            "`{name}` accesses the database directly, but an endpoint leads to an application"
        );
        top.refuse(
            "background",
            message,
            "remove that endpoint from the levels, or [[background]]",
        );
    }
}

/// Levels must be valid numbers of clients of existing background workloads.
fn check_levels(factors: &[Factor], found: &[BackgroundPlan], top: &Fields<'_>) {
    let names: Vec<&str> = found.iter().map(|background| background.name.as_str()).collect();
    let range = 0..=CLIENTS_MAX;
    for change in factors.iter().flat_map(Factor::changes) {
        let FactorTarget::Background(name) = &change.target else { continue };
        if !names.contains(&name.as_str()) {
            let message = format!("no background workload is named `{name}`");
            let help = suggestion(name, &names, "[[background]] tables");
            top.problems.refuse(change.key_span, message, help);
        }
        integer(&change.node, &format!("background.{name}.clients"), &range, top.problems);
    }
}

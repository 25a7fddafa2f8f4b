//! `[launcher]`: what starts load generators, and which experiments can be divided among several.

use crate::launcher::{LauncherKind, LauncherPlan, is_quantity, label_pairs};
use crate::plan::{Configuration, SystemPlan};
use crate::spec::keys::LAUNCHER;
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::tree::Value;

/// Processors and memory of each pod.
const CPUS: u32 = 1;
const MEMORY: &str = "1Gi";

/// Reads the table, if it exists.
pub(in crate::spec) fn read(top: &Fields<'_>) -> LauncherPlan {
    let Some(fields) = top.inner("launcher", &LAUNCHER) else { return LauncherPlan::default() };
    let kind = fields.choice("kind", &LauncherKind::ALL.map(|kind| (kind.name(), kind)));
    let kind = kind.unwrap_or_default();
    let text = |key| fields.text(key).map(str::to_owned);
    let has_pods = kind == LauncherKind::Kubernetes;
    let plan = LauncherPlan {
        kind,
        command: text("command"),
        hosts: hosts(&fields),
        address: text("address"),
        program: text("program"),
        cpus: fields.integer("cpus").or(has_pods.then_some(CPUS)),
        memory: text("memory").or_else(|| has_pods.then(|| MEMORY.to_owned())),
        anti_affinity: text("anti_affinity"),
    };
    if kind == LauncherKind::Command && plan.command.is_none() {
        fields.missing("command", "add for example `command = \"taskset -c {rank} {generator}\"`");
    }
    if kind == LauncherKind::Ssh && plan.hosts.is_empty() {
        fields.missing("hosts", "add for example `hosts = [\"load1\", \"load2\"]`");
    }
    let of_one_kind = [
        ("command", LauncherKind::Command),
        ("hosts", LauncherKind::Ssh),
        ("cpus", LauncherKind::Kubernetes),
        ("memory", LauncherKind::Kubernetes),
        ("anti_affinity", LauncherKind::Kubernetes),
    ];
    for (key, only) in of_one_kind {
        if kind != only && fields.node(key).is_some() {
            let message = format!("`launcher.{key}` is for `kind = \"{only}\"`, not `\"{kind}\"`");
            fields.refuse(key, message, "remove one of them");
        }
    }
    if let Some(command) = plan.command.as_ref().filter(|it| !it.contains("{generator}")) {
        let message = format!("`launcher.command` does not start a generator: `{command}`");
        fields.refuse("command", message, "put `{generator}` where the generator's command goes");
    }
    if let Some(memory) = plan.memory.as_ref().filter(|it| !is_quantity(it)) {
        let message = format!("`launcher.memory` is not an amount of memory: `{memory}`");
        fields.refuse("memory", message, "write for example `512Mi` or `2Gi`");
    }
    if let Some(labels) = plan.anti_affinity.as_ref().filter(|it| label_pairs(it).is_none()) {
        let message = format!("`launcher.anti_affinity` is not a list of labels: `{labels}`");
        fields.refuse("anti_affinity", message, "write for example `app=postgres,tier=database`");
    }
    plan
}

fn hosts(fields: &Fields<'_>) -> Vec<String> {
    let Some(node) = fields.node("hosts") else { return Vec::new() };
    let Value::List(items) = &node.value else {
        wrong_type(node, &fields.path("hosts"), "a list of strings", fields.problems);
        return Vec::new();
    };
    items.iter().filter_map(|item| item.value.text().map(str::to_owned)).collect()
}

/// Rejects what cannot be divided among several generators.
pub(in crate::spec) fn check(
    top: &Fields<'_>,
    launcher: &LauncherPlan,
    configurations: &[Configuration],
    systems: &[SystemPlan],
) {
    let Some((load, span)) = top.table("load") else { return };
    let span = load.get("generators").map_or(span, |node| node.span);
    let refuse = |message: String, help: &str| top.problems.refuse(span, message, help);
    let divided = || configurations.iter().filter(|it| it.load.generators.is_some());
    let too_few = divided().find(|it| it.load.generators.is_some_and(|all| all > it.clients));
    if let Some(Configuration { clients, load, .. }) = too_few {
        let all = load.generators.unwrap_or_default();
        let message = format!("{all} generators are more than {clients} clients");
        refuse(message, "each generator drives at least one client: lower `load.generators`");
    }
    let embedded = divided().map(|it| &systems[it.system]).find(|it| it.engine().is_embedded());
    // A command may start processes here.
    let is_here = matches!(launcher.kind, LauncherKind::Local | LauncherKind::Command);
    if let Some(system) = embedded.filter(|_| !is_here) {
        let message = format!(
            "`{}` is part of dyno, and its data are on this machine, but `{}` starts generators on \
             others",
            system.name, launcher.kind
        );
        refuse(message, "remove `[launcher]`, or measure a server");
    }
}

//! `[[fault]]`: faults that are injected into systems while they are measured.

use crate::fault::{FaultAction, FaultPlan, FaultTarget};
use crate::plan::{ManagedServer, StopRule, SystemPlan, SystemSource};
use crate::spec::diagnostic::Diagnostic;
use crate::spec::keys::FAULT;
use crate::spec::reader::{Fields, unknown_system};
use crate::target::Endpoint;
use crate::units::Nanos;
use crate::words::suggestion;

/// The other parts of the spec that a fault depends on.
pub(in crate::spec) struct Setting<'a> {
    /// The systems under test.
    pub(in crate::spec) systems: &'a [SystemPlan],
    /// The stop rules.
    pub(in crate::spec) stops: Vec<StopRule>,
    /// Every client has a timeout for answers.
    pub(in crate::spec) has_timeout: bool,
    /// Some clients run Lua scripts, which do not support such a timeout.
    pub(in crate::spec) has_lua: bool,
    /// Every server has a separate storage.
    pub(in crate::spec) has_storage: bool,
    /// Some clients use a unix socket.
    pub(in crate::spec) has_socket: bool,
}

/// Reads all tables: the faults of each system, in their order.
pub(in crate::spec) fn read(top: &Fields<'_>, setting: &Setting<'_>) -> Vec<FaultPlan> {
    let systems = setting.systems;
    let mut faults: Vec<FaultPlan> = Vec::new();
    let mut is_refused = false;
    for fields in top.each("fault", &FAULT) {
        // A rejected fault may be a precondition of this one.
        if is_refused && fields.node("after").is_some() {
            continue;
        }
        let Some(action) = action(&fields) else {
            is_refused = true;
            continue;
        };
        for system in meant(&fields, systems) {
            let Some(fault) = fault(&fields, action, system, &faults, setting) else {
                is_refused = true;
                break;
            };
            faults.push(fault);
        }
    }
    faults
}

/// The fault of one system, unless it is invalid, by itself or after the preceding `faults`.
fn fault(
    fields: &Fields<'_>,
    action: FaultAction,
    system: usize,
    faults: &[FaultPlan],
    setting: &Setting<'_>,
) -> Option<FaultPlan> {
    let before = faults.iter().rev().find(|fault| fault.system == system);
    let (at, within) = time(fields, before)?;
    let (node, command) = object(fields, action, &setting.systems[system])?;
    let fault = FaultPlan { system, at, within, action, node, command };
    if before.is_some_and(|before| refuse_order(fields, before, &fault)) {
        return None;
    }
    let known = faults.iter().filter(|fault| fault.system == system);
    let is_refused = refuse_state(fields, &fault, known)
        || refuse_late(fields, &fault, &setting.stops)
        || refuse_setting(fields, &fault, setting);
    (!is_refused).then_some(fault)
}

/// A trial with faults cannot search for the highest load.
pub(in crate::spec) fn check_search(top: &Fields<'_>, is_searched: bool) {
    if let Some(node) = top.node("fault").filter(|_| is_searched) {
        let message = "a trial with faults cannot search for the highest load";
        let help = "remove the faults, or `load.find`; measure faults at a fixed `load.rate`";
        top.problems.refuse(node.span, message, help);
    }
}

fn action(fields: &Fields<'_>) -> Option<FaultAction> {
    fields.required_text("action", "add for example `action = \"kill\"`")?;
    fields.choice("action", &FaultAction::ALL.map(|action| (action.name(), action)))
}

/// The systems that it affects.
fn meant(fields: &Fields<'_>, systems: &[SystemPlan]) -> Vec<usize> {
    let Some(name) = fields.text("system") else { return (0..systems.len()).collect() };
    let found = systems.iter().position(|system| system.name == name);
    if found.is_none() {
        let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
        unknown_system(fields.span_of("system"), name, &names, fields.problems);
    }
    found.into_iter().collect()
}

/// Its earliest time, and the maximum delay after it.
fn time(fields: &Fields<'_>, before: Option<&FaultPlan>) -> Option<(Nanos, Nanos)> {
    let refuse = |message: &str, help: &str| {
        fields.refuse_table(message, help);
        None
    };
    match (fields.node("at"), fields.node("after")) {
        (Some(_), None) => {
            Some((fields.duration("at")?, fields.duration("within").unwrap_or(Nanos(0))))
        }
        (None, Some(_)) if fields.node("within").is_some() => refuse(
            "`fault.within` requires `at`, but this fault has `after`",
            "remove `within`: a fault with `after` moves with the one before it",
        ),
        (None, Some(_)) => {
            let after = fields.duration("after")?;
            let Some(before) = before else {
                return refuse(
                    "the first fault cannot have `after`",
                    "write `at = \"20s\"`, the time since the start of the measurement",
                );
            };
            Some((Nanos(before.at.0.saturating_add(after.0)), before.within))
        }
        _ => refuse(
            "a fault needs either `at` or `after`",
            "write `at = \"20s\"` (since the start of the measurement) or `after = \"5s\"` (since \
             the previous fault)",
        ),
    }
}

/// The node that it affects, or the command.
fn object(
    fields: &Fields<'_>,
    action: FaultAction,
    system: &SystemPlan,
) -> Option<(String, Option<String>)> {
    let refuse = |message: String, help: &str| {
        fields.refuse_table(message, help);
        None
    };
    let command = fields.text("command").map(str::to_owned);
    if action == FaultAction::Run {
        return match (command, fields.node("node")) {
            (Some(command), None) => Some((String::new(), Some(command))),
            _ => refuse(
                "the fault \"run\" needs a command, and no node".to_owned(),
                "add for example `command = \"ssh db2 reboot\"`",
            ),
        };
    }
    if command.is_some() {
        let message = format!("the fault \"{action}\" takes no command: dyno injects it");
        return refuse(message, "write `action = \"run\"` for a command of your own");
    }
    let names = match &system.source {
        SystemSource::Managed(server) if server.kind.engine().is_server() => nodes(server, action),
        SystemSource::Existing(existing)
            if action.target() == FaultTarget::NetworkPath
                && matches!(existing.endpoint, Endpoint::Tcp { .. }) =>
        {
            vec![ALONE.to_owned()]
        }
        SystemSource::Existing(_) if action.target() == FaultTarget::NetworkPath => {
            let message = format!(
                "dyno cannot {action} `{}`: its clients do not connect over TCP",
                system.name
            );
            return refuse(message, "give it a `url` with a host and a port");
        }
        _ => {
            let message =
                format!("dyno cannot {action} `{}`: dyno did not start its server", system.name);
            return refuse(message, "write `action = \"run\"` with a command that does it");
        }
    };
    let name = match (fields.text("node"), &names[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => {
            let message = format!("`{}` has several nodes, and the fault names none", system.name);
            return refuse(
                message,
                &format!("add `node = \"{}\"`; nodes: {}", names[0], names.join(", ")),
            );
        }
    };
    if !names.iter().any(|known| known == name) {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("`{}` has no node called `{name}`", system.name);
        let diagnostic = Diagnostic::new(fields.span_of("node"), message).label("not a node");
        fields.problems.report(diagnostic.help(suggestion(name, &known, "nodes")));
        return None;
    }
    Some((name.to_owned(), None))
}

/// The description of a system that is a single server.
const ALONE: &str = "server";

/// The nodes of a server that support this fault: clients have network paths only to the nodes that
/// they connect to.
fn nodes(server: &ManagedServer, action: FaultAction) -> Vec<String> {
    let mut names = server.node_names();
    if action.target() == FaultTarget::NetworkPath {
        names.truncate(server.nodes as usize);
    }
    names
}

/// Rejects a fault that would be injected before the preceding one.
fn refuse_order(fields: &Fields<'_>, before: &FaultPlan, fault: &FaultPlan) -> bool {
    let is_early = [0.0, 1.0].into_iter().any(|share| fault.moment(share) < before.moment(share));
    if is_early {
        let help = "write faults in chronological order; `after = \"5s\"` counts from the previous \
                    one";
        fields.refuse_table("this fault may occur before the previous one", help);
    }
    is_early
}

/// Rejects a fault that is impossible in the state in which the preceding faults left the node.
fn refuse_state<'a>(
    fields: &Fields<'_>,
    fault: &FaultPlan,
    before: impl Iterator<Item = &'a FaultPlan>,
) -> bool {
    use FaultAction::{
        Continue, Disconnect, FillDisk, FreeDisk, Kill, Promote, Reconnect, Restart, Run, Start,
        Stop,
    };
    let is_same = |other: &&FaultPlan| {
        other.node == fault.node
            && other.action.target() == fault.action.target()
            && other.action != Run
    };
    let before: Vec<&FaultPlan> = before.collect();
    let last = before.iter().copied().rfind(is_same);
    // Without space for its writes, a server may exit.
    let was_filled =
        before.iter().any(|other| other.node == fault.node && other.action == FillDisk);
    let why = match (last.map(|last| last.action), fault.action) {
        (_, Run)
        | (Some(Kill), Start)
        | (Some(Stop), Continue | Kill)
        | (Some(Disconnect), Reconnect)
        | (Some(FillDisk), FreeDisk) => None,
        (Some(Disconnect), Disconnect) => Some("it is already disconnected"),
        (_, Reconnect) => Some("no earlier fault disconnects it"),
        (Some(FillDisk), FillDisk) => Some("its disk is already full"),
        (_, FreeDisk) => Some("no earlier fault fills its disk"),
        (Some(Kill), _) => Some("it was killed earlier"),
        (Some(Stop), _) => Some("it was stopped earlier"),
        (_, Start) if was_filled => None,
        (_, Start) => Some("no earlier fault kills it"),
        (_, Continue) => Some("no earlier fault stops it"),
        (_, Promote) if !fault.node.starts_with("replica ") => Some("it is not a replica"),
        (_, Kill | Stop | Restart | Promote | Disconnect | FillDisk) => None,
    };
    if let Some(why) = why {
        let message = format!("{} cannot have the fault \"{}\": {why}", fault.node, fault.action);
        let help = "\"start\" starts a killed node, \"continue\" resumes a stopped one, \
                    \"reconnect\" restores a cut network path, and \"free-disk\" frees a full disk";
        fields.refuse_table(message, help);
    }
    why.is_some()
}

/// Rejects a fault whose preconditions are missing in the spec.
fn refuse_setting(fields: &Fields<'_>, fault: &FaultPlan, setting: &Setting<'_>) -> bool {
    let system = &setting.systems[fault.system];
    let is_cluster =
        matches!(&system.source, SystemSource::Managed(server) if server.kind.is_cluster());
    let name = &system.name;
    let (why, help) = match fault.action {
        FaultAction::Disconnect if setting.has_lua => (
            "clients would not notice the cut network path: Lua scripts wait for answers without a \
             timeout"
                .to_owned(),
            "choose another fault, or write the transactions in SQL (`kind = \"sql\"`)",
        ),
        FaultAction::Disconnect if !setting.has_timeout => (
            "clients would not notice the cut network path: they wait for answers without a timeout"
                .to_owned(),
            "add `statement_timeout = \"2s\"` to [load]: after that a client opens another \
             connection",
        ),
        FaultAction::Disconnect if setting.has_socket => (
            format!("clients of `{name}` connect over a unix socket, which cannot be cut"),
            "remove the endpoint with the socket, or the fault",
        ),
        FaultAction::FillDisk if is_cluster => (
            format!(
                "dyno cannot fill a disk of `{name}`: cluster nodes have no separate storage"
            ),
            "choose another fault, or a single server",
        ),
        FaultAction::FillDisk if !setting.has_storage => (
            format!("dyno fills only separate file systems, but `{name}` has none"),
            "add a [[storage]] on a separate file system, such as a tmpfs of limited size mounted \
             by its command `before`, and name it in `factors.storage`",
        ),
        _ => return false,
    };
    fields.refuse_table(why, help);
    true
}

/// Rejects a fault that may be due after measuring has ended.
fn refuse_late(fields: &Fields<'_>, fault: &FaultPlan, stops: &[StopRule]) -> bool {
    let latest = fault.moment(1.0);
    let is_late = |stop: &StopRule| match stop {
        StopRule::Duration(duration) => latest >= *duration,
        _ => true,
    };
    let is_late = stops.iter().any(is_late);
    if is_late {
        let message = format!(
            "this fault may occur after the end of the measurement, {} s after its start",
            latest.as_secs_f64()
        );
        let help =
            "faults need a `load.duration` that includes the last fault and the time to recover";
        fields.refuse_table(message, help);
    }
    is_late
}

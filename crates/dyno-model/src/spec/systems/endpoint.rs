//! `[[endpoint]]`: network paths to servers.

use crate::address::host_and_port;
use crate::catalog::CRUD;
use crate::lists;
use crate::plan::{
    ApplicationKind, ApplicationPlan, EndpointPlan, ProxyKind, ProxyPlan, SystemPlan, SystemSource,
    Via,
};
use crate::spec::diagnostic::{Diagnostic, Problems};
use crate::spec::factors::{Factor, FactorTarget};
use crate::spec::keys::{APPLICATION, ENDPOINT, PROXY};
use crate::spec::reader::Fields;
use crate::target::Endpoint;
use crate::words::suggestion;

/// Network paths that every server started by dyno has.
const BUILT_IN: [(&str, Via); 2] = [("tcp", Via::Tcp), ("socket", Via::Socket)];

/// Tomcat's own default.
const THREADS_DEFAULT: u32 = 200;
/// A pool size that is too large rather than too small.
const CONNECTIONS_DEFAULT: u32 = 50;

/// Reads all tables, after the built-in network paths.
pub(in crate::spec) fn read(top: &Fields<'_>) -> Vec<EndpointPlan> {
    let mut endpoints: Vec<EndpointPlan> = BUILT_IN
        .into_iter()
        .map(|(name, via)| EndpointPlan { name: name.to_owned(), via })
        .collect();
    for fields in top.each("endpoint", &ENDPOINT) {
        let name = fields.required_text("name", "add for example `name = \"haproxy\"`");
        let via = via(&fields);
        let (Some(name), Some(via)) = (name, via) else { continue };
        if endpoints.iter().any(|other| other.name == name) {
            let help = "give each endpoint a unique name; `tcp` and `socket` are predefined";
            fields.refuse("name", format!("two endpoints are called `{name}`"), help);
        }
        endpoints.push(EndpointPlan { name: name.to_owned(), via });
    }
    endpoints
}

fn via(fields: &Fields<'_>) -> Option<Via> {
    let given = ["address", "proxy", "application"].map(|key| fields.node(key).is_some());
    match given {
        [true, false, false] => address(fields).map(Via::Address),
        [false, false, true] => application(fields).map(Via::Application),
        [false, true, false] => {
            let proxy = fields.inner("proxy", &PROXY)?;
            let kinds = ProxyKind::ALL.map(|kind| (kind.name(), kind));
            let kind = proxy.required_choice("kind", &kinds, "add `kind = \"haproxy\"`");
            let threads = proxy.integer("threads");
            Some(Via::Proxy(ProxyPlan { kind: kind?, threads }))
        }
        _ => {
            let message = match given.contains(&true) {
                true => "the endpoint has more than one of `address`, `proxy` and `application`",
                false => "the endpoint has neither `address` nor `proxy` nor `application`",
            };
            let help = "set one: `address = \"host:3306\"`, or `proxy = { kind = \"haproxy\" }`, \
                        or `application = { kind = \"tomcat\", war = \"webapp.war\" }`";
            fields.refuse_table(message, help);
            None
        }
    }
}

fn application(fields: &Fields<'_>) -> Option<ApplicationPlan> {
    let fields = fields.inner("application", &APPLICATION)?;
    let kinds = ApplicationKind::ALL.map(|kind| (kind.name(), kind));
    let kind = fields.required_choice("kind", &kinds, "add `kind = \"tomcat\"`");
    let war = fields.required_text("war", "name the application's file: `war = \"webapp.war\"`");
    let threads = fields.integer("threads").unwrap_or(THREADS_DEFAULT);
    let connections = fields.integer("connections").unwrap_or(CONNECTIONS_DEFAULT);
    Some(ApplicationPlan { kind: kind?, war: war?.into(), threads, connections })
}

fn address(fields: &Fields<'_>) -> Option<Endpoint> {
    let text = fields.required_text("address", "write for example `address = \"db2:3306\"`")?;
    if text.starts_with('/') {
        return Some(Endpoint::Unix(text.into()));
    }
    let found = host_and_port(text).ok().filter(|(host, _)| !host.is_empty());
    let Some((host, Some(port))) = found else {
        let help = "write `HOST:PORT`, `[::1]:PORT`, or the path of a unix socket";
        fields.refuse("address", format!("`endpoint.address` is not an address: `{text}`"), help);
        return None;
    };
    Some(Endpoint::Tcp { host, port })
}

/// Levels must name endpoints that all systems support and that the workloads can use (`goes`:
/// endpoint and workload of each measured configuration). Returns the endpoints that are used.
pub(in crate::spec) fn used<'a>(
    factors: &[Factor],
    endpoints: &[EndpointPlan],
    systems: &[SystemPlan],
    goes: impl Iterator<Item = (Option<&'a str>, &'a str)>,
    problems: &Problems,
) -> Vec<EndpointPlan> {
    let mut used = Vec::new();
    for change in factors
        .iter()
        .flat_map(Factor::changes)
        .filter(|change| change.target == FactorTarget::Endpoint)
    {
        let name = change.node.value.scalar_text().unwrap_or_default();
        let report = |message: String, help: String| {
            problems.report(
                Diagnostic::new(change.node.span, message)
                    .label("not an endpoint of it")
                    .help(help),
            );
        };
        let Some(endpoint) = endpoints.iter().find(|endpoint| endpoint.name == name) else {
            let names: Vec<&str> =
                endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            report(
                format!("no endpoint is called `{name}`"),
                suggestion(&name, &names, "endpoints"),
            );
            continue;
        };
        if let Some(system) = systems.iter().find(|system| !has(system, &endpoint.via)) {
            let help = match endpoint.via {
                Via::Application(_) => {
                    "applications require MariaDB, MySQL or a cluster of these, started by dyno"
                }
                _ if system.is_cluster() => {
                    "clients of a cluster connect to all its nodes; measure it without endpoints"
                }
                Via::Tcp | Via::Socket => {
                    "this endpoint exists only for servers that dyno starts; use an [[endpoint]] \
                     with an address"
                }
                Via::Address(_) => "addresses require an existing system (`url`)",
                Via::Proxy(_) => "proxies require a server that listens on TCP",
            };
            report(
                format!("`{}` cannot be reached by the endpoint `{name}`", system.name),
                help.to_owned(),
            );
        }
        lists::add(&mut used, endpoint.clone());
    }
    check_workloads(&used, factors, goes, problems);
    used
}

/// Applications support the requests of one workload.
fn check_workloads<'a>(
    endpoints: &[EndpointPlan],
    factors: &[Factor],
    mut goes: impl Iterator<Item = (Option<&'a str>, &'a str)>,
    problems: &Problems,
) {
    let is_application = |name: &str| {
        endpoints
            .iter()
            .any(|endpoint| endpoint.name == name && matches!(endpoint.via, Via::Application(_)))
    };
    let other = goes.find(|(endpoint, kind)| endpoint.is_some_and(is_application) && *kind != CRUD);
    let Some((_, kind)) = other else { return };
    let change = factors
        .iter()
        .flat_map(Factor::changes)
        .find(|change| change.target == FactorTarget::Endpoint);
    let message = format!("the workload `{kind}` cannot run through an application");
    let help = format!("applications implement only the commands of `{CRUD}`; see examples/webapp");
    let span = change.map(|change| change.key_span).unwrap_or_default();
    problems.refuse(span, message, help);
}

/// True when the system can be reached by this network path.
fn has(system: &SystemPlan, via: &Via) -> bool {
    match &system.source {
        // It connects to all nodes of a cluster.
        SystemSource::Managed(server) if matches!(via, Via::Application(_)) => {
            server.kind.engine().traits().jdbc.is_some()
        }
        // Clients of a cluster are distributed over its nodes, which a single network path cannot
        // reach.
        SystemSource::Managed(server) => {
            let is_one_way = !server.kind.is_cluster() || matches!(via, Via::Tcp);
            server.kind.engine().is_server() && is_one_way && !matches!(via, Via::Address(_))
        }
        SystemSource::Imported => false,
        SystemSource::Existing(existing) => match via {
            Via::Tcp | Via::Socket | Via::Application(_) => false,
            Via::Address(_) => {
                matches!(existing.endpoint, Endpoint::Tcp { .. } | Endpoint::Unix(_))
            }
            Via::Proxy(_) => matches!(existing.endpoint, Endpoint::Tcp { .. }),
        },
    }
}

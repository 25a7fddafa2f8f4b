//! `[[endpoint]]`: ways to servers.

use super::diagnostic::{Diagnostic, Problems};
use super::factors::{Factor, Place};
use super::keys::{ENDPOINT, PROXY};
use super::reader::Fields;
use crate::address::host_and_port;
use crate::plan::{EndpointPlan, ProxyKind, ProxyPlan, SystemPlan, SystemSource, Via};
use crate::target::Endpoint;
use crate::words::suggestion;

/// Ways that every server has which dyno starts.
const BUILT_IN: [(&str, Via); 2] = [("tcp", Via::Tcp), ("socket", Via::Socket)];

const PROXIES: [(&str, ProxyKind); 1] = [("haproxy", ProxyKind::Haproxy)];

/// Reads all tables, after the built-in ways.
pub(super) fn read(top: &Fields<'_>) -> Vec<EndpointPlan> {
    let mut endpoints: Vec<EndpointPlan> =
        BUILT_IN.into_iter().map(|(name, via)| EndpointPlan { name: name.to_owned(), via }).collect();
    for (table, span) in top.tables("endpoint") {
        let fields = Fields::new(&ENDPOINT, table, span, top.problems);
        let name = fields.required_text("name", "add for example `name = \"haproxy\"`");
        let via = via(&fields);
        let (Some(name), Some(via)) = (name, via) else { continue };
        if endpoints.iter().any(|other| other.name == name) {
            let span = fields.node("name").map_or(span, |node| node.span);
            let message = format!("two endpoints are called `{name}`");
            let help = "levels name them: give each its own; `tcp` and `socket` are there without a table";
            top.problems.report(Diagnostic::new(span, message).help(help));
        }
        endpoints.push(EndpointPlan { name: name.to_owned(), via });
    }
    endpoints
}

fn via(fields: &Fields<'_>) -> Option<Via> {
    match (fields.node("address"), fields.node("proxy")) {
        (Some(_), None) => address(fields).map(Via::Address),
        (None, Some(_)) => {
            let (table, span) = fields.table("proxy")?;
            let proxy = Fields::new(&PROXY, table, span, fields.problems);
            if proxy.node("kind").is_none() {
                proxy.missing("kind", "add `kind = \"haproxy\"`");
            }
            let kind = proxy.choice("kind", &PROXIES);
            let threads = proxy.integer("threads");
            Some(Via::Proxy(ProxyPlan { kind: kind?, threads }))
        }
        (address, _) => {
            let message = if address.is_some() {
                "the endpoint has both `address` and `proxy`"
            } else {
                "the endpoint has neither `address` nor `proxy`"
            };
            let help = "give one: `address = \"host:3306\"`, or `proxy = { kind = \"haproxy\" }`";
            fields.problems.report(Diagnostic::new(fields.span, message).help(help));
            None
        }
    }
}

fn address(fields: &Fields<'_>) -> Option<Endpoint> {
    let text = fields.required_text("address", "write for example `address = \"db2:3306\"`")?;
    if text.starts_with('/') {
        return Some(Endpoint::Unix(text.into()));
    }
    let found = host_and_port(text).ok().filter(|(host, _)| !host.is_empty());
    let Some((host, Some(port))) = found else {
        let span = fields.node("address").map_or(fields.span, |node| node.span);
        let message = format!("`endpoint.address` is no address: `{text}`");
        let help = "write `HOST:PORT`, `[::1]:PORT`, or the path of a unix socket";
        fields.problems.report(Diagnostic::new(span, message).help(help));
        return None;
    };
    Some(Endpoint::Tcp { host, port })
}

/// Levels must name endpoints that all systems have. Returns the endpoints that are used.
pub(super) fn used(
    factors: &[Factor],
    endpoints: &[EndpointPlan],
    systems: &[SystemPlan],
    problems: &Problems,
) -> Vec<EndpointPlan> {
    let mut used = Vec::new();
    for change in factors.iter().flat_map(Factor::changes).filter(|change| change.place == Place::Endpoint) {
        let name = change.node.value.scalar_text().unwrap_or_default();
        let report = |message: String, help: String| {
            problems
                .report(Diagnostic::new(change.node.span, message).label("not an endpoint of it").help(help));
        };
        let Some(endpoint) = endpoints.iter().find(|endpoint| endpoint.name == name) else {
            let names: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            report(format!("no endpoint is called `{name}`"), suggestion(&name, &names, "endpoints"));
            continue;
        };
        if let Some(system) = systems.iter().find(|system| !has(system, &endpoint.via)) {
            let help = match endpoint.via {
                _ if system.is_cluster() => {
                    "clients of a cluster are spread over its nodes; measure it without endpoints"
                }
                Via::Tcp | Via::Socket => {
                    "these are of servers that dyno starts; name addresses in [[endpoint]] tables"
                }
                Via::Address(_) => "addresses are of systems that run already (`url`)",
                Via::Proxy(_) => "proxies stand before servers that listen on TCP",
            };
            report(format!("`{}` cannot be reached by the endpoint `{name}`", system.name), help.to_owned());
        }
        if !used.contains(endpoint) {
            used.push(endpoint.clone());
        }
    }
    used
}

/// True when the system can be reached so.
fn has(system: &SystemPlan, via: &Via) -> bool {
    match &system.source {
        // Clients of a cluster are spread over its nodes, which one way cannot lead to.
        SystemSource::Managed(server) => {
            server.kind.engine().is_server() && !server.kind.is_cluster() && !matches!(via, Via::Address(_))
        }
        SystemSource::Imported => false,
        SystemSource::Existing(existing) => match via {
            Via::Tcp | Via::Socket => false,
            Via::Address(_) => matches!(existing.endpoint, Endpoint::Tcp { .. } | Endpoint::Unix(_)),
            Via::Proxy(_) => matches!(existing.endpoint, Endpoint::Tcp { .. }),
        },
    }
}

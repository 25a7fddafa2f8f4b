//! Topology of a run: the load generator, the clients' network paths, and the nodes of systems.

use crate::model::{GeneratorHost, NodeRole, PathVia, Topology, TopologyNode, TopologyPath};
use crate::provenance::system_version;
use dyno_model::generators::GeneratorSummary;
use dyno_model::launcher::LauncherKind;
use dyno_model::lists;
use dyno_model::plan::{Configuration, ManagedServer, Plan, SystemPlan, SystemSource, Via};
use dyno_model::target::Engine;
use dyno_store::{Run, TrialOutcome};

/// One per distinct topology: systems with the same network paths and nodes share one, because they
/// are measured one after the other.
pub(crate) fn topologies(run: &Run) -> Vec<Topology> {
    let mut all: Vec<Topology> = Vec::new();
    for (at, system) in run.plan.systems.iter().enumerate() {
        let Some(one) = topology(run, at, system) else { continue };
        let is_same = |it: &&mut Topology| {
            (&it.paths, &it.nodes, &it.address, it.is_local)
                == (&one.paths, &one.nodes, &one.address, one.is_local)
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                if one.clients > known.clients {
                    known.clients = one.clients;
                    known.generator_hosts = one.generator_hosts;
                }
                known.systems.extend(one.systems);
            }
            None => all.push(one),
        }
    }
    all
}

/// `None` for imported results, about which nothing is known, and for systems without a
/// configuration.
fn topology(run: &Run, at: usize, system: &SystemPlan) -> Option<Topology> {
    let plan = &run.plan;
    let (nodes, address) = match &system.source {
        SystemSource::Managed(server) => (nodes(server), String::new()),
        SystemSource::Existing(existing) => (
            vec![TopologyNode { role: role(existing.engine), number: None }],
            existing.endpoint.to_string(),
        ),
        SystemSource::Imported => return None,
    };
    let clients =
        plan.configurations.iter().filter(|it| it.system == at).map(|it| it.clients).max()?;
    let is_on_it = |outcome: &TrialOutcome| {
        matches!(outcome, TrialOutcome::Finished(record)
            if plan.configuration(&record.trial).system == at && record.generator.shares_machine)
    };
    Some(Topology {
        systems: vec![system_version(run, system)],
        clients,
        generator_hosts: generator_hosts(run, at),
        are_generators_local: plan.launcher.kind == LauncherKind::Local,
        paths: paths(plan, run, at),
        nodes,
        is_local: address.is_empty() || run.outcomes.values().any(is_on_it),
        address,
    })
}

/// The role of the single node of a system that dyno did not start.
fn role(engine: Engine) -> NodeRole {
    if engine.is_in_process() { NodeRole::Embedded } else { NodeRole::Server }
}

/// The machines of the load generators, in the trial of a system with the most clients.
fn generator_hosts(run: &Run, system: usize) -> Vec<GeneratorHost> {
    let summaries = |outcome: &'_ TrialOutcome| match outcome {
        TrialOutcome::Finished(record)
            if run.plan.configuration(&record.trial).system == system =>
        {
            record.generators.as_ref().map(|it| it.summaries.clone())
        }
        _ => None,
    };
    let clients = |all: &Vec<GeneratorSummary>| all.iter().map(|it| it.clients).sum::<u32>();
    let most = run.outcomes.values().filter_map(summaries).max_by_key(clients);
    let mut hosts: Vec<GeneratorHost> = Vec::new();
    for summary in most.unwrap_or_default() {
        let new = || GeneratorHost { host: summary.host.clone(), generators: 0, clients: 0 };
        let known = lists::entry(&mut hosts, |it| it.host == summary.host, new);
        known.generators += 1;
        known.clients += summary.clients;
    }
    hosts
}

/// Network paths to a system, in the order of its configurations, without duplicates.
fn paths(plan: &Plan, run: &Run, system: usize) -> Vec<TopologyPath> {
    let path = |configuration: &Configuration| {
        let version = |kind: &str| run.environment.proxies.get(kind).cloned().unwrap_or_default();
        match plan.endpoint(configuration) {
            None => TopologyPath { name: String::new(), via: PathVia::Direct, what: String::new() },
            Some(endpoint) => {
                let (via, what) = match &endpoint.via {
                    Via::Tcp => (PathVia::Tcp, String::new()),
                    Via::Socket => (PathVia::Socket, String::new()),
                    Via::Address(address) => {
                        let pooler = version(&address.to_string());
                        (PathVia::Address, format!("{address} {pooler}"))
                    }
                    Via::Proxy(proxy) => (
                        PathVia::Proxy,
                        format!("{} {}", proxy.kind.name(), version(proxy.kind.name())),
                    ),
                    Via::Application(it) => (
                        PathVia::Application,
                        format!("{} {}", it.kind.name(), version(it.kind.name())),
                    ),
                };
                TopologyPath { name: endpoint.name.clone(), via, what: what.trim_end().to_owned() }
            }
        }
    };
    lists::distinct(plan.configurations.iter().filter(|it| it.system == system).map(path))
}

/// Nodes that store data are drawn before the nodes that coordinate them.
fn nodes(server: &ManagedServer) -> Vec<TopologyNode> {
    let roles = server.kind.roles(server.nodes, server.data_nodes).into_iter();
    let mut nodes: Vec<TopologyNode> =
        roles.map(|(role, number)| TopologyNode { role, number }).collect();
    nodes.sort_by_key(|node| node.role == NodeRole::Management);
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::ServerKind;
    use dyno_store::fixture::Shape;

    fn roles(kind: ServerKind) -> Vec<(NodeRole, Option<u32>)> {
        nodes(&ManagedServer::new(kind)).into_iter().map(|it| (it.role, it.number)).collect()
    }

    #[test]
    fn identical_systems_share_a_diagram_and_clusters_get_their_own() {
        let mut run = Shape { systems: 3, clients: vec![1, 64], ..Shape::small() }.read().run;
        let alike = topologies(&run);
        assert_eq!(
            (alike.len(), alike[0].systems.len(), alike[0].clients),
            (1, 3, 64),
            "{alike:?}"
        );
        run.plan.systems[1].source = SystemSource::Managed(ManagedServer::new(ServerKind::Galera));
        run.plan.systems[2].source = SystemSource::Imported;
        let all = topologies(&run);
        assert_eq!(all.iter().map(|it| it.nodes.len()).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn every_node_of_a_cluster_is_there_with_what_it_does() {
        use NodeRole::{Data, Management, Member, Primary, Replica, Sql};
        assert_eq!(roles(ServerKind::Galera), [1, 2, 3].map(|at| (Member, Some(at))));
        let ndb =
            [(Sql, Some(1)), (Sql, Some(2)), (Data, Some(1)), (Data, Some(2)), (Management, None)];
        assert_eq!(roles(ServerKind::Ndb), ndb);
        assert_eq!(roles(ServerKind::PostgresReplica), [(Primary, None), (Replica, Some(1))]);
    }
}

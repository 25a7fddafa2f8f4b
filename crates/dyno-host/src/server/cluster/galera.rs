//! A Galera cluster: MariaDB servers with the same data. The first node bootstraps it; the others
//! join one after the other and get the data, including accounts, from an existing node (by rsync).

use super::member;
use crate::control_connection::{ControlConnection, QueryResult};
use crate::error::HostError;
use crate::server::cluster_member::{ClusterMember, Membership, Ports};
use crate::server::error::query;
use crate::server::process::POLL;
use crate::server::{RunningServer, StartOptions};
use dyno_model::plan::ManagedServer;
use dyno_model::version::ServerVersion;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Starts the nodes and waits until each of them sees all others.
pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
) -> Result<RunningServer, HostError> {
    let mut first = member::start(server, options, "node", cluster_member(1, None))?;
    for node_number in 2..=server.nodes {
        first.joiners.push(member::start(
            server,
            options,
            "node",
            cluster_member(node_number, Some(&first)),
        )?);
    }
    let provider = await_whole(&first, options.ready_timeout)?;
    first.version = ServerVersion::Peers {
        version: first.version.to_string(),
        nodes: server.nodes,
        library: format!("Galera {provider}"),
    };
    Ok(first)
}

/// The configuration of the first node, or of one that joins it.
fn cluster_member(node_number: u32, first: Option<&RunningServer>) -> ClusterMember {
    let founder = first.and_then(|first| first.cluster_member.as_ref()?.group_port());
    let password = first.map(|first| first.target.password.clone());
    ClusterMember {
        node_number,
        password,
        membership: Membership::Peer { founder, ports: Ports::default() },
    }
}

/// Waits until every node is synced with a complete cluster. Returns the version of the library.
fn await_whole(first: &RunningServer, limit: Duration) -> Result<String, HostError> {
    let nodes = first.nodes().count();
    let deadline = Instant::now() + limit;
    let mut provider = String::new();
    for (index, node) in first.nodes().enumerate() {
        loop {
            let found = states(node).map_err(query(node.kind, "asking for the cluster"))?;
            let of = |name: &str| found.get(name).map_or("", String::as_str);
            if of("wsrep_cluster_size") == nodes.to_string()
                && of("wsrep_local_state_comment") == "Synced"
            {
                of("wsrep_provider_version").clone_into(&mut provider);
                break;
            }
            if let Some(reason) = first.end_reason() {
                return Err(HostError::new(format!("the {} cluster {reason}", node.kind)));
            }
            if Instant::now() >= deadline {
                let (number, seconds) = (index + 1, limit.as_secs());
                let (seen, state) = (of("wsrep_cluster_size"), of("wsrep_local_state_comment"));
                return Err(HostError::new(format!(
                    "node {number} is not synced after {seconds} s: it sees {seen} of {nodes} \
                     nodes, its state is {state:?}"
                )));
            }
            std::thread::sleep(POLL);
        }
    }
    Ok(provider)
}

/// The status of a node in its cluster.
fn states(node: &RunningServer) -> QueryResult<BTreeMap<String, String>> {
    let pairs =
        ControlConnection::open(&node.target)?.pairs("SHOW GLOBAL STATUS LIKE 'wsrep_%'")?;
    Ok(pairs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::process::{self, free_port};
    use dyno_model::plan::ServerKind;
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn a_node_whose_port_is_taken_joins_at_another() {
        let Some(server) = dyno_testkit::require_server(ServerKind::Galera) else { return };
        let supervisor = dyno_testkit::supervisor_command();
        let supervisor = crate::supervisor::SupervisorCommand {
            program: supervisor.program,
            arguments: supervisor.arguments,
        };
        let options = StartOptions::new("taken", supervisor);
        let scratch = tempfile::tempdir().unwrap();
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let server = ManagedServer { nodes: 2, scratch: Some(scratch.path().to_owned()), ..server };
        let first = member::start(&server, &options, "node", cluster_member(1, None))
            .unwrap_or_else(|error| panic!("{error}"));
        let winner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = winner.local_addr().unwrap().port();
        // One each for clients, commits and missed writes; the fourth receives the initial data.
        let mut calls = 0;
        let mut left = Vec::new();
        let mut next_port = || {
            calls += 1;
            if calls == 5 {
                left = joiners_files(scratch.path());
            }
            if calls == 4 { Ok(taken) } else { free_port() }
        };
        let second = process::start(
            &server,
            &options,
            Some(cluster_member(2, Some(&first))),
            &mut next_port,
        );
        let second = second.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(left, [""; 0], "files of the first attempt were there in the second");
        // On a busy machine one of the next ports may be taken as well.
        assert!(second.is_alive() && calls >= 8 && calls % 4 == 0, "{calls} ports");
    }

    /// The data folder of the second node, which has no database yet.
    fn joiners_files(scratch: &Path) -> Vec<String> {
        let names = |folder: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
        };
        let data = names(scratch).into_iter().map(|name| scratch.join(name).join("data"));
        let joiners: Vec<_> =
            data.filter(|data| data.is_dir() && !data.join("dyno").exists()).collect();
        assert_eq!(joiners.len(), 1, "{joiners:?}");
        names(&joiners[0])
    }

    #[test]
    fn a_node_out_of_sync_is_reported_with_its_state() {
        let Some(server) = dyno_testkit::require_server(ServerKind::Galera) else { return };
        let supervisor = dyno_testkit::supervisor_command();
        let supervisor = crate::supervisor::SupervisorCommand {
            program: supervisor.program,
            arguments: supervisor.arguments,
        };
        let options = StartOptions::new("step", supervisor);
        let server = start(&ManagedServer { nodes: 2, ..server }, &options)
            .unwrap_or_else(|error| panic!("{error}"));
        let second = &server.nodes().nth(1).unwrap().target;
        let set = |value: &str| {
            let mut session = ControlConnection::open(second).unwrap();
            session.rows(&format!("SET GLOBAL wsrep_desync = {value}")).unwrap();
        };
        set("ON");
        let error = await_whole(&server, Duration::ZERO).unwrap_err().to_string();
        assert!(
            error.starts_with("node 2 is not synced after 0 s: it sees 2 of 2 nodes"),
            "{error}"
        );
        assert!(error.contains("Desynced"), "{error}");
        set("OFF");
        assert!(await_whole(&server, Duration::from_secs(60)).unwrap().starts_with("4."));
    }
}

//! A PostgreSQL server with replicas: streaming replication, asynchronous unless the primary is
//! told to wait.

use super::member;
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::server::cluster_member::{ClusterMember, Membership};
use crate::server::error::query;
use crate::server::process::POLL;
use crate::server::{RunningServer, StartOptions};
use dyno_model::plan::ManagedServer;
use dyno_model::target::Endpoint;
use dyno_model::version::ServerVersion;
use std::time::Instant;

/// Starts the primary, then the replicas from copies of its data, and waits until all of them
/// stream.
pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
) -> Result<RunningServer, HostError> {
    let cluster_member = |node_number, primary, password| ClusterMember {
        node_number,
        password,
        membership: Membership::Replica { primary },
    };
    let mut first = member::start(server, options, "node", cluster_member(1, None, None))?;
    let port = match &first.target.endpoint {
        Endpoint::Tcp { port, .. } => Some(*port),
        _ => None,
    };
    for node_number in 2..=server.nodes {
        let password = Some(first.target.password.clone());
        first.joiners.push(member::start(
            server,
            options,
            "node",
            cluster_member(node_number, port, password),
        )?);
    }
    await_replicas(&first, server.nodes - 1, options)?;
    if server.is_synchronous {
        // Set only now: before, the first commit would have waited for a missing replica.
        let changed = ControlConnection::open(&first.target).and_then(|mut session| {
            session.run("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
            session.first("SELECT pg_reload_conf()")
        });
        changed.map_err(query(first.kind, "making it wait for a replica"))?;
    }
    first.settings.insert(
        "synchronous_standby_names".to_owned(),
        if server.is_synchronous { "*" } else { "" }.to_owned(),
    );
    first.version = ServerVersion::Replicated {
        version: first.version.to_string(),
        replicas: server.nodes - 1,
        is_synchronous: server.is_synchronous,
    };
    Ok(first)
}

/// Waits until so many replicas are streaming.
fn await_replicas(
    first: &RunningServer,
    replicas: u32,
    options: &StartOptions,
) -> Result<(), HostError> {
    let deadline = Instant::now() + options.ready_timeout;
    loop {
        let streaming = ControlConnection::open(&first.target).and_then(|mut it| {
            it.count("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
        });
        let streaming = streaming.map_err(query(first.kind, "asking for its replicas"))?;
        if streaming >= u64::from(replicas) {
            return Ok(());
        }
        if let Some(reason) = first.end_reason() {
            return Err(HostError::new(format!("the {} {reason}", first.kind)));
        }
        if Instant::now() >= deadline {
            let seconds = options.ready_timeout.as_secs();
            return Err(HostError::new(format!(
                "only {streaming} of {replicas} replicas are streaming after {seconds} s"
            )));
        }
        std::thread::sleep(POLL);
    }
}

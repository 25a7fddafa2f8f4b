//! A node of a cluster that accepts clients.

use crate::error::HostError;
use crate::server::cluster_member::ClusterMember;
use crate::server::{RunningServer, StartOptions, process};
use dyno_model::plan::ManagedServer;

pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
    what: &str,
    cluster_member: ClusterMember,
) -> Result<RunningServer, HostError> {
    let node_number = cluster_member.node_number;
    let options =
        StartOptions { name: format!("{}-node{node_number}", options.name), ..options.clone() };
    process::start(server, &options, Some(cluster_member), &mut process::free_port)
        .map_err(|error| error.of(format!("{what} {node_number} of {}", server.nodes)))
}

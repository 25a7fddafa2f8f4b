//! Systems of several servers, each with its own folders and its own ports on 127.0.0.1.
//!
//! * `galera`: servers that all hold the data;
//! * `ndb`: servers in front of data nodes, which do not accept clients;
//! * `replica`: a primary, and replicas of it.

mod galera;
mod member;
mod ndb;
mod replica;

use super::{RunningServer, StartOptions};
use crate::error::HostError;
use dyno_model::engine::Clustering;
use dyno_model::plan::ManagedServer;

/// Starts all nodes of a cluster and waits until it is complete.
pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
) -> Result<RunningServer, HostError> {
    match server.kind.clustering() {
        Clustering::DataNodes => ndb::start(server, options),
        Clustering::Replicas => replica::start(server, options),
        Clustering::Peers | Clustering::Single => galera::start(server, options),
    }
}

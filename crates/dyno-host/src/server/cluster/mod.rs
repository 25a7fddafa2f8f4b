//! Systems that are several servers, each in folders of its own, on ports of its own of 127.0.0.1.
//!
//! * `galera`: servers that all hold the data;
//! * `ndb`: servers that ask data nodes, to which no client talks;
//! * `replica`: a primary, and servers that repeat what it writes.

mod galera;
mod member;
mod ndb;
mod replica;

use super::{RunningServer, StartOptions};
use crate::error::HostError;
use dyno_model::engine::Clustering;
use dyno_model::plan::ManagedServer;

/// Starts all nodes of a cluster and waits until they work together.
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

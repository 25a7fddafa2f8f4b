//! Systems that are several servers, each in folders of its own, on ports of its own of 127.0.0.1.
//!
//! * `galera`: servers that all hold the data;
//! * `ndb`: servers that ask data nodes, which are `inner` nodes: no client talks to them;
//! * `seat`: the place of one that clients talk to.

mod galera;
mod inner;
mod ndb;
mod seat;

pub(super) use galera::GALERA;
pub(super) use inner::InnerNode;
pub(super) use ndb::NDB;
pub(super) use seat::Seat;

use super::{RunningServer, StartOptions, process};
use crate::error::HostError;
use dyno_model::plan::{ManagedServer, ServerKind};

/// Starts all nodes of a cluster and waits until they work together.
pub(super) fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, HostError> {
    match server.kind {
        ServerKind::Ndb => ndb::start(server, options),
        _ => galera::start(server, options),
    }
}

/// Starts a node that clients talk to.
fn member(
    server: &ManagedServer,
    options: &StartOptions,
    what: &str,
    seat: Seat,
) -> Result<RunningServer, HostError> {
    let number = seat.number;
    let options = StartOptions { name: format!("{}-node{number}", options.name), ..options.clone() };
    process::start(server, &options, Some(seat), &mut process::free_port).map_err(|mut error| {
        error.text = format!("{what} {number} of {}: {}", server.nodes, error.text);
        error
    })
}

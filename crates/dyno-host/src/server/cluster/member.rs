//! A node of a cluster that clients talk to.

use crate::error::HostError;
use crate::server::seat::Seat;
use crate::server::{RunningServer, StartOptions, process};
use dyno_model::plan::ManagedServer;

pub(super) fn start(
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

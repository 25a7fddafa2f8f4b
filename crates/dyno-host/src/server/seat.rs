//! A server's place in a cluster: its number, whom it joins, where it listens for the others.

use dyno_model::secret::Secret;
use std::io;

/// Answered when the node has done all that was committed on any node before.
pub(super) const BARRIER: &str = "SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1";

/// A server's place in a cluster.
pub(super) struct Seat {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Whom it joins; `None`: it founds the cluster.
    pub(super) founder: Option<Founder>,
    /// Where it listens for the others; chosen anew for each attempt to start it.
    pub(super) ports: Ports,
}

/// The node that the others join.
pub(super) struct Founder {
    /// Where it listens for the others.
    pub(super) port: u16,
    /// Of dyno's account, which the others get with the data.
    pub(super) password: Secret,
}

/// Where a node listens for the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Ports {
    /// For what is committed.
    pub(super) group: u16,
    /// For what was committed while it was away.
    pub(super) incremental: u16,
    /// For all the data.
    pub(super) snapshot: u16,
}

impl Ports {
    /// Some that `next_port` names.
    pub(super) fn take(next_port: &mut dyn FnMut() -> io::Result<u16>) -> io::Result<Self> {
        Ok(Self { group: next_port()?, incremental: next_port()?, snapshot: next_port()? })
    }
}

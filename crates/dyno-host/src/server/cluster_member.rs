//! A server's place in a cluster: its number, whom it joins, where it listens for the others.

use dyno_model::secret::Secret;
use std::io;

/// Answered when a node of Galera has done all that was committed on any node before.
const PEER_BARRIER: &str = "SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1";

/// A server's place in a cluster.
pub(super) struct ClusterMember {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Of dyno's account, the same on all; `None`: it is the first and may have any.
    pub(super) password: Option<Secret>,
    pub(super) membership: Membership,
}

/// How a server belongs to its cluster.
pub(super) enum Membership {
    /// It holds the data as the others do.
    Peer {
        /// Where the node that it joins listens for others; `None`: it founds the cluster.
        founder: Option<u16>,
        /// Where it listens for the others; chosen anew for each attempt to start it.
        ports: Ports,
    },
    /// It asks data nodes.
    Sql {
        /// Port of the management node.
        management: u16,
    },
    /// It repeats what a primary writes.
    Replica {
        /// Port of the primary; `None`: it is the primary.
        primary: Option<u16>,
    },
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

impl ClusterMember {
    /// Where a node of Galera listens for what is committed.
    pub(super) fn group_port(&self) -> Option<u16> {
        match &self.membership {
            Membership::Peer { ports, .. } => Some(ports.group),
            _ => None,
        }
    }

    /// True when it gets its data, accounts included, from another node.
    pub(super) fn is_given_data(&self) -> bool {
        self.is_joining() || self.is_replica()
    }

    /// True when it gets its data by itself once it is started.
    pub(super) fn is_joining(&self) -> bool {
        matches!(&self.membership, Membership::Peer { founder: Some(_), .. })
    }

    /// True for one that only reads as long as it is not promoted.
    pub(super) fn is_replica(&self) -> bool {
        matches!(&self.membership, Membership::Replica { primary: Some(_), .. })
    }

    /// A statement that it answers when it has done all that was committed on any node before.
    /// NDB's data nodes commit together, so that its SQL nodes are never behind.
    pub(super) fn barrier(&self) -> Option<&'static str> {
        matches!(self.membership, Membership::Peer { .. }).then_some(PEER_BARRIER)
    }

    pub(super) fn choose_ports(
        &mut self,
        next_port: &mut dyn FnMut() -> io::Result<u16>,
    ) -> io::Result<()> {
        if let Membership::Peer { ports, .. } = &mut self.membership {
            *ports =
                Ports { group: next_port()?, incremental: next_port()?, snapshot: next_port()? };
        }
        Ok(())
    }
}

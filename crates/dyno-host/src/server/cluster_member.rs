//! A server's role in a cluster: its id, the node that it joins, its ports for the other nodes.

use dyno_model::secret::Secret;
use std::io;

/// Answered only after a Galera node has applied all earlier commits of other nodes.
const PEER_BARRIER: &str = "SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1";

/// A server's role in a cluster.
pub(super) struct ClusterMember {
    /// Its id, from 1.
    pub(super) node_number: u32,
    /// Password of dyno's account, equal on all nodes; `None` for the first, which chooses it.
    pub(super) password: Option<Secret>,
    pub(super) membership: Membership,
}

/// How a server belongs to its cluster.
pub(super) enum Membership {
    /// It holds the same data as the others.
    Peer {
        /// Port of the node that it joins; `None` when it bootstraps the cluster.
        founder: Option<u16>,
        /// Its own ports for the others; chosen again for each attempt to start it.
        ports: Ports,
    },
    /// It uses data nodes.
    Sql {
        /// Port of the management node.
        management: u16,
    },
    /// It is part of streaming replication.
    Replica {
        /// Port of the primary; `None` when it is the primary.
        primary: Option<u16>,
    },
}

/// Ports of a node for the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Ports {
    /// For group communication.
    pub(super) group: u16,
    /// For incremental state transfer: commits missed while it was away.
    pub(super) incremental: u16,
    /// For a complete state transfer.
    pub(super) snapshot: u16,
}

impl ClusterMember {
    /// The port for group communication of a Galera node.
    pub(super) fn group_port(&self) -> Option<u16> {
        match &self.membership {
            Membership::Peer { ports, .. } => Some(ports.group),
            _ => None,
        }
    }

    /// True when it gets its data, including accounts, from another node.
    pub(super) fn is_given_data(&self) -> bool {
        self.is_joining() || self.is_replica()
    }

    /// True when it gets its data by itself after it is started.
    pub(super) fn is_joining(&self) -> bool {
        matches!(&self.membership, Membership::Peer { founder: Some(_), .. })
    }

    /// True for one that is read-only until it is promoted.
    pub(super) fn is_replica(&self) -> bool {
        matches!(&self.membership, Membership::Replica { primary: Some(_), .. })
    }

    /// A statement that it answers only after applying all earlier commits of other nodes. NDB's
    /// data nodes commit together, so its SQL nodes are never behind.
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

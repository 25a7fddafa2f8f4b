//! Servers that dyno starts: their kinds, nodes and settings.

use crate::engine::{Clustering, ServerKind};
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The database and account of dyno on the servers that it starts.
pub const DATABASE: &str = "dyno";

/// A server that dyno starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagedServer {
    /// Kind of server.
    pub kind: ServerKind,
    /// The server's own settings, named as in its documentation. They are applied, then read back.
    pub settings: BTreeMap<String, String>,
    /// Folder with the binaries; `None`: PATH and the usual folders.
    pub bin_dir: Option<PathBuf>,
    /// Folder in which the scratch folder is created; `None`: the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// Number of servers of a cluster that clients connect to, each with the settings; 1 for every
    /// other kind.
    #[serde(default = "alone", skip_serializing_if = "is_alone")]
    pub nodes: u32,
    /// Number of data nodes of a cluster; 0 for kinds whose servers store the data themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_nodes: u32,
    /// True when a primary acknowledges a commit only after a replica has received it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_synchronous: bool,
}

fn alone() -> u32 {
    1
}

fn is_alone(nodes: &u32) -> bool {
    *nodes == alone()
}

/// Name of the management node of an NDB cluster.
pub const MANAGEMENT_NODE: &str = "the management node";

/// Role of a node of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRole {
    /// The only server.
    Server,
    /// A database inside the generator's process.
    Embedded,
    /// A node of a Galera cluster: each has all data, and accepts reads and writes.
    Member,
    /// An SQL node of NDB.
    Sql,
    /// A data node of NDB.
    Data,
    /// The management node of NDB.
    Management,
    /// The server that accepts writes.
    Primary,
    /// A server that replicates the writes of the primary.
    Replica,
}

impl ServerKind {
    /// The nodes of a server of this kind, with their numbers: first those that clients connect to,
    /// then the management node of separate data nodes, and the data nodes.
    #[must_use]
    pub fn roles(self, nodes: u32, data_nodes: u32) -> Vec<(NodeRole, Option<u32>)> {
        let numbered = |role, count: u32| (1..=count).map(move |number| (role, Some(number)));
        match self.clustering() {
            Clustering::Single if self.engine().is_server() => vec![(NodeRole::Server, None)],
            Clustering::Single => vec![(NodeRole::Embedded, None)],
            Clustering::Peers => numbered(NodeRole::Member, nodes).collect(),
            Clustering::DataNodes => {
                let management = (data_nodes > 0).then_some((NodeRole::Management, None));
                let data = numbered(NodeRole::Data, data_nodes);
                numbered(NodeRole::Sql, nodes).chain(management).chain(data).collect()
            }
            Clustering::Replicas => {
                let replicas = numbered(NodeRole::Replica, nodes.saturating_sub(1));
                std::iter::once((NodeRole::Primary, None)).chain(replicas).collect()
            }
        }
    }

    /// Their names.
    #[must_use]
    pub fn node_names(self, nodes: u32, data_nodes: u32) -> Vec<String> {
        let name = |(role, number): (NodeRole, Option<u32>)| {
            let what = match role {
                NodeRole::Server | NodeRole::Embedded => "server",
                NodeRole::Member => "node",
                NodeRole::Sql => "SQL node",
                NodeRole::Data => "data node",
                NodeRole::Management => MANAGEMENT_NODE,
                NodeRole::Primary => "primary",
                NodeRole::Replica => "replica",
            };
            number.map_or_else(|| what.to_owned(), |number| format!("{what} {number}"))
        };
        self.roles(nodes, data_nodes).into_iter().map(name).collect()
    }
}

impl ManagedServer {
    /// Names of its nodes.
    #[must_use]
    pub fn node_names(&self) -> Vec<String> {
        self.kind.node_names(self.nodes, self.data_nodes)
    }

    /// A server of a kind with its own defaults, at the usual locations.
    #[must_use]
    pub fn new(kind: ServerKind) -> Self {
        let (nodes, data_nodes) = match kind.clustering() {
            Clustering::Single => (alone(), 0),
            // The minimum at which one can fail and the others form a majority.
            Clustering::Peers => (3, 0),
            // The minimum at which one of each kind can fail.
            Clustering::DataNodes => (2, 2),
            Clustering::Replicas => (2, 0),
        };
        Self {
            kind,
            settings: BTreeMap::new(),
            bin_dir: None,
            scratch: None,
            nodes,
            data_nodes,
            is_synchronous: false,
        }
    }

    /// True when its data folder can be kept and copied for other starts. The data folder of a
    /// cluster's node identifies its cluster.
    #[must_use]
    pub fn is_copyable(&self) -> bool {
        self.kind.engine().keeps_data() && !self.kind.is_cluster()
    }
}

impl fmt::Display for ManagedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        match self.kind.clustering() {
            Clustering::Single => self.kind.fmt(f),
            Clustering::DataNodes => {
                let (sql, data) =
                    (counted(self.nodes, "SQL node"), counted(self.data_nodes, "data node"));
                write!(f, "{} with {sql} and {data}", self.kind)
            }
            Clustering::Peers | Clustering::Replicas => {
                write!(f, "{} with {}", self.kind, counted(self.nodes, "node"))
            }
        }
    }
}

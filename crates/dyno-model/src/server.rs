//! Servers that dyno starts: what they are, and the settings that they get.

use crate::engine::Engine;
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The database of servers that dyno starts, and its account there.
pub const DATABASE: &str = "dyno";

/// A server that dyno starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagedServer {
    /// What to start.
    pub kind: ServerKind,
    /// The server's own settings, as its documentation names them. Applied, then read back.
    pub settings: BTreeMap<String, String>,
    /// Folder with the binaries; else PATH and the usual folders.
    pub bin_dir: Option<PathBuf>,
    /// Folder in which the scratch folder is made; else the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// Servers of a cluster that clients talk to, each with the settings; 1 for every other kind.
    #[serde(default = "alone", skip_serializing_if = "is_alone")]
    pub nodes: u32,
    /// Nodes of a cluster that hold the data for the others; 0 for kinds whose servers hold them themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_nodes: u32,
    /// True when a primary acknowledges a commit only when a replica has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_synchronous: bool,
}

fn alone() -> u32 {
    1
}

fn is_alone(nodes: &u32) -> bool {
    *nodes == alone()
}

/// Name of the node that knows who belongs to a cluster of NDB.
pub const MANAGEMENT_NODE: &str = "the management node";

impl ServerKind {
    /// Names of the nodes of a server of this kind: those that clients talk to, then those that hold data for them, and what holds these
    /// together.
    #[must_use]
    pub fn node_names(self, nodes: u32, data_nodes: u32) -> Vec<String> {
        let what = match self {
            Self::Galera => "node",
            Self::Ndb => "SQL node",
            Self::PostgresReplica => {
                let replicas = (1..nodes).map(|number| format!("replica {number}"));
                return std::iter::once("primary".to_owned()).chain(replicas).collect();
            }
            _ => return vec!["server".to_owned()],
        };
        let mut names: Vec<String> = (1..=nodes).map(|number| format!("{what} {number}")).collect();
        if data_nodes > 0 {
            names.push(MANAGEMENT_NODE.to_owned());
        }
        names.extend((1..=data_nodes).map(|number| format!("data node {number}")));
        names
    }
}

impl ManagedServer {
    /// Names of its nodes.
    #[must_use]
    pub fn node_names(&self) -> Vec<String> {
        self.kind.node_names(self.nodes, self.data_nodes)
    }

    /// One of a kind with its own defaults, at the usual places.
    #[must_use]
    pub fn new(kind: ServerKind) -> Self {
        let (nodes, data_nodes) = match kind {
            // The fewest of which one can die and the others are the majority.
            ServerKind::Galera => (3, 0),
            // The fewest of which one of each sort can die.
            ServerKind::Ndb => (2, 2),
            ServerKind::PostgresReplica => (2, 0),
            _ => (alone(), 0),
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

    /// True when its data folder can be kept and copied for other starts. That of a cluster's node says which cluster it belongs to.
    #[must_use]
    pub fn is_copyable(&self) -> bool {
        self.kind.engine().keeps_data() && !self.kind.is_cluster()
    }
}

impl fmt::Display for ManagedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        match self.kind {
            ServerKind::Ndb => {
                let (sql, data) = (counted(self.nodes, "SQL node"), counted(self.data_nodes, "data node"));
                write!(f, "{} with {sql} and {data}", self.kind)
            }
            kind if kind.is_cluster() => write!(f, "{kind} with {}", counted(self.nodes, "node")),
            kind => kind.fmt(f),
        }
    }
}

crate::named! {
    /// Kinds of servers that dyno can start. SQLite is no server; "starting" it makes a scratch file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ServerKind {
        /// Embedded SQLite on a scratch file; settings are pragmas.
        Sqlite = "sqlite",
        /// MariaDB's `mariadbd`.
        Mariadb = "mariadb",
        /// A Galera cluster of MariaDB's servers.
        Galera = "galera",
        /// MySQL's `mysqld`.
        Mysql = "mysql",
        /// MySQL NDB Cluster: MySQL's servers before data nodes.
        Ndb = "ndb",
        /// PostgreSQL's `postgres`.
        Postgres = "postgres",
        /// PostgreSQL's servers: a primary, and replicas that repeat what it writes (streaming replication).
        PostgresReplica = "postgres-replica",
        /// Canned replies in this process.
        Null = "null",
    }
}

impl ServerKind {
    /// The protocol and dialect it speaks.
    #[must_use]
    pub fn engine(self) -> Engine {
        match self {
            Self::Sqlite => Engine::Sqlite,
            Self::Mariadb | Self::Galera | Self::Mysql | Self::Ndb => Engine::Mysql,
            Self::Postgres | Self::PostgresReplica => Engine::Postgres,
            Self::Null => Engine::Null,
        }
    }

    /// True when it is several servers.
    #[must_use]
    pub fn is_cluster(self) -> bool {
        matches!(self, Self::Galera | Self::Ndb | Self::PostgresReplica)
    }
}

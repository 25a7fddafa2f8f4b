//! Servers that dyno starts: what they are, and the settings that they get.

use crate::engine::Engine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A server that dyno starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "is_none")]
    pub data_nodes: u32,
}

fn alone() -> u32 {
    1
}

fn is_alone(nodes: &u32) -> bool {
    *nodes == alone()
}

fn is_none(nodes: &u32) -> bool {
    *nodes == 0
}

impl ManagedServer {
    /// One of a kind with its own defaults, at the usual places.
    #[must_use]
    pub fn new(kind: ServerKind) -> Self {
        let (nodes, data_nodes) = match kind {
            // The fewest of which one can die and the others are the majority.
            ServerKind::Galera => (3, 0),
            // The fewest of which one of each sort can die.
            ServerKind::Ndb => (2, 2),
            _ => (alone(), 0),
        };
        Self { kind, settings: BTreeMap::new(), bin_dir: None, scratch: None, nodes, data_nodes }
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
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
            Self::Postgres => Engine::Postgres,
            Self::Null => Engine::Null,
        }
    }

    /// True when it is several servers, over which clients are spread.
    #[must_use]
    pub fn is_cluster(self) -> bool {
        matches!(self, Self::Galera | Self::Ndb)
    }
}

//! The version of a system, as reports and records name it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version that a server reports, or that of the servers of a cluster with their number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ServerVersion {
    /// The version of one server; empty if it is unknown.
    Server(String),
    /// A cluster with servers in front of data nodes.
    Cluster {
        /// Their version.
        version: String,
        /// Their number.
        nodes: u32,
        /// Number of data nodes.
        data_nodes: u32,
    },
    /// A cluster of servers with the same data.
    Peers {
        /// Their version.
        version: String,
        /// Their number.
        nodes: u32,
        /// What replicates the data, with its version.
        library: String,
    },
    /// A primary with its replicas.
    Replicated {
        /// Their version.
        version: String,
        /// Number of replicas.
        replicas: u32,
        /// True when a commit waits for a replica.
        is_synchronous: bool,
    },
}

impl ServerVersion {
    /// The version of a server, without their number.
    #[must_use]
    pub fn of_server(&self) -> &str {
        match self {
            Self::Server(version)
            | Self::Cluster { version, .. }
            | Self::Peers { version, .. }
            | Self::Replicated { version, .. } => version,
        }
    }

    /// True when nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Server(version) if version.is_empty())
    }
}

impl Default for ServerVersion {
    fn default() -> Self {
        Self::Server(String::new())
    }
}

impl From<String> for ServerVersion {
    fn from(version: String) -> Self {
        Self::Server(version)
    }
}

impl From<&str> for ServerVersion {
    fn from(version: &str) -> Self {
        Self::Server(version.to_owned())
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(version) => f.write_str(version),
            Self::Cluster { version, nodes, data_nodes } => {
                write!(f, "{nodes} × {version}, {data_nodes} data nodes")
            }
            Self::Peers { version, nodes, library } => write!(f, "{nodes} × {version}, {library}"),
            Self::Replicated { version, replicas, is_synchronous } => {
                let noun = if *replicas == 1 { "replica" } else { "replicas" };
                let mode = if *is_synchronous { "synchronous" } else { "asynchronous" };
                write!(f, "{version}, {replicas} {noun}, {mode}")
            }
        }
    }
}

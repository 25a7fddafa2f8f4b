//! Servers that dyno can start: each kind is a product in a topology.

use super::{Engine, Product};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// Kinds of servers that dyno can start. SQLite is no server; "starting" it makes a scratch
    /// file.
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
        /// PostgreSQL's servers: a primary, and replicas that repeat what it writes (streaming
        /// replication).
        PostgresReplica = "postgres-replica",
        /// Canned replies in this process.
        Null = "null",
    }
}

/// How the servers of a system divide the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// There is one.
    Single,
    /// Each holds all data, and takes reads and writes.
    Peers,
    /// They answer SQL; other nodes hold the data.
    DataNodes,
    /// One takes writes, the others repeat them.
    Replicas,
}

impl ServerKind {
    /// Those that a first spec is written for, in this order, if they are installed.
    pub const FAMILIAR: [Self; 3] = [Self::Mariadb, Self::Postgres, Self::Mysql];
    /// The one that is always there.
    pub const BUILT_IN: Self = Self::Sqlite;

    /// Whose servers they are.
    #[must_use]
    pub fn product(self) -> Product {
        match self {
            Self::Sqlite => Product::Sqlite,
            Self::Mariadb | Self::Galera => Product::Mariadb,
            Self::Mysql | Self::Ndb => Product::Mysql,
            Self::Postgres | Self::PostgresReplica => Product::Postgres,
            Self::Null => Product::Null,
        }
    }

    /// How they divide the work.
    #[must_use]
    pub fn clustering(self) -> Clustering {
        match self {
            Self::Galera => Clustering::Peers,
            Self::Ndb => Clustering::DataNodes,
            Self::PostgresReplica => Clustering::Replicas,
            _ => Clustering::Single,
        }
    }

    /// The protocol and dialect it speaks.
    #[must_use]
    pub fn engine(self) -> Engine {
        self.product().engine()
    }

    /// True when it is several servers.
    #[must_use]
    pub fn is_cluster(self) -> bool {
        self.clustering() != Clustering::Single
    }
}

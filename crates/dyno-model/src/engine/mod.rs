//! Engines: the protocol and SQL dialect of a system, and all static facts in which they differ.
//!
//! * [`Engine`]: their names; a new engine is added here first, and compiler errors point to the
//!   rest;
//! * [`Traits`], [`Dialect`], [`SysbenchDriver`]: the facts of each engine, in one file per engine;
//! * [`Product`]: the product of a server, with its [`Version`], known once it is connected to, and
//!   what it lacks ([`Capability`]);
//! * [`ServerKind`]: products that dyno can start, with their [`Clustering`].
//!
//! Facts that require a connection are in dyno-host, in a table of the same structure
//! (`dyno-host/src/engine`); implementations of the protocols are in dyno-drivers.

mod http;
mod identity;
mod mysql;
mod null;
mod postgres;
mod products;
mod sqlite;
mod sysbench;
mod traits;

pub use identity::{Identity, Version};
pub use postgres::TLS_ON_REQUEST;
pub use products::{Capability, Compatible};
pub use sqlite::database_file_url;
pub use sysbench::{Sending, SysbenchDriver};
pub use traits::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares the engines, each with the file that contains its facts.
macro_rules! engines {
    ($($(#[$doc:meta])+ $engine:ident: $file:ident,)+) => {
        /// The protocol (and SQL dialect) of a system.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Engine { $($(#[$doc])+ $engine,)+ }

        impl Engine {
            /// All of them, in their order.
            pub const ALL: [Self; [$(Self::$engine),+].len()] = [$(Self::$engine),+];

            /// The facts of the engine.
            #[must_use]
            pub fn traits(self) -> &'static Traits {
                match self { $(Self::$engine => &$file::TRAITS,)+ }
            }
        }
    };
}

engines! {
    /// MySQL, MariaDB and others that speak their protocol.
    Mysql: mysql,
    /// PostgreSQL and others that speak its protocol (version 3).
    Postgres: postgres,
    /// SQLite, embedded in this process.
    Sqlite: sqlite,
    /// Canned replies in this process, for tests and calibration.
    Null: null,
    /// Services that answer HTTP/1.1.
    Http: http,
}

impl Engine {
    /// The engine of a system whose engine is unknown: it cannot be queried.
    pub const UNKNOWN: Self = Self::Null;

    /// The engine whose connection strings (`host=h dbname=d`) are accepted as addresses.
    pub const OF_CONNECTION_STRINGS: Self = Self::Postgres;

    /// The SQL dialect.
    ///
    /// # Panics
    /// When the engine has no SQL; callers that generate statements check [`Self::has_sql`] first.
    #[must_use]
    pub fn dialect(self) -> &'static Dialect {
        self.traits().dialect.as_ref().expect("statements are for engines that speak SQL")
    }

    /// True when it supports SQL.
    #[must_use]
    pub fn has_sql(self) -> bool {
        self.traits().dialect.is_some()
    }

    /// The sysbench driver for it.
    #[must_use]
    pub fn sysbench(self) -> &'static SysbenchDriver {
        &self.traits().sysbench
    }

    /// The engine for a name in `--db-driver`.
    #[must_use]
    pub fn of_sysbench(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.sysbench().name == name)
    }

    /// The scheme of its URLs and its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// True when clients reach it over a socket: it has accounts, sessions and a separate process.
    #[must_use]
    pub fn is_server(self) -> bool {
        matches!(self.traits().execution, Execution::Thread | Execution::Process)
    }

    /// True when it works in its clients' threads and blocks them, so that each client needs a
    /// thread.
    #[must_use]
    pub fn is_embedded(self) -> bool {
        self.traits().execution == Execution::Client
    }

    /// True when it is a part of its clients' process, with data or without.
    #[must_use]
    pub fn is_in_process(self) -> bool {
        matches!(self.traits().execution, Execution::Client | Execution::Nowhere)
    }

    /// False when it stores no data: data can be neither loaded, claimed nor inspected.
    #[must_use]
    pub fn keeps_data(self) -> bool {
        !matches!(self.traits().execution, Execution::Nowhere | Execution::Service)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The product of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// MySQL, and builds of it that do not identify themselves.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// Canned replies in this process.
    Null,
    /// An HTTP service.
    Http,
    /// A compatible server, treated as the product whose protocol it speaks.
    Other(Engine, &'static str),
}

impl Product {
    /// All products that are named here; of those that share a protocol, the one that defines it
    /// comes first.
    pub const ALL: [Self; 6] =
        [Self::Mysql, Self::Mariadb, Self::Postgres, Self::Sqlite, Self::Null, Self::Http];

    /// Its name in specs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Other(_, name) => name,
            own => own.engine().name(),
        }
    }

    /// The protocol and dialect it speaks.
    #[must_use]
    pub fn engine(self) -> Engine {
        match self {
            Self::Mysql | Self::Mariadb => Engine::Mysql,
            Self::Postgres => Engine::Postgres,
            Self::Sqlite => Engine::Sqlite,
            Self::Null => Engine::Null,
            Self::Http => Engine::Http,
            Self::Other(engine, _) => engine,
        }
    }
}

crate::named! {
    /// Kinds of servers that dyno can start. SQLite is not a server; "starting" it creates a
    /// scratch file.
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
        /// MySQL NDB Cluster: MySQL servers in front of data nodes.
        Ndb = "ndb",
        /// PostgreSQL's `postgres`.
        Postgres = "postgres",
        /// PostgreSQL's servers: a primary and its replicas (streaming replication).
        PostgresReplica = "postgres-replica",
        /// Canned replies in this process.
        Null = "null",
    }
}

/// Division of work among the servers of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// A single server.
    Single,
    /// Each has all data, and accepts reads and writes.
    Peers,
    /// They process SQL; other nodes store the data.
    DataNodes,
    /// One accepts writes, the others replicate them.
    Replicas,
}

impl ServerKind {
    /// The candidates for a first spec, in this order, if they are installed.
    pub const FAMILIAR: [Self; 3] = [Self::Mariadb, Self::Postgres, Self::Mysql];
    /// The one that is always available.
    pub const BUILT_IN: Self = Self::Sqlite;

    /// The environment variable that names the folder of its programs.
    #[must_use]
    pub fn bin_dir_variable(self) -> String {
        format!("DYNO_{}_BIN_DIR", self.name().to_ascii_uppercase())
    }

    /// The product of its servers.
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

    /// The division of work among them.
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

    /// True when it consists of several servers.
    #[must_use]
    pub fn is_cluster(self) -> bool {
        self.clustering() != Clustering::Single
    }
}

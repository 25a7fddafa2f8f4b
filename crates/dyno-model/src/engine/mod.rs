//! Engines: which protocol and SQL dialect a system speaks, and every plain fact in which they
//! differ.
//!
//! * [`Engine`]: their names; a new one begins here, and the compiler asks for the rest;
//! * [`Traits`], [`Dialect`], [`SysbenchDriver`]: what has to be said of each; one file per engine
//!   says it;
//! * [`Product`]: whose server it is, with its [`Version`], once it has been connected to;
//! * [`ServerKind`]: products that dyno can start, with their [`Clustering`].
//!
//! What takes a connection to find out stands in dyno-host, in a table of the same shape
//! (`dyno-host/src/engine`); what speaks the protocol, in dyno-drivers.

mod http;
mod identity;
mod mysql;
mod null;
mod postgres;
mod sqlite;
mod sysbench;
mod traits;

pub use identity::{Identity, Version};
pub use sysbench::{Sending, SysbenchDriver};
pub use traits::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares the engines, each with the file that says what is so of it.
macro_rules! engines {
    ($($(#[$doc:meta])+ $engine:ident: $file:ident,)+) => {
        /// Which protocol (and SQL dialect) a system speaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Engine { $($(#[$doc])+ $engine,)+ }

        impl Engine {
            /// All of them, in their order.
            pub const ALL: [Self; [$(Self::$engine),+].len()] = [$(Self::$engine),+];

            /// What is so of it.
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
    /// That of a system of which nobody knows it: nothing can be asked of it.
    pub const UNKNOWN: Self = Self::Null;

    /// That whose connection strings (`host=h dbname=d`) are addresses.
    pub const OF_CONNECTION_STRINGS: Self = Self::Postgres;

    /// Its SQL.
    ///
    /// # Panics
    /// When it speaks none ([`Self::has_sql`]), which whoever makes statements has asked before.
    #[must_use]
    pub fn dialect(self) -> &'static Dialect {
        self.traits().dialect.as_ref().expect("statements are for engines that speak SQL")
    }

    /// True when it speaks SQL.
    #[must_use]
    pub fn has_sql(self) -> bool {
        self.traits().dialect.is_some()
    }

    /// sysbench's driver for it.
    #[must_use]
    pub fn sysbench(self) -> &'static SysbenchDriver {
        &self.traits().sysbench
    }

    /// The engine that a name in `--db-driver` means.
    #[must_use]
    pub fn of_sysbench(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.sysbench().name == name)
    }

    /// The scheme of its URLs and its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// True when clients reach it over a socket: it has accounts, sessions and a process of its
    /// own.
    #[must_use]
    pub fn is_server(self) -> bool {
        matches!(self.traits().execution, Execution::Thread | Execution::Process)
    }

    /// True when it works in its clients' threads and blocks them, so that each client needs one.
    #[must_use]
    pub fn is_embedded(self) -> bool {
        self.traits().execution == Execution::Client
    }

    /// False when it keeps no data: nothing of it can be loaded, claimed or looked at.
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

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// MySQL, and builds of it that do not say otherwise (Percona Server).
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// Canned replies in this process.
    Null,
    /// A service that answers HTTP.
    Http,
    /// A compatible server, treated as the product whose protocol it speaks.
    Other(Engine, &'static str),
}

impl Product {
    /// All that have a name of their own here; of those that speak one protocol the one that it
    /// belongs to comes first.
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

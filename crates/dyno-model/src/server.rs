//! Servers that dyno starts: what they are, and the settings that they get.

use crate::engine::Engine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
        /// MySQL's `mysqld`.
        Mysql = "mysql",
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
            Self::Mariadb | Self::Mysql => Engine::Mysql,
            Self::Postgres => Engine::Postgres,
            Self::Null => Engine::Null,
        }
    }
}

//! Where a system is reached and how it is spoken to.

pub use crate::engine::Engine;

use crate::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// One address of a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    /// A host name or address with a TCP port.
    Tcp {
        /// Host name, IPv4 or IPv6 address (without brackets).
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A unix socket. For PostgreSQL this is the socket file itself, not its folder.
    Unix(PathBuf),
    /// A database file (SQLite).
    File(PathBuf),
    /// Inside this process (null, SQLite in memory).
    InProcess,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) | Self::File(path) => write!(f, "{}", path.display()),
            Self::InProcess => f.write_str("in process"),
        }
    }
}

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// Never. The default, because encryption is part of what is measured and must be chosen.
    #[default]
    Off,
    /// Where the server offers it, without checking its certificate.
    Preferred,
    /// Always, without checking the server's certificate.
    Required,
    /// Always; the certificate must be signed by a CA of the file, whomever it is made out to.
    VerifyAuthority {
        /// PEM file of the trusted certificate authorities; `None`: the file where PostgreSQL's
        /// clients look for it.
        ca: Option<PathBuf>,
    },
    /// Always; the certificate must be signed by a CA of the file and be made out to the host.
    Verify {
        /// PEM file of the trusted certificate authorities; `None`: the file where PostgreSQL's
        /// clients look for it, else, and for the name `system`, the authorities that the system
        /// trusts.
        ca: Option<PathBuf>,
    },
}

/// A certificate with which the client shows who it is; sent to a server that asks for one on an
/// encrypted connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCertificate {
    /// PEM file of the certificate, perhaps with others that lead to its authority.
    pub certificate: PathBuf,
    /// PEM file of its private key, which has no password.
    pub key: PathBuf,
}

crate::named! {
    /// How statements travel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum QueryMode {
        /// Parsed by the server once per connection, then executed with binary parameters.
        #[default]
        Prepared = "prepared",
        /// One text per statement, values written into it (MySQL `COM_QUERY`, PostgreSQL simple
        /// query).
        Simple = "simple",
        /// PostgreSQL only: parsed, bound and executed anew each time (extended protocol without a
        /// prepared statement).
        Extended = "extended",
    }
}

/// Everything a driver needs to open one connection.
#[derive(Debug, Clone)]
pub struct Target {
    /// Protocol and dialect.
    pub engine: Engine,
    /// Where. Its host is the name that a certificate has to be made out to, and that services are
    /// told.
    pub endpoint: Endpoint,
    /// Where connections are really opened, when something that passes everything on stands in
    /// front of it.
    pub detour: Option<Endpoint>,
    /// Account.
    pub user: String,
    /// Its password; empty when there is none.
    pub password: Secret,
    /// Database (schema, for MySQL) to use; empty for none.
    pub database: String,
    /// Encryption.
    pub tls: Tls,
    /// Shown to a server that asks for it, where the connection is encrypted.
    pub client_certificate: Option<ClientCertificate>,
    /// How statements travel.
    pub query_mode: QueryMode,
    /// Limit for connecting and authenticating, also for a server that accepts and says nothing.
    pub connect_timeout: Duration,
    /// Statements sent once after connecting, before anything else: session settings
    /// (SQLite pragmas, `SET ...`). They are not measured.
    pub session_setup: Vec<String>,
    /// Sessions only read: what would undo that is not sent.
    pub only_reads: bool,
}

impl Target {
    /// A target with defaults for everything but where it is.
    #[must_use]
    pub fn new(engine: Engine, endpoint: Endpoint) -> Self {
        Self {
            engine,
            endpoint,
            detour: None,
            user: String::new(),
            password: Secret::default(),
            database: String::new(),
            tls: Tls::Off,
            client_certificate: None,
            query_mode: QueryMode::Prepared,
            connect_timeout: Duration::from_secs(10),
            session_setup: Vec::new(),
            only_reads: false,
        }
    }

    /// The same for sessions that only read.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.session_setup.push(self.engine.dialect().read_only.to_owned());
        self.only_reads = true;
        self
    }

    /// The database's name, as `--yes-write-to` must name it: for SQLite the file's.
    #[must_use]
    pub fn database_name(&self) -> String {
        match &self.endpoint {
            Endpoint::File(path) => path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            _ => self.database.clone(),
        }
    }

    /// Where connections are opened.
    #[must_use]
    pub fn opened_at(&self) -> &Endpoint {
        self.detour.as_ref().unwrap_or(&self.endpoint)
    }
}

//! Address of a system, and how drivers connect to it.

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
    /// In this process (null, SQLite in memory).
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
    /// Never. The default, because encryption affects the measurement and must be chosen
    /// explicitly.
    #[default]
    Off,
    /// If the server offers it, without checking its certificate.
    Preferred,
    /// Always, without checking the server's certificate.
    Required,
    /// Always; the certificate must be signed by a CA of the file, for any host name.
    VerifyAuthority {
        /// PEM file of the trusted certificate authorities; `None`: the default file of
        /// PostgreSQL's clients.
        ca: Option<PathBuf>,
    },
    /// Always; the certificate must be signed by a CA of the file and issued for the host.
    Verify {
        /// PEM file of the trusted certificate authorities; `None`: the default file of
        /// PostgreSQL's clients; if that does not exist, and for the name `system`, the authorities
        /// that the system trusts.
        ca: Option<PathBuf>,
    },
}

/// A client certificate; sent to a server that requests one on an encrypted connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCertificate {
    /// PEM file of the certificate, optionally with its chain.
    pub certificate: PathBuf,
    /// PEM file of its private key, without a passphrase.
    pub key: PathBuf,
}

crate::named! {
    /// How statements are sent.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum QueryMode {
        /// Parsed by the server once per connection, then executed with binary parameters.
        #[default]
        Prepared = "prepared",
        /// One text per statement, with the values in it (MySQL `COM_QUERY`, PostgreSQL simple
        /// query).
        Simple = "simple",
        /// PostgreSQL only: parsed, bound and executed each time (extended protocol without a
        /// prepared statement).
        Extended = "extended",
    }
}

crate::named! {
    /// Whether a SCRAM login is bound to the TLS connection, so that somebody in between who has a
    /// certificate that the client accepts cannot forward it to the server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum ChannelBinding {
        /// If the server offers it.
        #[default]
        Prefer = "prefer",
        /// Never.
        Disable = "disable",
        /// Otherwise the login is cancelled before the password is used.
        Require = "require",
    }
}

crate::named! {
    /// The state in which a server must be to be used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum ServerState {
        /// Any.
        #[default]
        Any = "any",
        /// Its sessions can write by default.
        ReadWrite = "read-write",
        /// Its sessions cannot write by default.
        ReadOnly = "read-only",
        /// It is not a standby.
        Primary = "primary",
        /// It is a standby.
        Standby = "standby",
        /// It is a standby; any if none of the servers is one.
        PreferStandby = "prefer-standby",
    }
}

/// Options of a connection that only PostgreSQL's URLs have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConnectionOptions {
    /// Further addresses, tried in order when the first cannot be reached or its server is not in
    /// the wanted state.
    pub alternatives: Vec<Endpoint>,
    /// The state that the server must be in.
    pub wanted_state: ServerState,
    /// Whether a SCRAM login is bound to the TLS connection.
    pub channel_binding: ChannelBinding,
    /// True when the TLS handshake begins at once, without asking the server whether it supports
    /// TLS (PostgreSQL 17 and later).
    pub has_direct_tls: bool,
    /// True when the client offers PostgreSQL's protocol 3.2 instead of 3.0.
    pub offers_protocol_3_2: bool,
}

impl ConnectionOptions {
    /// True when the URL has none of them.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// All parameters that a driver needs to open one connection.
#[derive(Debug, Clone)]
pub struct Target {
    /// Protocol and dialect.
    pub engine: Engine,
    /// Address. Its host is the name that a certificate must be issued for, and that is sent to
    /// services.
    pub endpoint: Endpoint,
    /// The address to connect to instead, when a proxy in front of the system forwards everything.
    pub detour: Option<Endpoint>,
    /// Account.
    pub user: String,
    /// Its password; empty when there is none.
    pub password: Secret,
    /// Database (schema, for MySQL) to use; empty for none.
    pub database: String,
    /// Encryption.
    pub tls: Tls,
    /// Client certificate, presented to a server that requests one on an encrypted connection.
    pub client_certificate: Option<ClientCertificate>,
    /// Options that only PostgreSQL has.
    pub options: Box<ConnectionOptions>,
    /// How statements are sent.
    pub query_mode: QueryMode,
    /// Timeout for connecting and authenticating, also for a server that accepts and does not
    /// answer.
    pub connect_timeout: Duration,
    /// Statements sent once after connecting, before any other: session settings (SQLite pragmas,
    /// `SET ...`). They are not measured.
    pub session_setup: Vec<String>,
    /// Sessions are read-only: statements that would change this are not sent.
    pub only_reads: bool,
}

impl Target {
    /// A target with defaults for everything but its address.
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
            options: Box::default(),
            query_mode: QueryMode::Prepared,
            connect_timeout: Duration::from_secs(10),
            session_setup: Vec::new(),
            only_reads: false,
        }
    }

    /// The same at another address, whatever the state of its server.
    #[must_use]
    pub fn at(&self, endpoint: Endpoint) -> Self {
        let mut target = Self { endpoint, ..self.clone() };
        target.options.alternatives.clear();
        target.options.wanted_state = ServerState::Any;
        target
    }

    /// The same for read-only sessions.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.session_setup.push(self.engine.dialect().read_only.to_owned());
        self.only_reads = true;
        self
    }

    /// The database's name, as `--yes-write-to` must name it: for SQLite the name of the file.
    #[must_use]
    pub fn database_name(&self) -> String {
        match &self.endpoint {
            Endpoint::File(path) => path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            _ => self.database.clone(),
        }
    }

    /// Where the database is, without its user: `postgres://HOST:PORT/DATABASE`.
    #[must_use]
    pub fn location(&self) -> String {
        format!("{}://{}/{}", self.engine, self.endpoint, self.database)
    }

    /// The address to which connections are opened.
    #[must_use]
    pub fn opened_at(&self) -> &Endpoint {
        self.detour.as_ref().unwrap_or(&self.endpoint)
    }
}

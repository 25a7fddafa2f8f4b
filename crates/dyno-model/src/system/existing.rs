//! A system that already runs, or that the user's commands start: its address, the source of its
//! password, its tables, and its lifecycle commands.

use crate::secret::Secret;
use crate::target::{ClientCertificate, ConnectionOptions, Endpoint, Engine, Tls};
use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A system that already runs. It contains the source of the password, never the password.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExistingSystem {
    /// Protocol and dialect, from the URL's scheme.
    pub engine: Engine,
    /// Address.
    pub endpoint: Endpoint,
    /// Account.
    pub user: String,
    /// Source of the password.
    pub password: PasswordSource,
    /// Database.
    pub database: String,
    /// Encryption.
    pub tls: Tls,
    /// Client certificate, presented to a server that requests one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Statements at the start of each session, from the URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_setup: Vec<String>,
    /// Options of the URL that only PostgreSQL has.
    #[serde(default, skip_serializing_if = "ConnectionOptions::is_default")]
    pub connection_options: Box<ConnectionOptions>,
    /// Ownership of the tables that the workload uses.
    pub data: DataPolicy,
    /// How its machine is monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorPlan>,
    /// The commands that apply settings and restart it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<HooksPlan>>,
}

/// The user's shell commands that apply settings to a system, and restart it or start and stop it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HooksPlan {
    /// Applies the settings of a restart group, passed as environment variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// Restarts the system; run at the beginning of each restart group, after `apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
    /// Replaces `restart` for a system that runs only while it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<ExclusivePlan>,
    /// Timeout of each command, and of the wait for the system to answer after it.
    pub time_limit: Nanos,
}

/// Commands that give a system its exclusive slot: it is started for a restart group and stopped
/// after it, so that only one system runs at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExclusivePlan {
    /// Starts the system, with the settings in environment variables, and exits once the start is
    /// under way.
    pub start: String,
    /// Stops it again, in all cases.
    pub stop: String,
}

/// How the machine of a remote system is monitored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPlan {
    /// Shell command that runs a POSIX shell on it; the shell reads its standard input: `ssh
    /// db.example sh`.
    pub command: String,
    /// File on it that contains the process ID of the server; otherwise dyno looks for the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_file: Option<String>,
}

/// Ownership of the tables that a workload uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataPolicy {
    /// dyno creates and loads them, and removes them afterwards.
    #[default]
    Own,
    /// They already exist, for example from `sysbench prepare`; dyno neither creates nor removes
    /// tables.
    Existing,
    /// They already exist, and dyno works in a copy of their database, which it creates and
    /// removes.
    Copy,
}

/// The source of a password, which is read when it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PasswordSource {
    /// The spec names no source: the password is the one that the database's own client programs
    /// would use, if any.
    None,
    /// The environment variable of this name.
    Environment(String),
    /// The first line of this file.
    File(PathBuf),
    /// The first line that this shell command prints, such as a token that expires. It is run again
    /// for each trial.
    Command(String),
    /// The entry for this account in the file of the database's own client programs: `PGPASSFILE`
    /// or `~/.pgpass`, `~/.my.cnf`.
    ClientFile,
    /// The URL in the spec contains it. It is not stored with the plan, so a reader of the plan
    /// needs the spec again.
    Url {
        /// The password; empty in a plan read from a file.
        #[serde(skip)]
        password: Secret,
    },
    /// The URL in this environment variable, if it contains a password.
    UrlVariable(String),
}

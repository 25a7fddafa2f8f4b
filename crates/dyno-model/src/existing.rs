//! A system that runs already, or that commands of the user's start: where it is, its password, its
//! tables, what steers it.

use crate::secret::Secret;
use crate::target::{ClientCertificate, Endpoint, Engine, Tls};
use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A system that runs already. Holds where its password comes from, never the password.
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
    /// Shown to a server that asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Statements at the beginning of each session, from the URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_setup: Vec<String>,
    /// Whose tables the workload runs on.
    #[serde(default)]
    pub data: DataPolicy,
    /// How its machine is monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorPlan>,
    /// What gives it settings and restarts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<HooksPlan>>,
}

/// Shell commands of the user's that give a system settings, and restart it or start and stop it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HooksPlan {
    /// Gives the system the settings of a restart group, which stand in variables of its
    /// environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// Restarts the system; run at the beginning of each restart group, behind `apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
    /// Instead of `restart`, for a system that runs only while it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<ExclusivePlan>,
    /// How long each command, and the wait for an answer after them, may take.
    pub time_limit: Nanos,
}

/// Commands by which a system has its turn: it is started for a restart group and stopped behind
/// it, so that one system at a time is at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExclusivePlan {
    /// Starts the system, with the settings in variables of its environment, and ends when it is on
    /// its way.
    pub start: String,
    /// Stops it again, whatever happens.
    pub stop: String,
}

/// How the machine of a system that runs elsewhere is monitored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPlan {
    /// Shell command that runs a POSIX shell there, which reads its standard input:
    /// `ssh db.example sh`.
    pub command: String,
    /// File there that holds the number of the server's process; else the process is found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_file: Option<String>,
}

/// Whose tables a workload runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataPolicy {
    /// dyno makes and loads them, and removes them afterwards.
    #[default]
    Own,
    /// They are there already, for example from `sysbench prepare`; dyno neither makes nor removes
    /// any.
    Existing,
    /// They are there already, and dyno works in a copy of their database, which it makes and
    /// removes.
    Copy,
}

/// Where a password is read when it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PasswordSource {
    /// The spec names none: the password is the one that the database's own client programs would
    /// use, if any.
    None,
    /// Environment variable of this name.
    Environment(String),
    /// First line of this file.
    File(PathBuf),
    /// The entry for this account in the file of the database's own client programs: `PGPASSFILE`
    /// or `~/.pgpass`, `~/.my.cnf`.
    ClientFile,
    /// The URL in the spec holds it. It is not written with the plan, so whoever reads one must be
    /// given the spec again.
    Url {
        /// The password; empty in a plan that was read.
        #[serde(skip)]
        password: Secret,
    },
    /// The URL that is the value of this environment variable, if it holds one.
    UrlVariable(String),
}

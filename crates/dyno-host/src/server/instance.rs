//! Folders and parameters of a server process, and what differs between kinds of servers.

use super::Binary;
use super::cluster_member::ClusterMember;
use super::error::scratch;
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::folder::write_private;
use crate::settings;
use crate::storage::TransactionLog;
use crate::supervisor::{Launch, Owner, StopStep};
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ManagedServer;
use dyno_model::secret::Secret;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the account and of the database that dyno creates.
pub(super) const ACCOUNT: &str = dyno_model::plan::DATABASE;

/// Everything that the recipe of a server needs to start it.
pub(super) struct ServerInstance<'a> {
    pub(super) server: &'a ManagedServer,
    pub(super) binary: Binary,
    pub(super) recipe: &'static Recipe,
    pub(super) directories: InstanceDirectories,
    /// Folder of the socket, usually the scratch folder.
    pub(super) socket_folder: PathBuf,
    /// Folder for the transaction log, when it is separate from the data.
    pub(super) log_folder: Option<PathBuf>,
    pub(super) port: u16,
    pub(super) password: Secret,
    /// Number of connections that it must allow.
    pub(super) connections: u32,
    /// True when accounts and databases come with the data: from a loaded folder, or from the
    /// cluster that it joins.
    pub(super) has_accounts: bool,
    pub(super) cluster_member: Option<ClusterMember>,
}

impl ServerInstance<'_> {
    /// Assigns its role in a cluster.
    pub(super) fn take(&mut self, cluster_member: ClusterMember) {
        if let Some(password) = &cluster_member.password {
            self.password = password.clone();
        }
        self.has_accounts |= cluster_member.is_given_data();
        self.cluster_member = Some(cluster_member);
    }

    /// True when it gets its data by itself after it is started.
    pub(super) fn is_joining(&self) -> bool {
        self.cluster_member.as_ref().is_some_and(ClusterMember::is_joining)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.socket_folder.join((self.recipe.socket_name)(self.port))
    }

    /// A setting of the MySQL family as an option, unless the user set it.
    pub(super) fn default_option(&self, name: &str, value: &str) -> Option<String> {
        self.requested(name).is_none().then(|| format!("--{}={value}", name.replace('_', "-")))
    }

    /// The value that the user gave to a setting, under any spelling of its name.
    pub(super) fn requested(&self, name: &str) -> Option<&str> {
        let engine = self.binary.kind.engine();
        let found =
            self.server.settings.iter().find(|(key, _)| settings::listed_name(engine, key) == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The folders of a server process.
pub(super) struct InstanceDirectories {
    pub(super) owner: Option<Owner>,
    /// The scratch folder. It belongs to the server's user: root opens nothing in it by path.
    pub(super) folder: PathBuf,
    /// The folder for dyno's own files: logs, and files passed to the server.
    pub(super) own: PathBuf,
}

impl InstanceDirectories {
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The folder for temporary files: on the same file system as the data, and removed with it.
    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.own.join("server.log")
    }

    pub(super) fn initialise_log(&self) -> PathBuf {
        self.own.join("initialise.log")
    }

    /// Writes a file that only the server (and dyno) can read, for what must not appear on a
    /// command line.
    pub(super) fn write_private(&self, name: &str, text: &str) -> Result<PathBuf, HostError> {
        write_private(&self.own, name, text, self.owner).map_err(|error| scratch(&self.own, error))
    }

    /// A launch of one of the server's programs, in its folder and as its user.
    pub(super) fn launch(&self, program: PathBuf, arguments: Vec<String>, log: PathBuf) -> Launch {
        Launch {
            program,
            arguments,
            environment: vec![("TMPDIR".to_owned(), path_text(&self.temporary()))],
            owner: self.owner,
            folder: self.folder.clone(),
            log,
            ..Launch::default()
        }
    }
}

/// A path as an argument. Requests to the supervisor are text, so other paths than UTF-8 were
/// rejected before.
pub(super) fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Reads a variable of the environment.
type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The properties of a kind of server.
pub(super) struct Recipe {
    /// Names of its program, the most specific first.
    pub(super) programs: &'static [&'static str],
    /// Folders that may contain the program, in addition to PATH. The argument reads the
    /// environment.
    pub(super) folders: fn(Environment<'_>) -> Vec<PathBuf>,
    /// Arguments that make the program print its version.
    pub(super) version_arguments: &'static [&'static str],
    /// The part of the answer with product and version; `None` when it is not from a server of
    /// this family.
    pub(super) claim: fn(&str) -> Option<&str>,
    /// The user to run as when dyno is root.
    pub(super) user: &'static str,
    /// Arguments with which the program only validates the settings; `None` when it cannot.
    pub(super) check: fn(&ManagedServer) -> Option<Vec<String>>,
    /// Validates settings with another of its programs.
    pub(super) check_further: fn(&ManagedServer, &Binary) -> Result<(), HostError>,
    /// Name of its socket for this port.
    pub(super) socket_name: fn(u16) -> String,
    /// Its transaction log, below the data folder.
    pub(super) log: TransactionLog,
    /// Settings that dyno sets itself, in addition to those of the engine, with the reason.
    pub(super) reserved: &'static [(&'static [&'static str], &'static str)],
    /// Fails when something is missing that it needs besides its program.
    pub(super) complete: fn(&Binary) -> Result<(), HostError>,
    /// The programs that create the data folder, with their arguments.
    pub(super) initialise: fn(&ServerInstance<'_>) -> Result<Vec<Launch>, HostError>,
    /// The server itself.
    pub(super) launch: fn(&ServerInstance<'_>) -> Result<Launch, HostError>,
    /// Query for its data folder, which identifies this server.
    pub(super) identity: &'static str,
    /// Steps to run once it answers.
    pub(super) configure_account:
        fn(&ServerInstance<'_>, &mut ControlConnection) -> Result<(), OperationFailure>,
    /// How it is stopped before it is killed.
    pub(super) stop: fn(Duration) -> Vec<StopStep>,
}

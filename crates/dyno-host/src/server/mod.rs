//! Servers that dyno starts: in a scratch folder, on loopback, with settings that are read back, leaving no trace.
//!
//! # Layout
//! * [`start`] and [`RunningServer`]: what the rest of dyno uses;
//! * `process`: the way of a server process from the scratch folder to the first answer, in its `site`; `recipes` has what differs between
//!   kinds (`mysql_family`, `postgres`), `sqlite` is no process at all;
//! * [`check_values`]: settings that the program refuses, without starting it;
//! * [`locate`]: where programs are; `account`: as whom they run; `log`: what they said.
//!
//! # What dyno adds to a server's own defaults
//! Nothing that changes durability. Only: where it listens (127.0.0.1 and a socket in the scratch folder), where its
//! files are, room for the plan's connections where the default is too small, `local_infile=ON` (the bulk path of the
//! MySQL family), the X protocol off (MySQL; it would open another port), the C locale with UTF-8 (PostgreSQL; the same on
//! every machine), and as many open files as the system grants. The data folder is made anew for every
//! start (0.5 s for MariaDB, 1 s for PostgreSQL, 2 s for MySQL), so every server has its own identity and keys; or it is a copy
//! of one into which a data set was loaded ([`StartOptions::data`]).

pub(crate) mod account;
mod binary;
mod error;
mod locate;
pub(crate) mod log;
mod mysql_family;
mod postgres;
pub(crate) mod process;
mod recipes;
mod save;
mod site;
mod sqlite;
mod validate;

pub use binary::Binary;
pub use error::ServerError;
pub use locate::locate;
pub use validate::check_values;

use crate::data_set::SavedDataSet;
use crate::engine::questions;
use crate::guard::{Exit, Guard, GuardCommand, Owner, StopStep};
use crate::settings::{self, RoundedSetting};
use dyno_model::plan::{ManagedServer, ServerKind, Storage};
use dyno_model::target::{Endpoint, Engine, Target};
use recipes::recipe;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a start needs besides the server's description.
#[derive(Clone)]
pub struct StartOptions {
    /// Name of the system; names its log file.
    pub name: String,
    /// How the process is started that outlives dyno to clean up.
    pub guard: GuardCommand,
    /// Folder that the server's log is copied to when it stops; made if it is missing.
    pub log_dir: Option<PathBuf>,
    /// Connections that clients need at once. Where the server's default allows fewer (and a few for dyno itself), dyno
    /// raises it, unless the settings say how many.
    pub connections: u32,
    /// How long the server may take until it answers.
    pub ready_timeout: Duration,
    /// A loaded data folder, of which the server gets a copy instead of an empty one.
    pub data: Option<Arc<SavedDataSet>>,
    /// Where its folders are, with what prepares the place; else [`ManagedServer::scratch`] is that place.
    pub storage: Option<Storage>,
}

impl StartOptions {
    /// Options with a limit of 120 s for getting ready, no kept log, and the server's own number of connections.
    #[must_use]
    pub fn new(name: impl Into<String>, guard: GuardCommand) -> Self {
        Self {
            name: name.into(),
            guard,
            log_dir: None,
            connections: 0,
            ready_timeout: Duration::from_secs(120),
            data: None,
            storage: None,
        }
    }
}

/// Why a setting cannot be given; `None`: it can.
#[must_use]
pub fn reserved_setting(kind: ServerKind, name: &str) -> Option<&'static str> {
    let name = settings::listed_name(kind.engine(), name);
    if !kind.engine().keeps_data() {
        return Some("the null server has no settings");
    }
    let reserved = questions(kind.engine()).settings.reserved;
    reserved.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, why)| *why)
}

/// Checks names and values of settings before anything is started.
///
/// # Errors
/// [`ServerError::ReservedSetting`] or [`ServerError::MalformedSetting`], for the first that cannot be given.
pub fn check_settings(server: &ManagedServer) -> Result<(), ServerError> {
    for (name, value) in &server.settings {
        if let Some(why) = reserved_setting(server.kind, name) {
            return Err(ServerError::ReservedSetting { name: name.clone(), why });
        }
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        let is_value = !value.contains(['\0', '\n', '\r']);
        let read = settings::as_server_reads(server.kind, name, value);
        let is_value = is_value && (questions(server.kind.engine()).settings.is_value)(&read);
        if !is_name || !is_value {
            return Err(ServerError::MalformedSetting { name: name.clone(), value: value.clone() });
        }
    }
    Ok(())
}

/// Checks that a server of this kind can have its folders in a place.
///
/// # Errors
/// [`ServerError::Scratch`] when the place is no folder, or out of reach of the user that the server runs as;
/// [`ServerError::NoUser`] when there is no such user.
pub fn check_place(kind: ServerKind, place: &Path) -> Result<(), ServerError> {
    let owner = recipe(kind).map(|recipe| account::for_server(kind, recipe.user)).transpose()?;
    process::check_parent(place, owner.flatten())
}

/// Starts a server, waits until it answers, and reads its settings back.
///
/// # Errors
/// See [`ServerError`]. Nothing is left behind then.
pub fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, ServerError> {
    check_settings(server)?;
    let server = spelled(server);
    match server.kind {
        ServerKind::Null => Ok(RunningServer::null()),
        ServerKind::Sqlite => sqlite::start(&server, options),
        ServerKind::Mariadb | ServerKind::Mysql | ServerKind::Postgres => {
            process::start(&server, options, &mut process::free_port)
        }
    }
}

/// The server with sizes written as it reads them.
fn spelled(server: &ManagedServer) -> ManagedServer {
    let mut server = server.clone();
    for (name, value) in &mut server.settings {
        *value = settings::as_server_reads(server.kind, name, value).into_owned();
    }
    server
}

/// A server that runs. Dropping it stops it.
pub struct RunningServer {
    kind: ServerKind,
    version: String,
    settings: BTreeMap<String, String>,
    target: Target,
    socket: Option<PathBuf>,
    guard: Option<Guard>,
    process: Option<ServerProcess>,
    place: Option<Place>,
    restoring: Duration,
    rounded: Vec<RoundedSetting>,
}

/// Where the data of a server is that dyno started, and what keeping them takes.
struct Place {
    data: PathBuf,
    /// The folder in which scratch folders are made.
    beside: PathBuf,
    owner: Option<Owner>,
    guard: GuardCommand,
}

/// What there is besides, when the server is a process.
struct ServerProcess {
    pid: u32,
    log: PathBuf,
    kept_log: Option<PathBuf>,
    stop: Vec<StopStep>,
}

/// How a server was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// How its process ended; `None` when it has none.
    pub exit: Option<Exit>,
    /// True when it had ended before it was asked to.
    pub was_dead: bool,
    /// What could not be undone, in whole sentences; normally nothing.
    pub problems: Vec<String>,
    /// Where its log is now.
    pub log: Option<PathBuf>,
}

impl RunningServer {
    fn null() -> Self {
        Self {
            kind: ServerKind::Null,
            version: "null".to_owned(),
            settings: BTreeMap::new(),
            target: Target::new(Engine::Null, Endpoint::InProcess),
            socket: None,
            guard: None,
            process: None,
            place: None,
            restoring: Duration::ZERO,
            rounded: Vec::new(),
        }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ServerKind {
        self.kind
    }

    /// How clients reach it: over TCP on 127.0.0.1, as they would reach one elsewhere. The account is dyno's own with
    /// all rights; its password is random.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// The same over its unix socket; `None` for embedded databases.
    #[must_use]
    pub fn unix_target(&self) -> Option<Target> {
        let socket = self.socket.clone()?;
        Some(Target { endpoint: Endpoint::Unix(socket), ..self.target.clone() })
    }

    /// The version it reports.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Settings read back from it: those asked for and those that matter for figures.
    #[must_use]
    pub fn settings_read_back(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Settings that it has with the next value that it can have.
    #[must_use]
    pub fn rounded_settings(&self) -> &[RoundedSetting] {
        &self.rounded
    }

    /// Time that copying the data set took; 0 when it began empty.
    #[must_use]
    pub fn restored_in(&self) -> Duration {
        self.restoring
    }

    /// Number of its process; `None` for embedded databases.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
    }

    /// True while it runs; its end is noticed at once.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.ending().is_none()
    }

    /// How it ended, as the end of a sentence that begins with its name; `None` while it runs.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        let guard = self.guard.as_ref()?;
        if let (Some(exit), Some(_)) = (guard.exit(), &self.process) {
            return Some(exit.to_string());
        }
        (!guard.is_there()).then(|| "lost the process that guards it (dyno guard)".to_owned())
    }

    /// The last lines of its log; none for embedded databases.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        self.process.as_ref().map(|process| log::tail(&process.log, lines)).unwrap_or_default()
    }

    /// Stops it: first as its manual says, after 30 s by force. Its folder is removed.
    #[must_use]
    pub fn stop(mut self) -> Stopped {
        self.stop_now()
    }

    fn stop_now(&mut self) -> Stopped {
        let mut stopped = Stopped { exit: None, was_dead: false, problems: Vec::new(), log: None };
        let Some(mut guard) = self.guard.take() else { return stopped };
        if let Some(process) = self.process.take() {
            stopped.exit = guard.exit();
            stopped.was_dead = stopped.exit.is_some();
            if !stopped.was_dead {
                match guard.stop(&process.stop) {
                    Ok(exit) => stopped.exit = exit,
                    Err(error) => stopped.problems.push(error.to_string()),
                }
            }
            stopped.log = process.kept_log;
        }
        stopped.problems.extend(guard.finish());
        stopped
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.stop_now();
    }
}

/// The file that a server's log is copied to: named for the system, with a number when it ran before.
pub(crate) fn kept_log(folder: &Path, system: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = system.chars().map(plain).collect::<String>().to_lowercase();
    let name = name.trim_matches(['-', '.']);
    let name = if name.is_empty() { "server" } else { name };
    let first = folder.join(format!("{name}.log"));
    let numbered = (2..).map(|number: u32| folder.join(format!("{name}-{number}.log")));
    std::iter::once(first)
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("server.log"))
}

/// A password that nobody can guess: 128 bits of the system's randomness, behind what plug-ins that judge passwords want
/// to see (both cases, a digit, a sign).
fn random_password() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let random: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("Dyno-1-{random}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(kind: ServerKind, name: &str, value: &str) -> ManagedServer {
        let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        ManagedServer { kind, settings, bin_dir: None, scratch: None }
    }

    #[test]
    fn settings_that_dyno_gives_itself_are_refused_with_the_reason() {
        for (kind, name) in [
            (ServerKind::Mariadb, "port"),
            (ServerKind::Mysql, "BIND-address"),
            (ServerKind::Postgres, "listen_addresses"),
            (ServerKind::Postgres, "Port"),
        ] {
            let error = check_settings(&server(kind, name, "1")).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("dyno"), "{error}");
        }
        assert!(check_settings(&server(ServerKind::Null, "x", "1")).is_err());
        check_settings(&server(ServerKind::Mariadb, "innodb-buffer-pool-size", "4G")).unwrap();
    }

    #[test]
    fn settings_that_could_smuggle_something_in_are_refused() {
        for (kind, name, value) in [
            (ServerKind::Mysql, "a b", "1"),
            (ServerKind::Mysql, "", "1"),
            (ServerKind::Postgres, "work_mem", "4MB\nport=1"),
            (ServerKind::Sqlite, "cache_size", "1; DROP TABLE x"),
            (ServerKind::Sqlite, "cache_size=1; --", "1"),
        ] {
            assert!(check_settings(&server(kind, name, value)).is_err(), "{name:?} = {value:?}");
        }
    }

    #[test]
    fn logs_of_a_system_that_starts_again_do_not_overwrite_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = kept_log(folder.path(), "MariaDB 10.11 (pool)");
        assert_eq!(first, folder.path().join("mariadb-10.11--pool.log"));
        std::fs::write(&first, "").unwrap();
        assert_eq!(
            kept_log(folder.path(), "MariaDB 10.11 (pool)"),
            folder.path().join("mariadb-10.11--pool-2.log")
        );
        assert_eq!(kept_log(folder.path(), "../.."), folder.path().join("server.log"));
    }

    #[test]
    fn passwords_are_long_and_differ() {
        let (one, other) = (random_password().unwrap(), random_password().unwrap());
        assert_eq!(one.len(), "Dyno-1-".len() + 32);
        assert_ne!(one, other);
    }
}

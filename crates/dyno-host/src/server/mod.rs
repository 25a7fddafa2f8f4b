//! Servers that dyno starts: in a scratch folder, on the loopback address, with settings that are
//! read back. Nothing is left behind.
//!
//! # Layout
//! * [`start`] with its [`StartOptions`], and [`RunningServer`]: what the rest of dyno uses;
//! * `process`: the way of a server process from the scratch folder to the first answer, in its
//!   `instance`; `recipes` has what differs between kinds, `cluster` starts several that have a
//!   `cluster_member` each, and `inner` ones; `sqlite` is no process at all;
//! * [`check_values`]: settings that the program refuses, without starting it;
//! * [`locate`]: where programs are; `account`: as whom they run; `log`: what they said.
//!
//! # What dyno adds to a server's own defaults
//! Nothing that changes durability. Only: the listening address (127.0.0.1 and a socket in the
//! scratch folder), the paths of its files, enough connections for the plan where the default is
//! too small, `local_infile=ON` (for bulk loading in the MySQL family), the X protocol disabled
//! (MySQL; it would open another port), the C locale with UTF-8 (PostgreSQL; equal on every
//! machine), and as many open files as the system allows. The data folder is created for every
//! start (0.5 s for MariaDB, 1 s for PostgreSQL, 2 s for MySQL), so every server has its own
//! identity and keys; or it is a copy of one with a loaded data set ([`StartOptions::data`]).

pub(crate) mod account;
mod binary;
mod cluster;
mod cluster_member;
mod error;
mod faults;
mod injected_faults;
mod inner;
mod instance;
pub(crate) mod log;
pub(crate) mod process;
mod programs;
mod recipes;
mod running;
mod save;
mod sqlite;
mod start_options;

use faults::{fault, full_disk};
use programs::{locate, validate};

pub use binary::Binary;
pub use fault::{FaultNode, Repair};
pub use locate::locate;
pub use running::{RunningServer, Stopped};
pub use start_options::StartOptions;
pub use validate::check_values;

pub(crate) use log::kept_log;

use crate::engine::queries;
use crate::error::HostError;
use crate::settings;
use dyno_model::engine::Execution;
use dyno_model::plan::{ManagedServer, ServerKind};
use recipes::recipe;
use std::path::Path;

/// The reason why a setting cannot be given; `None` when it can.
#[must_use]
pub fn reserved_setting(kind: ServerKind, name: &str) -> Option<&'static str> {
    let name = settings::listed_name(kind.engine(), name);
    if !kind.engine().keeps_data() {
        return Some("the null server has no settings");
    }
    let reserved = queries(kind.engine()).settings.reserved;
    let of_cluster = recipe(kind).map_or(&[][..], |recipe| recipe.reserved);
    reserved
        .iter()
        .chain(of_cluster)
        .find(|(names, _)| names.contains(&name.as_str()))
        .map(|(_, why)| *why)
}

/// Checks names and values of settings before anything is started.
///
/// # Errors
/// For the first setting that cannot be given: dyno sets it itself, or its name or value has
/// invalid characters.
pub fn check_settings(server: &ManagedServer) -> Result<(), HostError> {
    for (name, value) in &server.settings {
        if let Some(why) = reserved_setting(server.kind, name) {
            return Err(HostError::new(format!("setting {name:?} cannot be given: {why}")));
        }
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        let is_value = !value.contains(['\0', '\n', '\r']);
        let read = settings::as_server_reads(server.kind, name, value);
        let is_value = is_value && (queries(server.kind.engine()).settings.is_value)(&read);
        if !is_name || !is_value {
            return Err(HostError::new(format!(
                "setting {name:?} = {value:?} cannot be given: a name has letters, digits and the \
                 signs _ - . only, and a value is one line without a zero byte (for a pragma: a \
                 word, a number or a quoted text)"
            )));
        }
    }
    Ok(())
}

/// Checks that a server of this kind can have its folders in this location.
///
/// # Errors
/// When it is not a folder, not accessible to the user that the server runs as, or when there is no
/// such user.
pub fn check_location(kind: ServerKind, folder: &Path) -> Result<(), HostError> {
    let owner = recipe(kind).map(|recipe| account::for_server(kind, recipe.user)).transpose()?;
    process::check_parent(folder, owner.flatten())
}

/// Starts a server, waits until it answers, and reads its settings back.
///
/// # Errors
/// When the server cannot be started, or runs with other settings than requested. Nothing is left
/// behind then.
pub fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, HostError> {
    check_settings(server)?;
    let server = settings::spelled(server);
    match server.kind.engine().traits().execution {
        Execution::Nowhere | Execution::Service => Ok(RunningServer::null()),
        Execution::Client => sqlite::start(&server, options),
        Execution::Thread | Execution::Process if server.kind.is_cluster() => {
            cluster::start(&server, options)
        }
        Execution::Thread | Execution::Process => {
            process::start(&server, options, None, &mut process::free_port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn server(kind: ServerKind, name: &str, value: &str) -> ManagedServer {
        let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        ManagedServer { settings, ..ManagedServer::new(kind) }
    }

    #[test]
    fn settings_that_dyno_sets_itself_are_rejected_with_the_reason() {
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
    fn settings_that_could_inject_something_are_rejected() {
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
}

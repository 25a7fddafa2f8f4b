//! Embedded SQLite with a scratch file. Its settings are pragmas.

use super::error::{query, scratch, settings_differ};
use super::process::{check_parent, make_folder};
use super::running::{DataLocation, RunningServer};
use super::{StartOptions, save};
use crate::control_connection::ControlConnection;
use crate::engine::read_pragma;
use crate::error::HostError;
use crate::settings;
use crate::supervisor::Supervisor;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::target::{Endpoint, Engine, Target};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Pragmas stored in the file, in the order in which they must be executed; the page size only
/// takes effect before the journal becomes a write-ahead log. All others belong to a connection.
const OF_THE_FILE: [&str; 3] = ["encoding", "page_size", "auto_vacuum"];

pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
) -> Result<RunningServer, HostError> {
    let kind = ServerKind::Sqlite;
    let parent = server.scratch.clone().unwrap_or_else(std::env::temp_dir);
    check_parent(&parent, None)?;
    let parent = std::fs::canonicalize(&parent).map_err(|error| scratch(&parent, error))?;
    let mut supervisor = Supervisor::start(&options.supervisor)?;
    let folder = make_folder(&mut supervisor, &parent, "dyno-sqlite", None, &[])?;
    // The file and its journals have a folder of their own, which can be kept and copied as a
    // whole.
    let data = folder.join("data");
    let began = Instant::now();
    match &options.data {
        Some(saved) => save::copy(saved, &data, None)?,
        None => std::fs::create_dir(&data).map_err(|error| scratch(&data, error))?,
    }
    let restoring = if options.data.is_some() { began.elapsed() } else { Duration::ZERO };
    let mut target = Target::new(Engine::Sqlite, Endpoint::File(data.join("dyno.db")));

    let requested = &server.settings;
    let pragma = |name: &str, value: &str| format!("PRAGMA {name} = {value}");
    let query = |doing| query(kind, doing);
    let find = |name: &str| {
        requested.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    let mut session =
        ControlConnection::open(&target).map_err(query("opening its scratch file"))?;
    for name in OF_THE_FILE {
        if let Some(value) = find(name) {
            session.run(&pragma(name, value)).map_err(query("setting a pragma"))?;
        }
    }
    let is_wal = find("journal_mode").is_some_and(|mode| mode.eq_ignore_ascii_case("wal"));
    if is_wal {
        session.run(&pragma("journal_mode", "wal")).map_err(query("setting journal_mode"))?;
    }
    drop(session);
    for (name, value) in requested {
        // The write-ahead log is a property of the file; setting it again would take locks.
        let is_done = OF_THE_FILE.iter().any(|done| done.eq_ignore_ascii_case(name))
            || is_wal && name.eq_ignore_ascii_case("journal_mode");
        if !is_done {
            target.session_setup.push(pragma(name, value));
        }
    }

    let mut session =
        ControlConnection::open(&target).map_err(query("opening its scratch file"))?;
    let found = read_back(&mut session, &server.settings).map_err(query("reading its pragmas"))?;
    let found = settings::compared(Engine::Sqlite, &server.settings, &found);
    if !found.problems.is_empty() {
        return Err(settings_differ(kind, &found.problems, &[]));
    }
    let mut running = RunningServer::new(kind, session.identity().version, target, found);
    running.supervisor = Some(supervisor);
    running.data_location = Some(DataLocation {
        data,
        beside: parent,
        owner: None,
        supervisor: options.supervisor.clone(),
    });
    running.restoring = restoring;
    Ok(running)
}

/// Reads the pragmas that affect results and the requested ones.
fn read_back(
    session: &mut ControlConnection,
    requested: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, settings::Setting>, OperationFailure> {
    let mut found = settings::read_with(session, Engine::Sqlite)?;
    for name in requested.keys() {
        let listed = settings::listed_name(Engine::Sqlite, name);
        if let Some(setting) = read_pragma(session, &listed)? {
            found.insert(listed, setting);
        }
    }
    Ok(found)
}

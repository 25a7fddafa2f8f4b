//! PostgreSQL's server.

use super::ServerError;
use super::binary::helper;
use super::process::{ACCOUNT, Recipe, Site, path_text};
use crate::guard::{Launch, StopSignal, StopStep};
use crate::session::Session;
use dyno_model::failure::OperationFailure;
use std::fs;
use std::time::Duration;

/// Parameters that dyno gives.
pub(super) const RESERVED: [(&[&str], &str); 3] = [
    (
        &["port", "listen_addresses", "unix_socket_directories", "bonjour"],
        "dyno chooses where the server listens",
    ),
    (
        &["data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"],
        "dyno chooses the server's folders and files",
    ),
    (&["logging_collector", "log_destination"], "dyno collects the server's log itself"),
];

/// What PostgreSQL allows by default, the reserved ones included.
const CONNECTIONS_DEFAULT: u32 = 100;
/// Connections that the server keeps for superusers (`superuser_reserved_connections`).
const CONNECTIONS_RESERVED: u32 = 3;

pub(super) const RECIPE: Recipe = Recipe { initialise, launch, identity, furnish, stop };

/// `initdb`, then the database by a server without connections. dyno's account is the superuser, so no other exists;
/// it always needs its password, over TCP and over the socket.
fn initialise(site: &Site<'_>) -> Result<Vec<Launch>, ServerError> {
    let log = site.initialise_log();
    let password = site.write_private("password", site.password.reveal())?;
    let data = path_text(&site.data());
    let arguments = [
        "--pgdata",
        &data,
        "--username",
        ACCOUNT,
        "--pwfile",
        &path_text(&password),
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
    ];
    let mut arguments = arguments.map(str::to_owned).to_vec();
    if let Some(folder) = &site.log_folder {
        arguments.push(format!("--waldir={}", path_text(&folder.join("wal"))));
    }
    let initdb = site.launch(helper(&site.binary, &["initdb"])?, arguments, log.clone());

    let statements = site.write_private("database.sql", &format!("CREATE DATABASE {ACCOUNT};\n"))?;
    let arguments = ["--single", "-D", &data, "postgres"].map(str::to_owned).to_vec();
    let mut single = site.launch(site.binary.program.clone(), arguments, log);
    single.input = Some(statements);
    Ok(vec![initdb, single])
}

fn launch(site: &Site<'_>) -> Result<Launch, ServerError> {
    let _ = fs::remove_file(site.own.join("password"));
    let mut arguments = vec!["-D".to_owned(), path_text(&site.data())];
    let mut give = |name: &str, value: &str| arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    give("listen_addresses", "127.0.0.1");
    give("port", &site.port.to_string());
    give("unix_socket_directories", &path_text(&site.socket_folder));
    let needed = site.connections.saturating_add(CONNECTIONS_RESERVED);
    if site.asked("max_connections").is_none() && needed > CONNECTIONS_DEFAULT {
        give("max_connections", &needed.to_string());
    }
    for (name, value) in &site.server.settings {
        give(name, value);
    }
    Ok(site.launch(site.binary.program.clone(), arguments, site.log()))
}

fn identity(site: &Site<'_>) -> (&'static str, String) {
    ("SHOW data_directory", path_text(&site.data()))
}

/// Counters per statement, when the user asked for the library that counts them.
fn furnish(site: &Site<'_>, session: &mut Session) -> Result<(), OperationFailure> {
    let libraries = site.asked("shared_preload_libraries").unwrap_or_default();
    if libraries.split(',').any(|library| library.trim() == "pg_stat_statements") {
        session.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
    }
    Ok(())
}

/// Fast shutdown ends sessions; the immediate one that may follow still gives shared memory back.
fn stop(patience: Duration) -> Vec<StopStep> {
    vec![
        StopStep::new(StopSignal::Interrupt, patience),
        StopStep::new(StopSignal::Quit, Duration::from_secs(5)),
    ]
}

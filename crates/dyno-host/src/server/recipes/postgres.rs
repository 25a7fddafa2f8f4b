//! The server of PostgreSQL.

use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::server::binary::{helper, newest_first};
use crate::server::instance::{ACCOUNT, Recipe, ServerInstance, path_text};
use crate::storage::TransactionLog;
use crate::supervisor::{Launch, StopStep, SupervisorSignal};
use dyno_model::failure::OperationFailure;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// PostgreSQL's default limit, including reserved connections.
const CONNECTIONS_DEFAULT: u32 = 100;
/// Connections reserved for superusers (`superuser_reserved_connections`).
const CONNECTIONS_RESERVED: u32 = 3;

pub(in crate::server) const RECIPE: Recipe = Recipe {
    programs: &["postgres"],
    folders: |_environment| {
        let mut folders = newest_first(Path::new("/usr/lib/postgresql"), "", "bin");
        folders.extend(newest_first(Path::new("/usr"), "pgsql-", "bin"));
        folders.extend(["/usr/bin", "/usr/local/pgsql/bin", "/usr/local/bin"].map(PathBuf::from));
        folders
    },
    version_arguments: &["--version"],
    claim: |text| text.contains("(PostgreSQL)").then_some(text),
    user: "postgres",
    check: |server| {
        let begin =
            ["-C", "data_directory", "--data_directory=/", "--config_file=/dev/null"].into_iter();
        let begin =
            begin.chain(["--hba_file=/dev/null", "--ident_file=/dev/null"]).map(str::to_owned);
        let options = server
            .settings
            .iter()
            .flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]);
        Some(begin.chain(options).collect())
    },
    check_further: |_server, _binary| Ok(()),
    socket_name: |port| format!(".s.PGSQL.{port}"),
    log: TransactionLog::Folder { name: "pg_wal", elsewhere: "wal" },
    reserved: &[],
    complete: |_binary| Ok(()),
    initialise,
    launch,
    identity: "SHOW data_directory",
    configure_account,
    stop,
};

/// `initdb`, then a server in single-user mode that creates the database. dyno's account is the
/// superuser, so there is no other; it always needs its password, over TCP and over the socket.
fn initialise(instance: &ServerInstance<'_>) -> Result<Vec<Launch>, HostError> {
    let log = instance.directories.initialise_log();
    let password = instance.directories.write_private("password", instance.password.reveal())?;
    let data = path_text(&instance.directories.data());
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
    if let Some(folder) = &instance.log_folder {
        arguments.push(format!("--waldir={}", path_text(&folder.join("wal"))));
    }
    let initdb =
        instance.directories.launch(helper(&instance.binary, &["initdb"])?, arguments, log.clone());

    let statements = instance
        .directories
        .write_private("database.sql", &format!("CREATE DATABASE {ACCOUNT};\n"))?;
    let arguments = ["--single", "-D", &data, "postgres"].map(str::to_owned).to_vec();
    let mut single = instance.directories.launch(instance.binary.program.clone(), arguments, log);
    single.input = Some(statements);
    Ok(vec![initdb, single])
}

fn launch(instance: &ServerInstance<'_>) -> Result<Launch, HostError> {
    let _ = fs::remove_file(instance.directories.own.join("password"));
    let mut arguments = vec!["-D".to_owned(), path_text(&instance.directories.data())];
    let mut give =
        |name: &str, value: &str| arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    give("listen_addresses", "127.0.0.1");
    give("port", &instance.port.to_string());
    give("unix_socket_directories", &path_text(&instance.socket_folder));
    let needed = instance.connections.saturating_add(CONNECTIONS_RESERVED);
    if instance.requested("max_connections").is_none() && needed > CONNECTIONS_DEFAULT {
        give("max_connections", &needed.to_string());
    }
    for (name, value) in &instance.server.settings {
        give(name, value);
    }
    Ok(instance.directories.launch(
        instance.binary.program.clone(),
        arguments,
        instance.directories.log(),
    ))
}

/// Enables counters per statement when the user configured the library for them.
fn configure_account(
    instance: &ServerInstance<'_>,
    session: &mut ControlConnection,
) -> Result<(), OperationFailure> {
    let libraries = instance.requested("shared_preload_libraries").unwrap_or_default();
    if libraries.split(',').any(|library| library.trim() == "pg_stat_statements") {
        session.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
    }
    Ok(())
}

/// Fast shutdown ends sessions; the immediate one that may follow still releases shared memory.
fn stop(timeout: Duration) -> Vec<StopStep> {
    vec![
        StopStep { signal: SupervisorSignal::Interrupt, timeout },
        StopStep { signal: SupervisorSignal::Quit, timeout: Duration::from_secs(5) },
    ]
}

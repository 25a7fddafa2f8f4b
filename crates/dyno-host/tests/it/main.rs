//! Tests with real servers; each test has its own in its own scratch folder.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clusters;
mod commands;
mod counters;
mod data_set;
mod lifecycle;
mod marker;
mod monitor;
mod ndb;
mod no_trace;
mod planted;
mod probe;
mod replicas;
mod settings;

use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::{RunningServer, StartOptions, start};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::target::Target;
use dyno_testkit::{TempDir, require_server};
use std::path::Path;
use std::sync::OnceLock;

/// The kinds with a process.
const PROCESSES: [ServerKind; 3] = [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];

/// The kinds that hold data.
const DATABASES: [ServerKind; 4] =
    [ServerKind::Sqlite, ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];

fn supervisor() -> SupervisorCommand {
    SupervisorCommand {
        program: env!("CARGO_BIN_EXE_dyno-server").into(),
        arguments: vec!["supervise".into()],
    }
}

fn options() -> StartOptions {
    StartOptions::new("Test server", supervisor())
}

/// A folder for scratch folders that the servers' users may enter.
fn open_folder() -> TempDir {
    open_folder_in(&std::env::temp_dir())
}

fn open_folder_in(parent: &Path) -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in(parent).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn described(kind: ServerKind, scratch: &Path, settings: &[(&str, &str)]) -> Option<ManagedServer> {
    let mut server = require_server(kind)?;
    server.scratch = Some(scratch.to_owned());
    server.settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Some(server)
}

/// A running server with its scratch folder in `scratch`.
fn running(kind: ServerKind, scratch: &Path, settings: &[(&str, &str)]) -> Option<RunningServer> {
    let server = described(kind, scratch, settings)?;
    Some(start(&server, &options()).unwrap_or_else(|error| panic!("{error}")))
}

/// A server shared by tests that only query it. It runs until this program ends and is then stopped
/// by its supervisor.
fn shared(kind: ServerKind) -> Option<&'static RunningServer> {
    static SERVERS: [OnceLock<Option<RunningServer>>; 4] = [const { OnceLock::new() }; 4];
    let index = DATABASES.iter().position(|known| *known == kind).expect("one of the four");
    SERVERS[index].get_or_init(|| running(kind, &std::env::temp_dir(), &[])).as_ref()
}

fn connect(target: &Target) -> Connection {
    block_on(Connection::connect(target, &Io::Blocking))
        .unwrap_or_else(|failure| panic!("{failure}"))
}

fn ask(target: &Target, sql: &str) -> Table {
    let mut connection = connect(target);
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    block_on(connection.close());
    table
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

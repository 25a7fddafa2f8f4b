//! Shared test support: real servers where they are installed, and checks of processes and folders.
//!
//! A test that needs a server begins with [`require_server`]. Where the server is not installed, it
//! prints why the test is skipped. With `DYNO_REQUIRE_SERVERS=1`, which `scripts/test` and
//! `.ci/run` set, it fails instead, so that no test is skipped silently.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "helpers of tests fail by panicking"
)]

mod answer_thief;
mod pooler;
pub mod repository;
mod silencer;

use dyno_host::server::{StartOptions, locate, start};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::plan::{ApplicationKind, ApplicationPlan, ManagedServer, ServerKind, Via};
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use answer_thief::ResponseDroppingProxy;
pub use dyno_host::server::RunningServer;
pub use pooler::Pooler;
pub use silencer::BlackholeProxy;
pub use tempfile::TempDir;

/// Environment variable that makes a missing server fail the tests that need it.
pub const REQUIRE_SERVERS: &str = "DYNO_REQUIRE_SERVERS";

/// Environment variable with the kinds of servers that tests may start, separated by spaces; all if
/// it is not set. Tests of others end at once.
const SERVERS: &str = "DYNO_TEST_SERVERS";

/// Prints why a test is skipped, or fails it if nothing may be missing.
///
/// # Panics
/// If [`REQUIRE_SERVERS`] is set.
pub fn skip(reason: impl Display) {
    assert!(std::env::var_os(REQUIRE_SERVERS).is_none_or(|value| value != "1"), "{reason}");
    eprintln!("SKIPPED: {reason}");
}

/// Prepares a server of this kind if its program is installed.
#[must_use]
pub fn require_server(kind: ServerKind) -> Option<ManagedServer> {
    let server = ManagedServer::new(kind);
    if !kind.engine().is_server() {
        return Some(server);
    }
    let chosen = std::env::var(SERVERS).ok();
    if chosen.is_some_and(|kinds| kinds.split(' ').all(|it| it != kind.name())) {
        return None;
    }
    match locate(kind, None) {
        Ok(_) => Some(server),
        Err(error) => {
            skip(error);
            None
        }
    }
}

/// The example web application, built on first use; `None` where its build tools are missing.
#[must_use]
pub fn require_application() -> Option<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webapp");
        let war = folder.join("target/webapp.war");
        if !war.is_file() {
            let ended =
                Command::new("mvn").args(["-q", "-B", "package"]).current_dir(&folder).output();
            if !ended.is_ok_and(|output| output.status.success()) {
                return Err("examples/webapp was not built by mvn".to_owned());
            }
        }
        let application =
            ApplicationPlan { kind: ApplicationKind::Tomcat, war, threads: 1, connections: 1 };
        dyno_host::network_path::locate(&Via::Application(application.clone()))
            .map_err(|error| error.to_string())?;
        Ok(application.war)
    });
    match built {
        Ok(war) => Some(war),
        Err(error) => {
            skip(error);
            None
        }
    }
}

/// Starts a server of this kind with these settings if its program is installed.
#[must_use]
pub fn running_server(kind: ServerKind, settings: &[(&str, &str)]) -> Option<RunningServer> {
    let mut server = require_server(kind)?;
    server.settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Some(started(&server))
}

/// Starts a server whose data are on a disk: files for temporary use may be in memory, and the
/// kernel counts only what is written to a disk.
#[must_use]
pub fn running_server_on_disk(kind: ServerKind) -> Option<RunningServer> {
    let mut server = require_server(kind)?;
    server.scratch = Some(PathBuf::from("/var/tmp"));
    Some(started(&server))
}

fn started(server: &ManagedServer) -> RunningServer {
    let options = StartOptions::new(server.kind.name(), supervisor_command());
    start(server, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Environment variable that states that the programs of this workspace are built, as in a test run
/// of the whole workspace. Building `dyno-server` alone would compile its dependencies again with
/// fewer features while tests run.
const IS_BUILT: &str = "DYNO_PROGRAMS_BUILT";

/// The command with which tests start supervisors: the program `dyno-server` of dyno-host, built
/// first.
#[must_use]
pub fn supervisor_command() -> SupervisorCommand {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        // Tests run from `<target>/<profile>/deps/`; programs are one folder above.
        let test = std::env::current_exe().expect("the running test has a file");
        let folder =
            test.parent().and_then(Path::parent).expect("tests lie in <target>/<profile>/deps");
        let program = folder.join("dyno-server");
        if std::env::var_os(IS_BUILT).is_some_and(|value| value == "1") && program.exists() {
            return program;
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--package", "dyno-host", "--bin", "dyno-server"])
            .args(folder.ends_with("release").then_some("--release"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("tests are run by cargo");
        assert!(built.success(), "dyno-server does not build");
        program
    });
    SupervisorCommand { program: program.clone(), arguments: vec!["supervise".into()] }
}

/// How long tests wait for an expected event. Anything slower hangs, even on a slow and busy
/// machine.
pub const TIMEOUT: Duration = Duration::from_secs(180);

/// Waits until a condition that other processes bring about is true; fails with `what` after
/// [`TIMEOUT`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {TIMEOUT:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A local address at which connections are refused while the value lives. Its port is the local
/// end of a connection, so that no other process can listen on it.
#[derive(Debug)]
pub struct ClosedPort {
    end: TcpStream,
    _listener: TcpListener,
}

impl ClosedPort {
    /// Reserves a port that the system chooses.
    #[must_use]
    pub fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        Self { end: TcpStream::connect(address).expect("it listens"), _listener: listener }
    }

    /// The address without a listener.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.end.local_addr().expect("it is connected")
    }
}

impl Default for ClosedPort {
    fn default() -> Self {
        Self::new()
    }
}

/// True while a process with this id exists and is not a zombie.
#[must_use]
pub fn is_process(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    })
}

/// Ids of the processes whose command line or working directory contains this text.
#[must_use]
pub fn processes_with(text: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let holds = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text) || folder.to_string_lossy().contains(text)
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| holds(*pid))
        .collect()
}

/// True when any file below a folder contains this text.
#[must_use]
pub fn folder_holds(folder: &Path, text: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_holds(&path, text),
            Ok(kind) if kind.is_file() => std::fs::read(&path).is_ok_and(|bytes| {
                bytes.windows(text.len()).any(|window| window == text.as_bytes())
            }),
            _ => false,
        }
    })
}

/// Whether a text report has the row for this number of clients with this number of trials. Short
/// trials may be invalid on a busy machine; the row has figures when at least one is valid.
#[must_use]
pub fn has_row_of_trials(report: &str, clients: u32, trials: u32) -> bool {
    let (clients, trials) = (clients.to_string(), trials.to_string());
    report.lines().any(|line| match &line.split_whitespace().collect::<Vec<_>>()[..] {
        [first, valid, cells @ ..] if **first == clients => {
            let all = valid.split_once('/').map_or(*valid, |(_, all)| all);
            all == trials && (cells.len() > 4 || cells.ends_with(&["invalid"]))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_all_trials_and_has_figures_unless_none_is_valid() {
        let whole = "        4  3  6,914  2,155  0.416       0        0  warned";
        let partly = "        4  2/3  6,914      -  0.416       0        0  warned";
        let without = "        4  0/3       0        0  invalid";
        for row in [whole, partly, without] {
            assert!(has_row_of_trials(row, 4, 3), "{row}");
            assert!(!has_row_of_trials(row, 2, 3) && !has_row_of_trials(row, 4, 2), "{row}");
        }
        assert!(!has_row_of_trials("        4  3       0        0  warned", 4, 3), "no figures");
    }

    #[test]
    fn is_process_is_true_for_this_process_and_false_for_zombies() {
        assert!(is_process(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        wait_until("the child ends", || !is_process(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn a_closed_port_accepts_neither_connections_nor_listeners() {
        let closed = ClosedPort::new();
        let refused = TcpStream::connect(closed.address()).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        assert!(TcpListener::bind(closed.address()).is_err());
    }

    #[test]
    fn text_in_a_folder_is_found_at_any_depth() {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), b"\0secret\0").unwrap();
        assert!(folder_holds(folder.path(), "secret"));
        assert!(!folder_holds(folder.path(), "absent"));
    }
}

//! What tests of several crates share: real servers if they are there, and looking at processes and
//! folders.
//!
//! A test that needs a server begins with [`require_server`]. Where the server is not installed it
//! prints why it is skipped; under `DYNO_REQUIRE_SERVERS=1`, which `scripts/test` and `.ci/run`
//! set, it fails instead, so that no test is ever left out in silence.
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
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use answer_thief::AnswerThief;
pub use dyno_host::server::RunningServer;
pub use pooler::Pooler;
pub use silencer::Silencer;
pub use tempfile::TempDir;

/// Environment variable under which a missing server fails its tests.
pub const REQUIRE_SERVERS: &str = "DYNO_REQUIRE_SERVERS";

/// A server of this kind to be started, if its program is on this machine.
#[must_use]
pub fn require_server(kind: ServerKind) -> Option<ManagedServer> {
    let server = ManagedServer::new(kind);
    if !kind.engine().is_server() {
        return Some(server);
    }
    match locate(kind, None) {
        Ok(_) => Some(server),
        Err(error) => {
            assert!(std::env::var_os(REQUIRE_SERVERS).is_none_or(|value| value != "1"), "{error}");
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// The web application of the examples, which is built if it is not there yet; `None` where what it
/// takes is missing.
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
            assert!(std::env::var_os(REQUIRE_SERVERS).is_none_or(|value| value != "1"), "{error}");
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// A running server of this kind with these settings, if its program is on this machine.
#[must_use]
pub fn running_server(kind: ServerKind, settings: &[(&str, &str)]) -> Option<RunningServer> {
    let mut server = require_server(kind)?;
    server.settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = StartOptions::new(kind.name(), supervisor_command());
    Some(start(&server, &options).unwrap_or_else(|error| panic!("{error}")))
}

/// Environment variable that says that the programs of this workspace are built already, as they
/// are when all of it is tested: to build `dyno-server` alone compiles what it needs once more,
/// with fewer features, while tests run.
const IS_BUILT: &str = "DYNO_PROGRAMS_BUILT";

/// How tests start guards: by the program `dyno-server` of dyno-host, which is built first.
#[must_use]
pub fn supervisor_command() -> SupervisorCommand {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        // Tests run from `<target>/<profile>/deps/`, programs lie one folder above.
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

/// How long tests wait for what must happen. Whatever takes longer hangs, on the slowest and
/// busiest machine too.
pub const TIMEOUT: Duration = Duration::from_secs(180);

/// Waits for a condition that other processes bring about; fails with `what` when it does not come
/// true within [`TIMEOUT`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {TIMEOUT:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// An address of this machine at which connections are refused for as long as the value lives: its
/// port belongs to the other end of a connection, so that nobody else can come to listen there
/// meanwhile.
#[derive(Debug)]
pub struct ClosedPort {
    end: TcpStream,
    _listener: TcpListener,
}

impl ClosedPort {
    /// One that the system chooses.
    #[must_use]
    pub fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        Self { end: TcpStream::connect(address).expect("it listens"), _listener: listener }
    }

    /// Where nobody listens.
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

/// True while a process of this number exists and is no zombie.
#[must_use]
pub fn is_process(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    })
}

/// Numbers of the processes whose command line or working folder holds this text.
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

/// True when any file of a folder (at any depth) holds this text.
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

/// Whether a report in text has the row of a number of clients with so many trials. How many of
/// them are valid is this machine's doing, where they are short; the row has figures when one is.
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
    fn a_row_has_all_trials_and_figures_unless_none_is_valid() {
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
    fn this_process_is_one_and_zombies_are_not() {
        assert!(is_process(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        wait_until("the child ends", || !is_process(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn nobody_can_connect_to_a_closed_port_nor_listen_there() {
        let closed = ClosedPort::new();
        let refused = TcpStream::connect(closed.address()).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        assert!(TcpListener::bind(closed.address()).is_err());
    }

    #[test]
    fn a_text_in_a_folder_is_found_at_any_depth() {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), b"\0secret\0").unwrap();
        assert!(folder_holds(folder.path(), "secret"));
        assert!(!folder_holds(folder.path(), "absent"));
    }
}

//! Runs both programs against a server, and masks what no two runs have in common.

use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::RunningServer;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{TempDir, running_server};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One of the two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Pgbench,
    Dyno,
}

pub(crate) const BOTH: [Program; 2] = [Program::Pgbench, Program::Dyno];

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A server of its own for the tests of this program, and an empty folder.
pub(crate) struct Bench {
    server: RunningServer,
    folder: TempDir,
}

/// PostgreSQL with the standard tables at scale 1. Tests take turns, because the tables are theirs
/// alone.
pub(crate) fn postgres() -> Option<MutexGuard<'static, Bench>> {
    static BENCH: OnceLock<Option<Mutex<Bench>>> = OnceLock::new();
    let bench = BENCH.get_or_init(|| {
        let bench = Bench::start(ServerKind::Postgres)?;
        let made = bench.run(Program::Dyno, &["-i", "-q"]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        Some(Mutex::new(bench))
    });
    bench.as_ref().map(|bench| bench.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the real program is there. Where servers are required it must be.
pub(crate) fn has_pgbench() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let is_there = Command::new("pgbench")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success());
        if !is_there {
            let is_required =
                std::env::var_os(dyno_testkit::REQUIRE_SERVERS).is_some_and(|value| value == "1");
            assert!(!is_required, "the program pgbench is missing: scripts/servers installs it");
            eprintln!("SKIPPED: no comparison, the program pgbench is missing");
        }
        is_there
    })
}

impl Bench {
    pub(crate) fn start(kind: ServerKind) -> Option<Self> {
        // Sessions of the run before may not have ended when the next one begins.
        let settings: &[_] =
            if kind == ServerKind::Postgres { &[("max_connections", "300")] } else { &[] };
        let server = running_server(kind, settings)?;
        Some(Self { server, folder: TempDir::new().expect("a scratch folder can be made") })
    }

    pub(crate) fn target(&self) -> Target {
        self.server.target()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program to its end, with the server in its environment.
    pub(crate) fn run(&self, program: Program, arguments: &[&str]) -> Ended {
        self.run_with(program, arguments, &[])
    }

    pub(crate) fn run_with(
        &self,
        program: Program,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Ended {
        let target = self.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            panic!("servers of tests listen to TCP")
        };
        let mut command = program.command();
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("PGHOST", host)
            .env("PGPORT", port.to_string())
            .env("PGUSER", &target.user)
            .env("PGDATABASE", &target.database)
            .env("PGPASSWORD", target.password.reveal())
            .env("MYSQL_PWD", target.password.reveal())
            .envs(variables.iter().copied());
        ended(&mut command)
    }

    /// Writes a script into the folder.
    pub(crate) fn script(&self, name: &str, text: &str) {
        std::fs::write(self.folder().join(name), text).expect("the scratch folder takes files");
    }

    /// The first field that a query answers with.
    pub(crate) fn first(&self, sql: &str) -> String {
        first(&self.target(), sql)
    }
}

/// The first field that a query answers with.
pub(crate) fn first(target: &Target, sql: &str) -> String {
    let mut connection =
        block_on(Connection::connect(target, &Io::Blocking)).expect("the server takes connections");
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    block_on(connection.close());
    table.first().unwrap_or_default().to_owned()
}

impl Program {
    fn command(self) -> Command {
        match self {
            Self::Pgbench => Command::new("pgbench"),
            Self::Dyno => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
                command.arg("pgbench");
                command
            }
        }
    }

    /// Runs without any server.
    pub(crate) fn run_alone(self, arguments: &[&str]) -> Ended {
        let mut command = self.command();
        // Nobody listens at port 1.
        command.args(arguments).env("PGHOST", "127.0.0.1").env("PGPORT", "1");
        ended(&mut command)
    }
}

fn ended(command: &mut Command) -> Ended {
    command.env("LC_ALL", "C.UTF-8").env_remove("PGBENCH_RANDOM_SEED").stdin(Stdio::null());
    let output = command.output().expect("the program can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

impl Ended {
    /// Without what differs from run to run or from program to program: figures with a point, the
    /// line with the version, and notices.
    pub(crate) fn masked(&self) -> Self {
        Self { code: self.code, stdout: masked(&self.stdout), stderr: masked(&self.stderr) }
    }
}

fn masked(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_other = ["pgbench (", "HINT:", "CONTEXT:", "DETAIL:", "NOTICE:"]
            .iter()
            .any(|start| line.starts_with(start));
        if !is_other {
            // The folder of the program, which getopt puts before its messages.
            let line = line
                .rsplit_once("/bin/pgbench: ")
                .map_or(line.to_owned(), |(_, rest)| format!("pgbench: {rest}"));
            lines.push(mask_figures(&line));
        }
    }
    lines.join("\n")
}

/// Replaces numbers with a point in them, and the blanks that align them; not those of a limit or a
/// share that options gave.
fn mask_figures(line: &str) -> String {
    let is_fixed = line.starts_with("debug(") || line.contains("error:");
    if is_fixed {
        return line.to_owned();
    }
    let mut masked = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        let digits =
            rest[at..].find(|character: char| !character.is_ascii_digit() && character != '.');
        let end = digits.map_or(rest.len(), |length| at + length);
        let number = &rest[at..end];
        masked.push_str(&rest[..at]);
        masked.push_str(if number.contains('.') { "N" } else { number });
        rest = &rest[end..];
    }
    masked.push_str(rest);
    // Figures of tables stand behind blanks that align them.
    let table = masked.trim_start();
    if table.starts_with("N ") { table.to_owned() } else { masked }
}

#[test]
fn figures_are_masked_and_counts_are_not() {
    assert_eq!(mask_figures("latency average = 1.019 ms"), "latency average = N ms");
    assert_eq!(mask_figures("processed: 10/10"), "processed: 10/10");
    assert_eq!(
        mask_figures("debug(script=0,command=1): double 1.5"),
        "debug(script=0,command=1): double 1.5"
    );
}

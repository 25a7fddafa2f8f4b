//! Runs dyno and the real program, and captures output and exit codes.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// Longest run of the suite; whatever takes longer hangs, on a slow and busy machine too.
const LIMIT: Duration = dyno_testkit::TIMEOUT;

/// The two programs compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Sysbench,
    Dyno,
}

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The exit code, or the signal as `signal 11`.
    pub(crate) status: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.stdout.trim_end())?;
        if !self.stderr.is_empty() {
            writeln!(f, "--- stderr\n{}", self.stderr.trim_end())?;
        }
        writeln!(f, "--- exit {}", self.status)
    }
}

impl Program {
    /// Whether the program is there. A missing sysbench is told once; where servers are required it
    /// is an error.
    pub(crate) fn is_available(self) -> bool {
        static SYSBENCH: OnceLock<bool> = OnceLock::new();
        match self {
            Self::Dyno => true,
            Self::Sysbench => *SYSBENCH.get_or_init(|| {
                let version = self.command(&["--version"]).output();
                let is_there = version.is_ok_and(|output| output.status.success());
                if !is_there {
                    let is_required = std::env::var_os(dyno_testkit::REQUIRE_SERVERS)
                        .is_some_and(|value| value == "1");
                    assert!(
                        !is_required,
                        "the program sysbench is missing: scripts/servers installs it"
                    );
                    eprintln!("SKIPPED: no comparison, the program sysbench is missing");
                }
                is_there
            }),
        }
    }

    fn command(self, arguments: &[&str]) -> Command {
        let mut command = match self {
            Self::Sysbench => Command::new("sysbench"),
            Self::Dyno => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
                command.arg("sysbench");
                command
            }
        };
        // The order of sorting and the language of messages must not depend on who runs the tests.
        command
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("LUA_PATH")
            .env_remove("LUA_CPATH");
        command
    }

    /// Runs the program in a folder to its end.
    pub(crate) fn run(self, folder: &Path, arguments: &[&str], stdin: &[u8]) -> Ended {
        self.run_with(&[], folder, arguments, stdin)
    }

    /// The same with variables of the environment.
    pub(crate) fn run_with(
        self,
        environment: &[(String, String)],
        folder: &Path,
        arguments: &[&str],
        stdin: &[u8],
    ) -> Ended {
        let mut command = self.command(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut input = child.stdin.take().expect("its input is a pipe");
        let (mut stdout, mut stderr) = (
            child.stdout.take().expect("its output is a pipe"),
            child.stderr.take().expect("so are its messages"),
        );
        thread::scope(|scope| {
            // Whoever does not read its input closes it.
            scope.spawn(move || drop(input.write_all(stdin)));
            let stdout = scope.spawn(move || text(&mut stdout));
            let stderr = scope.spawn(move || text(&mut stderr));
            let deadline = Instant::now() + LIMIT;
            let status = loop {
                if let Some(status) = child.try_wait().expect("the program can be waited for") {
                    break status.code().map_or_else(
                        || format!("signal {}", status.signal().unwrap_or_default()),
                        |code| code.to_string(),
                    );
                }
                if Instant::now() > deadline {
                    child.kill().expect("the program can be killed");
                    child.wait().expect("the program ends when killed");
                    break format!("none after {LIMIT:?}");
                }
                thread::park_timeout(Duration::from_millis(2));
            };
            let text = |reader: thread::ScopedJoinHandle<'_, String>| {
                reader.join().expect("reading does not fail")
            };
            Ended { status, stdout: text(stdout), stderr: text(stderr) }
        })
    }
}

fn text(pipe: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).expect("a pipe can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

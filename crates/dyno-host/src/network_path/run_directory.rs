//! A process on the network path from the clients to a server: its supervisor and folder, its start
//! on a free port, its end.

use crate::error::{HostError, quoted};
use crate::server::process::{POLL, PORT_ATTEMPTS, free_port, own_folder};
use crate::server::{StartOptions, account, kept_log, log};
use crate::supervisor::{Launch, Owner, StopStep, Supervisor, SupervisorSignal};
use crate::tail::tail;
use dyno_model::reason::Reason;
use dyno_model::target::Target;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Number of lines of its log that are read.
const LOG_MAX: usize = 500;
/// Timeout for it to end by itself.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A running proxy or application server. Dropping it stops it.
pub struct RunningPath {
    supervisor: Supervisor,
    /// Its description for messages.
    pub what: &'static str,
    /// Id of its process.
    pub pid: u32,
    /// The address that clients connect to.
    pub target: Target,
}

impl RunningPath {
    /// How it ended, as the end of a sentence that begins with its name; `None` while it is
    /// running.
    #[must_use]
    pub fn end_reason(&self) -> Option<Reason> {
        self.supervisor.end_reason()
    }

    /// Stops it and removes its folder; returns what failed.
    #[must_use]
    pub fn stop(mut self) -> Vec<String> {
        self.supervisor.end(&stop())
    }
}

/// HAProxy ends at once on SIGTERM and closes open connections. Tomcat ends when its requests are
/// answered.
fn stop() -> Vec<StopStep> {
    vec![StopStep { signal: SupervisorSignal::Terminate, timeout: TIMEOUT }]
}

/// A supervisor with a folder of dyno's own for the process.
pub(super) struct RunDirectory {
    pub(super) supervisor: Supervisor,
    what: &'static str,
    pub(super) owner: Option<Owner>,
    pub(super) folder: PathBuf,
    log: PathBuf,
}

impl RunDirectory {
    /// Creates it. When dyno is root, the process runs as the first existing user of these.
    pub(super) fn make(
        name: &str,
        what: &'static str,
        users: &[&str],
        options: &StartOptions,
    ) -> Result<Self, HostError> {
        let owner = account::without_rights(users);
        let mut supervisor = Supervisor::start(&options.supervisor)?;
        let beside = std::env::temp_dir();
        let folder = own_folder(&mut supervisor, &beside, &format!("dyno-{name}"), owner)
            .map_err(unwritten(&beside))?;
        let log = folder.join("way.log");
        if let Some(logs) = &options.log_dir {
            let made = fs::create_dir_all(logs).and_then(|()| fs::canonicalize(logs));
            let logs = made.map_err(unwritten(logs))?;
            supervisor.keep(log.clone(), kept_log(&logs, &options.name))?;
        }
        Ok(Self { supervisor, what, owner, folder, log })
    }

    /// The end of its log, without Java's stack traces.
    fn words(&self) -> Vec<String> {
        let is_frame =
            |line: &String| [" at ", "\tat ", "\t... "].iter().any(|frame| line.starts_with(frame));
        let mut lines = tail(&self.log, LOG_MAX);
        lines.retain(|line| !is_frame(line));
        lines.split_off(lines.len().saturating_sub(log::SHOWN))
    }

    /// Starts the launch returned by `launch` for a port, and tries another port when that one was
    /// taken, until `ready` succeeds.
    pub(super) fn start(
        self,
        launch: &dyn Fn(u16) -> Result<Launch, HostError>,
        target: &dyn Fn(u16) -> Target,
        check_ready: &dyn Fn(&Target) -> Result<(), NotReady>,
        limit: Duration,
    ) -> Result<RunningPath, HostError> {
        let what = self.what;
        for attempt in 1.. {
            let port = free_port().map_err(unwritten(&self.folder))?;
            let pid = self.supervisor.handle.launch(Launch {
                owner: self.owner,
                log: self.log.clone(),
                stop: stop(),
                ..launch(port)?
            })?;
            let target = target(port);
            let deadline = Instant::now() + limit;
            loop {
                let failure = match check_ready(&target) {
                    Ok(()) => {
                        return Ok(RunningPath { supervisor: self.supervisor, what, pid, target });
                    }
                    Err(failure) => failure,
                };
                if let Some(exit) = self.supervisor.handle.wait_exit(POLL)? {
                    let lines = self.words();
                    if is_port_taken(&lines) && attempt < PORT_ATTEMPTS {
                        break;
                    }
                    let lines = quoted(&lines);
                    return Err(HostError::new(format!(
                        "the {what} {exit} before it was ready{lines}"
                    )));
                }
                if failure.is_final || Instant::now() >= deadline {
                    let log = quoted(&self.words());
                    return Err(HostError::new(format!(
                        "the {what} is running but not usable: {}{log}",
                        failure.text
                    )));
                }
            }
        }
        unreachable!("the last attempt returns")
    }
}

/// Why it is not usable yet.
pub(super) struct NotReady {
    pub(super) text: String,
    /// True when waiting does not help.
    pub(super) is_final: bool,
}

/// The error of a folder or configuration that could not be written.
pub(super) fn unwritten<E: fmt::Display>(path: &Path) -> impl Fn(E) -> HostError {
    move |error| {
        HostError::new(format!("cannot write a configuration to {}: {error}", path.display()))
    }
}

fn is_port_taken(lines: &[String]) -> bool {
    log::is_port_taken(lines) || lines.iter().any(|line| line.contains("cannot bind socket"))
}

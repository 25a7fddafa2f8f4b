//! Proxies that dyno starts in front of a server: on a free port of 127.0.0.1, with a configuration of their own, looked after
//! by a guard as servers are.

use crate::control_connection::ControlConnection;
use crate::error::{HostError, quoted};
use crate::folder::write_private;
use crate::guard::{Exit, Guard, GuardCommand, Launch, StopSignal, StopStep};
use crate::server::process::{free_port, own_folder};
use crate::server::{account, kept_log, log};
use dyno_model::plan::{ProxyKind, ProxyPlan};
use dyno_model::target::{Endpoint, Target};
use std::fmt;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a proxy may take until a session through it answers.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Time between two attempts.
const POLL: Duration = Duration::from_millis(20);
/// How often a lost race for the port is repeated.
const PORT_ATTEMPTS: u32 = 5;
/// Lines of its log that are shown with a failure.
const LOG_LINES: usize = 15;
/// How long it may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections allowed beside those of the clients.
const CONNECTIONS_SPARE: u32 = 50;
/// Users as which it runs when dyno is root.
const USERS: [&str; 2] = ["haproxy", "nobody"];

/// What a start needs besides the plan.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// Name, for its log.
    pub name: String,
    /// How the process is started that outlives dyno to clean up.
    pub guard: GuardCommand,
    /// Folder that its log is copied to.
    pub log_dir: Option<PathBuf>,
    /// Connections that clients need at once.
    pub connections: u32,
}

/// Where the program of a proxy is, and the version it tells.
///
/// # Errors
/// When there is none.
pub fn locate(kind: ProxyKind) -> Result<(PathBuf, String), HostError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let found = std::env::split_paths(&path)
        .chain(usual)
        .map(|folder| folder.join(kind.name()))
        .find(|file| file.is_file());
    let program = found.ok_or_else(|| {
        HostError::new(format!(
            "no {0} found in PATH, /usr/sbin and /usr/local/sbin\nhint: install it; on Debian: apt-get install {0}",
            kind.name()
        ))
    })?;
    let told = Command::new(&program).arg("-v").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = told.split_whitespace().skip_while(|word| *word != "version").nth(1).unwrap_or_default();
    Ok((program, version.to_owned()))
}

/// A proxy that runs. Dropping it stops it.
pub struct RunningProxy {
    guard: Guard,
    /// The version it tells.
    pub version: String,
    /// How clients reach the server through it.
    pub target: Target,
}

impl RunningProxy {
    /// How it ended, as the end of a sentence that begins with its name; `None` while it runs.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        match self.guard.exit() {
            Some(exit) => Some(exit.to_string()),
            None => {
                (!self.guard.is_there()).then(|| "lost the process that guards it (dyno guard)".to_owned())
            }
        }
    }

    /// Stops it and removes its folder; returns what did not work.
    #[must_use]
    pub fn stop(mut self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.guard.exit().is_none()
            && let Err(error) = self.guard.stop(&stop())
        {
            problems.push(error.to_string());
        }
        problems.extend(self.guard.finish());
        problems
    }
}

fn stop() -> Vec<StopStep> {
    // HAProxy ends at once at SIGTERM; connections that are open are closed.
    vec![StopStep::new(StopSignal::Terminate, PATIENCE)]
}

/// Starts a proxy in front of the server that `server` reaches, and waits until a session through it answers.
///
/// # Errors
/// When there is no program, it does not start, or no session through it answers. Nothing is left behind then.
pub fn start(plan: &ProxyPlan, server: &Target, options: &ProxyOptions) -> Result<RunningProxy, HostError> {
    let Endpoint::Tcp { host, port } = &server.endpoint else {
        return Err(HostError::new(format!(
            "a proxy needs a server that listens on TCP, and this one is at {}",
            server.endpoint
        )));
    };
    let (program, version) = locate(plan.kind)?;
    let owner = account::without_rights(&USERS);
    let mut guard = Guard::start(&options.guard)?;
    let beside = std::env::temp_dir();
    let folder = own_folder(&mut guard, &beside, &format!("dyno-{}", plan.kind.name()), owner)
        .map_err(unwritten(&beside))?;
    let log = folder.join("proxy.log");
    if let Some(logs) = &options.log_dir {
        let made = fs::create_dir_all(logs).and_then(|()| fs::canonicalize(logs));
        let logs = made.map_err(unwritten(logs))?;
        guard.keep(log.clone(), kept_log(&logs, &options.name))?;
    }
    let configuration = folder.join("proxy.cfg");
    for attempt in 1.. {
        let own = free_port().map_err(unwritten(&configuration))?;
        let text = haproxy(plan, own, (host, *port), options.connections.saturating_add(CONNECTIONS_SPARE));
        write_private(&folder, "proxy.cfg", &text, owner).map_err(unwritten(&configuration))?;
        guard.launch(Launch {
            program: program.clone(),
            arguments: ["-db", "-f"]
                .map(str::to_owned)
                .into_iter()
                .chain([configuration.display().to_string()])
                .collect(),
            owner,
            folder: folder.clone(),
            log: log.clone(),
            stop: stop(),
            ..Launch::default()
        })?;
        let endpoint = Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: own };
        let target = Target { endpoint, ..server.clone() };
        match wait_ready(&guard, &target, &log)? {
            None => return Ok(RunningProxy { guard, version, target }),
            Some(exit) => {
                let lines = log::tail(&log, LOG_LINES);
                if !is_port_taken(&lines) || attempt >= PORT_ATTEMPTS {
                    return Err(HostError::new(format!(
                        "the proxy {exit} before it was ready{}",
                        quoted(&lines)
                    )));
                }
            }
        }
    }
    unreachable!("the last attempt returns")
}

/// Its folder or configuration could not be written.
fn unwritten<E: fmt::Display>(path: &Path) -> impl Fn(E) -> HostError {
    move |error| HostError::new(format!("cannot write the proxy's configuration {}: {error}", path.display()))
}

fn is_port_taken(lines: &[String]) -> bool {
    log::is_port_taken(lines) || lines.iter().any(|line| line.contains("cannot bind socket"))
}

/// Passes TCP on and nothing else: no health checks, no limits of time but for connecting, no logs of connections.
fn haproxy(plan: &ProxyPlan, own: u16, server: (&str, u16), connections: u32) -> String {
    let threads = plan.threads.map_or(String::new(), |threads| format!("    nbthread {threads}\n"));
    let (host, port) = server;
    format!(
        "global\n    maxconn {connections}\n{threads}\n\
         defaults\n    mode tcp\n    maxconn {connections}\n    timeout connect 10s\n    timeout client 24d\n    timeout server 24d\n\n\
         listen dyno\n    bind 127.0.0.1:{own}\n    server behind {host}:{port}\n"
    )
}

/// Waits until a session through the proxy answers; `Some` when the proxy has ended instead.
fn wait_ready(guard: &Guard, target: &Target, log: &Path) -> Result<Option<Exit>, HostError> {
    let deadline = Instant::now() + READY_LIMIT;
    loop {
        let failure = match ControlConnection::open(target) {
            Ok(_) => return Ok(None),
            Err(failure) => failure,
        };
        if let Some(exit) = guard.wait_exit(POLL)? {
            return Ok(Some(exit));
        }
        if Instant::now() >= deadline {
            let log = quoted(&log::tail(log, LOG_LINES));
            return Err(HostError::new(format!("no session through the proxy answers: {failure}{log}")));
        }
    }
}

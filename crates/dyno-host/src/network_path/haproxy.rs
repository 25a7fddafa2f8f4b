//! HAProxy as a TCP proxy.

use super::run_directory::{NotReady, RunDirectory, RunningPath, unwritten};
use crate::ask::ask;
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::folder::write_private;
use crate::server::StartOptions;
use crate::supervisor::Launch;
use dyno_model::plan::{ProxyKind, ProxyPlan};
use dyno_model::target::{Endpoint, Target};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Timeout until a session through it answers.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Connections allowed in addition to those of the clients.
const CONNECTIONS_SPARE: u32 = 50;
/// Users to run as when dyno is root.
const USERS: [&str; 2] = ["haproxy", "nobody"];

/// Path of the program, and its version.
pub(super) fn locate(kind: ProxyKind) -> Result<(PathBuf, String), HostError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let found = std::env::split_paths(&path)
        .chain(usual)
        .map(|folder| folder.join(kind.name()))
        .find(|file| file.is_file());
    let program = found.ok_or_else(|| {
        HostError::new(format!(
            "no {0} found in PATH, /usr/sbin and /usr/local/sbin\nhint: install it; on Debian: \
             apt-get install {0}",
            kind.name()
        ))
    })?;
    let mut command = Command::new(&program);
    let output = ask(command.arg("-v").stdout(Stdio::piped()).stderr(Stdio::null()));
    let output = output.map(|answer| answer.text).unwrap_or_default();
    let version =
        output.split_whitespace().skip_while(|word| *word != "version").nth(1).unwrap_or_default();
    Ok((program, version.to_owned()))
}

/// Starts it in front of `server`.
pub(super) fn start(
    plan: &ProxyPlan,
    server: &Target,
    options: &StartOptions,
) -> Result<RunningPath, HostError> {
    let Endpoint::Tcp { host, port } = server.opened_at() else {
        return Err(HostError::new(format!(
            "a proxy needs a server that listens on TCP, but this one is at {}",
            server.endpoint
        )));
    };
    let (program, _) = locate(plan.kind)?;
    let run_directory = RunDirectory::make(plan.kind.name(), "proxy", &USERS, options)?;
    let (folder, owner) = (run_directory.folder.clone(), run_directory.owner);
    let connections = options.connections.saturating_add(CONNECTIONS_SPARE);
    let launch = |own: u16| {
        let text = configuration(plan, own, (host, *port), connections);
        let file = write_private(&folder, "proxy.cfg", &text, owner).map_err(unwritten(&folder))?;
        let arguments = ["-db".to_owned(), "-f".to_owned(), file.display().to_string()].into();
        Ok(Launch {
            program: program.clone(),
            arguments,
            folder: folder.clone(),
            ..Launch::default()
        })
    };
    let target = |own: u16| {
        let endpoint = Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: own };
        Target { detour: Some(endpoint), ..server.clone() }
    };
    let check_ready = |target: &Target| match ControlConnection::open(target) {
        Ok(_) => Ok(()),
        Err(failure) => Err(NotReady {
            text: format!("no session through it answers: {failure}"),
            is_final: false,
        }),
    };
    run_directory.start(&launch, &target, &check_ready, READY_LIMIT)
}

/// Forwards TCP and nothing else: no health checks, no timeouts except for connecting, no logs of
/// connections.
fn configuration(plan: &ProxyPlan, own: u16, server: (&str, u16), connections: u32) -> String {
    let threads = plan.threads.map_or(String::new(), |threads| format!("    nbthread {threads}\n"));
    let (host, port) = server;
    format!(
        "global\n    maxconn {connections}\n{threads}\n\
         defaults\n    mode tcp\n    maxconn {connections}\n    timeout connect 10s\n    timeout \
         client 24d\n    timeout server 24d\n\n\
         listen dyno\n    bind 127.0.0.1:{own}\n    server behind {host}:{port}\n"
    )
}

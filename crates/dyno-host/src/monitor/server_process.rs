//! Finds the process of a server that dyno did not start, if it is on this machine.

use crate::control_connection::ControlConnection;
use crate::engine::queries;
use dyno_model::target::Target;
use std::fs;

/// Id of the server's process, if it can be found and is a database server on this machine. Servers
/// in containers report other ids; an id that does not fit is ignored.
#[must_use]
pub fn find_server(target: &Target) -> Option<u32> {
    let server = queries(target.engine).server.as_ref()?;
    let pid = (server.process)(&mut ControlConnection::open(target).ok()?)?;
    runs(pid, server.programs).then_some(pid)
}

/// Hints of a server on another machine about its process. The session must stay open until the
/// process is found, because PostgreSQL's is found by it.
pub(super) fn traces(target: &Target) -> Option<(Vec<String>, ControlConnection)> {
    let server = queries(target.engine).server.as_ref()?;
    let mut session = ControlConnection::open(target).ok()?;
    Some(((server.traces)(&mut session), session))
}

/// The program may be started by another one, such as a dynamic loader, and is then among the
/// arguments.
fn runs(pid: u32, programs: &[&str]) -> bool {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let name = |argument: &[u8]| {
        let path = String::from_utf8_lossy(argument);
        // PostgreSQL appends its activity to its process title.
        let path = path.split([' ', ':']).next().unwrap_or_default();
        path.rsplit('/').next().is_some_and(|name| programs.contains(&name))
    };
    arguments.split(|byte| *byte == 0).any(name)
}

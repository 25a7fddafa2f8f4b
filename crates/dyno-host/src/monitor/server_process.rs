//! The process of a server that dyno did not start, when it is on this machine.

use super::processes::children;
use super::remote::Traces;
use crate::folder::read_beginning;
use crate::session::Session;
use dyno_model::target::{Engine, Target};
use std::fs;
use std::path::Path;

/// Names of servers' programs.
const PROGRAMS: [&str; 4] = ["mysqld", "mariadbd", "postgres", "postmaster"];

/// More than the digits of a process's number, and a line's end.
const PID_BYTES_MAX: u64 = 32;

/// Number of the server's process, if it can be found out and is a database server on this machine. Servers in containers
/// have other numbers inside; what does not fit is not believed.
#[must_use]
pub fn find_server(target: &Target) -> Option<u32> {
    let mut session = Session::open(target).ok()?;
    let pid = match target.engine {
        Engine::Mysql => {
            let file = session.first("SELECT @@pid_file").ok()??;
            let text = read_beginning(Path::new(&file), PID_BYTES_MAX).ok()?;
            String::from_utf8(text).ok()?.trim().parse().ok()?
        }
        Engine::Postgres => {
            let backend: u32 = session.first("SELECT pg_backend_pid()").ok()??.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{backend}/stat")).ok()?;
            let postmaster = super::procfs::process_stat(&stat)?.parent;
            children(postmaster).contains(&backend).then_some(postmaster)?
        }
        Engine::Sqlite | Engine::Null => return None,
    };
    is_server(pid).then_some(pid)
}

/// What a server on another machine says of its process. The session must stay until the process was found: it is what
/// PostgreSQL's is found by.
pub(super) fn traces(target: &Target) -> (Traces, Option<Session>) {
    let mut traces = Traces { words: Vec::new(), engine: Some(target.engine) };
    let Ok(mut session) = Session::open(target) else { return (traces, None) };
    let mut first =
        |sql: &str| session.first(sql).ok().flatten().filter(|text| !text.contains(char::is_whitespace));
    match target.engine {
        Engine::Mysql => {
            let files = first("SELECT @@pid_file").map(|file| match file.starts_with('/') {
                true => Some(format!("file:{file}")),
                false => Some(format!("file:{}{file}", first("SELECT @@datadir")?)),
            });
            traces.words.extend(files.flatten());
            // The file is often for the server's account only.
            traces.words.extend(["name:mariadbd", "name:mysqld"].map(str::to_owned));
        }
        Engine::Postgres => {
            traces.words.extend(first("SELECT pg_backend_pid()").map(|backend| format!("session:{backend}")));
        }
        Engine::Sqlite | Engine::Null => {}
    }
    (traces, Some(session))
}

/// The program may be started by another, such as a loader of libraries; it is then among the arguments.
fn is_server(pid: u32) -> bool {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let name = |argument: &[u8]| {
        let path = String::from_utf8_lossy(argument);
        // PostgreSQL writes what it does behind its name.
        let path = path.split([' ', ':']).next().unwrap_or_default();
        path.rsplit('/').next().is_some_and(|name| PROGRAMS.contains(&name))
    };
    arguments.split(|byte| *byte == 0).any(name)
}

//! Queries of preflight to servers and this machine.

pub use crate::engine::{ConnectionLimit, ForeignSession};

use crate::control_connection::ControlConnection;
use crate::engine::queries;
use dyno_drivers::own_sessions;
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::io;
use std::path::Path;

/// The number of connections that a server accepts; `None` without a limit.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn connection_limit(target: &Target) -> Result<Option<ConnectionLimit>, OperationFailure> {
    let Some(server) = &queries(target.engine).server else { return Ok(None) };
    (server.connection_limit)(&mut ControlConnection::open(target)?).map(Some)
}

/// Sessions of others on the server, without the querying one and those that this process opened
/// for queries and that may be closing. Used before a run, when dyno has no clients.
///
/// # Errors
/// When the system cannot be reached or refuses to answer. An account that may not see others gets
/// none.
pub fn foreign_sessions(target: &Target) -> Result<Vec<ForeignSession>, OperationFailure> {
    let Some(server) = &queries(target.engine).server else { return Ok(Vec::new()) };
    let mut asking = ControlConnection::open(target)?;
    let rows = asking.rows(server.foreign_sessions)?;
    let session = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().unwrap_or_default();
        let number = next().parse().unwrap_or(0);
        (number, ForeignSession { user: next(), from: next(), database: next(), state: next() })
    };
    let listed: Vec<(u32, ForeignSession)> = rows.into_iter().map(session).collect();
    // The querying session is missing in its own list, but is in the next one.
    let numbers: Vec<u32> =
        listed.iter().map(|(number, _)| *number).chain(asking.session_number()).collect();
    let own = own_sessions::among(&target.endpoint, &numbers);
    Ok(listed
        .into_iter()
        .filter(|(number, _)| !own.contains(number))
        .map(|(_, session)| session)
        .collect())
}

/// Whether writes are replicated. What the account may not see counts as absent.
///
/// # Errors
/// When the system cannot be reached.
pub fn is_replicated(target: &Target) -> Result<bool, OperationFailure> {
    let Some(server) = &queries(target.engine).server else { return Ok(false) };
    Ok((server.is_replicated)(&mut ControlConnection::open(target)?))
}

/// Why the server that answers at the address of a target refuses to write: the name of a setting;
/// `None` if it does not.
///
/// # Errors
/// When the system cannot be reached.
pub fn refuses_writes(target: &Target) -> Result<Option<String>, OperationFailure> {
    let Some(server) = &queries(target.engine).server else { return Ok(None) };
    let mut session = ControlConnection::open(target)?;
    // A server that does not understand the question does not refuse; a null server answers
    // something else.
    let setting = session.first(server.refuses_writes).unwrap_or_default();
    Ok(setting.filter(|name| name.ends_with("read_only")))
}

/// Whether a pooler is in front of a server, which may run each transaction in another session:
/// settings of a session then apply to whoever gets it next.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn is_pooled(target: &Target) -> Result<bool, OperationFailure> {
    let server = queries(target.engine).server.as_ref();
    let Some(pooled) = server.and_then(|server| server.lock.pooled.as_ref()) else {
        return Ok(false);
    };
    pooled.changes_sessions(&mut ControlConnection::open(target)?)
}

/// Space on a disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Available to an ordinary user.
    pub free: u64,
    /// Total.
    pub total: u64,
}

/// Space on the file system of a path.
///
/// # Errors
/// When the path does not exist.
pub fn disk_space(path: &Path) -> io::Result<DiskSpace> {
    let statistics = rustix::fs::statvfs(path)?;
    Ok(DiskSpace {
        free: statistics.f_bavail.saturating_mul(statistics.f_frsize),
        total: statistics.f_blocks.saturating_mul(statistics.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_and_used_connections_are_not_available() {
        let limit = ConnectionLimit { max: 100, reserved: 3, in_use: 7, per_user: None };
        assert_eq!(limit.available(), 90);
        assert_eq!(ConnectionLimit { per_user: Some(20), ..limit }.available(), 20);
        assert_eq!(ConnectionLimit { in_use: 99, ..limit }.available(), 0);
    }

    #[test]
    fn disk_space_is_reported_and_a_missing_path_is_an_error() {
        assert!(disk_space(&std::env::temp_dir()).unwrap().free > 0);
        assert_eq!(
            disk_space(Path::new("/nonexistent")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}

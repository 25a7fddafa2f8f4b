//! The number of files that a process opens for its connections, and its limit. All commands use
//! this module.
//!
//! Measured maximum of open files of `dyno run` (scripts of `rush`, one trial):
//!
//! | engine | 50 clients | 200 clients | per client |
//! |---|---:|---:|---|
//! | MariaDB | 69 | 219 | a socket |
//! | PostgreSQL | 71 | 225 | a socket |
//! | SQLite, rollback journal | 68 | 218 | the database; the writing one also opens the journal |
//! | SQLite, write-ahead log | 119 | 419 | the database and its log; the log's index is shared |
//! | null | 17 | 17 (500 clients) | nothing |

use dyno_model::target::Engine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that a process opens besides those of its connections: results, logs, event loops, pipes
/// of supervisors, connections for queries. Measured: 17 to 25.
pub const OTHER_FILES: u64 = 64;

/// Too few open files are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{connections} clients need up to {needed} open files, but this process may open only {allowed}"
)]
pub struct OpenFileLimitError {
    /// Number of connections.
    pub connections: u32,
    /// Number of files needed, including other files.
    pub needed: u64,
    /// Number of files that this process may open.
    pub allowed: u64,
}

impl OpenFileLimitError {
    /// The remedy.
    #[must_use]
    pub fn remedy(&self) -> String {
        format!("ulimit -n {}", self.needed)
    }
}

/// Raises this process's limit of open files as far as possible, and checks whether it allows this
/// many connections.
///
/// # Errors
/// [`OpenFileLimitError`] when it does not.
pub fn make_room(engine: Engine, connections: u32) -> Result<(), OpenFileLimitError> {
    check(engine, connections, raise_limit())
}

fn check(engine: Engine, connections: u32, allowed: u64) -> Result<(), OpenFileLimitError> {
    let needed = u64::from(connections) * engine.traits().files_per_connection + OTHER_FILES;
    if needed <= allowed {
        Ok(())
    } else {
        Err(OpenFileLimitError { connections, needed, allowed })
    }
}

/// Raises this process's limit of open files as far as possible; returns the effective limit,
/// `u64::MAX` for none. If it cannot be raised, the old limit stays.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_need_as_many_files_as_their_engine_opens() {
        for engine in [Engine::Mysql, Engine::Postgres] {
            assert_eq!(check(engine, 10_000, 20_000), Ok(()), "{engine}");
            let error = check(engine, 20_000, 20_000).unwrap_err();
            assert_eq!(
                error.to_string(),
                "20000 clients need up to 20064 open files, but this process may open only \
                 20000"
            );
            assert_eq!(error.remedy(), "ulimit -n 20064");
        }
        assert!(
            check(Engine::Sqlite, 9_900, 20_000).is_ok()
                && check(Engine::Sqlite, 10_000, 20_000).is_err()
        );
        assert!(check(Engine::Null, 1_000_000, 100).is_ok());
    }

    #[test]
    fn the_limit_is_raised_to_the_maximum() {
        let raised = raise_limit();
        assert_eq!(raised, getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX));
        assert_eq!(make_room(Engine::Mysql, 1), Ok(()));
    }
}

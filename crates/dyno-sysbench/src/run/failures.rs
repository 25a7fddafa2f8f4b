//! A database's failures of native workloads, in the words that sysbench's log has for them: scripts and people search
//! for these. Lua scripts tell their own.

use crate::logger::Logger;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Connecting, or preparing statements: which of them, the failure tells.
    Starting,
    /// This text was sent.
    Query(&'a str),
    /// This statement was executed in an event.
    Event(&'a str),
}

/// Numbers of MySQL's library for a server that is not there: by socket, and by TCP.
const NO_SOCKET: u32 = 2002;
const NO_HOST: u32 = 2003;

/// Number of MySQL's library for a connection that broke, and the state of everything that has no other.
const LOST: (u32, &str) = (2013, "HY000");
/// A database that is not there, which a server says when somebody connects.
const NO_DATABASE: (u32, &str) = (1049, "3D000");

/// Tells a failure as fatal lines of the log.
pub fn tell(logger: &Logger, action: Action<'_>, failure: &OperationFailure, target: &Target) {
    for line in lines(action, failure, target) {
        logger.fatal(&line);
    }
}

fn lines(action: Action<'_>, failure: &OperationFailure, target: &Target) -> Vec<String> {
    let has_no_database = failure.code == NO_DATABASE.0 || failure.sqlstate == NO_DATABASE.1;
    if is_connecting(failure.kind) || action == Action::Starting && has_no_database {
        return connecting(failure, target);
    }
    let is_lost =
        target.engine == Engine::Mysql && failure.kind == FailureKind::ConnectionLost && failure.code == 0;
    let (code, state) = if is_lost { LOST } else { (failure.code, &*failure.sqlstate) };
    let message = &failure.message;
    let mut lines = match (target.engine, action) {
        (Engine::Postgres, Action::Starting) => vec![format!("PQprepare() failed: 7 {message}")],
        (Engine::Postgres, Action::Query(query)) => {
            vec![format!("PQexec() failed: 7 {message}"), format!("failed query was: {query}")]
        }
        (Engine::Postgres, Action::Event(query)) => {
            vec![format!("PQexecPrepared() failed: 7 {message}"), format!("failed query was: {query}")]
        }
        (Engine::Sqlite, Action::Starting) => vec![format!("SQLite returned error {code} ({message})")],
        (Engine::Sqlite, Action::Query(query) | Action::Event(query)) => {
            vec![format!("SQLite returned error {code} ({message}) for query '{query}'")]
        }
        (_, Action::Starting) => {
            vec!["mysql_stmt_prepare() failed".to_owned(), format!("MySQL error: {code} \"{message}\"")]
        }
        (_, Action::Query(query)) => {
            vec![format!("mysql_drv_query() returned error {code} ({message}) for query '{query}'")]
        }
        (_, Action::Event(query)) => {
            vec![format!("mysql_stmt_execute() returned error {code} ({message}) for query '{query}'")]
        }
    };
    if let Action::Event(_) = action {
        let text = format!("SQL error, errno = {code}, state = '{state}': {message}");
        lines.push(super::commands::failed("thread_run", &text));
    }
    lines
}

fn connecting(failure: &OperationFailure, target: &Target) -> Vec<String> {
    let message = &failure.message;
    match target.engine {
        Engine::Postgres => return vec![format!("Connection to database failed: {message}")],
        Engine::Sqlite => return vec![format!("unable to open the database {}: {message}", target.endpoint)],
        Engine::Mysql | Engine::Null => {}
    }
    let (place, number) = match &target.endpoint {
        Endpoint::Tcp { host, port } => (format!("host '{host}', port {port}"), NO_HOST),
        other => (format!("socket '{other}'"), NO_SOCKET),
    };
    let code = if failure.code == 0 { number } else { failure.code };
    vec![
        format!("unable to connect to MySQL server on {place}, aborting..."),
        format!("error {code}: {message}"),
    ]
}

fn is_connecting(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::ConnectRefused
            | FailureKind::Authentication
            | FailureKind::OutOfConnections
            | FailureKind::NotReady
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(engine: Engine) -> Target {
        Target::new(engine, Endpoint::Tcp { host: "db".into(), port: 1 })
    }

    #[test]
    fn failures_are_told_in_the_words_that_people_search_for() {
        let refused = OperationFailure::new(FailureKind::ConnectRefused, "refused");
        let exists = OperationFailure {
            kind: FailureKind::BadStatement,
            code: 1050,
            sqlstate: "42S01".into(),
            message: "exists".into(),
        };
        let missing = OperationFailure {
            kind: FailureKind::BadStatement,
            code: 1049,
            sqlstate: "42000".into(),
            message: "unknown".into(),
        };
        let lost = OperationFailure::new(FailureKind::ConnectionLost, "it broke");
        let rows: [(Vec<String>, &[&str]); 8] = [
            (
                lines(Action::Starting, &refused, &target(Engine::Mysql)),
                &[
                    "unable to connect to MySQL server on host 'db', port 1, aborting...",
                    "error 2003: refused",
                ],
            ),
            (
                lines(Action::Starting, &refused, &target(Engine::Postgres)),
                &["Connection to database failed: refused"],
            ),
            (
                lines(Action::Starting, &missing, &target(Engine::Mysql)),
                &[
                    "unable to connect to MySQL server on host 'db', port 1, aborting...",
                    "error 1049: unknown",
                ],
            ),
            (
                lines(Action::Event("SELECT 1"), &lost, &target(Engine::Mysql)),
                &[
                    "mysql_stmt_execute() returned error 2013 (it broke) for query 'SELECT 1'",
                    "`thread_run' function failed: SQL error, errno = 2013, state = 'HY000': it broke",
                ],
            ),
            (
                lines(Action::Starting, &exists, &target(Engine::Mysql)),
                &["mysql_stmt_prepare() failed", "MySQL error: 1050 \"exists\""],
            ),
            (
                lines(Action::Query("CREATE"), &exists, &target(Engine::Mysql)),
                &["mysql_drv_query() returned error 1050 (exists) for query 'CREATE'"],
            ),
            (
                lines(Action::Query("CREATE"), &exists, &target(Engine::Postgres)),
                &["PQexec() failed: 7 exists", "failed query was: CREATE"],
            ),
            (
                lines(Action::Event("insert"), &exists, &target(Engine::Mysql)),
                &[
                    "mysql_stmt_execute() returned error 1050 (exists) for query 'insert'",
                    "`thread_run' function failed: SQL error, errno = 1050, state = '42S01': exists",
                ],
            ),
        ];
        for (told, expected) in rows {
            assert_eq!(told, expected);
        }
    }
}

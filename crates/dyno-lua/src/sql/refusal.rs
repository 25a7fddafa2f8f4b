//! Errors as scripts see them. The engine-specific parts are in
//! [`dyno_model::engine::SysbenchDriver`].

use dyno_drivers::address::may_want_encryption;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};

/// The consequence of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The event is retried.
    Ignorable = 1,
    /// The run ends, unless the script's hook ignores the error.
    Fatal = 2,
}

/// An error of a database, as a script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) verdict: Verdict,
    /// MySQL's number, SQLite's code; 0 for PostgreSQL.
    pub(crate) errno: u32,
    pub(crate) state: String,
    pub(crate) message: String,
    /// The statement; the text of a prepared one is not in the script's table, as in sysbench.
    pub(crate) query: String,
}

/// The error number and SQLSTATE for scripts and sysbench's log.
#[must_use]
pub fn codes(driver: Engine, failure: &OperationFailure) -> (u32, String) {
    reported(failure, driver, driver.sysbench().lost)
}

/// As [`codes`], of a statement on a connection that was already broken.
pub(crate) fn codes_on_broken(driver: Engine, failure: &OperationFailure) -> (u32, String) {
    reported(failure, driver, driver.sysbench().lost_before)
}

fn reported(failure: &OperationFailure, driver: Engine, lost: (u32, &str)) -> (u32, String) {
    let (code, state) = match (failure.code, failure.sqlstate.as_str()) {
        (0, "") if is_connection_lost(failure) => lost,
        (code, "") => (code, driver.sysbench().no_state),
        reported => reported,
    };
    (code, state.to_owned())
}

/// Whether a failure means that the connection is lost. A time limit of the server ends only the
/// statement.
pub(crate) fn is_connection_lost(failure: &OperationFailure) -> bool {
    let is_reported_by_server = failure.code != 0 || !failure.sqlstate.is_empty();
    match failure.kind {
        FailureKind::ConnectionLost => true,
        FailureKind::Timeout | FailureKind::Protocol => !is_reported_by_server,
        _ => false,
    }
}

/// What sysbench logs when no connection can be opened.
#[must_use]
pub fn connect_lines(target: &Target, failure: &OperationFailure) -> Vec<String> {
    let words = target.engine.sysbench();
    let tcp = match &target.endpoint {
        Endpoint::Tcp { host, port } => Some((host.as_str(), *port)),
        _ => None,
    };
    let mut lines =
        (words.unreachable)(tcp, &target.endpoint.to_string(), failure.code, &failure.message);
    // A wrong password is reported as in sysbench.
    if may_want_encryption(failure, target) && failure.code != 1045 {
        let option = words.encrypting;
        lines.push(format!(
            "the connection was not encrypted; if the server requires encryption, add {option}"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::engine::Sending;

    #[test]
    fn a_lost_connection_has_the_error_number_that_scripts_check() {
        let lost = FailureKind::ConnectionLost.failure("the server closed the connection");
        assert_eq!(codes(Engine::Mysql, &lost), (2013, "HY000".to_owned()));
        assert_eq!(codes_on_broken(Engine::Mysql, &lost), (2006, "HY000".to_owned()));
        assert_eq!(codes(Engine::Postgres, &lost), (0, "08006".to_owned()));
    }

    #[test]
    fn a_statement_ended_by_the_server_keeps_the_connection() {
        let own = FailureKind::Timeout.failure("no answer in time");
        let servers = OperationFailure {
            code: 3024,
            sqlstate: "HY000".into(),
            ..FailureKind::Timeout.failure("maximum statement execution time exceeded")
        };
        assert!(is_connection_lost(&own));
        assert!(!is_connection_lost(&servers));
    }

    #[test]
    fn log_lines_equal_those_of_sysbench() {
        let missing = "Table 'sbtest.nosuch' doesn't exist";
        let lines = |engine: Engine, sending| {
            (engine.sysbench().refused)(sending, 1146, missing, Some("SELECT * FROM nosuch"))
        };
        assert_eq!(
            lines(Engine::Mysql, Sending::Query),
            [
                "mysql_drv_query() returned error 1146 (Table 'sbtest.nosuch' doesn't exist) for query 'SELECT * FROM nosuch'"
            ]
        );
        assert_eq!(
            lines(Engine::Mysql, Sending::Prepare)[1],
            "MySQL error: 1146 \"Table 'sbtest.nosuch' doesn't exist\""
        );
        assert_eq!(
            lines(Engine::Postgres, Sending::Query),
            [
                "PQexec() failed: 7 Table 'sbtest.nosuch' doesn't exist",
                "failed query was: SELECT * FROM nosuch"
            ]
        );
        let tcp = |engine| Target::new(engine, Endpoint::Tcp { host: "db".to_owned(), port: 1 });
        let failure = FailureKind::ConnectRefused.failure("refused");
        let host = "unable to connect to MySQL server on host 'db', port 1, aborting...";
        assert_eq!(connect_lines(&tcp(Engine::Mysql), &failure), [host, "error 2003: refused"]);
        let open = OperationFailure {
            kind: FailureKind::Authentication,
            sqlstate: "28000".into(),
            ..failure
        };
        assert_eq!(
            connect_lines(&tcp(Engine::Postgres), &open),
            [
                "Connection to database failed: refused",
                "the connection was not encrypted; if the server requires encryption, add --pgsql-sslmode=require"
            ]
        );
    }
}

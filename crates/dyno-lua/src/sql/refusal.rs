//! Errors as sysbench words them.

use dyno_drivers::address::may_want_encryption;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};

/// Which of sysbench's drivers a script speaks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriverName {
    Mysql,
    Postgres,
    Sqlite,
}

impl DriverName {
    pub(crate) const ALL: [Self; 3] = [Self::Mysql, Self::Postgres, Self::Sqlite];

    /// As in `--db-driver`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Postgres => "pgsql",
            Self::Sqlite => "sqlite",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|driver| driver.name() == name)
    }
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Query,
    Prepare,
    Execute,
}

/// What happens after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The event is tried again.
    Ignorable,
    /// The run ends, unless the script's hook forgives.
    Fatal,
}

/// An error of a database, as a script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) verdict: Verdict,
    /// MySQL's number, SQLite's code; 0 for PostgreSQL.
    pub(crate) errno: u32,
    pub(crate) state: String,
    pub(crate) message: String,
    /// The statement; that of a prepared one is not shown in the script's table, as in sysbench.
    pub(crate) query: String,
}

/// Client-side errors of the MySQL protocol, by the numbers that MySQL's own library gives them.
const GONE_AWAY: u32 = 2006;
const LOST_IN_QUERY: u32 = 2013;
/// Errors after which a connection is of no use: the two above, and 2011 and 2055, which proxies and sockets give.
pub(crate) const CONNECTION_ERRORS: [u32; 4] = [GONE_AWAY, LOST_IN_QUERY, 2011, 2055];

/// SQLSTATE for a lost connection, where the server could not send one.
const CONNECTION_FAILURE: &str = "08006";

/// The number and state that a script sees.
pub(crate) fn codes(driver: DriverName, failure: &OperationFailure, was_broken: bool) -> (u32, String) {
    let is_lost = is_connection_lost(failure);
    match driver {
        DriverName::Mysql if failure.code == 0 && is_lost => {
            let errno = if was_broken { GONE_AWAY } else { LOST_IN_QUERY };
            (errno, "HY000".to_owned())
        }
        DriverName::Mysql if failure.sqlstate.is_empty() => (failure.code, "00000".to_owned()),
        DriverName::Postgres if failure.sqlstate.is_empty() && is_lost => (0, CONNECTION_FAILURE.to_owned()),
        DriverName::Postgres => (0, failure.sqlstate.clone()),
        _ => (failure.code, failure.sqlstate.clone()),
    }
}

/// Whether a failure leaves no connection behind. A time limit of the server's own ends the statement and nothing more.
pub(crate) fn is_connection_lost(failure: &OperationFailure) -> bool {
    let is_told_by_server = failure.code != 0 || !failure.sqlstate.is_empty();
    match failure.kind {
        FailureKind::ConnectionLost => true,
        FailureKind::Timeout | FailureKind::Protocol => !is_told_by_server,
        _ => false,
    }
}

/// What sysbench logs about a fatal error, one line each.
pub(crate) fn log_lines(driver: DriverName, action: Action, refusal: &Refusal) -> Vec<String> {
    let Refusal { errno, message, query, .. } = refusal;
    match (driver, action) {
        (DriverName::Mysql, Action::Query) => {
            vec![format!("mysql_drv_query() returned error {errno} ({message}) for query '{query}'")]
        }
        (DriverName::Mysql, Action::Execute) => {
            vec![format!("mysql_stmt_execute() returned error {errno} ({message}) for query '{query}'")]
        }
        (DriverName::Mysql, Action::Prepare) => {
            vec!["mysql_stmt_prepare() failed".to_owned(), format!("MySQL error: {errno} \"{message}\"")]
        }
        (DriverName::Postgres, action) => {
            let call = match action {
                Action::Query => "PQexec",
                Action::Prepare => "PQprepare",
                Action::Execute => "PQexecPrepared",
            };
            vec![format!("{call}() failed: 7 {message}"), format!("failed query was: {query}")]
        }
        (DriverName::Sqlite, _) => {
            vec![format!("SQLite returned error {errno} ({message}) for query '{query}'")]
        }
    }
}

/// What sysbench logs when no connection can be had.
#[must_use]
pub fn connect_lines(target: &Target, failure: &OperationFailure) -> Vec<String> {
    let Target { endpoint, engine, .. } = target;
    let message = &failure.message;
    let (mut lines, option) = match engine {
        Engine::Postgres => {
            (vec![format!("Connection to database failed: {message}")], "--pgsql-sslmode=require")
        }
        Engine::Sqlite => (vec![format!("unable to open the database {endpoint}: {message}")], ""),
        Engine::Mysql | Engine::Null => {
            // The numbers of MySQL's library for a server that is not there.
            let (place, number) = match endpoint {
                Endpoint::Tcp { host, port } => (format!("host '{host}', port {port}"), 2003),
                other => (format!("socket '{other}'"), 2002),
            };
            let code = if failure.code == 0 { number } else { failure.code };
            let place = format!("unable to connect to MySQL server on {place}, aborting...");
            (vec![place, format!("error {code}: {message}")], "--mysql-ssl=required")
        }
    };
    // A wrong password is told as sysbench tells it.
    if may_want_encryption(failure, target) && failure.code != 1045 {
        lines.push(format!("the connection was not encrypted; if the server wants that, add {option}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_connection_has_the_number_that_scripts_look_for() {
        let lost = OperationFailure::new(FailureKind::ConnectionLost, "the server closed the connection");
        assert_eq!(codes(DriverName::Mysql, &lost, false), (2013, "HY000".to_owned()));
        assert_eq!(codes(DriverName::Mysql, &lost, true), (2006, "HY000".to_owned()));
        assert_eq!(codes(DriverName::Postgres, &lost, false), (0, "08006".to_owned()));
    }

    #[test]
    fn a_statement_that_the_server_ended_leaves_the_connection() {
        let own = OperationFailure::new(FailureKind::Timeout, "no answer in time");
        let servers = OperationFailure {
            kind: FailureKind::Timeout,
            code: 3024,
            sqlstate: "HY000".into(),
            message: "maximum statement execution time exceeded".into(),
        };
        assert!(is_connection_lost(&own));
        assert!(!is_connection_lost(&servers));
    }

    #[test]
    fn log_lines_read_as_those_of_sysbench() {
        let refusal = Refusal {
            verdict: Verdict::Fatal,
            errno: 1146,
            state: "42S02".to_owned(),
            message: "Table 'sbtest.nosuch' doesn't exist".to_owned(),
            query: "SELECT * FROM nosuch".to_owned(),
        };
        assert_eq!(
            log_lines(DriverName::Mysql, Action::Query, &refusal),
            [
                "mysql_drv_query() returned error 1146 (Table 'sbtest.nosuch' doesn't exist) for query 'SELECT * FROM nosuch'"
            ]
        );
        assert_eq!(
            log_lines(DriverName::Mysql, Action::Prepare, &refusal)[1],
            "MySQL error: 1146 \"Table 'sbtest.nosuch' doesn't exist\""
        );
        assert_eq!(
            log_lines(DriverName::Postgres, Action::Query, &refusal),
            [
                "PQexec() failed: 7 Table 'sbtest.nosuch' doesn't exist",
                "failed query was: SELECT * FROM nosuch"
            ]
        );
        let tcp = |engine| Target::new(engine, Endpoint::Tcp { host: "db".to_owned(), port: 1 });
        let failure = OperationFailure::new(FailureKind::ConnectRefused, "refused");
        let host = "unable to connect to MySQL server on host 'db', port 1, aborting...";
        assert_eq!(connect_lines(&tcp(Engine::Mysql), &failure), [host, "error 2003: refused"]);
        let open =
            OperationFailure { kind: FailureKind::Authentication, sqlstate: "28000".into(), ..failure };
        assert_eq!(
            connect_lines(&tcp(Engine::Postgres), &open),
            [
                "Connection to database failed: refused",
                "the connection was not encrypted; if the server wants that, add --pgsql-sslmode=require"
            ]
        );
    }
}

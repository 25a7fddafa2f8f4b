//! Messages for database failures of native workloads, in the words of sysbench's log, which users
//! and scripts search for. Lua scripts report their own failures.

use super::commands::{CALL_COMMAND, failed};
use crate::logger::Logger;
use dyno_lua::{codes, connect_lines};
use dyno_model::engine::Sending;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Engine, Target};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    /// Connecting, or preparing statements; the failure tells which.
    Starting,
    /// `prepare` was connecting, or sent this text.
    Command(Option<&'a str>),
    /// This statement was executed in an event.
    Event {
        /// Its text.
        query: &'a str,
        /// Whether it was sent as text, or prepared.
        is_text: bool,
    },
}

/// The module that sysbench names in its errors.
const MODULE: &str = "oltp_common";

/// Reports a failure as fatal log lines.
pub(crate) fn log(
    logger: &Logger,
    action: Action<'_>,
    failure: &OperationFailure,
    target: &Target,
) {
    for line in lines(action, failure, target) {
        logger.fatal(&line);
    }
}

fn lines(action: Action<'_>, failure: &OperationFailure, target: &Target) -> Vec<String> {
    let (code, state) = codes(target.engine, failure);
    let (sending, query) = match action {
        Action::Starting => (Sending::Prepare, None),
        Action::Command(query) => (Sending::Query, query),
        Action::Event { query, is_text: true } => (Sending::Query, Some(query)),
        Action::Event { query, is_text: false } => (Sending::Execute, Some(query)),
    };
    let (mut lines, reason) = if is_connecting(action, failure, target.engine) {
        (connect_lines(target, failure), "connection creation failed".to_owned())
    } else {
        let reason = format!("SQL error, errno = {code}, state = '{state}': {}", failure.message);
        ((target.engine.sysbench().refused)(sending, code, &failure.message, query), reason)
    };
    lines.push(match action {
        Action::Starting => failed("thread_init", &format!("{MODULE}: {reason}")),
        Action::Command(_) => failed(CALL_COMMAND, &format!("{MODULE}: {reason}")),
        Action::Event { .. } => failed("thread_run", &reason),
    });
    lines
}

/// Whether the connection was not open yet. In an event, the shutdown of a server is a failure of a
/// statement.
fn is_connecting(action: Action<'_>, failure: &OperationFailure, engine: Engine) -> bool {
    match failure.kind {
        FailureKind::ConnectRefused
        | FailureKind::Authentication
        | FailureKind::Certificate
        | FailureKind::OutOfConnections => true,
        _ if matches!(action, Action::Event { .. }) => false,
        FailureKind::NotReady => true,
        _ => (engine.sysbench().is_unconnected)(failure.code, &failure.sqlstate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Endpoint;

    fn failure(kind: FailureKind, code: u32, state: &str, message: &str) -> OperationFailure {
        OperationFailure { code, sqlstate: state.into(), ..kind.failure(message) }
    }

    fn logged(action: Action<'_>, engine: Engine, failure: &OperationFailure) -> String {
        let target = Target::new(engine, Endpoint::Tcp { host: "db".into(), port: 1 });
        lines(action, failure, &target).join("\n")
    }

    const HOST: &str = "unable to connect to MySQL server on host 'db', port 1, aborting...";
    const NO_CONNECTION: &str =
        "`thread_init' function failed: oltp_common: connection creation failed";

    #[test]
    fn connection_failures_are_reported_with_address_and_reason() {
        let refused = FailureKind::ConnectRefused.failure("refused");
        let no_tls = FailureKind::BadStatement.failure("no TLS");
        let unknown = failure(FailureKind::BadStatement, 1049, "42000", "unknown");
        let nowhere = failure(FailureKind::BadStatement, 0, "3D000", "nowhere");
        for (engine, failure, expected) in [
            (Engine::Mysql, &refused, format!("{HOST}\nerror 2003: refused\n{NO_CONNECTION}")),
            (Engine::Mysql, &no_tls, format!("{HOST}\nerror 2003: no TLS\n{NO_CONNECTION}")),
            (Engine::Mysql, &unknown, format!("{HOST}\nerror 1049: unknown\n{NO_CONNECTION}")),
            (
                Engine::Postgres,
                &refused,
                format!("Connection to database failed: refused\n{NO_CONNECTION}"),
            ),
            (
                Engine::Postgres,
                &nowhere,
                format!("Connection to database failed: nowhere\n{NO_CONNECTION}"),
            ),
        ] {
            assert_eq!(logged(Action::Starting, engine, failure), expected);
        }
        assert_eq!(
            logged(Action::Command(None), Engine::Postgres, &refused),
            "Connection to database failed: refused\n`sysbench.cmdline.call_command' function failed: \
             oltp_common: connection creation failed"
        );
    }

    #[test]
    fn statement_failures_are_reported_in_the_words_that_users_search_for() {
        let exists = failure(FailureKind::BadStatement, 1050, "42S01", "exists");
        let no_database = failure(FailureKind::BadStatement, 1046, "3D000", "none selected");
        let lost = FailureKind::ConnectionLost.failure("it broke");
        let shut_down = failure(FailureKind::NotReady, 0, "57P01", "terminating");
        let insert = |is_text| Action::Event { query: "insert", is_text };
        let create = Action::Command(Some("CREATE"));
        let failed_in = |function: &str, what: &str| {
            format!("`{function}' function failed: oltp_common: SQL error, {what}")
        };
        let exists_in =
            |function: &str| failed_in(function, "errno = 1050, state = '42S01': exists");
        let none_in =
            |function: &str| failed_in(function, "errno = 1046, state = '3D000': none selected");
        let (mysql, postgres) = (Engine::Mysql, Engine::Postgres);
        let in_run = "`thread_run' function failed: SQL error, errno =";
        let rows = [
            (
                Action::Starting,
                mysql,
                &exists,
                "mysql_stmt_prepare() failed\nMySQL error: 1050 \"exists\"",
                exists_in("thread_init"),
            ),
            (
                Action::Starting,
                mysql,
                &no_database,
                "mysql_stmt_prepare() failed\nMySQL error: 1046 \"none selected\"",
                none_in("thread_init"),
            ),
            (
                create,
                mysql,
                &exists,
                "mysql_drv_query() returned error 1050 (exists) for query 'CREATE'",
                exists_in(CALL_COMMAND),
            ),
            (
                create,
                postgres,
                &exists,
                "PQexec() failed: 7 exists\nfailed query was: CREATE",
                exists_in(CALL_COMMAND),
            ),
            (
                insert(false),
                mysql,
                &lost,
                "mysql_stmt_execute() returned error 2013 (it broke) for query 'insert'",
                format!("{in_run} 2013, state = 'HY000': it broke"),
            ),
            (
                insert(true),
                mysql,
                &exists,
                "mysql_drv_query() returned error 1050 (exists) for query 'insert'",
                format!("{in_run} 1050, state = '42S01': exists"),
            ),
            (
                insert(false),
                postgres,
                &shut_down,
                "PQexecPrepared() failed: 7 terminating\nfailed query was: insert",
                format!("{in_run} 0, state = '57P01': terminating"),
            ),
            (
                insert(false),
                postgres,
                &lost,
                "PQexecPrepared() failed: 7 it broke\nfailed query was: insert",
                format!("{in_run} 0, state = '08006': it broke"),
            ),
        ];
        for (action, engine, failure, first, last) in rows {
            assert_eq!(logged(action, engine, failure), format!("{first}\n{last}"));
        }
    }
}

//! Database failures in pgbench's words where they exist.

use crate::own::OWN;
use crate::statistics::TransactionOutcome;
use dyno_drivers::address;
use dyno_drivers::placeholder;
use dyno_model::engine::Backslash;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};

/// How a transaction ends after this failure without a retry; `None` when the client cannot
/// continue.
///
/// PostgreSQL: serialization failures and deadlocks, as in pgbench. Other engines report further
/// conflicts: MySQL a lock wait timeout, SQLite a database that another connection is writing to.
pub(crate) fn ending_after(
    failure: &OperationFailure,
    engine: Engine,
) -> Option<TransactionOutcome> {
    match failure.kind {
        FailureKind::Deadlock => Some(TransactionOutcome::Deadlock),
        FailureKind::LockWait if engine != OWN => Some(TransactionOutcome::Deadlock),
        FailureKind::Serialization | FailureKind::Busy => Some(TransactionOutcome::Serialization),
        _ => None,
    }
}

/// The server's message as shown by PostgreSQL's clients.
pub(crate) fn words(failure: &OperationFailure) -> String {
    if failure.sqlstate.is_empty() && failure.code == 0 {
        failure.message.clone()
    } else {
        let severity = if failure.is_lost() { "FATAL" } else { "ERROR" };
        format!("{severity}:  {}", failure.message)
    }
}

/// The line of a prepared statement in which the server reports the error, with a mark; the server
/// knows its parameters by number.
pub(crate) fn pointed(failure: &OperationFailure, template: &str) -> Option<String> {
    failure.pointed(&placeholder::parse(template, Backslash::EscapesWhereMarked).numbered())
}

/// The message for a failed connection.
pub(crate) fn connecting(failure: &OperationFailure, target: &Target) -> String {
    let severity = if failure.sqlstate.is_empty() && failure.code == 0 { "" } else { "FATAL:  " };
    let server = match &target.endpoint {
        Endpoint::Tcp { host, port } => format!("connection to server at \"{host}\", port {port}"),
        Endpoint::Unix(path) => format!("connection to server on socket \"{}\"", path.display()),
        other => format!("connection to {other}"),
    };
    let traits = target.engine.traits();
    let lacks_password = failure.kind == FailureKind::Authentication
        && target.password.is_empty()
        && (traits.may_want_password)(failure);
    let hint = match traits.password_variable.filter(|_| lacks_password) {
        Some(variable) => {
            format!("\npgbench: hint: Export the password in the variable {variable}.")
        }
        None if address::may_want_encryption(failure, target) => {
            "\npgbench: hint: The connection was not encrypted; if the server requires \
             encryption, add sslmode=require to the address."
                .to_owned()
        }
        None => String::new(),
    };
    format!("{server} failed: {severity}{}{hint}", failure.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::secret::Secret;

    #[test]
    fn a_server_that_ends_a_session_is_quoted() {
        let ended = OperationFailure {
            sqlstate: "57P01".into(),
            ..FailureKind::NotReady.failure("terminating")
        };
        assert_eq!(words(&ended), "FATAL:  terminating");
        let wrong =
            OperationFailure { kind: FailureKind::BadStatement, sqlstate: "42601".into(), ..ended };
        assert_eq!(words(&wrong), "ERROR:  terminating");
    }

    #[test]
    fn a_login_without_a_password_names_the_variable_for_it() {
        let endpoint = Endpoint::Tcp { host: "db".to_owned(), port: 1 };
        let mut target = Target::new(Engine::Postgres, endpoint);
        let failure = FailureKind::Authentication.failure("the server requires a password");
        assert!(connecting(&failure, &target).ends_with("in the variable PGPASSWORD."));
        target.password = Secret::new("s3cret");
        assert!(!connecting(&failure, &target).contains("hint"));
    }

    #[test]
    fn only_conflicts_allow_a_client_to_continue() {
        let failure = |kind: FailureKind| kind.failure("x");
        assert_eq!(
            ending_after(&failure(FailureKind::Deadlock), Engine::Postgres),
            Some(TransactionOutcome::Deadlock)
        );
        assert_eq!(
            ending_after(&failure(FailureKind::Serialization), Engine::Mysql),
            Some(TransactionOutcome::Serialization)
        );
        assert_eq!(
            ending_after(&failure(FailureKind::LockWait), Engine::Mysql),
            Some(TransactionOutcome::Deadlock)
        );
        assert_eq!(ending_after(&failure(FailureKind::LockWait), Engine::Postgres), None);
        assert_eq!(
            ending_after(&failure(FailureKind::Busy), Engine::Sqlite),
            Some(TransactionOutcome::Serialization)
        );
        assert_eq!(ending_after(&failure(FailureKind::DuplicateKey), Engine::Postgres), None);
    }
}

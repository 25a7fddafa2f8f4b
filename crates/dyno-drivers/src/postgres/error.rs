//! SQLSTATE to failure kind.
//!
//! The states are those of PostgreSQL's documentation, appendix A "PostgreSQL Error Codes"
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>). A state that is not in the
//! table is classified by its class, the first two letters.

use super::protocol::Malformed;
use super::protocol::backend::Fault;
use dyno_model::failure::{FailureKind, OperationFailure, Remedy};

/// The kind of a state; states without a meaning of their own go by their class.
fn kind(sqlstate: &str) -> FailureKind {
    use FailureKind as Kind;
    match sqlstate {
        // Whether the transaction was committed, or the statement carried out, is not known.
        "08007" | "40003" => Kind::OutcomeUnknown,
        // A text that the database's encoding does not know; no statement for inside a transaction;
        // others depend on what is dropped.
        "22021" | "25001" | "2BP01" => Kind::BadStatement,
        "23505" => Kind::DuplicateKey,
        // The transaction, the session or the server (a standby) takes no writes.
        "25006" => Kind::ReadOnly,
        // The session was ended: its transaction was idle for too long, its database dropped, or it
        // was idle itself.
        "25P03" | "57P04" | "57P05" => Kind::ConnectionLost,
        "40P01" => Kind::Deadlock,
        "42501" => Kind::Permission,
        // max_connections, or a limit of the user or the database.
        "53300" => Kind::OutOfConnections,
        // At once (NOWAIT), or within lock_timeout.
        "55P03" => Kind::LockWait,
        // Ended by an administrator or because another process crashed; starting up, shutting down
        // or recovering.
        "57P01" | "57P02" | "57P03" => Kind::NotReady,
        _ => by_class(sqlstate),
    }
}

/// The kind of a class. What is about values (22, 23, 44), transactions and savepoints (25, 3B) or
/// the state of an object (55) has none.
fn by_class(sqlstate: &str) -> FailureKind {
    use FailureKind as Kind;
    match sqlstate.get(..2) {
        Some("08") => Kind::ConnectionLost,
        Some("0A") => Kind::Unsupported,
        // No such prepared statement (a pooler may have changed the session), database or schema;
        // syntax and unknown names.
        Some("26" | "3D" | "3F" | "42") => Kind::BadStatement,
        Some("28") => Kind::Authentication,
        // 40001: the transaction conflicted with another one.
        Some("40") => Kind::Serialization,
        // Disk, memory, room for locks; a limit of the server; errors of its system.
        Some("53" | "54" | "58") => Kind::OutOfResources,
        // 57014: on request, or by statement_timeout.
        Some("57") => Kind::Cancelled,
        _ => Kind::Other,
    }
}

/// An error of the server as a failure.
#[must_use]
pub fn failure(fault: &Fault<'_>) -> OperationFailure {
    let mut kind = kind(&fault.sqlstate);
    if fault.is_fatal && matches!(kind.remedy(), Remedy::RetryTransaction | Remedy::CountOnly) {
        // Whatever the reason: the session is gone, and going on needs a new one.
        kind = FailureKind::ConnectionLost;
    }
    let mut message = fault.message.to_string();
    if !fault.detail.is_empty() {
        message.push_str(" (");
        message.push_str(&fault.detail);
        message.push(')');
    }
    OperationFailure {
        kind,
        code: 0,
        sqlstate: fault.sqlstate.to_string(),
        message,
        position: fault.position,
        routine: fault.routine.to_string(),
    }
}

impl From<Malformed> for OperationFailure {
    fn from(malformed: Malformed) -> Self {
        FailureKind::Protocol.failure(malformed.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sqlstate: &str, is_fatal: bool) -> FailureKind {
        let fault = Fault { is_fatal, sqlstate: sqlstate.into(), ..Fault::default() };
        failure(&fault).kind
    }

    #[test]
    fn states_decide_what_the_retry_policy_does() {
        let cases = [
            ("40001", FailureKind::Serialization),
            ("40P01", FailureKind::Deadlock),
            ("55P03", FailureKind::LockWait),
            ("57014", FailureKind::Cancelled),
            ("23505", FailureKind::DuplicateKey),
            ("23503", FailureKind::Other), // foreign key: by class
            ("53300", FailureKind::OutOfConnections),
            ("28P01", FailureKind::Authentication),
            ("28000", FailureKind::Authentication),
            ("57P01", FailureKind::NotReady),
            ("57P03", FailureKind::NotReady),
            ("25006", FailureKind::ReadOnly),
            ("42P01", FailureKind::BadStatement), // undefined table: by class
            ("42501", FailureKind::Permission),
            ("53100", FailureKind::OutOfResources),
            ("08006", FailureKind::ConnectionLost),
            ("08007", FailureKind::OutcomeUnknown),
            ("40003", FailureKind::OutcomeUnknown),
            ("0A000", FailureKind::Unsupported),
            ("3D000", FailureKind::BadStatement),
            ("ZZ999", FailureKind::Other),
            ("", FailureKind::Other),
            ("글", FailureKind::Other), // not even ASCII
        ];
        for (state, expected) in cases {
            assert_eq!(kind(state, false), expected, "{state}");
        }
    }

    #[test]
    fn a_fatal_error_never_asks_for_a_retry_on_the_same_connection() {
        assert_eq!(kind("40001", true), FailureKind::ConnectionLost); // conflict with recovery, on a standby
        assert_eq!(kind("XX000", true), FailureKind::ConnectionLost);
        assert_eq!(kind("57P01", true), FailureKind::NotReady);
        assert_eq!(kind("28P01", true), FailureKind::Authentication);
    }
}

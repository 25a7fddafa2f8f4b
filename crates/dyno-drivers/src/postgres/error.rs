//! Maps SQLSTATEs to failure kinds.
//!
//! The states are those of PostgreSQL's documentation, appendix A "PostgreSQL Error Codes"
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>). States that are not in the
//! table are classified by their class, the first two characters.

use dyno_model::failure::{FailureKind, OperationFailure, Remedy};
use std::borrow::Cow;

/// An error or notice of the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault<'a> {
    /// True when the server closes the connection after it (`FATAL`, `PANIC`).
    pub is_fatal: bool,
    /// Five letters or digits.
    pub sqlstate: Cow<'a, str>,
    /// What happened, one line.
    pub message: Cow<'a, str>,
    /// More about it; may be empty.
    pub detail: Cow<'a, str>,
    /// Position in the statement, in characters from 1; 0 when unknown.
    pub position: u32,
    /// The function of the server that raised it; empty when unknown.
    pub routine: Cow<'a, str>,
}

/// The kind of a state; states without an entry are classified by their class.
fn kind(sqlstate: &str) -> FailureKind {
    use FailureKind as Kind;
    match sqlstate {
        // It is unknown whether the transaction was committed or the statement executed.
        "08007" | "40003" => Kind::OutcomeUnknown,
        // Text that is invalid in the database's encoding; a statement not allowed in a
        // transaction; dependent objects exist.
        "22021" | "25001" | "2BP01" => Kind::BadStatement,
        "23505" => Kind::DuplicateKey,
        // The transaction, the session or the server (a standby) is read-only.
        "25006" => Kind::ReadOnly,
        // The session was ended: idle in a transaction for too long, database dropped, or idle for
        // too long.
        "25P03" | "57P04" | "57P05" => Kind::ConnectionLost,
        "40P01" => Kind::Deadlock,
        "42501" => Kind::Permission,
        // max_connections, or a limit of the user or the database.
        "53300" => Kind::OutOfConnections,
        // At once (NOWAIT), or after lock_timeout.
        "55P03" => Kind::LockWait,
        // Ended by an administrator or after a crash of another process; starting up, shutting down
        // or recovering.
        "57P01" | "57P02" | "57P03" => Kind::NotReady,
        _ => by_class(sqlstate),
    }
}

/// The kind of a class. Classes about values (22, 23, 44), transactions and savepoints (25, 3B) or
/// the state of an object (55) have none.
fn by_class(sqlstate: &str) -> FailureKind {
    use FailureKind as Kind;
    match sqlstate.get(..2) {
        Some("08") => Kind::ConnectionLost,
        Some("0A") => Kind::Unsupported,
        // No such prepared statement (a pooler may have changed the session), database or schema;
        // syntax errors and unknown names.
        Some("26" | "3D" | "3F" | "42") => Kind::BadStatement,
        Some("28") => Kind::Authentication,
        // 40001: the transaction conflicted with another one. 72000: its snapshot is too old, also
        // YugabyteDB's; a new transaction has a new one.
        Some("40" | "72") => Kind::Serialization,
        // Disk, memory, lock table; a limit of the server; system errors.
        Some("53" | "54" | "58") => Kind::OutOfResources,
        // 57014: on request, or by statement_timeout.
        Some("57") => Kind::Cancelled,
        _ => Kind::Other,
    }
}

/// Converts an error of the server to a failure.
#[must_use]
pub fn failure(fault: &Fault<'_>) -> OperationFailure {
    let mut kind = kind(&fault.sqlstate);
    if fault.is_fatal && matches!(kind.remedy(), Remedy::RetryTransaction | Remedy::CountOnly) {
        // Whatever the reason, the session has ended, and a new one is needed.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sqlstate: &str, is_fatal: bool) -> FailureKind {
        let fault = Fault { is_fatal, sqlstate: sqlstate.into(), ..Fault::default() };
        failure(&fault).kind
    }

    #[test]
    fn states_determine_the_retry_policy() {
        let cases = [
            ("40001", FailureKind::Serialization),
            ("72000", FailureKind::Serialization),
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
    fn a_fatal_error_never_allows_a_retry_on_the_same_connection() {
        assert_eq!(kind("40001", true), FailureKind::ConnectionLost); // conflict with recovery, on a standby
        assert_eq!(kind("XX000", true), FailureKind::ConnectionLost);
        assert_eq!(kind("57P01", true), FailureKind::NotReady);
        assert_eq!(kind("28P01", true), FailureKind::Authentication);
    }
}

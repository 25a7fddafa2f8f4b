//! SQLSTATE to failure kind.
//!
//! The states are those of PostgreSQL's documentation, appendix A "PostgreSQL Error Codes"
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>). A state that is not in the table is classified by
//! its class, the first two letters.

use super::protocol::Malformed;
use super::protocol::backend::Fault;
use dyno_model::failure::{FailureKind, OperationFailure, Remedy};

/// One state or class and what it means for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// Five letters for a state, two for a class.
    pub state: &'static str,
    /// How it is counted and what the retry policy does.
    pub kind: FailureKind,
    /// What happened, for people.
    pub sentence: &'static str,
}

const fn meaning(state: &'static str, kind: FailureKind, sentence: &'static str) -> Meaning {
    Meaning { state, kind, sentence }
}

/// States with a meaning of their own, ascending.
#[rustfmt::skip]
pub const STATES: &[Meaning] = &[
    meaning("08007", FailureKind::OutcomeUnknown, "It is not known whether the transaction was committed."),
    meaning("0A000", FailureKind::Unsupported, "The server does not have this feature, or a prepared statement's result type has changed."),
    meaning("22021", FailureKind::BadStatement, "A text is not valid in the database's encoding, or has a zero byte."),
    meaning("23505", FailureKind::DuplicateKey, "A row with this key exists already."),
    meaning("25001", FailureKind::BadStatement, "The statement is not allowed inside a transaction."),
    meaning("25006", FailureKind::ReadOnly, "The transaction, the session or the server (a standby) takes no writes."),
    meaning("25P02", FailureKind::Other, "The transaction has failed before; everything but ROLLBACK is refused."),
    meaning("25P03", FailureKind::ConnectionLost, "The session was ended because its transaction was idle for too long."),
    meaning("28000", FailureKind::Authentication, "The user does not exist, may not log in, or no line of pg_hba.conf lets it in."),
    meaning("28P01", FailureKind::Authentication, "The password is wrong."),
    meaning("2BP01", FailureKind::BadStatement, "Other objects depend on the one that is to be dropped."),
    meaning("3D000", FailureKind::BadStatement, "There is no such database."),
    meaning("3F000", FailureKind::BadStatement, "There is no such schema."),
    meaning("40001", FailureKind::Serialization, "The transaction conflicted with another one and must be repeated."),
    meaning("40003", FailureKind::OutcomeUnknown, "It is not known whether the statement was carried out."),
    meaning("40P01", FailureKind::Deadlock, "Transactions waited for each other; this one was rolled back."),
    meaning("42501", FailureKind::Permission, "The user lacks a privilege."),
    meaning("53100", FailureKind::OutOfResources, "The server's disk is full."),
    meaning("53200", FailureKind::OutOfResources, "The server is out of memory, or out of room for locks."),
    meaning("53300", FailureKind::OutOfConnections, "The server has no more room for connections (max_connections, or a limit of the user or database)."),
    meaning("55000", FailureKind::Other, "The object is not in a state that allows this."),
    meaning("55006", FailureKind::Other, "The object is in use, for example a database with sessions that is to be dropped."),
    meaning("55P03", FailureKind::LockWait, "A lock could not be had at once or within lock_timeout."),
    meaning("57014", FailureKind::Cancelled, "The statement was cancelled, by request or by statement_timeout."),
    meaning("57P01", FailureKind::NotReady, "The session was ended by an administrator, or the server is shutting down."),
    meaning("57P02", FailureKind::NotReady, "Another server process crashed and all sessions were ended."),
    meaning("57P03", FailureKind::NotReady, "The server is starting up, shutting down or recovering and takes no connections."),
    meaning("57P04", FailureKind::ConnectionLost, "The database was dropped under the session."),
    meaning("57P05", FailureKind::ConnectionLost, "The session was ended because it was idle for too long."),
    meaning("58030", FailureKind::OutOfResources, "The server had an input/output error."),
    meaning("XX001", FailureKind::Other, "The server found corrupted data."),
    meaning("XX002", FailureKind::Other, "The server found a corrupted index."),
];

/// Classes, for states that are not in [`STATES`]; ascending.
#[rustfmt::skip]
pub const CLASSES: &[Meaning] = &[
    meaning("08", FailureKind::ConnectionLost, "The connection failed."),
    meaning("0A", FailureKind::Unsupported, "The server does not have this feature."),
    meaning("22", FailureKind::Other, "A value does not fit: out of range, divided by zero, not of the form its type needs."),
    meaning("23", FailureKind::Other, "A constraint of the table was violated."),
    meaning("25", FailureKind::Other, "The transaction is in the wrong state for this."),
    meaning("26", FailureKind::BadStatement, "There is no such prepared statement; a pooler between here and the server may have changed the session."),
    meaning("28", FailureKind::Authentication, "The login was refused."),
    meaning("3B", FailureKind::Other, "There is no such savepoint."),
    meaning("3D", FailureKind::BadStatement, "There is no such database."),
    meaning("3F", FailureKind::BadStatement, "There is no such schema."),
    meaning("40", FailureKind::Serialization, "The transaction was rolled back by the server."),
    meaning("42", FailureKind::BadStatement, "The statement is wrong: syntax, or a table, column or function that does not exist or fit."),
    meaning("44", FailureKind::Other, "A row does not satisfy its view's WITH CHECK OPTION."),
    meaning("53", FailureKind::OutOfResources, "The server is out of something it needs."),
    meaning("54", FailureKind::OutOfResources, "A limit of the server was exceeded."),
    meaning("55", FailureKind::Other, "The object is not in a state that allows this."),
    meaning("57", FailureKind::Cancelled, "An operator intervened."),
    meaning("58", FailureKind::OutOfResources, "The server's system failed."),
];

/// What a state means; `None` when neither it nor its class is known.
#[must_use]
pub fn explain(sqlstate: &str) -> Option<&'static Meaning> {
    let find = |table: &'static [Meaning], state: &str| {
        table.binary_search_by(|entry| entry.state.cmp(state)).ok().map(|at| &table[at])
    };
    find(STATES, sqlstate).or_else(|| find(CLASSES, sqlstate.get(..2)?))
}

/// An error of the server as a failure.
#[must_use]
pub fn failure(fault: &Fault<'_>) -> OperationFailure {
    let kind = explain(&fault.sqlstate).map_or(FailureKind::Other, |meaning| meaning.kind);
    let kind = match kind.remedy() {
        // Whatever the reason: the session is gone, and going on needs a new one.
        Remedy::RetryTransaction | Remedy::CountOnly if fault.is_fatal => FailureKind::ConnectionLost,
        _ => kind,
    };
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
    fn tables_are_sorted_so_that_they_can_be_searched() {
        assert!(STATES.is_sorted_by(|a, b| a.state < b.state));
        assert!(CLASSES.is_sorted_by(|a, b| a.state < b.state));
        assert!(STATES.iter().all(|entry| entry.state.len() == 5 && entry.sentence.ends_with('.')));
        assert!(CLASSES.iter().all(|entry| entry.state.len() == 2 && entry.sentence.ends_with('.')));
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

//! What a database can answer instead of success. Failures are data: they are classified, counted and reported.

use serde::{Deserialize, Serialize};
use std::fmt;

crate::named! {
    /// The closed set of failure kinds. Drivers map (engine, error number or SQLSTATE) to one of them, never message text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FailureKind {
        /// Nobody listens at the address, or it cannot be reached or resolved.
        ConnectRefused = "connect-refused",
        /// An established connection broke.
        ConnectionLost = "connection-lost",
        /// No answer within the limit.
        Timeout = "timeout",
        /// Wrong user, password or method.
        Authentication = "authentication",
        /// The server has no more room for connections.
        OutOfConnections = "out-of-connections",
        /// The server is starting up or shutting down.
        NotReady = "not-ready",
        /// Deadlock; the transaction was rolled back.
        Deadlock = "deadlock",
        /// The transaction conflicted with another one and was rolled back (serialization, snapshot, certification).
        Serialization = "serialization",
        /// A lock could not be had in time; perhaps only the statement was rolled back.
        LockWait = "lock-wait",
        /// SQLite: another connection holds the lock.
        Busy = "busy",
        /// A unique key exists already.
        DuplicateKey = "duplicate-key",
        /// The workload's own check failed, e.g. an optimistic update found the row changed. Raised by workloads, not by servers.
        Conflict = "conflict",
        /// The server or database takes no writes.
        ReadOnly = "read-only",
        /// The statement was cancelled or the session killed.
        Cancelled = "cancelled",
        /// Permission denied.
        Permission = "permission",
        /// No such table, column, database, or broken SQL.
        BadStatement = "bad-statement",
        /// Out of disk space or memory on the server.
        OutOfResources = "out-of-resources",
        /// The server answered that it does not know, or could not tell, what became of the transaction.
        OutcomeUnknown = "outcome-unknown",
        /// What came over the wire does not follow the protocol.
        Protocol = "protocol",
        /// The server or driver cannot do what was asked.
        Unsupported = "unsupported",
        /// An HTTP service sent the client elsewhere, which nobody had asked for.
        Redirect = "redirect",
        /// An HTTP service answered with a status that the workload does not want.
        UnexpectedStatus = "unexpected-status",
        /// The body of an HTTP service's answer does not hold what the workload wants.
        UnexpectedBody = "unexpected-body",
        /// Anything else; the code tells.
        Other = "other",
    }
}

/// What the retry policy (docs/methodology.md) does after a failure inside a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// ROLLBACK, then the whole transaction again, reads included, on the same connection.
    RetryTransaction,
    /// Connect anew (with back-off), then the whole transaction again, unless COMMIT was in doubt.
    Reconnect,
    /// Counted as failed; the client goes on with its next transaction.
    CountOnly,
    /// The trial cannot go on: every further transaction would fail alike.
    Abort,
}

impl FailureKind {
    /// A failure of this kind without an engine's number.
    #[must_use]
    pub fn failure(self, message: impl Into<String>) -> OperationFailure {
        OperationFailure { kind: self, code: 0, sqlstate: String::new(), message: message.into() }
    }

    /// The remedy that the retry policy applies to this kind.
    #[must_use]
    pub fn remedy(self) -> Remedy {
        match self {
            Self::Deadlock | Self::Serialization | Self::LockWait | Self::Busy | Self::Conflict => {
                Remedy::RetryTransaction
            }
            Self::ConnectRefused
            | Self::ConnectionLost
            | Self::Timeout
            | Self::NotReady
            | Self::OutOfConnections
            | Self::Cancelled => Remedy::Reconnect,
            Self::DuplicateKey
            | Self::OutcomeUnknown
            | Self::Other
            | Self::Protocol
            | Self::Redirect
            | Self::UnexpectedStatus
            | Self::UnexpectedBody => Remedy::CountOnly,
            Self::Authentication
            | Self::ReadOnly
            | Self::Permission
            | Self::BadStatement
            | Self::OutOfResources
            | Self::Unsupported => Remedy::Abort,
        }
    }
}

/// Statuses of HTTP from here on say that the service failed, and not the request.
const SERVER_ERRORS: u32 = 500;

/// One failure as a driver reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationFailure {
    /// Class, decides on retry.
    pub kind: FailureKind,
    /// The engine's own number: MySQL errno, SQLite extended code, HTTP status; 0 when it has none (PostgreSQL, sockets).
    pub code: u32,
    /// SQLSTATE where the protocol carries one, else empty.
    pub sqlstate: String,
    /// The server's or system's own words. Never holds a password: drivers quote no credentials.
    pub message: String,
}

impl OperationFailure {
    /// True when the database itself said it: its errors carry a number or a state.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.code != 0 || !self.sqlstate.is_empty()
    }

    /// True when nobody knows whether what was sent took effect. If it was to commit, the commit is in doubt.
    ///
    /// Without an answer that is so whatever the kind, but for what dyno refused before it was sent. An answer is a refusal, and what
    /// was refused did not take effect, unless the server says that it does not know, or ends the session with it, which may be
    /// after it had committed.
    #[must_use]
    pub fn leaves_doubt(&self) -> bool {
        match self.kind {
            FailureKind::ConnectionLost | FailureKind::NotReady | FailureKind::OutcomeUnknown => true,
            FailureKind::Timeout | FailureKind::Protocol | FailureKind::Other => !self.is_answered(),
            // A service that failed in the midst may have done its work before.
            FailureKind::UnexpectedStatus => self.code >= SERVER_ERRORS,
            FailureKind::ConnectRefused
            | FailureKind::Redirect
            | FailureKind::UnexpectedBody
            | FailureKind::Authentication
            | FailureKind::OutOfConnections
            | FailureKind::Deadlock
            | FailureKind::Serialization
            | FailureKind::LockWait
            | FailureKind::Busy
            | FailureKind::DuplicateKey
            | FailureKind::Conflict
            | FailureKind::ReadOnly
            | FailureKind::Cancelled
            | FailureKind::Permission
            | FailureKind::BadStatement
            | FailureKind::OutOfResources
            | FailureKind::Unsupported => false,
        }
    }
}

impl fmt::Display for OperationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match (self.code, self.sqlstate.as_str()) {
            (0, "") => {}
            (0, state) => write!(f, " (SQLSTATE {state})")?,
            (code, "") => write!(f, " (error {code})")?,
            (code, state) => write!(f, " (error {code}, SQLSTATE {state})")?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for OperationFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_in_the_list_once() {
        let names: std::collections::BTreeSet<_> = FailureKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), FailureKind::ALL.len());
    }

    #[test]
    fn conflicts_are_retried_and_broken_sql_is_not() {
        assert_eq!(FailureKind::Serialization.remedy(), Remedy::RetryTransaction);
        assert_eq!(FailureKind::ConnectionLost.remedy(), Remedy::Reconnect);
        assert_eq!(FailureKind::BadStatement.remedy(), Remedy::Abort);
    }

    #[test]
    fn only_an_answer_that_refuses_takes_the_doubt_from_a_commit() {
        let answered = |kind: FailureKind| OperationFailure { code: 1, ..kind.failure("") };
        let rows = [
            // No answer, whatever happened to it.
            (FailureKind::ConnectionLost.failure(""), true),
            (FailureKind::Timeout.failure(""), true),
            (FailureKind::Protocol.failure(""), true),
            (FailureKind::Other.failure(""), true),
            // dyno's own refusal: nothing was sent.
            (FailureKind::Unsupported.failure(""), false),
            // Answers that leave it open.
            (answered(FailureKind::ConnectionLost), true),
            (answered(FailureKind::NotReady), true),
            (answered(FailureKind::OutcomeUnknown), true),
            // Answers that refuse.
            (answered(FailureKind::Timeout), false),
            (answered(FailureKind::Protocol), false),
            (answered(FailureKind::Cancelled), false),
            (answered(FailureKind::Serialization), false),
            (answered(FailureKind::Other), false),
        ];
        for (failure, expected) in rows {
            assert_eq!(failure.leaves_doubt(), expected, "{failure}");
        }
    }
}

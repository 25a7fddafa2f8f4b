//! Failures of a database. Failures are data: they are classified, counted and reported.

use crate::printable;
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

crate::named! {
    /// The closed set of failure kinds. Drivers map (engine, error number or SQLSTATE) to one of
    /// them, never message text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum FailureKind {
        /// Nothing listens at the address, or it cannot be reached or resolved.
        ConnectRefused = "connect-refused",
        /// An established connection broke.
        ConnectionLost = "connection-lost",
        /// No answer within the timeout.
        Timeout = "timeout",
        /// Wrong user, password or method.
        Authentication = "authentication",
        /// TLS: one side rejects the other's certificate, or a certificate or key cannot be used.
        Certificate = "certificate",
        /// The server's connection limit is reached.
        OutOfConnections = "out-of-connections",
        /// The server is starting up or shutting down.
        NotReady = "not-ready",
        /// Deadlock; the transaction was rolled back.
        Deadlock = "deadlock",
        /// The transaction conflicted with another one and was rolled back (serialization,
        /// snapshot, certification).
        Serialization = "serialization",
        /// A lock could not be acquired in time; possibly only the statement was rolled back.
        LockWait = "lock-wait",
        /// SQLite: another connection holds the lock.
        Busy = "busy",
        /// A unique key already exists.
        DuplicateKey = "duplicate-key",
        /// The workload's own check failed, e.g. an optimistic update found the row changed. Raised
        /// by workloads, not by servers.
        Conflict = "conflict",
        /// The server or database is read-only.
        ReadOnly = "read-only",
        /// The statement was cancelled or the session killed.
        Cancelled = "cancelled",
        /// Permission denied.
        Permission = "permission",
        /// No such table, column or database, or invalid SQL.
        BadStatement = "bad-statement",
        /// Out of disk space or memory on the server.
        OutOfResources = "out-of-resources",
        /// The server answered that it does not know the outcome of the transaction.
        OutcomeUnknown = "outcome-unknown",
        /// The received data violates the protocol.
        Protocol = "protocol",
        /// The server or driver does not support the request.
        Unsupported = "unsupported",
        /// An HTTP service answered with a redirect, which is not followed.
        Redirect = "redirect",
        /// An HTTP service answered with a status that the workload does not accept.
        UnexpectedStatus = "unexpected-status",
        /// The body of an HTTP response does not contain what the workload requires.
        UnexpectedBody = "unexpected-body",
        /// Anything else; see the code.
        Other = "other",
    }
}

/// The action of the retry policy (docs/methodology.md) after a failure inside a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// ROLLBACK, then retry the whole transaction, including its reads, on the same connection.
    RetryTransaction,
    /// Reconnect (with back-off), then retry the whole transaction, unless COMMIT was in doubt.
    Reconnect,
    /// The transaction counts as failed; the client continues with its next transaction.
    CountOnly,
    /// The trial cannot continue: every further transaction would fail in the same way.
    Abort,
}

impl FailureKind {
    /// A failure of this kind without an engine-specific number.
    #[must_use]
    pub fn failure(self, message: impl Into<String>) -> OperationFailure {
        OperationFailure {
            kind: self,
            code: 0,
            sqlstate: String::new(),
            message: message.into(),
            position: 0,
            routine: String::new(),
        }
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
            | Self::Certificate
            | Self::ReadOnly
            | Self::Permission
            | Self::BadStatement
            | Self::OutOfResources
            | Self::Unsupported => Remedy::Abort,
        }
    }
}

/// HTTP statuses from this one on mean that the service failed, not that the request was wrong.
const SERVER_ERRORS: u32 = 500;

/// One failure as a driver reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationFailure {
    /// Kind; determines the retry.
    pub kind: FailureKind,
    /// The engine's own number: MySQL errno, SQLite extended code, HTTP status; 0 when it has none
    /// (PostgreSQL, sockets).
    pub code: u32,
    /// SQLSTATE where the protocol carries one, else empty.
    pub sqlstate: String,
    /// Message of the server or operating system. It never contains a password: drivers quote no
    /// credentials.
    pub message: String,
    /// Position of the mistake in the statement as reported by the server, in characters from 1; 0
    /// when unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub position: u32,
    /// The function of the server that raised it, where the protocol reports it (PostgreSQL), else
    /// empty. It distinguishes errors that share a SQLSTATE.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub routine: String,
}

/// Maximum width of a line that is shown with a mark under it, in columns.
const SHOWN: usize = 60;
/// Columns shown after the mark, where the line is that long.
const BEHIND: usize = 10;

impl OperationFailure {
    /// The line of the statement in which the server sees the mistake, `LINE 2: ...`, and a mark
    /// under it, in the format of PostgreSQL's own programs; `None` when the position is unknown. A
    /// long line is shortened.
    #[must_use]
    pub fn pointed(&self, statement: &str) -> Option<String> {
        let at = usize::try_from(self.position).ok()?.checked_sub(1)?;
        let before: Vec<char> = statement.chars().take(at).collect();
        if before.len() < at {
            return None;
        }
        let line_number = 1 + before.iter().filter(|c| **c == '\n').count();
        let column = before.iter().rev().take_while(|c| **c != '\n').count();
        let is_end = |c: &char| matches!(c, '\n' | '\r');
        let line: Vec<char> =
            statement.chars().skip(at - column).take_while(|c| !is_end(c)).collect();
        let (begin, end) = if line.len() <= SHOWN {
            (0, line.len())
        } else {
            let end = (column + BEHIND).clamp(SHOWN, line.len());
            (end - SHOWN, end)
        };
        // Characters that move the cursor would misplace the mark.
        let plain = |c: &char| if c.is_control() { ' ' } else { *c };
        let shown: String = line[begin..end].iter().map(plain).collect();
        let (left, right) =
            (if begin > 0 { "..." } else { "" }, if end < line.len() { "..." } else { "" });
        let head = format!("LINE {line_number}: {left}");
        let indent = head.width()
            + line[begin..column].iter().map(|c| plain(c).width().unwrap_or(0)).sum::<usize>();
        Some(format!("{head}{shown}{right}\n{}^", " ".repeat(indent)))
    }

    /// The message without the kind: error number, SQLSTATE and the text of the server.
    #[must_use]
    pub fn details(&self) -> String {
        let numbers = match (self.code, self.sqlstate.as_str()) {
            (0, "") => String::new(),
            (0, state) => format!(" (SQLSTATE {state})"),
            (code, "") => format!(" (error {code})"),
            (code, state) => format!(" (error {code}, SQLSTATE {state})"),
        };
        // A line of the server's message could be mistaken for one of dyno's.
        format!("{numbers}: {}", printable::line(&self.message))
    }

    /// True when the connection is closed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.kind.remedy() == Remedy::Reconnect && self.kind != FailureKind::Cancelled
            || self.kind == FailureKind::Protocol
    }

    /// True when the database itself reported it: its errors carry a number or a SQLSTATE.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.code != 0 || !self.sqlstate.is_empty()
    }

    /// True when the database rejects the statement itself, so that repeating it is futile.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use FailureKind::{BadStatement, Other, Permission, ReadOnly, Unsupported};
        let kinds = [BadStatement, Other, Permission, ReadOnly, Unsupported];
        self.is_answered() && kinds.contains(&self.kind)
    }

    /// True when it is unknown whether the request took effect. If the request was a commit, the
    /// commit is in doubt.
    ///
    /// Without an answer this is true for every kind, except for requests that dyno rejected before
    /// sending. An error answer means that the request did not take effect, unless the server
    /// reports that it does not know the outcome, or terminates the session with it, which may
    /// happen after the commit.
    #[must_use]
    pub fn leaves_doubt(&self) -> bool {
        match self.kind {
            FailureKind::ConnectionLost | FailureKind::NotReady | FailureKind::OutcomeUnknown => {
                true
            }
            FailureKind::Timeout | FailureKind::Protocol | FailureKind::Other => {
                !self.is_answered()
            }
            // A service that failed during the request may already have done its work.
            FailureKind::UnexpectedStatus => self.code >= SERVER_ERRORS,
            FailureKind::ConnectRefused
            | FailureKind::Redirect
            | FailureKind::UnexpectedBody
            | FailureKind::Authentication
            | FailureKind::Certificate
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
        write!(f, "{}{}", self.kind, self.details())
    }
}

impl std::error::Error for OperationFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_pointed_at_in_its_line_however_long_and_wide_that_is() {
        let pointed = |position, statement: &str| {
            OperationFailure { position, ..FailureKind::BadStatement.failure("x") }
                .pointed(statement)
        };
        assert_eq!(pointed(0, "SELECT"), None);
        assert_eq!(
            pointed(8, "SELECT x FROM t;").as_deref(),
            Some("LINE 1: SELECT x FROM t;\n               ^")
        );
        assert_eq!(
            pointed(10, "SELECT 1,\n\tx\nFROM t").as_deref(),
            Some("LINE 1: SELECT 1,\n                 ^")
        );
        assert_eq!(
            pointed(12, "SELECT 1,\n\tx\nFROM t").as_deref(),
            Some("LINE 2:  x\n         ^")
        );
        assert_eq!(
            pointed(7, "'가나', x").as_deref(),
            Some("LINE 1: '가나', x\n                ^")
        );
        let long = format!("SELECT {}x", "1, ".repeat(40));
        let lines = pointed(128, &long).expect("it is there");
        let (line, mark) = lines.split_once('\n').expect("two lines");
        assert!(line.starts_with("LINE 1: ...") && line.ends_with("1, x"), "{lines}");
        assert_eq!((line.len(), mark.len()), (11 + 60, 11 + 60));
        assert_eq!(pointed(500, "SELECT"), None, "a position that is nowhere");
    }

    #[test]
    fn every_kind_stands_in_the_list_once() {
        let names: std::collections::BTreeSet<_> =
            FailureKind::ALL.iter().map(|kind| kind.name()).collect();
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
            // No answer, whatever the cause.
            (FailureKind::ConnectionLost.failure(""), true),
            (FailureKind::Timeout.failure(""), true),
            (FailureKind::Protocol.failure(""), true),
            (FailureKind::Other.failure(""), true),
            // Rejected by dyno: nothing was sent.
            (FailureKind::Unsupported.failure(""), false),
            // Answers that leave the outcome open.
            (answered(FailureKind::ConnectionLost), true),
            (answered(FailureKind::NotReady), true),
            (answered(FailureKind::OutcomeUnknown), true),
            // Answers that refuse the request.
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

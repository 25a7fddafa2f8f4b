//! Retry policy for failures.

use crate::failure::{FailureKind, OperationFailure, Remedy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The basis of the decision to retry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RetryPolicy {
    /// The failure's kind, according to docs/methodology.md.
    #[default]
    Kind,
    /// A list, like sysbench's `--mysql-ignore-errors`: listed errors are retried, any other error
    /// ends the run.
    Listed(RetriedErrors),
}

/// Errors that are retried under [`RetryPolicy::Listed`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetriedErrors {
    /// Every error is retried.
    pub all: bool,
    /// MySQL error numbers and SQLite's extended codes.
    pub codes: BTreeSet<u32>,
    /// SQLSTATEs.
    pub sqlstates: BTreeSet<String>,
}

/// MySQL's error numbers for a lost connection, which client libraries report and users therefore
/// list. No server sends them.
const GONE: [u32; 4] = [2006, 2011, 2013, 2055];
/// SQLSTATEs of a lost connection, for the same purpose: PostgreSQL's class 08, and a server
/// shutdown.
const GONE_STATES: [&str; 5] = ["08000", "08003", "08006", "57P01", "57P02"];

impl RetriedErrors {
    /// True when the failure is in the list. A connection that broke without a server message
    /// matches if any code or SQLSTATE for a lost connection is listed.
    #[must_use]
    pub fn contains(&self, failure: &OperationFailure) -> bool {
        self.all
            || failure.code != 0 && self.codes.contains(&failure.code)
            || self.sqlstates.contains(&failure.sqlstate)
            || is_gone(failure)
                && (GONE.iter().any(|code| self.codes.contains(code))
                    || GONE_STATES.iter().any(|state| self.sqlstates.contains(*state)))
    }
}

/// True when the connection is lost.
#[must_use]
pub fn is_gone(failure: &OperationFailure) -> bool {
    failure.kind == FailureKind::ConnectionLost || GONE.contains(&failure.code)
}

/// False for failures that leave no session for a ROLLBACK.
fn has_session(kind: FailureKind) -> bool {
    !matches!(
        kind,
        FailureKind::ConnectRefused
            | FailureKind::Timeout
            | FailureKind::NotReady
            | FailureKind::OutOfConnections
    )
}

impl RetryPolicy {
    /// The action after a failure inside a transaction.
    #[must_use]
    pub fn remedy(&self, failure: &OperationFailure) -> Remedy {
        match self {
            Self::Kind => failure.kind.remedy(),
            Self::Listed(errors) if !errors.contains(failure) => Remedy::Abort,
            Self::Listed(_) if is_gone(failure) || !has_session(failure.kind) => Remedy::Reconnect,
            Self::Listed(_) => Remedy::RetryTransaction,
        }
    }

    /// True for the default policy of plans.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::Kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind, code: u32, sqlstate: &str) -> OperationFailure {
        OperationFailure { code, sqlstate: sqlstate.to_owned(), ..kind.failure("") }
    }

    #[test]
    fn listed_errors_are_retried_and_others_abort_the_run() {
        let errors = RetriedErrors {
            codes: BTreeSet::from([1213, 1062]),
            sqlstates: BTreeSet::from(["40001".to_owned()]),
            ..RetriedErrors::default()
        };
        let policy = RetryPolicy::Listed(errors);
        let rows = [
            (failure(FailureKind::Deadlock, 1213, "40001"), Remedy::RetryTransaction),
            (failure(FailureKind::DuplicateKey, 1062, "23000"), Remedy::RetryTransaction),
            (failure(FailureKind::Serialization, 0, "40001"), Remedy::RetryTransaction),
            (failure(FailureKind::LockWait, 1205, "HY000"), Remedy::Abort),
            (failure(FailureKind::ConnectionLost, 0, ""), Remedy::Abort),
        ];
        for (failure, expected) in rows {
            assert_eq!(policy.remedy(&failure), expected, "{failure}");
        }
    }

    #[test]
    fn lost_connection_is_reopened_if_any_of_its_codes_is_listed() {
        let lost = failure(FailureKind::ConnectionLost, 0, "");
        for code in GONE {
            let errors =
                RetriedErrors { codes: BTreeSet::from([code]), ..RetriedErrors::default() };
            assert_eq!(RetryPolicy::Listed(errors).remedy(&lost), Remedy::Reconnect, "{code}");
        }
        let states = BTreeSet::from(["08006".to_owned()]);
        let errors = RetriedErrors { sqlstates: states, ..RetriedErrors::default() };
        assert_eq!(RetryPolicy::Listed(errors).remedy(&lost), Remedy::Reconnect);
    }

    #[test]
    fn all_means_all() {
        let policy = RetryPolicy::Listed(RetriedErrors { all: true, ..RetriedErrors::default() });
        let broken_sql = failure(FailureKind::BadStatement, 1064, "42000");
        assert_eq!(policy.remedy(&broken_sql), Remedy::RetryTransaction);
        assert_eq!(policy.remedy(&failure(FailureKind::ConnectionLost, 0, "")), Remedy::Reconnect);
    }
}

//! Log of failures of a trial: the first failure of each distinct kind, verbatim, with its
//! statement.

use crate::failure::OperationFailure;
use crate::mask::masked;
use crate::printable;
use crate::secret::Secret;
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of distinct failures kept per trial; the counters by kind include all failures.
const SORTS_MAX: usize = 50;
/// Maximum length of a message and of a statement, in characters.
const MESSAGE_MAX: usize = 500;
const SQL_MAX: usize = 1_000;

/// A distinct failure (kind, number, SQLSTATE and statement): its first occurrence and its count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureDetail {
    /// The failure as reported by the database or operating system. Its message is shortened and
    /// contains no password.
    #[serde(flatten)]
    pub failure: OperationFailure,
    /// The kind of statement that failed; empty when it was not a statement, for example
    /// connecting.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statement: String,
    /// The statement's text, with `?` for parameters, where it is known; shortened, without
    /// passwords.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sql: String,
    /// Time of the first occurrence, since the common start (warm-up included).
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Nanos,
    /// Occurrences in the measured window, retried or not.
    pub count: u64,
}

impl FailureDetail {
    fn is_of_sort(&self, failure: &OperationFailure, statement: &str) -> bool {
        let known = &self.failure;
        (known.kind, known.code) == (failure.kind, failure.code)
            && known.sqlstate == failure.sqlstate
            && self.statement == statement
    }
}

/// A failure and its context.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    /// The reported failure.
    pub failure: &'a OperationFailure,
    /// Same as [`FailureDetail::statement`].
    pub statement: &'a str,
    /// Same as [`FailureDetail::sql`].
    pub sql: Option<&'a str>,
    /// Time, since the common start.
    pub at: Nanos,
}

/// Distinct failures in the order of their first occurrence, at most 50.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FailureLog(pub Vec<FailureDetail>);

impl FailureLog {
    /// True when nothing failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a failure, and stores it when it is the first of its kind. `password` is the password
    /// of its connection.
    pub fn note(&mut self, failed: &Failed<'_>, password: &Secret) {
        let Failed { failure, statement, sql, at } = *failed;
        if let Some(known) = self.0.iter_mut().find(|known| known.is_of_sort(failure, statement)) {
            known.count += 1;
        } else if self.0.len() < SORTS_MAX {
            let shortened =
                |text: &str, max| printable::shortened(&masked(&password.hidden_in(text)), max);
            let message = shortened(&failure.message, MESSAGE_MAX);
            self.0.push(FailureDetail {
                failure: OperationFailure { message, ..failure.clone() },
                statement: statement.to_owned(),
                sql: shortened(sql.unwrap_or_default(), SQL_MAX),
                at,
                count: 1,
            });
        }
    }

    /// Adds the failures of another worker, trial or workload; the earliest of each distinct
    /// failure is kept.
    pub fn add(&mut self, other: &Self) {
        for detail in &other.0 {
            if let Some(known) =
                self.0.iter_mut().find(|known| known.is_of_sort(&detail.failure, &detail.statement))
            {
                let count = known.count + detail.count;
                if detail.at < known.at {
                    known.clone_from(detail);
                }
                known.count = count;
            } else if self.0.len() < SORTS_MAX {
                self.0.push(detail.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    fn failure(message: &str) -> OperationFailure {
        OperationFailure { sqlstate: "22012".to_owned(), ..FailureKind::Other.failure(message) }
    }

    fn failed<'a>(failure: &'a OperationFailure, statement: &'a str, at: u64) -> Failed<'a> {
        Failed { failure, statement, sql: Some("SELECT 1/?"), at: Nanos(at) }
    }

    #[test]
    fn the_first_of_each_sort_is_kept_with_its_words_and_all_are_counted() {
        let (first, later) = (failure("division by zero"), failure("division by zero, again"));
        let other = OperationFailure { sqlstate: "23505".to_owned(), ..failure("duplicate key") };
        let none = Secret::default();
        let (mut one, mut two) = (FailureLog::default(), FailureLog::default());
        one.note(&failed(&later, "q", 9), &none);
        one.note(&failed(&other, "q", 10), &none);
        for _ in 0..3 {
            two.note(&failed(&first, "q", 5), &none);
        }
        two.note(&failed(&first, "r", 6), &none);
        one.add(&two);
        let reported: Vec<_> = one
            .0
            .iter()
            .map(|it| (it.failure.message.as_str(), it.statement.as_str(), it.count))
            .collect();
        assert_eq!(
            reported,
            [("division by zero", "q", 4), ("duplicate key", "q", 1), ("division by zero", "r", 1)]
        );
    }

    #[test]
    fn sorts_have_a_bound() {
        let mut log = FailureLog::default();
        for number in 0..1_000 {
            let failure = OperationFailure { code: number, ..failure(&"x".repeat(9_999)) };
            log.note(&failed(&failure, "q", 0), &Secret::default());
        }
        assert_eq!(log.0.len(), SORTS_MAX);
        let mut other = log.clone();
        other.0.iter_mut().for_each(|it| it.failure.code += 1_000);
        other.add(&log);
        assert_eq!(other.0.len(), SORTS_MAX, "also of several workers together");
        assert!(log.0[0].failure.message.chars().count() <= MESSAGE_MAX + 1);
    }

    #[test]
    fn passwords_are_in_no_message_and_no_statement() {
        let password = Secret::new("s3cr3t-word");
        for text in [
            "could not connect with s3cr3t-word",
            "CREATE USER a PASSWORD 's3cr3t'",
            "alter user a with encrypted password E's3cr3t'",
            "CREATE USER a IDENTIFIED BY 's3cr3t'",
            "dblink_connect('host=a password=s3cr3t dbname=b')",
            "invalid: postgres://u:s3cr3t@h/d",
            "SET PASSWORD = PASSWORD('s3cr3t')",
        ] {
            let mut log = FailureLog::default();
            let failure = failure(text);
            log.note(
                &Failed { failure: &failure, statement: "q", sql: Some(text), at: Nanos(0) },
                &password,
            );
            let FailureDetail { failure, sql, .. } = &log.0[0];
            assert!(
                !failure.message.contains("s3cr3t") && !sql.contains("s3cr3t"),
                "{failure} {sql}"
            );
            assert!(sql.contains("***"), "{sql}");
        }
    }
}

//! What is sent in sessions that only read.
//!
//! Such a session is told to be read-only when it begins, which is a default that statements can undo. So what could undo it is not sent: only statements
//! with the first words below, transactions that begin without `READ WRITE`, and settings whose names are plain and not about writing. What goes on inside
//! of functions is not seen here. PostgreSQL reports when the default changes, and SQLite's files are opened for reading.

use crate::driver::Result;
use dyno_model::failure::{FailureKind, OperationFailure};

/// First words of what may be sent.
const READING: [&str; 23] = [
    "select",
    "with",
    "values",
    "table",
    "show",
    "explain",
    "describe",
    "desc",
    "begin",
    "start",
    "set",
    "commit",
    "end",
    "rollback",
    "abort",
    "savepoint",
    "release",
    "declare",
    "fetch",
    "move",
    "close",
    "deallocate",
    // How dyno ends sessions that do not end by themselves.
    "kill",
];

/// What the beginning of a transaction may hold.
const BEGINNING: [&str; 19] = [
    "begin",
    "start",
    "transaction",
    "work",
    "isolation",
    "level",
    "serializable",
    "repeatable",
    "read",
    "committed",
    "uncommitted",
    "only",
    "not",
    "deferrable",
    "with",
    "consistent",
    "snapshot",
    "deferred",
    "",
];

/// What is not in a setting that may be sent. Names in quotes can be spelled in many ways.
const NOT_IN_SETTINGS: [&str; 9] =
    ["\"", "`", "@@", "/*", "read_only", "write", "global", "persist", "password"];

/// Whether a text may be sent in a session that only reads.
///
/// # Errors
/// When it may undo that.
pub(crate) fn check(text: &str) -> Result<()> {
    match text.split(';').all(reads) {
        true => Ok(()),
        false => Err(undone(&format!(
            "{:?} is not sent, because it may write or let the session write",
            shown(text)
        ))),
    }
}

/// A session that only reads would not do so any more.
pub(crate) fn undone(what: &str) -> OperationFailure {
    FailureKind::BadStatement.failure(format!("{what}; nobody named the database with --yes-write-to"))
}

fn shown(text: &str) -> String {
    text.trim().chars().take(60).collect()
}

fn reads(statement: &str) -> bool {
    let Some(statement) = without_comments_before(statement) else { return false };
    let statement = statement.to_ascii_lowercase();
    let statement = statement.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let first: String = statement.chars().take_while(char::is_ascii_alphabetic).collect();
    match first.as_str() {
        "" => statement.is_empty(),
        "begin" | "start" => {
            let mut words = statement.split(|c: char| c.is_whitespace() || c == ',');
            words.all(|word| BEGINNING.contains(&word))
        }
        "set" => !NOT_IN_SETTINGS.iter().any(|part| statement.contains(part)),
        first => READING.contains(&first),
    }
}

/// A statement behind the comments before it; `None` where MySQL carries one out.
fn without_comments_before(mut statement: &str) -> Option<&str> {
    loop {
        statement = statement.trim_start();
        if let Some(line) = statement.strip_prefix("--").or_else(|| statement.strip_prefix('#')) {
            statement = line.split_once('\n').map_or("", |(_, rest)| rest);
        } else if statement.starts_with("/*!") || statement.starts_with("/*M!") {
            return None;
        } else if let Some(comment) = statement.strip_prefix("/*") {
            statement = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return Some(statement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_undo_that_a_session_only_reads_is_not_sent() {
        for (text, is_sent) in [
            ("SELECT 1", true),
            ("-- one\n/* two */ (SELECT 1);", true),
            ("SELECT 'a write' FROM t; SELECT 2;", true),
            ("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", true),
            ("START TRANSACTION WITH CONSISTENT SNAPSHOT", true),
            ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", true),
            ("set work_mem = '64MB'", true),
            ("SET @n = 1", true),
            ("", true),
            ("BEGIN READ WRITE", false),
            ("BEGIN/**/READ WRITE", false),
            ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE", false),
            ("SET TRANSACTION READ WRITE", false),
            ("SET \"default_transaction_read_only\" TO off", false),
            ("SET U&\"\\0064efault_transaction_read_only\" TO off", false),
            ("SET `tx_read_only`=0", false),
            ("SET @@tx_read_only = 0", false),
            ("SET a = 1, transaction_read_only = 0", false),
            ("RESET default_transaction_read_only", false),
            ("RESET ALL", false),
            ("DISCARD ALL", false),
            ("PREPARE s FROM 'SET tx_read_only = 0'", false),
            ("/*! SET tx_read_only = 0 */", false),
            ("SELECT 1; SET TRANSACTION READ WRITE", false),
            ("CALL p()", false),
            ("DO $$ BEGIN END $$", false),
            ("INSERT INTO t VALUES (1)", false),
        ] {
            assert_eq!(check(text).is_ok(), is_sent, "{text}");
        }
    }
}

//! Restricts the statements of read-only sessions.
//!
//! Such a session is set to read-only when it begins, which is a default that statements can
//! change. So statements that could change it are not sent: allowed are only statements with the
//! first words below, transactions that begin without `READ WRITE`, and settings with plain names
//! that do not concern writing. Effects of functions are not visible here. PostgreSQL reports when
//! the default changes, and SQLite's files are opened read-only.

use crate::driver::Result;
use dyno_model::failure::{FailureKind, OperationFailure};

/// First words of allowed statements.
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
    // Used by dyno to terminate sessions that do not end by themselves.
    "kill",
];

/// Words allowed in a statement that begins a read-only transaction or sets the session's mode.
pub const BEGINNING: [&str; 18] = [
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
];

/// Not allowed in settings. Quoted names can be spelled in many ways.
const NOT_IN_SETTINGS: [&str; 9] =
    ["\"", "`", "@@", "/*", "read_only", "write", "global", "persist", "password"];

/// Maximum number of characters of a statement shown in a message.
const SHOWN: usize = 60;

/// Checks whether a text may be sent in a read-only session. `behind` returns the position after
/// the string, name or comment at a position, or of the next byte.
///
/// # Errors
/// When it might make the session writable.
pub(crate) fn check(text: &str, behind: impl Fn(&[u8], usize) -> usize) -> Result<()> {
    let (bytes, mut at, mut begin) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        if bytes[at] != b';' {
            at = behind(bytes, at);
            continue;
        }
        if !reads(&text[begin..at], &behind) {
            return Err(not_sent(text));
        }
        at += 1;
        begin = at;
    }
    if reads(&text[begin..], &behind) { Ok(()) } else { Err(not_sent(text)) }
}

fn not_sent(text: &str) -> OperationFailure {
    let shown: String = text.trim().chars().take(SHOWN).collect();
    undone(&format!("{shown:?} is not sent, because it may write or make the session writable"))
}

/// The error of a statement that might make a read-only session writable.
pub(crate) fn undone(what: &str) -> OperationFailure {
    FailureKind::BadStatement.failure(format!(
        "{what}; the session must stay read-only, because the database is not named with \
         --yes-write-to"
    ))
}

fn reads(statement: &str, behind: &impl Fn(&[u8], usize) -> usize) -> bool {
    // MySQL executes the content of such comments, which may be several statements.
    let is_executed = statement.contains("/*!") || statement.contains("/*M!");
    if is_executed && statement.contains(';') {
        return false;
    }
    let Some(statement) = without_comments_before(statement, behind) else { return false };
    let statement = statement.to_ascii_lowercase();
    let statement = statement.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let first: String = statement.chars().take_while(char::is_ascii_alphabetic).collect();
    match first.as_str() {
        "" => statement.is_empty(),
        "begin" | "start" => {
            let mut words = statement.split(|c: char| c.is_whitespace() || c == ',');
            words.all(|word| word.is_empty() || BEGINNING.contains(&word))
        }
        "set" => !NOT_IN_SETTINGS.iter().any(|part| statement.contains(part)),
        first => READING.contains(&first),
    }
}

/// A statement without leading comments; `None` where MySQL executes one of them.
fn without_comments_before(
    mut statement: &str,
    behind: impl Fn(&[u8], usize) -> usize,
) -> Option<&str> {
    loop {
        statement = statement.trim_start();
        if statement.starts_with("/*!") || statement.starts_with("/*M!") {
            return None;
        }
        match statement.starts_with(['-', '/', '#']).then(|| behind(statement.as_bytes(), 0)) {
            Some(end @ 2..) => statement = &statement[end..],
            _ => return Some(statement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::protocol::literal::Backslash;
    use crate::mysql::protocol::template;
    use crate::postgres::protocol::placeholder;

    fn postgres(text: &str) -> bool {
        check(text, |text, at| placeholder::behind(text, at, Backslash::EscapesWhereMarked)).is_ok()
    }

    fn mysql(text: &str) -> bool {
        check(text, |text, at| template::behind(text, at, Backslash::Escapes)).is_ok()
    }

    #[test]
    fn statements_that_may_make_a_read_only_session_writable_are_not_sent() {
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
            assert_eq!((postgres(text), mysql(text)), (is_sent, is_sent), "{text}");
        }
    }

    /// Strings, names and comments end where the server's do.
    #[test]
    fn a_statement_begins_where_it_begins_for_the_server() {
        for (text, by_postgres, by_mysql) in [
            ("SELECT 'a; b', \"c; d\" /* ; e */ -- ; f", true, true),
            ("SELECT 'it''s'; CALL p()", false, false),
            ("SELECT 'a\\'; CALL p(); -- '", false, true),
            ("SELECT E'a\\'; CALL p(); -- '", true, true),
            ("SELECT $$ ; CALL p() $$", true, false),
            ("/* /* */ SELECT */ BEGIN READ WRITE", false, true),
            ("/* /* */ BEGIN READ WRITE", true, false),
            ("SELECT 1 /*! ; SET tx_read_only = 0 */", false, false),
            ("SELECT 1--1; CALL p()", true, false),
            ("#\nCALL p()", false, false),
        ] {
            assert_eq!((postgres(text), mysql(text)), (by_postgres, by_mysql), "{text}");
        }
    }
}

//! SQLite's result codes as failure kinds. Codes and their meaning: <https://www.sqlite.org/rescode.html>.

use dyno_model::failure::{FailureKind, OperationFailure};
use rusqlite::ffi;

/// One result code, primary or extended.
struct Entry {
    code: i32,
    kind: FailureKind,
    sentence: &'static str,
}

const fn entry(code: i32, kind: FailureKind, sentence: &'static str) -> Entry {
    Entry { code, kind, sentence }
}

/// An extended code that is not listed is looked up by its lowest byte, the primary code.
#[rustfmt::skip]
const TABLE: &[Entry] = &[
    entry(ffi::SQLITE_BUSY, FailureKind::Busy, "another connection holds the lock; at COMMIT the transaction stays open"),
    entry(ffi::SQLITE_BUSY_RECOVERY, FailureKind::Busy, "another connection recovers the write-ahead log after a crash"),
    entry(ffi::SQLITE_BUSY_SNAPSHOT, FailureKind::Serialization, "another connection committed since this transaction first read; it can only be rolled back"),
    entry(ffi::SQLITE_BUSY_TIMEOUT, FailureKind::Busy, "a blocking lock was not granted in time"),
    entry(ffi::SQLITE_LOCKED, FailureKind::Busy, "a table is locked within this connection or its shared cache; no busy timeout applies"),
    entry(ffi::SQLITE_PROTOCOL, FailureKind::Busy, "several connections raced for the start of the write-ahead log; the transaction did not begin"),
    entry(ffi::SQLITE_CONSTRAINT_UNIQUE, FailureKind::DuplicateKey, "a unique index holds that value already"),
    entry(ffi::SQLITE_CONSTRAINT_PRIMARYKEY, FailureKind::DuplicateKey, "the primary key exists already"),
    entry(ffi::SQLITE_CONSTRAINT_ROWID, FailureKind::DuplicateKey, "the row id exists already"),
    entry(ffi::SQLITE_CONSTRAINT, FailureKind::Other, "a check, not-null or foreign-key constraint refused the row"),
    entry(ffi::SQLITE_READONLY, FailureKind::ReadOnly, "the database file or its folder cannot be written"),
    entry(ffi::SQLITE_FULL, FailureKind::OutOfResources, "the file system is full, or max_page_count is reached"),
    entry(ffi::SQLITE_NOMEM, FailureKind::OutOfResources, "SQLite could not get memory"),
    entry(ffi::SQLITE_IOERR, FailureKind::OutOfResources, "the operating system reported an I/O error"),
    entry(ffi::SQLITE_CORRUPT, FailureKind::Other, "the database file is damaged; run PRAGMA integrity_check"),
    entry(ffi::SQLITE_NOTADB, FailureKind::Unsupported, "the file is not an SQLite database, or it is encrypted"),
    entry(ffi::SQLITE_INTERRUPT, FailureKind::Cancelled, "interrupted; a transaction with writes was rolled back"),
    entry(ffi::SQLITE_ABORT, FailureKind::Cancelled, "ended by a ROLLBACK on the same connection"),
    entry(ffi::SQLITE_CANTOPEN, FailureKind::ConnectRefused, "the file cannot be opened or created; does its folder exist and may this user write there?"),
    entry(ffi::SQLITE_PERM, FailureKind::Permission, "the requested access mode cannot be had"),
    entry(ffi::SQLITE_AUTH, FailureKind::Permission, "an authoriser refused the statement"),
    entry(ffi::SQLITE_ERROR, FailureKind::BadStatement, "the statement is wrong, or names what does not exist"),
    entry(ffi::SQLITE_SCHEMA, FailureKind::BadStatement, "the schema kept changing while the statement was prepared"),
    entry(ffi::SQLITE_TOOBIG, FailureKind::BadStatement, "a text, row or statement is larger than SQLite allows"),
    entry(ffi::SQLITE_MISMATCH, FailureKind::BadStatement, "a value does not fit the column's type"),
    entry(ffi::SQLITE_RANGE, FailureKind::BadStatement, "a parameter's number is out of range"),
    entry(ffi::SQLITE_MISUSE, FailureKind::BadStatement, "the statement was used in a way SQLite forbids"),
    entry(ffi::SQLITE_NOLFS, FailureKind::Unsupported, "the file system has no files of that size"),
];

fn look_up(code: i32) -> Option<&'static Entry> {
    TABLE
        .iter()
        .find(|entry| entry.code == code)
        .or_else(|| TABLE.iter().find(|entry| entry.code == code & 0xff))
}

/// What a result code (primary or extended) means, as a fragment of a sentence.
#[must_use]
pub fn explain(code: u32) -> Option<&'static str> {
    look_up(i32::try_from(code).ok()?).map(|entry| entry.sentence)
}

/// A failure of rusqlite as data. The message holds SQLite's own words.
pub(super) fn failure(error: &rusqlite::Error) -> OperationFailure {
    match error {
        rusqlite::Error::SqliteFailure(inner, words) => {
            from_code(inner.extended_code, words.clone().unwrap_or_else(|| inner.to_string()))
        }
        rusqlite::Error::SqlInputError { error: inner, msg, .. } => {
            from_code(inner.extended_code, msg.clone())
        }
        // What is left are mistakes in how rusqlite is called, e.g. text with a zero byte as SQL.
        other => FailureKind::BadStatement.failure(other.to_string()),
    }
}

fn from_code(code: i32, message: String) -> OperationFailure {
    let kind = look_up(code).map_or(FailureKind::Other, |entry| entry.kind);
    OperationFailure { kind, code: code.unsigned_abs(), sqlstate: String::new(), message, position: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_classified_by_number_and_unlisted_extended_codes_by_their_primary() {
        let rows = [
            (5, FailureKind::Busy),
            (261, FailureKind::Busy),
            (517, FailureKind::Serialization),
            (773, FailureKind::Busy),
            (6, FailureKind::Busy),
            (262, FailureKind::Busy), // LOCKED_SHAREDCACHE by its primary
            (2067, FailureKind::DuplicateKey),
            (1555, FailureKind::DuplicateKey),
            (2579, FailureKind::DuplicateKey),
            (1299, FailureKind::Other), // NOTNULL
            (787, FailureKind::Other),  // FOREIGNKEY
            (8, FailureKind::ReadOnly),
            (1032, FailureKind::ReadOnly), // READONLY_DBMOVED
            (13, FailureKind::OutOfResources),
            (778, FailureKind::OutOfResources), // IOERR_WRITE
            (11, FailureKind::Other),
            (9, FailureKind::Cancelled),
            (14, FailureKind::ConnectRefused),
            (1, FailureKind::BadStatement),
            (99, FailureKind::Other),
        ];
        for (code, kind) in rows {
            let failure = from_code(code, "words".to_owned());
            assert_eq!((failure.kind, failure.code), (kind, code.unsigned_abs()), "code {code}");
        }
    }

    #[test]
    fn no_code_stands_in_the_table_twice() {
        let codes: std::collections::BTreeSet<_> = TABLE.iter().map(|entry| entry.code).collect();
        assert_eq!(codes.len(), TABLE.len());
        assert!(explain(99).is_none());
    }
}

//! Maps SQLite's result codes to failure kinds. Codes and their meaning:
//! <https://www.sqlite.org/rescode.html>.

use dyno_model::failure::{FailureKind, OperationFailure};
use rusqlite::ffi;

/// The kind of a result code. An extended code without an entry is classified by its lowest byte,
/// the primary code.
fn kind(code: i32) -> FailureKind {
    use FailureKind as Kind;
    match code {
        // Another connection has committed since this transaction first read; it can only be rolled
        // back.
        ffi::SQLITE_BUSY_SNAPSHOT => Kind::Serialization,
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => Kind::DuplicateKey,
        _ => by_primary(code & 0xff),
    }
}

/// The kind of a primary code. Violations of other constraints and damaged files have none.
fn by_primary(code: i32) -> FailureKind {
    use FailureKind as Kind;
    match code {
        // Another connection holds the lock (at COMMIT the transaction stays open), or a statement
        // of this one does (no busy timeout applies); or several connections raced for the start of
        // the write-ahead log, and the transaction did not begin.
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => Kind::Busy,
        ffi::SQLITE_READONLY => Kind::ReadOnly,
        // FULL: the file system is full, or max_page_count is reached.
        ffi::SQLITE_FULL | ffi::SQLITE_NOMEM | ffi::SQLITE_IOERR => Kind::OutOfResources,
        // The file is not a database, is encrypted, or would exceed the limit of its file system.
        ffi::SQLITE_NOTADB | ffi::SQLITE_NOLFS => Kind::Unsupported,
        // Interrupted, which rolls back a transaction with writes; or ended by a ROLLBACK on the
        // same connection.
        ffi::SQLITE_INTERRUPT | ffi::SQLITE_ABORT => Kind::Cancelled,
        ffi::SQLITE_CANTOPEN => Kind::ConnectRefused,
        ffi::SQLITE_PERM | ffi::SQLITE_AUTH => Kind::Permission,
        // SCHEMA: the schema kept changing while the statement was prepared.
        ffi::SQLITE_ERROR | ffi::SQLITE_SCHEMA | ffi::SQLITE_TOOBIG => Kind::BadStatement,
        ffi::SQLITE_MISMATCH | ffi::SQLITE_RANGE | ffi::SQLITE_MISUSE => Kind::BadStatement,
        _ => Kind::Other,
    }
}

/// Converts an error of rusqlite. The message contains SQLite's own text.
pub(super) fn failure(error: rusqlite::Error) -> OperationFailure {
    match error {
        rusqlite::Error::SqliteFailure(inner, words) => {
            from_code(inner.extended_code, words.unwrap_or_else(|| inner.to_string()))
        }
        rusqlite::Error::SqlInputError { error: inner, msg, .. } => {
            from_code(inner.extended_code, msg)
        }
        // The rest are errors in the use of rusqlite, e.g. SQL text with a zero byte.
        other => FailureKind::BadStatement.failure(other.to_string()),
    }
}

fn from_code(code: i32, message: String) -> OperationFailure {
    OperationFailure { code: code.unsigned_abs(), ..kind(code).failure(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_map_by_number_and_unlisted_ones_by_primary_code() {
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
}

//! The kind of a statement, which alone determines a canned reply.

dyno_model::named! {
    /// Kinds of statements, distinguished by their first word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StatementKind {
        /// Returns rows: `SELECT`, `WITH`, `VALUES`, `TABLE`.
        Select = "select",
        /// `INSERT`, `REPLACE`.
        Insert = "insert",
        /// `UPDATE`.
        Update = "update",
        /// `DELETE`.
        Delete = "delete",
        /// `BEGIN`, `START TRANSACTION`.
        Begin = "begin",
        /// `COMMIT`, `END`.
        Commit = "commit",
        /// `ROLLBACK`, `ABORT`.
        Rollback = "rollback",
        /// Everything else: DDL, `SET`, `SHOW`, `VACUUM`, an empty text.
        Other = "other",
    }
}

impl StatementKind {
    /// The kind of a statement. Leading blanks, opening parentheses and comments are skipped.
    #[must_use]
    pub fn of(sql: &[u8]) -> Self {
        let mut word = [0; 8];
        match first_word(skip_blanks(sql), &mut word) {
            b"SELECT" | b"WITH" | b"VALUES" | b"TABLE" => Self::Select,
            b"INSERT" | b"REPLACE" => Self::Insert,
            b"UPDATE" => Self::Update,
            b"DELETE" => Self::Delete,
            b"BEGIN" | b"START" => Self::Begin,
            b"COMMIT" | b"END" => Self::Commit,
            b"ROLLBACK" | b"ABORT" => Self::Rollback,
            _ => Self::Other,
        }
    }

    /// True for statements that change rows.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete)
    }
}

/// The text from its first word on, without leading blanks, opening parentheses and comments.
pub(crate) fn skip_blanks(mut sql: &[u8]) -> &[u8] {
    loop {
        sql = match sql {
            [b' ' | b'\t' | b'\r' | b'\n' | b'(' | b';', rest @ ..] => rest,
            [b'-', b'-', rest @ ..] => after(rest, b"\n"),
            [b'/', b'*', rest @ ..] => after(rest, b"*/"),
            _ => return sql,
        }
    }
}

/// The text after the first occurrence of `mark`; empty when there is none.
fn after<'a>(text: &'a [u8], mark: &[u8]) -> &'a [u8] {
    text.windows(mark.len())
        .position(|window| window == mark)
        .map_or(&[], |at| &text[at + mark.len()..])
}

/// The bytes outside quotes, with their positions. `quotes` are the bytes that begin and end a
/// quoted text.
pub(crate) fn unquoted<'a>(
    sql: &'a [u8],
    quotes: &'a [u8],
) -> impl Iterator<Item = (usize, u8)> + 'a {
    let mut open = None;
    sql.iter().copied().enumerate().filter(move |(_, byte)| match open {
        Some(quote) => {
            open = Some(quote).filter(|quote| quote != byte);
            false
        }
        None => {
            open = Some(*byte).filter(|byte| quotes.contains(byte));
            open.is_none()
        }
    })
}

/// The leading letters in upper case; empty when there are more than the buffer holds, which no
/// known word has.
pub(crate) fn first_word<'a>(sql: &[u8], room: &'a mut [u8]) -> &'a [u8] {
    let length = sql.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if length > room.len() {
        return &[];
    }
    room[..length].copy_from_slice(&sql[..length]);
    room[..length].make_ascii_uppercase();
    &room[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_determines_the_kind() {
        let rows: [(&str, StatementKind); 18] = [
            ("SELECT 1", StatementKind::Select),
            ("select 1", StatementKind::Select),
            ("  \n(SELECT 1)", StatementKind::Select),
            ("/* hint */ -- note\n select 1", StatementKind::Select),
            ("WITH x AS (SELECT 1) SELECT * FROM x", StatementKind::Select),
            ("INSERT INTO t VALUES (1)", StatementKind::Insert),
            ("replace into t values (1)", StatementKind::Insert),
            ("UPDATE t SET a=1", StatementKind::Update),
            ("DELETE FROM t", StatementKind::Delete),
            ("BEGIN", StatementKind::Begin),
            ("START TRANSACTION", StatementKind::Begin),
            ("COMMIT;", StatementKind::Commit),
            ("END", StatementKind::Commit),
            ("rollback", StatementKind::Rollback),
            ("CREATE TABLE t (a int)", StatementKind::Other),
            ("SELECTED", StatementKind::Other),
            ("", StatementKind::Other),
            ("/* never closed", StatementKind::Other),
        ];
        for (sql, kind) in rows {
            assert_eq!(StatementKind::of(sql.as_bytes()), kind, "{sql}");
        }
    }

    #[test]
    fn kinds_are_listed_at_their_own_index() {
        for (position, kind) in StatementKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, position);
        }
    }
}

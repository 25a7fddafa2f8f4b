//! One administrative connection: blocking, answers as text, never on a hot path. Every answer has a limit ([`dyno_drivers::patience`]).

use dyno_drivers::{Connection, Discard, Driver, Io, Patience, Table, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::target::{QueryMode, Target};

type Result<T> = std::result::Result<T, OperationFailure>;

/// A connection for questions about a system. Everything is sent as text, whatever the target's query mode, so that
/// nothing is left prepared on the server.
pub(crate) struct Session {
    connection: Connection,
}

impl Session {
    /// For questions that the system answers from what it knows.
    pub(crate) fn open(target: &Target) -> Result<Self> {
        Self::open_with(target, Patience::for_questions(target))
    }

    /// For statements that remove what dyno made, however much that is, also after the user has asked for the end.
    pub(crate) fn open_to_clean_up(target: &Target) -> Result<Self> {
        Self::open_with(target, Patience::for_work(target).unhurried())
    }

    fn open_with(target: &Target, patience: Patience) -> Result<Self> {
        let target = Target { query_mode: QueryMode::Simple, ..target.clone() };
        let connection = block_on(Connection::connect(&target, &Io::Patient(patience)))?;
        Ok(Self { connection })
    }

    pub(crate) fn server_version(&self) -> String {
        self.connection.server_version().to_owned()
    }

    /// Rows as text.
    pub(crate) fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut table = Table::default();
        block_on(self.connection.query(sql, &mut table))?;
        Ok(table.0)
    }

    /// Rows of two columns, of which neither is NULL.
    pub(crate) fn pairs(&mut self, sql: &str) -> Result<Vec<(String, String)>> {
        let rows = self.rows(sql)?;
        Ok(rows
            .into_iter()
            .filter_map(|row| {
                let mut fields = row.into_iter();
                Some((fields.next()??, fields.next()??))
            })
            .collect())
    }

    /// The first field of the first row; `None` when there is no row or it is NULL.
    pub(crate) fn first(&mut self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next().flatten()))
    }

    /// The first field as a number; 0 when there is none.
    pub(crate) fn count(&mut self, sql: &str) -> Result<u64> {
        Ok(self.first(sql)?.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
    }

    pub(crate) fn run(&mut self, sql: &str) -> Result<()> {
        block_on(self.connection.query(sql, &mut Discard)).map(|_outcome| ())
    }
}

impl Drop for Session {
    /// Says good-bye, so that the server does not log a broken connection.
    fn drop(&mut self) {
        block_on(self.connection.close());
    }
}

/// A text as an SQL literal. Only for names and values of dyno's own statements, in which a backslash never occurs
/// unless a user's table has one in its name: MySQL reads it as an escape, so it is doubled there by [`mysql_literal`].
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A text as a literal of MySQL, where the backslash escapes.
pub(crate) fn mysql_literal(text: &str) -> String {
    literal(&text.replace('\\', "\\\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_names_stay_inside_the_literal() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(mysql_literal("a\\'b"), "'a\\\\''b'");
    }
}

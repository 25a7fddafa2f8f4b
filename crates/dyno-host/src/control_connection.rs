//! An administrative connection: blocking, results as text, never on a hot path. Every answer has a
//! timeout ([`dyno_drivers::timeout`]).

use dyno_drivers::{Connection, Discard, Driver, Io, Table, TimeoutPolicy, block_on};
use dyno_model::engine::Identity;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{QueryMode, Target};

/// Result of a query.
pub(crate) type QueryResult<T> = Result<T, OperationFailure>;

/// A connection for queries about a system. Everything is sent as text, whatever the target's query
/// mode, so that no prepared statements stay on the server.
pub(crate) struct ControlConnection {
    connection: Connection,
}

impl ControlConnection {
    /// For queries that the system answers from its own state.
    pub(crate) fn open(target: &Target) -> QueryResult<Self> {
        Self::open_with(target, TimeoutPolicy::for_questions(target))
    }

    /// For statements whose duration depends on the amount of data; an interrupt by the user ends
    /// them.
    pub(crate) fn open_to_work(target: &Target) -> QueryResult<Self> {
        Self::open_with(target, TimeoutPolicy::for_work(target).hasty())
    }

    /// For statements that remove what dyno created, of any size, also after an interrupt by the
    /// user.
    pub(crate) fn open_to_clean_up(target: &Target) -> QueryResult<Self> {
        Self::open_with(target, TimeoutPolicy::for_work(target).unhurried())
    }

    fn open_with(target: &Target, timeout: TimeoutPolicy) -> QueryResult<Self> {
        let target = Target { query_mode: QueryMode::Simple, ..target.clone() };
        let connection = block_on(Connection::connect(&target, &Io::WithTimeout(timeout)))?;
        Ok(Self { connection })
    }

    pub(crate) fn identity(&self) -> Identity {
        self.connection.identity()
    }

    /// The server's id of the session.
    pub(crate) fn session_number(&self) -> Option<u32> {
        self.connection.session_number()
    }

    /// Result rows as text.
    pub(crate) fn rows(&mut self, sql: &str) -> QueryResult<Vec<Vec<Option<String>>>> {
        let mut table = Table::default();
        block_on(self.connection.query(sql, &mut table))?;
        Ok(table.0)
    }

    /// Rows of two columns, neither of which is NULL.
    pub(crate) fn pairs(&mut self, sql: &str) -> QueryResult<Vec<(String, String)>> {
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
    pub(crate) fn first(&mut self, sql: &str) -> QueryResult<Option<String>> {
        Ok(self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next().flatten()))
    }

    /// The first field, if it is a single word.
    pub(crate) fn word(&mut self, sql: &str) -> Option<String> {
        self.first(sql).ok().flatten().filter(|text| !text.contains(char::is_whitespace))
    }

    /// The first field as a number; 0 when there is none.
    pub(crate) fn count(&mut self, sql: &str) -> QueryResult<u64> {
        Ok(self.first(sql)?.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
    }

    pub(crate) fn run(&mut self, sql: &str) -> QueryResult<()> {
        block_on(self.connection.query(sql, &mut Discard)).map(|_outcome| ())
    }
}

impl Drop for ControlConnection {
    /// Closes the connection properly, so that the server does not log an aborted one.
    fn drop(&mut self) {
        block_on(self.connection.close());
    }
}

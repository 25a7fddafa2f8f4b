//! The interface that all drivers implement.

use crate::transport::Io;
use crate::value::{BulkLoad, RowSink, RowSource, Value};
use dyno_model::counters::OutcomeClass;
use dyno_model::engine::Identity;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use std::ops::AddAssign;
use std::time::Instant;

/// A prepared statement; valid only on the connection that prepared it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement(pub u32);

/// Result of a successful statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// True when the answer was a result set, even an empty one.
    pub has_rows: bool,
    /// Rows received.
    pub rows: u64,
    /// Rows changed according to the server. MySQL counts rows whose value changed, PostgreSQL and
    /// SQLite rows that matched.
    pub affected: u64,
}

impl Outcome {
    /// The class of this outcome for counters.
    #[must_use]
    pub fn class(&self) -> OutcomeClass {
        match (self.has_rows, self.affected) {
            (true, _) => OutcomeClass::Read,
            (false, 0) => OutcomeClass::Other,
            (false, _) => OutcomeClass::Write,
        }
    }
}

/// For the results of several statements together.
impl AddAssign for Outcome {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.has_rows |= other.has_rows;
        self.rows += other.rows;
        self.affected += other.affected;
    }
}

/// The error of a statement that was not prepared on this connection.
#[cold]
pub(crate) fn unprepared(statement: Statement) -> OperationFailure {
    let message = format!("statement {} was not prepared on this connection", statement.0);
    FailureKind::BadStatement.failure(message)
}

pub(crate) type Result<T> = std::result::Result<T, OperationFailure>;

/// The methods of every driver. Futures are polled by an [`crate::Executor`] when the connection
/// was opened with a reactor; opened with [`Io::Blocking`] or [`Io::WithTimeout`] they never pend,
/// and [`crate::block_on`] runs them.
///
/// SQL uses `?` for parameters in every dialect; drivers translate.
#[expect(
    async_fn_in_trait,
    reason = "drivers are used through one enum; futures stay on their thread"
)]
pub trait Driver: Sized {
    /// Opens a connection, authenticates, and runs `target.session_setup`, all within
    /// `target.connect_timeout`.
    async fn connect(target: &Target, io: &Io) -> Result<Self>;

    /// Product and version of the server.
    fn identity(&self) -> Identity;

    /// Prepares a statement: on the server in [`dyno_model::target::QueryMode::Prepared`],
    /// otherwise only on the client. Statements that the server cannot prepare (MySQL error 1295,
    /// such as `BEGIN`) are sent as text.
    async fn prepare(&mut self, sql: &str) -> Result<Statement>;

    /// Lets the server parse a statement without executing or keeping it, in every query mode.
    /// Statements that the server cannot prepare at all (MySQL error 1295) count as correct.
    async fn check(&mut self, sql: &str) -> Result<()>;

    /// Executes a prepared statement: one round trip.
    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome>;

    /// Sends text without parameters: one round trip.
    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome>;

    /// Loads rows with the engine's bulk interface; returns how many were loaded. The whole load is
    /// one transaction where the engine supports it.
    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64>;

    /// Closes the connection as the protocol specifies. Dropping a connection instead is an aborted
    /// connection for the server.
    async fn close(&mut self);

    /// Deallocates a prepared statement on the server, where it holds any. Its number is not reused
    /// on this connection.
    async fn forget(&mut self, _statement: Statement) -> Result<()> {
        Ok(())
    }

    /// True when a transaction is open on the connection, according to the server's last answer.
    fn is_in_transaction(&self) -> bool;

    /// The server's id of the session, by which it can be identified and terminated; `None` without
    /// a server. A proxy may report ids of its own.
    fn session_number(&self) -> Option<u32> {
        None
    }

    /// Whatever is not answered by this time fails with
    /// [`dyno_model::failure::FailureKind::Timeout`], after which the connection is unusable;
    /// `None` removes the limit. An embedded engine has no network to wait for, and no limit.
    fn set_deadline(&mut self, _deadline: Option<Instant>) {}

    /// For blocking connections: a function that another thread can call to end the current
    /// statement. SQLite's connections survive it, those to servers are broken by it.
    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }
}

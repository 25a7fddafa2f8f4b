//! The one interface of all drivers.

use crate::transport::Io;
use crate::value::{BulkLoad, RowSink, RowSource, Value};
use dyno_model::engine::Identity;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::ledger::OutcomeClass;
use dyno_model::target::Target;
use std::ops::AddAssign;
use std::time::Instant;

/// A statement prepared on one connection; valid on that connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement(pub u32);

/// What a successful statement left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// True when the answer was a result set, even an empty one.
    pub has_rows: bool,
    /// Rows received.
    pub rows: u64,
    /// Rows the server says it changed. MySQL counts rows whose value changed, PostgreSQL and
    /// SQLite rows that matched.
    pub affected: u64,
}

impl Outcome {
    /// What the statement counts as.
    #[must_use]
    pub fn class(&self) -> OutcomeClass {
        match (self.has_rows, self.affected) {
            (true, _) => OutcomeClass::Read,
            (false, 0) => OutcomeClass::Other,
            (false, _) => OutcomeClass::Write,
        }
    }
}

/// Of the results of several statements together.
impl AddAssign for Outcome {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.has_rows |= other.has_rows;
        self.rows += other.rows;
        self.affected += other.affected;
    }
}

/// A statement that its connection does not know.
#[cold]
pub(crate) fn unprepared(statement: Statement) -> OperationFailure {
    let message = format!("statement {} was not prepared on this connection", statement.0);
    FailureKind::BadStatement.failure(message)
}

pub(crate) type Result<T> = std::result::Result<T, OperationFailure>;

/// What every driver does. Futures are polled by an [`crate::Executor`] when the connection was
/// opened with a reactor; opened with [`Io::Blocking`] or [`Io::WithTimeout`] they never pend, and
/// [`crate::block_on`] runs them.
///
/// SQL is written with `?` for parameters in every dialect; drivers translate.
#[expect(
    async_fn_in_trait,
    reason = "drivers are used through one enum; futures stay on their thread"
)]
pub trait Driver: Sized {
    /// Opens a connection, authenticates, and runs `target.session_setup`. Never takes longer than
    /// `target.connect_timeout`.
    async fn connect(target: &Target, io: &Io) -> Result<Self>;

    /// Whose server it is, and its version.
    fn identity(&self) -> Identity;

    /// Makes a statement ready: on the server in [`dyno_model::target::QueryMode::Prepared`],
    /// otherwise only here. Statements that the server cannot prepare (MySQL error 1295, such as
    /// `BEGIN`) are sent as text without further ado.
    async fn prepare(&mut self, sql: &str) -> Result<Statement>;

    /// Has the server parse a statement, and execute nothing and keep nothing, in every query mode.
    /// Statements that the server cannot prepare at all (MySQL error 1295) are taken to be right.
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

    /// Loads rows by the engine's bulk path; returns how many were loaded. The whole load is one
    /// transaction where the engine allows.
    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64>;

    /// Says good-bye where the protocol has a word for it. Dropping a connection without it is a
    /// broken connection to the server.
    async fn close(&mut self);

    /// Has the server forget a prepared statement, where it remembers any. Its number is not used
    /// again on this connection.
    async fn forget(&mut self, _statement: Statement) -> Result<()> {
        Ok(())
    }

    /// True when a transaction is open on the connection, as the server said last.
    fn is_in_transaction(&self) -> bool;

    /// The server's number of the session, by which it can be found among all and ended; `None`
    /// where there is no server. A proxy on the way gives numbers of its own.
    fn session_number(&self) -> Option<u32> {
        None
    }

    /// Whatever is not answered at this time fails with
    /// [`dyno_model::failure::FailureKind::Timeout`], after which the connection is of no use;
    /// `None` lifts the limit. An engine inside the process answers without anybody's waiting, and
    /// has none.
    fn set_deadline(&mut self, _deadline: Option<Instant>) {}

    /// For connections that block: something another thread can call to end the statement in
    /// progress. SQLite's connections survive it, those to servers are broken by it.
    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        None
    }
}

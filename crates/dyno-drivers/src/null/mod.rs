//! Canned replies inside this process, for tests and calibration.

use crate::driver::{Driver, Outcome, Statement};
use crate::transport::Io;
use crate::value::{BulkLoad, RowSink, RowSource, Value};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;

/// A connection to nothing: every statement succeeds at once with one row whose only column is 1.
pub struct Connection {
    prepared: u32,
}

type Result<T> = std::result::Result<T, OperationFailure>;

impl Driver for Connection {
    async fn connect(_target: &Target, _io: &Io) -> Result<Self> {
        Ok(Self { prepared: 0 })
    }

    fn server_version(&self) -> &str {
        "null"
    }

    async fn prepare(&mut self, _sql: &str) -> Result<Statement> {
        self.prepared += 1;
        Ok(Statement(self.prepared - 1))
    }

    async fn execute<S: RowSink>(&mut self, _: Statement, _: &[Value<'_>], _sink: &mut S) -> Result<Outcome> {
        Ok(Outcome { has_rows: true, rows: 1, affected: 1 })
    }

    async fn query<S: RowSink>(&mut self, _sql: &str, _sink: &mut S) -> Result<Outcome> {
        Ok(Outcome { has_rows: true, rows: 1, affected: 1 })
    }

    async fn bulk_load(&mut self, _load: &BulkLoad<'_>, _rows: &mut dyn RowSource) -> Result<u64> {
        Ok(0)
    }

    async fn close(&mut self) {}
}

//! The [`crate::Driver`] implementation of this protocol.

use super::bulk;
use super::connection::{Connection, Known, State};
use super::login::log_in;
use super::protocol::command;
use super::protocol::reply::status;
use super::protocol::template;
use crate::driver::{Driver, Outcome, Result, Statement, unprepared};
use crate::transport::{ConnectFailure, Io, Stream, stream_failure};
use crate::value::{BulkLoad, Discard, RowSink, RowSource, Value};
use dyno_model::engine::Identity;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{QueryMode, Target};
use std::time::Instant;

impl Driver for Connection {
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        if target.query_mode == QueryMode::Extended {
            return Err(FailureKind::Unsupported.failure(
                "query mode `extended` exists only in \
                PostgreSQL's protocol; use `prepared` or `simple` for MySQL and MariaDB",
            ));
        }
        let deadline = Instant::now() + target.connect_timeout;
        let mut stream =
            Stream::connect(target.opened_at(), io, deadline).await.map_err(not_connected)?;
        stream.set_deadline(Some(deadline));
        let late = |failure: OperationFailure| match failure.kind {
            FailureKind::Timeout if failure.code == 0 => FailureKind::Timeout.failure(format!(
                "{} accepted the connection, but the login was not finished within {:?}",
                target.endpoint, target.connect_timeout
            )),
            _ => failure,
        };
        let mut connection = log_in(stream, target).await.map_err(late)?;
        for (i, sql) in target.session_setup.iter().enumerate() {
            connection.query(sql, &mut Discard).await.map_err(|failure| {
                // The statement itself is not shown, because it may contain a password.
                let message = format!("statement {} of session_setup: {}", i + 1, failure.message);
                late(OperationFailure { message, ..failure })
            })?;
        }
        connection.only_reads = target.only_reads;
        connection.stream.set_deadline(None);
        Ok(connection)
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.check_reads(sql.as_bytes())?;
        let known = match self.query_mode {
            QueryMode::Prepared => self.prepare_on_server(sql).await?,
            QueryMode::Simple | QueryMode::Extended => {
                Known::Text(template::parse(sql, self.backslash()))
            }
        };
        self.statements.push(known);
        Ok(Statement(self.statements.len() as u32 - 1))
    }

    async fn check(&mut self, sql: &str) -> Result<()> {
        if let Known::Prepared { id, .. } = self.prepare_on_server(sql).await? {
            self.output.clear();
            command::close_statement(&mut self.output, id);
            self.stream.write_all(&self.output).await.map_err(stream_failure)?;
        }
        Ok(())
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.send_execute(statement, parameters).await?;
        self.receive_all(Some(statement.0 as usize), sink).await
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        self.check_reads(sql.as_bytes())?;
        self.send_query(sql.as_bytes()).await?;
        self.receive_all(None, sink).await
    }

    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64> {
        bulk::load(self, load, rows).await
    }

    async fn forget(&mut self, statement: Statement) -> Result<()> {
        self.make_ready().await?;
        let known =
            self.statements.get_mut(statement.0 as usize).ok_or_else(|| unprepared(statement))?;
        // The server rejects later executions of it as an unknown statement.
        if let Known::Prepared { id, columns, .. } = known {
            *columns = Box::default();
            self.output.clear();
            command::close_statement(&mut self.output, *id);
            self.stream.write_all(&self.output).await.map_err(stream_failure)?;
        }
        Ok(())
    }

    fn is_in_transaction(&self) -> bool {
        self.status & status::IN_TRANSACTION != 0
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.thread)
    }

    async fn close(&mut self) {
        if self.state != State::InFlight {
            self.output.clear();
            command::quit(&mut self.output);
            // The server closes the connection without an answer; it may have done so already.
            let _ = self.stream.write_all(&self.output).await;
            self.state = State::InFlight;
        }
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.stream.set_deadline(deadline);
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.stream.interrupter()
    }
}

/// "Unknown server host", as reported by client libraries.
const UNKNOWN_HOST: u32 = 2005;

/// The error number and text of MySQL's own library for an unknown name.
fn not_connected(failure: ConnectFailure) -> OperationFailure {
    match failure {
        ConnectFailure::UnknownHost { host, reason } => OperationFailure {
            code: UNKNOWN_HOST,
            sqlstate: "HY000".into(),
            ..FailureKind::ConnectRefused
                .failure(format!("Unknown server host '{host}' ({reason})"))
        },
        ConnectFailure::Other(failure) => failure,
    }
}

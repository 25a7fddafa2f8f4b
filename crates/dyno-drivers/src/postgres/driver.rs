//! The [`crate::Driver`] implementation of this protocol.

use super::connect;
use super::connection::{Connection, Prepared, State, Unnamed, zero_byte};
use super::protocol::backend::TransactionStatus;
use super::protocol::frontend::{self, Execution};
use super::protocol::placeholder;
use super::protocol::reply::Shape;
use crate::driver::{Driver, Outcome, Result, Statement, unprepared};
use crate::reading;
use crate::transport::Io;
use crate::value::{BulkLoad, Discard, RowSink, RowSource, Value};
use dyno_model::engine::{Backslash, Identity};
use dyno_model::failure::FailureKind;
use dyno_model::target::{QueryMode, Target};
use std::time::Instant;

/// Step by which the list of statements grows: small, to save memory on thousands of connections.
const STATEMENTS_AT_A_TIME: usize = 4;

impl Driver for Connection {
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        connect::open(target, io).await
    }

    fn identity(&self) -> Identity {
        self.session.identity.clone()
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.check_reads(sql)?;
        self.begin()?;
        let template = placeholder::parse(sql, self.session.backslash());
        let count = template.parameters();
        if count > usize::from(u16::MAX) {
            return Err(FailureKind::BadStatement.failure(format!(
                "a statement with {count} parameters; PostgreSQL accepts at most {}",
                u16::MAX
            )));
        }
        let prepared = match self.mode {
            QueryMode::Prepared => self.prepare_on_server(&template).await?,
            QueryMode::Extended => Prepared::Unnamed(Box::new(Unnamed {
                execution: Execution::unnamed(&template.numbered()),
                count,
                shape: Shape::default(),
            })),
            QueryMode::Simple => Prepared::Text(Box::new(template)),
        };
        let known = self.statements.len();
        if known == self.statements.capacity() {
            self.statements.reserve_exact(STATEMENTS_AT_A_TIME.max(known / 4));
        }
        self.statements.push(prepared);
        Ok(Statement(self.statements.len() as u32 - 1))
    }

    async fn check(&mut self, sql: &str) -> Result<()> {
        require_no_zero(sql)?;
        self.begin()?;
        let template = placeholder::parse(sql, self.session.backslash());
        // The unnamed statement is replaced by the next one.
        frontend::parse("", &template.numbered(), &mut self.output);
        frontend::sync(&mut self.output);
        self.shape.clear();
        self.round_trip(None, &mut Discard).await.map(drop)
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.begin()?;
        let index = statement.0 as usize;
        let prepared = self.statements.get(index).ok_or_else(|| unprepared(statement))?;
        prepared.append::<S>(index, parameters, &mut self.output)?;
        match prepared {
            Prepared::Named(_) => {
                frontend::sync(&mut self.output);
                self.expect(index);
                self.round_trip(Some(index), sink).await
            }
            Prepared::Unnamed(_) => {
                frontend::sync(&mut self.output);
                let result = self.round_trip(Some(index), sink).await;
                if let Some(Prepared::Unnamed(unnamed)) = self.statements.get_mut(index)
                    && unnamed.shape.is_described
                {
                    unnamed.execution.stop_describing();
                }
                result
            }
            Prepared::Text(_) => {
                self.shape.clear();
                self.round_trip(None, sink).await
            }
        }
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        self.check_reads(sql)?;
        self.begin()?;
        frontend::query(&mut self.output, |text| text.extend_from_slice(sql.as_bytes()));
        self.shape.clear();
        self.round_trip(None, sink).await
    }

    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64> {
        self.copy(load, rows).await
    }

    async fn forget(&mut self, statement: Statement) -> Result<()> {
        let index = statement.0 as usize;
        if self.mode == QueryMode::Prepared && index < self.statements.len() {
            self.query(&format!("DEALLOCATE s{index}"), &mut Discard).await?;
        }
        if let Some(known) = self.statements.get_mut(index) {
            *known = Prepared::Text(Box::new(placeholder::parse("", Backslash::IsPlain)));
        }
        Ok(())
    }

    fn is_in_transaction(&self) -> bool {
        self.transaction_status() != TransactionStatus::Idle
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.backend_process())
    }

    async fn close(&mut self) {
        if self.begin().is_ok() {
            frontend::terminate(&mut self.output);
            // The server closes its side; a broken connection is closed as well.
            let _ = self.stream.write_all(&self.output).await;
        }
        self.state = State::Lost;
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.stream.set_deadline(deadline);
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.stream.interrupter()
    }
}

/// A zero byte would end the text in the protocol.
pub(super) fn require_no_zero(sql: &str) -> Result<()> {
    if sql.as_bytes().contains(&0) { Err(zero_byte()) } else { Ok(()) }
}

impl Connection {
    /// Checks whether a text may be sent in a read-only session.
    pub(super) fn check_reads(&self, sql: &str) -> Result<()> {
        require_no_zero(sql)?;
        if !self.only_reads {
            return Ok(());
        }
        reading::check(sql, |text, at| placeholder::behind(text, at, self.session.backslash()))
    }
}

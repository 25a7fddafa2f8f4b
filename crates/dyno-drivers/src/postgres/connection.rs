//! One connection: its state, and one write and one read per statement.

use super::protocol::backend::{Column, TransactionStatus};
use super::protocol::frontend::{self, Execution};
use super::protocol::greeting::Session;
use super::protocol::inbox::{Inbox, LENGTH_MAX, ROOM_KEPT};
use super::protocol::literal::ZeroByte;
use super::protocol::parameter::ParameterType;
use super::protocol::placeholder::Template;
use super::protocol::reply::{Progress, Reply, Shape};
use super::protocol::row::Field;
use crate::driver::{Driver, Outcome, Statement};
use crate::transport::{Io, Stream, stream_failure};
use crate::value::{BulkLoad, Discard, RowSink, RowSource, Value};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{QueryMode, Target};
use std::io;

pub(super) type Result<T> = std::result::Result<T, OperationFailure>;

/// Room for statements grows by so many: few enough not to waste memory on thousands of connections.
const STATEMENTS_AT_A_TIME: usize = 4;

/// A connection to PostgreSQL.
///
/// It is *ready* between statements, *busy* from the first byte of a request until ReadyForQuery, and *lost* after
/// anything that leaves the position in the stream unknown: a broken socket, malformed bytes, a fatal error, a future
/// that was dropped half-way (the connection then stays busy). Everything on a connection that is not ready fails at
/// once with [`FailureKind::ConnectionLost`].
pub struct Connection {
    pub(super) stream: Stream,
    pub(super) is_blocking: bool,
    pub(super) inbox: Inbox,
    pub(super) output: Vec<u8>,
    pub(super) state: State,
    pub(super) session: Session,
    mode: QueryMode,
    statements: Vec<Prepared>,
    /// Of statements that are not prepared.
    pub(super) shape: Shape,
    pub(super) fields: Vec<Field>,
    /// Statements that are sent before their answers are awaited.
    pub(super) pipeline: Option<Box<super::pipeline::Pipeline>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Busy,
    Lost,
}

/// A statement as it is executed.
enum Prepared {
    /// Prepared or extended mode.
    Bound { execution: Execution, count: usize, types: Vec<ParameterType>, shape: Shape },
    /// Simple mode.
    Text(Template),
}

/// Whose columns the rows of a reply have.
#[derive(Clone, Copy)]
pub(super) enum Of {
    /// A statement of the list.
    Statement(usize),
    /// A text that was sent as it is; its columns are described in the reply.
    Text,
}

impl Connection {
    pub(super) fn new(stream: Stream, io: &Io, target: &Target, session: Session, inbox: Inbox) -> Self {
        Self {
            stream,
            is_blocking: !matches!(io, Io::Reactor(_)),
            inbox,
            output: Vec::new(),
            state: State::Ready,
            session,
            mode: target.query_mode,
            statements: Vec::new(),
            shape: Shape::default(),
            fields: Vec::new(),
            pipeline: None,
        }
    }

    /// Process id of the session on the server.
    #[must_use]
    pub fn backend_process(&self) -> u32 {
        self.session.process
    }

    /// State of the transaction after the last statement.
    #[must_use]
    pub fn transaction_status(&self) -> TransactionStatus {
        self.session.transaction
    }

    /// Columns of a statement's rows, or with `None` those of the last text.
    #[must_use]
    pub fn columns(&self, statement: Option<Statement>) -> &[Column] {
        match statement.and_then(|statement| self.statements.get(statement.0 as usize)) {
            Some(Prepared::Bound { shape, .. }) => &shape.columns,
            _ => &self.shape.columns,
        }
    }

    /// Parameters that a prepared statement takes; `None` when it is none of this connection.
    #[must_use]
    pub fn parameters(&self, statement: Statement) -> Option<usize> {
        self.statements.get(statement.0 as usize).map(|prepared| match prepared {
            Prepared::Bound { count, .. } => *count,
            Prepared::Text(template) => template.parameters(),
        })
    }

    /// True when the connection can be used for another statement.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.state == State::Ready
    }

    /// Bytes held by buffers and prepared statements, without what TLS holds.
    #[must_use]
    pub fn memory(&self) -> usize {
        let statements: usize = self
            .statements
            .iter()
            .map(|statement| match statement {
                Prepared::Bound { execution, types, shape, .. } => {
                    execution.capacity() + types.capacity() + size_of_val(&shape.columns[..])
                }
                Prepared::Text(template) => template.capacity(),
            })
            .sum();
        let list = self.statements.capacity() * size_of::<Prepared>();
        size_of::<Self>() + self.inbox.capacity() + self.output.capacity() + list + statements
    }

    /// Empties the send buffer for the next request, if the connection can take one.
    pub(super) fn begin(&mut self) -> Result<()> {
        match self.state {
            State::Ready if self.pipeline.is_some() => Err(OperationFailure::new(
                FailureKind::BadStatement,
                "a pipeline is open on the connection; its answers must be awaited first",
            )),
            State::Ready => {
                self.output.clear();
                Ok(())
            }
            State::Busy => Err(OperationFailure::new(
                FailureKind::ConnectionLost,
                "the connection was left in the middle of a statement; open a new one",
            )),
            State::Lost => Err(OperationFailure::new(
                FailureKind::ConnectionLost,
                "the connection was lost before; open a new one",
            )),
        }
    }

    /// Sends what is in the send buffer.
    pub(super) async fn send(&mut self) -> Result<()> {
        if self.output.len() > LENGTH_MAX {
            return Err(OperationFailure::new(
                FailureKind::BadStatement,
                format!("a request of {} bytes; PostgreSQL takes at most {LENGTH_MAX}", self.output.len()),
            ));
        }
        self.state = State::Busy;
        match self.stream.write_all(&self.output).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken(&error).await),
        }
    }

    /// The stream cannot be written any more. A server that ends a session says why before it closes: that is looked for.
    pub(super) async fn broken(&mut self, error: &io::Error) -> OperationFailure {
        self.state = State::Lost;
        let mut reply = Reply::default();
        self.shape.clear();
        // Only a closed socket is read without waiting.
        if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            while let Ok(Progress::More) = self.digest(&mut reply, Of::Text, &mut Discard) {
                match self.stream.read(self.inbox.room()).await {
                    Ok(count) if count > 0 => self.inbox.received(count),
                    _ => break,
                }
            }
        }
        reply.failure.unwrap_or_else(|| stream_failure(error))
    }

    /// Reads a reply until it ends or the server waits for us.
    pub(super) async fn receive<S: RowSink>(
        &mut self,
        reply: &mut Reply,
        of: Of,
        sink: &mut S,
    ) -> Result<Progress> {
        loop {
            match self.digest(reply, of, sink) {
                Ok(Progress::More) => {}
                Ok(progress) => return Ok(progress),
                Err(failure) => {
                    self.state = State::Lost;
                    return Err(failure);
                }
            }
            if let Err(failure) = self.read_more().await {
                return Err(reply.failure.take().unwrap_or(failure));
            }
        }
    }

    /// Waits for more bytes.
    pub(super) async fn read_more(&mut self) -> Result<()> {
        match self.stream.read(self.inbox.room()).await {
            Ok(0) => {
                self.state = State::Lost;
                Err(closed())
            }
            Ok(count) => {
                self.inbox.received(count);
                Ok(())
            }
            Err(error) => {
                self.state = State::Lost;
                Err(stream_failure(&error))
            }
        }
    }

    /// Decodes what has arrived.
    pub(super) fn digest<S: RowSink>(&mut self, reply: &mut Reply, of: Of, sink: &mut S) -> Result<Progress> {
        let shape = match of {
            Of::Statement(index) => match self.statements.get_mut(index) {
                Some(Prepared::Bound { shape, .. }) => shape,
                _ => &mut self.shape,
            },
            Of::Text => &mut self.shape,
        };
        Ok(reply.read(&mut self.inbox, shape, &mut self.fields, sink)?)
    }

    /// Turns the end of a reply into the statement's result.
    pub(super) fn finish(&mut self, reply: Reply, progress: Progress) -> Result<Outcome> {
        match progress {
            Progress::Ready(transaction) => {
                self.session.transaction = transaction;
                self.state = State::Ready;
            }
            Progress::Closing | Progress::CopyIn | Progress::More => self.state = State::Lost,
        }
        if let Some(standard_strings) = reply.standard_strings {
            self.session.standard_strings = standard_strings;
        }
        self.inbox.settle();
        if self.output.capacity() > ROOM_KEPT {
            self.output = Vec::new();
        }
        match reply.failure {
            None if self.state == State::Ready => Ok(reply.outcome),
            None => Err(closed()),
            Some(failure) => Err(failure),
        }
    }

    /// One round trip: sends the buffer and reads the reply to its end.
    pub(super) async fn round_trip<S: RowSink>(&mut self, of: Of, sink: &mut S) -> Result<Outcome> {
        self.send().await?;
        let mut reply = Reply::default();
        let mut progress = self.receive(&mut reply, of, sink).await?;
        if progress == Progress::CopyIn {
            progress = self.refuse_copy(&mut reply, of).await?;
        }
        self.finish(reply, progress)
    }

    /// Ends a COPY that came from a statement's text and has no rows to send.
    async fn refuse_copy(&mut self, reply: &mut Reply, of: Of) -> Result<Progress> {
        let mut progress = Progress::CopyIn;
        // A text may hold several of them.
        while progress == Progress::CopyIn {
            self.output.clear();
            frontend::copy_fail("COPY FROM STDIN is not a statement of a workload", &mut self.output);
            if let Of::Statement(_) = of {
                // The Sync that came with Execute was swallowed as data.
                frontend::sync(&mut self.output);
            }
            self.send().await?;
            reply.failure.get_or_insert_with(|| {
                OperationFailure::new(
                    FailureKind::Unsupported,
                    "COPY FROM STDIN cannot be sent as a statement; rows are loaded by the workload's loader",
                )
            });
            progress = self.receive(reply, of, &mut Discard).await?;
        }
        Ok(progress)
    }

    /// Has the server parse a statement and tell its types.
    async fn prepare_on_server(&mut self, template: &Template) -> Result<Prepared> {
        let name = format!("s{}", self.statements.len());
        frontend::parse(&name, &template.numbered(), &mut self.output);
        frontend::describe_statement(&name, &mut self.output);
        frontend::sync(&mut self.output);
        self.shape.clear();
        self.round_trip(Of::Text, &mut Discard).await?;
        let columns: Vec<_> = self.shape.columns.iter().map(|column| column.as_requested()).collect();
        Ok(Prepared::Bound {
            execution: Execution::prepared(&name, &columns),
            count: self.shape.parameters.len(),
            types: self.shape.parameters.iter().map(|oid| ParameterType::from_oid(*oid)).collect(),
            shape: Shape {
                columns,
                returns_rows: self.shape.returns_rows,
                is_described: true,
                ..Shape::default()
            },
        })
    }
}

impl Connection {
    /// Appends the messages of one execution without an end of the round trip, for pipelines.
    pub(super) fn append_execution(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<()> {
        match self.statements.get(statement.0 as usize) {
            Some(prepared @ Prepared::Bound { .. }) => prepared.append(parameters, false, &mut self.output),
            Some(Prepared::Text(_)) => Err(OperationFailure::new(
                FailureKind::Unsupported,
                "the simple query mode has no pipelines; use extended or prepared",
            )),
            None => Err(unprepared(statement)),
        }
    }
}

impl Prepared {
    /// Appends one execution to the send buffer; the Sync behind it is left to the caller.
    fn append(&self, parameters: &[Value<'_>], is_described: bool, output: &mut Vec<u8>) -> Result<()> {
        let count = match self {
            Self::Bound { count, .. } => *count,
            Self::Text(template) => template.parameters(),
        };
        if count != parameters.len() {
            return Err(OperationFailure::new(
                FailureKind::BadStatement,
                format!("the statement has {count} parameters and was given {}", parameters.len()),
            ));
        }
        match self {
            Self::Bound { execution, types, .. } => execution.append(types, parameters, is_described, output),
            Self::Text(template) => {
                frontend::query(output, |sql| template.append_filled(parameters, sql))
                    .map_err(|ZeroByte| zero_byte())?;
            }
        }
        Ok(())
    }
}

fn unprepared(statement: Statement) -> OperationFailure {
    let message = format!("statement {} was not prepared on this connection", statement.0);
    OperationFailure::new(FailureKind::BadStatement, message)
}

fn closed() -> OperationFailure {
    OperationFailure::new(FailureKind::ConnectionLost, "the server closed the connection")
}

fn zero_byte() -> OperationFailure {
    OperationFailure::new(
        FailureKind::BadStatement,
        "a text with a zero byte (U+0000), which PostgreSQL cannot hold; remove it or store it as bytea",
    )
}

/// A zero byte would end the text on the wire.
fn require_no_zero(sql: &str) -> Result<()> {
    if sql.as_bytes().contains(&0) { Err(zero_byte()) } else { Ok(()) }
}

impl Driver for Connection {
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        super::connect::open(target, io).await
    }

    fn server_version(&self) -> &str {
        &self.session.server_version
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        require_no_zero(sql)?;
        self.begin()?;
        let template = Template::parse(sql, self.session.standard_strings);
        let count = template.parameters();
        if count > usize::from(u16::MAX) {
            return Err(OperationFailure::new(
                FailureKind::BadStatement,
                format!("a statement with {count} parameters; PostgreSQL takes at most {}", u16::MAX),
            ));
        }
        let prepared = match self.mode {
            QueryMode::Prepared => self.prepare_on_server(&template).await?,
            QueryMode::Extended => Prepared::Bound {
                execution: Execution::unnamed(&template.numbered(), true),
                count,
                types: Vec::new(),
                shape: Shape::default(),
            },
            QueryMode::Simple => Prepared::Text(template),
        };
        if self.statements.len() == self.statements.capacity() {
            self.statements.reserve_exact(STATEMENTS_AT_A_TIME);
        }
        self.statements.push(prepared);
        Ok(Statement(self.statements.len() as u32 - 1))
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.begin()?;
        let index = statement.0 as usize;
        let Some(prepared) = self.statements.get(index) else {
            return Err(unprepared(statement));
        };
        prepared.append(parameters, S::WANTS_NAMES, &mut self.output)?;
        if matches!(prepared, Prepared::Bound { .. }) {
            frontend::sync(&mut self.output);
        }
        match prepared {
            Prepared::Bound { .. } if self.mode == QueryMode::Prepared => {
                self.round_trip(Of::Statement(index), sink).await
            }
            Prepared::Bound { .. } => {
                let result = self.round_trip(Of::Statement(index), sink).await;
                if let Some(Prepared::Bound { execution, shape, .. }) = self.statements.get_mut(index)
                    && shape.is_described
                {
                    execution.stop_describing();
                }
                result
            }
            Prepared::Text(_) => {
                self.shape.clear();
                self.round_trip(Of::Text, sink).await
            }
        }
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        require_no_zero(sql)?;
        self.begin()?;
        let Ok(()) = frontend::query(&mut self.output, |text| {
            text.extend_from_slice(sql.as_bytes());
            Ok::<(), std::convert::Infallible>(())
        });
        self.shape.clear();
        self.round_trip(Of::Text, sink).await
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
            *known = Prepared::Text(Template::parse("", true));
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
            // The server closes its side; a connection that is broken already is closed as well.
            let _ = self.stream.write_all(&self.output).await;
        }
        self.state = State::Lost;
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.stream.interrupter()
    }
}

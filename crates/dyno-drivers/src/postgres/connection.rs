//! A connection: its state, and one write and one read per statement.

use super::protocol::backend::{Column, TransactionStatus};
use super::protocol::frontend::{self, Execution};
use super::protocol::greeting::SessionFacts;
use super::protocol::inbox::{Inbox, LENGTH_MAX, ROOM_KEPT};
use super::protocol::literal;
use super::protocol::parameter::ParameterType;
use super::protocol::reply::{Progress, Reply, Shape};
use super::protocol::row::Field;
use crate::driver::{Outcome, Result, Statement, unprepared};
use crate::reading;
use crate::sql_text::Template;
use crate::transport::{Io, Stream, stream_failure};
use crate::value::{Discard, RowSink, Value, too_many_rows};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{QueryMode, Target};
use std::io;
use std::sync::Arc;

/// A connection to PostgreSQL.
///
/// It is *ready* between statements, *busy* from the first byte of a request until ReadyForQuery,
/// and *lost* after anything that leaves the position in the stream unknown: a broken socket,
/// malformed bytes, a fatal error, a dropped future (the connection then stays busy). Operations on
/// a connection that is not ready fail at once with [`FailureKind::ConnectionLost`].
pub struct Connection {
    pub(super) stream: Stream,
    pub(super) is_blocking: bool,
    pub(super) inbox: Inbox,
    pub(super) output: Vec<u8>,
    pub(super) state: State,
    pub(super) session: SessionFacts,
    pub(super) mode: QueryMode,
    pub(super) statements: Vec<Prepared>,
    /// Recent layouts, because many statements have the same.
    layouts: Vec<Arc<Layout>>,
    /// The shape of statements that are not prepared.
    pub(super) shape: Shape,
    pub(super) fields: Vec<Field>,
    /// Statements sent before their answers are read.
    pub(super) pipeline: Option<Box<Pipeline>>,
    /// True for a read-only session, which is lost when it would write.
    pub(super) only_reads: bool,
}

/// An open pipeline.
#[derive(Debug, Default)]
pub struct Pipeline {
    /// Executions since the last Sync with unread answers.
    pub(super) executions: u64,
    /// Syncs with unread answers.
    pub(super) syncs: u64,
    /// Sum of all answers.
    pub(super) outcome: Outcome,
    /// The first error.
    pub(super) failure: Option<OperationFailure>,
    /// True when the server skips everything up to the next Sync.
    pub(super) is_skipping: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Busy,
    Lost,
}

/// A statement in executable form. There may be thousands of them on each of thousands of
/// connections.
pub(super) enum Prepared {
    /// Prepared on the server under its number.
    Named(Arc<Layout>),
    /// Parsed at each execution.
    Unnamed(Box<Unnamed>),
    /// Simple mode.
    Text(Box<Template>),
}

/// The server's description of a prepared statement, in the form needed for executing it.
/// Statements with the same description share one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    types: Box<[ParameterType]>,
    formats: Box<[u8]>,
    columns: Box<[Column]>,
    returns_rows: bool,
}

/// Extended mode.
pub(super) struct Unnamed {
    pub(super) execution: Execution,
    pub(super) count: usize,
    pub(super) shape: Shape,
}

/// Number of layouts that a new one is compared with.
const LAYOUTS_KEPT: usize = 16;

impl Connection {
    pub(super) fn new(
        stream: Stream,
        io: &Io,
        target: &Target,
        session: SessionFacts,
        inbox: Inbox,
    ) -> Self {
        Self {
            stream,
            is_blocking: !matches!(io, Io::Reactor(_)),
            inbox,
            output: Vec::new(),
            state: State::Ready,
            session,
            mode: target.query_mode,
            statements: Vec::new(),
            layouts: Vec::new(),
            shape: Shape::default(),
            fields: Vec::new(),
            pipeline: None,
            only_reads: false,
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

    /// Columns of a statement's rows, or for `None` those of the last text.
    #[must_use]
    pub fn columns(&self, statement: Option<Statement>) -> &[Column] {
        match statement.and_then(|statement| self.statements.get(statement.0 as usize)) {
            Some(Prepared::Named(layout)) => &layout.columns,
            Some(Prepared::Unnamed(unnamed)) => &unnamed.shape.columns,
            _ => &self.shape.columns,
        }
    }

    /// True when the connection can be used for another statement.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.state == State::Ready
    }

    /// Size of buffers and prepared statements in bytes, without TLS.
    #[must_use]
    pub fn memory(&self) -> usize {
        let statements: usize = self
            .statements
            .iter()
            .map(|statement| match statement {
                // An equal share of shared layouts.
                Prepared::Named(layout) => layout.memory() / (Arc::strong_count(layout) - 1).max(1),
                Prepared::Unnamed(unnamed) => {
                    let columns = size_of_val(&unnamed.shape.columns[..]);
                    size_of::<Unnamed>() + unnamed.execution.capacity() + columns
                }
                Prepared::Text(template) => size_of::<Template>() + template.capacity(),
            })
            .sum();
        let list = self.statements.capacity() * size_of::<Prepared>();
        size_of::<Self>() + self.inbox.capacity() + self.output.capacity() + list + statements
    }

    /// Clears the send buffer for the next request, if the connection is ready.
    pub(super) fn begin(&mut self) -> Result<()> {
        match self.state {
            State::Ready if self.pipeline.is_some() => Err(FailureKind::BadStatement
                .failure("a pipeline is open on the connection; end it first")),
            State::Ready => {
                self.output.clear();
                Ok(())
            }
            State::Busy => Err(FailureKind::ConnectionLost
                .failure("the connection was left in the middle of a statement; open a new one")),
            State::Lost => Err(FailureKind::ConnectionLost
                .failure("the connection was lost before; open a new one")),
        }
    }

    /// Sends the content of the send buffer.
    pub(super) async fn send(&mut self) -> Result<()> {
        if self.output.len() > LENGTH_MAX {
            return Err(FailureKind::BadStatement.failure(format!(
                "a request of {} bytes; PostgreSQL accepts at most {LENGTH_MAX}",
                self.output.len()
            )));
        }
        self.state = State::Busy;
        match self.stream.write_all(&self.output).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken(error).await),
        }
    }

    /// The stream can no longer be written. A server that ends a session sends the reason before
    /// closing, so that is read.
    pub(super) async fn broken(&mut self, error: io::Error) -> OperationFailure {
        self.state = State::Lost;
        let mut reply = Reply::default();
        self.shape.clear();
        // Only a closed socket can be read without waiting.
        if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            while let Ok(Progress::More) = self.digest(&mut reply, None, &mut Discard) {
                match self.stream.read(self.inbox.room()).await {
                    Ok(count) if count > 0 => self.inbox.received(count),
                    _ => break,
                }
            }
        }
        reply.failure.unwrap_or_else(|| stream_failure(error))
    }

    /// Reads a reply until it ends or the server waits for data. `of` is the statement that defines
    /// the columns of the rows; those of a text are described in the reply.
    pub(super) async fn receive<S: RowSink>(
        &mut self,
        reply: &mut Reply,
        of: Option<usize>,
        sink: &mut S,
    ) -> Result<Progress> {
        loop {
            // After a command nothing has arrived yet.
            let digested = if self.inbox.is_empty() {
                Ok(Progress::More)
            } else {
                self.digest(reply, of, sink)
            };
            match digested {
                Ok(Progress::More) if sink.is_full() => {
                    self.state = State::Lost;
                    return Err(too_many_rows());
                }
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
                Err(stream_failure(error))
            }
        }
    }

    /// Decodes received bytes.
    pub(super) fn digest<S: RowSink>(
        &mut self,
        reply: &mut Reply,
        of: Option<usize>,
        sink: &mut S,
    ) -> Result<Progress> {
        let shape = match of.and_then(|index| self.statements.get_mut(index)) {
            Some(Prepared::Unnamed(unnamed)) => &mut unnamed.shape,
            _ => &mut self.shape,
        };
        Ok(reply.read(&mut self.inbox, shape, &mut self.fields, sink)?)
    }

    /// Converts the end of a reply to the statement's result.
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
        if self.only_reads && reply.writes_by_default {
            self.state = State::Lost;
            return Err(reading::undone("default_transaction_read_only was set to off"));
        }
        self.inbox.release_space();
        if self.output.capacity() > ROOM_KEPT {
            self.output = Vec::new();
        }
        match reply.failure {
            None if self.state == State::Ready => Ok(reply.outcome),
            None => Err(closed()),
            Some(failure) => Err(failure),
        }
    }

    /// One round trip: sends the buffer and reads the complete reply.
    pub(super) async fn round_trip<S: RowSink>(
        &mut self,
        of: Option<usize>,
        sink: &mut S,
    ) -> Result<Outcome> {
        self.send().await?;
        let mut reply = Reply::default();
        let mut progress = self.receive(&mut reply, of, sink).await?;
        if progress == Progress::CopyIn {
            progress = self.refuse_copy(&mut reply, of).await?;
        }
        self.finish(reply, progress)
    }

    /// Ends a COPY from a statement's text, which has no rows to send.
    async fn refuse_copy(&mut self, reply: &mut Reply, of: Option<usize>) -> Result<Progress> {
        let mut progress = Progress::CopyIn;
        // A text may contain several of them.
        while progress == Progress::CopyIn {
            self.output.clear();
            frontend::copy_fail(
                "COPY FROM STDIN is not a statement of a workload",
                &mut self.output,
            );
            if of.is_some() {
                // The Sync sent with Execute was consumed as data.
                frontend::sync(&mut self.output);
            }
            self.send().await?;
            reply.failure.get_or_insert_with(|| {
                FailureKind::Unsupported.failure(
                    "COPY FROM STDIN cannot be sent as a statement; rows are loaded by the workload's loader",
                )
            });
            progress = self.receive(reply, of, &mut Discard).await?;
        }
        Ok(progress)
    }

    /// Prepares a statement on the server and gets its types.
    pub(super) async fn prepare_on_server(&mut self, template: &Template) -> Result<Prepared> {
        let mut name = Vec::new();
        frontend::statement_name(self.statements.len(), &mut name);
        let name = str::from_utf8(&name).expect("a letter and digits");
        frontend::parse(name, &template.numbered(), &mut self.output);
        frontend::describe_statement(name, &mut self.output);
        frontend::sync(&mut self.output);
        self.shape.clear();
        self.round_trip(None, &mut Discard).await?;
        let columns: Box<[_]> =
            self.shape.columns.iter().map(|column| column.as_requested()).collect();
        let layout = Layout {
            types: self.shape.parameters.iter().map(|oid| ParameterType::from_oid(*oid)).collect(),
            formats: frontend::result_formats(&columns).into(),
            columns,
            returns_rows: self.shape.returns_rows,
        };
        Ok(Prepared::Named(self.shared(layout)))
    }

    /// An equal existing layout, if there is one.
    fn shared(&mut self, layout: Layout) -> Arc<Layout> {
        if let Some(known) = self.layouts.iter().find(|known| ***known == layout) {
            return Arc::clone(known);
        }
        if self.layouts.len() == LAYOUTS_KEPT {
            self.layouts.remove(0);
        }
        let layout = Arc::new(layout);
        self.layouts.push(Arc::clone(&layout));
        layout
    }

    /// Sets the layout of a statement to that of the expected reply.
    pub(super) fn expect(&mut self, index: usize) {
        if let Some(Prepared::Named(layout)) = self.statements.get(index) {
            self.shape.clear();
            self.shape.columns.extend_from_slice(&layout.columns);
            (self.shape.returns_rows, self.shape.is_described) = (layout.returns_rows, true);
        }
    }
}

impl Connection {
    /// Appends the messages of one execution without ending the round trip, for pipelines.
    pub(super) fn append_execution(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
    ) -> Result<()> {
        let index = statement.0 as usize;
        match self.statements.get(index) {
            Some(prepared @ (Prepared::Named(_) | Prepared::Unnamed(_))) => {
                prepared.append::<Discard>(index, parameters, &mut self.output)
            }
            Some(Prepared::Text(_)) => Err(FailureKind::Unsupported
                .failure("the simple query mode has no pipelines; use extended or prepared")),
            None => Err(unprepared(statement)),
        }
    }
}

impl Layout {
    /// Bytes held.
    fn memory(&self) -> usize {
        let Self { types, formats, columns, .. } = self;
        size_of::<Self>()
            + size_of_val(&types[..])
            + size_of_val(&formats[..])
            + size_of_val(&columns[..])
    }
}

impl Prepared {
    /// Appends one execution to the send buffer; the caller adds the Sync. The names of columns are
    /// requested if the sink wants them.
    pub(super) fn append<S: RowSink>(
        &self,
        index: usize,
        parameters: &[Value<'_>],
        output: &mut Vec<u8>,
    ) -> Result<()> {
        let count = match self {
            Self::Named(layout) => layout.types.len(),
            Self::Unnamed(unnamed) => unnamed.count,
            Self::Text(template) => template.parameters(),
        };
        if count != parameters.len() {
            return Err(FailureKind::BadStatement.failure(format!(
                "the statement has {count} parameters, but {} were given",
                parameters.len()
            )));
        }
        match self {
            Self::Named(layout) => {
                let Layout { types, formats, .. } = &**layout;
                frontend::execute(Some(index), types, formats, parameters, output, S::WANTS_NAMES);
            }
            Self::Unnamed(unnamed) => unnamed.execution.append(parameters, S::WANTS_NAMES, output),
            Self::Text(template) => {
                if !frontend::query(output, |sql| template.fill(parameters, sql, literal::append)) {
                    return Err(zero_byte());
                }
            }
        }
        Ok(())
    }
}

fn closed() -> OperationFailure {
    FailureKind::ConnectionLost.failure("the server closed the connection")
}

pub(super) fn zero_byte() -> OperationFailure {
    FailureKind::BadStatement.failure(
        "a text with a zero byte (U+0000), which PostgreSQL cannot store; remove it or store it as \
         bytea",
    )
}

//! A connection: its prepared statements and the command in progress.

use super::error::failure;
use super::protocol::column::{Column, kind};
use super::protocol::literal::{Backslash, write_literal};
use super::protocol::packet::{self, KEEP_MAX, PacketBuffer, Span};
use super::protocol::reply::{
    Capabilities, Done, Prepared, Progress, Reply, RowSpace, ServerError, status,
};
use super::protocol::row::Encoding;
use super::protocol::{command, template};
use crate::driver::{Outcome, Result, Statement, unprepared};
use crate::reading;
use crate::sql_text::Template;
use crate::transport::{Stream, stream_failure};
use crate::value::{Discard, RowSink, Value, too_many_rows};
use dyno_model::engine::{Engine, Identity};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::QueryMode;
use std::io::{self, Read};

/// Opens a file by its name in a statement.
pub type FileOpener = fn(&str) -> io::Result<Box<dyn Read>>;

/// A connection to a server of the MySQL family.
///
/// States: `Ready` → `InFlight` when a command is sent → `Ready` when its answer is complete, or
/// `MoreResults` when another follows and the caller reads them one by one. A failure in between
/// leaves `InFlight`, and the connection unusable.
pub struct Connection {
    pub(super) stream: Stream,
    pub(super) input: PacketBuffer,
    pub(super) output: Vec<u8>,
    pub(super) state: State,
    reply: Reply,
    rows: Box<RowSpace>,
    pub(super) statements: Vec<Known>,
    pub(super) capabilities: Capabilities,
    pub(super) status: u16,
    pub(super) query_mode: QueryMode,
    pub(super) thread: u32,
    pub(super) identity: Identity,
    pub(super) file_opener: Option<FileOpener>,
    /// True for a read-only session.
    pub(super) only_reads: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    InFlight,
    MoreResults,
}

/// A known statement.
pub(super) enum Known {
    /// Parsed by the server.
    Prepared {
        id: u32,
        /// Types of the parameters as last sent to the server.
        kinds: Box<[u8]>,
        columns: Box<[Column]>,
        is_first: bool,
    },
    /// Sent as text.
    Text(Template),
}

impl Connection {
    pub(super) fn unauthenticated(stream: Stream, query_mode: QueryMode) -> Self {
        Self {
            stream,
            input: PacketBuffer::default(),
            output: Vec::new(),
            state: State::Ready,
            reply: Reply::new(Capabilities::default(), Encoding::Text),
            rows: Box::default(),
            statements: Vec::new(),
            capabilities: Capabilities::default(),
            status: 0,
            query_mode,
            thread: 0,
            identity: Identity::reported(Engine::Mysql, ""),
            file_opener: None,
            only_reads: false,
        }
    }

    /// The session's id on the server, for `KILL`.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Current size of the connection's own buffers in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    pub(super) fn backslash(&self) -> Backslash {
        match self.status & status::NO_BACKSLASH_ESCAPES {
            0 => Backslash::Escapes,
            _ => Backslash::IsPlain,
        }
    }

    /// Checks whether a text may be sent in a read-only session.
    pub(super) fn check_reads(&self, sql: &[u8]) -> Result<()> {
        if !self.only_reads {
            return Ok(());
        }
        reading::check(&String::from_utf8_lossy(sql), |text, at| {
            template::behind(text, at, self.backslash())
        })
    }

    /// Sends text that may hold several statements and receives the first result;
    /// [`Self::next_result`] returns the others, which are skipped when another command is sent.
    ///
    /// # Errors
    /// As [`crate::Driver::query`].
    pub async fn query_first<S: RowSink>(
        &mut self,
        sql: impl AsRef<[u8]>,
        sink: &mut S,
    ) -> Result<Outcome> {
        self.check_reads(sql.as_ref())?;
        self.send_query(sql.as_ref()).await?;
        self.receive_one(None, sink).await.map(|(outcome, _)| outcome)
    }

    /// Executes a prepared statement and receives the first result; [`Self::next_result`] returns
    /// the others of a procedure.
    ///
    /// # Errors
    /// As [`crate::Driver::execute`].
    pub async fn execute_first<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.send_execute(statement, parameters).await?;
        self.receive_one(Some(statement.0 as usize), sink).await.map(|(outcome, _)| outcome)
    }

    /// Columns of the last result set that was not discarded.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.rows.columns
    }

    /// Encoding of the rows of the last answer.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.reply.encoding
    }

    /// True when [`Self::next_result`] can return another result of the last text or procedure.
    #[must_use]
    pub fn has_more_results(&self) -> bool {
        self.state == State::MoreResults
    }

    /// The next result of a text of several statements, or of a procedure; `None` when there are no
    /// more.
    ///
    /// # Errors
    /// As [`crate::Driver::query`]; nothing follows a failed statement.
    pub async fn next_result<S: RowSink>(&mut self, sink: &mut S) -> Result<Option<Outcome>> {
        if self.state != State::MoreResults {
            return Ok(None);
        }
        self.receive_one(None, sink).await.map(|(outcome, _)| Some(outcome))
    }

    #[inline]
    pub(super) async fn send_execute(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
    ) -> Result<()> {
        self.make_ready().await?;
        let backslash = self.backslash();
        let index = statement.0 as usize;
        let Some(known) = self.statements.get_mut(index) else { return Err(unprepared(statement)) };
        self.output.clear();
        let (sequence, encoding) = match known {
            Known::Prepared { id, kinds, is_first, .. } => {
                check_parameters(kinds.len(), parameters.len())?;
                let sequence =
                    command::execute(&mut self.output, *id, parameters, kinds, *is_first);
                *is_first = false;
                (sequence, Encoding::Binary)
            }
            Known::Text(template) => {
                check_parameters(template.parameters(), parameters.len())?;
                let at = command::begin_query(&mut self.output);
                let write =
                    |value: &Value<'_>, out: &mut Vec<u8>| write_literal(out, value, backslash);
                if !template.fill(parameters, &mut self.output, write) {
                    return Err(FailureKind::Unsupported.failure(
                        "SQL has no literal for NaN and infinity; use query mode `prepared`",
                    ));
                }
                (packet::finish(&mut self.output, at, 0), Encoding::Text)
            }
        };
        self.send(sequence, encoding).await
    }

    pub(super) async fn prepare_on_server(&mut self, sql: &str) -> Result<Known> {
        self.make_ready().await?;
        self.output.clear();
        let sequence = command::prepare(&mut self.output, sql.as_bytes());
        self.send(sequence, Encoding::Binary).await?;
        let span = self.packet().await?;
        let payload = self.input.payload(span);
        if payload.first() == Some(&0xFF) {
            let error = ServerError::decode(payload)?;
            self.state = State::Ready;
            return match error.code {
                UNSUPPORTED_PREPARED => Ok(Known::Text(template::parse(sql, self.backslash()))),
                TOO_MANY_PREPARED => Err(self.too_many_prepared(error)),
                _ => Err(failure(self.identity.product, error)),
            };
        }
        let prepared = Prepared::decode(payload)?;
        let mut columns = Vec::new();
        for i in 0..prepared.packets_behind(self.capabilities) {
            let span = self.packet().await?;
            // The columns are sent with each answer, unless the server knows that the client caches
            // them.
            if self.capabilities.has_cached_metadata && prepared.is_column(i, self.capabilities) {
                let column = Column::decode(self.input.payload(span))?;
                columns.push(column);
            }
        }
        self.finish_exchange();
        let kinds = vec![kind::NULL; prepared.parameters.into()].into();
        Ok(Known::Prepared { id: prepared.id, kinds, columns: columns.into(), is_first: true })
    }

    fn too_many_prepared(&self, error: ServerError) -> OperationFailure {
        let own =
            self.statements.iter().filter(|known| matches!(known, Known::Prepared { .. })).count();
        let mut failure = failure(self.identity.product, error);
        failure.message = format!(
            "{}; this connection holds {own} prepared statements: raise max_prepared_stmt_count on \
             the server to clients times statements, use fewer clients, or use query mode simple",
            failure.message
        );
        failure
    }

    /// Skips unread results, so that the next command finds the connection idle.
    #[inline]
    pub(super) async fn make_ready(&mut self) -> Result<()> {
        loop {
            match self.state {
                State::Ready => return Ok(()),
                State::InFlight => {
                    return Err(FailureKind::ConnectionLost.failure(
                        "the connection broke earlier, in the middle of a statement; reconnect",
                    ));
                }
                State::MoreResults => {
                    // A failure of a later statement belongs to a command that is finished.
                    if let Err(failure) = self.receive_one(None, &mut Discard).await
                        && self.state == State::InFlight
                    {
                        return Err(failure);
                    }
                }
            }
        }
    }

    pub(super) async fn send_query(&mut self, sql: &[u8]) -> Result<()> {
        self.make_ready().await?;
        self.output.clear();
        let sequence = command::query(&mut self.output, sql);
        self.send(sequence, Encoding::Text).await
    }

    /// Sends the content of `output`.
    #[inline]
    pub(super) async fn send(&mut self, sequence: u8, encoding: Encoding) -> Result<()> {
        self.state = State::InFlight;
        self.reply = Reply::new(self.capabilities, encoding);
        self.input.expect(sequence);
        match self.stream.write_all(&self.output).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// A server that closes the connection has often sent the reason before, which is what the user
    /// needs.
    #[cold]
    pub(super) async fn explain(&mut self, error: io::Error) -> OperationFailure {
        if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
            && let Ok(span) = self.packet().await
            && let payload @ [0xFF, ..] = self.input.payload(span)
            && let Ok(error) = ServerError::decode(payload)
        {
            return failure(self.identity.product, error);
        }
        stream_failure(error)
    }

    /// Receives more bytes.
    #[inline]
    async fn fill(&mut self) -> Result<()> {
        match self.stream.read(self.input.space()).await {
            Ok(0) => Err(FailureKind::ConnectionLost.failure("the server closed the connection")),
            Ok(count) => {
                self.input.received(count);
                Ok(())
            }
            Err(error) => Err(stream_failure(error)),
        }
    }

    /// The next packet.
    pub(super) async fn packet(&mut self) -> Result<Span> {
        loop {
            match self.input.pop()? {
                Some(span) => return Ok(span),
                None => self.fill().await?,
            }
        }
    }

    /// Receives all results of a command and adds them up.
    #[inline]
    pub(super) async fn receive_all<S: RowSink>(
        &mut self,
        statement: Option<usize>,
        sink: &mut S,
    ) -> Result<Outcome> {
        let (mut sum, _) = self.receive_one(statement, sink).await?;
        while self.state == State::MoreResults {
            sum += self.receive_one(statement, sink).await?.0;
        }
        Ok(sum)
    }

    /// Receives one result, with the content of its last packet.
    #[inline]
    pub(super) async fn receive_one<S: RowSink>(
        &mut self,
        statement: Option<usize>,
        sink: &mut S,
    ) -> Result<(Outcome, Done)> {
        loop {
            // After a command nothing has arrived yet.
            let progress = if self.input.is_drained() {
                Progress::NeedMore
            } else {
                self.advance(statement, sink)?
            };
            match progress {
                Progress::NeedMore if sink.is_full() => return Err(too_many_rows()),
                Progress::NeedMore => self.fill().await?,
                Progress::Complete(done) => {
                    let outcome = Outcome {
                        has_rows: self.reply.has_rows(),
                        rows: self.reply.rows(),
                        affected: done.affected,
                    };
                    return Ok((outcome, done));
                }
                Progress::Refused(error) => return Err(failure(self.identity.product, error)),
                Progress::WantsFile(name) => self.answer_file_request(&name).await?,
            }
        }
    }

    /// Processes what has been received, and updates the connection's state.
    #[inline]
    pub(super) fn advance<S: RowSink>(
        &mut self,
        statement: Option<usize>,
        sink: &mut S,
    ) -> Result<Progress> {
        let cached = match statement.map(|index| &self.statements[index]) {
            Some(Known::Prepared { columns, .. }) => columns,
            _ => &[][..],
        };
        let progress = self.reply.advance(&mut self.input, &mut self.rows, cached, sink)?;
        if self.reply.has_new_columns
            && progress != Progress::NeedMore
            && let Some(index) = statement
            && let Known::Prepared { columns, .. } = &mut self.statements[index]
        {
            *columns = self.rows.columns.as_slice().into();
        }
        match &progress {
            Progress::Complete(done) => {
                self.status = done.status;
                if self.reply.has_more() {
                    self.state = State::MoreResults;
                } else {
                    self.finish_exchange();
                }
            }
            Progress::Refused(_) => self.finish_exchange(),
            Progress::NeedMore | Progress::WantsFile(_) => {}
        }
        Ok(progress)
    }

    #[inline]
    fn finish_exchange(&mut self) {
        self.state = State::Ready;
        self.input.trim();
        // The buffer of a large statement is kept while such statements follow, and released with
        // the first small one.
        if self.output.capacity() > KEEP_MAX && self.output.len() <= KEEP_MAX {
            self.output.shrink_to(KEEP_MAX);
        }
    }

    pub(super) async fn receive_declined(&mut self) -> Result<Progress> {
        loop {
            match self.advance(None, &mut Discard)? {
                Progress::NeedMore => self.fill().await?,
                progress => return Ok(progress),
            }
        }
    }

    /// Receives up to the server's request for a file; any other answer is the end of the
    /// statement.
    pub(super) async fn receive_file_request(&mut self) -> Result<()> {
        match self.receive_declined().await? {
            Progress::WantsFile(_) => Ok(()),
            Progress::Refused(error) => Err(failure(self.identity.product, error)),
            _ => Err(FailureKind::Protocol.failure("LOAD DATA ended before any data was sent")),
        }
    }
}

/// "This command is not supported in the prepared statement protocol yet."
const UNSUPPORTED_PREPARED: u16 = 1295;
/// "Can't create more than max_prepared_stmt_count statements."
const TOO_MANY_PREPARED: u16 = 1461;

#[inline]
fn check_parameters(takes: usize, given: usize) -> Result<()> {
    if takes == given {
        return Ok(());
    }
    Err(FailureKind::BadStatement
        .failure(format!("the statement has {takes} parameters, but {given} were given")))
}

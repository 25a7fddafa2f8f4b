//! A connection with its prepared statements that measures every statement it sends.

use crate::client_id::ClientId;
use crate::commit_ledger::INSERT;
use crate::fatal::FatalCause;
use crate::recording::SharedRecorder;
use crate::recording::recorder::{StatementOk, UNNAMED};
use crate::settling::OpenSessions;
use crate::window::{MeasurementWindow, Period};
use dyno_drivers::{
    Connection, Discard, Driver, Io, Outcome, RowSink, Statement, TimeoutPolicy, Value,
};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::failure_log::Failed;
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The connection that a workload's transaction works with. All sending methods return the server's
/// error, and connecting returns the driver's error.
pub struct Session {
    connection: Connection,
    statements: Vec<Prepared>,
    /// `None` for workloads without transactions.
    control: Option<Control>,
    /// Writes a row of the commit ledger, if there is one.
    ledger: Option<Prepared>,
    /// Client and number of the transaction in progress, for the commit ledger.
    ledger_key: (u32, u64),
    /// Kind of BEGIN; COMMIT and ROLLBACK follow.
    begin_kind: u16,
    recorder: SharedRecorder,
    plan: Arc<SessionPlan>,
    window: Arc<MeasurementWindow>,
    /// Whether the transaction in progress counts.
    period: Period,
    is_in_transaction: bool,
    is_committing: bool,
    is_in_doubt: bool,
    last_end: u64,
    last_kind: u16,
    /// Statements that were prepared on the current connection when they were first sent, indexed
    /// by kind.
    prepared: Vec<Option<Statement>>,
    /// Kind of the last statement that failed in this attempt.
    failed_kind: Option<u16>,
    /// Its text, if known.
    failed_sql: Option<String>,
    intended_start: u64,
    target: Arc<Target>,
    io: Io,
    seed: u64,
}

#[derive(Clone, Copy)]
struct Prepared {
    statement: Statement,
    kind_index: u16,
}

/// BEGIN, COMMIT and ROLLBACK; their kinds come after the workload's own.
#[derive(Clone, Copy)]
struct Control {
    begin: Prepared,
    commit: Prepared,
    rollback: Prepared,
}

/// A statement that every connection prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    /// SQL of the engine's dialect, `?` for parameters.
    pub sql: String,
    /// Index of its kind among those of the workload.
    pub kind_index: u16,
}

/// The parameters of [`Session::open`] besides the target; the same for all clients of a trial.
#[derive(Debug, Clone)]
pub struct SessionPlan {
    /// Sent once after connecting, unmeasured.
    pub setup: Vec<String>,
    /// Prepared on every connection, addressed by index.
    pub statements: Vec<StatementText>,
    /// Names of all kinds: the workload's, with a commit ledger `ledger`, then `begin`, `commit`,
    /// `rollback`.
    pub kinds: Vec<&'static str>,
    /// How a transaction begins (`BEGIN`, or `BEGIN IMMEDIATE` on SQLite).
    pub begin: Option<&'static str>,
    /// Whether transactions leave rows in the commit ledger.
    pub has_ledger: bool,
    /// Longest wait for each answer; `None`: unlimited.
    pub statement_timeout: Option<Duration>,
    /// The sessions that were opened with this plan.
    pub sessions: Arc<OpenSessions>,
}

impl SessionPlan {
    /// Sets up a new connection as one of these sessions.
    async fn set_up(&self, connection: &mut Connection, target: &Target) -> Result<()> {
        self.sessions.opened(connection);
        for sql in &self.setup {
            self.apply_opening_timeout(connection, target);
            connection.query(sql, &mut Discard).await?;
        }
        Ok(())
    }

    /// While a session is opened, every answer has a time limit, whatever the load configures:
    /// nothing else would end the wait for a server, or a connection pool in front of it, that
    /// accepts connections and never answers.
    fn apply_opening_timeout(&self, connection: &mut Connection, target: &Target) {
        let limit =
            self.statement_timeout.unwrap_or_else(|| TimeoutPolicy::limit_of_questions(target));
        connection.set_deadline(Some(Instant::now() + limit));
    }

    /// The session is open: from now on only the load's timeout applies.
    fn finish_opening(&self, connection: &mut Connection) {
        if self.statement_timeout.is_none() {
            connection.set_deadline(None);
        }
    }

    /// Applies the statement timeout to the next answer, if there is one.
    fn apply_statement_timeout(&self, connection: &mut Connection) {
        if let Some(limit) = self.statement_timeout {
            connection.set_deadline(Some(Instant::now() + limit));
        }
    }
}

/// Kinds every workload has after its own, in this order.
pub const CONTROL_KINDS: [&str; 3] = ["begin", COMMIT, "rollback"];
/// The kind of the COMMIT that the session sends.
pub(crate) const COMMIT: &str = "commit";

type Result<T> = std::result::Result<T, OperationFailure>;

/// Connects. The state of connecting is on the heap: it is several times larger than what a client
/// needs afterwards, and thousands of clients would keep room for it in their tasks.
async fn connect(target: &Target, io: &Io) -> Result<Connection> {
    Box::pin(Connection::connect(target, io)).await
}

impl Session {
    /// Connects and prepares, unmeasured.
    pub(crate) async fn open(
        target: &Arc<Target>,
        plan: &Arc<SessionPlan>,
        io: &Io,
        recorder: SharedRecorder,
        window: Arc<MeasurementWindow>,
        seed: u64,
    ) -> Result<Self> {
        let mut connection = connect(target, io).await?;
        plan.set_up(&mut connection, target).await?;
        let mut statements = Vec::with_capacity(plan.statements.len());
        for text in &plan.statements {
            plan.apply_opening_timeout(&mut connection, target);
            statements.push(Prepared {
                statement: connection.prepare(&text.sql).await?,
                kind_index: text.kind_index,
            });
        }
        plan.apply_opening_timeout(&mut connection, target);
        let first = (plan.kinds.len() - CONTROL_KINDS.len()) as u16;
        let ledger = match plan.has_ledger {
            false => None,
            true => Some(Prepared {
                statement: connection.prepare(INSERT).await?,
                kind_index: first - 1,
            }),
        };
        let control = match plan.begin {
            None => None,
            Some(begin) => Some(Control {
                begin: Prepared { statement: connection.prepare(begin).await?, kind_index: first },
                commit: Prepared {
                    statement: connection.prepare("COMMIT").await?,
                    kind_index: first + 1,
                },
                rollback: Prepared {
                    statement: connection.prepare("ROLLBACK").await?,
                    kind_index: first + 2,
                },
            }),
        };
        if let Some(flush) = target.engine.traits().flush_statistics {
            // A server without this statement counts the statements of connecting too.
            let _ = connection.query(flush, &mut Discard).await;
        }
        plan.finish_opening(&mut connection);
        Ok(Self {
            connection,
            statements,
            control,
            ledger,
            ledger_key: (0, 0),
            begin_kind: first,
            recorder,
            plan: Arc::clone(plan),
            window,
            period: Period::WarmUp,
            is_in_transaction: false,
            is_committing: false,
            is_in_doubt: false,
            last_end: 0,
            last_kind: 0,
            prepared: Vec::new(),
            failed_kind: None,
            failed_sql: None,
            intended_start: 0,
            target: Arc::clone(target),
            io: io.clone(),
            seed,
        })
    }

    /// Executes a prepared statement by its index in the plan and measures it.
    pub async fn execute<S: RowSink>(
        &mut self,
        index: usize,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.execute_measured(self.statements[index], parameters, sink).await
    }

    /// Executes a prepared statement and discards its rows.
    pub async fn run(&mut self, index: usize, parameters: &[Value<'_>]) -> Result<Outcome> {
        self.execute_measured(self.statements[index], parameters, &mut Discard).await
    }

    /// Sends text and measures it as a statement of a kind.
    pub async fn text(&mut self, kind_index: u16, sql: &str) -> Result<Outcome> {
        self.send_text(kind_index, sql, &mut Discard).await
    }

    /// The same, passing its rows to a sink.
    pub async fn send_text<S: RowSink>(
        &mut self,
        kind_index: u16,
        sql: &str,
        sink: &mut S,
    ) -> Result<Outcome> {
        let result =
            self.measure(kind_index, async |connection| connection.query(sql, sink).await).await;
        if result.is_err() {
            self.failed_sql = Some(sql.to_owned());
        }
        result
    }

    /// Executes a statement that is the only one of its kind. Each connection prepares it when it
    /// is first sent there; that time counts as part of the statement's time.
    pub async fn execute_sql<S: RowSink>(
        &mut self,
        kind_index: u16,
        sql: &str,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        let mut known = self.prepared_statement(kind_index);
        let execute = async |connection: &mut Connection| {
            let statement = match known {
                Some(statement) => statement,
                None => *known.insert(connection.prepare(sql).await?),
            };
            connection.execute(statement, parameters, sink).await
        };
        let result = self.measure(kind_index, execute).await;
        self.prepared[usize::from(kind_index)] = known;
        if result.is_err() {
            self.failed_sql = Some(sql.to_owned());
        }
        result
    }

    /// Returns the statement of a kind on the current connection, and prepares it if necessary;
    /// unmeasured.
    pub async fn prepared(&mut self, kind_index: u16, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.prepared_statement(kind_index) {
            return Ok(statement);
        }
        self.plan.apply_statement_timeout(&mut self.connection);
        let statement = self.connection.prepare(sql).await?;
        self.prepared[usize::from(kind_index)] = Some(statement);
        Ok(statement)
    }

    fn prepared_statement(&mut self, kind_index: u16) -> Option<Statement> {
        let index = usize::from(kind_index);
        if index >= self.prepared.len() {
            self.prepared.resize(index + 1, None);
        }
        self.prepared[index]
    }

    /// Measures any use of the connection as one operation of a kind. All measured operations go
    /// through this method: prepared statements and texts in this file, and driver-specific
    /// operations of workloads that know the driver (docs/decisions/013-what-an-engine-says.md).
    pub async fn measure(
        &mut self,
        kind_index: u16,
        operation: impl AsyncFnOnce(&mut Connection) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let start = self.window.now();
        self.record_sent(kind_index);
        self.plan.apply_statement_timeout(&mut self.connection);
        let result = operation(&mut self.connection).await;
        if result.is_err() {
            self.failed_sql = None;
        }
        self.record_result(kind_index, start, result)
    }

    /// The connection itself; its use is not measured. Its replies are subject to the statement
    /// timeout from now on.
    pub fn connection(&mut self) -> &mut Connection {
        self.plan.apply_statement_timeout(&mut self.connection);
        &mut self.connection
    }

    /// The target that it connects to.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Closes the connection. [`Self::reconnect`] must follow before anything else is sent.
    pub async fn disconnect(&mut self) {
        self.connection.close().await;
    }

    /// Replaces the current connection by a new one. Prepared statements are lost.
    pub async fn reconnect(&mut self) -> Result<()> {
        self.connection = connect(&self.target, &self.io).await?;
        self.prepared.clear();
        self.plan.set_up(&mut self.connection, &self.target).await?;
        self.plan.finish_opening(&mut self.connection);
        self.last_end = self.window.now();
        Ok(())
    }

    /// The same for a connection that accepts no further operation; counted as a reconnect of the
    /// client.
    pub async fn renew(&mut self) -> Result<()> {
        self.reconnect().await?;
        let (now, period) = (self.last_end, self.period);
        self.recorder.record(|recorder| recorder.reconnected(now, period));
        Ok(())
    }

    /// Waits without blocking other clients of the worker.
    pub async fn sleep(&self, duration: Duration) {
        self.io.sleep(duration).await;
    }

    /// Yields to other clients of the worker; for transactions that never wait.
    pub async fn yield_now(&self) {
        self.io.yield_now().await;
    }

    /// Nanoseconds since the common start of all clients.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.window.now()
    }

    /// Seed shared by all clients of a trial; each trial has a different one.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Scheduled start of the transaction in progress, on the clock of [`Self::now`]: its actual
    /// start, or in an open loop the time at which it was due.
    #[must_use]
    pub fn intended_start(&self) -> u64 {
        self.intended_start
    }

    pub(crate) fn set_intended_start(&mut self, start: u64) {
        self.intended_start = start;
    }

    /// True when no client may start anything: its time is over, or the run was stopped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.window.is_stopped() || self.window.now() >= self.window.closes()
    }

    /// Counts another attempt of the transaction in progress, for workloads that retry by
    /// themselves. Their transactions have no names.
    pub fn retried(&mut self, kind: FailureKind) {
        let (now, period) = (self.window.now(), self.period);
        self.recorder.record(|recorder| recorder.retried(UNNAMED, kind, now, period));
    }

    /// Ends the transaction in progress now instead of with its last statement.
    pub fn extend_to_now(&mut self) {
        self.last_end = self.window.now();
    }

    /// Begins a transaction.
    pub async fn begin(&mut self) -> Result<()> {
        self.execute_measured(self.control().begin, &[], &mut Discard).await?;
        self.is_in_transaction = true;
        Ok(())
    }

    /// Commits, after adding the transaction to the commit ledger, if there is one.
    ///
    /// # Errors
    /// If [`OperationFailure::leaves_doubt`], the outcome of the commit is unknown.
    pub async fn commit(&mut self) -> Result<()> {
        if let Some(ledger) = self.ledger {
            let (client, number) = self.ledger_key;
            let row = [Value::Integer(client.into()), Value::Integer(number as i64)];
            self.execute_measured(ledger, &row, &mut Discard).await?;
        }
        self.is_committing = true;
        let result = self.execute_measured(self.control().commit, &[], &mut Discard).await;
        if result.is_ok() {
            self.is_in_transaction = false;
        }
        self.is_committing = false;
        result.map(|_| ())
    }

    fn control(&self) -> Control {
        self.control.expect("a workload that begins transactions says how")
    }

    /// Rolls back if a transaction is open. Servers that already rolled back accept the statement
    /// or return an error; both are harmless.
    pub(crate) async fn roll_back(&mut self) -> Result<()> {
        if !self.is_in_transaction {
            return Ok(());
        }
        self.is_in_transaction = false;
        match self.execute_measured(self.control().rollback, &[], &mut Discard).await {
            Err(failure) if failure.kind.remedy() == dyno_model::failure::Remedy::Reconnect => {
                Err(failure)
            }
            _ => Ok(()),
        }
    }

    /// True when the last failure of the attempt hit a COMMIT, or a statement that commits by
    /// itself, and its outcome is unknown.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Starts another attempt of a client's transaction and forgets earlier failures.
    pub(crate) fn start_attempt(&mut self, client: ClientId, sequence: u64) {
        self.ledger_key = (client.0, sequence);
        self.is_in_doubt = false;
        (self.failed_kind, self.failed_sql) = (None, None);
    }

    /// Records the failure that ended the attempt, with the statement that failed in it, if any.
    pub(crate) fn note_failure(&self, failure: &OperationFailure) {
        let kind = self.failed_kind.map_or("", |kind| self.plan.kinds[usize::from(kind)]);
        self.record_failure(failure, kind, self.failed_sql.as_deref());
    }

    /// Records why a replacement for this connection could not be opened.
    pub(crate) fn note_not_connected(&self, failure: &OperationFailure) {
        self.record_failure(failure, "", None);
    }

    fn record_failure(&self, failure: &OperationFailure, statement: &str, sql: Option<&str>) {
        if self.period.is_measured() {
            let failed = Failed { failure, statement, sql, at: Nanos(self.window.now()) };
            let password = &self.target.password;
            self.recorder.record(|recorder| recorder.failures.note(&failed, password));
        }
    }

    /// Replaces the closed window that the session was opened with by the trial's window.
    pub(crate) fn set_window(&mut self, window: &Arc<MeasurementWindow>) {
        self.window = Arc::clone(window);
    }

    /// From `now` on, statements belong to a transaction that counts or does not count.
    pub(crate) fn start_transaction(&mut self, now: u64, period: Period) {
        self.period = period;
        self.is_in_transaction = false;
        self.is_committing = false;
        self.last_end = now;
    }

    /// When the last statement was answered; the end of a transaction is the end of its last
    /// statement.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// A failure after which no client can continue, with the statement that failed: the last one
    /// sent.
    pub(crate) fn cause_of(&self, failure: OperationFailure) -> FatalCause {
        let statement = self.plan.kinds[usize::from(self.last_kind)].to_owned();
        FatalCause::Failure { failure, statement, sql: self.failed_sql.clone() }
    }

    /// Text of a prepared statement.
    fn sql_of(&self, prepared: Prepared) -> Option<String> {
        if let Some(control) = prepared.kind_index.checked_sub(self.begin_kind) {
            let texts = [self.plan.begin.unwrap_or_default(), "COMMIT", "ROLLBACK"];
            return texts.get(usize::from(control)).map(|text| (*text).to_owned());
        }
        if self.ledger.is_some_and(|ledger| ledger.kind_index == prepared.kind_index) {
            return Some(INSERT.to_owned());
        }
        let index = self.statements.iter().position(|it| it.statement == prepared.statement)?;
        self.plan.statements.get(index).map(|text| text.sql.clone())
    }

    pub(crate) async fn close(&mut self) {
        self.connection.close().await;
    }

    /// Closes the connection after a committed transaction, so that nothing is in progress on the
    /// server.
    pub(crate) async fn close_idle(&mut self) {
        self.close().await;
        self.plan.sessions.closed(&self.connection);
    }

    pub(crate) fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.connection.interrupter()
    }

    async fn execute_measured<S: RowSink>(
        &mut self,
        prepared: Prepared,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        let execute = async |connection: &mut Connection| {
            connection.execute(prepared.statement, parameters, sink).await
        };
        let result = self.measure(prepared.kind_index, execute).await;
        if result.is_err() {
            self.failed_sql = self.sql_of(prepared);
        }
        result
    }

    fn record_sent(&mut self, kind_index: u16) {
        self.last_kind = kind_index;
        let period = self.period;
        self.recorder.record(|recorder| recorder.statement_sent(kind_index, period));
    }

    fn record_result(
        &mut self,
        kind_index: u16,
        start: u64,
        result: Result<Outcome>,
    ) -> Result<Outcome> {
        if let Err(failure) = &result {
            self.failed_kind = Some(kind_index);
            let is_control = [self.begin_kind, self.begin_kind + 2].contains(&kind_index);
            let may_commit = self.is_committing || !self.is_in_transaction && !is_control;
            self.is_in_doubt = may_commit && failure.leaves_doubt();
        }
        let (window, period) = (&self.window, self.period);
        self.last_end = self.recorder.record(|recorder| {
            let end = window.now();
            match &result {
                Ok(outcome) => {
                    let duration = end.saturating_sub(start);
                    let class = outcome.class();
                    let answered =
                        StatementOk { kind_index, end, duration, rows: outcome.rows, class };
                    recorder.statement_ok(&answered, period);
                }
                Err(_) => recorder.statement_failed(kind_index, end, period),
            }
            end
        });
        result
    }
}

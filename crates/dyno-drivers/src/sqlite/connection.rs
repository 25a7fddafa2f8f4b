//! A connection: prepares and executes statements, loads rows.

use super::error::failure;
use super::literal;
use crate::driver::{Driver, Outcome, Result, Statement, unprepared};
use crate::sql_text::Template;
use crate::timeout::{REST, TimedOut, TimeoutPolicy, Waiting};
use crate::transport::Io;
use crate::value::{BulkLoad, Row, RowSink, RowSource, RowWriter, Value, too_many_rows};
use dyno_model::engine::{Identity, Product};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::{Endpoint, QueryMode, Target};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Batch, OpenFlags, ToSql};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long a statement waits for another connection's lock unless `session_setup` changes it.
pub const BUSY_TIMEOUT: Duration = Duration::from_millis(5000);

/// Pause before a setup statement is retried: changing the journal mode fails at once where other
/// statements wait.
const SETUP_PAUSE: Duration = Duration::from_millis(5);

/// Pauses between attempts to get a lock in milliseconds; the last one is repeated. They equal
/// SQLite's own, so that waiting costs the same.
const BUSY_PAUSES: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Steps of SQLite's virtual machine between two checks whether to continue: about a tenth of a
/// millisecond.
const STEPS_PER_CHECK: i32 = 10_000;

/// Reasons to end the statements of a connection, shared with SQLite's callbacks and with
/// interrupters.
#[derive(Clone, Default)]
struct StatementLimit(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// True when another thread has interrupted the connection; it stops waiting for locks.
    is_interrupted: AtomicBool,
    /// For connections with a timeout.
    clock: Option<Mutex<Clock>>,
}

/// The timeout of a connection.
struct Clock {
    waiting: Waiting,
    /// Why the statement was ended.
    reason: Option<TimedOut>,
}

impl StatementLimit {
    fn of(timeout: &TimeoutPolicy) -> Self {
        let clock = Clock { waiting: Waiting::new(timeout), reason: None };
        Self(Arc::new(Shared { clock: Some(Mutex::new(clock)), ..Shared::default() }))
    }

    fn clock(&self) -> Option<MutexGuard<'_, Clock>> {
        self.0.clock.as_ref().map(|clock| lock(clock))
    }

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted.load(Ordering::Relaxed)
    }

    /// A statement begins.
    fn ask(&self) {
        if let Some(mut clock) = self.clock() {
            clock.waiting.ask();
            clock.reason = None;
        }
    }

    /// True for a statement that began after an interrupt by the user.
    fn is_late(&self) -> bool {
        self.clock().is_some_and(|clock| clock.waiting.is_late)
    }

    /// True when the timeout has expired.
    fn is_over(&self) -> bool {
        let Some(mut clock) = self.clock() else { return self.is_interrupted() };
        clock.reason = clock.waiting.check().err();
        clock.reason.is_some() || self.is_interrupted()
    }

    /// Replaces SQLite's error by the reason for which a statement was ended.
    fn explained<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|failure| {
            let reason = self.clock().and_then(|clock| clock.reason.clone());
            let is_ended = self.is_interrupted() || self.is_late();
            let was_waiting = failure.kind == FailureKind::Busy && is_ended;
            reason
                .or(was_waiting.then_some(TimedOut::Interrupted))
                .map_or(failure, OperationFailure::from)
        })
    }

    /// Registers callbacks with SQLite, which are called while it waits for locks (at most `busy`),
    /// and, with a timeout, during statements.
    fn watch(&self, connection: &mut rusqlite::Connection, busy: Duration) -> Result<()> {
        if self.0.clock.is_some() {
            let limit = self.clone();
            let handler = Some(move || limit.is_over());
            connection.progress_handler(STEPS_PER_CHECK, handler).map_err(failure)?;
        }
        let (limit, mut left) = (self.clone(), busy);
        let handler = move |tries: i32| {
            let tries = usize::try_from(tries).unwrap_or_default();
            if tries == 0 {
                left = if limit.is_late() { busy.min(REST) } else { busy };
            }
            let delay =
                Duration::from_millis(BUSY_PAUSES[tries.min(BUSY_PAUSES.len() - 1)]).min(left);
            left -= delay;
            if delay.is_zero() || limit.is_over() {
                return false;
            }
            std::thread::sleep(delay);
            true
        };
        connection.busy_handler(Some(handler)).map_err(failure)
    }
}

/// A connection to a database file, or to an in-memory database.
pub struct Connection {
    /// `None` when closed.
    database: Option<Database>,
    limit: StatementLimit,
    /// How long a statement waits for another connection's lock, unless the connection's pragma was
    /// read or set.
    busy: Option<Duration>,
    is_simple: bool,
    /// Text of the statement being executed, in [`QueryMode::Simple`].
    text: Vec<u8>,
}

/// The prepared statements of a connection, by number.
struct Prepared<'a>(Vec<PreparedStatement<'a>>);

enum PreparedStatement<'a> {
    /// Compiled by SQLite.
    Compiled(rusqlite::Statement<'a>),
    /// Values are written into the text for every execution.
    Text(Template),
}

self_cell::self_cell!(
    /// A connection and the statements that borrow it.
    struct Database {
        owner: rusqlite::Connection,
        #[not_covariant]
        dependent: Prepared,
    }
);

/// Converts without copying.
impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Float(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Row for rusqlite::Row<'_> {
    fn len(&self) -> usize {
        self.as_ref().column_count()
    }

    fn get(&self, column: usize) -> Value<'_> {
        match self.get_ref(column) {
            Ok(ValueRef::Integer(value)) => Value::Integer(value),
            Ok(ValueRef::Real(value)) => Value::Float(value),
            Ok(ValueRef::Text(bytes)) => {
                std::str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
            }
            Ok(ValueRef::Blob(bytes)) => Value::Bytes(bytes),
            Ok(ValueRef::Null) | Err(_) => Value::Null,
        }
    }
}

/// Binds, steps to the end, resets.
fn run<S: RowSink>(
    connection: &rusqlite::Connection,
    statement: &mut rusqlite::Statement<'_>,
    parameters: &[Value<'_>],
    sink: &mut S,
) -> rusqlite::Result<Outcome> {
    for (i, value) in parameters.iter().enumerate() {
        statement.raw_bind_parameter(i + 1, value)?;
    }
    let has_rows = statement.column_count() > 0;
    let changes_before = connection.total_changes();
    if has_rows {
        sink.begin(statement.column_count());
        if S::WANTS_NAMES {
            for (column, name) in statement.column_names().enumerate() {
                sink.name(column, name);
            }
        }
    }
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if !S::DISCARDS {
            sink.row(row);
            if sink.is_full() {
                let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_TOOBIG);
                return Err(rusqlite::Error::SqliteFailure(error, Some(too_many_rows().message)));
            }
        }
    }
    drop(rows);
    // SQLite returns the count of the last statement that changed rows, which need not be this one.
    let affected =
        if connection.total_changes() == changes_before { 0 } else { connection.changes() };
    Ok(Outcome { has_rows, rows: count, affected })
}

fn wrong_count(expected: usize, given: usize) -> OperationFailure {
    FailureKind::BadStatement
        .failure(format!("the statement has {expected} parameters, but {given} were given"))
}

impl Connection {
    /// Opens the file or memory, without any setup.
    fn open(target: &Target) -> Result<rusqlite::Connection> {
        // Without SQLITE_OPEN_URI, because a path may begin with `file:`. Without a mutex, because
        // each connection has one thread.
        let access = match target.only_reads {
            true => OpenFlags::SQLITE_OPEN_READ_ONLY,
            false => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match &target.endpoint {
            Endpoint::File(path) => rusqlite::Connection::open_with_flags(path, flags),
            Endpoint::InProcess => rusqlite::Connection::open_in_memory_with_flags(flags),
            endpoint @ (Endpoint::Tcp { .. } | Endpoint::Unix(_)) => {
                return Err(FailureKind::Unsupported.failure(format!(
                    "SQLite needs the path of a database file, not the address {endpoint}"
                )));
            }
        };
        opened.map_err(failure)
    }

    /// Runs one setup statement, repeatedly while the database is busy.
    fn set_up(
        connection: &rusqlite::Connection,
        sql: &str,
        deadline: Instant,
        limit: &StatementLimit,
    ) -> Result<()> {
        loop {
            let done = run_text(connection, sql, &mut crate::Discard);
            match done.map_err(failure) {
                Ok(_) => return Ok(()),
                Err(failure)
                    if failure.kind == FailureKind::Busy
                        && Instant::now() < deadline
                        && !limit.is_over() =>
                {
                    std::thread::sleep(SETUP_PAUSE);
                }
                Err(mut failure) => {
                    failure.message = format!("session set-up `{sql}`: {}", failure.message);
                    return Err(failure);
                }
            }
        }
    }

    fn database(&mut self) -> Result<&mut Database> {
        self.database
            .as_mut()
            .ok_or_else(|| FailureKind::ConnectionLost.failure("the connection was closed"))
    }

    /// Inserts all rows through one prepared statement.
    fn insert_all(
        connection: &rusqlite::Connection,
        load: &BulkLoad<'_>,
        rows: &mut dyn RowSource,
    ) -> Result<u64> {
        let names: Vec<String> = load.columns.iter().map(|column| quoted(column)).collect();
        let placeholders = vec!["?"; names.len()].join(",");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({placeholders})",
            quoted(load.table),
            names.join(",")
        );
        let statement = connection.prepare(&sql).map_err(failure)?;
        let mut writer = Inserter { statement, fields: 0, failure: None };
        let mut count = 0;
        while rows.next(&mut writer) {
            writer.insert(names.len())?;
            count += 1;
        }
        Ok(count)
    }
}

/// True for text that reads or sets how long statements wait for locks. SQLite only knows this for
/// its own waiting.
fn is_about_waiting(sql: &str) -> bool {
    let sql = sql.trim_start();
    sql.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("pragma"))
        && sql.to_ascii_lowercase().contains("busy_timeout")
}

/// Runs every statement of a text.
fn run_text<S: RowSink>(
    connection: &rusqlite::Connection,
    sql: &str,
    sink: &mut S,
) -> rusqlite::Result<Outcome> {
    let mut total = Outcome::default();
    let mut batch = Batch::new(connection, sql);
    while let Some(mut statement) = batch.next()? {
        total += run(connection, &mut statement, &[], sink)?;
    }
    Ok(total)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Binds the fields of one row.
struct Inserter<'a> {
    statement: rusqlite::Statement<'a>,
    fields: usize,
    failure: Option<rusqlite::Error>,
}

impl Inserter<'_> {
    fn bind(&mut self, value: Value<'_>) {
        self.fields += 1;
        if let Err(error) = self.statement.raw_bind_parameter(self.fields, value) {
            self.failure.get_or_insert(error);
        }
    }

    /// Inserts the row with the bound fields.
    fn insert(&mut self, columns: usize) -> Result<()> {
        let fields = std::mem::take(&mut self.fields);
        if fields != columns {
            return Err(wrong_count(columns, fields));
        }
        let done = match self.failure.take() {
            Some(error) => Err(error),
            None => self.statement.raw_execute(),
        };
        done.map(|_| ()).map_err(failure)
    }
}

impl RowWriter for Inserter<'_> {
    fn integer(&mut self, value: i64) {
        self.bind(Value::Integer(value));
    }

    fn text(&mut self, value: &str) {
        self.bind(Value::Text(value));
    }

    fn null(&mut self) {
        self.bind(Value::Null);
    }
}

impl Driver for Connection {
    /// Opens or creates the file and executes the pragmas. Calls always block; a timeout may apply.
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        if target.query_mode == QueryMode::Extended {
            return Err(FailureKind::Unsupported
                .failure("SQLite has no query mode `extended`; use `prepared` or `simple`"));
        }
        let deadline = Instant::now() + target.connect_timeout;
        let mut connection = Self::open(target)?;
        let limit = match io {
            Io::WithTimeout(timeout) => StatementLimit::of(timeout),
            Io::Blocking | Io::Reactor(_) => StatementLimit::default(),
        };
        limit.watch(&mut connection, BUSY_TIMEOUT.min(target.connect_timeout))?;
        for sql in &target.session_setup {
            Self::set_up(&connection, sql, deadline, &limit)?;
        }
        let mut busy = BUSY_TIMEOUT;
        if target.session_setup.iter().any(|sql| is_about_waiting(sql)) {
            let reported =
                connection.pragma_query_value(None, "busy_timeout", |row| row.get::<_, u32>(0));
            busy = Duration::from_millis(reported.map_err(failure)?.into());
        }
        limit.watch(&mut connection, busy)?;
        let database = Database::new(connection, |_| Prepared(Vec::new()));
        let is_simple = target.query_mode == QueryMode::Simple;
        Ok(Self { database: Some(database), limit, busy: Some(busy), is_simple, text: Vec::new() })
    }

    fn identity(&self) -> Identity {
        Identity::new(Product::Sqlite, rusqlite::version())
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let is_simple = self.is_simple;
        self.database()?.with_dependent_mut(|connection, prepared| {
            let statement = if is_simple {
                PreparedStatement::Text(literal::parse(sql))
            } else {
                compile(connection, sql)?
            };
            prepared.0.push(statement);
            Ok(Statement(
                u32::try_from(prepared.0.len() - 1)
                    .expect("fewer than 2^32 statements are prepared"),
            ))
        })
    }

    async fn check(&mut self, sql: &str) -> Result<()> {
        self.database()?.with_dependent_mut(|connection, _| compile(connection, sql).map(drop))
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        self.limit.ask();
        let mut text = std::mem::take(&mut self.text);
        let outcome = self.database()?.with_dependent_mut(|connection, prepared| {
            match prepared.0.get_mut(statement.0 as usize) {
                Some(PreparedStatement::Compiled(statement)) => {
                    let expected = statement.parameter_count();
                    if expected != parameters.len() {
                        return Err(wrong_count(expected, parameters.len()));
                    }
                    run(connection, statement, parameters, sink).map_err(failure)
                }
                Some(PreparedStatement::Text(template))
                    if template.parameters() != parameters.len() =>
                {
                    Err(wrong_count(template.parameters(), parameters.len()))
                }
                Some(PreparedStatement::Text(template)) => {
                    text.clear();
                    template.fill(parameters, &mut text, literal::write_literal);
                    let text = std::str::from_utf8(&text).expect("texts and literals are UTF-8");
                    run_text(connection, text, sink).map_err(failure)
                }
                None => Err(unprepared(statement)),
            }
        });
        self.text = text;
        self.limit.explained(outcome)
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        self.limit.ask();
        let busy = if is_about_waiting(sql) { self.busy.take() } else { None };
        let connection = self.database()?.borrow_owner();
        if let Some(busy) = busy {
            // From now on SQLite itself waits, and interrupts have no effect meanwhile.
            connection.busy_timeout(busy).map_err(failure)?;
        }
        let outcome = run_text(connection, sql, sink).map_err(failure);
        self.limit.explained(outcome)
    }

    /// Inserts row by row with one prepared statement in one transaction (the caller's, if one is
    /// open).
    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64> {
        self.limit.ask();
        let connection = self.database()?.borrow_owner();
        if !connection.is_autocommit() {
            return Self::insert_all(connection, load, rows);
        }
        let say = |sql| run_text(connection, sql, &mut crate::Discard).map_err(failure);
        say("BEGIN IMMEDIATE")?;
        let loaded =
            Self::insert_all(connection, load, rows).and_then(|count| say("COMMIT").map(|_| count));
        if loaded.is_err() && !connection.is_autocommit() {
            say("ROLLBACK")?;
        }
        loaded
    }

    fn is_in_transaction(&self) -> bool {
        self.database.as_ref().is_some_and(|database| !database.borrow_owner().is_autocommit())
    }

    async fn close(&mut self) {
        self.database = None;
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        let handle = self.database.as_ref()?.borrow_owner().get_interrupt_handle();
        let limit = self.limit.clone();
        Some(Box::new(move || {
            limit.0.is_interrupted.store(true, Ordering::Relaxed);
            handle.interrupt();
        }))
    }
}

fn compile<'a>(connection: &'a rusqlite::Connection, sql: &str) -> Result<PreparedStatement<'a>> {
    let mut batch = Batch::new(connection, sql);
    let mut next = || batch.next().map_err(failure);
    let Some(statement) = next()? else {
        return Err(FailureKind::BadStatement.failure("the text contains no statement"));
    };
    if next()?.is_some() {
        return Err(FailureKind::BadStatement.failure(
            "only one statement can be prepared at a time, but the text contains several",
        ));
    }
    Ok(PreparedStatement::Compiled(statement))
}

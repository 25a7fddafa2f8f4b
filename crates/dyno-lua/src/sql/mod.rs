//! `sysbench.sql`: connections, prepared statements and results, by the handles that Lua holds.
//!
//! Every operation returns a number, because only numbers are passed between compiled Lua and Rust:
//! a positive one for a new object or a result, 0 for nothing. An error is a negative number, and
//! [`Sql::trouble`] describes it.

mod binding;
mod bulk;
mod bulk_insert;
mod link;
mod parameter;
mod refusal;
mod rows;
mod text;

use crate::environment::{Environment, LogLevel};
use crate::handles::Handles;
use crate::meter::{Meter, StatementKind};
use dyno_drivers::{Statement, Value};
use dyno_model::counters::OutcomeClass;
use dyno_model::engine::{Engine, Sending};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::retry::is_gone;
pub use link::Interrupts;
use link::{Link, Request, next_target};
use parameter::Parameter;
use refusal::codes_on_broken;
use refusal::is_connection_lost;
pub(crate) use refusal::{Refusal, Verdict};
pub use refusal::{codes, connect_lines};

/// An error, which [`Sql::error`] describes.
pub(crate) const FAILED: f64 = -1.0;

/// Result of an operation. Errors are boxed, so that numbers are passed in registers.
pub(crate) type Done<T = f64> = Result<T, Box<SqlError>>;

/// The SQL part of a state.
#[derive(Default)]
pub(crate) struct Sql {
    links: Handles<Link>,
    statements: Handles<Prepared>,
    parameters: Handles<Parameter>,
    /// Patterns of random strings, by their numbers in Lua.
    patterns: Vec<Box<[u8]>>,
    /// The error of the last operation, until it is read.
    pub(crate) error: Option<Box<SqlError>>,
    text: Vec<u8>,
    fields: Vec<Option<usize>>,
}

/// Context of an operation.
pub(crate) struct CallContext<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) meter: &'a mut dyn Meter,
    pub(crate) interrupts: &'a Interrupts,
}

/// Why an operation failed.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// The API was misused, or an object does not exist (any more): a plain Lua error.
    Misuse(String),
    /// The database returned an error. The number is the connection's handle.
    Refused(f64, Refusal),
}

impl<M: Into<String>> From<M> for Box<SqlError> {
    fn from(message: M) -> Self {
        Self::new(SqlError::Misuse(message.into()))
    }
}

struct Prepared {
    link: f64,
    sql: Box<str>,
    kind: StatementKind,
    /// The number of the reconnect in which it was prepared, and the driver's statement; `None` in
    /// a dry run.
    ready: Option<(u32, Statement)>,
    /// Its parameters, which are freed with it.
    own: Vec<f64>,
    bound: Vec<f64>,
    is_closed: bool,
    /// It is prepared once the types of its parameters are known.
    awaits_types: bool,
}

/// PostgreSQL's errors when the types of parameters cannot be inferred: `SELECT ? + ?`,
/// `concat(?)`.
const TYPES_UNKNOWN: [&str; 2] = ["42725", "42P18"];

/// More parameters than these need an allocation per execution.
const PARAMETERS_IN_PLACE: usize = 16;

impl Sql {
    /// The last error of a connection.
    pub(crate) fn last_error(&self, link: f64) -> Option<&Refusal> {
        self.links.get(link)?.last.as_ref()
    }

    /// Opens a connection; returns its handle.
    pub(crate) fn connect(&mut self, around: &mut CallContext<'_>, driver: Engine) -> Done {
        const FAILED: &str = "connection creation failed";
        let databases = &around.environment.databases;
        if databases.dry_run {
            return Ok(self.links.insert(Link::dry(driver)));
        }
        let log = |text: &str| around.environment.log.log(LogLevel::Fatal, text);
        let Some(target) = next_target(databases, &around.environment.shared, driver) else {
            log(driver.sysbench().no_address);
            return Err(FAILED.into());
        };
        match Link::open(driver, target) {
            Ok(link) => {
                let handle = link.interrupter();
                let number = self.links.insert(link);
                around.interrupts.register(number, handle);
                Ok(number)
            }
            Err(failure) => {
                connect_lines(target, &failure).iter().for_each(|line| log(line));
                Err(FAILED.into())
            }
        }
    }

    pub(crate) fn query(&mut self, around: &mut CallContext<'_>, handle: f64, sql: &[u8]) -> Done {
        let kind = StatementKind::of(sql);
        self.round_trip(around, handle, &Request::Text(sql), Sending::Query, kind, &|| lossy(sql))
    }

    /// One measured round trip: returns the handle of a result, or 0, or an error.
    fn round_trip(
        &mut self,
        around: &mut CallContext<'_>,
        handle: f64,
        request: &Request<'_>,
        sending: Sending,
        kind: StatementKind,
        sql: &dyn Fn() -> String,
    ) -> Done {
        let link = usable(self.links.get_mut(handle), "connection")?;
        trip(link, around, request, kind)
            .map_err(|trip| self.refuse(around, handle, sending, &trip, sql()))
    }

    /// Prepares a statement; returns its handle.
    pub(crate) fn prepare(&mut self, around: &mut CallContext<'_>, handle: f64, sql: &str) -> Done {
        let link = usable(self.links.get_mut(handle), "connection")?;
        let kind = StatementKind::of(sql.as_bytes());
        let mut statement = Prepared {
            link: handle,
            sql: sql.into(),
            kind,
            ready: None,
            own: Vec::new(),
            bound: Vec::new(),
            is_closed: false,
            awaits_types: false,
        };
        if !link.is_dry() {
            let was_broken = link.is_broken();
            match link.prepare(sql) {
                Ok(ready) => statement.ready = Some((link.epoch, ready)),
                Err(failure) if TYPES_UNKNOWN.contains(&failure.sqlstate.as_str()) => {
                    // As if prepared before a reconnect: the first execution prepares it.
                    statement.ready = Some((link.epoch.wrapping_sub(1), Statement(0)));
                    statement.awaits_types = true;
                }
                Err(failure) => {
                    let failed = Failed { failure, was_broken };
                    return Err(self.refuse(
                        around,
                        handle,
                        Sending::Prepare,
                        &failed,
                        sql.to_owned(),
                    ));
                }
            }
        }
        Ok(self.statements.insert(statement))
    }

    /// Executes a prepared statement with the current values of its parameters.
    #[inline]
    pub(crate) fn execute(&mut self, around: &mut CallContext<'_>, handle: f64) -> Done {
        let Self { statements, links, parameters, .. } = self;
        let statement = open(statements.get_mut(handle))?;
        let link = usable(links.get_mut(statement.link), "connection of this statement")?;
        let ready = match statement.ready {
            // After a reconnect the server does not know the statement.
            Some((epoch, _)) if epoch != link.epoch && !link.is_broken() => {
                match link.prepare(&statement.sql) {
                    Ok(ready) => {
                        statement.ready = Some((link.epoch, ready));
                        ready
                    }
                    Err(failure) => {
                        let (link, sql) = (statement.link, statement.sql.to_string());
                        let failed = Failed { failure, was_broken: false };
                        return Err(self.refuse(around, link, Sending::Prepare, &failed, sql));
                    }
                }
            }
            Some((_, ready)) => ready,
            // Of a dry run, where the number is ignored.
            None => Statement(0),
        };
        let value = |number: &f64| parameters.get(*number).map_or(Value::Null, Parameter::value);
        let count = statement.bound.len();
        let kind = statement.kind;
        let outcome = if count <= PARAMETERS_IN_PLACE {
            let mut values = [Value::Null; PARAMETERS_IN_PLACE];
            for (slot, bound) in values.iter_mut().zip(&statement.bound) {
                *slot = value(bound);
            }
            trip(link, around, &Request::Statement(ready, &values[..count]), kind)
        } else {
            let values: Vec<Value<'_>> = statement.bound.iter().map(value).collect();
            trip(link, around, &Request::Statement(ready, &values), kind)
        };
        match outcome {
            Ok(result) => Ok(result),
            Err(failed) => {
                let (link, sql) = (statement.link, statement.sql.to_string());
                Err(self.refuse(around, link, Sending::Execute, &failed, sql))
            }
        }
    }

    /// The next result of the last text or procedure of a connection.
    pub(crate) fn next_result(&mut self, around: &mut CallContext<'_>, handle: f64) -> Done {
        let link = usable(self.links.get_mut(handle), "connection")?;
        if !link.has_more_results() {
            link.free(link.result());
            return Ok(0.0);
        }
        let kind = StatementKind::Other;
        self.round_trip(around, handle, &Request::Next, Sending::Query, kind, &|| {
            "<next result>".to_owned()
        })
    }

    /// 1 when another result is pending, otherwise 0.
    pub(crate) fn more_results(&mut self, handle: f64) -> Done {
        Ok(usable(self.links.get_mut(handle), "connection")?.has_more_results().into())
    }

    /// Converts a failure to the script's error, with all consequences: log lines, the end of the
    /// transaction, a new connection.
    #[cold]
    fn refuse(
        &mut self,
        around: &mut CallContext<'_>,
        handle: f64,
        sending: Sending,
        failed: &Failed,
        query: String,
    ) -> Box<SqlError> {
        let Failed { failure, was_broken } = failed;
        let Some(link) = self.links.get_mut(handle) else { return GONE.into() };
        if failure.kind == FailureKind::BadStatement
            && failure.code == 0
            && failure.sqlstate.is_empty()
        {
            // The driver rejected it before anything was sent: wrong number of parameters, invalid
            // text.
            return failure.message.as_str().into();
        }
        if !around.interrupts.is_interrupted() {
            let password =
                link.target.as_ref().map(|target| target.password.clone()).unwrap_or_default();
            around.meter.note_failure(failure, &query, &password);
        }
        let driver = link.driver;
        let codes = if *was_broken { codes_on_broken } else { codes };
        let (errno, state) = codes(driver, failure);
        let databases = &around.environment.databases;
        let list = &databases.access(driver).ignored;
        let is_listed = list.all || list.codes.contains(&errno) || list.sqlstates.contains(&state);
        let is_ignored = is_listed && !around.interrupts.is_interrupted();
        let mut refusal = Refusal {
            verdict: Verdict::Fatal,
            errno,
            state,
            message: failure.message.clone(),
            query,
        };
        let is_lost = is_connection_lost(failure) || is_gone(failure) || !link.is_usable();
        if is_lost {
            link.lose();
            around.interrupts.register(handle, None);
        }
        if is_ignored {
            refusal.verdict = Verdict::Ignorable;
            let debug = |text: &str| around.environment.log.log(LogLevel::Debug, text);
            if driver.sysbench().tells_ignored {
                debug(&format!("Ignoring error {} {}, ", refusal.errno, refusal.message));
            }
            if is_lost {
                debug("Reconnecting");
                match link.reconnect_with_backoff(databases, around.meter, around.interrupts) {
                    Ok(()) => {
                        around.interrupts.register(handle, link.interrupter());
                        around.meter.reconnected();
                    }
                    Err(failure) => {
                        refusal.verdict = Verdict::Fatal;
                        refusal.message = format!(
                            "{}; reconnecting failed: {}",
                            refusal.message, failure.message
                        );
                    }
                }
            } else if driver.sysbench().rolls_back {
                link.roll_back();
            }
        }
        // Operations cancelled because the run is over are not failures of the server.
        if refusal.verdict == Verdict::Fatal && !around.interrupts.is_interrupted() {
            let Refusal { errno, message, query, .. } = &refusal;
            for line in (driver.sysbench().refused)(sending, *errno, message, Some(query)) {
                around.environment.log.log(LogLevel::Fatal, &line);
            }
        }
        if sending == Sending::Execute {
            refusal.query = "<prepared statement>".to_owned();
        }
        link.last = Some(refusal.clone());
        Box::new(SqlError::Refused(handle, refusal))
    }

    /// Rolls back a transaction before its event is retried.
    pub(crate) fn roll_back(&mut self, handle: f64) {
        if let Some(link) = self.links.get_mut(handle) {
            link.roll_back();
        }
    }

    /// Number of rows of a result; an error when it is gone.
    pub(crate) fn row_count(&mut self, link: f64, result: f64) -> Done {
        Ok(self.size_of(link, result)?.0 as f64)
    }

    /// Number of columns of a result; an error when it is gone.
    pub(crate) fn column_count(&mut self, link: f64, result: f64) -> Done {
        Ok(self.size_of(link, result)?.1 as f64)
    }

    fn size_of(&mut self, link: f64, result: f64) -> Done<(usize, usize)> {
        Ok(self.links.get_mut(link).and_then(|link| link.size_of(result)).ok_or(STALE)?)
    }

    /// Decodes the next row of a result and passes its fields to `take`. Returns 1, or 0 when there
    /// are no more rows, or an error when the result is gone.
    pub(crate) fn fetch(
        &mut self,
        link: f64,
        result: f64,
        mut take: impl FnMut(Option<&[u8]>),
    ) -> Done {
        let Self { links, text, fields, .. } = self;
        let rows = links.get_mut(link).and_then(|link| link.rows_of(result)).ok_or(STALE)?;
        if !rows.fetch(text, fields) {
            return Ok(0.0);
        }
        let mut start = 0;
        for end in fields.iter() {
            take(end.map(|end| &text[start..end]));
            start = end.unwrap_or(start);
        }
        Ok(1.0)
    }

    pub(crate) fn free(&mut self, link: f64, result: f64) {
        if let Some(link) = self.links.get_mut(link) {
            link.free(result);
        }
    }

    /// Closes a statement. Closing it again is ignored.
    pub(crate) fn close_statement(&mut self, handle: f64) {
        let Some(statement) = self.statements.get_mut(handle) else { return };
        statement.is_closed = true;
        let (link, ready) = (statement.link, statement.ready.take());
        if let Some((epoch, ready)) = ready
            && let Some(link) = self.links.get_mut(link)
            && link.epoch == epoch
        {
            link.forget(ready);
        }
    }

    /// Frees a statement that Lua has collected.
    pub(crate) fn drop_statement(&mut self, handle: f64) {
        self.close_statement(handle);
        if let Some(statement) = self.statements.remove(handle) {
            for parameter in statement.own {
                self.parameters.remove(parameter);
            }
        }
    }

    /// Frees a connection that Lua has collected.
    pub(crate) fn drop_link(&mut self, interrupts: &Interrupts, handle: f64) {
        self.disconnect(interrupts, handle);
        self.links.remove(handle);
    }

    /// Closes a connection. Closing it again is ignored.
    pub(crate) fn disconnect(&mut self, interrupts: &Interrupts, handle: f64) {
        if let Some(link) = self.links.get_mut(handle) {
            interrupts.register(handle, None);
            link.close();
        }
    }

    /// Disconnects and reconnects to the same address.
    pub(crate) fn reconnect(&mut self, around: &mut CallContext<'_>, handle: f64) -> Done {
        let link = self.links.get_mut(handle).ok_or(GONE)?;
        if !link.is_dry() && link.target.is_some() {
            link.close();
            if let Err(failure) = link.reconnect_with_backoff(
                &around.environment.databases,
                around.meter,
                around.interrupts,
            ) {
                if let Some(target) = &link.target {
                    for line in connect_lines(target, &failure) {
                        around.environment.log.log(LogLevel::Fatal, &line);
                    }
                }
                link.lose();
                return Err(format!("reconnecting failed: {}", failure.message).into());
            }
            around.interrupts.register(handle, link.interrupter());
        }
        around.meter.reconnected();
        Ok(0.0)
    }

    /// Closes all connections.
    pub(crate) fn close_all(&mut self) {
        self.links.values_mut().for_each(Link::close);
    }
}

const GONE: &str = "no such connection";
const CLOSED: &str = "the statement is closed";
const STALE: &str =
    "the result is no longer valid: it was freed, or another statement ran on its connection";

/// A failed round trip.
struct Failed {
    failure: OperationFailure,
    /// The connection was broken before.
    was_broken: bool,
}

/// A connection that the script has not closed.
#[inline]
fn usable<'a>(link: Option<&'a mut Link>, what: &str) -> Done<&'a mut Link> {
    match link {
        Some(link) if !link.is_closed() => Ok(link),
        Some(_) => Err(format!("the {what} is closed").into()),
        None => Err(GONE.into()),
    }
}

/// A statement that the script has not closed.
#[inline]
fn open(statement: Option<&mut Prepared>) -> Done<&mut Prepared> {
    Ok(statement.filter(|statement| !statement.is_closed).ok_or(CLOSED)?)
}

/// Sends, waits, measures.
#[inline]
fn trip(
    link: &mut Link,
    around: &mut CallContext<'_>,
    request: &Request<'_>,
    kind: StatementKind,
) -> Result<f64, Failed> {
    let start = around.meter.now();
    if link.is_dry() {
        let end = around.meter.now();
        around.meter.statement(kind, OutcomeClass::Other, start, end);
        return Ok(0.0);
    }
    let was_broken = link.is_broken();
    if around.interrupts.is_interrupted() {
        let failure = FailureKind::Cancelled.failure("the run is over");
        return Err(Failed { failure, was_broken });
    }
    match link.run(request) {
        Ok(outcome) => {
            let end = around.meter.now();
            around.meter.statement(kind, outcome.class(), start, end);
            Ok(link.result())
        }
        Err(failure) => {
            if !around.interrupts.is_interrupted() {
                around.meter.statement_failed(kind);
            }
            Err(Failed { failure, was_broken })
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

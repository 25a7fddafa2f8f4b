//! A connection of a script: opening, losing and reopening it, and its current result.

use super::bulk::Bulk;
use super::refusal::Refusal;
use super::rows::Rows;
use crate::environment::{Databases, Shared};
use crate::meter::Meter;
use dyno_drivers::{Connection, Discard, Driver, Io, Outcome, Statement, Value, block_on};
use dyno_files::NO_LIMIT;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::{Engine, Target};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) type Result<T> = std::result::Result<T, OperationFailure>;

/// A connection as a script sees it.
pub(crate) struct Link {
    pub(crate) driver: Engine,
    /// Where to reconnect; `None` in a dry run.
    pub(crate) target: Option<Box<Target>>,
    wire: Wire,
    /// Counts reconnects: a statement prepared earlier must be prepared again.
    pub(crate) epoch: u32,
    /// The single result set that is kept.
    pub(crate) rows: Rows,
    /// Handle of that result; other handles are no longer valid.
    serial: u64,
    has_result: bool,
    /// Sizes of the results replaced last, each at its handle modulo their count.
    former: [Size; 4],
    /// The last error, for the connection's fields.
    pub(crate) last: Option<Refusal>,
    pub(crate) bulk: Option<Bulk>,
}

/// Size of a result whose rows are gone. Some scripts compare the sizes of two results after both
/// statements.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    serial: u64,
    rows: u32,
    columns: u32,
}

/// The state of the connection.
enum Wire {
    /// Dry run: every statement succeeds.
    Dry,
    Open(Box<Connection>),
    /// The connection broke and could not be reopened.
    Broken,
    /// The script has disconnected.
    Closed,
}

/// What to execute.
pub(crate) enum Request<'a> {
    Text(&'a [u8]),
    Statement(Statement, &'a [Value<'a>]),
    /// The next result of the last text or procedure.
    Next,
}

/// A login in progress, on the heap: it is the deepest use of a thread's stack, and a stack never
/// shrinks. Not inlined, so that no frame below contains a copy.
#[inline(never)]
fn connecting(target: &Target) -> Pin<Box<dyn Future<Output = Result<Box<Connection>>> + '_>> {
    Box::pin(async { Connection::connect(target, &Io::Blocking).await.map(Box::new) })
}

/// Logs in. Files named by a script's statements are sent, as in sysbench: the script could read
/// them itself.
fn connect(target: &Target) -> Result<Box<Connection>> {
    let mut connection = block_on(connecting(target))?;
    if let Connection::Mysql(mysql) = &mut *connection {
        mysql.serve_files(|name| Ok(Box::new(dyno_files::open(Path::new(name), NO_LIMIT)?)));
    }
    Ok(connection)
}

impl Link {
    /// A connection of a dry run.
    pub(crate) fn dry(driver: Engine) -> Self {
        Self::new(driver, None, Wire::Dry)
    }

    /// Connects.
    pub(crate) fn open(driver: Engine, target: &Target) -> Result<Self> {
        let connection = connect(target)?;
        Ok(Self::new(driver, Some(Box::new(target.clone())), Wire::Open(connection)))
    }

    fn new(driver: Engine, target: Option<Box<Target>>, wire: Wire) -> Self {
        Self {
            driver,
            target,
            wire,
            epoch: 0,
            rows: Rows::default(),
            serial: 0,
            has_result: false,
            former: [Size::default(); 4],
            last: None,
            bulk: None,
        }
    }

    pub(crate) fn is_dry(&self) -> bool {
        matches!(self.wire, Wire::Dry)
    }

    /// True when the script has disconnected.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.wire, Wire::Closed)
    }

    /// True when the connection is broken and the script has not disconnected.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.wire, Wire::Broken)
    }

    /// Whether another statement can be sent, as far as known without sending it.
    pub(crate) fn is_usable(&self) -> bool {
        match &self.wire {
            Wire::Open(connection) => match &**connection {
                Connection::Postgres(postgres) => postgres.is_usable(),
                _ => true,
            },
            Wire::Dry => true,
            Wire::Broken | Wire::Closed => false,
        }
    }

    fn open_connection(&mut self) -> Result<(&mut Connection, &mut Rows)> {
        match &mut self.wire {
            Wire::Open(connection) => Ok((connection, &mut self.rows)),
            _ => Err(FailureKind::ConnectionLost.failure("there is no connection")),
        }
    }

    /// Makes a statement ready.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let (connection, _) = self.open_connection()?;
        block_on(connection.prepare(sql))
    }

    /// Deallocates a statement on the server; errors are ignored.
    pub(crate) fn forget(&mut self, statement: Statement) {
        if let Wire::Open(connection) = &mut self.wire {
            let _ = block_on(connection.forget(statement));
        }
    }

    /// One round trip. The previous result is discarded; the new one is kept.
    pub(crate) fn run(&mut self, request: &Request<'_>) -> Result<Outcome> {
        if self.has_result {
            let (rows, columns) = (self.rows.len() as u32, self.rows.width as u32);
            self.former[(self.serial % 4) as usize] = Size { serial: self.serial, rows, columns };
        }
        self.has_result = false;
        self.rows.clear();
        let (connection, rows) = self.open_connection()?;
        let outcome = match connection {
            Connection::Mysql(mysql) => {
                if !matches!(request, Request::Next) {
                    // A later statement of a text or a procedure may have failed, for example with
                    // a deadlock. sysbench rejects any statement while results are pending; here
                    // they are skipped, but not their errors.
                    while block_on(mysql.next_result(&mut Discard))?.is_some() {}
                }
                let outcome = match request {
                    Request::Text(sql) => block_on(mysql.query_first(sql, rows)),
                    Request::Statement(statement, values) => {
                        block_on(mysql.execute_first(*statement, values, rows))
                    }
                    Request::Next => {
                        block_on(mysql.next_result(rows)).map(Option::unwrap_or_default)
                    }
                }?;
                if outcome.has_rows {
                    rows.describe_mysql(mysql.columns(), mysql.encoding());
                }
                outcome
            }
            other => {
                let (outcome, statement) = match request {
                    Request::Text(sql) => (block_on(other.query(utf8(sql)?, rows))?, None),
                    Request::Statement(statement, values) => {
                        (block_on(other.execute(*statement, values, rows))?, Some(*statement))
                    }
                    Request::Next => return Ok(Outcome::default()),
                };
                if let Connection::Postgres(postgres) = other
                    && outcome.has_rows
                {
                    rows.describe_postgres(postgres.columns(statement));
                }
                outcome
            }
        };
        if outcome.has_rows {
            self.serial += 1;
            self.has_result = true;
        }
        Ok(outcome)
    }

    /// Handle of the current result; 0 when there is none.
    pub(crate) fn result(&self) -> f64 {
        if self.has_result { self.serial as f64 } else { 0.0 }
    }

    /// The rows of a result, if it is still the current one.
    pub(crate) fn rows_of(&mut self, result: f64) -> Option<&mut Rows> {
        (self.has_result && result == self.serial as f64).then_some(&mut self.rows)
    }

    /// Rows and columns of a result: the current one, or one of those replaced last.
    pub(crate) fn size_of(&self, result: f64) -> Option<(usize, usize)> {
        if self.has_result && result == self.serial as f64 {
            return Some((self.rows.len(), self.rows.width));
        }
        let size = self.former[(result as u64 % 4) as usize];
        (size.serial != 0 && result == size.serial as f64)
            .then_some((size.rows as usize, size.columns as usize))
    }

    /// Frees a result; one that is already gone is ignored.
    pub(crate) fn free(&mut self, result: f64) {
        if self.rows_of(result).is_some() {
            self.has_result = false;
            self.rows.clear();
        }
    }

    /// Whether another result of the last text or procedure is pending.
    pub(crate) fn has_more_results(&self) -> bool {
        matches!(&self.wire, Wire::Open(connection)
            if matches!(&**connection, Connection::Mysql(mysql) if mysql.has_more_results()))
    }

    /// Rolls back an open transaction, so that the retry does not begin inside it.
    pub(crate) fn roll_back(&mut self) {
        if let Wire::Open(connection) = &mut self.wire
            && connection.is_in_transaction()
        {
            // Otherwise the next BEGIN would commit half a transaction, or fail; if this fails, the
            // retry reports it.
            let _ = block_on(connection.query("ROLLBACK", &mut Discard));
        }
    }

    /// Drops the connection without closing it properly.
    pub(crate) fn lose(&mut self) {
        self.has_result = false;
        self.rows.clear();
        self.wire = Wire::Broken;
    }

    /// Closes the connection properly.
    pub(crate) fn close(&mut self) {
        if let Wire::Open(connection) = &mut self.wire {
            block_on(connection.close());
        }
        self.has_result = false;
        self.rows.clear();
        self.bulk = None;
        self.wire = Wire::Closed;
    }

    /// Reconnects to the same address.
    pub(crate) fn open_again(&mut self) -> Result<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let connection = connect(target)?;
        self.wire = Wire::Open(connection);
        self.epoch += 1;
        Ok(())
    }

    /// Reconnects with increasing pauses, until it succeeds, the run is over, or the attempts are
    /// used up. Returns the last error.
    pub(crate) fn reconnect_with_backoff(
        &mut self,
        databases: &Databases,
        meter: &mut dyn Meter,
        interrupts: &Interrupts,
    ) -> Result<()> {
        let mut backoff = databases.backoff_min;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let failure = match self.open_again() {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let is_used_up = databases.reconnects_max != 0 && attempts >= databases.reconnects_max;
            if is_used_up || !wait(backoff, meter, interrupts) {
                return Err(failure);
            }
            backoff = (backoff * 2).min(databases.backoff_max);
        }
    }

    /// The handle with which another thread can end a blocking call of this connection.
    pub(crate) fn interrupter(&self) -> Option<Handle> {
        match &self.wire {
            Wire::Open(connection) => connection.interrupter(),
            _ => None,
        }
    }
}

/// Maximum time without checking whether the run continues.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Pauses; false as soon as the run is over.
fn wait(mut delay: Duration, meter: &mut dyn Meter, interrupts: &Interrupts) -> bool {
    loop {
        if interrupts.is_interrupted() || !meter.may_retry() {
            return false;
        }
        if delay.is_zero() {
            return true;
        }
        let step = delay.min(TIMEOUT);
        std::thread::sleep(step);
        delay -= step;
    }
}

fn utf8(sql: &[u8]) -> Result<&str> {
    std::str::from_utf8(sql).map_err(|error| {
        FailureKind::BadStatement
            .failure(format!("the statement is not valid UTF-8 at byte {}", error.valid_up_to()))
    })
}

/// The addresses, used in turn by all connections of the program.
pub(crate) fn next_target<'a>(
    databases: &'a Databases,
    shared: &Shared,
    driver: Engine,
) -> Option<&'a Target> {
    let targets = &databases.access(driver).targets;
    let turn = shared.connections[driver as usize].fetch_add(1, Ordering::Relaxed);
    targets.get(turn % targets.len().max(1))
}

/// Ends a blocking call of a connection.
type Handle = Box<dyn Fn() + Send>;

/// Handles of a state's open connections, with which another thread can end their blocking calls.
#[derive(Default)]
pub struct Interrupts {
    is_interrupted: AtomicBool,
    handles: Mutex<Vec<(f64, Handle)>>,
}

impl Interrupts {
    /// Whether [`Self::interrupt`] was called.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// Sets the handle of a connection.
    pub(crate) fn register(&self, handle_number: f64, handle: Option<Handle>) {
        let mut handles = lock(&self.handles);
        handles.retain(|(known, _)| *known != handle_number);
        handles.extend(handle.map(|handle| (handle_number, handle)));
        // A concurrent interrupt did not include it.
        if self.is_interrupted() {
            handles.iter().for_each(|(_, handle)| handle());
        }
    }

    /// Makes the current statement fail and rejects later ones; errors are no longer ignored, so
    /// the state's script ends. A statement of an embedded database that is just about to begin may
    /// be missed; calling again ends it.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::SeqCst);
        let handles = lock(&self.handles);
        handles.iter().for_each(|(_, handle)| handle());
    }
}

//! A connection of the null engine, which follows a script.

use super::script::{CONNECT, CannedValue, Latency, Script, Stall};
use super::statement::StatementKind;
use crate::driver::{Driver, Outcome, Result, Statement, unprepared};
use crate::timeout::{CHECK_INTERVAL, TimeoutPolicy, Waiting};
use crate::transport::Io;
use crate::value::{BulkLoad, Row, RowSink, RowSource, RowWriter, Value};
use dyno_model::engine::{Identity, Product};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::random::SplitMix64;
use dyno_model::sync::lock;
use dyno_model::target::Target;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A connection to a null server in this process.
pub struct Connection {
    server: Arc<Server>,
    io: Io,
    /// Number of this connection among all with the same option text, from 0; the stream of its
    /// random numbers.
    connection_number: u64,
    prepared: Vec<StatementKind>,
    /// Number of statements started.
    statements: u64,
    is_lost: bool,
    deadline: Option<Instant>,
    interruption: Arc<Interruption>,
}

/// What connections with the same option text have in common. It exists as long as one of them:
/// spans of time start again with the next connection.
struct Server {
    script: Script,
    /// True when every statement succeeds at once, so that nothing needs to be looked up.
    is_plain: bool,
    started: Instant,
    connections: Arc<AtomicU64>,
}

/// Servers by option text, with the connections that each has had. These are counted as long as the
/// process runs, so that the next trial, or load step of a search, draws other times than the one
/// before.
static SERVERS: Mutex<Option<HashMap<String, Known>>> = Mutex::new(None);

/// A server while a connection to it is open, and the connections that it has had.
type Known = (Weak<Server>, Arc<AtomicU64>);

impl Server {
    /// The server with this option text, or a new one.
    fn named(options: &str) -> Result<Arc<Self>> {
        let mut servers = lock(&SERVERS);
        let servers = servers.get_or_insert_default();
        if let Some(server) = servers.get(options).and_then(|(server, _)| server.upgrade()) {
            return Ok(server);
        }
        let script = Script::parse(options)?;
        let is_plain =
            script.latencies[..CONNECT].iter().all(|latency| *latency == Latency::Constant(0))
                && script.failures[..CONNECT].iter().all(Vec::is_empty)
                && (script.hang_after, script.disconnect_after, script.stall) == (None, None, None);
        let (last, connections) = servers.entry(options.to_owned()).or_default();
        let connections = Arc::clone(connections);
        let server = Arc::new(Self { script, is_plain, started: Instant::now(), connections });
        *last = Arc::downgrade(&server);
        Ok(server)
    }

    /// Time from now until the answer is sent.
    fn delay(&self, kind: usize, statement: u64, random: &mut Random) -> Duration {
        let delay = Duration::from_micros(match self.script.latencies[kind] {
            Latency::Constant(micros) => micros,
            Latency::Uniform { low, high } => {
                low + (random.unit() * (high - low).saturating_add(1) as f64) as u64
            }
            Latency::Exponential { mean } => (-(1.0 - random.unit()).ln() * mean as f64) as u64,
        });
        match self.script.stall {
            Some(Stall::After { statements, length }) if statement == statements => delay + length,
            Some(Stall::Span { at, length, every }) => {
                let ready = self.started.elapsed() + delay;
                let Some(since) = ready.checked_sub(at) else { return delay };
                let into = every.map_or(since, |every| nanos_modulo(since, every));
                delay + length.saturating_sub(into)
            }
            _ => delay,
        }
    }

    fn failure(&self, kind: usize, random: &mut Random) -> Option<FailureKind> {
        let rules = &self.script.failures[kind];
        if rules.is_empty() {
            return None;
        }
        let mut draw = random.unit();
        rules.iter().find_map(|(failure, probability)| {
            draw -= probability;
            (draw < 0.0).then_some(*failure)
        })
    }
}

fn nanos_modulo(span: Duration, period: Duration) -> Duration {
    let rest = span.as_nanos() % period.as_nanos().max(1);
    Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX))
}

/// Seeded for every statement, so that draws do not depend on the past.
struct Random(SplitMix64);

impl Random {
    fn of(seed: u64, connection: u64, statement: u64) -> Self {
        let of_connection = SplitMix64(seed).bits() ^ connection;
        Self(SplitMix64(SplitMix64(of_connection).bits() ^ statement))
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Lets another thread end a blocking wait.
#[derive(Default)]
struct Interruption {
    state: Mutex<Wait>,
    changed: Condvar,
}

#[derive(Default)]
struct Wait {
    is_waiting: bool,
    is_interrupted: bool,
}

impl Interruption {
    /// Blocks for a time (`None`: forever); true when it was interrupted.
    fn wait(&self, duration: Option<Duration>) -> bool {
        let mut wait = lock(&self.state);
        *wait = Wait { is_waiting: true, is_interrupted: false };
        let pending = |wait: &mut Wait| !wait.is_interrupted;
        let mut wait = match duration {
            Some(duration) => {
                let waited = self.changed.wait_timeout_while(wait, duration, pending);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait_while(wait, pending).unwrap_or_else(PoisonError::into_inner),
        };
        wait.is_waiting = false;
        wait.is_interrupted
    }

    /// Ends the current wait; without one it does nothing, like in SQLite.
    fn interrupt(&self) {
        let mut wait = lock(&self.state);
        wait.is_interrupted = wait.is_waiting;
        self.changed.notify_all();
    }
}

/// Every row of every answer.
struct CannedRow<'a> {
    value: Value<'a>,
    columns: usize,
}

impl Row for CannedRow<'_> {
    fn len(&self) -> usize {
        self.columns
    }

    fn get(&self, column: usize) -> Value<'_> {
        if column < self.columns { self.value } else { Value::Null }
    }
}

/// Discards the rows of a bulk load.
struct Nowhere;

impl RowWriter for Nowhere {
    fn integer(&mut self, _value: i64) {}
    fn text(&mut self, _value: &str) {}
    fn null(&mut self) {}
}

impl Connection {
    /// Waits as scripted for one statement, and fails if scripted.
    async fn behave(&mut self, kind: usize) -> Result<()> {
        if self.is_lost {
            return Err(FailureKind::ConnectionLost.failure("the scripted connection is broken"));
        }
        let statement = self.statements;
        self.statements += 1;
        let script = &self.server.script;
        if script.disconnect_after.is_some_and(|limit| statement >= limit) {
            self.is_lost = true;
            return Err(FailureKind::ConnectionLost.failure(format!(
                "the connection broke, as scripted, after {statement} statements"
            )));
        }
        if script.hang_after.is_some_and(|limit| statement >= limit) {
            self.hang().await?;
        }
        let mut random = Random::of(script.seed, self.connection_number, statement);
        let delay = self.server.delay(kind, statement, &mut random);
        let failure = self.server.failure(kind, &mut random);
        self.delay(delay).await?;
        let Some(failure) = failure else { return Ok(()) };
        self.is_lost = failure == FailureKind::ConnectionLost;
        let number = self.connection_number;
        Err(failure.failure(format!("scripted for statement {statement} of connection {number}")))
    }

    /// Waits for a time, or fails when the answer is late.
    async fn delay(&self, duration: Duration) -> Result<()> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left.filter(|left| *left < duration) {
            Some(left) => {
                self.wait(left).await?;
                Err(FailureKind::Timeout.failure("no answer in time, as scripted"))
            }
            None => self.wait(duration).await,
        }
    }

    async fn wait(&self, duration: Duration) -> Result<()> {
        match &self.io {
            _ if duration.is_zero() => Ok(()),
            Io::Blocking if self.interruption.wait(Some(duration)) => Err(interrupted()),
            Io::Blocking => Ok(()),
            Io::WithTimeout(timeout) => {
                self.wait_with_timeout(timeout, Some(Instant::now() + duration))
            }
            Io::Reactor(_) => {
                self.io.sleep(duration).await;
                Ok(())
            }
        }
    }

    /// Never answers: without a deadline, pends until the task is dropped, or blocks until
    /// interrupted.
    async fn hang(&self) -> Result<()> {
        if self.deadline.is_some() {
            return self.delay(Duration::MAX).await;
        }
        match &self.io {
            Io::Blocking => {
                self.interruption.wait(None);
                Err(interrupted())
            }
            Io::WithTimeout(timeout) => self.wait_with_timeout(timeout, None),
            Io::Reactor(_) => std::future::pending().await,
        }
    }

    /// Blocks until a time (`None`: forever) as long as the timeout allows.
    fn wait_with_timeout(&self, timeout: &TimeoutPolicy, until: Option<Instant>) -> Result<()> {
        let mut waiting = Waiting::new(timeout);
        loop {
            let rest = until
                .map_or(CHECK_INTERVAL, |until| until.saturating_duration_since(Instant::now()));
            if rest.is_zero() {
                return Ok(());
            }
            if self.interruption.wait(Some(rest.min(CHECK_INTERVAL))) {
                return Err(interrupted());
            }
            waiting.check()?;
        }
    }

    fn answer<S: RowSink>(&self, kind: StatementKind, sink: &mut S) -> Outcome {
        let script = &self.server.script;
        match kind {
            StatementKind::Select => {
                if !S::DISCARDS {
                    let value = match &script.value {
                        CannedValue::Integer(value) => Value::Integer(*value),
                        CannedValue::Text(text) => Value::Text(text),
                    };
                    let row = CannedRow { value, columns: script.columns };
                    sink.begin(script.columns);
                    (0..script.rows).for_each(|_| sink.row(&row));
                }
                Outcome { has_rows: true, rows: script.rows, affected: 0 }
            }
            kind if kind.is_write() => {
                Outcome { has_rows: false, rows: 0, affected: script.affected }
            }
            _ => Outcome::default(),
        }
    }

    async fn run<S: RowSink>(&mut self, kind: StatementKind, sink: &mut S) -> Result<Outcome> {
        if self.server.is_plain {
            self.statements += 1;
        } else {
            self.behave(kind as usize).await?;
        }
        Ok(self.answer(kind, sink))
    }
}

fn interrupted() -> OperationFailure {
    FailureKind::Cancelled.failure("interrupted")
}

impl Driver for Connection {
    /// Ignores `session_setup`, because there is no session.
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        let server = Server::named(&target.database)?;
        let connection_number = server.connections.fetch_add(1, Ordering::Relaxed);
        let connection = Self {
            server,
            io: io.clone(),
            connection_number,
            prepared: Vec::new(),
            statements: 0,
            is_lost: false,
            deadline: None,
            interruption: Arc::default(),
        };
        let mut random = Random::of(connection.server.script.seed, connection_number, u64::MAX);
        let delay = connection.server.delay(CONNECT, u64::MAX, &mut random);
        let failure = connection.server.failure(CONNECT, &mut random);
        connection.delay(delay.min(target.connect_timeout)).await?;
        if delay > target.connect_timeout {
            return Err(FailureKind::Timeout.failure(format!(
                "no connection within {:?}, as scripted",
                target.connect_timeout
            )));
        }
        match failure {
            Some(kind) => Err(kind.failure(format!("scripted for connection {connection_number}"))),
            None => Ok(connection),
        }
    }

    fn identity(&self) -> Identity {
        Identity::new(Product::Null, "null")
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.prepared.push(StatementKind::of(sql.as_bytes()));
        Ok(Statement(
            u32::try_from(self.prepared.len() - 1)
                .expect("fewer than 2^32 statements are prepared"),
        ))
    }

    async fn check(&mut self, _sql: &str) -> Result<()> {
        Ok(())
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        _parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        match self.prepared.get(statement.0 as usize) {
            Some(kind) => self.run(*kind, sink).await,
            None => Err(unprepared(statement)),
        }
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        self.run(StatementKind::of(sql.as_bytes()), sink).await
    }

    async fn bulk_load(&mut self, _load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64> {
        let mut loaded = 0;
        while rows.next(&mut Nowhere) {
            loaded += 1;
        }
        Ok(loaded)
    }

    /// It has none.
    fn is_in_transaction(&self) -> bool {
        false
    }

    async fn close(&mut self) {}

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        match self.io {
            Io::Blocking | Io::WithTimeout(_) => {
                let interruption = Arc::clone(&self.interruption);
                Some(Box::new(move || interruption.interrupt()))
            }
            Io::Reactor(_) => None,
        }
    }
}

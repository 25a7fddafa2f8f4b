//! The connection type that wraps all drivers.

use crate::driver::{Driver, Outcome, Result, Statement};
use crate::own_sessions;
use crate::timeout::TimeoutPolicy;
use crate::transport::{Io, block_on};
use crate::value::{BulkLoad, Discard, RowSink, RowSource, Value};
use dyno_model::engine::{Identity, Product};
use dyno_model::failure::FailureKind;
use dyno_model::target::{Engine, Target};
use std::time::Instant;
use tracing::debug;

/// A connection of any driver.
pub enum Connection {
    /// MySQL family.
    Mysql(crate::mysql::Connection),
    /// PostgreSQL.
    Postgres(crate::postgres::Connection),
    /// SQLite.
    Sqlite(crate::sqlite::Connection),
    /// Canned replies.
    Null(crate::null::Connection),
    /// A service without SQL: statements fail with [`FailureKind::Unsupported`].
    Http(Box<crate::http::Connection>),
}

/// The error for SQL on a service; nothing is sent.
fn no_sql<T>() -> Result<T> {
    Err(FailureKind::Unsupported
        .failure("an HTTP service does not accept SQL; use the workload `http`"))
}

/// Calls a method of the driver, or evaluates the last expression for services.
macro_rules! each {
    ($self:ident, $connection:ident => $call:expr, $service:pat => $other:expr) => {
        match $self {
            Connection::Mysql($connection) => $call,
            Connection::Postgres($connection) => $call,
            Connection::Sqlite($connection) => $call,
            Connection::Null($connection) => $call,
            Connection::Http($service) => $other,
        }
    };
}

/// A connection of the target's driver.
async fn connect(target: &Target, io: &Io) -> Result<Connection> {
    match target.engine {
        Engine::Mysql => crate::mysql::Connection::connect(target, io).await.map(Connection::Mysql),
        Engine::Postgres => {
            crate::postgres::Connection::connect(target, io).await.map(Connection::Postgres)
        }
        Engine::Sqlite => {
            crate::sqlite::Connection::connect(target, io).await.map(Connection::Sqlite)
        }
        Engine::Null => crate::null::Connection::connect(target, io).await.map(Connection::Null),
        Engine::Http => crate::http::Connection::connect(target, io)
            .await
            .map(|connection| Connection::Http(Box::new(connection))),
    }
}

/// Logs an attempt to connect, as the system and the account are addressed.
fn log_connect(target: &Target, connection: &Result<Connection>, start: Instant) {
    let Target { endpoint, user, database, .. } = target;
    let elapsed = start.elapsed();
    match connection {
        Ok(connection) => {
            let Identity { product, version } = connection.identity();
            debug!(%endpoint, user, database, ?product, %version, ?elapsed, "connected");
        }
        Err(failure) => debug!(%endpoint, user, database, %failure, ?elapsed, "not connected"),
    }
}

impl Connection {
    /// The connection as one that can send statements before their predecessors are answered;
    /// `None` where none can.
    pub fn pipelined(&mut self) -> Option<&mut crate::postgres::Connection> {
        match self {
            Self::Postgres(connection) => Some(connection),
            _ => None,
        }
    }

    /// Sends a statement `COPY ... FROM stdin` and its rows, which are written in the format that
    /// it names; PostgreSQL's alone.
    ///
    /// # Errors
    /// When the server rejects the statement or a row, or the connection is lost.
    pub async fn copy_text(&mut self, sql: &str, rows: &str) -> Result<u64> {
        match self.pipelined() {
            Some(connection) => connection.copy_text(sql, rows).await,
            None => {
                Err(FailureKind::Unsupported.failure("only PostgreSQL accepts rows after COPY"))
            }
        }
    }
}

impl Driver for Connection {
    async fn connect(target: &Target, io: &Io) -> Result<Self> {
        let start = Instant::now();
        let connection = connect(target, io).await;
        log_connect(target, &connection, start);
        let connection = connection?;
        if matches!(io, Io::WithTimeout(_)) {
            own_sessions::note(target, connection.session_number());
        }
        Ok(connection)
    }

    fn identity(&self) -> Identity {
        each!(self, connection => connection.identity(), _ => Identity::new(Product::Http, "HTTP/1.1"))
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        each!(self, connection => connection.prepare(sql).await, _ => no_sql())
    }

    async fn check(&mut self, sql: &str) -> Result<()> {
        each!(self, connection => connection.check(sql).await, _ => no_sql())
    }

    async fn execute<S: RowSink>(
        &mut self,
        statement: Statement,
        parameters: &[Value<'_>],
        sink: &mut S,
    ) -> Result<Outcome> {
        each!(self, connection => connection.execute(statement, parameters, sink).await, _ => no_sql())
    }

    async fn query<S: RowSink>(&mut self, sql: &str, sink: &mut S) -> Result<Outcome> {
        each!(self, connection => connection.query(sql, sink).await, _ => no_sql())
    }

    async fn bulk_load(&mut self, load: &BulkLoad<'_>, rows: &mut dyn RowSource) -> Result<u64> {
        each!(self, connection => connection.bulk_load(load, rows).await, _ => no_sql())
    }

    async fn close(&mut self) {
        each!(self, connection => connection.close().await, service => service.close());
    }

    async fn forget(&mut self, statement: Statement) -> Result<()> {
        each!(self, connection => connection.forget(statement).await, _ => no_sql())
    }

    fn is_in_transaction(&self) -> bool {
        each!(self, connection => connection.is_in_transaction(), _ => false)
    }

    fn session_number(&self) -> Option<u32> {
        each!(self, connection => connection.session_number(), _ => None)
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        each!(self, connection => connection.set_deadline(deadline), service => service.set_deadline(deadline));
    }

    fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        each!(self, connection => connection.interrupter(), service => service.interrupter())
    }
}

impl TimeoutPolicy {
    /// For statements whose duration depends on the amount of data: a timeout of six hours while
    /// the server is alive. Whenever the timeout of a query has passed without an answer, a second
    /// connection checks that the server is alive.
    #[must_use]
    pub fn for_work(target: &Target) -> Self {
        Self::for_work_asking(target, show_life)
    }
}

/// A rejection also shows that the server is alive, as the failure's kind tells.
fn show_life(target: &Target, timeout: TimeoutPolicy) -> Result<()> {
    block_on(async {
        let mut connection = Connection::connect(target, &Io::WithTimeout(timeout)).await?;
        connection.query("SELECT 1", &mut Discard).await?;
        connection.close().await;
        Ok(())
    })
}

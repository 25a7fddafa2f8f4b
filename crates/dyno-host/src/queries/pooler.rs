//! Connection poolers in front of a server: recognised by the ids of sessions, because they pass on
//! the version of the server.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_model::target::{QueryMode, Target};

/// The database in which PgBouncer answers questions about itself.
const ADMINISTRATION: &str = "pgbouncer";

/// A pooler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pooler {
    /// Its name and version, if it answers: `PgBouncer 1.18.0`.
    pub name: Option<String>,
    /// True when each transaction of a client may run in another session of the server.
    pub is_per_transaction: bool,
    /// False when prepared statements are lost with the session.
    pub keeps_prepared: bool,
}

impl Pooler {
    /// Its name and mode, as shown after the version of the server.
    #[must_use]
    pub fn shown(&self) -> String {
        let name = self.name.as_deref().unwrap_or("a connection pooler");
        let mode = if self.is_per_transaction { "transaction" } else { "session" };
        format!("{name} ({mode} mode)")
    }

    /// Why a statement of the clients, whose effect lasts longer than its transaction, cannot be
    /// sent through it, and what to do; `None` if it can.
    #[must_use]
    pub fn loses(&self, statement: &str) -> Option<String> {
        self.is_per_transaction.then(|| {
            format!(
                "{} is in front of the server, so what this statement leaves in its session would \
                 be lost, or apply to other clients' transactions: {statement}\n\
                 hint: keep it within a transaction (SET LOCAL, ON COMMIT DROP, \
                 pg_advisory_xact_lock), configure the pooler for session mode, or connect to the \
                 server directly",
                self.shown()
            )
        })
    }

    /// Why clients cannot work through it, and what to do; `None` if they can.
    #[must_use]
    pub fn obstacle(&self, target: &Target) -> Option<String> {
        if !self.is_per_transaction {
            return None;
        }
        if target.query_mode == QueryMode::Prepared && !self.keeps_prepared {
            return Some(format!(
                "{} is in front of the server and does not keep prepared statements\n\
                 hint: set query_mode = \"simple\" or \"extended\" for this system, configure the \
                 pooler for session mode or prepared statements (PgBouncer 1.21: \
                 max_prepared_statements), or connect to the server directly",
                self.shown()
            ));
        }
        (!target.session_setup.is_empty()).then(|| {
            format!(
                "{} is in front of the server, so session parameters in the URL would apply to \
                 other clients' transactions\n\
                 hint: set these values for the account (ALTER ROLE ... SET), configure the pooler \
                 for session mode, or connect to the server directly",
                self.shown()
            )
        })
    }
}

/// The pooler at the address of a target, if any.
///
/// # Errors
/// When it cannot be reached or a query fails.
pub fn at(target: &Target) -> QueryResult<Option<Pooler>> {
    examine(&mut ControlConnection::open(target)?, target)
}

/// The pooler between this session and the server, if any.
///
/// # Errors
/// When a query fails.
pub(crate) fn examine(
    session: &mut ControlConnection,
    target: &Target,
) -> QueryResult<Option<Pooler>> {
    let server = queries(target.engine).server.as_ref();
    let Some(pooled) = server.and_then(|server| server.lock.pooled.as_ref()) else {
        return Ok(None);
    };
    if !pooled.changes_sessions(session)? {
        return Ok(None);
    }
    let target = Target { session_setup: Vec::new(), ..target.clone() };
    // A server without processes has no ids that could differ.
    let mine = session.first(pooled.session)?;
    if mine.as_ref().is_none_or(|mine| mine.parse::<u32>().is_err()) {
        return Ok(None);
    }
    // A session that is idle between transactions is lent to another client.
    let mut other = ControlConnection::open(&target)?;
    other.run(target.engine.dialect().begin_to_write)?;
    let is_per_transaction =
        other.first(pooled.session)? == mine || session.first(pooled.session)? != mine;
    drop(other);
    let administration = Target { database: ADMINISTRATION.to_owned(), ..target.clone() };
    let name = ControlConnection::open(&administration)
        .and_then(|mut session| session.first("SHOW VERSION"))
        .ok()
        .flatten()
        .filter(|name| name.starts_with("PgBouncer"));
    let keeps_prepared = !is_per_transaction || has_own_statements(&target)?;
    Ok(Some(Pooler { name, is_per_transaction, keeps_prepared }))
}

/// Whether two clients can prepare statements under the same name, one after the other.
fn has_own_statements(target: &Target) -> QueryResult<bool> {
    let target = Target { query_mode: QueryMode::Prepared, ..target.clone() };
    let io = Io::WithTimeout(TimeoutPolicy::for_questions(&target));
    block_on(async {
        let mut first = Connection::connect(&target, &io).await?;
        let mut second = Connection::connect(&target, &io).await?;
        let prepared = async {
            for statement in ["SELECT 1", "SELECT 2"] {
                for client in [&mut first, &mut second] {
                    client.prepare(statement).await?;
                }
            }
            Ok(())
        };
        let prepared: QueryResult<()> = prepared.await;
        first.close().await;
        second.close().await;
        match prepared {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_answered() => Ok(false),
            Err(failure) => Err(failure),
        }
    })
}

//! Waits until the sessions of a trial's clients have ended on the server, and ends those that do
//! not.
//!
//! A client that is cut off closes its connection, which a busy server does not notice: a statement
//! that waits for a lock continues to wait and takes effect when it gets the lock, possibly in the
//! middle of the next trial, which would then find an unexplained update. In addition, PostgreSQL
//! adds a session's statistics when the session ends.

use dyno_drivers::timeout::is_end_requested;
use dyno_drivers::{Connection, Discard, Driver, Io, Table, TimeoutPolicy, block_on};
use dyno_model::engine::SessionStatements;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::Target;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Pause between two checks of the sessions on the server.
const CHECK_PAUSE: Duration = Duration::from_millis(10);
/// Longest pause between two checks, so that the queries do not distort the server's counters.
const CHECK_PAUSE_MAX: Duration = Duration::from_millis(320);
/// Sessions that have not ended after this time are terminated. Those without a statement end as
/// soon as the server reads that the connection was closed.
const TERMINATE_AFTER: Duration = Duration::from_secs(2);
/// Longest wait for sessions to end; a busy machine, or a server that rolls back, needs time.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
/// The same after an interrupt: sessions are terminated at once.
const SETTLE_LIMIT_AFTER_INTERRUPT: Duration = Duration::from_secs(1);

/// The server's ids of the sessions that a trial's clients opened on it.
#[derive(Debug, Default)]
pub struct OpenSessions(Mutex<HashMap<u32, Instant>>);

impl OpenSessions {
    pub(crate) fn opened(&self, connection: &Connection) {
        if let Some(number) = connection.session_number() {
            lock(&self.0).insert(number, Instant::now());
        }
    }

    /// Records a session that was closed while idle; it need not be awaited.
    pub(crate) fn closed(&self, connection: &Connection) {
        if let Some(number) = connection.session_number() {
            lock(&self.0).remove(&number);
        }
    }

    /// The numbers of all of them.
    pub(crate) fn all(&self) -> Vec<u32> {
        lock(&self.0).keys().copied().collect()
    }

    /// Adds those that clients of another process opened.
    pub(crate) fn add(&self, numbers: &[u32]) {
        let now = Instant::now();
        lock(&self.0).extend(numbers.iter().map(|number| (*number, now)));
    }

    /// Ids of the sessions opened after a moment: a restarted server assigns ids from the beginning
    /// again.
    fn numbers(&self, since: Option<Instant>) -> HashSet<u32> {
        let sessions = lock(&self.0);
        let is_meant = |opened: &Instant| since.is_none_or(|since| *opened >= since);
        sessions.iter().filter(|(_, opened)| is_meant(opened)).map(|(number, _)| *number).collect()
    }
}

/// Opens a connection in addition to those of the load. Its statements have no fixed time limit,
/// because data may be large, but the server must be healthy.
pub(crate) async fn observe(target: &Target) -> Result<Connection, OperationFailure> {
    Connection::connect(target, &Io::WithTimeout(TimeoutPolicy::for_work(target))).await
}

/// True when a query ended without an answer of the server: the server is silent, or the user does
/// not want to wait.
pub(crate) fn is_unanswered(failure: &OperationFailure) -> bool {
    failure.code == 0 && matches!(failure.kind, FailureKind::Timeout | FailureKind::Cancelled)
}

/// Waits for the sessions opened since a moment to end. Returns the number of those that did not
/// end although they were terminated. Fails when the server stops answering.
pub(crate) fn await_ended(
    observer: &mut Connection,
    target: &Target,
    sessions: &OpenSessions,
    since: Option<Instant>,
) -> Result<u64, OperationFailure> {
    let own = sessions.numbers(since);
    let Some(statements) = target.engine.traits().sessions.as_ref().filter(|_| !own.is_empty())
    else {
        return Ok(0);
    };
    wait(&mut ServerSessions { observer, target, statements, own }, || match is_end_requested() {
        true => (Duration::ZERO, SETTLE_LIMIT_AFTER_INTERRUPT),
        false => (TERMINATE_AFTER, SETTLE_LIMIT),
    })
}

/// The trial's own sessions on a server.
trait Sessions {
    fn remaining(&mut self) -> Result<Vec<u32>, OperationFailure>;
    fn terminate(&mut self, session: u32);
}

/// `limits` returns the time for sessions to end on their own, and the total time; it is called at
/// every check.
fn wait(
    sessions: &mut impl Sessions,
    limits: impl Fn() -> (Duration, Duration),
) -> Result<u64, OperationFailure> {
    let began = Instant::now();
    let mut check_interval = CHECK_PAUSE;
    let mut are_terminated = false;
    loop {
        let remaining = sessions.remaining()?;
        let (terminate_after, limit) = limits();
        let waited = began.elapsed();
        if remaining.is_empty() || waited >= limit {
            return Ok(remaining.len() as u64);
        }
        if !are_terminated && waited >= terminate_after {
            are_terminated = true;
            check_interval = CHECK_PAUSE;
            remaining.into_iter().for_each(|session| sessions.terminate(session));
        }
        std::thread::sleep(check_interval);
        check_interval = (2 * check_interval).min(CHECK_PAUSE_MAX);
    }
}

struct ServerSessions<'a> {
    observer: &'a mut Connection,
    target: &'a Target,
    statements: &'static SessionStatements,
    own: HashSet<u32>,
}

impl ServerSessions<'_> {
    fn query(&mut self, sql: &str) -> Result<Table, OperationFailure> {
        let mut table = Table::default();
        block_on(self.observer.query(sql, &mut table))?;
        Ok(table)
    }
}

impl Sessions for ServerSessions<'_> {
    fn remaining(&mut self) -> Result<Vec<u32>, OperationFailure> {
        // Ids are reused, and a proxy assigns its own ids: only sessions that look like dyno's are
        // terminated.
        let sql = self.statements.list;
        let answer = match self.query(sql) {
            // The connection may have broken together with those of the clients, and the server may
            // be healthy again.
            Err(failure) if !is_unanswered(&failure) => {
                block_on(observe(self.target)).and_then(|connection| {
                    *self.observer = connection;
                    self.query(sql)
                })
            }
            answer => answer,
        };
        // If the server refuses the query, the audit will fail and report it.
        let rows = match answer {
            Err(failure) if is_unanswered(&failure) => return Err(failure),
            answer => answer.unwrap_or_default().0,
        };
        let number = |row: &Vec<Option<String>>| -> Option<u32> {
            let is_user =
                self.target.user.is_empty() || row.get(1)?.as_deref()? == self.target.user;
            let number = row.first()?.as_deref()?.parse().ok()?;
            (is_user && self.own.contains(&number)).then_some(number)
        };
        Ok(rows.iter().filter_map(number).collect())
    }

    fn terminate(&mut self, session: u32) {
        let sql = self.statements.end.replace('?', &session.to_string());
        // It may have ended in the meantime; the next check shows it.
        let _ = block_on(self.observer.query(&sql, &mut Discard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions that end when they are terminated, or do not.
    struct Scripted {
        left: Vec<u32>,
        terminated: Vec<u32>,
        obey: bool,
    }

    impl Sessions for Scripted {
        fn remaining(&mut self) -> Result<Vec<u32>, OperationFailure> {
            Ok(self.left.clone())
        }

        fn terminate(&mut self, session: u32) {
            self.terminated.push(session);
            if self.obey {
                self.left.retain(|left| *left != session);
            }
        }
    }

    #[test]
    fn sessions_that_do_not_end_by_themselves_are_ended() {
        let mut sessions = Scripted { left: vec![7, 9], terminated: Vec::new(), obey: true };
        assert_eq!(wait(&mut sessions, || (Duration::ZERO, Duration::from_secs(3600))), Ok(0));
        assert_eq!(sessions.terminated, [7, 9]);
    }

    #[test]
    fn sessions_that_never_end_are_awaited_only_up_to_the_limit() {
        let mut sessions = Scripted { left: vec![7, 9], terminated: Vec::new(), obey: false };
        assert_eq!(wait(&mut sessions, || (Duration::ZERO, Duration::from_millis(1))), Ok(2));
        assert_eq!(sessions.terminated, [7, 9], "each is terminated once");
    }
}

//! The lock of a run on a database. It is held from before the marker is read until the run ends,
//! so that no run takes the tables of another for its own.
//!
//! | engine | lock | scope |
//! |---|---|---|
//! | PostgreSQL | advisory lock of a session, or, with a pooler, of a transaction | the database |
//! | MySQL family | `GET_LOCK` | the node of a cluster that the URL names |
//! | SQLite | a lock file next to the database file | all processes of this machine |
//!
//! Another run that uses another node of a cluster, or a server without such a lock, is recognised
//! by the marker, which names it.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::{LockQueries, queries};
use crate::error::HostError;
use dyno_drivers::timeout::is_end_requested;
use dyno_model::engine::Capability;
use dyno_model::schema::MARKER_TABLE;
use dyno_model::target::{Endpoint, Engine, Target};
use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

/// How long to wait for another run to release the lock: a server notices with a delay that a
/// killed client is gone.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Suffix of the name of a lock file.
const FILE_ENDING: &str = "-dyno-lock";
/// Maximum size of a lock file in bytes.
const PROCESS_MAX: u64 = 20;
/// Other accounts may read a lock file, to see that it is locked.
const READABLE: u32 = 0o644;

/// A lock on a database.
pub struct RunLock(LockState);

enum LockState {
    /// Held by this session.
    Session(Box<RefCell<ControlConnection>>, &'static LockQueries),
    /// Held by this file, which is removed with it.
    File(File, PathBuf),
    /// Held by another lock of this run, on the same database under another address.
    SharedAddress,
    /// Not held, because the server rejects it or the file cannot be created.
    Unavailable(String),
}

/// The reason why a database could not be locked.
pub(crate) enum Refused {
    /// Another run uses it.
    InUse(HostError),
    /// The server cannot be reached.
    Unreachable(HostError),
}

impl From<Refused> for HostError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::InUse(error) | Refused::Unreachable(error) => error,
        }
    }
}

thread_local! {
    /// The locks of this run by location; a run claims databases in one thread.
    static HELD: RefCell<Vec<(String, Weak<RunLock>)>> = const { RefCell::new(Vec::new()) };
}

/// Acquires the lock of a database, or shares one that this process holds. `None` when there is
/// nothing to lock. `is_own` tells whether the database's marker is this run's.
///
/// # Errors
/// When another run holds it, with the session that does, and when the server cannot be reached.
pub(crate) fn take(
    target: &Target,
    is_own: impl FnOnce() -> bool,
) -> Result<Option<Rc<RunLock>>, Refused> {
    let location = target.location();
    let known = HELD.with_borrow(|held| {
        let mut live = held.iter().filter(|(other, _)| *other == location);
        live.find_map(|(_, lock)| lock.upgrade())
    });
    if let Some(known) = known.filter(|known| known.is_still_held()) {
        return Ok(Some(known));
    }
    let lock = match &target.endpoint {
        Endpoint::InProcess => return Ok(None),
        Endpoint::File(path) => take_file(path),
        _ => match &queries(target.engine).server {
            Some(server) => take_session(target, &server.lock)?,
            None => return Ok(None),
        },
    };
    let lock = match lock {
        Some(lock) => lock,
        None if is_own() => LockState::SharedAddress,
        None => return Err(Refused::InUse(in_use(target, remedy(&target.endpoint)))),
    };
    let taken = Rc::new(RunLock(lock));
    HELD.with_borrow_mut(|held| {
        held.retain(|(other, lock)| *other != location && lock.strong_count() > 0);
        held.push((location, Rc::downgrade(&taken)));
    });
    Ok(Some(taken))
}

/// Checks whether another run holds the lock of a database; leaves nothing behind.
///
/// # Errors
/// As [`take`].
pub(crate) fn inspect(target: &Target) -> Result<(), HostError> {
    match &target.endpoint {
        Endpoint::File(database) if !lock_file(database).exists() => Ok(()),
        _ => Ok(take(target, || false).map(|_lock| ())?),
    }
}

/// Whether the engine cannot drop a database while the lock's session is connected to it.
pub(crate) fn blocks_drop(engine: Engine) -> bool {
    queries(engine).server.as_ref().is_some_and(|server| server.lock.blocks_drop)
}

impl RunLock {
    /// The reason why the database could not be locked, if any.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        if let LockState::Unavailable(reason) = &self.0 { Some(reason) } else { None }
    }

    /// Whether it is still held: a restarted server has forgotten it.
    pub(crate) fn is_still_held(&self) -> bool {
        match &self.0 {
            LockState::Session(session, queries) => {
                let answer = session.borrow_mut().first(queries.held);
                answer.is_ok_and(|answer| is_yes(answer.as_deref()))
            }
            LockState::File(file, path) => is_same_file(file, path),
            LockState::SharedAddress | LockState::Unavailable(_) => true,
        }
    }
}

impl fmt::Debug for RunLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLock").finish_non_exhaustive()
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let LockState::File(_, path) = &self.0 {
            // A process that has opened it meanwhile notices that the name belongs to another file.
            let _ = fs::remove_file(path);
        }
    }
}

fn is_yes(answer: Option<&str>) -> bool {
    matches!(answer, Some("1" | "t"))
}

fn take_session(
    target: &Target,
    queries: &'static LockQueries,
) -> Result<Option<LockState>, Refused> {
    // The user's session setup is not applied, and the session outlives limits on idle sessions.
    let target = Target { session_setup: Vec::new(), ..target.clone() };
    let taken = ControlConnection::open_to_clean_up(&target).and_then(|mut session| {
        let take = prepared(&mut session, queries)?;
        let began = Instant::now();
        loop {
            if is_yes(session.first(take)?.as_deref()) {
                return Ok(Some(lock_state(session, queries)));
            }
            if began.elapsed() >= TIMEOUT || is_end_requested() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    });
    match taken {
        Err(failure) if failure.is_answered() => {
            Ok(Some(LockState::Unavailable(failure.to_string())))
        }
        taken => taken.map_err(|failure| {
            let database = target.database_name();
            Refused::Unreachable(HostError::new(format!(
                "cannot lock the database {database:?} against other runs: {failure}"
            )))
        }),
    }
}

/// A lock that the server granted. Some products grant it without any effect.
fn lock_state(mut session: ControlConnection, queries: &'static LockQueries) -> LockState {
    let lacks_locks = session.identity().product.lacks(Capability::AdvisoryLocks);
    match session.first(queries.held) {
        Err(failure) => return LockState::Unavailable(failure.to_string()),
        Ok(answer) if lacks_locks || !is_yes(answer.as_deref()) => {
            return LockState::Unavailable("the server's advisory locks have no effect".to_owned());
        }
        Ok(_) => {}
    }
    LockState::Session(Box::new(RefCell::new(session)), queries)
}

/// The statement that acquires the lock on this connection, which keeps its session from here on.
fn prepared(
    session: &mut ControlConnection,
    queries: &'static LockQueries,
) -> QueryResult<&'static str> {
    if let Some(pooled) = &queries.pooled
        && pooled.changes_sessions(session)?
    {
        pooled.begin.iter().try_for_each(|statement| session.run(statement))?;
        return Ok(pooled.take);
    }
    let _ = session.run(queries.stay);
    Ok(queries.take)
}

fn remedy(endpoint: &Endpoint) -> &'static str {
    match endpoint {
        Endpoint::File(_) => "wait until it ends, or stop that process",
        _ => "wait until it ends; if its process has already ended, terminate that session",
    }
}

/// The error of a database that another run uses.
pub(crate) fn in_use(target: &Target, remedy: &str) -> HostError {
    let database = target.database_name();
    let known: Vec<String> = run_of(target).into_iter().chain(holder(target)).collect();
    let known = if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) };
    HostError::new(format!(
        "another run of dyno uses the database {database:?}{known}\nhint: {remedy}"
    ))
}

/// The experiment of the run that the marker names, if the database has one. SQLite does not answer
/// while another connection writes.
fn run_of(target: &Target) -> Option<String> {
    if matches!(target.endpoint, Endpoint::File(_)) {
        return None;
    }
    let sql = format!("SELECT experiment, created_at FROM {MARKER_TABLE} WHERE table_name = ''");
    let rows = ControlConnection::open(target).and_then(|mut session| session.pairs(&sql)).ok()?;
    let (experiment, since) = rows.into_iter().next()?;
    Some(format!("experiment {experiment:?}, since {since:?}"))
}

/// The holder of the lock.
fn holder(target: &Target) -> Option<String> {
    if let Endpoint::File(database) = &target.endpoint {
        let process = dyno_files::read_text(&lock_file(database), PROCESS_MAX).ok()?;
        return Some(format!("process {}", process.trim().parse::<u32>().ok()?));
    }
    let queries = &queries(target.engine).server.as_ref()?.lock;
    let rows = ControlConnection::open(target)
        .and_then(|mut session| session.pairs(queries.holder))
        .ok()?;
    let (number, who) = rows.into_iter().next()?;
    Some(format!("session {number}, {who}"))
}

fn lock_file(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(FILE_ENDING);
    PathBuf::from(name)
}

/// Creates and locks the lock file of a database, with the id of this process in it; `None` while
/// another process holds it.
fn take_file(database: &Path) -> Option<LockState> {
    let path = lock_file(database);
    let failed = |error| Some(LockState::Unavailable(format!("{}: {error}", path.display())));
    let began = Instant::now();
    while began.elapsed() < TIMEOUT && !is_end_requested() {
        let (file, is_new) = match open_or_make(&path) {
            Ok(opened) => opened,
            // Its holder has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return failed(error),
        };
        let taken = match file.try_lock() {
            // Its holder has removed it.
            Ok(()) if !is_same_file(&file, &path) => Ok(()),
            Ok(()) if is_new => {
                match (&file).write_all(std::process::id().to_string().as_bytes()) {
                    Ok(()) => return Some(LockState::File(file, path)),
                    Err(error) => Err(error),
                }
            }
            // A killed run has left it.
            Ok(()) => fs::remove_file(&path),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(PAUSE);
                Ok(())
            }
            Err(TryLockError::Error(error)) => Err(error),
        };
        if let Err(error) = taken {
            return failed(error);
        }
    }
    None
}

/// Opens a lock file; the second value is true for a new one. Only a new one is written to.
fn open_or_make(path: &Path) -> io::Result<(File, bool)> {
    match dyno_files::create_new(path, READABLE) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            dyno_files::open(path, PROCESS_MAX).map(|file| (file.into_file(), false))
        }
        made => made.map(|file| (file, true)),
    }
}

fn is_same_file(file: &File, path: &Path) -> bool {
    let number = |of: fs::Metadata| (of.dev(), of.ino());
    let there = fs::symlink_metadata(path).map(number).ok();
    there.is_some() && there == file.metadata().map(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_drivers::null::server::{Options, Persona, serve};

    #[test]
    fn a_lock_that_is_granted_without_effect_is_none() {
        let [(_, _, cockroachdb), (_, _, yugabytedb), ..] = Persona::ALL;
        let rows = [
            (cockroachdb, "the server's advisory locks have no effect"),
            (yugabytedb, "advisory locks are not yet implemented"),
        ];
        for (persona, reason) in rows {
            let options = Options { persona: Some(persona), ..Options::default() };
            let server = serve(persona.protocol, ([127, 0, 0, 1], 0).into(), options).unwrap();
            let address = server.local_addr;
            let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
            let target =
                Target { user: "any".to_owned(), ..Target::new(Engine::Postgres, endpoint) };
            let lock = take(&target, || false).map_err(HostError::from).unwrap().unwrap();
            assert!(lock.problem().is_some_and(|it| it.contains(reason)), "{:?}", lock.problem());
        }
    }
}

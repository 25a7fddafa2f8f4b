//! The table of queries that each engine provides, and their results.

use super::setting::Setting;
use super::values::Values;
use crate::control_connection::{ControlConnection, QueryResult};
use dyno_model::engine::Identity;
use dyno_model::target::Target;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Queries for the systems of an engine, outside the load.
pub(crate) struct EngineQueries {
    pub(crate) settings: EngineSettings,
    /// Connects for the monitor, which sends its further queries over that connection; also returns
    /// the id of the server's thread or process that serves it. Figures of databases are summed
    /// over the named ones. `None` where there is nothing to observe.
    pub(crate) observe: Option<Observe>,
    /// Queries whose answers name the product and its version, for what a server does not report on
    /// connecting.
    pub(crate) versions: &'static [&'static str],
    /// Queries about tables; `None` where there are no tables.
    pub(crate) tables: Option<TableQueries>,
    /// Query for the storage engine whose tables all nodes of a cluster share. Where a server has
    /// only one storage engine: `None`.
    pub(crate) shared_storage: Option<&'static str>,
    /// Query prefix; the table's name follows. Whether the table is an ordinary one, created by
    /// this account, so that reading and writing it has no side effects.
    pub(crate) plain_table: &'static str,
    /// Queries that only a server answers.
    pub(crate) server: Option<ServerQueries>,
}

impl EngineQueries {
    /// Product and version of a server, of which these settings are known.
    pub(crate) fn identity(
        &self,
        session: &mut ControlConnection,
        found: &FoundSettings,
    ) -> Identity {
        // A server that refuses one is known by the answers to the others.
        let answers = self.versions.iter().filter_map(|sql| session.first(sql).ok().flatten());
        let versions: Vec<String> = answers.collect();
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        session.identity().with_answers(&versions.join(" "), &names)
    }
}

/// SQL queries about the tables of a database.
pub(crate) struct TableQueries {
    /// For each table: name, bytes with indexes. `None` where the dialect has its own query.
    pub(crate) sizes: Option<&'static str>,
    /// For each column of an index, in the order of the index, those of the primary key first:
    /// table, index, 1 for the primary key, column, column as SQL, 1 for whole numbers.
    pub(crate) indexes: &'static str,
    /// The setting with the size of the page cache, and its bytes.
    pub(crate) cache: &'static str,
}

/// One session, or several in the same state.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionActivity {
    pub(crate) sessions: u32,
    pub(crate) state: String,
    pub(crate) wait: String,
    /// As reported by the server; may be truncated.
    pub(crate) statement: String,
}

/// The monitor's connection.
pub(crate) trait Observed {
    /// Counters and sizes.
    fn counters(&mut self, values: &mut Values) -> QueryResult<()>;

    /// The sessions but this one, with details of their waits on demand where those cost more.
    /// `None` where there are no sessions.
    fn sessions(&mut self, _is_detailed: bool) -> QueryResult<Option<Vec<SessionActivity>>> {
        Ok(None)
    }
}

pub(crate) type Observe = fn(&Target, &[String]) -> QueryResult<Watched>;

/// The monitor's connection, with the id of the thread or process that serves it, where known.
pub(crate) type Watched = (Box<dyn Observed>, Option<u32>);

type Count = fn(&mut ControlConnection, &[String]) -> QueryResult<BTreeMap<String, i64>>;

/// Queries for a server, outside the load.
pub(crate) struct ServerQueries {
    pub(crate) connection_limit: fn(&mut ControlConnection) -> QueryResult<ConnectionLimit>,
    /// Sessions other than this one: id, account, origin, database, state.
    pub(crate) foreign_sessions: &'static str,
    /// Whether writes are replicated. What the account may not see counts as absent.
    pub(crate) is_replicated: fn(&mut ControlConnection) -> bool,
    /// The setting that makes it refuse writes, if one does.
    pub(crate) refuses_writes: &'static str,
    /// The server's counters; those that exist per database are summed over the named ones.
    pub(crate) counters: Count,
    pub(crate) programs: &'static [&'static str],
    /// Values that change with every change of rows, tables or large objects of the database.
    pub(crate) write_marks: &'static [&'static str],
    /// How a run locks a database against other runs.
    pub(crate) lock: LockQueries,
    /// The id of its process on this machine.
    pub(crate) process: fn(&mut ControlConnection) -> Option<u32>,
    /// Hints by which a process on the server's machine can be identified: words of
    /// `monitor/remote/look.sh`, best first.
    pub(crate) traces: fn(&mut ControlConnection) -> Vec<String>,
}

/// SQL of the lock.
pub(crate) struct LockQueries {
    /// Prevents the server from ending an idle session. Not every version has it.
    pub(crate) stay: &'static str,
    /// Whether a connected session prevents its database from being dropped.
    pub(crate) blocks_drop: bool,
    /// The lock where a pooler may change the session; `None` where there are no poolers.
    pub(crate) pooled: Option<PooledLock>,
    /// Acquires the lock if it is free: `1` or `t`.
    pub(crate) take: &'static str,
    /// Whether this session holds it: `1` or `t`.
    pub(crate) held: &'static str,
    /// The holder: session id, and account with origin.
    pub(crate) holder: &'static str,
}

/// A lock held by a transaction.
pub(crate) struct PooledLock {
    /// The id of the answering session, which behind a pooler differs from the one told at login.
    pub(crate) session: &'static str,
    /// Begins the transaction.
    pub(crate) begin: &'static [&'static str],
    /// Acquires the lock if it is free.
    pub(crate) take: &'static str,
}

impl PooledLock {
    /// Whether a pooler is in between, which may run each transaction in another session.
    pub(crate) fn changes_sessions(&self, session: &mut ControlConnection) -> QueryResult<bool> {
        let answering = session.first(self.session)?;
        Ok(answering != session.session_number().map(|number| number.to_string()))
    }
}

/// All settings of a system, by lower-case name.
pub(crate) type FoundSettings = BTreeMap<String, Setting>;

/// Finds a setting by its listed name, together with the value to compare it with.
type FindSetting =
    for<'a, 'b> fn(&str, &'a str, &'b FoundSettings) -> Option<(&'b Setting, Cow<'a, str>)>;

/// Properties of an engine's settings.
pub(crate) struct EngineSettings {
    /// Settings that affect results and appear in reports: durability, memory, connections,
    /// isolation, threads. Those that a server does not have are skipped.
    pub(crate) that_matter: &'static [&'static str],
    /// Settings that dyno sets itself or that are not settings, with the reason why they cannot be
    /// given.
    pub(crate) reserved: &'static [(&'static [&'static str], &'static str)],
    /// Settings that determine the format of files or tables at creation. Data sets loaded with
    /// different values are different.
    pub(crate) shaping: &'static [&'static str],
    /// Options that no server returns.
    pub(crate) unreported: &'static [&'static str],
    pub(crate) read: fn(&mut ControlConnection) -> QueryResult<FoundSettings>,
    /// The lower-case name under which the server lists a setting.
    pub(crate) listed: fn(&str) -> String,
    /// Finds the setting for a listed name, and the value to compare it with; they differ where an
    /// option and its variable do.
    pub(crate) find: FindSetting,
    /// True when the effective value of the setting equals the requested one in another spelling.
    pub(crate) is_same: fn(&str, &str, &Setting) -> bool,
    /// True when the effective value is the requested one, rounded to a value that the server
    /// supports. The last argument holds all settings.
    pub(crate) is_rounded: fn(&str, &str, &Setting, &FoundSettings) -> bool,
    /// A size for the setting of that name, from digits and the first letter of a unit, as the
    /// server reads it.
    pub(crate) size: fn(&str, &str, &str) -> Option<String>,
    /// True for a text that can only be a value.
    pub(crate) is_value: fn(&str) -> bool,
    /// Removes what a server that only loads data does not need.
    pub(crate) spare: fn(&mut BTreeMap<String, String>),
}

/// The number of connections that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimit {
    /// Maximum (`max_connections`).
    pub max: u64,
    /// Part of it that is reserved for administrators.
    pub reserved: u64,
    /// Connections in use, without the querying one.
    pub in_use: u64,
    /// Limit for this account alone, if any.
    pub per_user: Option<u64>,
}

impl ConnectionLimit {
    /// Number of connections that this account can open now.
    #[must_use]
    pub fn available(&self) -> u64 {
        let free = self.max.saturating_sub(self.reserved).saturating_sub(self.in_use);
        self.per_user.map_or(free, |limit| limit.min(free))
    }
}

/// A session on the server that does not belong to dyno.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSession {
    /// Its account.
    pub user: String,
    /// Its origin: host, or the application's name if set.
    pub from: String,
    /// Its database; may be empty.
    pub database: String,
    /// Its state, e.g. `Sleep`, `Query`, `active`, `idle`.
    pub state: String,
}

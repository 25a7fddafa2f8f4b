//! The table that each engine fills in, and what is answered.

use crate::control_connection::{Asked, ControlConnection};
use crate::monitor::Values;
use crate::monitor::sessions::SeenSession;
use crate::settings::setting::Setting;
use dyno_model::target::Target;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What an engine's systems can be asked beside the load.
pub(crate) struct Questions {
    pub(crate) settings: Settings,
    /// Connects for the monitor, whose further questions go over that connection; tells the number
    /// of the server's thread or process that works for it, too. Figures of databases are summed
    /// over those that are named. `None` where there is nothing to see.
    pub(crate) observe: Option<Observe>,
    /// What is asked of its tables; `None` where there are none.
    pub(crate) tables: Option<TableQuestions>,
    /// Whether the table of this name, which follows, is an ordinary one that this account made:
    /// nothing else happens when it is read or written.
    pub(crate) is_plain_table: &'static str,
    /// What only a server can be asked.
    pub(crate) server: Option<ServerQuestions>,
}

/// Questions about the tables of a database, as SQL.
pub(crate) struct TableQuestions {
    /// Of each table whose size the dialect does not tell: name, bytes with indexes.
    pub(crate) sizes: Option<&'static str>,
    /// Of each column of an index, in the order of the index, the primary key's first: table,
    /// index, 1 for the primary key, column, column in SQL, 1 for whole numbers.
    pub(crate) indexes: &'static str,
    /// The setting that says how much memory keeps pages, and its bytes.
    pub(crate) cache: &'static str,
}

/// A connection for the monitor.
pub(crate) trait Observed {
    /// Counters and sizes.
    fn counters(&mut self, values: &mut Values) -> Asked<()>;

    /// What sessions do, the own one left out; with what they wait for in detail where that costs
    /// more. `None` where there are none.
    fn sessions(&mut self, _is_detailed: bool) -> Asked<Option<Vec<SeenSession>>> {
        Ok(None)
    }
}

pub(crate) type Observe = fn(&Target, &[String]) -> Asked<Watched>;

/// What is asked by the monitor, with the number of the thread or process that answers, where it is
/// known.
pub(crate) type Watched = (Box<dyn Observed>, Option<u32>);

type Count = fn(&mut ControlConnection, &[String]) -> Asked<BTreeMap<String, i64>>;

/// What a server can be asked beside the load.
pub(crate) struct ServerQuestions {
    pub(crate) connection_limit: fn(&mut ControlConnection) -> Asked<ConnectionLimit>,
    /// Sessions besides the asking one: number, account, origin, database, state.
    pub(crate) foreign_sessions: &'static str,
    /// Whether writes travel further. What the account may not see counts as not there.
    pub(crate) replication: fn(&mut ControlConnection) -> Replication,
    /// What it counts; for each database, the sum over those that are named.
    pub(crate) counters: Count,
    pub(crate) programs: &'static [&'static str],
    /// What changes when somebody changes rows, tables or large objects of the database.
    pub(crate) write_marks: &'static [&'static str],
    /// How a run locks a database against others.
    pub(crate) lock: LockQuestions,
    /// The number of its process on this machine.
    pub(crate) process: fn(&mut ControlConnection) -> Option<u32>,
    /// What it says of its process, for somebody on its machine to find it by: words of
    /// `monitor/remote/look.sh`, best first.
    pub(crate) traces: fn(&mut ControlConnection) -> Vec<String>,
}

/// What is asked of an engine's server about the lock, as SQL.
pub(crate) struct LockQuestions {
    /// Keeps an idle session from being ended. Not every version knows it.
    pub(crate) stay: &'static str,
    /// A database that a session is connected to is not dropped.
    pub(crate) is_in_the_way: bool,
    /// How the lock is held where sessions change hands; `None` where none do.
    pub(crate) pooled: Option<PooledLock>,
    /// Takes the lock if it is free: `1` or `t`.
    pub(crate) take: &'static str,
    /// Whether this session holds it, in the same words.
    pub(crate) is_held: &'static str,
    /// Who holds it: the number of the session, and account and origin.
    pub(crate) holder: &'static str,
}

/// The lock of a transaction.
pub(crate) struct PooledLock {
    /// The number of the session that answers: another than the connection was told where a pooler
    /// stands in between.
    pub(crate) session: &'static str,
    /// Begins the transaction.
    pub(crate) begin: &'static [&'static str],
    /// Takes the lock if it is free.
    pub(crate) take: &'static str,
}

impl PooledLock {
    /// Whether a pooler stands in between, which may give each transaction another session.
    pub(crate) fn changes_sessions(&self, session: &mut ControlConnection) -> Asked<bool> {
        let answering = session.first(self.session)?;
        Ok(answering != session.session_number().map(|number| number.to_string()))
    }
}

/// All settings that a system tells, by their names in lower case.
pub(crate) type FoundSettings = BTreeMap<String, Setting>;

/// Finds a setting by its listed name, with the value that it is to be compared with.
type FindSetting =
    for<'a, 'b> fn(&str, &'a str, &'b FoundSettings) -> Option<(&'b Setting, Cow<'a, str>)>;

/// What is known of an engine's settings.
pub(crate) struct Settings {
    /// Settings that figures depend on and reports show: durability, memory, connections,
    /// isolation, threads. A server that does not have one of them leaves it out.
    pub(crate) that_matter: &'static [&'static str],
    /// Settings that dyno gives itself or that are none, with the reason why they cannot be given.
    pub(crate) reserved: &'static [(&'static [&'static str], &'static str)],
    /// Settings that shape files or tables when they are made: a data set that was loaded with one
    /// value is another one with another.
    pub(crate) shaping: &'static [&'static str],
    /// Options that no server tells back.
    pub(crate) untold: &'static [&'static str],
    pub(crate) read: fn(&mut ControlConnection) -> Asked<FoundSettings>,
    /// A name in lower case as the server lists it.
    pub(crate) listed: fn(&str) -> String,
    /// The setting behind a listed name, and the value to compare it with, which differs where an
    /// option and its variable do.
    pub(crate) find: FindSetting,
    /// True when the setting of that name, in force, is the value that was asked for, in another
    /// spelling.
    pub(crate) is_same: fn(&str, &str, &Setting) -> bool,
    /// True when it is the next value that the server can have. The last argument holds all
    /// settings.
    pub(crate) is_rounded: fn(&str, &str, &Setting, &FoundSettings) -> bool,
    /// A size of a setting of that name, digits and the first letter of its unit, as the server
    /// reads it.
    pub(crate) size: fn(&str, &str, &str) -> Option<String>,
    /// True for a value that can do nothing but be one.
    pub(crate) is_value: fn(&str) -> bool,
    /// Takes away what a server that only loads data does not need.
    pub(crate) spare: fn(&mut BTreeMap<String, String>),
}

/// How many connections a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimit {
    /// All it takes (`max_connections`).
    pub max: u64,
    /// Of these, kept for administrators, so not for this account.
    pub reserved: u64,
    /// In use now, the asking connection not counted.
    pub in_use: u64,
    /// Limit of this account alone, if it has one.
    pub per_user: Option<u64>,
}

impl ConnectionLimit {
    /// Connections that this account can open now.
    #[must_use]
    pub fn available(&self) -> u64 {
        let free = self.max.saturating_sub(self.reserved).saturating_sub(self.in_use);
        self.per_user.map_or(free, |limit| limit.min(free))
    }
}

/// A session on the server that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSession {
    /// Its account.
    pub user: String,
    /// From where: host, or the application's name where it gives one.
    pub from: String,
    /// Database, perhaps empty.
    pub database: String,
    /// What it does, e.g. `Sleep`, `Query`, `active`, `idle`.
    pub state: String,
}

/// Whether writes on a system travel further.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replication {
    /// It receives writes from another server, and may be read-only.
    pub is_replica: bool,
    /// Servers and slots that receive its writes.
    pub receivers: u64,
    /// Members of its cluster (Galera, group replication); 0 outside a cluster.
    pub members: u64,
}

impl Replication {
    /// True when the system stands alone.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

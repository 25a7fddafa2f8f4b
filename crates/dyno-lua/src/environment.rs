//! What is the same for all states of one run of the program.

use crate::chunks::Chunks;
use dyno_model::target::Target;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::time::Duration;

/// Where the script comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptSource {
    /// A file, by the path as the user gave it.
    File(PathBuf),
    /// A module: found by `package.path`, else the bundled one of that name.
    Module(String),
    /// A text, as from standard input.
    Text {
        /// What errors call it, and `sysbench.cmdline.script_path`.
        name: String,
        /// The Lua source, in any encoding, or compiled.
        text: Vec<u8>,
    },
}

/// How important a log line is; the numbers are those of `--verbosity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LogLevel {
    /// The run cannot go on.
    Fatal = 0,
    /// Something failed.
    Alert = 1,
    /// Something is odd.
    Warning = 2,
    /// What everybody is told.
    Notice = 3,
    /// Details.
    Info = 4,
    /// For finding mistakes.
    Debug = 5,
}

/// Takes the lines that sysbench would log, without the word for their level.
pub trait Log: Send + Sync {
    /// One message; may have several lines.
    fn log(&self, level: LogLevel, text: &str);
}

/// Throws log lines away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Log for Silent {
    fn log(&self, _level: LogLevel, _text: &str) {}
}

/// What `sysbench.rand.default` draws from: the values of `--rand-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RandomType {
    /// Every key alike.
    Uniform,
    /// A bell.
    Gaussian,
    /// A hot middle.
    #[default]
    Special,
    /// Self-similar.
    Pareto,
    /// Zipf's law.
    Zipfian,
}

impl RandomType {
    /// Its name in `--rand-type`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Special => "special",
            Self::Pareto => "pareto",
            Self::Zipfian => "zipfian",
        }
    }
}

/// Settings of the random functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomSettings {
    /// `--rand-type`.
    pub default: RandomType,
    /// `--rand-spec-iter`: draws per key of a bell.
    pub iterations: u32,
    /// `--rand-spec-pct`: width of the hot middle, per cent of the range.
    pub special_percent: u32,
    /// `--rand-spec-res`: per cent of the draws that hit it.
    pub special_share: u32,
    /// `--rand-pareto-h`.
    pub pareto_h: f64,
    /// `--rand-zipfian-exp`.
    pub zipfian_exponent: f64,
}

impl Default for RandomSettings {
    fn default() -> Self {
        Self {
            default: RandomType::default(),
            iterations: 12,
            special_percent: 1,
            special_share: 75,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
        }
    }
}

/// Which errors of a database restart an event instead of ending the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// Every error.
    All,
    /// These: error numbers of MySQL and SQLite as decimal text, SQLSTATEs of PostgreSQL.
    Codes(BTreeSet<String>),
}

impl Ignored {
    /// A list of codes.
    pub fn codes<T: ToString>(codes: impl IntoIterator<Item = T>) -> Self {
        Self::Codes(codes.into_iter().map(|code| code.to_string()).collect())
    }

    /// Whether a code is one of them.
    #[must_use]
    pub fn contains(&self, code: &str) -> bool {
        match self {
            Self::All => true,
            Self::Codes(codes) => codes.contains(code),
        }
    }
}

/// The databases that scripts can reach. Addresses and accounts come from the command line only.
#[derive(Debug, Clone)]
pub struct Databases {
    /// Driver of `sysbench.sql.driver()` without a name: `mysql`, `pgsql` or `sqlite`.
    pub driver: String,
    /// Addresses of the MySQL driver, taken in turn by every new connection of the program.
    pub mysql: Vec<Target>,
    /// `--mysql-ignore-errors`.
    pub mysql_ignored: Ignored,
    /// Addresses of the PostgreSQL driver, taken in turn.
    pub postgres: Vec<Target>,
    /// SQLSTATEs that restart an event.
    pub postgres_ignored: Ignored,
    /// The database file of the SQLite driver.
    pub sqlite: Option<Target>,
    /// Result codes of SQLite that restart an event.
    pub sqlite_ignored: Ignored,
    /// `--mysql-dry-run`: no server is spoken to, every statement succeeds and returns nothing.
    pub dry_run: bool,
    /// First pause between attempts to connect anew; doubles up to [`Self::backoff_max`].
    pub backoff_min: Duration,
    /// Longest pause between attempts to connect anew.
    pub backoff_max: Duration,
    /// Attempts to connect anew before the error is fatal; 0 for no limit but the run's end.
    pub reconnects_max: u32,
}

impl Default for Databases {
    fn default() -> Self {
        Self {
            driver: "mysql".to_owned(),
            mysql: Vec::new(),
            mysql_ignored: Ignored::codes([1213, 1020, 1205]),
            postgres: Vec::new(),
            postgres_ignored: Ignored::codes(["40P01", "40001", "23505"]),
            sqlite: None,
            // BUSY and LOCKED, which are what a deadlock is there, with BUSY's extended codes.
            sqlite_ignored: Ignored::codes([5, 6, 261, 517, 773]),
            dry_run: false,
            backoff_min: Duration::from_millis(1),
            backoff_max: Duration::from_secs(1),
            reconnects_max: 0,
        }
    }
}

/// What is the same for all states of one run of the program. Made once, then shared.
pub struct Environment {
    /// The script.
    pub script: ScriptSource,
    /// `sysbench.cmdline.command`.
    pub command: Option<String>,
    /// `sysbench.cmdline.argv`, from 0. Passwords must have been taken out.
    pub argv: Vec<String>,
    /// Number of worker threads.
    pub threads: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Settings of the random functions.
    pub random: RandomSettings,
    /// The databases.
    pub databases: Databases,
    /// `sysbench.version`, e.g. `1.0.20`.
    pub version: String,
    /// `sysbench.version_string`.
    pub version_string: String,
    /// Times an event is restarted before its error is fatal; 0 for no limit but the run's end.
    pub restarts_max: u32,
    /// Takes log lines.
    pub log: Arc<dyn Log>,
    pub(crate) shared: Shared,
}

/// What the states of a run change together.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Position in the sequence of `sysbench.rand.unique`.
    pub(crate) unique: AtomicU32,
    /// Connections made so far, per driver, for taking addresses in turn.
    pub(crate) mysql: AtomicUsize,
    pub(crate) postgres: AtomicUsize,
    /// A SQL driver was asked for by any state.
    pub(crate) uses_sql: AtomicBool,
    /// Scripts and modules, compiled by the state that first loads them.
    pub(crate) chunks: Chunks,
}

impl Environment {
    /// An environment with defaults for everything but the script.
    #[must_use]
    pub fn new(script: ScriptSource) -> Self {
        Self {
            script,
            command: None,
            argv: Vec::new(),
            threads: 1,
            seed: 0,
            random: RandomSettings::default(),
            databases: Databases::default(),
            version: "1.0.20".to_owned(),
            version_string: "sysbench 1.0.20".to_owned(),
            restarts_max: 0,
            log: Arc::new(Silent),
            shared: Shared::default(),
        }
    }

    /// Whether any state has asked for a SQL driver; decides the layout of sysbench's reports.
    #[must_use]
    pub fn uses_sql(&self) -> bool {
        self.shared.uses_sql.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("script", &self.script)
            .field("command", &self.command)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

//! Configuration shared by all states of one run of the program.

use crate::chunks::Chunks;
use dyno_model::client_group::ClientSubset;
use dyno_model::engine::SysbenchDriver;
use dyno_model::retry::RetriedErrors;
use dyno_model::target::{Engine, Target};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// The source of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptSource {
    /// A file, by the path given by the user.
    File(PathBuf),
    /// A module: found by `package.path`, otherwise the bundled one of that name.
    Module(String),
    /// A text, for example from standard input.
    Text {
        /// Its name in error messages and `sysbench.cmdline.script_path`.
        name: String,
        /// The Lua source, in any encoding, or compiled.
        text: Vec<u8>,
    },
}

/// Severity of a log line; the numbers are those of `--verbosity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LogLevel {
    /// The run cannot continue.
    Fatal = 0,
    /// Something failed.
    Alert = 1,
    /// Something is unusual.
    Warning = 2,
    /// Normal messages.
    Notice = 3,
    /// Details.
    Info = 4,
    /// For debugging.
    Debug = 5,
}

/// Receives the lines that sysbench would log, without the severity.
pub trait Log: Send + Sync {
    /// One message, possibly of several lines.
    fn log(&self, level: LogLevel, text: &str);
}

/// Discards log lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Log for Silent {
    fn log(&self, _level: LogLevel, _text: &str) {}
}

dyno_model::named! {
    /// The distribution of `sysbench.rand.default`: the values of `--rand-type`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum RandomType {
        /// Uniform.
        Uniform = "uniform",
        /// Bell-shaped.
        Gaussian = "gaussian",
        /// Hot values in the middle.
        #[default]
        Special = "special",
        /// Self-similar (Pareto).
        Pareto = "pareto",
        /// Zipfian.
        Zipfian = "zipfian",
    }
}

/// Settings of the random functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomSettings {
    /// `--rand-type`.
    pub default: RandomType,
    /// `--rand-spec-iter`: draws per bell-shaped value.
    pub iterations: u32,
    /// `--rand-spec-pct`: size of the hot part in per cent of the range.
    pub special_percent: u32,
    /// `--rand-spec-res`: per cent of the draws that hit the hot part.
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

/// The addresses of a driver, and the errors that are ignored.
#[derive(Debug, Clone)]
pub struct Access {
    /// Addresses, used in turn by the connections of the program. Addresses and accounts come from
    /// the command line only.
    pub targets: Vec<Target>,
    /// Errors that restart an event instead of ending the run.
    pub ignored: RetriedErrors,
}

impl Access {
    /// No address, and the errors that sysbench ignores by default.
    fn new(driver: Engine) -> Self {
        let SysbenchDriver { ignored_codes, ignored_states, .. } = driver.sysbench();
        let codes = ignored_codes.iter().copied().collect();
        let sqlstates = ignored_states.iter().map(|state| (*state).to_owned()).collect();
        Self { targets: Vec::new(), ignored: RetriedErrors { all: false, codes, sqlstates } }
    }
}

/// The databases that scripts can reach.
#[derive(Debug, Clone)]
pub struct Databases {
    /// Driver of `sysbench.sql.driver()` without a name: `mysql`, `pgsql` or `sqlite`.
    pub driver: String,
    /// For each driver, in the order of the engines; see [`Self::access`].
    pub access: [Access; Engine::ALL.len()],
    /// `--mysql-dry-run`: there is no server; every statement succeeds without rows.
    pub dry_run: bool,
    /// First pause between attempts to reconnect; doubles up to [`Self::backoff_max`].
    pub backoff_min: Duration,
    /// Maximum pause between attempts to reconnect.
    pub backoff_max: Duration,
    /// Attempts to reconnect before the error is fatal; 0 for no limit until the run's end.
    pub reconnects_max: u32,
}

impl Databases {
    /// The addresses of a driver.
    #[must_use]
    pub fn access(&self, driver: Engine) -> &Access {
        &self.access[driver as usize]
    }

    /// As [`Self::access`], mutable.
    pub fn access_mut(&mut self, driver: Engine) -> &mut Access {
        &mut self.access[driver as usize]
    }
}

impl Default for Databases {
    fn default() -> Self {
        Self {
            driver: "mysql".to_owned(),
            access: Engine::ALL.map(Access::new),
            dry_run: false,
            backoff_min: Duration::from_millis(1),
            backoff_max: Duration::from_secs(1),
            reconnects_max: 0,
        }
    }
}

/// Configuration shared by all states of one run of the program. Created once, then shared.
pub struct Environment {
    /// The script.
    pub script: ScriptSource,
    /// Modules that `require` finds first, by name, with their source.
    pub modules: BTreeMap<String, String>,
    /// Files that take precedence over those of this machine, by the path that a script uses.
    pub files: BTreeMap<String, Vec<u8>>,
    /// True when scripts may use the output and the working directory. Otherwise their output is
    /// discarded, and modules in that directory are not found.
    pub is_alone: bool,
    /// `sysbench.cmdline.command`.
    pub command: Option<String>,
    /// `sysbench.cmdline.argv`, from 0. Passwords must have been removed.
    pub argv: Vec<String>,
    /// Number of worker threads.
    pub threads: u32,
    /// The threads of this process, where others run the rest.
    pub subset: Option<ClientSubset>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Settings of the random functions.
    pub random: RandomSettings,
    /// The databases.
    pub databases: Databases,
    /// `sysbench.version`, e.g. `1.0.20`.
    pub version: String,
    /// `sysbench.version_string`.
    pub version_string: String,
    /// Number of restarts of an event before its error is fatal; 0 for no limit until the run's
    /// end.
    pub restarts_max: u32,
    /// Takes log lines.
    pub log: Arc<dyn Log>,
    pub(crate) shared: Shared,
}

/// Mutable state shared by the states of a run.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Position in the sequence of `sysbench.rand.unique`.
    pub(crate) unique: AtomicU32,
    /// Number of connections opened so far per driver, for using addresses in turn.
    pub(crate) connections: [AtomicUsize; Engine::ALL.len()],
    /// True when any state has requested an SQL driver.
    pub(crate) uses_sql: AtomicBool,
    /// Scripts and modules, compiled by the first state that loads them.
    pub(crate) chunks: Chunks,
}

impl Environment {
    /// An environment with defaults for everything except the script.
    #[must_use]
    pub fn new(script: ScriptSource) -> Self {
        Self {
            script,
            modules: BTreeMap::new(),
            files: BTreeMap::new(),
            is_alone: true,
            command: None,
            argv: Vec::new(),
            threads: 1,
            subset: None,
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

    /// The next number, from 0, of a sequence that all threads share, in all processes.
    pub(crate) fn next_unique(&self) -> u32 {
        let nth = self.shared.unique.fetch_add(1, Ordering::Relaxed);
        self.subset.map_or(nth, |subset| subset.item(nth.into()) as u32)
    }

    /// The files that states have loaded as Lua so far, by their paths.
    #[must_use]
    pub fn loaded_files(&self) -> BTreeMap<String, Vec<u8>> {
        self.shared.chunks.files()
    }

    /// Whether any state has requested an SQL driver, which determines the layout of sysbench's
    /// reports.
    #[must_use]
    pub fn uses_sql(&self) -> bool {
        self.shared.uses_sql.load(Ordering::Relaxed)
    }
}

//! What is the same for all states of one run of the program.

use crate::chunks::Chunks;
use dyno_model::engine::SysbenchDriver;
use dyno_model::retry::RetriedErrors;
use dyno_model::target::{Engine, Target};
use std::collections::BTreeMap;
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

dyno_model::named! {
    /// What `sysbench.rand.default` draws from: the values of `--rand-type`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum RandomType {
        /// Every key alike.
        Uniform = "uniform",
        /// A bell.
        Gaussian = "gaussian",
        /// A hot middle.
        #[default]
        Special = "special",
        /// Self-similar.
        Pareto = "pareto",
        /// Zipf's law.
        Zipfian = "zipfian",
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

/// Where a driver connects, and what of its errors is borne.
#[derive(Debug, Clone)]
pub struct Access {
    /// Addresses, taken in turn by every new connection of the program. Addresses and accounts come
    /// from the command line only.
    pub targets: Vec<Target>,
    /// Errors that restart an event instead of ending the run.
    pub ignored: RetriedErrors,
}

impl Access {
    /// No address, and the errors that sysbench ignores unless told otherwise.
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
    /// Each driver's, in the order of the engines; see [`Self::access`].
    pub access: [Access; Engine::ALL.len()],
    /// `--mysql-dry-run`: no server is spoken to, every statement succeeds and returns nothing.
    pub dry_run: bool,
    /// First pause between attempts to connect anew; doubles up to [`Self::backoff_max`].
    pub backoff_min: Duration,
    /// Longest pause between attempts to connect anew.
    pub backoff_max: Duration,
    /// Attempts to connect anew before the error is fatal; 0 for no limit but the run's end.
    pub reconnects_max: u32,
}

impl Databases {
    /// Where a driver connects.
    #[must_use]
    pub fn access(&self, driver: Engine) -> &Access {
        &self.access[driver as usize]
    }

    /// The same, to be changed.
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

/// What is the same for all states of one run of the program. Made once, then shared.
pub struct Environment {
    /// The script.
    pub script: ScriptSource,
    /// Modules that `require` finds before any other, by name, with their source.
    pub modules: BTreeMap<String, String>,
    /// Scripts have the output and the working folder to themselves. Otherwise what they print goes
    /// nowhere, and modules in that folder are none of theirs.
    pub is_alone: bool,
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
    pub(crate) connections: [AtomicUsize; Engine::ALL.len()],
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
            modules: BTreeMap::new(),
            is_alone: true,
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

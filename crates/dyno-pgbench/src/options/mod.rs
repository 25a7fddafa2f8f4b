//! The command line: options, their limits, and the target.
//!
//! * [`arguments`]: splits a command line into options like getopt; [`reader`]: the meaning of each
//!   option; [`curve`]: several runs in one command line;
//! * [`target`]: builds a [`dyno_model::target::Target`] from options, environment and files;
//! * [`help`]: the text of `--help`.

pub(crate) mod arguments;
mod curve;
pub(crate) mod help;
pub(crate) mod reader;
pub(crate) mod target;

pub use curve::curve;
pub(crate) use reader::read;

use dyno_model::launcher::LauncherKind;
use dyno_model::target::QueryMode;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The requested operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    /// Create and fill the standard tables.
    Initialise(Initialisation, Address),
    /// Run scripts.
    Run(Box<Run>, Address),
    /// Print this and exit with success.
    Print(String),
    /// The same on standard error, where pgbench prints its scripts.
    Tell(String),
}

/// The address given by options; environment and files complete it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Address {
    /// `-h`
    pub(crate) host: Option<String>,
    /// `-p`
    pub(crate) port: Option<String>,
    /// `-U`
    pub(crate) user: Option<String>,
    /// `-d`, or the positional argument: a name, a connection string or a URL.
    pub(crate) database: Option<String>,
    /// `--url`: a system of any engine.
    pub(crate) url: Option<String>,
}

/// Parameters of creating the standard tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Initialisation {
    /// Steps in order.
    pub(crate) steps: Vec<Step>,
    /// Number of branches; all other tables are multiples of it.
    pub(crate) scale: u32,
    /// Fill factor in per cent of a page.
    pub(crate) fillfactor: u32,
    /// Fewer lines of progress.
    pub(crate) is_quiet: bool,
    /// No write-ahead log for the tables.
    pub(crate) is_unlogged: bool,
    /// Number of partitions of `pgbench_accounts`; 0 for a plain table.
    pub(crate) partitions: u32,
    /// How it is partitioned.
    pub(crate) partition_method: PartitionMethod,
    /// For tables.
    pub(crate) tablespace: Option<String>,
    pub(crate) index_tablespace: Option<String>,
}

/// A step of `-i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Drop,
    Tables,
    Generate,
    GenerateOnServer,
    Vacuum,
    PrimaryKeys,
    ForeignKeys,
}

/// Steps: their letters, the message at the beginning, and the name next to the time.
pub(crate) const STEPS: [(char, Step, &str, &str); 7] = [
    ('d', Step::Drop, "dropping old tables", "drop tables"),
    ('t', Step::Tables, "creating tables", "create tables"),
    ('g', Step::Generate, "generating data (client-side)", "client-side generate"),
    ('G', Step::GenerateOnServer, "generating data (server-side)", "server-side generate"),
    ('v', Step::Vacuum, "vacuuming", "vacuum"),
    ('p', Step::PrimaryKeys, "creating primary keys", "primary keys"),
    ('f', Step::ForeignKeys, "creating foreign keys", "foreign keys"),
];

dyno_model::named! {
    /// How `pgbench_accounts` is partitioned; the names are those of SQL.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) enum PartitionMethod {
        /// By ranges of `aid`.
        #[default]
        Range = "range",
        /// By hashes of `aid`.
        Hash = "hash",
    }
}

/// The source of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A built-in script, by name.
    Builtin(&'static str),
    /// A file; `-` is standard input.
    File(PathBuf),
}

/// When the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Length {
    /// After this many transactions per client.
    Transactions(u64),
    /// After this many seconds.
    Seconds(u64),
}

impl Default for Length {
    fn default() -> Self {
        Self::Transactions(10)
    }
}

/// Seed of all random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Seed {
    /// A random one.
    #[default]
    Any,
    /// A random one requested by name; shown on the terminal.
    Drawn,
    /// This one; shown on the terminal.
    Given(u64),
}

/// The options of a run that appear in reports.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Style {
    /// `-R`, transactions per second.
    pub(crate) rate: Option<f64>,
    /// `-L`, microseconds.
    pub(crate) latency_limit: Option<i64>,
    /// `--max-tries`; 0 for no limit.
    pub(crate) tries_max: u32,
    /// `--failures-detailed`
    pub(crate) details_failures: bool,
    /// `-P`, seconds.
    pub(crate) progress: Option<u64>,
    /// `-C`
    pub(crate) connects_each_time: bool,
    /// `-r`
    pub(crate) reports_commands: bool,
    /// `-t`, `-T`
    pub(crate) length: Length,
}

/// Parameters of running scripts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Run {
    /// The options that appear in reports.
    pub(crate) style: Style,
    /// Scripts with their weights.
    pub(crate) scripts: Vec<(Source, u32)>,
    /// `-c`
    pub(crate) clients: u32,
    /// `-j`
    pub(crate) jobs: u32,
    /// `-D`
    pub(crate) variables: Vec<(String, String)>,
    /// `-M`
    pub(crate) query_mode: QueryMode,
    /// `-n`: no vacuum before the run.
    pub(crate) skips_vacuum: bool,
    /// `-v`: vacuum all four tables before the run.
    pub(crate) vacuums_all: bool,
    /// `-s`
    pub(crate) scale: Option<u32>,
    /// `--progress-timestamp`
    pub(crate) has_progress_timestamp: bool,
    /// `-l` and related options.
    pub(crate) log: Option<Log>,
    /// `--verbose-errors`
    pub(crate) tells_errors: bool,
    /// `--exit-on-abort`
    pub(crate) exits_on_abort: bool,
    /// `--random-seed`
    pub(crate) seed: Seed,
    /// `--hang-timeout`: how long transactions may continue after `-T`; `None` for no limit.
    pub(crate) hang_timeout: Option<Duration>,
    /// `--results`
    pub(crate) results: Option<PathBuf>,
    /// `--generators`: processes that drive the clients; `None`: this one.
    pub(crate) generators: Option<u32>,
    /// `--launcher`: what starts them.
    pub(crate) launcher: LauncherKind,
}

/// Parameters of the transaction log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Log {
    /// Prefix of the files' names.
    pub(crate) prefix: String,
    /// Share of the transactions that are logged.
    pub(crate) sampling: Option<f64>,
    /// Seconds per aggregated line.
    pub(crate) aggregate: Option<u64>,
}

/// An invalid command line. The text is pgbench's output after its name, with or without `error: `.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl UsageError {
    /// An error of the program.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(format!("pgbench: error: {message}"))
    }

    /// Adds a line with details.
    pub(crate) fn with_detail(self, detail: &str) -> Self {
        Self(format!("{}\npgbench: detail: {detail}", self.0))
    }

    /// Adds a hint to `--help`.
    pub(crate) fn with_hint(self) -> Self {
        Self(format!("{}\npgbench: hint: Try \"pgbench --help\" for more information.", self.0))
    }
}

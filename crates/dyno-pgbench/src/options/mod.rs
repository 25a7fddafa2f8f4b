//! The command line: options, their limits, and where to connect.
//!
//! * [`arguments`]: cutting a command line into options as getopt does; [`reader`]: what each option means;
//! * [`target`]: from options, environment and files to a [`dyno_model::target::Target`];
//! * [`help`]: the text of `--help`.

pub mod arguments;
pub mod help;
pub mod reader;
pub mod target;

pub use reader::read;

use dyno_model::target::QueryMode;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Make and fill the standard tables.
    Initialise(Initialisation, Address),
    /// Run scripts.
    Run(Box<Run>, Address),
    /// Print this and end well.
    Print(String),
    /// The same on standard error, where pgbench shows its scripts.
    Tell(String),
}

/// Where to connect, as options say it; environment and files fill the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Address {
    /// `-h`
    pub host: Option<String>,
    /// `-p`
    pub port: Option<String>,
    /// `-U`
    pub user: Option<String>,
    /// `-d`, or the argument without a letter: a name, a connection string or a URL.
    pub database: Option<String>,
    /// `--url`: a system that is no PostgreSQL, or is one.
    pub url: Option<String>,
}

/// How to make the standard tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialisation {
    /// Steps, in their order.
    pub steps: Vec<Step>,
    /// Branches; everything else is a multiple.
    pub scale: u32,
    /// Per cent of a page that is filled.
    pub fillfactor: u32,
    /// Fewer lines of progress.
    pub is_quiet: bool,
    /// No write-ahead log for the tables.
    pub is_unlogged: bool,
    /// Parts of `pgbench_accounts`; 0 for a plain table.
    pub partitions: u32,
    /// How it is divided.
    pub partition_method: PartitionMethod,
    /// For tables.
    pub tablespace: Option<String>,
    /// For indexes.
    pub index_tablespace: Option<String>,
}

/// A step of `-i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `d`
    Drop,
    /// `t`
    Tables,
    /// `g`
    Generate,
    /// `G`
    GenerateOnServer,
    /// `v`
    Vacuum,
    /// `p`
    PrimaryKeys,
    /// `f`
    ForeignKeys,
}

/// How `pgbench_accounts` is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionMethod {
    /// By ranges of `aid`.
    Range,
    /// By hashes of `aid`.
    Hash,
}

/// A script to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// One that comes with the program, by its name.
    Builtin(&'static str),
    /// A file; `-` is standard input.
    File(PathBuf),
}

/// When the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// After so many transactions of each client.
    Transactions(u64),
    /// After so many seconds.
    Seconds(u64),
}

/// Seed of all random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seed {
    /// Another one each time.
    Any,
    /// The same, asked for by name; it is told on the terminal.
    Drawn,
    /// This one; it is told on the terminal.
    Given(u64),
}

/// How to run scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Scripts with their weights.
    pub scripts: Vec<(Source, u32)>,
    /// `-c`
    pub clients: u32,
    /// `-j`
    pub jobs: u32,
    /// `-t`, `-T`
    pub length: Length,
    /// `-C`
    pub connects_each_time: bool,
    /// `-D`
    pub variables: Vec<(String, String)>,
    /// `-M`
    pub query_mode: QueryMode,
    /// `-n`: the tables are not vacuumed before.
    pub skips_vacuum: bool,
    /// `-v`: all four tables are vacuumed before.
    pub vacuums_all: bool,
    /// `-s`
    pub scale: Option<u32>,
    /// `-r`
    pub reports_commands: bool,
    /// `-R`, transactions per second.
    pub rate: Option<f64>,
    /// `-L`, microseconds.
    pub latency_limit: Option<i64>,
    /// `-P`, seconds.
    pub progress: Option<u64>,
    /// `--progress-timestamp`
    pub has_progress_timestamp: bool,
    /// `-l` and what belongs to it.
    pub log: Option<Log>,
    /// `--max-tries`; 0 is as many as it takes.
    pub tries_max: u32,
    /// `--failures-detailed`
    pub details_failures: bool,
    /// `--verbose-errors`
    pub tells_errors: bool,
    /// `--exit-on-abort`
    pub exits_on_abort: bool,
    /// `--random-seed`
    pub seed: Seed,
    /// `--hang-timeout`: how long transactions may go on after `-T`; `None` is without limit.
    pub hang_timeout: Option<Duration>,
    /// `--results`
    pub results: Option<PathBuf>,
}

/// Log of transactions.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// Beginning of the files' names.
    pub prefix: String,
    /// Share of the transactions that are written.
    pub sampling: Option<f64>,
    /// Seconds that one line sums up.
    pub aggregate: Option<u64>,
}

/// A command line that cannot be followed. Its text is what pgbench would print after its name, with `error: ` or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(pub String);

impl UsageError {
    /// An error of the program.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(format!("pgbench: error: {message}"))
    }

    /// The same with a line that helps.
    pub(crate) fn with_detail(self, detail: &str) -> Self {
        Self(format!("{}\npgbench: detail: {detail}", self.0))
    }

    /// The same with the advice to look at `--help`.
    pub(crate) fn with_hint(self) -> Self {
        Self(format!("{}\npgbench: hint: Try \"pgbench --help\" for more information.", self.0))
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

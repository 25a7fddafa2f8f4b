//! The command line: options, their limits, and where to connect.
//!
//! * [`arguments`]: cutting a command line into options as getopt does; [`reader`]: what each
//!   option means; [`curve`]: several runs in one command line;
//! * [`target`]: from options, environment and files to a [`dyno_model::target::Target`];
//! * [`help`]: the text of `--help`.

pub(crate) mod arguments;
mod curve;
pub(crate) mod help;
pub(crate) mod reader;
pub(crate) mod target;

pub use curve::curve;
pub(crate) use reader::read;

use dyno_model::target::QueryMode;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
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
pub(crate) struct Address {
    /// `-h`
    pub(crate) host: Option<String>,
    /// `-p`
    pub(crate) port: Option<String>,
    /// `-U`
    pub(crate) user: Option<String>,
    /// `-d`, or the argument without a letter: a name, a connection string or a URL.
    pub(crate) database: Option<String>,
    /// `--url`: a system that is no PostgreSQL, or is one.
    pub(crate) url: Option<String>,
}

/// How to make the standard tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Initialisation {
    /// Steps, in their order.
    pub(crate) steps: Vec<Step>,
    /// Branches; everything else is a multiple.
    pub(crate) scale: u32,
    /// Per cent of a page that is filled.
    pub(crate) fillfactor: u32,
    /// Fewer lines of progress.
    pub(crate) is_quiet: bool,
    /// No write-ahead log for the tables.
    pub(crate) is_unlogged: bool,
    /// Parts of `pgbench_accounts`; 0 for a plain table.
    pub(crate) partitions: u32,
    /// How it is divided.
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

/// Steps: their letters, what is said when one begins, and what it is called beside its time.
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
    /// How `pgbench_accounts` is divided; the names are those of SQL.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) enum PartitionMethod {
        /// By ranges of `aid`.
        #[default]
        Range = "range",
        /// By hashes of `aid`.
        Hash = "hash",
    }
}

/// A script to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// One that comes with the program, by its name.
    Builtin(&'static str),
    /// A file; `-` is standard input.
    File(PathBuf),
}

/// When the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// After so many transactions of each client.
    Transactions(u64),
    /// After so many seconds.
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
    /// Another one each time.
    #[default]
    Any,
    /// The same, asked for by name; it is told on the terminal.
    Drawn,
    /// This one; it is told on the terminal.
    Given(u64),
}

/// What of a run's options shows in reports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Style {
    /// `-R`, transactions per second.
    pub(crate) rate: Option<f64>,
    /// `-L`, microseconds.
    pub(crate) latency_limit: Option<i64>,
    /// `--max-tries`; 0 is as many as it takes.
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

/// How to run scripts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Run {
    /// What shows in reports.
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
    /// `-n`: the tables are not vacuumed before.
    pub(crate) skips_vacuum: bool,
    /// `-v`: all four tables are vacuumed before.
    pub(crate) vacuums_all: bool,
    /// `-s`
    pub(crate) scale: Option<u32>,
    /// `--progress-timestamp`
    pub(crate) has_progress_timestamp: bool,
    /// `-l` and what belongs to it.
    pub(crate) log: Option<Log>,
    /// `--verbose-errors`
    pub(crate) tells_errors: bool,
    /// `--exit-on-abort`
    pub(crate) exits_on_abort: bool,
    /// `--random-seed`
    pub(crate) seed: Seed,
    /// `--hang-timeout`: how long transactions may go on after `-T`; `None` is without limit.
    pub(crate) hang_timeout: Option<Duration>,
    /// `--results`
    pub(crate) results: Option<PathBuf>,
}

/// Log of transactions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Log {
    /// Beginning of the files' names.
    pub(crate) prefix: String,
    /// Share of the transactions that are written.
    pub(crate) sampling: Option<f64>,
    /// Seconds that one line sums up.
    pub(crate) aggregate: Option<u64>,
}

/// A command line that cannot be followed. Its text is what pgbench would print after its name,
/// with `error: ` or without.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

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

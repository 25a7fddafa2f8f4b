//! The results folder: what a run leaves on disk, and how it is read again.
//!
//! ```text
//! <experiment>/<utc time>-<short id>/
//!   FORMAT              version of these formats: one number
//!   spec.toml           the spec as written
//!   plan.json           the plan, every default explicit
//!   environment.json    machine and program
//!   events.jsonl        one event per line with its time `at`; append-only
//!   trials/<trial>/
//!     latency.hlog      HdrHistogram V2 interval log, values in ns: no tag: transactions of the measured window;
//!                       `Tag=<statement>`: statements; `Tag=warm-up`: transactions of the warm-up
//!     timeline.csv      one line per interval
//!     monitor.csv       one line per look of the monitor at machine, server process and server counters
//!     sessions.csv      what the server's sessions were doing, grouped
//!   server-logs/<system>.log
//!   set-aside/<trial>-<n>/  what an attempt left that was not measured to its end, from when the trial began again
//!   summary.json        derived: the figures of each finished trial, renewed after every trial
//! ```
//!
//! Everything but `summary.json` and rendered reports is append-only while the run goes on, so a killed run leaves a
//! readable prefix. [`Run::open`] reads what holds for the whole run, [`Run::read_trials`] the files of its trials too; both say what
//! is unreadable, and where.

mod blocks;
mod clock;
mod collection;
mod disk;
pub mod environment;
mod hlog;
mod monitor;
mod resume;
mod run;
mod scribe;
mod single;
mod summary;
mod timeline;
mod trials;
mod writer;

#[cfg(test)]
mod tests;

pub use clock::{seconds_between, utc_now};
pub use collection::results_below;
pub use disk::replace;
pub use resume::SET_ASIDE_FOLDER;
pub(crate) use run::add_value;
pub use run::{Run, SystemReport, TrialOutcome};
pub use single::SingleRun;
pub use timeline::TimelineLine;
pub use trials::{RunData, TrialData};
pub use writer::RunWriter;

use std::fmt;
use std::path::{Path, PathBuf};

/// File with the version of the formats.
pub const FORMAT_FILE: &str = "FORMAT";
/// The spec as written.
pub const SPEC_FILE: &str = "spec.toml";
/// The plan.
pub const PLAN_FILE: &str = "plan.json";
/// Machine and program.
pub const ENVIRONMENT_FILE: &str = "environment.json";
/// The event log.
pub const EVENTS_FILE: &str = "events.jsonl";
/// Figures of finished trials, derived.
pub const SUMMARY_FILE: &str = "summary.json";
/// Folder with a folder per trial.
pub const TRIALS_FOLDER: &str = "trials";
/// Interval histograms of a trial.
pub const LATENCY_FILE: &str = "latency.hlog";
/// Course of a trial.
pub const TIMELINE_FILE: &str = "timeline.csv";
/// What the monitor saw of machine, server process and server counters.
pub const MONITOR_FILE: &str = "monitor.csv";
/// What the monitor saw of the server's sessions.
pub const SESSIONS_FILE: &str = "sessions.csv";
/// Folder with the logs of servers that dyno started.
pub const SERVER_LOGS_FOLDER: &str = "server-logs";

/// The results folder could not be written or read.
#[derive(Debug)]
pub enum StoreError {
    /// The system refused.
    Io {
        /// What was being done, e.g. `write`.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder asked for holds something already.
    NotEmpty {
        /// Which folder.
        path: PathBuf,
    },
    /// Another dyno writes into the folder.
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// There is no results folder here.
    NoResults {
        /// Where.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// There is no results folder here, nor below.
    NoResultsBelow {
        /// Where.
        path: PathBuf,
    },
    /// The folder was written by a newer dyno.
    NewerFormat {
        /// Which folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this dyno reads.
        known: u32,
    },
    /// A file holds what it must not.
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl StoreError {
    /// The error with what caused it, for programs that tell it in one line.
    #[must_use]
    pub fn in_full(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, .. } => write!(f, "cannot {doing} {}", path.display()),
            Self::NotEmpty { path } => write!(
                f,
                "results folder {} exists and is not empty; results are never overwritten: name another folder with --out, or remove this one",
                path.display()
            ),
            Self::InUse { path } => {
                write!(f, "{} is being written by another dyno; end that one first", path.display())
            }
            Self::NoResults { path, missing } => write!(
                f,
                "{} is no results folder: it has no {missing}; name the folder of one run, e.g. results/<experiment>/<time>-<id>",
                path.display()
            ),
            Self::NoResultsBelow { path } => write!(
                f,
                "there is no results folder in {}, nor in the folders below it; name the folder of one run, e.g. results/<experiment>/<time>-<id>, or one that holds several",
                path.display()
            ),
            Self::NewerFormat { path, found, known } => write!(
                f,
                "{} has results format {found}, and this dyno reads formats up to {known}; use the dyno that wrote it, or a newer one",
                path.display()
            ),
            Self::Corrupt { path, line, what } => {
                write!(f, "{}, line {line}: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A name as part of a path: letters, digits, `.`, `_` and `-` stay, everything else becomes `-`; never empty, never a
/// hidden or parent folder.
fn path_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let safe = safe.trim_start_matches('.');
    if safe.is_empty() { "unnamed".to_owned() } else { safe.to_owned() }
}

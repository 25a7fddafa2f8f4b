//! The results folder: the files that a run writes, and how they are read.
//!
//! ```text
//! <experiment>/<utc time>-<short id>/
//!   FORMAT              version of these formats: one number
//!   spec.toml           the spec as written
//!   plan.json           the plan, every default explicit
//!   environment.json    machine and program
//!   events.jsonl        one event per line with its time `at`; append-only
//!   trials/<trial>/
//!     latency.hlog      HdrHistogram V2 interval log, values in ns: no tag: transactions of the
//!                       measured window; `Tag=<statement>`: statements;
//!                       `Tag=transaction:<name>`: transactions of one name;
//!                       `Tag=warm-up`: transactions of the warm-up; `Tag=censored`: ages of
//!                       arrivals of an open loop that did not commit
//!     timeline.csv      one line per interval
//!     errors.csv        errors of the clients, one line per interval and kind; only if any occur
//!     monitor.csv       one line per sample of machine, server process and server counters
//!     sessions.csv      what the server's sessions were doing, grouped
//!     history.edn       what the clients read and wrote, if the workload keeps a history, for
//!                       Elle; of a background workload `history-<name>.edn`
//!   server-logs/<system>.log
//!   set-aside/<trial>-<n>/  files of an interrupted attempt of a repeated trial
//!   summary.json        derived: the figures of each finished trial, renewed after every trial
//! ```
//!
//! Everything but `summary.json` and rendered reports is append-only during the run, so a killed
//! run leaves a readable prefix. [`Run::open`] reads the files of the run, [`Run::read_trials`]
//! also those of its trials; both report what is unreadable, and where.
//!
//! # Layout (read in this order)
//! [`RunWriter`] listens to the events of a run and writes them; [`SingleRun`] does so for commands
//! that measure one trial; [`Run`] is the content of a folder, [`RunData`] the same with the files
//! of its trials; `hlog`, `timeline`, `errors`, `monitor`, `history`, `summary` and [`environment`]
//! are one format each; [`fixture`] (feature `fixture`) is a synthetic run for tests.
//!
//! # Invariants
//! This crate does not import the engine, the drivers or the host. It neither judges nor renders
//! results; that is the task of `dyno-analysis` and `dyno-report`.
#![warn(missing_docs)]

mod blocks;
mod clock;
mod collection;
mod disk;
mod error;
mod files;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod layout;
mod resume;
mod run;
mod single;
mod trials;
mod writer;
mod writer_thread;

#[cfg(test)]
mod tests;

pub use files::environment;
use files::{errors, history, hlog, masked, monitor, problem, summary, timeline};

pub use clock::{seconds_between, utc, utc_now};
pub use collection::results_below;
pub use disk::{SET_ASIDE_FOLDER, replace};
pub use error::StoreError;
pub use errors::ErrorLine;
pub use hlog::{CountedInterval, LoggedInterval, logged_intervals};
pub use layout::{
    ENVIRONMENT_FILE, ERRORS_FILE, EVENTS_FILE, FORMAT_FILE, HISTORY_FILE, KEY_FILE, LATENCY_FILE,
    MONITOR_FILE, PLAN_FILE, SERVER_LOGS_FOLDER, SESSIONS_FILE, SPEC_FILE, SUMMARY_FILE,
    TIMELINE_FILE, TRIALS_FOLDER,
};
pub use masked::masked_json;
pub use problem::{Damage, Problem};
pub use run::{Run, SystemReport, TrialOutcome, add_value};
pub use single::SingleRun;
pub use summary::{LimitSummary, summary_schema};
pub use timeline::TimelineLine;
pub use trials::{RunData, TrialData};
pub use writer::{RunWriter, is_in_use, new_folder};

//! What a run prints and logs, in the form of pgbench 15. Everything here makes text of figures.
//!
//! * [`summary`]: the report at the end; [`progress`]: lines meanwhile; [`log`]: lines of log files.

pub mod log;
pub mod progress;
pub mod summary;

use crate::options::{Length, Run};

/// What of a run's options shows in reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// True with `-R`.
    pub has_rate: bool,
    /// `-L`, microseconds.
    pub latency_limit: Option<i64>,
    /// `--max-tries`
    pub tries_max: u32,
    /// `--failures-detailed`
    pub details_failures: bool,
    /// True with `-P`.
    pub has_progress: bool,
    /// `-C`
    pub connects_each_time: bool,
    /// `-r`
    pub reports_commands: bool,
    /// `-t`, `-T`
    pub length: Length,
}

impl From<&Run> for Style {
    fn from(run: &Run) -> Self {
        Self {
            has_rate: run.rate.is_some(),
            latency_limit: run.latency_limit,
            tries_max: run.tries_max,
            details_failures: run.details_failures,
            has_progress: run.progress.is_some(),
            connects_each_time: run.connects_each_time,
            reports_commands: run.reports_commands,
            length: run.length,
        }
    }
}

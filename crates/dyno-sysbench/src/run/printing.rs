//! The printing thread of a run, and the script's custom reports.

use super::Recipe;
use super::commands::failed;
use super::reporter::Line;
use crate::logger::{Level, Logger};
use crate::options::general::General;
use crate::report::{Snapshot, cumulative, interval};
use dyno_lua::{ErrorKind, Report, ReportHooks, Role, STACK, State};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Timeout for the printing thread after the run; a hook of a script may hang.
const ENDING: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Printing {
    pub(crate) logger: Arc<Logger>,
    pub(crate) general: General,
    /// Whether SQL is used, which determines the layout. Evaluated for each report, because a
    /// script may start using it late.
    pub(crate) uses_sql: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The script, if one runs in Lua, and the reports that it prints itself.
    pub(crate) script: Option<(ReportHooks, Arc<Recipe>)>,
}

/// Handle of the printing thread.
pub(crate) struct Printer(Receiver<()>);

impl Printing {
    /// Starts the thread, which ends when the other end of `lines` is dropped.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(self) -> std::io::Result<(Sender<Line>, Printer)> {
        let (lines, incoming) = channel();
        let (over, is_over) = channel();
        thread::Builder::new().name("dyno-reports".to_owned()).stack_size(STACK).spawn(
            move || {
                self.print_all(&incoming);
                drop(over);
            },
        )?;
        Ok((lines, Printer(is_over)))
    }

    fn print_all(self, lines: &Receiver<Line>) {
        // As in sysbench, intervals and checkpoints have separate states, which do not share
        // globals: the script is loaded again for each, whether it has hooks or not.
        let intervals = self.state(self.general.interval.is_some());
        let checkpoints = self.state(!self.general.checkpoints.is_empty());
        for line in lines {
            match line {
                Line::Interval(snapshot) => self.interval(&snapshot, intervals.as_ref()),
                Line::Checkpoint(snapshot) => {
                    self.logger.timestamped(Level::Notice, snapshot.elapsed, "Checkpoint report:");
                    self.cumulative(&snapshot, checkpoints.as_ref());
                }
            }
        }
    }

    /// A state for reports, if needed. Failing to load the script again is reported.
    fn state(&self, is_needed: bool) -> Option<State> {
        let (_, recipe) = self.script.as_ref().filter(|_| is_needed)?;
        let loaded = recipe.load(Role::Reporter);
        loaded.map_err(|error| self.logger.fatal(&error.message)).ok()
    }

    fn interval(&self, snapshot: &Snapshot, state: Option<&State>) {
        if let (Some((ReportHooks { intermediate: true, .. }, _)), Some(state)) =
            (&self.script, state)
        {
            return self.hook(state, Report::Intermediate, snapshot);
        }
        let uses_sql = (self.uses_sql)();
        let line = interval::line(snapshot, &self.general.percentiles, uses_sql);
        self.logger.timestamped(Level::Notice, snapshot.elapsed, &line);
        if let Some(line) = interval::queue(snapshot, uses_sql) {
            self.logger.timestamped(Level::Notice, snapshot.elapsed, &line);
        }
    }

    /// A full report: the script's own in this state, or the standard one.
    pub(crate) fn cumulative(&self, snapshot: &Snapshot, state: Option<&State>) {
        if let (Some((ReportHooks { cumulative: true, .. }, _)), Some(state)) =
            (&self.script, state)
        {
            return self.hook(state, Report::Cumulative, snapshot);
        }
        for (level, text) in cumulative::messages(snapshot, &self.general, (self.uses_sql)()) {
            self.logger.log(level, &text);
        }
    }

    /// A failing hook is reported, and the run continues. A hook that exists only in the main state
    /// prints nothing.
    fn hook(&self, state: &State, report: Report, snapshot: &Snapshot) {
        let stat = stat(report, snapshot, self.general.percentile());
        if let Err(error) = state.report(report, &stat)
            && error.kind != ErrorKind::MissingFunction
        {
            self.logger.fatal(&failed(report.hook(), &error.message));
        }
    }
}

impl Printer {
    /// Waits until everything is printed. The sender must be dropped before.
    pub(crate) fn finish(self) {
        // Normally the channel is closed; after a timeout the thread is abandoned.
        let _ = self.0.recv_timeout(ENDING);
    }
}

/// The argument of a hook: the fields of sysbench's table `stat`, times in seconds.
fn stat(report: Report, snapshot: &Snapshot, percentile: Option<f64>) -> Vec<(&'static str, f64)> {
    let seconds = |nanos: f64| nanos / 1e9;
    let (counts, latency) = (&snapshot.counts, &snapshot.latency);
    let percentile = percentile.map_or(0.0, |percent| latency.percentile(percent) as f64);
    let mut fields = vec![
        ("threads_running", f64::from(snapshot.threads)),
        ("time_interval", snapshot.length.as_secs_f64()),
        ("time_total", snapshot.elapsed.as_secs_f64()),
        ("latency_pct", seconds(percentile)),
        ("events", counts.events as f64),
        ("reads", counts.outcomes.reads as f64),
        ("writes", counts.outcomes.writes as f64),
        ("other", counts.outcomes.others as f64),
        ("errors", counts.errors as f64),
        ("reconnects", counts.reconnects as f64),
    ];
    let queue = snapshot.queue.unwrap_or_default();
    fields.extend(match report {
        Report::Intermediate => {
            vec![("queue_length", queue.length as f64), ("concurrency", queue.concurrency as f64)]
        }
        Report::Cumulative => vec![
            ("latency_min", seconds(latency.exact.min as f64)),
            ("latency_max", seconds(latency.exact.max as f64)),
            ("latency_avg", seconds(snapshot.mean())),
            ("latency_sum", seconds(latency.exact.sum as f64)),
        ],
    });
    fields
}

//! Diagnostic messages for `-v` and `DYNO_LOG`: what dyno connects to, starts and runs, and the
//! phases of trials. They are written to stderr through the [`Printer`], which masks passwords.
//! Statements and transactions are never logged.

use crate::printer::Printer;
use dyno_model::event::{Event, Listener};
use std::io;
use tracing::{debug, level_filters::LevelFilter};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The environment variable with levels for all of dyno or for single modules: `debug`,
/// `dyno_host=trace,dyno_drivers=debug`. It takes precedence over `-v`.
const VARIABLE: &str = "DYNO_LOG";

/// Enables messages: `verbosity` is how often `-v` was given.
pub(crate) fn enable(verbosity: u8, printer: Printer) {
    let level = match verbosity {
        0 => LevelFilter::OFF,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let wanted = std::env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty());
    let filter = match wanted.as_deref().map(str::parse::<Targets>) {
        None if level == LevelFilter::OFF => return,
        None => Targets::new().with_default(level),
        Some(Ok(filter)) => filter,
        Some(Err(error)) => {
            printer.warning(&format!("{VARIABLE} is ignored: {error}"));
            return;
        }
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_writer(move || Lines(printer));
    tracing_subscriber::registry().with(layer).with(filter).init();
}

/// A writer of whole lines.
struct Lines(Printer);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.diagnosis(String::from_utf8_lossy(line).trim_end());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs the events of a run.
pub(crate) struct EventLog;

impl Listener for EventLog {
    fn event(&mut self, event: &Event) {
        match event {
            Event::SystemStarting { system } => debug!(system, "starting or connecting"),
            Event::SystemReady { system, version, settings, .. } => {
                debug!(system, %version, ?settings, "ready; settings read back");
            }
            Event::SystemStopped { system } => debug!(system, "stopped"),
            Event::SystemFailed { system, reason } => debug!(system, %reason, "failed"),
            Event::PhaseStarted { trial, phase } => debug!(trial, phase = phase.name(), "phase"),
            Event::TrialFailed { trial, reason, .. } => debug!(trial, %reason, "failed"),
            Event::TrialFinished(record) => {
                let counters = &record.counters;
                debug!(
                    trial = record.trial.id,
                    committed = counters.committed,
                    failed = counters.failed,
                    retries = counters.retries,
                    reconnects = counters.reconnects,
                    retries_by_kind = ?counters.retries_by_kind,
                    "finished"
                );
            }
            _ => {}
        }
    }
}

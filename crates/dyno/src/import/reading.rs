//! A run as described by a file.

use super::sample::Sample;
use dyno_model::counters::TrialCounters;
use dyno_model::latency::LatencySummary;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use dyno_store::TimelineLine;

/// The content of a file, or of a part of one, about one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Name of the system, if the file contains it.
    pub(crate) system: Option<String>,
    /// Number of clients, if the file contains it.
    pub(crate) clients: Option<u32>,
    /// Program that measured the run, with its version if known.
    pub(crate) program: String,
    /// Version of the server; empty when unknown.
    pub(crate) server_version: String,
    /// Start time in UTC, RFC 3339; empty when unknown.
    pub(crate) started_at: String,
    /// Length of the run.
    pub(crate) window_length: Nanos,
    /// Transactions per second, if the file states them more exactly than count and length imply.
    pub(crate) rate: Option<f64>,
    pub(crate) counters: TrialCounters,
    /// Response times; 0 where unknown.
    pub(crate) latency: LatencySummary,
    pub(crate) time_series: TimeSeries,
    /// Warnings of the program about its own results.
    pub(crate) warnings: Vec<Warning>,
    /// True when each client waited for its transaction before it started the next, as far as is
    /// known.
    pub(crate) is_closed_loop: bool,
    /// First line of the run in the file.
    pub(crate) line: usize,
}

/// Throughput of a run over time.
#[derive(Debug, Clone, Default)]
pub(crate) enum TimeSeries {
    #[default]
    Unknown,
    /// Rates are known, but not all response times.
    Rates(Vec<TimelineLine>),
    /// Histograms of all response times are known.
    Times(Vec<IntervalRecord>),
    /// Every transaction is known, ordered by end time.
    Samples(Vec<Sample>),
}

/// Warnings printed by a program.
#[derive(Debug, Clone, Default)]
pub(super) struct PrintedWarnings {
    first: Option<String>,
    lines: u64,
}

impl PrintedWarnings {
    /// Adds a line.
    pub(super) fn take(&mut self, text: &str) {
        self.add(Self { first: Some(text.to_owned()), lines: 1 });
    }

    /// Adds later warnings.
    pub(super) fn add(&mut self, later: Self) {
        self.first = self.first.take().or(later.first);
        self.lines += later.lines;
    }

    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// The warning for the record of a run.
    pub(super) fn warning(&self) -> Option<Warning> {
        let text = self.first.clone()?;
        Some(Warning::ProgramWarned { text, lines: self.lines })
    }
}

/// Half of the last digit of a time printed by sysbench, milliseconds.
const ROUNDING_MS: f64 = 0.005;
/// Tolerance for busy clients relative to the number of clients: programs sample their counters at
/// slightly different times.
const TOLERANCE: f64 = 1.05;

impl Reading {
    /// True unless the program declared its results unusable.
    pub(crate) fn is_valid(&self) -> bool {
        self.warnings.iter().all(|warning| warning.severity() < Severity::Invalid)
    }

    /// Checks relations that hold for every run.
    ///
    /// # Errors
    /// Names the values that contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        let [min, mean, max] =
            [self.latency.min as f64, self.latency.mean, self.latency.max as f64]
                .map(|nanos| nanos / 1e6);
        for (low, high) in [(min, mean), (mean, max), (min, max)] {
            if high > 0.0 && low > high + 2.0 * ROUNDING_MS {
                return Err(format!(
                    "minimum {min:.3} ms, mean {mean:.3} ms and maximum {max:.3} ms contradict \
                     each other"
                ));
            }
        }
        let seconds = self.window_length.as_secs_f64();
        let (Some(clients), true) = (self.clients, self.is_closed_loop && seconds > 0.0) else {
            return Ok(());
        };
        // Little's law: a client runs one transaction at a time.
        let rate = self.rate.unwrap_or(self.counters.committed as f64 / seconds);
        let busy = rate * (mean - ROUNDING_MS) / 1e3;
        if mean > 0.0 && busy > f64::from(clients) * TOLERANCE {
            return Err(format!(
                "{rate:.1} transactions per second of {mean:.3} ms each keep {busy:.1} clients \
                 busy, but the file says {clients}; values of several runs are mixed"
            ));
        }
        Ok(())
    }
}

/// Converts milliseconds to nanoseconds; 0 when unknown.
pub(super) fn nanos(milliseconds: Option<f64>) -> u64 {
    milliseconds.map_or(0, |time| (time * 1e6).round() as u64)
}

/// Stores a percentile if dyno has a field for it; others are ignored.
pub(super) fn set_percentile(latency: &mut LatencySummary, percentage: f64, nanos: u64) {
    let tenths = (percentage * 10.0).round() as u32;
    match tenths {
        500 => latency.p50 = nanos,
        700 => latency.p70 = nanos,
        800 => latency.p80 = nanos,
        900 => latency.p90 = nanos,
        950 => latency.p95 = nanos,
        990 => latency.p99 = nanos,
        999 => latency.p999 = nanos,
        _ => {}
    }
}

/// Values from here on are Unix timestamps and not seconds since the start of a run: three years.
const EPOCH_MIN: f64 = 1e8;

/// The time series described by interval lines: the second at which each ends, and the transactions
/// per second since the line before. With Unix timestamps the start of the first interval is
/// unknown, so it is ignored.
pub(super) fn interval_rates(intervals: &[(f64, f64)]) -> TimeSeries {
    let origin = intervals
        .first()
        .map(|(second, _)| *second)
        .filter(|second| *second >= EPOCH_MIN)
        .unwrap_or_default();
    let mut lines = Vec::new();
    let mut start_s = 0.0;
    for (second, rate) in intervals.iter().map(|(second, rate)| (second - origin, rate)) {
        let length_s = second - start_s;
        if length_s > 0.0 {
            let committed = (rate * length_s).round() as u64;
            let (is_warmup, failed, retries, latency_ms) = (false, 0, 0, None);
            lines.push(TimelineLine {
                start_s,
                length_s,
                is_warmup,
                committed,
                failed,
                retries,
                latency_ms,
            });
            start_s = second;
        }
    }
    if lines.is_empty() { TimeSeries::Unknown } else { TimeSeries::Rates(lines) }
}

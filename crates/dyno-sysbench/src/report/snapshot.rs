//! What a report is made of: counts and times between two instants.

use dyno_engine::recording::shares::ClientShare;
use dyno_model::latency::ExactLatency;
use dyno_model::record::StatementLatency;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Counts as sysbench counts, by outcome and never by the statement's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that ended well ("transactions"), each once however often it was repeated.
    pub events: u64,
    /// Statements that returned a result set, even an empty one.
    pub reads: u64,
    /// Statements without a result set that touched at least one row.
    pub writes: u64,
    /// All other successful statements.
    pub others: u64,
    /// Statements that failed ("ignored errors").
    pub errors: u64,
    /// Connections that were opened again.
    pub reconnects: u64,
}

impl Counts {
    /// All successful statements.
    #[must_use]
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Adds another period's counts.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.errors += other.errors;
        self.reconnects += other.reconnects;
    }

    /// These counts without those of an earlier moment. A counter that went backwards gives 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            events: self.events.saturating_sub(earlier.events),
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            others: self.others.saturating_sub(earlier.others),
            errors: self.errors.saturating_sub(earlier.errors),
            reconnects: self.reconnects.saturating_sub(earlier.reconnects),
        }
    }
}

/// Latency of events, nanoseconds.
#[derive(Debug, Clone)]
pub struct Latency {
    /// Sum and extremes.
    pub exact: ExactLatency,
    /// Everything else.
    pub histogram: Histogram<u64>,
}

impl Default for Latency {
    fn default() -> Self {
        Self { exact: ExactLatency::default(), histogram: dyno_model::latency::histogram() }
    }
}

impl Latency {
    /// Adds another period's latencies.
    pub fn add(&mut self, other: &Self) {
        self.exact.add(&other.exact);
        self.histogram.add(&other.histogram).expect("both histograms have the same bounds and grow");
    }

    /// A percentile, 0 to 100, in nanoseconds; never below the smallest nor above the largest value, and 0 without
    /// events. Error below 0.1 %.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        if self.histogram.is_empty() {
            return 0;
        }
        let value = self.histogram.value_at_percentile(percent);
        // Extremes are kept exactly beside the histogram; a caller without them has none to clamp to.
        let ExactLatency { min, max, .. } = self.exact;
        if max == 0 { value } else { value.clamp(min.min(max), max) }
    }
}

/// The queue of an open loop (`--rate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    /// Events that were due and not begun.
    pub length: u64,
    /// Threads in an event.
    pub concurrency: u64,
}

/// One period: an interval, the time since the last checkpoint, or a whole run.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// From the common start (after warm-up) to the period's end.
    pub elapsed: Duration,
    /// Length of the period; rates are per second of it.
    pub length: Duration,
    /// Threads that work.
    pub threads: u32,
    /// Counts of the period.
    pub counts: Counts,
    /// Event latency of the period.
    pub latency: Latency,
    /// Open loop only.
    pub queue: Option<Queue>,
    /// What each thread did; empty in intervals.
    pub shares: Vec<ClientShare>,
    /// Events cut off because they did not end in time; `None` when none was cut off.
    pub unfinished: Option<u64>,
    /// Open loop: events that were due and never begun. 0 otherwise.
    pub never_started: u64,
    /// Events given up after `--max-retries`; they are not in the counts.
    pub given_up: u64,
    /// Kinds of statements that occurred, where the runner knows kinds (native workloads); empty otherwise.
    pub statements: Vec<StatementLatency>,
}

impl Snapshot {
    /// A count as a rate per second of the period; 0 for a period without length.
    #[must_use]
    pub fn rate(&self, count: u64) -> f64 {
        let seconds = self.length.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }
}

//! What a report is made of: counts and times between two instants.

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

/// Latency of events: exact extremes and sum, and a histogram for everything else. Nanoseconds.
#[derive(Debug, Clone)]
pub struct Latency {
    /// Smallest; 0 when there was no event.
    pub min: u64,
    /// Largest; 0 when there was no event.
    pub max: u64,
    /// Sum over all events.
    pub sum: u128,
    /// All of them (`dyno_model::latency::histogram`).
    pub histogram: Histogram<u64>,
}

impl Default for Latency {
    fn default() -> Self {
        Self { min: 0, max: 0, sum: 0, histogram: dyno_model::latency::histogram() }
    }
}

impl Latency {
    /// Adds another period's latencies.
    pub fn add(&mut self, other: &Self) {
        if other.histogram.is_empty() {
            return;
        }
        self.min = if self.histogram.is_empty() { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.sum += other.sum;
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
        if self.max == 0 { value } else { value.clamp(self.min.min(self.max), self.max) }
    }
}

/// What one thread did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Events it completed.
    pub events: u64,
    /// Sum of their latencies, nanoseconds.
    pub busy: u64,
    /// Its smallest latency in nanoseconds; 0 without events.
    pub min: u64,
    /// Its largest latency in nanoseconds.
    pub max: u64,
}

/// The queue of an open loop (`--rate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    /// Events that were due and not begun.
    pub length: u64,
    /// Threads in an event.
    pub concurrency: u64,
}

/// Latency of one kind of statement, where the runner knows kinds (native workloads).
#[derive(Debug, Clone)]
pub struct StatementReport {
    /// Name of the kind, e.g. `point-select`.
    pub name: String,
    /// Statements answered with success.
    pub count: u64,
    /// Mean, 95th percentile and largest time in nanoseconds.
    pub mean: f64,
    /// 95th percentile in nanoseconds.
    pub p95: u64,
    /// Largest, nanoseconds.
    pub max: u64,
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
    /// One per thread; empty in intervals.
    pub shares: Vec<Share>,
    /// Events cut off because they did not end in time; `None` when none was cut off.
    pub unfinished: Option<u64>,
    /// Open loop: events that were due and never begun. 0 otherwise.
    pub never_started: u64,
    /// Events given up after `--max-retries`; they are not in the counts.
    pub given_up: u64,
    /// Statement kinds, if known; empty otherwise.
    pub statements: Vec<StatementReport>,
}

impl Snapshot {
    /// A count as a rate per second of the period; 0 for a period without length.
    #[must_use]
    pub fn rate(&self, count: u64) -> f64 {
        let seconds = self.length.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }
}

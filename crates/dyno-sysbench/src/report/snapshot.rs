//! The data of a report: counts and times between two instants.

use dyno_engine::recording::client_statistics::ClientStatistics;
/// Counts as in sysbench: by outcome and never by the statement's text.
pub(crate) use dyno_model::counters::ScriptCounters as Counts;
use dyno_model::latency::ExactLatency;
use dyno_model::record::StatementLatency;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Latency of events, nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Latency {
    pub(crate) exact: ExactLatency,
    /// All other statistics.
    pub(crate) histogram: Histogram<u64>,
}

impl Default for Latency {
    fn default() -> Self {
        Self { exact: ExactLatency::default(), histogram: dyno_model::latency::histogram() }
    }
}

impl Latency {
    pub(crate) fn add(&mut self, other: &Self) {
        self.exact.add(&other.exact);
        self.histogram
            .add(&other.histogram)
            .expect("both histograms have the same bounds and grow");
    }

    /// A percentile, 0 to 100, in nanoseconds; within the minimum and maximum, and 0 without
    /// events. Error below 0.1 %.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let value = dyno_model::latency::percentile(&self.histogram, percent);
        // Minimum and maximum are exact; a caller without them has nothing to limit the value to.
        let ExactLatency { min, max, .. } = self.exact;
        if max == 0 { value } else { value.clamp(min.min(max), max) }
    }
}

/// The queue of an open loop (`--rate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Number of events that were due and not started.
    pub(crate) length: u64,
    /// Number of threads in an event.
    pub(crate) concurrency: u64,
}

/// A period: an interval, the time since the last checkpoint, or a whole run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// From the common start (after warm-up) to the period's end.
    pub(crate) elapsed: Duration,
    /// Length of the period; rates are per second of it.
    pub(crate) length: Duration,
    pub(crate) threads: u32,
    pub(crate) counts: Counts,
    pub(crate) latency: Latency,
    /// Open loop only.
    pub(crate) queue: Option<Queue>,
    /// Per thread; empty in intervals.
    pub(crate) client_statistics: Vec<ClientStatistics>,
    /// Events that did not end in time and were cut off; `None` when there are none.
    pub(crate) unfinished: Option<u64>,
    /// Open loop: events that were due and never started; otherwise 0.
    pub(crate) never_started: u64,
    /// Events given up after `--max-retries`; not included in the counts.
    pub(crate) given_up: u64,
    /// Kinds of executed statements, where the runner distinguishes kinds (native workloads);
    /// otherwise empty.
    pub(crate) statements: Vec<StatementLatency>,
}

impl Snapshot {
    /// Mean latency of the events in nanoseconds; 0 without events.
    pub(crate) fn mean(&self) -> f64 {
        let events = self.counts.events;
        if events == 0 { 0.0 } else { self.latency.exact.sum as f64 / events as f64 }
    }

    /// A count as a rate per second of the period; 0 for an empty period.
    pub(crate) fn rate(&self, count: u64) -> f64 {
        let seconds = self.length.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }
}

//! Counts and response times of one interval of a trial.

use crate::compact_histogram::CompactHistogram;
use crate::counters::{Outcomes, ScriptCounters};
use crate::encoded;
use crate::failure::FailureKind;
use crate::latency::{self, ExactLatency};
use crate::units::Nanos;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One interval (about a second) of a trial, for the timeline and the histogram log. It is
/// serialised in this form only between generators and their coordinator: the store writes
/// histograms as `.hlog` and the rest as CSV.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// Trial it belongs to.
    pub trial: String,
    /// True for warm-up, false for the measured window.
    pub is_warmup: bool,
    /// Start, nanoseconds since the common start (warm-up included).
    pub start: Nanos,
    /// Length.
    pub length: Nanos,
    /// Failed transactions.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Successful statements by outcome.
    pub outcomes: Outcomes,
    /// Statements answered with an error.
    pub statement_errors: u64,
    /// Errors that clients met, by kind: each error that ended an attempt of a transaction, whether
    /// it was retried or not, and each failed attempt to reconnect.
    pub errors_by_kind: BTreeMap<FailureKind, u64>,
    /// Reconnects.
    pub reconnects: u64,
    /// Counts reported by a script itself.
    pub script_counters: ScriptCounters,
    /// Clients in a transaction when the interval was emitted.
    pub concurrency: u64,
    /// Open loop: transactions that were due then and had not started. 0 in a closed loop.
    pub queue: u64,
    /// Sum and extremes of the response times of committed transactions.
    pub latency: ExactLatency,
    /// Response times of committed transactions; its length is the number of commits.
    #[serde(with = "encoded")]
    pub response_times: Histogram<u64>,
    /// The same by transaction name, in the workload's order; empty where transactions have no
    /// names.
    #[serde(with = "encoded::named")]
    pub transactions: Vec<(String, Histogram<u64>)>,
    /// Statements' response times by kind, in the workload's order.
    pub statements: Vec<(String, CompactHistogram)>,
    /// First and last commit of each millisecond with commits, of a generator that holds a part of
    /// the clients; otherwise empty.
    pub commit_spans: Vec<CommitSpan>,
    /// Open loop: ages of the arrivals of the whole window that did not commit. Only the last
    /// interval contains them, if there are any. Parts of several generators do not.
    #[serde(skip)]
    pub censored: Option<Histogram<u64>>,
}

/// A time with commits: that of the first and that of the last of them, nanoseconds since the
/// window opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSpan(pub u64, pub u64);

impl IntervalRecord {
    /// Adds what another generator has of the same interval, except for [`Self::commit_spans`],
    /// which the collector merges over all intervals.
    pub fn add(&mut self, other: &Self) {
        self.failed += other.failed;
        self.retries += other.retries;
        self.outcomes.add(&other.outcomes);
        self.statement_errors += other.statement_errors;
        for (kind, count) in &other.errors_by_kind {
            *self.errors_by_kind.entry(*kind).or_default() += count;
        }
        self.reconnects += other.reconnects;
        self.script_counters.add(&other.script_counters);
        self.concurrency += other.concurrency;
        self.queue += other.queue;
        self.latency.add(&other.latency);
        // Histograms that grow by themselves take everything.
        let _ = self.response_times.add(&other.response_times);
        for ((_, sum), (_, part)) in self.transactions.iter_mut().zip(&other.transactions) {
            let _ = sum.add(part);
        }
        for ((_, sum), (_, part)) in self.statements.iter_mut().zip(&other.statements) {
            sum.add(part);
        }
    }

    /// An interval after the warm-up without any events.
    #[must_use]
    pub fn empty(trial: &str, start: Nanos, length: Nanos, kinds: &[&str]) -> Self {
        Self {
            trial: trial.to_owned(),
            is_warmup: false,
            start,
            length,
            failed: 0,
            retries: 0,
            outcomes: Outcomes::default(),
            statement_errors: 0,
            errors_by_kind: BTreeMap::new(),
            reconnects: 0,
            script_counters: ScriptCounters::default(),
            concurrency: 0,
            queue: 0,
            latency: ExactLatency::default(),
            response_times: latency::histogram(),
            transactions: Vec::new(),
            statements: kinds
                .iter()
                .map(|kind| ((*kind).to_owned(), CompactHistogram::default()))
                .collect(),
            commit_spans: Vec::new(),
            censored: None,
        }
    }
}

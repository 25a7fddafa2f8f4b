//! Record of one trial.

use crate::audit::AuditRecord;
use crate::catalog::Growth;
use crate::counters::TrialCounters;
use crate::failure_log::FailureLog;
use crate::fault::FaultRecord;
use crate::isolation::IsolationLevel;
use crate::latency::{self, LatencySummary};
use crate::limit::LimitPart;
use crate::plan::{ComparisonMetric, Trial};
use crate::reason::Reason;
use crate::response::{BoundedLatency, ResponseSummary};
use crate::schema::Schema;
use crate::search::SearchRecord;
use crate::stages::StageRecord;
use crate::units::Nanos;
use crate::warning::{KEPT_UP, LAG_JUDGED, LAG_SHARE, Severity, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use crate::generators::{GeneratorSummary, GeneratorsRecord, Lag};
pub use crate::interval::{CommitSpan, IntervalRecord};

/// One trial, as the line `trial-finished` of `events.jsonl` holds it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// The trial.
    pub trial: Trial,
    /// UTC time at which measuring began, RFC 3339 with milliseconds.
    pub started_at: String,
    /// Version the server reported.
    pub server_version: String,
    /// Length of the measured window, from its opening: the duration, if the stop rule is one, or
    /// the time until the last counted answer.
    pub window_length: Nanos,
    /// Time to create schema and data; 0 when the data set was reused.
    pub loading: Nanos,
    /// Time to connect all clients.
    pub connecting: Nanos,
    /// Counters of the measured window.
    pub counters: TrialCounters,
    /// Response times of committed transactions, from first attempt to acknowledged commit (closed
    /// loop: service time with N clients; open loop: from the time it was due).
    pub transaction_latency: LatencySummary,
    /// Response times of successful statements, per kind, in the workload's order.
    pub statements: Vec<StatementLatency>,
    /// Results of the transactions of each name, in the order of [`TrialCounters::transactions`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<NamedTransactions>,
    /// The longest time without a commit in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_gap: Option<CommitGap>,
    /// Open loop: outcome of the arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoop>,
    /// Number of committed transactions, each weighted by the share of its time within the window.
    /// Transactions that started in the warm-up or ended in the grace period contribute their
    /// share. The time of a transaction starts when its client begins it, which is after the think
    /// time, and in an open loop perhaps after the time at which it was due. Absent for stop rules
    /// by count, and in trials that were cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted_commits: Option<f64>,
    /// The search for the highest load; this trial is its last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
    /// Results of each stage of the load, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// The background groups, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<GroupRecord>,
    /// A growing table: maps each interval to the axis of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The generator's measurements of itself; those of all generators together, where there are
    /// several.
    pub generator: GeneratorRecord,
    /// The generators, where clients were in other processes than the coordinator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generators: Option<GeneratorsRecord>,
    /// Growth of the server's own counters (e.g. `Com_select`, `xact_commit`) from just before the
    /// clients start until their sessions have ended, warm-up and grace period included.
    pub server_counters: BTreeMap<String, i64>,
    /// Tables, columns, indexes and sizes of the first database when the clients started; absent in
    /// older records, and where the server did not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// Audit of the data.
    pub audit: AuditRecord,
    /// The cause of the end.
    pub end: TrialEnd,
    /// The first of each distinct failure in the window, as reported by the database.
    #[serde(default, skip_serializing_if = "FailureLog::is_empty")]
    pub failures: FailureLog,
    /// Observations besides the figures; absent in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// Warnings: those that [`crate::judge`] derives from the record, and those that only
    /// observation during the trial could raise.
    pub warnings: Vec<Warning>,
}

/// Results of a background group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// Its counters, times, audit and warnings, as if it ran alone. The generator's processor time
    /// covers all groups; the server's counters are in the record of the trial.
    pub record: TrialRecord,
}

/// The cause of the end of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEnd {
    /// The trial itself: its stop rule, its time limit, or an internal error that would recur.
    #[default]
    Trial,
    /// The user, prematurely.
    User,
    /// The system under test or its supervisor, prematurely.
    System,
}

impl TrialRecord {
    /// The record of the client group that a limit applies to: a background group's own, and this
    /// one for all other parts.
    #[must_use]
    pub fn of_group(&self, part: Option<&LimitPart>) -> Option<&TrialRecord> {
        let Some(LimitPart::Background(name)) = part else { return Some(self) };
        self.background.iter().find(|group| group.name == *name).map(|group| &group.record)
    }

    /// Transactions per second of the window, as [`throughput`] defines it.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        throughput(self.weighted_commits, self.counters.committed, self.window_length)
    }

    /// True when it did work in the window: a transaction that started in it committed; or none
    /// started in it, because transactions lasted longer than the window, and these committed. When
    /// some started and none of them committed, commits left from the warm-up prove nothing.
    #[must_use]
    pub fn has_committed(&self) -> bool {
        self.counters.committed > 0
            || self.counters.started == 0
                && self.weighted_commits.is_some_and(|weighted| weighted > 0.0)
    }

    /// The value of a metric, in transactions per second or milliseconds; `None` for response times
    /// without arrivals, and for percentiles with too few values beyond them
    /// ([`latency::is_shown`]). For response times it may be a lower bound ([`Self::is_bound`]).
    #[must_use]
    pub fn figure(&self, metric: ComparisonMetric) -> Option<f64> {
        match metric {
            ComparisonMetric::Throughput => Some(self.throughput()),
            ComparisonMetric::HighestRate | ComparisonMetric::MostClients => {
                self.searched(metric)?.found()
            }
            _ => self.time(metric).map(BoundedLatency::as_millis),
        }
    }

    /// True when the value of a metric is only a lower bound, because it falls among arrivals
    /// without a commit, or because something other than the system ended the search.
    #[must_use]
    pub fn is_bound(&self, metric: ComparisonMetric) -> bool {
        self.searched(metric).is_some_and(SearchRecord::is_bound)
            || self.time(metric).is_some_and(|time| time.is_bound)
    }

    /// The search for a metric.
    fn searched(&self, metric: ComparisonMetric) -> Option<&SearchRecord> {
        self.search.as_ref().filter(|record| metric.searched() == Some(record.search.most))
    }

    fn time(&self, metric: ComparisonMetric) -> Option<BoundedLatency> {
        time(&self.response()?, metric)
    }

    /// Response times of all arrivals: in a closed loop those of the commits, in an open loop with
    /// lower bounds where arrivals without a commit affect them. `None` without arrivals.
    #[must_use]
    pub fn response(&self) -> Option<ResponseSummary> {
        match self.open_loop {
            Some(open_loop) => open_loop.response,
            None => (self.transaction_latency.count > 0)
                .then(|| ResponseSummary::from(&self.transaction_latency)),
        }
    }

    /// Valid, warned or invalid: the worst severity of all warnings (`None` when there are none).
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.warnings.iter().map(|warning| self.severity(warning)).max()
    }

    /// The severity of a warning in this trial. In a search whose load generator was at its limit,
    /// the result is a lower bound, which remains valid.
    #[must_use]
    pub fn severity(&self, warning: &Warning) -> Severity {
        let is_only_bound = self.search.is_some() && warning.is_of_generator();
        if is_only_bound { warning.severity().min(Severity::Warning) } else { warning.severity() }
    }

    /// True when the trial was measured to its end. A trial that the user or its system ended
    /// prematurely is measured again.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.end == TrialEnd::Trial
    }

    /// True when measuring stopped before the stop rule was met, for any reason.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let is_cut = |warning: &Warning| {
            matches!(warning, Warning::CutShort { .. } | Warning::SystemFailed { .. })
        };
        self.warnings.iter().any(is_cut)
    }

    /// Injected faults, in their order.
    #[must_use]
    pub fn faults(&self) -> &[FaultRecord] {
        self.facts.as_ref().map_or(&[], |facts| &facts.faults)
    }

    /// True when another program measured it.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, Warning::Imported { .. }))
    }

    /// True when no warning invalidates the figures.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.worst() != Some(Severity::Invalid)
    }
}

/// The value of a response time metric; `None` for other metrics, and for percentiles with too few
/// values beyond them.
#[must_use]
pub fn time(times: &ResponseSummary, metric: ComparisonMetric) -> Option<BoundedLatency> {
    let time = match metric {
        ComparisonMetric::Throughput
        | ComparisonMetric::HighestRate
        | ComparisonMetric::MostClients => return None,
        ComparisonMetric::MeanMs => times.mean,
        ComparisonMetric::P50Ms => times.p50,
        ComparisonMetric::P90Ms => times.p90,
        ComparisonMetric::P95Ms => times.p95,
        ComparisonMetric::P99Ms => times.p99,
        ComparisonMetric::P999Ms => times.p999,
        ComparisonMetric::MaxMs => times.max,
    };
    let is_shown =
        metric.percentage().is_none_or(|percentage| latency::is_shown(times.count, percentage));
    // In imported results, 0 marks an unknown time.
    (is_shown && time.nanos > 0.0).then_some(time)
}

/// Transactions per second of a window: its weighted commits ([`TrialRecord::weighted_commits`])
/// divided by its length; without that, its committed transactions divided by its length. 0 for an
/// empty window.
#[must_use]
pub fn throughput(weighted_commits: Option<f64>, committed: u64, window_length: Nanos) -> f64 {
    if window_length.0 == 0 {
        0.0
    } else {
        weighted_commits.unwrap_or(committed as f64) / window_length.as_secs_f64()
    }
}

/// Observations of a trial besides its figures, from which [`crate::judge`] derives warnings. Every
/// field may be missing in records of other versions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// Share of the machine's processor time lost to other guests of the host (steal) during the
    /// window, 0 to 1.
    pub steal: f64,
    /// True when the generator was a debug build.
    pub is_debug_build: bool,
    /// Why measuring ended before its stop rule was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Reason>,
    /// Why the system could not continue, if that ended measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_failed: Option<Reason>,
    /// Problems of the generator or its clients, in words: a panic, an event loop that failed,
    /// clients that were aborted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Reason>,
    /// The longest times without a commit in the window, longest first; those below a tenth of a
    /// second are omitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<CommitGap>,
    /// Transactions committed since the common start, warm-up included.
    pub committed_total: u64,
    /// Transactions cut off since the common start, warm-up included.
    pub unfinished_total: u64,
    /// COMMIT statements sent since the common start, warm-up included.
    pub commits_sent_total: u64,
    /// COMMIT statements that were answered with an error.
    pub commits_failed_total: u64,
    /// Uptime of the server, if it reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime: Option<Uptime>,
    /// Injected faults, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Kinds of statements that were sent as text because the server cannot prepare them, while
    /// others were prepared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent_as_text: Vec<String>,
    /// Violated identities between the counters and other counts of the same events, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbalanced: Vec<String>,
    /// What the results of a workload derived from a standard benchmark depend on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<BenchmarkFacts>,
}

/// What the results of a workload derived from a standard benchmark depend on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BenchmarkFacts {
    /// Name of the transactions that the standard counts.
    pub transaction: String,
    /// Name of those that it wants rolled back.
    pub rolled_back: String,
    /// How many of the counted ones per minute keying and think times allow; absent when clients
    /// do not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute_max: Option<f64>,
    /// Warehouses in which a new order was committed, warm-up included.
    pub warehouses: UsedCount,
    /// Districts in which a new order was committed, warm-up included.
    pub districts: UsedCount,
    /// Isolation level of transactions, as the server reported it in a session with the settings
    /// of the clients' sessions; absent if it reported no known level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationLevel>,
}

/// How many of all objects of a kind were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UsedCount {
    /// Used ones.
    pub touched: u64,
    /// All.
    pub all: u64,
}

/// Uptime of a server when its counters were read, just before the clients started and just after
/// they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Uptime {
    /// At the first reading, in seconds.
    pub before: u64,
    /// At the second reading, in seconds.
    pub after: u64,
    /// Time between the two, measured by the generator's clock.
    pub passed: Nanos,
}

/// Response times of one kind of statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementLatency {
    /// Name from the workload.
    pub name: String,
    /// Its times.
    pub latency: LatencySummary,
}

/// The transactions of one name in the measured window; their number is in
/// [`TrialCounters::transactions`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NamedTransactions {
    /// Name from the workload.
    pub name: String,
    /// Mean think time of the clients before each, including keying time, if it differs from that
    /// of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// Same as [`TrialRecord::weighted_commits`], for these transactions alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted_commits: Option<f64>,
    /// Response times of all that started, in an open loop with the ages of those that did not
    /// commit; absent when there were none. Arrivals that no client took have no name
    /// ([`OpenLoop::unstarted`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSummary>,
}

/// A time within the measured window in which no transaction of any client committed. It is bounded
/// by commits, or by the bounds of the window; exact to the nanosecond from a millisecond on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CommitGap {
    /// Start, since the window opened.
    pub at: Nanos,
    /// Length.
    pub length: Nanos,
}

/// Outcome of the transactions that arrived in the measured window of an open loop.
///
/// `arrived = started + unstarted`
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Transactions that were due in the window.
    pub arrived: u64,
    /// Transactions that never started, because all clients were busy until the end.
    pub unstarted: u64,
    /// Response times of all arrivals; absent without arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSummary>,
    /// Delays of the starts of transactions for which a client was free, 0 for all others; absent
    /// without transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Lag>,
}

impl OpenLoop {
    /// Whether the system kept up with the arrivals, and the generator with its schedule.
    /// `committed` is the number of arrivals that committed.
    #[must_use]
    pub fn warnings(&self, committed: u64) -> Vec<Warning> {
        let share = committed as f64 / self.arrived.max(1) as f64;
        let is_behind = self.arrived > 0 && share < KEPT_UP;
        let behind = is_behind.then_some(Warning::FellBehind { share, unstarted: self.unstarted });
        let late = self.lag.and_then(|lag| self.lateness(lag));
        behind.into_iter().chain(late).collect()
    }

    /// Whether a generator with this start lag kept its schedule.
    #[must_use]
    pub fn lateness(&self, lag: Lag) -> Option<Warning> {
        let share = lag.p99 as f64 / self.response?.p50.nanos.max(1.0);
        let is_late = lag.p99 >= LAG_JUDGED && share >= LAG_SHARE;
        is_late.then_some(Warning::GeneratorLate { lag_ms: Nanos(lag.p99).as_millis_f64(), share })
    }
}

/// What the generator measured of itself during the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorRecord {
    /// Per worker.
    pub workers: Vec<WorkerRecord>,
    /// CPU time of the whole process in user mode over the window. With embedded SQLite it includes
    /// the database's work.
    pub cpu_user: Nanos,
    /// CPU time of the whole process in the kernel over the window.
    pub cpu_system: Nanos,
    /// 99th percentile of the wake-up lag, how late a worker woke up for its timers, nanoseconds (0
    /// when no timer expired).
    pub wakeup_lag_p99: u64,
    /// Largest resident set of the process so far, bytes.
    pub memory_peak: u64,
    /// True when the server runs on the generator's machine (or in its process).
    pub shares_machine: bool,
    /// Numbers of workers that were tried to choose one. Empty when the plan or a rule determined
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers_tried: Vec<WorkersTried>,
}

/// The result with one number of workers when several were tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkersTried {
    /// Number of workers.
    pub workers: u32,
    /// Commits per second.
    pub per_second: f64,
}

impl GeneratorRecord {
    /// Adds the measurements of another generator of the trial: sums, and of what is judged the
    /// worst.
    pub fn add(&mut self, other: Self) {
        self.workers.extend(other.workers);
        self.cpu_user = Nanos(self.cpu_user.0 + other.cpu_user.0);
        self.cpu_system = Nanos(self.cpu_system.0 + other.cpu_system.0);
        self.wakeup_lag_p99 = self.wakeup_lag_p99.max(other.wakeup_lag_p99);
        self.memory_peak += other.memory_peak;
        self.shares_machine |= other.shares_machine;
    }

    /// The largest share of one core that a worker used over its window, at most 1. The clocks are
    /// read one after the other, which matters where the window of a worker is short: clients of
    /// which none ever waits keep the worker from reading them before the window closes.
    #[must_use]
    pub fn busiest_worker(&self) -> f64 {
        let workers = self.workers.iter().filter(|worker| worker.wall.0 > 0);
        let shares = workers.map(|worker| worker.cpu.as_secs_f64() / worker.wall.as_secs_f64());
        shares.fold(0.0, f64::max).min(1.0)
    }

    /// The largest share of its window for which a worker was stalled; absent where it is unknown.
    #[must_use]
    pub fn held_up(&self) -> Option<f64> {
        self.workers.iter().filter_map(WorkerRecord::held_up).reduce(f64::max)
    }
}

/// One generator worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRecord {
    /// Clients it drove.
    pub clients: u32,
    /// Its thread's CPU time over the window; of a thread that blocks, such as one of SQLite or of
    /// a script, with the warm-up.
    pub cpu: Nanos,
    /// The time over which `cpu` counts.
    pub wall: Nanos,
    /// Time in which its event loop waited for sockets and timers. Absent for a thread without an
    /// event loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Nanos>,
    /// Time in which its thread was runnable while others used the processors (run queue wait), as
    /// the kernel counts it. Absent where the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<Nanos>,
    /// Number of wake-ups.
    pub wakeups: u64,
    /// Statements it sent.
    pub statements: u64,
}

impl WorkerRecord {
    /// Share of its window, 0 to 1, in which it neither waited for answers, nor computed, nor
    /// queued for a processor: it was stalled, and answers of all its clients remained unread. This
    /// is a lower bound: computing while it polls for answers, and queueing after they have
    /// arrived, are subtracted twice.
    #[must_use]
    pub fn held_up(&self) -> Option<f64> {
        let explained = self.waited?.0.saturating_add(self.queued?.0).saturating_add(self.cpu.0);
        (self.wall.0 > 0).then(|| self.wall.0.saturating_sub(explained) as f64 / self.wall.0 as f64)
    }
}

/// Minimum length of an interval for a meaningful rate, in seconds.
pub const RATE_MIN: f64 = 0.95;

/// True when an interval of this many seconds can be drawn, judged or compared as a rate. Warm-up,
/// window and trial seldom end on a whole second; the remaining interval may contain no commit, or
/// ten times the usual rate, without any error. Timelines, steady state, collapses and growing
/// tables all use this rule; counts of such an interval are still included in totals.
#[must_use]
pub fn is_rate(length_s: f64) -> bool {
    length_s >= RATE_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(open_loop: &OpenLoop, committed: u64) -> Vec<Severity> {
        open_loop.warnings(committed).iter().map(Warning::severity).collect()
    }

    #[test]
    fn open_loop_shortfall_determines_the_severity() {
        let arrived = OpenLoop { arrived: 1_000, ..OpenLoop::default() };
        for (committed, expected) in [
            (1_000, &[][..]),
            (995, &[]),
            (994, &[Severity::Warning]),
            (970, &[Severity::Warning]),
            // Measured once, without a warning: 312 transactions per second offered to a system
            // that can process 309.
            (958, &[Severity::Invalid]),
            (0, &[Severity::Invalid]),
        ] {
            assert_eq!(weights(&arrived, committed), expected, "{committed} of 1,000");
        }
        assert_eq!(
            weights(&OpenLoop::default(), 0),
            [],
            "nothing arrived, and nothing was left undone"
        );
    }

    #[test]
    fn a_generator_that_is_late_is_judged_by_the_median_response_time() {
        let late = |lag_ms: u64, median_ms: u64| {
            let response = ResponseSummary {
                p50: BoundedLatency::value(median_ms as f64 * 1e6),
                ..ResponseSummary::default()
            };
            let lag = Lag {
                count: 1_000,
                awaited: 900,
                p50: 1_000,
                p99: lag_ms * 1_000_000,
                max: lag_ms * 2_000_000,
            };
            let open_loop = OpenLoop {
                arrived: 1_000,
                response: Some(response),
                lag: Some(lag),
                ..OpenLoop::default()
            };
            weights(&open_loop, 1_000)
        };
        // A thread that wakes up on a busy machine waits for a processor: this is no evidence
        // against the generator, however fast the system is.
        assert_eq!(late(4, 1), []);
        assert_eq!(late(5, 1), [Severity::Invalid]);
        assert_eq!(late(5, 100), [Severity::Warning]);
        assert_eq!(late(24, 100), [Severity::Warning]);
        assert_eq!(late(25, 100), [Severity::Invalid]);
        assert_eq!(late(6, 200), []);
    }

    #[test]
    fn throughput_is_the_work_done_and_in_old_records_the_commits() {
        let second = Nanos::from_secs(1);
        assert_eq!(throughput(Some(909.5), 1_200, second).to_bits(), 909.5_f64.to_bits());
        assert_eq!(throughput(None, 1_200, second).to_bits(), 1_200.0_f64.to_bits());
        assert_eq!(throughput(Some(3.0), 3, Nanos(0)).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn a_worker_is_held_up_for_what_neither_waiting_nor_work_explains() {
        let worker = |waited, queued, cpu| WorkerRecord {
            wall: Nanos(1_000),
            waited,
            queued,
            cpu: Nanos(cpu),
            ..WorkerRecord::default()
        };
        let share = |worker: WorkerRecord| worker.held_up().map(|share| (share * 1_000.0).round());
        assert_eq!(share(worker(Some(Nanos(400)), Some(Nanos(100)), 300)), Some(200.0));
        assert_eq!(
            share(worker(Some(Nanos(700)), Some(Nanos(300)), 300)),
            Some(0.0),
            "what is counted twice is no gain"
        );
        assert_eq!(share(worker(None, Some(Nanos(100)), 300)), None);
        assert_eq!(share(worker(Some(Nanos(400)), None, 300)), None);
    }
}

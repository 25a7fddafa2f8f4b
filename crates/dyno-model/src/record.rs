//! What is written down about one trial.

use crate::audit::AuditRecord;
use crate::catalog::Growth;
use crate::failure_log::FailureLog;
use crate::fault::FaultRecord;
use crate::latency::{self, LatencySummary};
use crate::ledger::Ledger;
use crate::plan::{Metric, Trial};
use crate::response::{Bounded, ResponseSummary};
use crate::schema::Schema;
use crate::search::SearchRecord;
use crate::stages::StageRecord;
use crate::units::Nanos;
use crate::warning::{KEPT_UP, LAG_JUDGED, LAG_SHARE, Severity, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use crate::interval::Interval;

/// One trial, as the line `trial-finished` of `events.jsonl` holds it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// Which trial.
    pub trial: Trial,
    /// UTC time at which measuring began, RFC 3339 with milliseconds.
    pub started_at: String,
    /// Version the server reported.
    pub server_version: String,
    /// Length of the measured window: from the common start to the last counted answer or the
    /// window's end.
    pub measured: Nanos,
    /// Time to make schema and data; 0 when the data set was reused.
    pub loading: Nanos,
    /// Time to connect all clients.
    pub connecting: Nanos,
    /// Books of the measured window.
    pub ledger: Ledger,
    /// Response times of committed transactions, from first attempt to acknowledged commit (closed
    /// loop: service time with N clients; open loop: from when it was due).
    pub transaction: LatencySummary,
    /// Response times of successful statements, per kind, in the workload's order.
    pub statements: Vec<StatementLatency>,
    /// What the transactions of each name brought, in the order of [`Ledger::transactions`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<NamedTransactions>,
    /// The longest time without a commit in the window; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_gap: Option<CommitGap>,
    /// Open loop: what became of the arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoop>,
    /// Under a stop rule by duration, in a trial that was not cut short: committed transactions,
    /// each by the share of its time that lies in the window, those that began in the warm-up or
    /// ended in the grace period included. A transaction's time begins here when a client begins
    /// it: after its think time, and in an open loop not when it was due. Absent in records of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<f64>,
    /// The search for the highest load, whose last step this trial is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
    /// What each stage of the load brought, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// The background groups, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<GroupRecord>,
    /// A table that grew: what puts each interval on the axis of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The generator's view of itself.
    pub generator: GeneratorRecord,
    /// Growth of the server's own counters over the window (e.g. `Com_select`, `xact_commit`).
    pub server_counters: BTreeMap<String, i64>,
    /// Tables, columns, indexes and sizes of the first database when the clients began; absent in
    /// older records, and where the server did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// What the data said.
    pub audit: AuditRecord,
    /// What ended it.
    #[serde(default)]
    pub end: TrialEnd,
    /// The first failure of each sort in the window, in the database's own words.
    #[serde(default, skip_serializing_if = "FailureLog::is_empty")]
    pub failures: FailureLog,
    /// What was observed beside the figures; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// Doubts: those that [`crate::judge`] derives from all this, and those that only somebody who
    /// watched the trial could raise.
    pub warnings: Vec<Warning>,
}

/// What a background group did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// Its clients.
    pub clients: u32,
    /// Its counters, times, audit and warnings, as if it were alone. The generator's processor time
    /// is that of all groups together; the server's counters are in the record of the trial.
    pub record: TrialRecord,
}

/// What ended a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEnd {
    /// Not written down: records of older versions.
    #[default]
    Unknown,
    /// The trial itself: its stop rule, its time limit, or an error of its own that would come
    /// again.
    Trial,
    /// The user, before its end.
    User,
    /// The system under test or the process that guards it, before its end.
    System,
}

impl TrialRecord {
    /// Transactions per second of the window, as [`throughput`] defines it.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        throughput(self.work, self.ledger.committed, self.measured)
    }

    /// True when it did work in the window: a transaction committed that began in it; or none began
    /// in it, because clients were in transactions longer than the window, and these committed.
    /// Where some began and none of them committed, what was left from the warm-up proves nothing.
    #[must_use]
    pub fn has_committed(&self) -> bool {
        self.ledger.committed > 0
            || self.ledger.started == 0 && self.work.is_some_and(|work| work > 0.0)
    }

    /// What a trial says of a metric, in transactions per second or milliseconds; `None` for
    /// response times when nothing arrived, and for percentiles that too few values lie beyond
    /// ([`latency::is_shown`]). Of response times it may be a lower bound ([`Self::is_bound`]).
    #[must_use]
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => Some(self.throughput()),
            Metric::HighestRate | Metric::MostClients => self.searched(metric)?.found(),
            _ => self.time(metric).map(Bounded::as_millis),
        }
    }

    /// True when the figure of a metric is only a lower bound, because arrivals without a commit
    /// reach it, or because the system was not what ended the search.
    #[must_use]
    pub fn is_bound(&self, metric: Metric) -> bool {
        self.searched(metric).is_some_and(SearchRecord::is_bound)
            || self.time(metric).is_some_and(|time| time.is_bound)
    }

    /// The search for a metric.
    fn searched(&self, metric: Metric) -> Option<&SearchRecord> {
        self.search.as_ref().filter(|record| metric.searched() == Some(record.search.most))
    }

    fn time(&self, metric: Metric) -> Option<Bounded> {
        time(&self.response()?, metric)
    }

    /// Response times of everything that arrived: in a closed loop those of the commits, in an open
    /// loop with bounds where arrivals without a commit reach them. `None` when nothing arrived,
    /// and for open loops of older versions that kept no ages of such arrivals.
    #[must_use]
    pub fn response(&self) -> Option<ResponseSummary> {
        let ledger = &self.ledger;
        match self.open_loop {
            Some(OpenLoop { response: Some(response), .. }) => Some(response),
            Some(open_loop)
                if open_loop.unstarted + ledger.failed + ledger.unfinished + ledger.skipped > 0 =>
            {
                None
            }
            _ => (self.transaction.count > 0).then(|| ResponseSummary::from(&self.transaction)),
        }
    }

    /// Valid, warned or invalid: the worst severity of all findings (`None` when there is none).
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.warnings.iter().map(|warning| self.severity(warning)).max()
    }

    /// How much a finding weighs in this trial. A search found a lower bound where the load
    /// generator was at its limit, which holds all the same.
    #[must_use]
    pub fn severity(&self, warning: &Warning) -> Severity {
        let is_only_bound = self.search.is_some() && warning.is_of_generator();
        if is_only_bound { warning.severity().min(Severity::Warning) } else { warning.severity() }
    }

    /// True when the trial was measured to its end. One that the user or its system ended before is
    /// to be measured again. Of records of older versions the findings tell.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self.end {
            TrialEnd::Trial => true,
            TrialEnd::User | TrialEnd::System => false,
            TrialEnd::Unknown => !self.is_cut_short(),
        }
    }

    /// True when measuring stopped before the stop rule was met, for whatever reason.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let is_cut = |warning: &Warning| {
            matches!(warning, Warning::CutShort { .. } | Warning::SystemFailed { .. })
        };
        self.warnings.iter().any(is_cut)
    }

    /// Faults that were made on purpose, in their order.
    #[must_use]
    pub fn faults(&self) -> &[FaultRecord] {
        self.facts.as_ref().map_or(&[], |facts| &facts.faults)
    }

    /// True when another program measured it.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, Warning::Imported { .. }))
    }

    /// True when no finding forbids the use of the figures.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.worst() != Some(Severity::Invalid)
    }
}

/// What response times say of a metric; `None` for what is no time, and for percentiles that too
/// few values lie beyond.
#[must_use]
pub fn time(times: &ResponseSummary, metric: Metric) -> Option<Bounded> {
    let time = match metric {
        Metric::Throughput | Metric::HighestRate | Metric::MostClients => return None,
        Metric::MeanMs => times.mean,
        Metric::P50Ms => times.p50,
        Metric::P90Ms => times.p90,
        Metric::P95Ms => times.p95,
        Metric::P99Ms => times.p99,
        Metric::P999Ms => times.p999,
        Metric::MaxMs => times.max,
    };
    let is_shown =
        metric.percentage().is_none_or(|percentage| latency::is_shown(times.count, percentage));
    // Of what was imported, a time that nobody knows is 0.
    (is_shown && time.nanos > 0.0).then_some(time)
}

/// Transactions per second of a window: the work done in it ([`TrialRecord::work`]) over its
/// length; where that is not known, its committed transactions over its length. 0 for an empty
/// window.
#[must_use]
pub fn throughput(work: Option<f64>, committed: u64, measured: Nanos) -> f64 {
    if measured.0 == 0 { 0.0 } else { work.unwrap_or(committed as f64) / measured.as_secs_f64() }
}

/// What was observed of a trial beside its figures; [`crate::judge`] derives doubts from it. Every
/// field may be missing in what another version wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// Share of the machine's processor time that other guests of the host took during the window,
    /// 0 to 1.
    pub steal: f64,
    /// True when the generator was a debug build.
    pub is_debug_build: bool,
    /// Why measuring ended before its rule was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Why the system could not go on, where that ended measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_failed: Option<String>,
    /// Trouble of the generator or its clients, in words: a panic, an event loop that broke,
    /// clients that were aborted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
    /// The longest times without a commit in the window, longest first; those below a tenth of a
    /// second are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<CommitGap>,
    /// Transactions committed since the first client began, warm-up included.
    pub committed_in_all: u64,
    /// Transactions cut off since the first client began, warm-up included.
    pub unfinished_in_all: u64,
    /// COMMIT statements sent since the first client began, warm-up included.
    pub commits_sent_in_all: u64,
    /// Those of them that were answered by an error.
    pub commits_refused_in_all: u64,
    /// How long the server had been up, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime: Option<Uptime>,
    /// Faults that were made on purpose, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Kinds of statements that were sent as text because the server cannot prepare them, where
    /// others were prepared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent_as_text: Vec<String>,
    /// Identities between the books and other counts of the same that do not hold, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbalanced: Vec<String>,
}

/// How long a server had been up when its counters were read, right before the clients began and
/// right after they had ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Uptime {
    /// At the first reading, in seconds.
    pub before: u64,
    /// At the second reading, in seconds.
    pub after: u64,
    /// Time between the two, by the generator's clock.
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

/// The transactions of one name in the measured window; how many there were says
/// [`Ledger::transactions`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NamedTransactions {
    /// Name from the workload.
    pub name: String,
    /// How long clients waited before each on average, where that is not the load's think time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// As [`TrialRecord::work`], of these alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<f64>,
    /// Response times of all that were begun, in an open loop with the ages of those that did not
    /// commit; absent when there were none. Arrivals that no client ever took on are of no name
    /// ([`OpenLoop::unstarted`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSummary>,
}

/// A time within the measured window in which no transaction of any client committed. It is bounded
/// by commits, or by the bounds of the window; exact to the nanosecond from a millisecond on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CommitGap {
    /// When it began, since the window opened.
    pub at: Nanos,
    /// How long it was.
    pub length: Nanos,
}

/// What became of the transactions that arrived in the measured window of an open loop.
///
/// `arrived = started + unstarted`
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Transactions that were due in the window.
    pub arrived: u64,
    /// Those of them that were never started, because all clients were busy until the end.
    pub unstarted: u64,
    /// Response times of all that arrived; absent when nothing did, and in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSummary>,
    /// How late transactions began although a client was free; absent when there were none, and in
    /// records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Lag>,
}

impl OpenLoop {
    /// Whether the system kept up with what arrived, and the generator with its own schedule.
    /// `committed` is how many of the arrivals committed.
    #[must_use]
    pub fn warnings(&self, committed: u64) -> Vec<Warning> {
        let share = committed as f64 / self.arrived.max(1) as f64;
        let is_behind = self.arrived > 0 && share < KEPT_UP;
        let behind = is_behind.then_some(Warning::KeptBehind { share, unstarted: self.unstarted });
        let late = self.lag.zip(self.response).and_then(|(lag, response)| {
            let share = lag.p99 as f64 / response.p50.nanos.max(1.0);
            let is_late = lag.p99 >= LAG_JUDGED && share >= LAG_SHARE;
            is_late
                .then_some(Warning::GeneratorLate { lag_ms: Nanos(lag.p99).as_millis_f64(), share })
        });
        behind.into_iter().chain(late).collect()
    }
}

/// How late the generator began the transactions of the window, in nanoseconds: from when one was
/// due until it began, where a free client waited for it. What waited because no client was free,
/// waited for the system; it is among them with no delay (1 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Lag {
    /// Number of transactions.
    pub count: u64,
    /// Those of them that a free client waited for.
    pub awaited: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// What the generator measured of itself during the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorRecord {
    /// Per worker.
    pub workers: Vec<WorkerRecord>,
    /// CPU time of the whole process in user mode over the window. With embedded SQLite the
    /// database's work is in it.
    pub cpu_user: Nanos,
    /// CPU time of the whole process in the kernel over the window.
    pub cpu_system: Nanos,
    /// 99th percentile of how late a worker woke up for its own timers, nanoseconds (0 when none
    /// was due).
    pub wakeup_lag_p99: u64,
    /// Largest resident set of the process so far, bytes.
    pub memory_peak: u64,
    /// True when the server runs on the generator's machine (or process).
    pub shares_machine: bool,
    /// Numbers of workers that were tried to choose one. Empty where the plan or a rule chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers_tried: Vec<WorkersTried>,
}

/// What a number of workers achieved when numbers were tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkersTried {
    /// Number of workers.
    pub workers: u32,
    /// Commits per second.
    pub per_second: f64,
}

impl GeneratorRecord {
    /// The largest share of its window for which a worker was held up; absent where none can tell.
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
    /// Its thread's CPU time over the window.
    pub cpu: Nanos,
    /// Length of its window.
    pub wall: Nanos,
    /// Time in which its event loop waited for sockets and timers. Absent for a thread that has
    /// none, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Nanos>,
    /// Time in which its thread could have run while others had the processors, as the kernel
    /// counts it. Absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<Nanos>,
    /// How often it woke up from waiting.
    pub wakeups: u64,
    /// Statements it sent.
    pub statements: u64,
}

impl WorkerRecord {
    /// Share of its window, 0 to 1, for which it neither waited for answers, nor computed, nor
    /// queued for a processor: something held it up, and answers of all its clients lay about
    /// meanwhile. It is at least this much: what it computes while it asks for answers, and what it
    /// queues after they have come, is taken off twice.
    #[must_use]
    pub fn held_up(&self) -> Option<f64> {
        let explained = self.waited?.0.saturating_add(self.queued?.0).saturating_add(self.cpu.0);
        (self.wall.0 > 0).then(|| self.wall.0.saturating_sub(explained) as f64 / self.wall.0 as f64)
    }
}

/// An interval shorter than this says nothing about a rate, in seconds.
pub const RATE_MIN: f64 = 0.95;

/// True when an interval of so many seconds can be drawn, judged or compared as a rate. Warm-up,
/// window and trial seldom end with a whole second; what is left over may hold no commit, or ten
/// times as many per second as usual, without anything being wrong. The one rule for timelines,
/// steady state, collapses and tables that grow; what is counted in such an interval counts all the
/// same.
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
    fn an_open_loop_that_does_less_than_arrives_is_judged_by_how_much_less() {
        let arrived = OpenLoop { arrived: 1_000, ..OpenLoop::default() };
        for (committed, expected) in [
            (1_000, &[][..]),
            (995, &[]),
            (994, &[Severity::Warning]),
            (970, &[Severity::Warning]),
            // Measured once, without a word: 312 a second offered to a system that can do 309.
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
                p50: Bounded::value(median_ms as f64 * 1e6),
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
        // A thread that wakes up on a busy machine waits for a processor: no doubt about the
        // generator, however fast the system is.
        assert_eq!(late(4, 1), []);
        assert_eq!(late(5, 1), [Severity::Invalid]);
        assert_eq!(late(5, 100), [Severity::Warning]);
        assert_eq!(late(24, 100), [Severity::Warning]);
        assert_eq!(late(25, 100), [Severity::Invalid]);
        assert_eq!(late(6, 200), []);
    }

    #[test]
    fn throughput_is_the_work_done_and_in_old_records_the_commits() {
        let second = Nanos(1_000_000_000);
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

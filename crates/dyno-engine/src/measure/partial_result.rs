//! The results of the clients of one process, and how they become a record: alone, or combined with
//! the results of other generators.

use super::load::{LoadInput, LoadRecord};
use crate::client_id::ClientId;
use crate::commit_ledger::ClientOutcomes;
use crate::fatal::Fatal;
use crate::recording::client_statistics::ClientStatistics;
use crate::recording::collector::CollectorState;
use crate::recording::stages::StageTally;
use crate::recording::{Collector, SampleNames, Totals};
use crate::window::MeasurementWindow;
use dyno_model::counters::{ScriptCounters, TrialCounters};
use dyno_model::event::Listener;
use dyno_model::failure_log::FailureLog;
use dyno_model::latency::LatencySummary;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::reason::Reason;
use dyno_model::record::{
    Facts, GeneratorRecord, GeneratorSummary, GeneratorsRecord, IntervalRecord, OpenLoop,
};
use dyno_model::response::Responses;
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest time without a commit that is recorded.
const GAP_MIN: Nanos = Nanos(100_000_000);

/// The results of the clients of one process, apart from their intervals.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PartialResult {
    pub(crate) connecting: Nanos,
    /// When the last worker had ended, nanoseconds since the epoch.
    pub(crate) ended: u64,
    pub(crate) counters: TrialCounters,
    pub(crate) totals: Totals,
    pub(crate) script_counters: ScriptCounters,
    pub(crate) failures: FailureLog,
    /// Open loop: arrivals of the window that no client started.
    pub(crate) unstarted: u64,
    pub(crate) generator: GeneratorRecord,
    pub(crate) steal: f64,
    pub(crate) is_debug_build: bool,
    pub(crate) problems: Vec<Reason>,
    pub(crate) fatal: Option<Fatal>,
    pub(crate) is_cut_off: bool,
    pub(crate) left_behind: Vec<ClientId>,
    /// The collector's counters besides its intervals; set only when sent to another process.
    pub(crate) collector: Option<CollectorState>,
    /// What the audit needs; only on its way to another process.
    pub(crate) audit_state: AuditState,
    /// Statistics of each client; only on their way to another process.
    pub(crate) client_statistics: Vec<ClientStatistics>,
}

/// What clients of another process leave behind for the audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditState {
    /// The server's numbers of the sessions that may still be open, for each target.
    pub(crate) sessions: Vec<Vec<u32>>,
    /// See [`Workload::export_counts`](crate::workload::Workload::export_counts); one per workload.
    pub(crate) exported_counts: Vec<Vec<u64>>,
    /// The commit ledger of each workload that keeps one.
    pub(crate) ledgers: Vec<Vec<ClientOutcomes>>,
}

impl PartialResult {
    /// Adds the result of another generator. Counters are summed; of the figures that warnings
    /// judge, the worst of any generator is kept.
    pub(crate) fn add(&mut self, other: Self) {
        self.connecting = self.connecting.max(other.connecting);
        self.ended = self.ended.max(other.ended);
        self.counters.add(&other.counters);
        self.totals.add(&other.totals);
        self.script_counters.add(&other.script_counters);
        self.failures.add(&other.failures);
        self.unstarted += other.unstarted;
        self.generator.add(other.generator);
        self.steal = self.steal.max(other.steal);
        self.is_debug_build |= other.is_debug_build;
        self.problems.extend(other.problems);
        self.fatal = self.fatal.take().or(other.fatal);
        self.is_cut_off |= other.is_cut_off;
        self.left_behind.extend(other.left_behind);
    }

    /// Enters what this generator measured of itself.
    pub(crate) fn describe(&self, summary: &mut GeneratorSummary, is_open: bool) {
        let own = &self.generator;
        summary.clients = own.workers.iter().map(|worker| worker.clients).sum();
        summary.committed = self.counters.committed;
        summary.cpu = Nanos(own.cpu_user.0 + own.cpu_system.0);
        summary.busiest_worker = own.busiest_worker();
        summary.held_up = own.held_up();
        summary.wakeup_lag_p99 = own.wakeup_lag_p99;
        let collector = self.collector.as_ref().filter(|_| is_open);
        summary.lag = collector.and_then(|collector| collector.lag(self.counters.started));
        summary.steal = self.steal;
        summary.memory_peak = own.memory_peak;
    }

    /// True when its counters are those of these kinds.
    pub(crate) fn fits(&self, kinds: &SampleNames) -> bool {
        let (statements, transactions) = (kinds.statements.len(), kinds.transactions.len());
        self.counters.statements.len() == statements
            && self.counters.transactions.len() == transactions
            && self.totals.sent.len() == statements
            && self.totals.refused.len() == statements
            && self.totals.by_name.len() == transactions
            && self.collector.as_ref().is_some_and(|collector| collector.fits(transactions))
    }
}

/// A measurement whose clients have ended, of this process or of all generators.
pub(crate) struct EndedMeasurement<'a> {
    pub(crate) input: &'a LoadInput<'a>,
    pub(crate) kinds: SampleNames,
    pub(crate) window: Arc<MeasurementWindow>,
    pub(crate) collector: Collector,
    pub(crate) result: PartialResult,
    /// The generators, where there are several.
    pub(crate) generators: Option<GeneratorsRecord>,
}

/// The record of a load, and what the audit of a trial needs besides.
pub(crate) struct MeasuredLoad {
    pub(crate) record: LoadRecord,
    pub(crate) totals: Totals,
    pub(crate) window: Arc<MeasurementWindow>,
}

impl EndedMeasurement<'_> {
    /// Length of the measured window in nanoseconds.
    fn length(&self) -> u64 {
        let Self { window, collector, result, .. } = self;
        let last = collector.last_end.max(window.opens());
        match self.input.load.stop {
            // Stopped early: until the last answer. Those of the grace period do not lengthen it.
            StopRule::Duration(duration) if window.is_shortened() => {
                (last - window.opens()).min(duration.0)
            }
            StopRule::Duration(duration) => duration.0,
            _ if window.is_stopped() => last - window.opens(),
            StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) | StopRule::Rows(_) => {
                if last > window.opens() {
                    last - window.opens()
                } else {
                    result.ended.saturating_sub(window.opens())
                }
            }
        }
    }

    /// The intervals that are left.
    fn rest(&mut self, length: u64) -> Vec<IntervalRecord> {
        let ended = self.result.ended;
        let mut intervals: Vec<_> =
            std::iter::from_fn(|| self.collector.pop_complete(ended)).collect();
        // Answers during the grace period arrive after the window; their interval ends with the
        // last of them.
        let last = self.collector.last_end.max(self.window.opens().saturating_add(length));
        intervals.extend(self.collector.drain_remaining(last));
        intervals
    }

    /// The result for another process that combines it with others; the listener receives the
    /// intervals that are left.
    pub(crate) fn into_partial_result(
        mut self,
        audit_state: AuditState,
        listener: &mut dyn Listener,
    ) -> PartialResult {
        let length = self.length();
        self.rest(length).iter().for_each(|interval| listener.interval(interval));
        let client_statistics = self.input.client_statistics.iter().collect();
        PartialResult {
            collector: Some(self.collector.into_state()),
            audit_state,
            client_statistics,
            ..self.result
        }
    }

    /// The record; the listener receives the intervals that are left.
    pub(crate) fn into_measured(mut self, listener: &mut dyn Listener) -> MeasuredLoad {
        let length = self.length();
        let mut intervals = self.rest(length);
        let mut open_loop = None;
        if self.input.load.offered().is_some() {
            let censored = self.collector.censored().clone();
            open_loop = Some(self.open_loop(&censored));
            if !censored.is_empty() {
                if intervals.is_empty() {
                    intervals.push(self.collector.empty_last_interval(self.result.ended));
                }
                intervals.last_mut().expect("there is one now").censored = Some(censored);
            }
        }
        intervals.iter().for_each(|interval| listener.interval(interval));
        let (totals, window) = (self.result.totals.clone(), Arc::clone(&self.window));
        MeasuredLoad { record: self.record(open_loop, length), totals, window }
    }

    /// The account of the arrivals.
    fn open_loop(&self, censored: &Histogram<u64>) -> OpenLoop {
        let responses = Responses {
            committed: self.collector.response_times.clone(),
            censored: censored.clone(),
        };
        let (started, unstarted) = (self.result.counters.started, self.result.unstarted);
        OpenLoop {
            arrived: started + unstarted,
            unstarted,
            response: responses.summary(),
            lag: self.collector.lag(started),
        }
    }

    fn record(self, open_loop: Option<OpenLoop>, length: u64) -> LoadRecord {
        let Self { input, kinds, window, collector, result, generators } = self;
        let totals = &result.totals;
        let named: Vec<_> = totals
            .by_name
            .iter()
            .map(|name| weighted_commits(&window, input.load, name.weighted_commits))
            .collect();
        let gaps = collector.longest_gaps(length);
        let sum_of_commit_kinds =
            |all: &[u64]| kinds.commit_kinds.iter().filter_map(|kind| all.get(*kind)).sum();
        LoadRecord {
            connecting: result.connecting,
            window_length: Nanos(length),
            elapsed: Nanos(result.ended.saturating_sub(window.opens())),
            script_counters: result.script_counters,
            failures: result.failures,
            response_times: collector.response_times.clone(),
            transaction_latency: LatencySummary::from(&collector.response_times),
            exact_latency: collector.latency,
            statements: collector.statements(),
            transactions: collector.transactions(&named, input.load.is_open()),
            client_statistics: input.client_statistics.iter().collect(),
            generator: result.generator,
            generators,
            longest_gap: gaps.first().copied().unwrap_or_default(),
            open_loop,
            stages: collector.stages.as_ref().map(StageTally::records).unwrap_or_default(),
            weighted_commits: weighted_commits(&window, input.load, totals.weighted_commits),
            facts: Facts {
                steal: result.steal,
                is_debug_build: result.is_debug_build,
                stopped: window.stop_cause(),
                problems: result.problems,
                gaps: gaps.into_iter().filter(|gap| gap.length >= GAP_MIN).collect(),
                committed_total: totals.committed,
                unfinished_total: totals.unfinished(),
                commits_sent_total: sum_of_commit_kinds(&totals.sent),
                commits_failed_total: sum_of_commit_kinds(&totals.refused),
                ..Facts::default()
            },
            fatal: result.fatal,
            is_cut_off: result.is_cut_off,
            left_behind: result.left_behind,
            counters: result.counters,
        }
    }
}

/// The weighted commits of the window if it has a fixed length. Stop rules by count end with the
/// last answer, as does a trial that was stopped early.
fn weighted_commits(window: &MeasurementWindow, load: &LoadPlan, done: f64) -> Option<f64> {
    (matches!(load.stop, StopRule::Duration(_)) && !window.is_shortened()).then_some(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::WorkerRecord;

    #[test]
    fn each_generator_is_described_by_what_it_measured_of_itself() {
        let worker = |clients, cpu| WorkerRecord {
            clients,
            cpu: Nanos(cpu),
            wall: Nanos(100),
            ..WorkerRecord::default()
        };
        let own = GeneratorRecord {
            cpu_user: Nanos(30),
            cpu_system: Nanos(12),
            wakeup_lag_p99: 7,
            memory_peak: 9,
            workers: vec![worker(3, 20), worker(2, 80)],
            ..GeneratorRecord::default()
        };
        let counters = TrialCounters { committed: 5, ..TrialCounters::default() };
        let result =
            PartialResult { generator: own, counters, steal: 0.25, ..PartialResult::default() };
        let mut summary =
            GeneratorSummary { number: 1, host: "load1".to_owned(), ..Default::default() };
        result.describe(&mut summary, false);
        let expected = GeneratorSummary {
            number: 1,
            host: "load1".to_owned(),
            clients: 5,
            committed: 5,
            cpu: Nanos(42),
            busiest_worker: 0.8,
            held_up: result.generator.held_up(),
            wakeup_lag_p99: 7,
            steal: 0.25,
            memory_peak: 9,
            ..GeneratorSummary::default()
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn combined_results_use_sum_or_worst_and_generators_keep_their_own() {
        let result = |steal, unstarted, is_cut_off| PartialResult {
            steal,
            unstarted,
            is_cut_off,
            ..PartialResult::default()
        };
        let mut sum = PartialResult::default();
        let mut summaries = [GeneratorSummary::default(), GeneratorSummary::default()];
        for (summary, it) in
            summaries.iter_mut().zip([result(0.02, 3, false), result(0.01, 4, true)])
        {
            it.describe(summary, true);
            sum.add(it);
        }
        assert_eq!(summaries.map(|summary| summary.steal), [0.02, 0.01]);
        assert_eq!((sum.steal, sum.unstarted, sum.is_cut_off), (0.02, 7, true));
    }
}

//! The collector, which turns samples into histograms of each interval and of the whole measured
//! window (the sum of its intervals).

use super::SampleNames;
use super::gaps::Gaps;
use super::sample::{Occurrence, Sample};
use super::stages::StageTally;
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::counters::ScriptCounter;
use dyno_model::encoded;
use dyno_model::latency::LatencySummary;
use dyno_model::latency::{self, ExactLatency};
use dyno_model::record::{
    CommitGap, CommitSpan, IntervalRecord, Lag, NamedTransactions, StatementLatency,
};
use dyno_model::response::{ResponseSummary, Responses};
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sorts samples into histograms. Memory depends on the number of statement kinds, not on the
/// length of the trial.
pub(crate) struct Collector {
    trial: String,
    kinds: SampleNames,
    opens: u64,
    /// Length of an interval, nanoseconds.
    length: u64,
    /// Response times of committed transactions in measured intervals that are complete.
    pub(crate) response_times: Histogram<u64>,
    /// Their sum and extremes.
    pub(crate) latency: ExactLatency,
    statements: Vec<CompactHistogram>,
    /// Response times of named transactions, by the index of the name.
    named: Vec<Responses>,
    /// Ages of counted arrivals that did not commit.
    censored: Histogram<u64>,
    /// Number of them that were cut off.
    cut_off: u64,
    /// Delay of transactions for which a free client waited.
    lag: Histogram<u64>,
    open_intervals: VecDeque<IntervalRecord>,
    /// Index of the first open interval.
    first_open: u64,
    /// Interval of the last sample, since the next usually belongs to it too: start, end, and
    /// position among the open intervals.
    last_position: (u64, u64, usize),
    /// Counted commits so far.
    pub(crate) committed: u64,
    /// End of the last counted sample.
    pub(crate) last_end: u64,
    /// Times in which nothing committed.
    gaps: Gaps,
    /// Results of a load in stages.
    pub(crate) stages: Option<StageTally>,
}

/// Counters of a generator's collector that belong to no interval, for the collector that merges
/// the results of several generators.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CollectorState {
    #[serde(with = "encoded")]
    censored: Histogram<u64>,
    #[serde(with = "encoded")]
    lag: Histogram<u64>,
    /// Response times of named transactions; of the committed ones, intervals have them.
    named: Vec<Responses>,
    stages: Vec<(u64, Responses)>,
    last_end: u64,
    commit_spans: Vec<CommitSpan>,
}

impl CollectorState {
    /// True when it has so many names of transactions.
    pub(crate) fn fits(&self, transactions: usize) -> bool {
        self.named.len() == transactions
    }

    /// As [`Collector::lag`].
    pub(crate) fn lag(&self, started: u64) -> Option<Lag> {
        lag(&self.lag, started)
    }
}

impl Collector {
    pub(crate) fn new(trial: &str, kinds: &SampleNames, opens: u64, length: u64) -> Self {
        Self {
            trial: trial.to_owned(),
            kinds: kinds.clone(),
            opens,
            length: length.max(1),
            response_times: latency::histogram(),
            statements: vec![CompactHistogram::default(); kinds.statements.len()],
            named: kinds.transactions.iter().map(|_| Responses::default()).collect(),
            latency: ExactLatency::default(),
            censored: latency::histogram(),
            cut_off: 0,
            lag: latency::histogram(),
            open_intervals: VecDeque::new(),
            first_open: 0,
            last_position: (0, 0, 0),
            committed: 0,
            last_end: 0,
            gaps: Gaps::default(),
            stages: None,
        }
    }

    /// Also collects results of each stage.
    pub(crate) fn with_stages(self, stages: Option<StageTally>) -> Self {
        Self { stages, ..self }
    }

    /// The same, with intervals that a collector can [merge](Self::merge) with those of others.
    pub(crate) fn mergeable(self) -> Self {
        Self { gaps: self.gaps.keeping_spans(), ..self }
    }

    /// True for an interval of the same kinds.
    pub(crate) fn fits(&self, interval: &IntervalRecord) -> bool {
        interval.statements.len() == self.kinds.statements.len()
            && interval.transactions.len() == self.kinds.transactions.len()
    }

    /// Takes an interval of a generator, in place of samples.
    pub(crate) fn merge(&mut self, interval: &IntervalRecord) {
        interval.commit_spans.iter().for_each(|span| self.gaps.record_span(*span));
        self.committed += if interval.is_warmup { 0 } else { interval.latency.count };
        let position = self.position_of(interval.start.0);
        self.open_intervals[position].add(interval);
    }

    /// The counters that belong to no interval, after all intervals were sent.
    pub(crate) fn into_state(mut self) -> CollectorState {
        self.gaps.close_slots(u64::MAX);
        let named = self.named.into_iter();
        CollectorState {
            censored: self.censored,
            lag: self.lag,
            named: named
                .map(|it| Responses { censored: it.censored, ..Responses::default() })
                .collect(),
            stages: self.stages.map(StageTally::into_results).unwrap_or_default(),
            last_end: self.last_end,
            commit_spans: self.gaps.take_spans(),
        }
    }

    /// Takes what the collector of a generator had besides its intervals.
    pub(crate) fn merge_state(&mut self, collector: &CollectorState) {
        merge(&mut self.censored, &collector.censored);
        merge(&mut self.lag, &collector.lag);
        self.named.iter_mut().zip(&collector.named).for_each(|(sum, part)| sum.add(part));
        if let Some(stages) = &mut self.stages {
            stages.add(&collector.stages);
        }
        self.last_end = self.last_end.max(collector.last_end);
        collector.commit_spans.iter().for_each(|span| self.gaps.record_span(*span));
    }

    /// Processes samples.
    pub(crate) fn add_samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            if !self.try_fast_path(*sample) {
                self.add_to_interval(*sample);
            }
        }
        if let Some(stages) = &mut self.stages {
            samples.iter().for_each(|sample| stages.record(*sample));
        }
    }

    /// Fast path for nearly all samples of scripts without statements: a counted commit in the
    /// interval of the previous sample. Returns false for anything else.
    #[inline]
    fn try_fast_path(&mut self, sample: Sample) -> bool {
        let end = sample.end();
        let (from, to, position) = self.last_position;
        let is_usual = sample.is_counted()
            && sample.occurrence() == Occurrence::Committed
            && self.opens.max(from) <= end
            && end < to;
        if is_usual {
            self.last_end = self.last_end.max(end);
            self.committed += 1;
            self.record_commit_time(end);
            record_commit(&mut self.open_intervals[position], sample);
        }
        is_usual
    }

    fn add_to_interval(&mut self, sample: Sample) {
        let (end, duration) = (sample.end(), sample.duration());
        if self.record_outside_intervals(sample) {
            return;
        }
        // Events that a script counts itself are not measured commits, but they show activity.
        if matches!(
            sample.occurrence(),
            Occurrence::Committed | Occurrence::ScriptCount(ScriptCounter::Events)
        ) {
            self.record_commit_time(end);
        }
        let position = if sample.is_counted() {
            self.last_end = self.last_end.max(end);
            if sample.occurrence() == Occurrence::Committed {
                self.committed += 1;
            }
            self.position_of(end.max(self.opens))
        } else if self.first_open >= self.warmup_intervals() {
            // Its interval is already complete, and no counter of the window includes it.
            return;
        } else {
            // A transaction that began in warm-up and ended in the window does not count: it
            // belongs to the last warm-up interval, so that the measured intervals add up to the
            // counters.
            self.position_of(end.min(self.opens - 1))
        };
        let interval = &mut self.open_intervals[position];
        match sample.occurrence() {
            Occurrence::Committed => record_commit(interval, sample),
            Occurrence::Failed(kind) => {
                interval.failed += 1;
                *interval.errors_by_kind.entry(kind).or_default() += 1;
            }
            Occurrence::Retried(kind) => {
                interval.retries += 1;
                *interval.errors_by_kind.entry(kind).or_default() += 1;
            }
            Occurrence::NotConnected(kind) => {
                *interval.errors_by_kind.entry(kind).or_default() += 1;
            }
            Occurrence::StatementFailed => interval.statement_errors += 1,
            Occurrence::Reconnected => interval.reconnects += 1,
            Occurrence::CutOff | Occurrence::Skipped | Occurrence::StartDelay => {}
            Occurrence::ScriptCount(counter) => interval.script_counters.count(counter, duration),
            Occurrence::Statement(kind, class) => {
                interval.outcomes.count(class);
                interval.statements[usize::from(kind)].1.record(duration);
            }
        }
    }

    /// Handles samples that belong to no interval. Returns true for such a sample.
    fn record_outside_intervals(&mut self, sample: Sample) -> bool {
        let occurrence = sample.occurrence();
        let of_window = match occurrence {
            Occurrence::Failed(_) | Occurrence::CutOff | Occurrence::Skipped => &mut self.censored,
            Occurrence::StartDelay => &mut self.lag,
            _ => return false,
        };
        if sample.is_counted() {
            latency::record(of_window, sample.duration());
            if let Some(named) =
                self.named.get_mut(sample.name()).filter(|_| occurrence != Occurrence::StartDelay)
            {
                latency::record(&mut named.censored, sample.duration());
            }
            self.cut_off += u64::from(occurrence == Occurrence::CutOff);
        }
        !matches!(occurrence, Occurrence::Failed(_))
    }

    /// A transaction that began in warm-up and committed in the window is in no counter, but shows
    /// activity.
    #[inline]
    fn record_commit_time(&mut self, end: u64) {
        if let Some(end) = end.checked_sub(self.opens) {
            self.gaps.record(end);
        }
    }

    /// Position of a time's interval among the open ones; the first open one if its own is
    /// complete. Warm-up and window do not share an interval: intervals restart when the window
    /// opens.
    #[inline]
    fn position_of(&mut self, end: u64) -> usize {
        let (from, to, position) = self.last_position;
        if from <= end && end < to {
            return position;
        }
        let index = self.interval_index(end).max(self.first_open);
        while self.first_open + self.open_intervals.len() as u64 <= index {
            let next = self.first_open + self.open_intervals.len() as u64;
            let interval = self.new_interval(next);
            self.open_intervals.push_back(interval);
        }
        let (from, to) = self.interval_bounds(index);
        let position = (index - self.first_open) as usize;
        self.last_position = (from, to, position);
        position
    }

    fn warmup_intervals(&self) -> u64 {
        self.opens.div_ceil(self.length)
    }

    fn interval_index(&self, time: u64) -> u64 {
        if time < self.opens {
            time / self.length
        } else {
            self.warmup_intervals() + (time - self.opens) / self.length
        }
    }

    fn interval_bounds(&self, index: u64) -> (u64, u64) {
        let warmup = self.warmup_intervals();
        if index < warmup {
            (index * self.length, ((index + 1) * self.length).min(self.opens))
        } else {
            let start = self.opens + (index - warmup) * self.length;
            (start, start + self.length)
        }
    }

    fn new_interval(&self, index: u64) -> IntervalRecord {
        let (start, end) = self.interval_bounds(index);
        let is_warmup = index < self.warmup_intervals();
        let empty = IntervalRecord::empty(
            &self.trial,
            Nanos(start),
            Nanos(end - start),
            &self.kinds.statements,
        );
        let named = |name: &&str| ((*name).to_owned(), latency::histogram());
        IntervalRecord {
            is_warmup,
            transactions: self.kinds.transactions.iter().map(named).collect(),
            ..empty
        }
    }

    /// End of the oldest interval that is not complete.
    pub(crate) fn next_end(&self) -> u64 {
        self.interval_bounds(self.first_open).1
    }

    /// The next interval that ended by a time, even if it is empty. All samples until then must
    /// have been taken; a later sample belongs to the next interval.
    pub(crate) fn pop_complete(&mut self, time: u64) -> Option<IntervalRecord> {
        if self.next_end() > time {
            return None;
        }
        let mut interval =
            self.open_intervals.pop_front().unwrap_or_else(|| self.new_interval(self.first_open));
        self.gaps.close_slots(self.next_end().saturating_sub(self.opens));
        interval.commit_spans = self.gaps.take_spans();
        self.first_open += 1;
        self.last_position = (0, 0, 0);
        self.sum_up(&mut interval);
        Some(interval)
    }

    /// All remaining intervals at the end; the last is cut to the end of the trial.
    pub(crate) fn drain_remaining(&mut self, end: u64) -> Vec<IntervalRecord> {
        let mut rest: Vec<IntervalRecord> = self.open_intervals.drain(..).collect();
        self.first_open += rest.len() as u64;
        self.last_position = (0, 0, 0);
        if let Some(last) = rest.last_mut() {
            let used = end.saturating_sub(last.start.0).clamp(1, last.length.0);
            last.length = Nanos(used);
        }
        rest.iter_mut().for_each(|interval| self.sum_up(interval));
        rest
    }

    /// The rest of the trial after the last complete interval, as an empty interval.
    pub(crate) fn empty_last_interval(&self, end: u64) -> IntervalRecord {
        let mut interval = self.new_interval(self.first_open);
        interval.length = Nanos(end.saturating_sub(interval.start.0).clamp(1, interval.length.0));
        interval
    }

    fn sum_up(&mut self, interval: &mut IntervalRecord) {
        if !interval.transactions.is_empty() {
            interval.response_times.reset();
        }
        for (_, histogram) in &interval.transactions {
            merge(&mut interval.response_times, histogram);
        }
        if interval.is_warmup {
            return;
        }
        for (sum, (_, histogram)) in self.named.iter_mut().zip(&interval.transactions) {
            merge(&mut sum.committed, histogram);
        }
        self.latency.add(&interval.latency);
        merge(&mut self.response_times, &interval.response_times);
        for (sum, (_, histogram)) in self.statements.iter_mut().zip(&interval.statements) {
            sum.add(histogram);
        }
    }

    /// The longest times without a commit in the window, which has this length, longest first; at
    /// least one.
    pub(crate) fn longest_gaps(&self, window_length: u64) -> Vec<CommitGap> {
        self.gaps.longest(window_length)
    }

    /// Ages of counted transactions that did not commit.
    pub(crate) fn censored(&self) -> &Histogram<u64> {
        &self.censored
    }

    /// How many of them were cut off.
    pub(crate) fn cut_off(&self) -> u64 {
        self.cut_off
    }

    /// An arrival that did not commit was last observed at this time and age.
    pub(crate) fn record_uncommitted(&mut self, seen: u64, age: u64) {
        latency::record(&mut self.censored, age);
        if let Some(stages) = &mut self.stages {
            stages.record_uncommitted(seen, age);
        }
    }

    /// Delay with which the generator began the transactions of the window, given the number
    /// started: transactions for which no client was free began without this delay. `None` when
    /// there were none.
    pub(crate) fn lag(&self, started: u64) -> Option<Lag> {
        lag(&self.lag, started)
    }

    /// Results of the transactions of each name in complete intervals, with the work done. In a
    /// closed loop, no client waits for a transaction that does not commit.
    pub(crate) fn transactions(
        &self,
        weighted_commits: &[Option<f64>],
        is_open: bool,
    ) -> Vec<NamedTransactions> {
        let named = self.kinds.transactions.iter().zip(&self.named).zip(weighted_commits);
        let record = |((name, responses), work): ((&&str, &Responses), &Option<f64>)| {
            let committed = || ResponseSummary::from(&LatencySummary::from(&responses.committed));
            let response = match is_open {
                true => responses.summary(),
                false => (!responses.committed.is_empty()).then(committed),
            };
            NamedTransactions {
                name: (*name).to_owned(),
                think: None,
                weighted_commits: *work,
                response,
            }
        };
        named.map(record).collect()
    }

    /// Summary per statement kind that occurred, in complete intervals.
    pub(crate) fn statements(&self) -> Vec<StatementLatency> {
        self.kinds
            .statements
            .iter()
            .zip(&self.statements)
            .filter(|(_, histogram)| !histogram.is_empty())
            .map(|(kind, histogram)| StatementLatency {
                name: (*kind).to_owned(),
                latency: histogram.into(),
            })
            .collect()
    }
}

/// Records a commit in its interval. A named one is recorded only under its name: the total is
/// computed when the interval is complete.
#[inline]
fn record_commit(interval: &mut IntervalRecord, sample: Sample) {
    let histogram = match interval.transactions.get_mut(sample.name()) {
        Some((_, named)) => named,
        None => &mut interval.response_times,
    };
    latency::record(histogram, sample.duration());
    interval.latency.record(sample.duration());
}

fn merge(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    if !part.is_empty() {
        sum.add(part).expect("all histograms have the same bounds and grow");
    }
}

/// Start delays of all transactions, given those that a free client waited for.
fn lag(waited: &Histogram<u64>, started: u64) -> Option<Lag> {
    let mut all = waited.clone();
    let _ = all.record_n(latency::LOWEST_NANOS, started.saturating_sub(all.len()));
    let at = |percentage| latency::percentile(&all, percentage);
    let (count, awaited, max) = (all.len(), waited.len(), all.max());
    (count > 0).then(|| Lag { count, awaited, p50: at(50.0), p99: at(99.0), max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::failure::FailureKind;

    const SECOND: u64 = 1_000_000_000;

    fn committed(end: u64, is_counted: bool) -> Sample {
        Sample::new(Occurrence::Committed, end, 10, is_counted)
    }

    #[test]
    fn an_interval_is_complete_as_soon_as_it_has_ended() {
        let mut collector = Collector::new("trial", &SampleNames::default(), 0, SECOND);
        collector.add_samples(&[committed(SECOND - 1, true), committed(SECOND, true)]);
        assert!(collector.pop_complete(SECOND - 1).is_none());
        let first = collector.pop_complete(SECOND).expect("it has ended");
        assert_eq!((first.start, first.latency.count), (Nanos(0), 1));
        assert!(collector.pop_complete(SECOND).is_none());
        let second = collector.pop_complete(3 * SECOND).expect("it has ended");
        assert_eq!((second.start, second.latency.count), (Nanos(SECOND), 1));
        let third =
            collector.pop_complete(3 * SECOND).expect("an interval in which nothing happened");
        assert_eq!((third.start, third.latency.count), (Nanos(2 * SECOND), 0));
    }

    #[test]
    fn a_sample_that_comes_late_is_in_the_next_interval() {
        let mut collector = Collector::new("trial", &SampleNames::default(), 0, SECOND);
        assert!(collector.pop_complete(SECOND).is_some());
        collector.add_samples(&[committed(SECOND - 1, true), committed(SECOND + 1, true)]);
        assert_eq!(collector.drain_remaining(SECOND + 2)[0].latency.count, 2);
        assert_eq!(collector.response_times.len(), 2);
    }

    #[test]
    fn an_interval_holds_what_ended_in_it() {
        let mut collector = Collector::new("trial", &SampleNames::default(), 0, SECOND);
        // It began in the first interval.
        collector.add_samples(&[Sample::new(
            Occurrence::Committed,
            2 * SECOND + 5,
            2 * SECOND,
            true,
        )]);
        let counts: Vec<u64> =
            collector.drain_remaining(3 * SECOND).iter().map(|it| it.latency.count).collect();
        assert_eq!(counts, [0, 0, 1]);
    }

    #[test]
    fn transactions_with_names_have_times_of_their_own_and_add_up_to_all() {
        let kinds = SampleNames { transactions: vec!["read", "pay"], ..SampleNames::default() };
        let mut collector = Collector::new("trial", &kinds, 1_000, SECOND);
        let sample = |name_index: u16, occurrence, duration, is_counted| {
            Sample::new(occurrence, 2_000, duration, is_counted).named(name_index)
        };
        collector.add_samples(&[
            sample(0, Occurrence::Committed, 10, true),
            sample(1, Occurrence::Committed, 30, true),
            sample(1, Occurrence::Committed, 50, true),
            sample(1, Occurrence::Committed, 90, false), // began in the warm-up
            sample(1, Occurrence::Failed(FailureKind::Deadlock), 70, true),
            sample(0, Occurrence::CutOff, 80, true),
            sample(0, Occurrence::StartDelay, 5, true),
        ]);
        let intervals = collector.drain_remaining(SECOND);
        let found = |interval: &IntervalRecord| {
            let lengths = interval
                .transactions
                .iter()
                .map(|(_, histogram)| histogram.len())
                .collect::<Vec<_>>();
            (interval.is_warmup, interval.response_times.len(), lengths)
        };
        assert_eq!(
            intervals.iter().map(found).collect::<Vec<_>>(),
            [(true, 1, vec![0, 1]), (false, 3, vec![1, 2])]
        );
        assert_eq!(intervals[1].errors_by_kind, [(FailureKind::Deadlock, 1)].into());
        assert_eq!(collector.response_times.len(), 3);
        let records = |is_open| {
            let of = |record: NamedTransactions| {
                let response = record.response.expect("there are some");
                (
                    record.name,
                    record.weighted_commits,
                    response.count,
                    response.censored,
                    response.max.nanos,
                )
            };
            collector
                .transactions(&[Some(1.5), None], is_open)
                .into_iter()
                .map(of)
                .collect::<Vec<_>>()
        };
        let (read, pay) = ("read".to_owned(), "pay".to_owned());
        assert_eq!(
            records(true),
            [(read.clone(), Some(1.5), 2, 1, 80.0), (pay.clone(), None, 3, 1, 70.0)]
        );
        assert_eq!(records(false), [(read, Some(1.5), 1, 0, 10.0), (pay, None, 2, 0, 50.0)]);
    }

    #[test]
    fn transactions_begun_in_warm_up_are_not_in_measured_intervals() {
        let mut collector = Collector::new("trial", &SampleNames::default(), SECOND + 5, SECOND);
        collector.add_samples(&[committed(SECOND + 7, false), committed(SECOND + 8, true)]);
        let warmup: Vec<IntervalRecord> =
            std::iter::from_fn(|| collector.pop_complete(SECOND + 5)).collect();
        assert_eq!(
            warmup.iter().map(|interval| interval.length.0).collect::<Vec<_>>(),
            [SECOND, 5]
        );
        assert_eq!(warmup[1].latency.count, 1);
        collector.add_samples(&[committed(SECOND + 9, false)]);
        let rest = collector.drain_remaining(2 * SECOND);
        assert_eq!(rest.iter().map(|interval| interval.latency.count).sum::<u64>(), 1);
        assert_eq!(collector.latency.count, 1);
    }

    #[test]
    fn errors_stand_in_their_interval_by_kind_whether_retried_or_not() {
        let mut collector = Collector::new("trial", &SampleNames::default(), 0, SECOND);
        let sample = |occurrence, end| Sample::new(occurrence, end, 0, true);
        collector.add_samples(&[
            sample(Occurrence::Retried(FailureKind::Timeout), 1),
            sample(Occurrence::Failed(FailureKind::Timeout), 2),
            sample(Occurrence::NotConnected(FailureKind::ConnectRefused), 3),
            sample(Occurrence::NotConnected(FailureKind::ConnectRefused), SECOND),
        ]);
        let first = collector.pop_complete(SECOND).expect("it has ended");
        let expected = [(FailureKind::ConnectRefused, 1), (FailureKind::Timeout, 2)];
        assert_eq!(first.errors_by_kind, expected.into());
        assert_eq!((first.failed, first.retries), (1, 1));
        let second = collector.pop_complete(2 * SECOND).expect("it has ended");
        assert_eq!(second.errors_by_kind, [(FailureKind::ConnectRefused, 1)].into());
    }

    #[test]
    fn each_fast_statement_uses_less_than_four_kilobytes() {
        let number = 1_000_u64;
        let kinds = SampleNames {
            statements: vec!["one of many"; number as usize],
            ..SampleNames::default()
        };
        let mut collector = Collector::new("trial", &kinds, 0, SECOND);
        let mut largest = 0;
        for at in 0..400 {
            let sample = |kind: u64| {
                let duration = 50_000 + (kind * 7_919 + at * 104_729) % 100_000;
                let statement =
                    Occurrence::Statement(kind as u16, dyno_model::counters::OutcomeClass::Read);
                Sample::new(statement, at * SECOND / 10, duration, true)
            };
            collector.add_samples(&(0..number).map(sample).collect::<Vec<_>>());
            let open = collector.open_intervals.iter().flat_map(|interval| &interval.statements);
            let open: usize = open
                .map(|(name, times)| name.capacity() + times.memory() + size_of_val(times))
                .sum();
            let sums: usize =
                collector.statements.iter().map(|times| times.memory() + size_of_val(times)).sum();
            largest = largest.max((open + sums) as u64 / number);
            while collector.pop_complete(at * SECOND / 10).is_some() {}
        }
        assert!((1..4096).contains(&largest), "{largest} bytes for each");
    }

    #[test]
    fn the_lag_of_a_few_is_not_the_lag_of_all() {
        // In an overload, only the first transactions found a free client; two of them began 14 ms
        // late.
        let mut collector = Collector::new("trial", &SampleNames::default(), 0, SECOND);
        collector.add_samples(&[Sample::new(Occurrence::StartDelay, 5, 14_000_000, true); 2]);
        collector.add_samples(&[Sample::new(Occurrence::StartDelay, 5, 1_000, false)]);
        let lag = collector.lag(1_000).expect("transactions were started");
        assert_eq!((lag.count, lag.awaited, lag.p99), (1_000, 2, 1));
        assert!(lag.max >= 14_000_000 && collector.lag(100).expect("fewer").p99 >= 14_000_000);
        assert!(Collector::new("trial", &SampleNames::default(), 0, SECOND).lag(0).is_none());
    }
}

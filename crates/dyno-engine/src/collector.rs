//! From single times to histograms: of the whole measured window, and of each interval of a second.

use crate::recorder::{Sample, Subject};
use dyno_model::latency;
use dyno_model::record::{Interval, LatencySummary, StatementLatency};
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use std::collections::VecDeque;

/// Length of an interval: one second.
const INTERVAL: u64 = 1_000_000_000;
/// An interval is complete so long after its end: workers hand samples over at least four times a second, and a worker that
/// did not get the processor for longer than this has other problems.
const SETTLING: u64 = 2_500_000_000;
/// Resolution with which gaps between commits are known: 10 ms.
const GAP_SLOT: u64 = 10_000_000;

/// Sorts samples into histograms. Memory depends on the number of statement kinds, not on the length of the trial
/// (but for one bit per 10 ms).
pub(crate) struct Collector {
    trial: String,
    kinds: Vec<&'static str>,
    opens: u64,
    transaction: Histogram<u64>,
    statements: Vec<Histogram<u64>>,
    open_intervals: VecDeque<Interval>,
    /// Index of the first open interval.
    first_open: u64,
    committed: u64,
    last_end: u64,
    /// One bit per slot of the window: did anything commit in it?
    commits: Vec<u64>,
}

impl Collector {
    pub(crate) fn new(trial: &str, kinds: &[&'static str], opens: u64) -> Self {
        Self {
            trial: trial.to_owned(),
            kinds: kinds.to_vec(),
            opens,
            transaction: latency::histogram(),
            statements: kinds.iter().map(|_| latency::histogram()).collect(),
            open_intervals: VecDeque::new(),
            first_open: 0,
            committed: 0,
            last_end: 0,
            commits: Vec::new(),
        }
    }

    /// Takes a batch.
    pub(crate) fn take(&mut self, batch: &[Sample]) {
        for sample in batch {
            self.sort(*sample);
        }
    }

    fn sort(&mut self, sample: Sample) {
        let (end, duration) = (sample.end(), sample.duration());
        if sample.is_counted() {
            self.last_end = self.last_end.max(end);
            match sample.subject() {
                Subject::Committed => {
                    latency::record(&mut self.transaction, duration);
                    self.committed += 1;
                    self.note_commit(end);
                }
                Subject::Statement(kind) => {
                    latency::record(&mut self.statements[usize::from(kind)], duration);
                }
                Subject::Failed | Subject::Retried => {}
            }
        }
        // A transaction that began in warm-up and ended in the window does not count: it belongs to the last warm-up interval,
        // so that the measured intervals add up to the books.
        let at = if sample.is_counted() { end } else { end.min(self.opens.saturating_sub(1)) };
        let interval = self.interval(at);
        match sample.subject() {
            Subject::Committed => latency::record(&mut interval.transaction, duration),
            Subject::Failed => interval.failed += 1,
            Subject::Retried => interval.retries += 1,
            Subject::Statement(kind) => {
                latency::record(&mut interval.statements[usize::from(kind)].1, duration);
            }
        }
    }

    fn note_commit(&mut self, end: u64) {
        let slot = end.saturating_sub(self.opens) / GAP_SLOT;
        let (word, bit) = ((slot / 64) as usize, slot % 64);
        if word >= self.commits.len() {
            self.commits.resize(word + 1, 0);
        }
        self.commits[word] |= 1 << bit;
    }

    /// The open interval of a time. Warm-up and window do not share one: intervals begin anew when the window opens.
    fn interval(&mut self, end: u64) -> &mut Interval {
        let index = self.index(end).max(self.first_open);
        while self.first_open + self.open_intervals.len() as u64 <= index {
            let next = self.first_open + self.open_intervals.len() as u64;
            let fresh = self.fresh(next);
            self.open_intervals.push_back(fresh);
        }
        &mut self.open_intervals[(index - self.first_open) as usize]
    }

    fn warmup_intervals(&self) -> u64 {
        self.opens.div_ceil(INTERVAL)
    }

    fn index(&self, time: u64) -> u64 {
        if time < self.opens {
            time / INTERVAL
        } else {
            self.warmup_intervals() + (time - self.opens) / INTERVAL
        }
    }

    fn bounds(&self, index: u64) -> (u64, u64) {
        let warmup = self.warmup_intervals();
        if index < warmup {
            (index * INTERVAL, ((index + 1) * INTERVAL).min(self.opens))
        } else {
            let start = self.opens + (index - warmup) * INTERVAL;
            (start, start + INTERVAL)
        }
    }

    fn fresh(&self, index: u64) -> Interval {
        let (start, end) = self.bounds(index);
        Interval {
            trial: self.trial.clone(),
            is_warmup: index < self.warmup_intervals(),
            start: Nanos(start),
            length: Nanos(end - start),
            failed: 0,
            retries: 0,
            transaction: latency::histogram(),
            statements: self.kinds.iter().map(|kind| ((*kind).to_owned(), latency::histogram())).collect(),
        }
    }

    /// The next interval that is complete at a time, also when nothing happened in it.
    pub(crate) fn complete(&mut self, now: u64) -> Option<Interval> {
        let (_, end) = self.bounds(self.first_open);
        if end + SETTLING > now {
            return None;
        }
        let interval = self.open_intervals.pop_front().unwrap_or_else(|| self.fresh(self.first_open));
        self.first_open += 1;
        Some(interval)
    }

    /// All intervals that are left at the end; the last is cut to the end of the trial.
    pub(crate) fn rest(&mut self, end: u64) -> Vec<Interval> {
        let mut rest: Vec<Interval> = self.open_intervals.drain(..).collect();
        if let Some(last) = rest.last_mut() {
            let used = end.saturating_sub(last.start.0).clamp(1, last.length.0);
            last.length = Nanos(used);
        }
        rest
    }

    /// Counted commits so far.
    pub(crate) fn committed(&self) -> u64 {
        self.committed
    }

    /// End of the last counted sample.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// The longest time without a commit within the window and when it began, in nanoseconds since the window opened,
    /// to 10 ms.
    pub(crate) fn longest_gap(&self, measured: u64) -> (u64, u64) {
        let slots = measured / GAP_SLOT;
        let (mut longest, mut at, mut run) = (0, 0, 0);
        for slot in 0..slots {
            let word = self.commits.get((slot / 64) as usize).copied().unwrap_or(0);
            if word >> (slot % 64) & 1 == 1 {
                run = 0;
                continue;
            }
            run += 1;
            if run > longest {
                (longest, at) = (run, slot + 1 - run);
            }
        }
        (longest * GAP_SLOT, at * GAP_SLOT)
    }

    /// Summary of committed transactions.
    pub(crate) fn transaction(&self) -> LatencySummary {
        LatencySummary::from(&self.transaction)
    }

    /// Summary per statement kind that occurred.
    pub(crate) fn statements(&self) -> Vec<StatementLatency> {
        self.kinds
            .iter()
            .zip(&self.statements)
            .filter(|(_, histogram)| !histogram.is_empty())
            .map(|(kind, histogram)| StatementLatency { name: (*kind).to_owned(), latency: histogram.into() })
            .collect()
    }
}

//! pgbench's counters: transactions by outcome with their times, and the same per command.

use dyno_model::counters::TrialCounters;

/// Sums of times, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Times {
    pub(crate) count: u64,
    /// Minimum; 0 without values.
    pub(crate) min: f64,
    /// Maximum; 0 without values.
    pub(crate) max: f64,
    pub(crate) sum: f64,
    /// Sum of squares.
    pub(crate) squares: f64,
}

impl Times {
    pub(crate) fn add(&mut self, value: f64) {
        self.merge(&Self { count: 1, min: value, max: value, sum: value, squares: value * value });
    }

    /// Adds all values of another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// As numbers, for [`Self::from_counts`].
    pub(crate) fn export_counts(&self) -> [u64; 5] {
        let [min, max, sum, squares] =
            [self.min, self.max, self.sum, self.squares].map(f64::to_bits);
        [self.count, min, max, sum, squares]
    }

    /// Reads what [`Self::export_counts`] returned.
    pub(crate) fn from_counts(next: &mut impl FnMut() -> u64) -> Self {
        let count = next();
        let [min, max, sum, squares] = [(); 4].map(|()| f64::from_bits(next()));
        Self { count, min, max, sum, squares }
    }

    /// Mean; NaN without values.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Standard deviation; NaN without values.
    pub(crate) fn deviation(&self) -> f64 {
        // Rounding can make a variance of zero negative.
        (self.squares / self.count as f64 - self.mean() * self.mean()).max(0.0).sqrt()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionOutcome {
    /// It was completed.
    Done,
    /// It was so late that it was not started.
    Skipped,
    /// A serialization failure without a further try.
    Serialization,
    /// A deadlock without a further try.
    Deadlock,
}

/// A finished transaction, for counting and logging.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Finished {
    pub(crate) outcome: TransactionOutcome,
    /// From its intended start to its end, microseconds; 0 unless it is done.
    pub(crate) latency: f64,
    /// From its intended start to its start, microseconds; 0 unless it is done.
    pub(crate) lag: f64,
    /// Number of tries; 0 when it was skipped.
    pub(crate) tries: u32,
}

/// Counts of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Tally {
    pub(crate) done: u64,
    /// Not started because they were late.
    pub(crate) skipped: u64,
    /// Tries after the first, summed over all transactions.
    pub(crate) retries: u64,
    /// Transactions with more than one try.
    pub(crate) retried: u64,
    /// Given up after a serialization failure.
    pub(crate) serialization_failures: u64,
    /// Given up after a deadlock.
    pub(crate) deadlock_failures: u64,
    /// Completed, but over the latency limit.
    pub(crate) late: u64,
    /// Of completed ones.
    pub(crate) latency: Times,
    /// Of completed ones; empty without a rate.
    pub(crate) lag: Times,
}

impl Tally {
    /// Counts a transaction. `has_rate` tells whether its lag is meaningful.
    pub(crate) fn count(
        &mut self,
        finished: &Finished,
        has_rate: bool,
        latency_limit: Option<i64>,
    ) {
        if finished.outcome == TransactionOutcome::Skipped {
            self.skipped += 1;
            return;
        }
        if finished.tries > 1 {
            self.retries += u64::from(finished.tries - 1);
            self.retried += 1;
        }
        match finished.outcome {
            TransactionOutcome::Done => {
                self.done += 1;
                self.latency.add(finished.latency);
                if has_rate {
                    self.lag.add(finished.lag);
                }
                self.late +=
                    u64::from(latency_limit.is_some_and(|limit| finished.latency > limit as f64));
            }
            TransactionOutcome::Serialization => self.serialization_failures += 1,
            TransactionOutcome::Deadlock => self.deadlock_failures += 1,
            TransactionOutcome::Skipped => {}
        }
    }

    /// Adds the counts of another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.skipped += other.skipped;
        self.retries += other.retries;
        self.retried += other.retried;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.late += other.late;
        self.latency.merge(&other.latency);
        self.lag.merge(&other.lag);
    }

    /// As numbers, for [`Self::from_counts`].
    pub(crate) fn export_counts(&self) -> Vec<u64> {
        let counts = [
            self.done,
            self.skipped,
            self.retries,
            self.retried,
            self.serialization_failures,
            self.deadlock_failures,
            self.late,
        ];
        [&counts[..], &self.latency.export_counts(), &self.lag.export_counts()].concat()
    }

    /// Reads what [`Self::export_counts`] returned.
    pub(crate) fn from_counts(next: &mut impl FnMut() -> u64) -> Self {
        Self {
            done: next(),
            skipped: next(),
            retries: next(),
            retried: next(),
            serialization_failures: next(),
            deadlock_failures: next(),
            late: next(),
            latency: Times::from_counts(next),
            lag: Times::from_counts(next),
        }
    }

    /// Transactions given up.
    pub(crate) fn failures(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures
    }

    /// Differences between the engine's counters, which are independent of this tally, and this
    /// tally, as messages; empty when they agree. Both count the same transactions, except for
    /// those of aborted clients and clients that were cut off, which are only in the engine's
    /// counters.
    pub(crate) fn differences(&self, counters: &TrialCounters) -> Vec<String> {
        let pairs = [
            ("committed = done", counters.committed, self.done),
            ("failed = failures", counters.failed, self.failures()),
            ("skipped = skipped", counters.skipped, self.skipped),
            ("retries = retries", counters.retries, self.retries),
        ];
        let differ = pairs.into_iter().filter(|(_, counters, tally)| counters != tally);
        differ
            .map(|(what, counters, tally)| format!("{what}: {counters} against {tally}"))
            .collect()
    }

    /// All transactions.
    pub(crate) fn total(&self) -> u64 {
        self.done + self.skipped + self.failures()
    }
}

/// Counts of one command.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CommandTally {
    /// Executions that succeeded.
    pub(crate) times: Times,
    /// Failures that ended a transaction's tries.
    pub(crate) failures: u64,
    /// Failures after which the transaction was retried.
    pub(crate) retries: u64,
}

impl CommandTally {
    /// As numbers, for [`Self::from_counts`].
    pub(crate) fn export_counts(&self) -> Vec<u64> {
        [&[self.failures, self.retries][..], &self.times.export_counts()].concat()
    }

    /// Reads what [`Self::export_counts`] returned.
    pub(crate) fn from_counts(next: &mut impl FnMut() -> u64) -> Self {
        Self { failures: next(), retries: next(), times: Times::from_counts(next) }
    }

    /// Adds the counts of another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.failures += other.failures;
        self.retries += other.retries;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(outcome: TransactionOutcome, latency: f64, tries: u32) -> Finished {
        Finished { outcome, latency, lag: 1.0, tries }
    }

    #[test]
    fn transactions_are_counted_by_their_outcome() {
        let mut tally = Tally::default();
        tally.count(&finished(TransactionOutcome::Done, 10.0, 1), false, Some(15));
        tally.count(&finished(TransactionOutcome::Done, 20.0, 3), false, Some(15));
        tally.count(&finished(TransactionOutcome::Deadlock, 0.0, 2), false, Some(15));
        tally.count(&finished(TransactionOutcome::Serialization, 0.0, 1), false, Some(15));
        tally.count(&finished(TransactionOutcome::Skipped, 0.0, 0), false, Some(15));
        assert_eq!((tally.done, tally.failures(), tally.skipped, tally.total()), (2, 2, 1, 5));
        assert_eq!((tally.retried, tally.retries, tally.late), (2, 3, 1));
        assert_eq!((tally.latency.mean(), tally.latency.deviation()), (15.0, 5.0));
        assert_eq!(tally.lag.count, 0);
    }

    #[test]
    fn a_tally_that_differs_from_the_counters_is_reported() {
        let mut tally = Tally::default();
        tally.count(&finished(TransactionOutcome::Done, 10.0, 3), false, None);
        tally.count(&finished(TransactionOutcome::Skipped, 0.0, 0), false, None);
        let counters =
            TrialCounters { committed: 1, skipped: 1, retries: 2, ..TrialCounters::default() };
        assert_eq!(tally.differences(&counters), [""; 0]);
        let as_failure = TrialCounters { failed: 1, skipped: 0, ..counters };
        assert_eq!(
            tally.differences(&as_failure),
            ["failed = failures: 1 against 0", "skipped = skipped: 0 against 1"]
        );
    }

    #[test]
    fn counts_of_another_process_are_those_that_it_had() {
        let mut tally = Tally::default();
        for (ending, latency, tries) in [
            (TransactionOutcome::Done, 20.5, 3),
            (TransactionOutcome::Deadlock, 0.0, 2),
            (TransactionOutcome::Skipped, 0.0, 0),
        ] {
            tally.count(&finished(ending, latency, tries), true, Some(15));
        }
        let mut exported = tally.export_counts().into_iter();
        assert_eq!(Tally::from_counts(&mut || exported.next().expect("there are as many")), tally);
        assert_eq!(exported.next(), None);
        let command = CommandTally { times: tally.latency, failures: 3, retries: 5 };
        let mut exported = command.export_counts().into_iter();
        let read = CommandTally::from_counts(&mut || exported.next().expect("there are as many"));
        assert_eq!((read, exported.next()), (command, None));
    }

    #[test]
    fn sums_can_be_added_in_any_order() {
        let mut one = Times::default();
        let mut two = Times::default();
        let mut all = Times::default();
        for value in [3.0, -1.0, 7.0, 7.0] {
            let part = if value > 3.0 { &mut one } else { &mut two };
            part.add(value);
            all.add(value);
        }
        one.merge(&two);
        one.merge(&Times::default());
        assert_eq!(
            (one.count, one.min, one.max, one.sum, one.squares),
            (4, -1.0, 7.0, 16.0, 108.0)
        );
        assert_eq!(one.squares, all.squares);
    }
}

//! The recorder: samples and counters of one worker.
//!
//! Histograms of all workers would cost more memory than all connections together. Workers
//! therefore only append samples, and the coordinator sorts them into the process's only set of
//! histograms. Appending costs a few nanoseconds; sorting runs in batches that stay in cache.
//!
//! A lock protects a recorder. The coordinator takes it too: twice per interval for the available
//! samples, and up to four times a second to detect stalls. An interval is therefore complete when
//! it ends, even if a worker is stuck in a statement, and the counters of a worker that never
//! returns can be closed without it.

use super::SampleNames;
use super::sample::{Occurrence, Sample};
use crate::window::Period;
use dyno_model::counters::{
    OutcomeClass, ScriptCounter, ScriptCounters, StatementCounters, TransactionCounters,
    TrialCounters,
};
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureLog;
use dyno_model::sync::lock;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard};

/// Samples of a worker that drives many clients, handed over at once: 32 KiB.
pub(crate) const BATCH: usize = 2048;
/// Batch size of a worker that drives one client: 4 KiB, because there are as many of these workers
/// as clients. It grows if a client fills it quickly.
pub(crate) const SMALL_BATCH: usize = 256;
/// A batch that was filled sooner than this is too small, nanoseconds: handing over costs a system
/// call.
const FILLED_SOON: u64 = 2_000_000;
/// Maximum number of samples that one call of [`SharedRecorder::record`] adds.
const SAMPLES_PER_RECORD: usize = 8;

/// The index for transactions without a name.
pub(crate) const UNNAMED: u16 = 0;

/// Samples on their way to the coordinator.
pub(crate) struct Batch {
    /// Number of the worker that recorded them.
    pub(crate) worker: u32,
    pub(crate) samples: Vec<Sample>,
}

/// Totals including warm-up; audits and server counters are compared with them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Transactions started.
    pub started: u64,
    /// Transactions acknowledged as committed.
    pub committed: u64,
    /// Failed transactions whose outcome is unknown: their commit was sent, and no answer came or
    /// the answer leaves it open.
    pub in_doubt: u64,
    /// Transactions that failed permanently.
    pub failed: u64,
    /// Transactions that were skipped because they were too late.
    pub skipped: u64,
    /// Statements sent, by kind, and those that returned an error.
    pub sent: Vec<u64>,
    pub refused: Vec<u64>,
    /// Committed transactions, each by the share of its time that lies in the measured window
    /// ([`crate::window::MeasurementWindow::measured_share`]).
    pub weighted_commits: f64,
    /// Totals by transaction name, if there are names.
    pub by_name: Vec<NameTotals>,
}

/// The values of [`Totals`] for the transactions of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NameTotals {
    pub started: u64,
    pub committed: u64,
    pub in_doubt: u64,
    pub failed: u64,
    pub weighted_commits: f64,
}

impl NameTotals {
    fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.in_doubt += other.in_doubt;
        self.failed += other.failed;
        self.weighted_commits += other.weighted_commits;
    }
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.in_doubt += other.in_doubt;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.weighted_commits += other.weighted_commits;
        for (mine, theirs) in [(&mut self.sent, &other.sent), (&mut self.refused, &other.refused)] {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        let (mine, theirs) = (&mut self.by_name, &other.by_name);
        mine.resize(mine.len().max(theirs.len()), NameTotals::default());
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.add(theirs));
    }

    /// The totals of the transactions of these names. Statements are not separated by
    /// name.
    pub(crate) fn of_names(&self, names: Range<usize>) -> Self {
        let mut sum = NameTotals::default();
        self.by_name.get(names).unwrap_or_default().iter().for_each(|name| sum.add(name));
        let NameTotals { started, committed, in_doubt, failed, weighted_commits } = sum;
        Self { started, committed, in_doubt, failed, weighted_commits, ..Self::default() }
    }

    /// Transactions cut off; the database may or may not contain each of them.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.started - self.committed - self.failed - self.skipped
    }
}

/// The kind and outcome of one statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementOk {
    pub(crate) kind_index: u16,
    /// Nanoseconds since the epoch.
    pub(crate) end: u64,
    /// Nanoseconds.
    pub(crate) duration: u64,
    pub(crate) rows: u64,
    pub(crate) class: OutcomeClass,
}

/// The counters and samples of one worker.
pub(crate) struct Recorder {
    samples: Vec<Sample>,
    batch_size: usize,
    /// Number of batches sent to the channel.
    pub(crate) batches_sent: u64,
    pub(crate) counters: TrialCounters,
    totals: Totals,
    /// Counters of the script itself.
    pub(crate) script_counters: ScriptCounters,
    /// The failures recorded in the window.
    pub(crate) failures: FailureLog,
    /// Number of commits and of events of scripts.
    pub(crate) commits_and_events: u64,
    /// Time of the last of them.
    pub(crate) last_commit: u64,
}

impl Recorder {
    pub(crate) fn new(kinds: &SampleNames, batch: usize) -> Self {
        let statement =
            |name: &&str| StatementCounters { name: (*name).to_owned(), ..Default::default() };
        let transaction =
            |name: &&str| TransactionCounters { name: (*name).to_owned(), ..Default::default() };
        let statements: Vec<StatementCounters> = kinds.statements.iter().map(statement).collect();
        Self {
            samples: Vec::with_capacity(batch),
            batch_size: batch,
            batches_sent: 0,
            totals: Totals {
                sent: vec![0; statements.len()],
                refused: vec![0; statements.len()],
                by_name: vec![NameTotals::default(); kinds.transactions.len()],
                ..Default::default()
            },
            counters: TrialCounters {
                statements,
                transactions: kinds.transactions.iter().map(transaction).collect(),
                ..Default::default()
            },
            script_counters: ScriptCounters::default(),
            failures: FailureLog::default(),
            commits_and_events: 0,
            last_commit: 0,
        }
    }

    #[inline]
    fn push(&mut self, occurrence: Occurrence, end: u64, duration: u64, period: Period) {
        self.samples.push(Sample::new(occurrence, end, duration, period.is_measured()));
    }

    pub(crate) fn statement_sent(&mut self, kind_index: u16, period: Period) {
        self.totals.sent[usize::from(kind_index)] += 1;
        if period.is_measured() {
            self.counters.statements[usize::from(kind_index)].sent += 1;
        }
    }

    pub(crate) fn statement_ok(&mut self, answered: &StatementOk, period: Period) {
        let StatementOk { kind_index, end, duration, rows, class } = *answered;
        if period.is_measured() {
            let count = &mut self.counters.statements[usize::from(kind_index)];
            count.ok += 1;
            count.rows += rows;
            self.counters.outcomes.count(class);
        }
        self.push(Occurrence::Statement(kind_index, class), end, duration, period);
    }

    pub(crate) fn statement_failed(&mut self, kind_index: u16, now: u64, period: Period) {
        self.totals.refused[usize::from(kind_index)] += 1;
        if period.is_measured() {
            self.counters.statements[usize::from(kind_index)].failed += 1;
        }
        self.push(Occurrence::StatementFailed, now, 0, period);
    }

    /// Begins a transaction; `name_index` is the index of its name among those of the workload,
    /// here and below, or [`UNNAMED`].
    pub(crate) fn started(&mut self, name_index: u16, period: Period) {
        self.totals.started += 1;
        self.with_totals(name_index, |totals| totals.started += 1);
        if period.is_measured() {
            self.counters.started += 1;
            self.counters.attempts += 1;
            self.with_counters(name_index, |count| count.started += 1);
        }
    }

    #[inline]
    fn with_counters(&mut self, name_index: u16, update: impl FnOnce(&mut TransactionCounters)) {
        if let Some(of_name) = self.counters.transactions.get_mut(usize::from(name_index)) {
            update(of_name);
        }
    }

    #[inline]
    fn with_totals(&mut self, name_index: u16, update: impl FnOnce(&mut NameTotals)) {
        if let Some(of_name) = self.totals.by_name.get_mut(usize::from(name_index)) {
            update(of_name);
        }
    }

    /// Takes back a started transaction: it is neither a commit nor a failure.
    pub(crate) fn withdrawn(&mut self, period: Period) {
        self.totals.started -= 1;
        if period.is_measured() {
            self.counters.started -= 1;
            self.counters.attempts -= 1;
        }
    }

    /// Records the commit of a transaction that ran from `start` to `end`, with the share of its
    /// work in the window.
    pub(crate) fn committed(
        &mut self,
        name_index: u16,
        start: u64,
        end: u64,
        share: f64,
        period: Period,
    ) {
        self.totals.committed += 1;
        self.totals.weighted_commits += share;
        self.with_totals(name_index, |totals| {
            totals.committed += 1;
            totals.weighted_commits += share;
        });
        if period.is_measured() {
            self.counters.committed += 1;
            self.with_counters(name_index, |count| count.committed += 1);
        }
        self.record_activity(end);
        let duration = end.saturating_sub(start);
        self.samples.push(
            Sample::new(Occurrence::Committed, end, duration, period.is_measured())
                .named(name_index),
        );
    }

    pub(crate) fn retried(&mut self, name_index: u16, kind: FailureKind, now: u64, period: Period) {
        if period.is_measured() {
            self.with_counters(name_index, |count| count.retries += 1);
            self.counters.attempts += 1;
            self.counters.retries += 1;
            *self.counters.retries_by_kind.entry(kind).or_default() += 1;
        }
        self.push(Occurrence::Retried(kind), now, 0, period);
    }

    /// Records the permanent failure of a transaction whose time began at `start`.
    pub(crate) fn failed(
        &mut self,
        name_index: u16,
        kind: FailureKind,
        start: u64,
        now: u64,
        is_in_doubt: bool,
        period: Period,
    ) {
        self.totals.failed += 1;
        self.totals.in_doubt += u64::from(is_in_doubt);
        self.with_totals(name_index, |totals| {
            totals.failed += 1;
            totals.in_doubt += u64::from(is_in_doubt);
        });
        if period.is_measured() {
            self.counters.failed += 1;
            self.counters.in_doubt += u64::from(is_in_doubt);
            *self.counters.failed_by_kind.entry(kind).or_default() += 1;
            self.with_counters(name_index, |count| count.failed += 1);
        }
        let age = now.saturating_sub(start);
        self.samples.push(
            Sample::new(Occurrence::Failed(kind), now, age, period.is_measured()).named(name_index),
        );
    }

    /// Cuts off a transaction whose time began at `start`. In the counters it shows as started
    /// without an end.
    pub(crate) fn cut_off(&mut self, name_index: u16, start: u64, now: u64, period: Period) {
        let age = now.saturating_sub(start);
        self.samples.push(
            Sample::new(Occurrence::CutOff, now, age, period.is_measured()).named(name_index),
        );
    }

    /// Records the delay of a transaction for which a free client waited, in nanoseconds.
    pub(crate) fn record_start_delay(&mut self, now: u64, lag: u64, period: Period) {
        self.push(Occurrence::StartDelay, now, lag, period);
    }

    /// Records that a transaction, whose time began at `start`, was skipped because it was too
    /// late.
    pub(crate) fn skipped(&mut self, start: u64, now: u64, period: Period) {
        self.totals.skipped += 1;
        if period.is_measured() {
            self.counters.skipped += 1;
            self.counters.attempts -= 1;
        }
        self.push(Occurrence::Skipped, now, now.saturating_sub(start), period);
    }

    /// Records that a client without a connection failed to reconnect. No counter includes it: the
    /// client will try again.
    pub(crate) fn not_connected(&mut self, kind: FailureKind, now: u64, period: Period) {
        self.push(Occurrence::NotConnected(kind), now, 0, period);
    }

    pub(crate) fn reconnected(&mut self, now: u64, period: Period) {
        self.counters.reconnects += u64::from(period.is_measured());
        self.push(Occurrence::Reconnected, now, 0, period);
    }

    /// Adds to a counter that a script maintains itself.
    pub(crate) fn add_to_counter(
        &mut self,
        counter: ScriptCounter,
        n: u64,
        now: u64,
        period: Period,
    ) {
        if period.is_measured() {
            self.script_counters.count(counter, n);
        }
        if counter == ScriptCounter::Events {
            self.record_activity(now);
        }
        self.push(Occurrence::ScriptCount(counter), now, n, period);
    }

    fn record_activity(&mut self, now: u64) {
        self.commits_and_events += 1;
        self.last_commit = now;
    }

    /// Statements sent so far, warm-up included.
    pub(crate) fn statements_sent(&self) -> u64 {
        self.totals.sent.iter().sum()
    }

    /// Clients in a transaction now.
    pub(crate) fn in_flight(&self) -> u64 {
        self.totals.unfinished()
    }

    /// Exchanges the current samples for an empty vector, which must have room for a batch.
    pub(crate) fn take_samples(&mut self, empty: &mut Vec<Sample>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.samples, empty);
    }

    /// Enlarges the next batch if this one was filled quickly.
    fn enlarge_small_batch(&mut self) {
        if let [first, .., last] = self.samples.as_slice()
            && last.end().saturating_sub(first.end()) < FILLED_SOON
        {
            self.batch_size = (2 * self.batch_size).min(BATCH.max(self.batch_size));
        }
    }

    /// An empty vector with room for a batch.
    pub(crate) fn empty_batch(&self) -> Vec<Sample> {
        Vec::with_capacity(self.batch_size)
    }

    /// The final counters: transactions that started and did not end are unfinished.
    pub(crate) fn close(&self) -> (TrialCounters, Totals) {
        let mut counters = self.counters.clone();
        counters.unfinished =
            counters.started - counters.committed - counters.failed - counters.skipped;
        for count in &mut counters.statements {
            count.unfinished = count.sent - count.ok - count.failed;
        }
        for count in &mut counters.transactions {
            count.unfinished = count.started - count.committed - count.failed;
        }
        (counters, self.totals.clone())
    }
}

/// A recorder that its worker writes and the coordinator reads. If a worker panics, its counters
/// remain as written so far.
#[derive(Clone)]
pub(crate) struct SharedRecorder {
    worker: u32,
    recorder: Arc<Mutex<Recorder>>,
    batches: SyncSender<Batch>,
}

impl SharedRecorder {
    pub(crate) fn new(
        worker: u32,
        kinds: &SampleNames,
        batch: usize,
        batches: SyncSender<Batch>,
    ) -> Self {
        Self { worker, recorder: Arc::new(Mutex::new(Recorder::new(kinds, batch))), batches }
    }

    /// The recorder alone, for the coordinator: it must not hold a sender, or it would never notice
    /// that the last worker has ended.
    pub(crate) fn inner(&self) -> Arc<Mutex<Recorder>> {
        Arc::clone(&self.recorder)
    }

    /// Records something. A full batch is sent; when the coordinator is behind, the worker waits
    /// for it without holding the lock.
    #[inline]
    pub(crate) fn record<R>(&self, write: impl FnOnce(&mut Recorder) -> R) -> R {
        self.record_and_flush(write).0
    }

    /// As [`Self::record`]; also returns true when it sent a full batch, which may have taken time.
    #[inline]
    pub(crate) fn record_and_flush<R>(&self, write: impl FnOnce(&mut Recorder) -> R) -> (R, bool) {
        let mut recorder = lock(&self.recorder);
        let result = write(&mut recorder);
        let is_full = recorder.samples.len() + SAMPLES_PER_RECORD > recorder.batch_size;
        if is_full {
            self.send_batch(recorder);
        }
        (result, is_full)
    }

    #[cold]
    fn send_batch(&self, mut recorder: MutexGuard<'_, Recorder>) {
        recorder.enlarge_small_batch();
        let empty = recorder.empty_batch();
        let samples = std::mem::replace(&mut recorder.samples, empty);
        recorder.batches_sent += 1;
        drop(recorder);
        // If the receiver is gone, this worker was left behind and its counters are closed.
        let _ = self.batches.send(Batch { worker: self.worker, samples });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answered(class: OutcomeClass) -> StatementOk {
        StatementOk { kind_index: 1, end: 2, duration: 1, rows: 1, class }
    }

    proptest! {
        #[test]
        fn the_counters_balance_whatever_happens(events in prop::collection::vec((0_u8..7, any::<bool>()), 0..300)) {
            let kinds = SampleNames { statements: vec!["select", "update"], transactions: vec!["read", "pay"], ..SampleNames::default() };
            let mut recorder = Recorder::new(&kinds, 16);
            let mut names = events.len() as u16;
            // Transactions and statements that are open, by whether they count.
            let (mut open, mut sent) = ([[0_u32; 2]; 2], [0_u32; 2]);
            for (event, is_measured) in events {
                let side = usize::from(is_measured);
                let period = [Period::WarmUp, Period::Measured][side];
                names = names.wrapping_mul(31).wrapping_add(u16::from(event));
                let name = names >> 3 & 1;
                let open = &mut open[side][usize::from(name)];
                match event {
                    0 => { recorder.started(name, period); *open += 1 }
                    1 if *open > 0 => { recorder.committed(name, 1, 2, 1.0, period); *open -= 1 }
                    2 if *open > 0 => { recorder.failed(name, FailureKind::Deadlock, 1, 2, false, period); *open -= 1 }
                    3 if *open > 0 => recorder.retried(name, FailureKind::Serialization, 2, period),
                    4 => { recorder.statement_sent(1, period); sent[side] += 1 }
                    5 if sent[side] > 0 => {
                        recorder.statement_ok(&answered(OutcomeClass::Write), period);
                        sent[side] -= 1;
                    }
                    6 if sent[side] > 0 => { recorder.statement_failed(1, 2, period); sent[side] -= 1 }
                    _ => {}
                }
            }
            let (counters, totals) = recorder.close();
            prop_assert!(counters.check().is_empty(), "{:?}", counters.check());
            let unfinished: Vec<u64> = counters.transactions.iter().map(|count| count.unfinished).collect();
            prop_assert_eq!(unfinished, open[1].map(u64::from));
            prop_assert_eq!(totals.unfinished(), u64::from(open.iter().flatten().sum::<u32>()));
            let named = totals.of_names(0..2);
            prop_assert_eq!((named.started, named.committed), (totals.started, totals.committed));
            prop_assert_eq!((named.failed, named.weighted_commits.to_bits()), (totals.failed, totals.weighted_commits.to_bits()));
            prop_assert_eq!(totals.of_names(1..2).unfinished(), u64::from(open[0][1] + open[1][1]));
        }

        #[test]
        fn the_counters_of_transactions_without_names_balance(events in prop::collection::vec((0_u8..4, any::<bool>()), 0..300)) {
            let mut recorder = Recorder::new(&SampleNames::default(), 16);
            let mut open = [0_u32; 2];
            for (event, is_measured) in events {
                let period = [Period::WarmUp, Period::Measured][usize::from(is_measured)];
                let open = &mut open[usize::from(is_measured)];
                match event {
                    0 => { recorder.started(0, period); *open += 1 }
                    1 if *open > 0 => { recorder.committed(0, 1, 2, 1.0, period); *open -= 1 }
                    2 if *open > 0 => { recorder.withdrawn(period); *open -= 1 }
                    3 if *open > 0 => { recorder.skipped(1, 2, period); *open -= 1 }
                    _ => {}
                }
            }
            let (counters, totals) = recorder.close();
            prop_assert!(counters.check().is_empty(), "{:?}", counters.check());
            prop_assert_eq!(counters.unfinished, u64::from(open[1]));
            prop_assert_eq!(totals.unfinished(), u64::from(open[0] + open[1]));
        }
    }

    #[test]
    fn how_a_transaction_ended_goes_on_under_its_name() {
        let kinds = SampleNames { transactions: vec!["read", "pay"], ..SampleNames::default() };
        let mut recorder = Recorder::new(&kinds, 16);
        recorder.committed(1, 1, 2, 1.0, Period::Measured);
        recorder.failed(1, FailureKind::Deadlock, 1, 2, false, Period::Measured);
        recorder.cut_off(1, 1, 2, Period::Measured);
        let batches_sent: Vec<_> =
            recorder.samples.iter().map(|sample| (sample.occurrence(), sample.name())).collect();
        let ends =
            [Occurrence::Committed, Occurrence::Failed(FailureKind::Deadlock), Occurrence::CutOff];
        assert_eq!(batches_sent, ends.map(|end| (end, 1)));
    }

    #[test]
    fn a_full_batch_leaves_and_nothing_is_lost_on_the_way() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(100);
        let shared = SharedRecorder::new(3, &SampleNames::default(), 32, sender);
        for end in 0..100 {
            shared.record(|recorder| recorder.committed(0, 0, end, 1.0, Period::Measured));
        }
        let mut rest = Vec::new();
        lock(&shared.inner()).take_samples(&mut rest);
        let batches_sent = lock(&shared.inner()).batches_sent;
        let batches: Vec<Batch> = receiver.try_iter().collect();
        assert_eq!(batches.len() as u64, batches_sent);
        assert!(batches.iter().all(|batch| batch.worker == 3));
        let ends: Vec<u64> =
            batches.iter().flat_map(|batch| &batch.samples).chain(&rest).map(|s| s.end()).collect();
        assert_eq!(ends, (0..100).collect::<Vec<u64>>());
    }
}

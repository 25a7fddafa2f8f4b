//! What a worker writes down on the hot path: sixteen bytes per time, handed over in batches.
//!
//! Histograms are big (tens of kilobytes each) and there is one per statement kind; one set per worker would cost more
//! memory than all connections together. So workers only append samples, and the coordinator sorts them into the one set of
//! histograms that the process has. Appending costs a few nanoseconds; sorting runs in batches that stay in cache.

use dyno_model::failure::FailureKind;
use dyno_model::ledger::{Ledger, StatementCount};
use std::sync::mpsc::Sender;

/// Samples handed over at once: 32 KiB.
const BATCH: usize = 2048;
/// Samples are handed over at least this often while any arrive, so that the screen moves. Nanoseconds.
const FLUSH_EVERY: u64 = 250_000_000;

/// What a sample is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A committed transaction.
    Committed,
    /// A transaction given up; its time is not recorded.
    Failed,
    /// A retry.
    Retried,
    /// A successful statement of a kind.
    Statement(u16),
}

/// One time. Packed: times of a trial fit 48 bits of nanoseconds (three days).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// End, nanoseconds since the epoch, and above bit 48 the subject.
    end_and_subject: u64,
    /// Duration in nanoseconds, and in bit 63 whether it counts (else it is warm-up).
    duration_and_counted: u64,
}

const TIME_MASK: u64 = (1 << 48) - 1;
const COUNTED: u64 = 1 << 63;

impl Sample {
    fn new(subject: Subject, end: u64, duration: u64, is_counted: bool) -> Self {
        let code = match subject {
            Subject::Committed => 0,
            Subject::Failed => 1,
            Subject::Retried => 2,
            Subject::Statement(kind) => u64::from(kind) + 3,
        };
        let counted = if is_counted { COUNTED } else { 0 };
        Self {
            end_and_subject: end & TIME_MASK | code << 48,
            duration_and_counted: duration.min(TIME_MASK) | counted,
        }
    }

    pub(crate) fn subject(self) -> Subject {
        match self.end_and_subject >> 48 {
            0 => Subject::Committed,
            1 => Subject::Failed,
            2 => Subject::Retried,
            code => Subject::Statement((code - 3) as u16),
        }
    }

    pub(crate) fn end(self) -> u64 {
        self.end_and_subject & TIME_MASK
    }

    pub(crate) fn duration(self) -> u64 {
        self.duration_and_counted & TIME_MASK
    }

    pub(crate) fn is_counted(self) -> bool {
        self.duration_and_counted & COUNTED != 0
    }
}

/// Everything that counts whether in warm-up or not; audits and server counters are compared with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transactions started.
    pub started: u64,
    /// Transactions acknowledged as committed.
    pub committed: u64,
    /// Failed transactions whose COMMIT was sent and not answered.
    pub in_doubt: u64,
    /// Transactions given up.
    pub failed: u64,
    /// Statements sent, by kind.
    pub sent: Vec<u64>,
    /// Nanoseconds that clients spent in transactions within the measured window, whatever became of these.
    pub busy: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.in_doubt += other.in_doubt;
        self.failed += other.failed;
        self.busy += other.busy;
        self.sent.resize(self.sent.len().max(other.sent.len()), 0);
        for (mine, theirs) in self.sent.iter_mut().zip(&other.sent) {
            *mine += theirs;
        }
    }

    /// Transactions cut off; each may or may not stand in the database.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.started - self.committed - self.failed
    }
}

/// The books and samples of one worker.
pub(crate) struct Recorder {
    samples: Vec<Sample>,
    flushed_at: u64,
    batches: Sender<Vec<Sample>>,
    ledger: Ledger,
    totals: Totals,
    /// Sum of the starts (within the window) of transactions that have not ended.
    open_starts: u64,
}

impl Recorder {
    pub(crate) fn new(kinds: &[&str], batches: Sender<Vec<Sample>>) -> Self {
        let statements = kinds
            .iter()
            .map(|name| StatementCount { name: (*name).to_owned(), ..Default::default() })
            .collect();
        Self {
            samples: Vec::with_capacity(BATCH),
            flushed_at: 0,
            batches,
            ledger: Ledger { statements, ..Default::default() },
            totals: Totals { sent: vec![0; kinds.len()], ..Default::default() },
            open_starts: 0,
        }
    }

    fn push(&mut self, sample: Sample) {
        self.samples.push(sample);
        if self.samples.len() == BATCH || sample.end() > self.flushed_at + FLUSH_EVERY {
            self.flushed_at = sample.end();
            self.flush();
        }
    }

    /// Hands over what there is.
    pub(crate) fn flush(&mut self) {
        if !self.samples.is_empty() {
            let batch = std::mem::replace(&mut self.samples, Vec::with_capacity(BATCH));
            // The coordinator listens until every worker has ended.
            let _ = self.batches.send(batch);
        }
    }

    pub(crate) fn statement_sent(&mut self, kind: u16, is_counted: bool) {
        self.totals.sent[usize::from(kind)] += 1;
        if is_counted {
            self.ledger.statements[usize::from(kind)].sent += 1;
        }
    }

    pub(crate) fn statement_ok(&mut self, kind: u16, start: u64, end: u64, rows: u64, is_counted: bool) {
        if is_counted {
            let count = &mut self.ledger.statements[usize::from(kind)];
            count.ok += 1;
            count.rows += rows;
        }
        self.push(Sample::new(Subject::Statement(kind), end, end - start, is_counted));
    }

    pub(crate) fn statement_failed(&mut self, kind: u16, is_counted: bool) {
        if is_counted {
            self.ledger.statements[usize::from(kind)].failed += 1;
        }
    }

    /// A client is in a transaction from `start` on, a time already clipped to the window.
    pub(crate) fn occupied(&mut self, start: u64) {
        self.open_starts += start;
    }

    /// It is no longer; both times are clipped to the window.
    pub(crate) fn released(&mut self, start: u64, end: u64) {
        self.open_starts -= start;
        self.totals.busy += end - start;
    }

    pub(crate) fn started(&mut self, is_counted: bool) {
        self.totals.started += 1;
        if is_counted {
            self.ledger.started += 1;
            self.ledger.attempts += 1;
        }
    }

    pub(crate) fn committed(&mut self, start: u64, end: u64, is_counted: bool) {
        self.totals.committed += 1;
        if is_counted {
            self.ledger.committed += 1;
        }
        self.push(Sample::new(Subject::Committed, end, end - start, is_counted));
    }

    pub(crate) fn retried(&mut self, kind: FailureKind, now: u64, is_counted: bool) {
        if is_counted {
            self.ledger.attempts += 1;
            self.ledger.retries += 1;
            *self.ledger.retries_by_kind.entry(kind).or_default() += 1;
        }
        self.push(Sample::new(Subject::Retried, now, 0, is_counted));
    }

    pub(crate) fn failed(&mut self, kind: FailureKind, now: u64, is_in_doubt: bool, is_counted: bool) {
        self.totals.failed += 1;
        self.totals.in_doubt += u64::from(is_in_doubt);
        if is_counted {
            self.ledger.failed += 1;
            self.ledger.in_doubt += u64::from(is_in_doubt);
            *self.ledger.failed_by_kind.entry(kind).or_default() += 1;
        }
        self.push(Sample::new(Subject::Failed, now, 0, is_counted));
    }

    pub(crate) fn reconnected(&mut self, is_counted: bool) {
        self.ledger.reconnects += u64::from(is_counted);
    }

    /// Statements sent so far, warm-up included.
    pub(crate) fn statements_sent(&self) -> u64 {
        self.totals.sent.iter().sum()
    }

    /// Closes the books: what was started and has no end is unfinished, and kept its client busy until `closes`.
    pub(crate) fn close(mut self, closes: u64) -> (Ledger, Totals) {
        self.flush();
        self.totals.busy += (self.totals.unfinished() * closes).saturating_sub(self.open_starts);
        let mut ledger = self.ledger;
        ledger.unfinished = ledger.started - ledger.committed - ledger.failed;
        for count in &mut ledger.statements {
            count.unfinished = count.sent - count.ok - count.failed;
        }
        (ledger, self.totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packed_sample_gives_back_what_went_in(
            kind in 0_u16..1000, end in 0_u64..TIME_MASK, duration in 0_u64..TIME_MASK, is_counted: bool
        ) {
            for subject in [Subject::Committed, Subject::Failed, Subject::Retried, Subject::Statement(kind)] {
                let sample = Sample::new(subject, end, duration, is_counted);
                prop_assert_eq!(sample.subject(), subject);
                prop_assert_eq!(sample.end(), end);
                prop_assert_eq!(sample.duration(), duration);
                prop_assert_eq!(sample.is_counted(), is_counted);
            }
        }

        #[test]
        fn the_books_balance_whatever_happens(events in prop::collection::vec((0_u8..7, any::<bool>()), 0..300)) {
            let (sender, _receiver) = std::sync::mpsc::channel();
            let mut recorder = Recorder::new(&["select", "update"], sender);
            // Transactions and statements that are open, by whether they count.
            let (mut open, mut sent) = ([0_u32; 2], [0_u32; 2]);
            for (event, is_counted) in events {
                let side = usize::from(is_counted);
                match event {
                    0 => { recorder.started(is_counted); open[side] += 1 }
                    1 if open[side] > 0 => { recorder.committed(1, 2, is_counted); open[side] -= 1 }
                    2 if open[side] > 0 => { recorder.failed(FailureKind::Deadlock, 2, false, is_counted); open[side] -= 1 }
                    3 if open[side] > 0 => recorder.retried(FailureKind::Serialization, 2, is_counted),
                    4 => { recorder.statement_sent(1, is_counted); sent[side] += 1 }
                    5 if sent[side] > 0 => { recorder.statement_ok(1, 1, 2, 1, is_counted); sent[side] -= 1 }
                    6 if sent[side] > 0 => { recorder.statement_failed(1, is_counted); sent[side] -= 1 }
                    _ => {}
                }
            }
            let (ledger, totals) = recorder.close(0);
            prop_assert!(ledger.check().is_empty(), "{:?}", ledger.check());
            prop_assert_eq!(ledger.unfinished, u64::from(open[1]));
            prop_assert_eq!(totals.unfinished(), u64::from(open[0] + open[1]));
        }
    }
}

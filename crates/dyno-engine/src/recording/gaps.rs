//! The longest gaps between commits, exact from the times of the commits, in memory that does not
//! grow with the length of the trial.
//!
//! A gap of a millisecond or more contains the end of a millisecond. The first and the last commit
//! of each millisecond are therefore enough to determine all such gaps exactly (the idea of
//! Gonzalez' maximum gap by buckets, 1975); they bound shorter gaps. Milliseconds with complete
//! samples are closed: they are merged into the longest gaps so far and discarded.

use dyno_model::record::{CommitGap, CommitSpan};
use dyno_model::units::Nanos;
use std::collections::VecDeque;

/// Width of a slot, nanoseconds.
const SLOT_NANOS: u64 = 1_000_000;
/// Number of longest gaps kept.
const GAPS_MAX: usize = 16;

/// First and last commit in a slot, nanoseconds since the slot began.
#[derive(Debug, Clone, Copy)]
struct Slot {
    first: u32,
    last: u32,
}

const EMPTY: Slot = Slot { first: u32::MAX, last: 0 };

/// Bounds of a gap, nanoseconds since the window opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    from: u64,
    to: u64,
}

impl Gap {
    fn length(self) -> u64 {
        self.to - self.from
    }
}

/// The gaps of one window. All times are nanoseconds since it opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    /// Index of the first slot that is not closed.
    first: u64,
    slots: VecDeque<Slot>,
    /// The last commit in closed slots; before the first one, the opening of the window.
    last_commit: u64,
    /// In descending order of length.
    longest: Vec<Gap>,
    /// The commits of closed slots, for the gaps of all generators together; `None` if not needed.
    spans: Option<Vec<CommitSpan>>,
}

impl Gaps {
    /// The same, and keeps the commits of closed slots until [`Self::take_spans`].
    pub(crate) fn keeping_spans(self) -> Self {
        Self { spans: Some(Vec::new()), ..self }
    }

    /// The commits of slots that were closed since the last call.
    pub(crate) fn take_spans(&mut self) -> Vec<CommitSpan> {
        self.spans.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records the commits of another generator.
    pub(crate) fn record_span(&mut self, span: CommitSpan) {
        self.record(span.0);
        self.record(span.1);
    }

    /// Records a commit at this time.
    #[inline]
    pub(crate) fn record(&mut self, end: u64) {
        let (slot, within) = (end / SLOT_NANOS, (end % SLOT_NANOS) as u32);
        let Some(at) = slot.checked_sub(self.first) else { return self.record_late(end) };
        let at = at as usize;
        if at >= self.slots.len() {
            self.slots.resize(at + 1, EMPTY);
        }
        let slot = &mut self.slots[at];
        slot.first = slot.first.min(within);
        slot.last = slot.last.max(within);
    }

    /// A sample that arrives after the waiting limit: it ends the gap that contains its time.
    #[cold]
    fn record_late(&mut self, end: u64) {
        if let Some(spans) = &mut self.spans {
            spans.push(CommitSpan(end, end));
        }
        if end > self.last_commit {
            self.keep_if_long(Gap { from: self.last_commit, to: end });
            self.last_commit = end;
        } else if let Some(at) = self.longest.iter().position(|gap| gap.from < end && end < gap.to)
        {
            let gap = self.longest.remove(at);
            self.keep_if_long(Gap { from: gap.from, to: end });
            self.keep_if_long(Gap { from: end, to: gap.to });
        }
    }

    /// Closes slots; all commits until then must have been recorded.
    pub(crate) fn close_slots(&mut self, until: u64) {
        let next = until / SLOT_NANOS;
        while self.first < next {
            let Some(slot) = self.slots.pop_front() else {
                self.first = next;
                return;
            };
            self.close_slot(slot);
            self.first += 1;
        }
    }

    fn close_slot(&mut self, slot: Slot) {
        if slot.first == u32::MAX {
            return;
        }
        let began = self.first * SLOT_NANOS;
        let span = CommitSpan(began + u64::from(slot.first), began + u64::from(slot.last));
        self.keep_if_long(Gap { from: self.last_commit, to: span.0 });
        self.last_commit = span.1;
        if let Some(spans) = &mut self.spans {
            spans.push(span);
        }
    }

    fn keep_if_long(&mut self, gap: Gap) {
        let at = self.longest.partition_point(|known| known.length() >= gap.length());
        if at < GAPS_MAX {
            self.longest.insert(at, gap);
            self.longest.truncate(GAPS_MAX);
        }
    }

    /// The longest times without a commit in a window of this length, longest first. Its opening
    /// and its end bound gaps as commits do.
    pub(crate) fn longest(&self, window: u64) -> Vec<CommitGap> {
        let mut gaps = self.clone();
        gaps.close_slots(u64::MAX);
        if gaps.last_commit < window {
            gaps.keep_if_long(Gap { from: gaps.last_commit, to: window });
        }
        // Answers may come after the end of the window.
        let inside = gaps.longest.iter().filter(|gap| gap.from < window);
        let mut longest: Vec<CommitGap> = inside
            .map(|gap| CommitGap {
                at: Nanos(gap.from),
                length: Nanos(gap.to.min(window) - gap.from),
            })
            .collect();
        longest.sort_by_key(|gap| std::cmp::Reverse(gap.length));
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest(commits: &[u64], window: u64) -> (u64, u64) {
        let mut gaps = Gaps::default();
        commits.iter().for_each(|commit| gaps.record(*commit));
        let gap = gaps.longest(window)[0];
        (gap.at.0, gap.length.0)
    }

    #[test]
    fn bounds_of_a_gap_are_commits_or_the_windows_own() {
        let ms = SLOT_NANOS;
        assert_eq!(longest(&[], 50 * ms), (0, 50 * ms), "nothing committed at all");
        assert_eq!(longest(&[7 * ms + 3, 8 * ms], 10 * ms), (0, 7 * ms + 3), "before the first");
        assert_eq!(longest(&[ms, 2 * ms + 9], 10 * ms), (2 * ms + 9, 8 * ms - 9), "after the last");
        assert_eq!(
            longest(&[ms, 2 * ms, 703 * ms + 1, 704 * ms], 705 * ms),
            (2 * ms, 701 * ms + 1)
        );
        assert_eq!(
            longest(&[3 * ms, 900 * ms], 500 * ms),
            (3 * ms, 497 * ms),
            "answers of the grace period"
        );
    }

    #[test]
    fn a_sample_that_comes_late_ends_the_gap_that_it_falls_into() {
        let mut gaps = Gaps::default();
        gaps.record(0);
        gaps.record(100 * SLOT_NANOS);
        gaps.close_slots(500 * SLOT_NANOS);
        gaps.record(30 * SLOT_NANOS);
        gaps.record(450 * SLOT_NANOS);
        let lengths: Vec<u64> =
            gaps.longest(500 * SLOT_NANOS).iter().map(|gap| gap.length.0 / SLOT_NANOS).collect();
        assert_eq!(lengths[..4], [350, 70, 50, 30]);
    }

    proptest! {
        #[test]
        fn gaps_of_a_millisecond_and_more_are_exact_however_samples_come(
            mut commits in prop::collection::vec(0_u64..400 * SLOT_NANOS, 1..60),
            folds in prop::collection::vec(0_u64..400, 0..6),
        ) {
            let window = 400 * SLOT_NANOS;
            let mut sorted = commits.clone();
            sorted.sort_unstable();
            let mut bounds = vec![0];
            bounds.extend(&sorted);
            bounds.push(window);
            let expected = bounds.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            let mut gaps = Gaps::default();
            // What is folded is complete; within that, samples come in any order.
            for fold in folds {
                let (ready, rest): (Vec<u64>, Vec<u64>) =
                    commits.into_iter().partition(|commit| *commit < fold * SLOT_NANOS);
                ready.iter().for_each(|commit| gaps.record(*commit));
                gaps.close_slots(fold * SLOT_NANOS);
                commits = rest;
            }
            commits.iter().for_each(|commit| gaps.record(*commit));
            let found = gaps.longest(window)[0].length.0;
            prop_assert!(found == expected || (expected < SLOT_NANOS && found <= expected), "{found} {expected}");
        }
    }
}

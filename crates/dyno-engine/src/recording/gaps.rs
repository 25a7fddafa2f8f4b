//! The longest gaps between commits, exact from the times of the commits, in memory that does not
//! grow with the length of the trial.
//!
//! A gap of a millisecond or more contains the end of a millisecond. The first and the last commit
//! of each millisecond are therefore enough to determine all such gaps exactly (the idea of
//! Gonzalez' maximum gap by buckets, 1975); they bound shorter gaps. Milliseconds with complete
//! samples are folded into the longest gaps so far and discarded.

use dyno_model::record::{CommitGap, CommitSpan};
use dyno_model::units::Nanos;
use std::collections::VecDeque;

/// Width of a slot, nanoseconds.
const SLOT: u64 = 1_000_000;
/// Number of longest gaps kept.
const KEPT: usize = 16;

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
    /// Index of the first slot that is not folded.
    first: u64,
    slots: VecDeque<Slot>,
    /// The last commit in folded slots; before the first one, the opening of the window.
    edge: u64,
    /// In descending order of length.
    longest: Vec<Gap>,
    /// What was folded, for the gaps of all generators together; `None` where nobody needs it.
    spans: Option<Vec<CommitSpan>>,
}

impl Gaps {
    /// The same, and keeps what is folded until [`Self::take_spans`].
    pub(crate) fn keeping_spans(self) -> Self {
        Self { spans: Some(Vec::new()), ..self }
    }

    /// What was folded since the last call.
    pub(crate) fn take_spans(&mut self) -> Vec<CommitSpan> {
        self.spans.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records the commits of another generator.
    pub(crate) fn note_span(&mut self, span: CommitSpan) {
        self.note(span.0);
        self.note(span.1);
    }

    /// Records a commit at this time.
    #[inline]
    pub(crate) fn note(&mut self, end: u64) {
        let (slot, within) = (end / SLOT, (end % SLOT) as u32);
        let Some(at) = slot.checked_sub(self.first) else { return self.note_late(end) };
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
    fn note_late(&mut self, end: u64) {
        if let Some(spans) = &mut self.spans {
            spans.push(CommitSpan(end, end));
        }
        if end > self.edge {
            self.keep(Gap { from: self.edge, to: end });
            self.edge = end;
        } else if let Some(at) = self.longest.iter().position(|gap| gap.from < end && end < gap.to)
        {
            let gap = self.longest.remove(at);
            self.keep(Gap { from: gap.from, to: end });
            self.keep(Gap { from: end, to: gap.to });
        }
    }

    /// Folds slots; all commits until then must have been noted.
    pub(crate) fn fold(&mut self, until: u64) {
        let next = until / SLOT;
        while self.first < next {
            let Some(slot) = self.slots.pop_front() else {
                self.first = next;
                return;
            };
            self.fold_slot(slot);
            self.first += 1;
        }
    }

    fn fold_slot(&mut self, slot: Slot) {
        if slot.first == u32::MAX {
            return;
        }
        let began = self.first * SLOT;
        let span = CommitSpan(began + u64::from(slot.first), began + u64::from(slot.last));
        self.keep(Gap { from: self.edge, to: span.0 });
        self.edge = span.1;
        if let Some(spans) = &mut self.spans {
            spans.push(span);
        }
    }

    fn keep(&mut self, gap: Gap) {
        let at = self.longest.partition_point(|known| known.length() >= gap.length());
        if at < KEPT {
            self.longest.insert(at, gap);
            self.longest.truncate(KEPT);
        }
    }

    /// The longest times without a commit in a window of this length, longest first. Its opening
    /// and its end bound gaps as commits do.
    pub(crate) fn longest(&self, window: u64) -> Vec<CommitGap> {
        let mut all = self.clone();
        all.fold(u64::MAX);
        if all.edge < window {
            all.keep(Gap { from: all.edge, to: window });
        }
        // Answers may come after the end of the window.
        let inside = all.longest.iter().filter(|gap| gap.from < window);
        let mut gaps: Vec<CommitGap> = inside
            .map(|gap| CommitGap {
                at: Nanos(gap.from),
                length: Nanos(gap.to.min(window) - gap.from),
            })
            .collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.length));
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest(commits: &[u64], window: u64) -> (u64, u64) {
        let mut gaps = Gaps::default();
        commits.iter().for_each(|commit| gaps.note(*commit));
        let gap = gaps.longest(window)[0];
        (gap.at.0, gap.length.0)
    }

    #[test]
    fn bounds_of_a_gap_are_commits_or_the_windows_own() {
        let ms = SLOT;
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
        gaps.note(0);
        gaps.note(100 * SLOT);
        gaps.fold(500 * SLOT);
        gaps.note(30 * SLOT);
        gaps.note(450 * SLOT);
        let lengths: Vec<u64> =
            gaps.longest(500 * SLOT).iter().map(|gap| gap.length.0 / SLOT).collect();
        assert_eq!(lengths[..4], [350, 70, 50, 30]);
    }

    proptest! {
        #[test]
        fn gaps_of_a_millisecond_and_more_are_exact_however_samples_come(
            mut commits in prop::collection::vec(0_u64..400 * SLOT, 1..60),
            folds in prop::collection::vec(0_u64..400, 0..6),
        ) {
            let window = 400 * SLOT;
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
                    commits.into_iter().partition(|commit| *commit < fold * SLOT);
                ready.iter().for_each(|commit| gaps.note(*commit));
                gaps.fold(fold * SLOT);
                commits = rest;
            }
            commits.iter().for_each(|commit| gaps.note(*commit));
            let found = gaps.longest(window)[0].length.0;
            prop_assert!(found == expected || (expected < SLOT && found <= expected), "{found} {expected}");
        }
    }
}

//! Detection of stalls while they last: no commit of any client for half a second, although commits
//! are usual.
//!
//! A stall can end before its interval does, and the server's activity must be queried during the
//! stall. The coordinator therefore asks the workers' recorders for the time of the last commit,
//! but only when the last commit it knows of is old enough: three or four times a second, whatever
//! the throughput. Workers store one additional number per transaction, next to the counters that
//! they update anyway.

use dyno_model::judge::{STALL, STALL_TIMES_MEAN, is_stall};

/// Age of the last known commit at which the recorders are asked, nanoseconds.
const OLD: u64 = STALL / 2;

/// Commit activity of all workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CommitActivity {
    /// Commits since the first client began.
    pub(crate) commits: u64,
    /// The last of them, nanoseconds since the first client began.
    pub(crate) last: u64,
}

/// Detects stalls.
#[derive(Debug, Default)]
pub(crate) struct StallDetector {
    /// The activity when last asked.
    life: CommitActivity,
    is_stalled: bool,
}

impl StallDetector {
    /// Checks at a time, nanoseconds since the first client began. `Some(Some(since))`: a stall,
    /// nothing has committed since then; `Some(None)`: the stall is over; `None`: no change.
    pub(crate) fn check(
        &mut self,
        now: u64,
        ask: impl FnOnce() -> CommitActivity,
    ) -> Option<Option<u64>> {
        if now.saturating_sub(self.life.last) < OLD && !self.is_stalled {
            return None;
        }
        let before = std::mem::replace(&mut self.life, ask());
        if self.is_stalled {
            self.is_stalled = self.life.commits == before.commits;
            return (!self.is_stalled).then_some(None);
        }
        let CommitActivity { commits, last } = self.life;
        // With fewer commits, the usual rate is unknown.
        self.is_stalled =
            commits as f64 >= STALL_TIMES_MEAN && is_stall(now.saturating_sub(last), commits, last);
        self.is_stalled.then_some(Some(self.life.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn life(commits: u64, last_ms: u64) -> CommitActivity {
        CommitActivity { commits, last: last_ms * MS }
    }

    #[test]
    fn half_a_second_without_a_commit_is_told_once_and_so_is_its_end() {
        let mut stall = StallDetector::default();
        assert_eq!(stall.check(1000 * MS, || life(900, 999)), None);
        assert_eq!(
            stall.check(1100 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(stall.check(1400 * MS, || life(900, 999)), None, "not long enough");
        assert_eq!(stall.check(1500 * MS, || life(900, 999)), Some(Some(999 * MS)));
        assert_eq!(stall.check(1600 * MS, || life(900, 999)), None, "told already");
        assert_eq!(stall.check(1700 * MS, || life(901, 1690)), Some(None));
        assert_eq!(
            stall.check(1800 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(stall.check(2190 * MS, || life(901, 1690)), Some(Some(1690 * MS)));
    }

    #[test]
    fn rare_transactions_and_a_slow_beginning_are_no_stall() {
        let mut stall = StallDetector::default();
        assert_eq!(stall.check(3000 * MS, CommitActivity::default), None, "nothing is usual yet");
        assert_eq!(stall.check(9000 * MS, || life(40, 8000)), None, "five a second");
        assert_eq!(
            stall.check(13_000 * MS, || life(40, 8000)),
            Some(Some(8000 * MS)),
            "but not five seconds"
        );
    }
}

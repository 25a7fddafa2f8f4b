//! Stalls as they happen: no commit of any client for half a second, where commits are usual.
//!
//! A stall can be over before its interval is, and what the server was doing must be asked while it
//! lasts. So the coordinator asks the workers' recorders when the last commit was, but only when
//! the last one that it knows of is old enough: three or four times a second, whatever the
//! throughput. Workers store one number more per transaction, beside the books that they write
//! anyway.

use dyno_model::judge::{STALL, STALL_TIMES_MEAN, is_stall};

/// The recorders are asked when the last known commit is so old, nanoseconds.
const OLD: u64 = STALL / 2;

/// Signs of life of all workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Life {
    /// Commits since the first client began.
    pub(crate) commits: u64,
    /// The last of them, nanoseconds since the first client began.
    pub(crate) last: u64,
}

/// Notices stalls.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// As last asked.
    life: Life,
    is_stalled: bool,
}

impl Silence {
    /// Looks at a time, nanoseconds since the first client began. `Some(Some(since))`: nothing has
    /// committed since then, and it is a stall; `Some(None)`: the stall is over; `None`: no news.
    pub(crate) fn check(&mut self, now: u64, ask: impl FnOnce() -> Life) -> Option<Option<u64>> {
        if now.saturating_sub(self.life.last) < OLD && !self.is_stalled {
            return None;
        }
        let before = std::mem::replace(&mut self.life, ask());
        if self.is_stalled {
            self.is_stalled = self.life.commits == before.commits;
            return (!self.is_stalled).then_some(None);
        }
        let Life { commits, last } = self.life;
        // Before so many commits nobody knows what is usual.
        self.is_stalled =
            commits as f64 >= STALL_TIMES_MEAN && is_stall(now.saturating_sub(last), commits, last);
        self.is_stalled.then_some(Some(self.life.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn life(commits: u64, last_ms: u64) -> Life {
        Life { commits, last: last_ms * MS }
    }

    #[test]
    fn half_a_second_without_a_commit_is_told_once_and_so_is_its_end() {
        let mut silence = Silence::default();
        assert_eq!(silence.check(1000 * MS, || life(900, 999)), None);
        assert_eq!(
            silence.check(1100 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(silence.check(1400 * MS, || life(900, 999)), None, "not long enough");
        assert_eq!(silence.check(1500 * MS, || life(900, 999)), Some(Some(999 * MS)));
        assert_eq!(silence.check(1600 * MS, || life(900, 999)), None, "told already");
        assert_eq!(silence.check(1700 * MS, || life(901, 1690)), Some(None));
        assert_eq!(
            silence.check(1800 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(silence.check(2190 * MS, || life(901, 1690)), Some(Some(1690 * MS)));
    }

    #[test]
    fn rare_transactions_and_a_slow_beginning_are_no_stall() {
        let mut silence = Silence::default();
        assert_eq!(silence.check(3000 * MS, Life::default), None, "nothing is usual yet");
        assert_eq!(silence.check(9000 * MS, || life(40, 8000)), None, "five a second");
        assert_eq!(
            silence.check(13_000 * MS, || life(40, 8000)),
            Some(Some(8000 * MS)),
            "but not five seconds"
        );
    }
}

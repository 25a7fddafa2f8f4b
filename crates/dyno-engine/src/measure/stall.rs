//! Detection of stalls while they last: no commit of any client for half a second, although commits
//! are usual.
//!
//! A stall can end before its interval does, and the server's activity must be queried during the
//! stall. The coordinator therefore asks the workers' recorders for the time of the last commit,
//! but only when the last commit it knows of is old enough: at most four times a second, whatever
//! the throughput, and during a stall whenever it looks at the workers. Workers store one
//! additional number per transaction, next to the counters that they update anyway. Where the
//! clients are divided among generators, each generator sends its activity to the coordinator of
//! all, which checks them together.

use dyno_model::event::{CommitActivity, Listener};
use dyno_model::judge::{STALL, STALL_TIMES_MEAN, is_stall};
use dyno_model::units::Nanos;

/// Age of the last known commit at which the recorders are asked, nanoseconds; also the time
/// between two reports of one of several generators.
const ACTIVITY_AGE_MAX: u64 = STALL / 2;

/// Detects stalls.
#[derive(Debug, Default)]
pub(crate) struct StallDetector {
    /// The activity when last read.
    activity: CommitActivity,
    is_stalled: bool,
}

impl StallDetector {
    /// Reports a change at a time, nanoseconds since the common start.
    pub(crate) fn report(
        &mut self,
        now: u64,
        read_activity: impl FnOnce() -> CommitActivity,
        listener: &mut dyn Listener,
    ) {
        if let Some(since) = self.check(now, read_activity) {
            listener.commits_stopped(since.map(Nanos));
        }
    }

    /// Checks at a time, nanoseconds since the common start. `Some(Some(since))`: a stall,
    /// nothing has committed since then; `Some(None)`: the stall is over; `None`: no change.
    fn check(
        &mut self,
        now: u64,
        read_activity: impl FnOnce() -> CommitActivity,
    ) -> Option<Option<u64>> {
        if now.saturating_sub(self.activity.last) < ACTIVITY_AGE_MAX && !self.is_stalled {
            return None;
        }
        let before = std::mem::replace(&mut self.activity, read_activity());
        if self.is_stalled {
            self.is_stalled = self.activity.committed == before.committed;
            return (!self.is_stalled).then_some(None);
        }
        let CommitActivity { committed, last, .. } = self.activity;
        // With fewer commits, the usual rate is unknown.
        self.is_stalled = committed as f64 >= STALL_TIMES_MEAN
            && is_stall(now.saturating_sub(last), committed, last);
        self.is_stalled.then_some(Some(self.activity.last))
    }
}

/// What a worker pool reports about the commits of its clients.
pub(crate) enum CommitReports {
    /// That they have stopped, or begun again.
    Stalls(StallDetector),
    /// Their activity, which is checked together with that of other generators; next at this time.
    Activity { due: u64 },
}

impl CommitReports {
    /// Reports what there is to report at a time, nanoseconds since the common start.
    pub(crate) fn report(
        &mut self,
        now: u64,
        read_activity: impl FnOnce() -> CommitActivity,
        listener: &mut dyn Listener,
    ) {
        match self {
            Self::Stalls(detector) => detector.report(now, read_activity, listener),
            Self::Activity { due } if *due <= now => {
                *due = now + ACTIVITY_AGE_MAX;
                listener.commit_activity(read_activity());
            }
            Self::Activity { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn activity(committed: u64, last_ms: u64) -> CommitActivity {
        CommitActivity { at: 0, committed, last: last_ms * MS }
    }

    #[test]
    fn half_a_second_without_a_commit_is_reported_once_and_so_is_its_end() {
        let mut stall = StallDetector::default();
        assert_eq!(stall.check(1000 * MS, || activity(900, 999)), None);
        assert_eq!(
            stall.check(1100 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(stall.check(1400 * MS, || activity(900, 999)), None, "not long enough");
        assert_eq!(stall.check(1500 * MS, || activity(900, 999)), Some(Some(999 * MS)));
        assert_eq!(stall.check(1600 * MS, || activity(900, 999)), None, "told already");
        assert_eq!(stall.check(1700 * MS, || activity(901, 1690)), Some(None));
        assert_eq!(
            stall.check(1800 * MS, || panic!("a commit is known that is young enough")),
            None
        );
        assert_eq!(stall.check(2190 * MS, || activity(901, 1690)), Some(Some(1690 * MS)));
    }

    #[test]
    fn rare_transactions_and_a_slow_beginning_are_no_stall() {
        let mut stall = StallDetector::default();
        assert_eq!(stall.check(3000 * MS, CommitActivity::default), None, "nothing is usual yet");
        assert_eq!(stall.check(9000 * MS, || activity(40, 8000)), None, "five a second");
        assert_eq!(
            stall.check(13_000 * MS, || activity(40, 8000)),
            Some(Some(8000 * MS)),
            "but not five seconds"
        );
    }

    #[test]
    fn several_generators_are_checked_as_of_the_oldest_of_their_reports() {
        let activity = |at: u64, commits, last_ms| CommitActivity {
            at: at * MS,
            ..activity(commits, last_ms)
        };
        let all = activity(3000, 900, 1990).and(activity(1200, 50, 1190));
        assert_eq!(all, activity(1200, 950, 1990));
        assert_eq!(StallDetector::default().check(all.at, || all), None, "one has yet to report");
        let all = activity(3000, 900, 1990).and(activity(2600, 50, 1190));
        assert_eq!(StallDetector::default().check(all.at, || all), Some(Some(1990 * MS)));
    }
}

//! Limits how often something that costs processor time is done.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Maximum share of one processor for one kind of sample.
const SHARE: f64 = 0.002;
/// Samples are taken at whole seconds; one that is due within this time is taken.
const EARLY: Duration = Duration::from_millis(50);

/// Keeps one kind of sample below [`SHARE`] by waiting after each for its cost times `1 / SHARE`.
#[derive(Debug, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
}

impl Pace {
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| due <= now + EARLY)
    }

    /// A sample with this cost has just ended.
    pub(super) fn note(&mut self, now: Instant, cost: Duration) {
        self.due = Some(now + cost.div_f64(SHARE));
    }
}

/// Processor time of the calling thread.
pub(super) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_samples_are_taken_every_second_and_expensive_ones_less_often() {
        let second = Duration::from_secs(1);
        let now = Instant::now();
        let mut pace = Pace::default();
        assert!(pace.is_due(now));
        pace.note(now, Duration::from_millis(1));
        assert!(pace.is_due(now + second), "a millisecond each second is a thousandth");
        pace.note(now, Duration::from_millis(9));
        assert!(!pace.is_due(now + second) && !pace.is_due(now + 4 * second));
        assert!(pace.is_due(now + 5 * second));
    }
}

//! How far the clock of a generator is ahead of the coordinator's, by round trips: when an answer
//! arrives, the generator read its clock at some moment since the question left. In the middle of
//! that time, the error is at most half of it (F. Cristian, *Probabilistic clock synchronization*,
//! 1989).

use std::time::{Duration, Instant};

/// One comparison of clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offset {
    /// Time of the generator's clock minus that of the coordinator's, nanoseconds.
    pub(super) nanos: i64,
    /// The largest possible error, nanoseconds.
    pub(super) error: u64,
}

/// The clock of a generator.
#[derive(Debug)]
pub(super) struct Clock {
    origin: Instant,
    /// The most exact comparison since [`Self::mark`].
    best: Option<Offset>,
    /// The most exact one before it.
    marked: Option<Offset>,
}

impl Clock {
    /// `origin` is where the coordinator's clock counts from.
    pub(super) fn new(origin: Instant) -> Self {
        Self { origin, best: None, marked: None }
    }

    /// The coordinator's clock.
    pub(super) fn now(&self) -> u64 {
        self.at(Instant::now())
    }

    fn at(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// Takes an answer: the question left at `sent_at`, the generator's clock showed
    /// `generator_time`, and the answer arrives `now`.
    pub(super) fn answered(&mut self, sent_at: u64, generator_time: u64, now: u64) {
        let error = now.saturating_sub(sent_at).div_ceil(2);
        let nanos = generator_time as i64 - (sent_at + error) as i64;
        if self.best.is_none_or(|best| error <= best.error) {
            self.best = Some(Offset { nanos, error });
        }
    }

    /// Begins a trial at a moment; returns it by the generator's clock, `None` while that is
    /// unknown. Comparisons from here on tell how far the clocks drift apart.
    pub(super) fn mark(&mut self, moment: Instant) -> Option<u64> {
        let best = self.best.take().or(self.marked)?;
        self.marked = Some(best);
        u64::try_from(self.at(moment) as i64 + best.nanos).ok()
    }

    /// How exactly the start of the trial is known.
    pub(super) fn error(&self) -> Duration {
        Duration::from_nanos(self.marked.or(self.best).map_or(0, |best| best.error))
    }

    /// How far the generator's clock has run ahead since the mark, nanoseconds, as far as the
    /// comparisons can tell: 0 within their errors.
    pub(super) fn drift(&self) -> i64 {
        let (Some(before), Some(after)) = (self.marked, self.best) else { return 0 };
        let drift = after.nanos - before.nanos;
        let certain = drift.unsigned_abs().saturating_sub(before.error + after.error) as i64;
        certain * drift.signum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_tells_the_offset_and_its_error() {
        let origin = Instant::now();
        let mut clock = Clock::new(origin);
        assert_eq!(clock.mark(origin), None, "nothing is known");
        clock.answered(1_000, 6_500, 2_000);
        clock.answered(3_000, 8_050, 3_100);
        clock.answered(4_000, 9_900, 5_000);
        assert_eq!(clock.best, Some(Offset { nanos: 5_000, error: 50 }));
        assert_eq!(clock.mark(origin + Duration::from_nanos(10_000)), Some(15_000));
        assert_eq!(clock.error(), Duration::from_nanos(50));
    }

    #[test]
    fn clocks_drift_by_what_no_error_explains() {
        let origin = Instant::now();
        let drift = |generator_time: u64| {
            let mut clock = Clock::new(origin);
            clock.answered(1_000, 6_050, 1_100);
            clock.mark(origin);
            clock.answered(2_000, generator_time, 2_200);
            clock.drift()
        };
        assert_eq!(drift(7_100), 0);
        assert_eq!(drift(7_240), 0, "within 50 + 100");
        assert_eq!(drift(7_400), 150);
        assert_eq!(drift(6_800), -150);
    }
}

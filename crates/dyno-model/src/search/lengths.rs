//! How long the load steps of a search take.

use super::question::STEPS_MAX;
use crate::units::Nanos;

/// A load is extended to at most so many times the time that the user asked for ...
const CAP_TIMES: f64 = 10.0;
/// ... or to this time, in seconds.
const CAP_MIN: f64 = 60.0;
/// Coarse and fine steps of a search that meets no contradictions, beside the one that is kept.
const USUAL: (usize, usize) = (5, 3);

/// How long a load is measured, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Before it.
    pub warmup: f64,
    /// The measured time.
    pub seconds: f64,
}

/// The lengths of steps, by what the user asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// Of the load that is kept.
    pub full: Window,
}

impl Lengths {
    /// The warm-up and the measured time that the user asked for.
    #[must_use]
    pub fn new(warmup: Nanos, duration: Nanos) -> Self {
        Self { full: Window { warmup: warmup.as_secs_f64(), seconds: duration.as_secs_f64() } }
    }

    /// Steps of a usual search, and their time in seconds, warm-ups included.
    #[must_use]
    pub fn usual(&self) -> (usize, f64) {
        let time = |window: Window| window.warmup + window.seconds;
        let (coarse, fine) = USUAL;
        let times = [
            (coarse, self.window(self.coarse())),
            (fine, self.window(self.fine())),
            (1, self.full),
        ];
        (coarse + fine + 1, times.map(|(count, window)| count as f64 * time(window)).iter().sum())
    }

    /// The most that all windows of a search may take together, in seconds.
    #[must_use]
    pub fn most(&self) -> f64 {
        2.0 * STEPS_MAX as f64 * self.full.seconds.max(10.0)
    }

    /// Of steps far from the result: a tenth of the time, at least a second.
    #[must_use]
    pub fn coarse(&self) -> f64 {
        (self.full.seconds / 10.0).max(1.0).min(self.full.seconds)
    }

    /// Of steps near it: half of the time, at least two seconds.
    #[must_use]
    pub fn fine(&self) -> f64 {
        (self.full.seconds / 2.0).max(2.0).min(self.full.seconds)
    }

    /// Of all steps at one load, one after the other.
    #[must_use]
    pub fn cap(&self) -> f64 {
        (self.full.seconds * CAP_TIMES).max(CAP_MIN)
    }

    /// A step of this length, with a warm-up in proportion.
    #[must_use]
    pub fn window(&self, seconds: f64) -> Window {
        let share = (seconds / self.full.seconds).min(1.0);
        Window { warmup: self.full.warmup.min((self.full.warmup * share).max(0.5)), seconds }
    }
}

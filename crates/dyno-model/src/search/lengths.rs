//! Lengths of the load steps of a search.

use crate::search_question::STEPS_MAX;
use crate::units::Nanos;

/// A load is extended to at most this multiple of the requested time ...
const CAP_TIMES: f64 = 10.0;
/// ... or to this time, in seconds.
const CAP_MIN: f64 = 60.0;
/// Coarse and fine steps of a search without contradictions, in addition to the one that is kept.
const USUAL: (usize, usize) = (5, 3);

/// Lengths of warm-up and measurement at one load, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLengths {
    /// Warm-up.
    pub warmup: f64,
    /// Measured time.
    pub seconds: f64,
}

/// Lengths of steps, derived from the requested times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// The step that is kept.
    pub full: StepLengths,
}

impl Lengths {
    /// From the requested warm-up and measured time.
    #[must_use]
    pub fn new(warmup: Nanos, duration: Nanos) -> Self {
        Self { full: StepLengths { warmup: warmup.as_secs_f64(), seconds: duration.as_secs_f64() } }
    }

    /// Number of steps of a typical search, and their time in seconds, warm-ups included.
    #[must_use]
    pub fn usual(&self) -> (usize, f64) {
        let time = |step: StepLengths| step.warmup + step.seconds;
        let (coarse, fine) = USUAL;
        let times = [
            (coarse, self.window(self.coarse())),
            (fine, self.window(self.fine())),
            (1, self.full),
        ];
        (coarse + fine + 1, times.map(|(count, step)| count as f64 * time(step)).iter().sum())
    }

    /// Maximum total time of all windows of a search, in seconds.
    #[must_use]
    pub fn most(&self) -> f64 {
        2.0 * STEPS_MAX as f64 * self.full.seconds.max(10.0)
    }

    /// Steps far from the result: a tenth of the time, at least a second.
    #[must_use]
    pub fn coarse(&self) -> f64 {
        (self.full.seconds / 10.0).max(1.0).min(self.full.seconds)
    }

    /// Steps near the result: half of the time, at least two seconds.
    #[must_use]
    pub fn fine(&self) -> f64 {
        (self.full.seconds / 2.0).max(2.0).min(self.full.seconds)
    }

    /// Maximum for all consecutive steps at one load.
    #[must_use]
    pub fn cap(&self) -> f64 {
        (self.full.seconds * CAP_TIMES).max(CAP_MIN)
    }

    /// A step of this length, with a proportional warm-up.
    #[must_use]
    pub fn window(&self, seconds: f64) -> StepLengths {
        let share = (seconds / self.full.seconds).min(1.0);
        StepLengths { warmup: self.full.warmup.min((self.full.warmup * share).max(0.5)), seconds }
    }
}

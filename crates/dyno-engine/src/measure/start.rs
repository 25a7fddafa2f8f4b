//! The moment at which the worker pools of a trial start, and their common stop.

use crate::window::{StopCause, Window};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time between the signal to start and the common epoch, in which all workers wake up.
const RUN_UP: Duration = Duration::from_millis(10);

/// The moment at which clients start, common to several worker pools, and the reason for which they
/// stop early.
#[derive(Debug, Clone)]
pub struct Start {
    pub(super) epoch: Instant,
    /// The background group to which the worker pool belongs; `None`: the measured groups.
    name: Option<String>,
    stopped: Arc<OnceLock<StopCause>>,
}

impl Start {
    /// A start as soon as all workers are awake.
    pub(crate) fn soon() -> Self {
        Self::at(Instant::now() + RUN_UP)
    }

    /// A start at a moment that a coordinator has set.
    #[must_use]
    pub fn at(epoch: Instant) -> Self {
        Self { epoch, name: None, stopped: Arc::default() }
    }

    /// Stops the worker pools with this start. Only the first cause is kept.
    pub fn stop(&self, cause: StopCause) {
        let _ = self.stopped.set(cause);
    }

    /// Why a worker pool with this start was stopped, if one was.
    #[must_use]
    pub fn stopped(&self) -> Option<&StopCause> {
        self.stopped.get()
    }

    /// The same moment for the worker pool of a background group.
    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self.clone() }
    }

    /// A member that stops early stops the others.
    pub(super) fn stop_together(&self, window: &Window) {
        if !window.is_stopped() {
            if let Some(cause) = self.stopped.get() {
                window.stop(cause.clone());
            }
        } else if let (None, Some(own)) = (self.stopped.get(), window.stop_cause()) {
            let _ = self.stopped.set(match (&self.name, own) {
                (Some(name), StopCause::Trouble(reason)) => StopCause::Trouble(format!(
                    "the background workload {name:?} stopped: {reason}"
                )),
                (_, own) => own,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{LoadPlan, StopRule};
    use dyno_model::units::Nanos;

    #[test]
    fn a_worker_pool_that_is_stopped_stops_the_others_and_says_who_it_was() {
        let load = LoadPlan::new(StopRule::Duration(Nanos(3_600_000_000_000)));
        let start = Start::soon();
        let (measured, report) = (start.clone(), start.named("report"));
        let window = || Window::new(start.epoch, &load, None);
        let (own, background) = (window(), window());
        measured.stop_together(&own);
        report.stop_together(&background);
        assert!(!own.is_stopped() && !background.is_stopped(), "nobody was stopped");
        let trouble = |reason: &str| StopCause::Trouble(reason.to_owned());
        background.stop(trouble("no table"));
        report.stop_together(&background);
        measured.stop_together(&own);
        let told = "the background workload \"report\" stopped: no table";
        assert_eq!(own.stop_cause(), Some(trouble(told)));
        assert_eq!(background.stop_cause(), Some(trouble("no table")), "its own reason stays");
    }

    #[test]
    fn the_user_stops_all_worker_pools_and_none_of_them_is_said_to_have_stopped() {
        let load = LoadPlan::new(StopRule::Duration(Nanos(3_600_000_000_000)));
        let start = Start::soon();
        let window = || Window::new(start.epoch, &load, None);
        let (own, background) = (window(), window());
        background.stop(StopCause::User);
        start.named("report").stop_together(&background);
        start.stop_together(&own);
        assert_eq!(own.stop_cause(), Some(StopCause::User));
        assert_eq!(StopCause::User.to_string(), "interrupted by the user");
    }
}

//! The moment at which the worker pools of a trial start, and their common stop.

use crate::window::MeasurementWindow;
use dyno_model::reason::Reason;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time between the signal to start and the common epoch, in which all workers wake up.
const START_DELAY: Duration = Duration::from_millis(10);

/// The moment at which clients start, common to several worker pools, and the reason for which they
/// stop early.
#[derive(Debug, Clone)]
pub struct Start {
    pub(super) epoch: Instant,
    /// The background group to which the worker pool belongs; `None`: the measured groups.
    name: Option<String>,
    stopped: Arc<OnceLock<Reason>>,
}

impl Start {
    /// A start as soon as all workers are awake.
    pub(crate) fn soon() -> Self {
        Self::at(Instant::now() + START_DELAY)
    }

    /// A start at a moment that a coordinator has set.
    #[must_use]
    pub fn at(epoch: Instant) -> Self {
        Self { epoch, name: None, stopped: Arc::default() }
    }

    /// Stops the worker pools with this start. Only the first cause is kept.
    pub fn stop(&self, cause: Reason) {
        let _ = self.stopped.set(cause);
    }

    /// Why a worker pool with this start was stopped, if one was.
    #[must_use]
    pub fn stopped(&self) -> Option<&Reason> {
        self.stopped.get()
    }

    /// The same moment for the worker pool of a background group.
    pub(crate) fn for_group(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self.clone() }
    }

    /// A worker pool that stops early stops the others.
    pub(super) fn propagate_stop(&self, window: &MeasurementWindow) {
        if !window.is_stopped() {
            if let Some(cause) = self.stopped.get() {
                window.stop(cause.clone());
            }
        } else if let (None, Some(own)) = (self.stopped.get(), window.stop_cause()) {
            let _ = self.stopped.set(match (&self.name, own) {
                (None, own) | (_, own @ Reason::Interrupted) => own,
                (Some(name), own) => {
                    Reason::BackgroundStopped { name: name.clone(), reason: Box::new(own) }
                }
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
        let load = LoadPlan::new(StopRule::Duration(Nanos::from_secs(3_600)));
        let start = Start::soon();
        let (measured, report) = (start.clone(), start.for_group("report"));
        let window = || MeasurementWindow::new(start.epoch, &load, None);
        let (own, background) = (window(), window());
        measured.propagate_stop(&own);
        report.propagate_stop(&background);
        assert!(!own.is_stopped() && !background.is_stopped(), "nobody was stopped");
        let no_table = Reason::from("no table");
        background.stop(no_table.clone());
        report.propagate_stop(&background);
        measured.propagate_stop(&own);
        let (name, reason) = ("report".to_owned(), Box::new(no_table.clone()));
        assert_eq!(own.stop_cause(), Some(Reason::BackgroundStopped { name, reason }));
        assert_eq!(background.stop_cause(), Some(no_table), "its own reason stays");
    }

    #[test]
    fn user_interrupt_is_reported_as_such_by_all_worker_pools() {
        let load = LoadPlan::new(StopRule::Duration(Nanos::from_secs(3_600)));
        let start = Start::soon();
        let window = || MeasurementWindow::new(start.epoch, &load, None);
        let (own, background) = (window(), window());
        background.stop(Reason::Interrupted);
        start.for_group("report").propagate_stop(&background);
        start.propagate_stop(&own);
        assert_eq!(own.stop_cause(), Some(Reason::Interrupted));
    }
}

//! One slot per system of a plan: the running system, and its failed starts.

use crate::system::ReadySystem;
use dyno_model::plan::RestartGroup;
use dyno_model::reason::Reason;

/// After this many failed starts in a row, dyno does not try a system again.
const FAILURES_MAX: u32 = 2;

#[derive(Default)]
pub(crate) struct Slot<'p> {
    /// The system, while it is running.
    pub(crate) ready: Option<ReadySystem>,
    /// The restart group for which it was started.
    pub(crate) restart_group: Option<RestartGroup<'p>>,
    failed: Vec<FailedStarts<'p>>,
    /// Why dyno must not send anything more to the system, if so.
    pub(crate) forbidden: Option<String>,
}

/// A restart group whose server could not be started.
struct FailedStarts<'p> {
    restart_group: RestartGroup<'p>,
    /// Failed starts in a row.
    failures: u32,
    /// Reason of the last failure.
    reason: Reason,
}

impl<'p> Slot<'p> {
    /// Decides whether a restart group is tried again.
    ///
    /// # Errors
    /// The reason, if it is not.
    pub(crate) fn may_try(&self, restart_group: RestartGroup<'p>) -> Result<(), Reason> {
        match self.failed.iter().find(|it| it.restart_group == restart_group) {
            Some(FailedStarts { failures: FAILURES_MAX.., reason, .. }) => {
                Err(Reason::NotTriedAgain {
                    failures: FAILURES_MAX,
                    reason: Box::new(reason.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Forgets failures after a successful start.
    pub(crate) fn forget_failures(&mut self, restart_group: RestartGroup<'p>) {
        self.failed.retain(|it| it.restart_group != restart_group);
    }

    /// Counts another failed start.
    pub(crate) fn note_failure(&mut self, restart_group: RestartGroup<'p>, reason: &Reason) {
        match self.failed.iter_mut().find(|it| it.restart_group == restart_group) {
            Some(it) => {
                it.failures += 1;
                it.reason = reason.clone();
            }
            None => self.failed.push(FailedStarts {
                restart_group,
                failures: 1,
                reason: reason.clone(),
            }),
        }
    }
}

//! A place for each system of a plan: the system while it answers, and how often it could not be
//! brought up.

use crate::system::Ready;
use dyno_model::plan::RestartGroup;

/// A system that could not be brought up so many times in a row is not tried again.
const FAILURES_MAX: u32 = 2;

#[derive(Default)]
pub(crate) struct Slot<'p> {
    /// The system, while it answers.
    pub(crate) ready: Option<Ready>,
    /// The restart group that it was brought up for.
    pub(crate) plot: Option<RestartGroup<'p>>,
    troubles: Vec<Trouble<'p>>,
    /// Why nothing more is sent to the system, if that is so.
    pub(crate) forbidden: Option<String>,
}

/// A restart group whose server could not be brought up.
struct Trouble<'p> {
    plot: RestartGroup<'p>,
    /// Times in a row.
    failures: u32,
    /// Why, the last time.
    reason: String,
}

impl<'p> Slot<'p> {
    /// Whether a restart group is tried again.
    ///
    /// # Errors
    /// Why it is not.
    pub(crate) fn may_try(&self, plot: RestartGroup<'p>) -> Result<(), String> {
        match self.troubles.iter().find(|trouble| trouble.plot == plot) {
            Some(Trouble { failures: FAILURES_MAX.., reason, .. }) => {
                Err(format!("not tried again after {FAILURES_MAX} failures: {reason}"))
            }
            _ => Ok(()),
        }
    }

    /// It is up.
    pub(crate) fn forget_failures(&mut self, plot: RestartGroup<'p>) {
        self.troubles.retain(|trouble| trouble.plot != plot);
    }

    /// It could not be brought up once more.
    pub(crate) fn note_failure(&mut self, plot: RestartGroup<'p>, reason: &str) {
        match self.troubles.iter_mut().find(|trouble| trouble.plot == plot) {
            Some(trouble) => {
                trouble.failures += 1;
                reason.clone_into(&mut trouble.reason);
            }
            None => self.troubles.push(Trouble { plot, failures: 1, reason: reason.to_owned() }),
        }
    }
}

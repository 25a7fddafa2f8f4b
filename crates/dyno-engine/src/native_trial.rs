//! Loads and trials of the native workloads. What measures is generic; here it is compiled for all of them, once, and not in every program
//! that runs them.

use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::trial::{TrialInput, run_load, run_trial};
use crate::workload::Native;
use crate::workload::native::with_native;
use dyno_model::event::Listener;
use dyno_model::record::TrialRecord;
use dyno_model::target::Target;

impl Native {
    /// [`run_load`] of it.
    ///
    /// # Errors
    /// When nothing could be measured.
    ///
    /// # Panics
    /// When there is no target.
    pub fn run_load(
        self,
        targets: &[Target],
        input: &LoadInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<LoadRecord, TrialError> {
        with_native!(self, workload => run_load(workload, targets, input, listener))
    }

    /// [`run_trial`] of it.
    ///
    /// # Errors
    /// When nothing could be measured.
    pub fn run_trial(
        self,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        with_native!(self, workload => run_trial(workload, input, listener))
    }
}

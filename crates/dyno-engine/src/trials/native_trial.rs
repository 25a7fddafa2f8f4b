//! Loads and trials of the native workloads. The measuring code is generic; this file compiles it
//! once for all native workloads, instead of in every program that runs them. Errors and panics of
//! each function are those of the generic function.

use crate::measure::distributed::Generators;
use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::measure::partial_result::PartialResult;
use crate::measure::start::Start;
use crate::trial::{run_distributed_load, run_groups_trial, run_load, run_subset};
use crate::trial_input::TrialInput;
use crate::workload::Native;
use crate::workload::native::with_native;
use dyno_model::event::Listener;
use dyno_model::record::TrialRecord;
use dyno_model::target::Target;

/// Runs code for native workloads of the same kind, with the concrete type of all.
macro_rules! with_natives {
    ($all:expr, $workloads:ident => $call:expr) => {{
        let mut all = $all.into_iter();
        with_native!(all.next().expect("a workload"), first => {
            let others = all.filter_map(|other| other.try_into().ok());
            let $workloads = std::iter::once(first).chain(others).collect();
            $call
        })
    }};
}

impl Native {
    /// Calls [`run_load`] with the native workload.
    pub fn run_load(
        self,
        targets: &[Target],
        input: &LoadInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<LoadRecord, TrialError> {
        with_native!(self, workload => run_load(workload, targets, input, listener))
    }

    /// Calls [`run_distributed_load`] with the native workload.
    pub fn run_distributed_load(
        self,
        targets: &[Target],
        generators: &dyn Generators,
        input: &LoadInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<LoadRecord, TrialError> {
        with_native!(self, workload => {
            run_distributed_load(workload, targets, generators, input, listener)
        })
    }

    /// Calls [`run_trial`](crate::run_trial) with the native workload.
    pub fn run_trial(
        self,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        Self::run_groups_trial(vec![self], input, listener)
    }

    /// Calls [`run_subset`] with native workloads of the same kind.
    pub fn run_subset(
        all: Vec<Self>,
        targets: (&[Target], usize),
        input: &LoadInput<'_>,
        common_start: impl FnOnce() -> Result<Start, TrialError>,
        listener: &mut dyn Listener,
    ) -> Result<PartialResult, TrialError> {
        with_natives!(all, workloads => run_subset(workloads, targets, input, common_start, listener))
    }

    /// Calls [`run_groups_trial`] with native workloads of the same kind.
    pub fn run_groups_trial(
        all: Vec<Self>,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        with_natives!(all, workloads => run_groups_trial(workloads, input, listener))
    }
}

//! Trials: from their input over the start barrier to the audit.

pub(super) mod auditing;
pub(super) mod clients;
pub(super) mod native_trial;
pub(super) mod own_audit;
pub(super) mod start_barrier;
pub mod trial;
pub(super) mod trial_input;

//! Trials: from their input over the start barrier to the audit.

pub(super) mod auditing;
pub(super) mod clients;
pub(super) mod custom_audit;
pub(super) mod native_trial;
pub(super) mod start_barrier;
pub mod trial;
pub(super) mod trial_input;

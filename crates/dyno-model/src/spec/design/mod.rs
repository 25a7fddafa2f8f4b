//! The design of an experiment: factors, chosen configurations, run order, duration.

pub(super) mod choice;
pub mod estimate;
pub(super) mod factors;
pub(super) mod order;

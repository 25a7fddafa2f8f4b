//! The load generator as a program: its threads, processors and own measurements.

pub(super) mod generator;
pub(super) mod scheduling;
pub(super) mod worker_count;

//! Workloads of configurations.

pub(super) mod workload;
pub(super) mod workload_set;

//! Workloads of configurations and their client groups.

pub(super) mod client_groups;
pub(super) mod workload;
pub(super) mod workload_set;

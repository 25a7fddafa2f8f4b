//! Workloads in a spec: options, scripts and requests.

pub(super) mod declared;
pub(super) mod names;
pub(super) mod option;
pub(super) mod properties;
pub(super) mod request;
pub(super) mod scripts;
pub(super) mod workload;

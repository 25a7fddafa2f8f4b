//! Clients of native workloads, and the workers that run them.

pub(super) mod client;
pub(super) mod native_clients;
pub(super) mod worker;
pub(super) mod worker_tries;

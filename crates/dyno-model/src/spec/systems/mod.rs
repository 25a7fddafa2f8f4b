//! Systems in a spec: servers, network paths, storages, faults.

pub(super) mod endpoint;
pub(super) mod fault;
pub(super) mod levels;
pub(super) mod storage;
pub(super) mod system;

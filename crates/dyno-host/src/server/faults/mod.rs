//! Faults of servers that dyno started.

pub(super) mod fault;
pub(super) mod full_disk;

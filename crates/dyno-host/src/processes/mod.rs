//! Processes of this machine and the files they write.

pub(super) mod ask;
pub(super) mod folder;
pub(super) mod process_stat;
pub mod supervisor;
pub(super) mod tail;

//! The output and logs of a run in the format of pgbench 15. Everything here formats figures as
//! text.
//!
//! * [`summary`]: the report at the end; [`progress`]: lines during the run; [`log`]: lines of log
//!   files.

pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod summary;

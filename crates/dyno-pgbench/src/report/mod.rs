//! What a run prints and logs, in the form of pgbench 15. Everything here makes text of figures.
//!
//! * [`summary`]: the report at the end; [`progress`]: lines meanwhile; [`log`]: lines of log
//!   files.

pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod summary;

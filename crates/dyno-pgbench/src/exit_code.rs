//! Exit codes, equal to those of pgbench.

/// Success.
pub const OK: u8 = 0;
/// The command line is invalid, or the run could not start.
pub const FAILED: u8 = 1;
/// The run started but is incomplete: clients were aborted, or the user interrupted.
pub const INCOMPLETE: u8 = 2;

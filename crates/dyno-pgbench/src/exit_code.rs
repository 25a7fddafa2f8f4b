//! Exit codes, which are pgbench's.

/// All went well.
pub const OK: u8 = 0;
/// The command line cannot be followed, or nothing could be begun.
pub const FAILED: u8 = 1;
/// The run was begun and is not complete: clients were aborted, or the user interrupted.
pub const INCOMPLETE: u8 = 2;

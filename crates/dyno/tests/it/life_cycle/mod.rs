//! Runs from start to end: interrupted, killed, resumed, and side by side.

mod bounds;
pub(crate) mod ends;
mod interrupts;
mod kills;
mod reading;
mod resume;
mod runs;
mod two_runs;

//! sysbench's command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`options`]: what can be given, what was given and what it means; [`resolve`]: which script a name means;
//! * [`logger`]: the only way to the terminal;
//! * [`report`]: layouts of everything that is printed about a run, made from plain figures;
//! * [`native`]: bundled scripts on dyno's own workloads.
//!
//! # Invariants
//! * Option names, output labels and exit codes are sysbench's; words are our own.
//! * Passwords reach no log, report or error.

pub mod logger;
pub mod native;
pub mod options;
pub mod report;
pub mod resolve;

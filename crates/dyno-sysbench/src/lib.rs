//! sysbench's command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`program`]: from the command line to the exit code; [`job`]: what all parts share;
//! * [`options`]: what can be given, what was given and what it means; [`resolve`]: which script a
//!   name means, [`legacy`] the scripts of 0.5;
//! * [`run`]: commands carried out in Lua; [`native`]: bundled scripts as dyno's own workloads;
//! * [`workload`]: the same scripts as a workload of a spec, [`preparation`]: the `prepare` that
//!   several of them share;
//! * [`report`]: layouts of everything that is printed about a run, made from plain figures;
//! * [`logger`]: the only way to the terminal.
//!
//! # Invariants
//! * Option names, output labels and exit codes are sysbench's; words are our own.
//! * Passwords reach no log, report or error.

mod job;
mod legacy;
mod logger;
mod native;
mod options;
mod preparation;
mod program;
mod report;
mod resolve;
mod run;
mod workload;

pub use dyno_lua::STACK as SCRIPT_STACK;
pub use logger::{Terminal, Transcript};
pub use options::curve;
pub use program::main;
pub use workload::{Scripts, declared_options, description};

//! sysbench's command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`program`]: from the command line to the exit code; [`job`]: what all parts share;
//! * [`options`]: definitions, parsing and meaning of options; [`resolve`]: finds the script for a
//!   name, [`legacy`] the scripts of 0.5;
//! * [`run`]: commands executed in Lua; [`native`]: bundled scripts as native workloads of dyno;
//! * [`workload`]: the same scripts as a workload of a spec, [`preparation`]: the `prepare` that
//!   several of them share;
//! * [`report`]: layouts of everything that is printed about a run;
//! * [`logger`]: the only access to the terminal.
//!
//! # Invariants
//! * Option names, output labels and exit codes are sysbench's; messages are dyno's own.
//! * Passwords never appear in a log, report or error.

mod bundled;
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
mod sysbench_work;
mod workload;

pub use dyno_lua::STACK as SCRIPT_STACK;
pub use logger::{Terminal, Transcript};
pub use options::curve;
pub use program::main;
pub use sysbench_work::{ScriptWork, SysbenchWork};
pub use workload::{Scripts, declared_options, description};

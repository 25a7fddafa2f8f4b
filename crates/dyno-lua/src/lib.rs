//! LuaJIT states that run sysbench scripts unmodified.
//!
//! A [`State`] is a Lua state with sysbench's API. It lives on the thread that created it. All
//! states of a program run share one [`Environment`]. A state reports through two small traits:
//! [`Meter`] (events and statements) and [`Log`] (lines that sysbench would log). The crate does
//! not depend on command lines, reports or layouts.
//!
//! # Life of a thread
//! ```text
//! State::load(environment, Role::Thread(n))     libraries, API, the script's top level
//! state.set_options(values)                     sysbench.opt
//! state.attach(meter)                           from now on statements are counted
//! state.call("thread_init", Some(n))            the script connects and prepares
//! state.settle()                                collects the garbage of that
//! ... wait for the common start ...
//! state.run_thread(n)                           the event loop, until meter or script ends it
//! state.call("thread_done", Some(n))
//! ```
//!
//! # Layout (read in this order)
//! * [`environment`]: configuration of all states; [`options`], [`report`], [`error`]: values of
//!   the interface;
//! * [`meter`]: what a state reports while it runs;
//! * [`state`]: the public interface.
//!
//! # Invariants
//! * No Lua error, no misuse of the API and no data from a server causes a panic: everything is
//!   returned as a [`ScriptError`].
//! * Only numbers are passed between compiled Lua and Rust on the hot path, and nothing is
//!   allocated there per statement.

mod api;
mod chunks;
mod context;
mod environment;
mod error;
mod handles;
mod meter;
mod modules;
mod options;
mod random;
mod report;
mod sql;
mod state;
mod transfer;

use api::{natives, scalars};

pub use context::Role;
pub use environment::{
    Access, Databases, Environment, Log, LogLevel, RandomSettings, RandomType, ScriptSource, Silent,
};
pub use error::{ErrorKind, ScriptError};
pub use meter::{Meter, NoMeter, StatementKind};
pub use modules::{bundled, bundled_names};
pub use options::{BadValue, DeclaredOption, OptionKind, OptionValue};
pub use report::{Report, ReportHooks};
pub use sql::{Interrupts, codes, connect_lines};
pub use state::State;

/// Stack that a thread needs in which a script runs, in bytes: the prelude limits what takes much
/// of it (`nesting.lua`), and Lua's own stack limits the rest. Only what is touched takes memory.
pub const STACK: usize = 8 << 20;

//! The measuring core: clients that start together, a window, samples, intervals, counters, and a
//! guaranteed end.
//!
//! * [`load`]: the input and the result of a measurement;
//! * [`meter`]: the interface through which a script reports; [`run_script`] measures a script;
//! * `worker_pool`: the threads, from their start to their last sample; `watch`: what the
//!   coordinator monitors meanwhile; `start`: the common start of worker pools; `stall`: detects
//!   that nothing commits; `open_loop`: accounts for arrivals;
//! * `partial_result`: what the clients of a process leave behind, and how it becomes a record;
//!   `elsewhere`: the same for clients in other processes;
//! * [`interrupt`]: interrupts a blocked thread.
//!
//! Native workloads ([`crate::trial`]) are clients of this core as scripts are.

pub(crate) mod elsewhere;
pub mod interrupt;
pub mod load;
pub mod meter;
mod open_loop;
pub(crate) mod partial_result;
mod stall;
pub(crate) mod start;
#[cfg(test)]
mod tests;
mod watch;
pub(crate) mod worker_pool;

use dyno_model::event::{Listener, Phase};
use load::{LoadInput, LoadRecord, TrialError};
use meter::{Script, ScriptThreads};
use start::Start;
use std::sync::Arc;
use worker_pool::{StuckThreadPolicy, WorkerPool};

/// Measures a script: every client has its own thread and may block.
///
/// # Errors
/// When a script failed before it was ready, or was not ready in time. The record contains later
/// errors.
pub fn run_script<S: Script>(
    script: S,
    threads: &ScriptThreads,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    listener.event(&input.enters(Phase::Ramp));
    let script = Arc::new(script);
    let kinds = meter::kinds(&*script);
    let mut worker_pool = WorkerPool::new(kinds, StuckThreadPolicy::LeaveBehind, input);
    meter::spawn_scripts(&mut worker_pool, &script, threads)?;
    worker_pool.await_ready(Some(threads.ready_limit), listener)?;
    Ok(worker_pool.run(&Start::soon(), listener).into_measured(listener).record)
}

//! The measuring core: clients that start together, a window, samples, intervals, books, and an end
//! that always comes.
//!
//! * [`load`]: what a caller gives and gets;
//! * [`meter`]: what a script reports with; [`run_script`] measures one;
//! * `worker_pool`: the threads, from their start to their last sample; `watch`: what the
//!   coordinator looks after meanwhile; `start`: the beginning that crews have in common;
//!   `silence`: when nothing commits; `open_loop`: what became of arrivals;
//! * [`interrupt`]: how a thread that blocks is got out of it.
//!
//! Native workloads ([`crate::trial`]) are clients of this core as scripts are.

pub mod interrupt;
pub mod load;
pub mod meter;
mod open_loop;
mod silence;
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
use worker_pool::{Ending, WorkerPool};

/// Measures a script: every client has a thread of its own and may block.
///
/// # Errors
/// When a script failed before it was ready, or was not ready in time. Trouble afterwards is in the
/// record.
pub fn run_script<S: Script>(
    script: S,
    threads: &ScriptThreads,
    input: &LoadInput<'_>,
    listener: &mut dyn Listener,
) -> Result<LoadRecord, TrialError> {
    listener.event(&input.enters(Phase::Ramp));
    let script = Arc::new(script);
    let kinds = meter::kinds(&*script);
    let mut worker_pool = WorkerPool::new(kinds, Ending::LeaveBehind, input);
    meter::spawn_scripts(&mut worker_pool, &script, threads)?;
    worker_pool.await_ready(Some(threads.ready_limit), listener)?;
    Ok(worker_pool.measure(&Start::soon(), listener).record)
}

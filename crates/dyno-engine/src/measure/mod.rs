//! The measuring core: clients that start together, a window, samples, intervals, counters, and a
//! guaranteed end.
//!
//! * [`load`]: the input and the result of a measurement;
//! * [`meter`]: the interface through which a script reports;
//! * `worker_pool`: the threads, from their start to their last sample; `load_monitor`: what the
//!   coordinator monitors meanwhile; `start`: the common start of worker pools; `stall`: detects
//!   that nothing commits; `open_loop`: accounts for arrivals;
//! * `partial_result`: results of the clients of a process, and how they become a record;
//!   `distributed`: the coordinator of clients in other processes;
//! * [`interrupt`]: interrupts a blocked thread.
//!
//! [`crate::trial`] runs it, for native workloads and for scripts.

pub(crate) mod distributed;
pub mod interrupt;
pub mod load;
mod load_monitor;
pub mod meter;
mod open_loop;
pub(crate) mod partial_result;
mod stall;
pub(crate) mod start;
#[cfg(test)]
mod tests;
pub(crate) mod worker_pool;

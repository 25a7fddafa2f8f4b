//! The monitor: samples machine, server processes, server counters and sessions every second of a
//! trial, outside the load.
//!
//! # Layout (read in this order)
//! * [`Watch`]: the listener that a trial uses: it runs the monitor, passes samples on like events,
//!   and returns warnings at the end; `watched`: the server that it observes;
//! * `sampler`: the thread that samples once a second and at the bounds of the window;
//! * `host`, `processes`: the machine and processes, based on the parsers of `procfs`;
//! * `remote`: the same for another machine, through a command;
//! * `observer`: queries the server on a separate thread, with the queries that `crate::engine` has
//!   for each engine; `sessions` and `digest` group the activity of its sessions;
//! * `others`: CPU used by other processes of this machine;
//! * `pace`: expensive queries are sent less often.
//!
//! # Cost
//! Two threads and one connection. Including the server's work for them they take less than a
//! hundredth of a processor: whatever takes more than 2 ms per sample is done less often than once
//! a second ([`pace`]). The processor time is measured (`monitor.*` in the samples), and more than
//! a hundredth raises a warning.

mod digest;
mod host;
mod observer;
pub(crate) mod others;
mod pace;
pub(crate) mod processes;
pub(crate) mod procfs;
mod remote;
mod sampler;
mod server_process;
mod sessions;
mod watch;
mod watched;

pub use remote::RemoteCommand;
pub use server_process::find_server;
pub use watch::{Trigger, Watch};
pub use watched::Watched;

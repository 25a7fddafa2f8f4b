//! The monitor: machine, server processes, server counters and sessions, looked at each second of a
//! trial beside the load.
//!
//! # Layout (read in this order)
//! * [`Watch`]: what a trial uses: a listener that runs the monitor, passes samples on as events
//!   do, and knows in the end what to doubt; `watched`: the server that it is about;
//! * `sampler`: the thread that looks, once a second and at the bounds of the window;
//! * `host`, `processes`: the machine and processes, over `procfs`, which only reads texts;
//! * `remote`: the same of another machine, through a command;
//! * `observer`: asks the server, on a thread of its own, what `crate::engine` has for each engine;
//!   `sessions` and `digest` group what its sessions do;
//! * `others`: who else worked on this machine;
//! * `pace`: what costs much is done less often.
//!
//! # Cost
//! Two threads and one connection. Together with what the server does for them they stay below a
//! hundredth of a processor: whatever costs more than 2 ms per look is done less often than once a
//! second ([`pace`]). The processor time is measured (`monitor.*` in the samples), and more than a
//! hundredth is a finding.

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
pub(crate) mod sessions;
mod values;
mod watch;
mod watched;

pub use remote::RemoteCommand;
pub use server_process::find_server;
pub use watch::{Trigger, Watch};
pub use watched::Watched;

pub(crate) use values::Values;

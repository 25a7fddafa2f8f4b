//! The monitor: machine, server processes, server counters and sessions, looked at each second of a trial beside the load.
//!
//! # Layout (read in this order)
//! * [`Watch`]: what a trial uses: a listener that runs the monitor, passes samples on as events do, and knows in the end
//!   what to doubt;
//! * `looker`: the thread that looks, once a second and at the bounds of the window;
//! * `host`, `processes`: the machine and processes, over `procfs`, which only reads texts;
//! * `remote`: the same of another machine, through a command;
//! * `observer`: asks the server, on a thread of its own, what `observed` offers for each engine; `sessions` and `digest` group what its sessions do;
//! * `others`: who else worked on this machine;
//! * `pace`: what costs much is done less often.
//!
//! # Cost
//! Two threads and one connection. Together with what the server does for them they stay below a hundredth of a processor:
//! whatever costs more than 2 ms per look is done less often than once a second ([`pace`]). The processor time is measured
//! (`monitor.*` in the samples), and more than a hundredth is a finding.

mod digest;
mod host;
mod looker;
pub(crate) mod observed;
mod observer;
mod others;
mod pace;
pub(crate) mod processes;
pub(crate) mod procfs;
mod remote;
mod server_process;
pub(crate) mod sessions;
mod values;
mod watch;

pub use remote::RemoteCommand;
pub use server_process::find_server;
pub use watch::{Bell, Watch};

pub(crate) use values::Values;

use dyno_model::target::Target;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What the monitor looks at besides this machine.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Where the server is asked.
    pub target: Target,
    /// The server's process on this machine, if it is one.
    pub pid: Option<u32>,
    /// True when the server is on this machine.
    pub is_local: bool,
    /// How the server's machine is seen when it is another.
    pub command: Option<RemoteCommand>,
}

/// Processor time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

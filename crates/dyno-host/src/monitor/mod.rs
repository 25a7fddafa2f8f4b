//! The monitor: machine, server processes, server counters and sessions, looked at each second of a trial beside the load.
//!
//! # Layout (read in this order)
//! * [`Watch`]: what a trial uses: a listener that runs the monitor, passes samples on as events do, and knows in the end
//!   what to doubt;
//! * `looker`: the thread that looks, once a second and at the bounds of the window;
//! * `host`, `processes`: the machine and processes, over `procfs`, which only reads texts;
//! * `remote`: the same of another machine, through a command;
//! * `observer`: asks the server, on a thread of its own; `sessions` and `digest` group what its sessions do;
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
mod observer;
mod others;
mod pace;
mod processes;
mod procfs;
mod remote;
mod server_process;
mod sessions;
mod watch;

pub use remote::RemoteCommand;
pub use server_process::find_server;
pub use watch::{Bell, Watch};

use dyno_model::target::Target;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
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

/// Values by name.
#[derive(Debug, Clone, PartialEq, Default)]
struct Values(BTreeMap<String, f64>);

impl Values {
    fn put(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn put_some(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The same values, their names behind a word.
    fn behind(self, word: &str) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (format!("{word}{name}"), value)).collect())
    }

    #[cfg(test)]
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Processor time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

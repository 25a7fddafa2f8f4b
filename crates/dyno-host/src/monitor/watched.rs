//! What the monitor observes besides this machine.

use super::remote::RemoteCommand;
use dyno_model::target::Target;

/// A server to observe.
#[derive(Debug, Clone)]
pub struct Watched {
    /// Where the server is queried.
    pub target: Target,
    /// Databases whose values are summed; empty for that of the target.
    pub databases: Vec<String>,
    /// The server's process on this machine, if any; those of all nodes of a cluster.
    pub pids: Vec<u32>,
    /// True when the server is on this machine.
    pub is_local: bool,
    /// How the server's machine is observed when it is another one.
    pub command: Option<RemoteCommand>,
}

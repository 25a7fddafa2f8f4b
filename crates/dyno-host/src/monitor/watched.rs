//! What the monitor looks at besides this machine.

use super::remote::RemoteCommand;
use dyno_model::target::Target;

/// A server, as the monitor sees it.
#[derive(Debug, Clone)]
pub struct Watched {
    /// Where the server is asked.
    pub target: Target,
    /// Databases of it whose figures are summed; none: that of the target.
    pub databases: Vec<String>,
    /// The server's process on this machine, if it is one; those of all nodes of a cluster.
    pub pids: Vec<u32>,
    /// True when the server is on this machine.
    pub is_local: bool,
    /// How the server's machine is seen when it is another.
    pub command: Option<RemoteCommand>,
}

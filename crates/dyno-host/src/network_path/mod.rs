//! Processes that dyno starts on the network path from the clients to a server: on a free port of
//! 127.0.0.1, with their own configuration, managed by a supervisor like servers.
//!
//! * `haproxy`: a TCP proxy;
//! * `fault_proxy`: dyno's own proxy, which can be closed, for faults;
//! * `tomcat`: an application server, whose application executes HTTP requests as SQL;
//! * `place`: what both have in common.

mod fault_proxy;
mod haproxy;
mod run_directory;
mod tomcat;

pub use fault_proxy::FaultProxy;
pub use run_directory::RunningPath;

use crate::error::HostError;
use crate::server::StartOptions;
use dyno_model::plan::Via;
use dyno_model::target::Target;

/// Name and version of the process on this network path; `None` when there is none.
///
/// # Errors
/// When its program, or a file that it needs, is missing.
pub fn locate(via: &Via) -> Result<Option<(&'static str, String)>, HostError> {
    match via {
        Via::Proxy(plan) => Ok(Some((plan.kind.name(), haproxy::locate(plan.kind)?.1))),
        Via::Application(plan) => Ok(Some((plan.kind.name(), tomcat::locate(plan)?.version))),
        Via::Tcp | Via::Socket | Via::Address(_) => Ok(None),
    }
}

/// Starts the process of this network path in front of these servers, and waits until it works.
/// `None` when there is none to start.
///
/// # Errors
/// When there is no program, it does not start, or does not answer. Nothing is left behind then.
pub fn start(
    via: &Via,
    servers: &[Target],
    options: &StartOptions,
) -> Result<Option<RunningPath>, HostError> {
    match via {
        Via::Proxy(plan) => haproxy::start(plan, &servers[0], options).map(Some),
        Via::Application(plan) => tomcat::start(plan, servers, options).map(Some),
        Via::Tcp | Via::Socket | Via::Address(_) => Ok(None),
    }
}

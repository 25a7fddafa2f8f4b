//! What dyno starts on the way from the clients to a server: on a free port of 127.0.0.1, with a
//! configuration of its own, looked after by a guard as servers are.
//!
//! * `haproxy`: a proxy, which passes on what it gets;
//! * `fault_proxy`: dyno's own proxy, which can be shut, for faults;
//! * `tomcat`: an application server, whose application turns requests over HTTP into SQL;
//! * `place`: what both have in common.

mod fault_proxy;
mod haproxy;
mod place;
mod tomcat;

pub use fault_proxy::FaultProxy;
pub use place::RunningPath;

use crate::error::HostError;
use crate::server::StartOptions;
use dyno_model::plan::Via;
use dyno_model::target::Target;

/// What is started on this way: its name and the version it tells; `None` when nothing is.
///
/// # Errors
/// When its program, or a file that it needs, is not there.
pub fn locate(via: &Via) -> Result<Option<(&'static str, String)>, HostError> {
    match via {
        Via::Proxy(plan) => Ok(Some((plan.kind.name(), haproxy::locate(plan.kind)?.1))),
        Via::Application(plan) => Ok(Some((plan.kind.name(), tomcat::locate(plan)?.version))),
        Via::Tcp | Via::Socket | Via::Address(_) => Ok(None),
    }
}

/// Starts what this way leads along in front of these servers, and waits until it works. `None`
/// when nothing has to be started.
///
/// # Errors
/// When there is no program, it does not start, or nobody gets an answer through it. Nothing is
/// left behind then.
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

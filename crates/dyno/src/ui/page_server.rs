//! The server of `dyno run --serve` and `dyno serve`: its address and the token of its clients.

use crate::failure::Failure;
use dyno_host::random;
use dyno_live::server::{Access, Handler, Server};
use dyno_model::exit_code;
use std::net::SocketAddr;
use std::sync::Arc;

/// Environment variable with the token that clients must know.
const TOKEN: &str = "DYNO_SERVE_TOKEN";

/// A server that listens and does not answer yet.
pub(crate) struct PageServer(Server);

impl PageServer {
    /// Listens on an address.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn new(address: SocketAddr) -> Result<Self, Failure> {
        Server::bind(address).map(Self).map_err(|error| {
            let what = format!("cannot listen on {address}");
            Failure::new(exit_code::USAGE, what).because(&error).help(
                "choose another port, such as 127.0.0.1:7342; port 0 lets the operating system \
                 choose",
            )
        })
    }

    /// Answers requests; returns the link to its first page.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) fn serve(self, site: Arc<dyn Handler>) -> Result<String, Failure> {
        let failed = |error: &std::io::Error| {
            Failure::new(exit_code::INTERNAL, "cannot start the server").because(error)
        };
        let address = self.0.address().map_err(|error| failed(&error))?;
        let token = match std::env::var(TOKEN) {
            Ok(token) if !token.is_empty() => Some(token),
            _ => (!address.ip().is_loopback()).then(random::token),
        };
        let link = match &token {
            Some(token) => format!("http://{address}/?token={token}"),
            None => format!("http://{address}/"),
        };
        let access = token.map_or_else(Access::local, Access::token);
        self.0.serve(access, site).map_err(|error| failed(&error))?;
        Ok(link)
    }
}

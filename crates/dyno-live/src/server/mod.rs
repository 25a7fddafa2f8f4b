//! A small HTTP server that only reads: a thread per connection, one response each. A client that
//! sends or takes data too slowly is dropped.
//!
//! # Layout (read in this order)
//! * `access`: who may read; `request`: what is asked for; `response`: the answer and its policy;
//! * `run`: the pages of a running experiment, `page` their HTML, `view` their figures;
//!   `runs`: the list of finished runs.

mod access;
mod page;
mod request;
mod response;
mod run;
mod runs;
mod view;

pub use access::Access;
pub use run::LiveRunHandler;
pub use runs::ResultsHandler;

use request::Request;
use response::{Response, Status, TIMEOUT};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Connections at a time; more are closed at once.
const CONNECTIONS_MAX: usize = 32;

/// The stack of the thread of a connection. Reports are rendered on it.
const STACK: usize = 2 << 20;

/// What a server serves.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request; `None`: there is no such page.
    fn respond(&self, request: &Request) -> Option<Response>;
}

/// A server, which listens until the process ends.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
}

impl Server {
    /// Listens on an address.
    ///
    /// # Errors
    /// When the address cannot be used, for example because the port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address)? })
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// When the operating system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests, on threads of its own.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn serve(self, access: Access, site: Arc<dyn Handler>) -> io::Result<()> {
        let serve = move || {
            let connections = Arc::new(AtomicUsize::new(0));
            let access = Arc::new(access);
            for stream in self.listener.incoming().flatten() {
                let slot = Slot(Arc::clone(&connections));
                if slot.0.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                    continue;
                }
                let (access, site) = (Arc::clone(&access), Arc::clone(&site));
                // Without a thread the connection is closed.
                let _ = thread::Builder::new()
                    .name("dyno-http".to_owned())
                    .stack_size(STACK)
                    .spawn(move || {
                        let _slot = slot;
                        let _ = answer(stream, &access, &*site);
                    });
            }
        };
        thread::Builder::new().name("dyno-server".to_owned()).spawn(serve).map(drop)
    }
}

/// A connection in the number of connections.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, access: &Access, site: &dyn Handler) -> io::Result<()> {
    let request = match Request::read(&mut stream, TIMEOUT)? {
        Ok(request) => request,
        Err(status) => return Response::status(status).send(&mut stream),
    };
    let response = match access.check(&request) {
        Err(status) => Response::status(status),
        Ok(Some(cookie)) => Response::redirect(request.path(), &cookie),
        Ok(None) => site.respond(&request).unwrap_or_else(|| Response::status(Status::NotFound)),
    };
    response.send(&mut stream)
}

#[cfg(test)]
mod tests;

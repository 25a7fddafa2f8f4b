//! Null servers: canned replies behind a socket, for calibrating load generators.
//!
//! One thread, one epoll. Messages are answered by their first words alone; all replies to the
//! messages of one read are sent in one write. There are no tables: every `SELECT` has one row
//! whose fields follow from the select list ([`column`]), every `INSERT`, `UPDATE` and `DELETE`
//! changes one row, everything else succeeds. A point select returns one `CHAR(120)` of 119
//! characters like sysbench's tables, so that clients receive as much as from a real server.
//!
//! * [`serve`] runs a server on a separate thread; [`NullServer::run_until`] runs it on the current
//!   one.
//! * Any user and password are accepted; there is no TLS.
//! * [`Options`] can make it misbehave: never answer, hang, close connections; or imitate another
//!   product ([`Persona`]).
//!
//! # Layout
//! `event_loop` has the sockets; `mysql` and `postgres` are sessions without any I/O.

mod column;
mod conversation;
mod event_loop;
mod mysql;
mod persona;
mod postgres;
#[cfg(test)]
mod tests;

use conversation::{Conversation, Shared};
pub use conversation::{Options, ServerCounters};
use event_loop::EventLoop;
use mio::Waker;
pub use persona::{Persona, Protocol, Rejection};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Serves until the flag is set.
type Serve = Box<dyn FnOnce(&AtomicBool) -> io::Result<()> + Send>;

/// A null server bound to its address, not yet running.
pub struct NullServer {
    serve: Serve,
    waker: Arc<Waker>,
    local_addr: SocketAddr,
    counters: Arc<ServerCounters>,
}

/// Binds a server with sessions of this kind to an address.
fn bound<S: Conversation + Send + 'static>(
    address: SocketAddr,
    shared: Shared,
) -> io::Result<(Serve, Arc<Waker>, SocketAddr)> {
    let (event_loop, local_addr) = EventLoop::<S>::bind(address, shared)?;
    let waker = event_loop.waker();
    Ok((Box::new(|stop| event_loop.run_until(stop)), waker, local_addr))
}

impl NullServer {
    /// Binds to an address; with port 0 the system chooses a port.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind(protocol: Protocol, address: SocketAddr, options: Options) -> io::Result<Self> {
        let counters = Arc::<ServerCounters>::default();
        let shared = Shared { options, counts: Arc::clone(&counters) };
        let bound = match protocol {
            Protocol::Mysql => bound::<mysql::MysqlConversation>,
            Protocol::Postgres => bound::<postgres::PostgresConversation>,
        };
        let (serve, waker, local_addr) = bound(address, shared)?;
        Ok(Self { serve, waker, local_addr, counters })
    }

    /// The address with the port that the system chose.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Its counters, which may be read while it runs.
    #[must_use]
    pub fn counters(&self) -> Arc<ServerCounters> {
        Arc::clone(&self.counters)
    }

    /// Serves on this thread until the flag is set, which is checked 20 times a second and after
    /// every signal.
    ///
    /// # Errors
    /// When waiting for sockets fails, which is an error of the system.
    pub fn run_until(self, stop: &AtomicBool) -> io::Result<()> {
        (self.serve)(stop)
    }
}

/// A null server on a separate thread; dropping it stops it.
pub struct RunningServer {
    /// Its listening address.
    pub local_addr: SocketAddr,
    counters: Arc<ServerCounters>,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Starts a null server on a new thread.
///
/// # Errors
/// When the address cannot be bound or no thread can be started.
pub fn serve(
    protocol: Protocol,
    address: SocketAddr,
    options: Options,
) -> io::Result<RunningServer> {
    let server = NullServer::bind(protocol, address, options)?;
    let (local_addr, counters, waker) =
        (server.local_addr(), server.counters(), Arc::clone(&server.waker));
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::Builder::new()
        .name("null-server".to_owned())
        .spawn(move || server.run_until(&flag))?;
    Ok(RunningServer { local_addr, counters, stop, waker, thread: Some(thread) })
}

impl RunningServer {
    /// Its counters, which continue while it runs.
    #[must_use]
    pub fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// Closes all connections and ends the thread.
    ///
    /// # Errors
    /// The error that ended the server before, if any.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.stop.store(true, Ordering::Release);
        self.waker.wake()?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the null server's thread panicked")))
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // Callers that need the result call `stop`.
        let _ = self.end();
    }
}

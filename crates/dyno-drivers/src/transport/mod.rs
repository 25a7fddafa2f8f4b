//! Sockets and the event loop.
//!
//! One worker thread owns one [`Reactor`] (epoll through mio, edge-triggered) and one [`Executor`]
//! whose tasks are clients. A client's future reads from its [`Stream`]; without data the future
//! pends, the reactor remembers which task owns the socket, and the executor polls that task when
//! the socket becomes ready. There are no wakers, no locks and no allocations on this path. The
//! same driver code runs on blocking sockets: with timeouts ([`Io::WithTimeout`]) for all queries
//! outside the load, and without ([`Io::Blocking`]) for clients that need their own thread.

mod encryption;
mod executor;
mod failure;
mod io;
mod reactor;
mod resolve;
mod stream;
mod tls;

pub use executor::{Executor, block_on};
pub use failure::{ConnectFailure, stream_failure};
pub use io::Io;
pub use reactor::{Reactor, ReactorCounters, TaskId};
pub(crate) use resolve::addresses;
pub use stream::Stream;
pub use tls::client_configuration;

//! Drivers: how dyno speaks to databases.
//!
//! # Layout (read in this order)
//! * [`address`]: where a system is, and whether that is this machine;
//! * [`driver`]: the one interface ([`Driver`]); [`connection`]: the [`Connection`] that is any of
//!   the drivers;
//! * [`http`]: services that speak no SQL, with an interface of their own;
//! * [`value`]: parameters, rows and what becomes of them; [`sql_text`]: statements as texts, and
//!   where parameters stand in them;
//! * [`transport`]: sockets, TLS, the event loop and the executor that let one thread drive many
//!   connections;
//! * [`open_files`]: how many files connections take, and how many there may be;
//! * [`timeout`]: how long a thread waits for answers beside the load, and what Ctrl-C does to
//!   that;
//! * [`own_sessions`]: which sessions that a server lists are dyno's own;
//! * one folder per system, all with the same skeleton: `mod.rs`, `connection.rs` (state and I/O),
//!   `protocol/` (bytes in, bytes out; no I/O imports), `error.rs` (error numbers to failure
//!   kinds).
//!
//! # Invariants
//! * A statement costs one write and one read when its answer fits the buffer, and allocates
//!   nothing once buffers have grown.
//! * Failures are values ([`dyno_model::failure::OperationFailure`]); drivers never panic on what a
//!   server sends.
//! * This crate knows nothing of workloads, schedules or results.

pub mod address;
pub mod connection;
pub mod driver;
pub mod http;
pub mod mysql;
pub mod null;
pub mod open_files;
pub mod own_sessions;
pub mod postgres;
pub mod reading;
pub mod sql_text;
pub mod sqlite;
pub mod timeout;
pub mod transport;
pub mod value;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use connection::Connection;
pub use driver::{Driver, Outcome, Statement};
pub use postgres::protocol::placeholder;
pub use timeout::TimeoutPolicy;
pub use transport::{Executor, Io, block_on};
pub use value::{
    BulkLoad, Discard, FirstInteger, Row, RowSink, RowSource, RowWriter, Table, Value,
};

/// Locks what a thread that panicked may have left locked. Whatever is behind such a lock is whole
/// between any two changes.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

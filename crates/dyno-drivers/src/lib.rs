//! Drivers: how dyno talks to databases.
//!
//! # Layout (read in this order)
//! * [`address`]: the address of a system, and whether it is on this machine;
//! * [`driver`]: the common interface ([`Driver`]); [`connection`]: the [`Connection`] that wraps
//!   all drivers;
//! * [`http`]: services without SQL, with a separate interface;
//! * [`value`]: parameters, rows and row sinks; [`sql_text`]: finds the end of statements and their
//!   parameters in text;
//! * [`transport`]: sockets, TLS, the event loop and the executor with which one thread drives many
//!   connections;
//! * [`open_files`]: how many files connections need, and how many are allowed;
//! * [`timeout`]: timeouts for queries outside the load, and the effect of Ctrl-C on them;
//! * [`statistics`]: updates of the planner's statistics;
//! * [`own_sessions`]: which of a server's sessions are dyno's own;
//! * one folder per system, all with the same structure: `mod.rs`, `connection.rs` (state and I/O),
//!   `protocol/` (encoding and decoding; no I/O imports), `error.rs` (error numbers to failure
//!   kinds).
//!
//! # Invariants
//! * A statement costs one write and one read when its answer fits the buffer, and allocates
//!   nothing once buffers have grown.
//! * Failures are values ([`dyno_model::failure::OperationFailure`]); drivers never panic on data
//!   from a server.
//! * This crate does not depend on workloads, schedules or results.

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
pub mod statistics;
pub mod timeout;
pub mod transport;
pub mod value;

pub use connection::Connection;
pub use driver::{Driver, Outcome, Statement};
pub use postgres::protocol::placeholder;
pub use statistics::update_statistics;
pub use timeout::TimeoutPolicy;
pub use transport::{Executor, Io, block_on};
pub use value::{
    BulkLoad, Discard, FirstInteger, Row, RowSink, RowSource, RowWriter, Table, Value,
};

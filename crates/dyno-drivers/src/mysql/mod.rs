//! MySQL, MariaDB, and other servers with their protocol.
//!
//! * [`protocol`]: encoding and decoding;
//! * [`connection`]: a connection, its state and its I/O; `driver`: the driver interface on top of
//!   it;
//! * `login`: greeting, TLS, authentication;
//! * `bulk`: loading with `LOAD DATA LOCAL INFILE` or large `INSERT` statements;
//! * `local_file`: files that `LOAD DATA LOCAL` in a statement's text names;
//! * [`error`]: error numbers to failure kinds.
//!
//! Affected rows are rows whose value changed: `CLIENT_FOUND_ROWS` is never requested.

mod bulk;
pub mod connection;
mod driver;
pub mod error;
mod local_file;
mod login;
pub mod protocol;

pub use connection::{Connection, FileOpener};

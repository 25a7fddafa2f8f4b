//! MySQL, MariaDB, and others that speak their protocol.
//!
//! * [`protocol`]: bytes in, bytes out;
//! * [`connection`]: one connection, its state and its I/O;
//! * `login`: greeting, TLS, authentication;
//! * `bulk`: loading by `LOAD DATA LOCAL INFILE` or large `INSERT` statements;
//! * [`error`]: error numbers to failure kinds.
//!
//! Affected rows are rows whose value changed: `CLIENT_FOUND_ROWS` is never asked for.

mod bulk;
pub mod connection;
pub mod error;
mod login;
pub mod protocol;

pub use connection::Connection;

//! MySQL, MariaDB, and others that speak their protocol.
//!
//! * [`protocol`]: bytes in, bytes out;
//! * [`connection`]: one connection, its state and its I/O; `driver`: what every driver does, with
//!   it;
//! * `login`: greeting, TLS, authentication;
//! * `bulk`: loading by `LOAD DATA LOCAL INFILE` or large `INSERT` statements;
//! * `local_file`: files that `LOAD DATA LOCAL` in a statement's text names;
//! * [`error`]: error numbers to failure kinds.
//!
//! Affected rows are rows whose value changed: `CLIENT_FOUND_ROWS` is never asked for.

mod bulk;
pub mod connection;
mod driver;
pub mod error;
mod local_file;
mod login;
pub mod protocol;

pub use connection::{Connection, FileOpener};

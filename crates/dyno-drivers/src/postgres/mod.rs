//! PostgreSQL 15 to 18 and other servers with version 3 of its protocol.
//!
//! # Layout
//! * [`connection`]: state and I/O of one connection, the driver's methods;
//! * `connect`: opens a connection and logs in; `bulk`: COPY; [`pipeline`]: several executions
//!   before their answers are read;
//! * [`protocol`]: encoding and decoding;
//! * [`error`]: SQLSTATE to failure kind.
//!
//! # Messages
//! | mode | one execution, in one write | parameters | rows |
//! |---|---|---|---|
//! | prepared | Bind, Execute, Sync | binary (see below), else text | binary, else text |
//! | extended | Parse, Bind, Execute, Sync (first also Describe) | text | text |
//! | simple | Query, values written into the text | literals | text |
//!
//! Integers, double precision and bytea are sent in binary where the server reported these types.
//! Binary integers are the cheapest for both sides: a fixed number of bytes, nothing to format or
//! parse. All other types are text because their binary forms (numeric, timestamps) cost more than
//! their digits. Unlike in libpq, nothing is described again at each execution.

mod bulk;
mod connect;
pub mod connection;
mod driver;
pub mod error;
pub mod pipeline;
pub mod protocol;

pub use connection::Connection;

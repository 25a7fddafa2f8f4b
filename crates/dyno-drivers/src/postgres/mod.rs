//! PostgreSQL 15 to 18 and others that speak its protocol, version 3.
//!
//! # Layout
//! * [`connection`]: state and I/O of one connection, the driver's methods;
//! * `connect`: the way from nothing to a connection that is logged in; `load`: COPY; [`pipeline`]:
//!   many executions before their answers are awaited;
//! * [`protocol`]: bytes in, bytes out;
//! * [`error`]: SQLSTATE to failure kind.
//!
//! # What travels
//! | mode | one execution, in one write | parameters | rows |
//! |---|---|---|---|
//! | prepared | Bind, Execute, Sync | integers, double precision, bytea binary where the server said so, else text | the same types binary, else text |
//! | extended | Parse, Bind, Execute, Sync (the first time with Describe) | text | text |
//! | simple | Query, values written into the text | literals | text |
//!
//! Binary integers are the cheapest on both sides: a fixed few bytes, nothing to format or to
//! parse. All other types are text because their binary forms (numeric, timestamps) cost more to
//! make than their digits. Unlike libpq, nothing is described again at each execution.

mod connect;
pub mod connection;
mod driver;
pub mod error;
mod load;
pub mod pipeline;
pub mod protocol;

pub use connection::Connection;

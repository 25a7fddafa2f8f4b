//! Canned replies, for tests and calibration.
//!
//! * [`Connection`]: a driver that answers in this process, with latencies, failures, stalls and
//!   hang-ups scripted by the text in `Target::database` ([`script`] has the options);
//! * [`server`]: the same idea behind a socket, speaking the MySQL or PostgreSQL protocol well
//!   enough for sysbench and pgbench.

mod connection;
pub mod script;
pub mod server;
pub mod statement;

pub use connection::Connection;
pub use script::Script;
pub use statement::StatementKind;

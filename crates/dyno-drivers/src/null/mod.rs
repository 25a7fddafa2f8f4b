//! Canned replies, for tests and calibration.
//!
//! * [`Connection`]: a driver that answers within this process; latencies, failures, stalls and
//!   hangs are scripted by the text in `Target::database` ([`script`] lists the options);
//! * [`server`]: a server with canned replies, whose MySQL or PostgreSQL protocol is sufficient for
//!   sysbench and pgbench.

mod connection;
pub mod script;
pub mod server;
pub mod statement;

pub use connection::Connection;
pub use script::Script;
pub use statement::StatementKind;

//! The MySQL driver against real MariaDB and MySQL servers, and against servers that misbehave.
//!
//! Servers that this machine lacks are skipped with a printed reason (`cargo test -- --nocapture`
//! shows it).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test says why")]

mod authentication;
mod bulk;
mod captures;
mod failures;
mod fake;
mod proxy;
mod server;
mod statements;
mod types;

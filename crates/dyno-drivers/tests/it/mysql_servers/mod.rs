//! The MySQL driver with real MariaDB and MySQL servers, and with misbehaving ones.
//!
//! Tests of servers that are not installed are skipped with a printed reason (`cargo test --
//! --nocapture` shows it).
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

//! The PostgreSQL driver with a real server, which these tests start and which ends with them.
#![allow(clippy::unwrap_used, reason = "what fails to set up a test fails the test")]

mod binding;
mod clients;
mod failures;
mod loads;
mod logins;
mod pipelines;
mod server;
mod statements;

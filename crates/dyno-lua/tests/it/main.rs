//! Scripts executed by states, without servers and with real ones.
#![allow(clippy::unwrap_used, reason = "what fails to set up a test fails the test")]

mod engine;
mod errors;
mod legacy;
mod modules;
mod options;
mod random;
mod reports;
mod running;
mod servers;
mod statements;

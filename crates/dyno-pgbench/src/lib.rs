//! pgbench's scripts, command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`script`]: from a file to commands; [`expression`]: what `\set` computes; [`variables`]; [`random`]: pgbench's random
//!   numbers, bit for bit;
//! * [`options`]: the command line, and where to connect;
//! * [`statistics`], [`report`]: what is counted, and the text that is made of it.

pub mod expression;
pub mod options;
pub mod random;
pub mod report;
pub mod script;
pub mod statistics;
pub mod variables;

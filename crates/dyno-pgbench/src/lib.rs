//! pgbench's scripts, command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`options`]: the command line, and where to connect;
//! * [`script`]: from a file to commands; [`expression`]: what `\set` computes; [`variables`];
//!   [`random`]: pgbench's random numbers, bit for bit;
//! * [`perform`]: performing scripts; [`transactions`]: as a workload of a spec; [`sending`]:
//!   prepared, or as text; [`changes`]: which tables statements may change;
//! * [`run`]: running them as pgbench does; [`initialise`]: making the standard tables;
//!   [`failure`]: failures in pgbench's words;
//! * [`statistics`], [`report`]: what is counted, and the text that is made of it;
//! * [`terminal`], [`exit_code`]: the way out.
//!
//! # Invariants
//! * What parsers of pgbench's output read is laid out as pgbench 15 lays it out.
//! * With the same seed, one client draws the same numbers and chooses the same scripts as in
//!   pgbench 15.
//! * A password reaches neither terminal nor results.

mod changes;
pub mod exit_code;
mod expression;
mod failure;
mod initialise;
mod options;
mod own;
mod perform;
mod random;
mod report;
mod run;
mod script;
mod sending;
mod setup;
mod statistics;
mod terminal;
mod transactions;
mod variables;

use dyno_drivers::address::Surroundings;
use options::Request;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub use changes::{mentions, reads};
pub use options::curve;
pub use terminal::Terminal;
pub use transactions::{SQL, Transactions, description};

/// Does what the arguments (after the program's name) ask for. `interrupts` counts how often the
/// user has asked for an end. Returns the exit code.
pub fn main(arguments: &[String], terminal: &Arc<dyn Terminal>, interrupts: &AtomicUsize) -> u8 {
    let world = Surroundings::of_process();
    let request = match options::read(arguments, world.variable) {
        Ok(request) => request,
        Err(error) => {
            terminal.message(&format!("{error}\n"));
            return exit_code::FAILED;
        }
    };
    let resolve = |address: &options::Address, mode| {
        options::target::resolve(address, mode, &world)
            .map_err(|error| terminal.message(&format!("{error}\n")))
    };
    match request {
        Request::Print(text) => {
            terminal.result(&text);
            exit_code::OK
        }
        Request::Tell(text) => {
            terminal.message(&text);
            exit_code::OK
        }
        Request::Initialise(wanted, address) => {
            match resolve(&address, dyno_model::target::QueryMode::Simple) {
                Ok(target) => initialise::initialise(&wanted, &target, &**terminal, interrupts),
                Err(()) => exit_code::FAILED,
            }
        }
        Request::Run(wanted, address) => match resolve(&address, wanted.query_mode) {
            Ok(target) => run::run(&wanted, &target, terminal, interrupts),
            Err(()) => exit_code::FAILED,
        },
    }
}

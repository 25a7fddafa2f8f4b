//! pgbench's scripts, command line and output on dyno's engine.
//!
//! # Layout (read in this order)
//! * [`options`]: the command line and the target;
//! * [`script`]: from a file to commands; [`expression`]: expressions of `\set`; [`variables`];
//!   [`random`]: pgbench's random numbers, bit for bit;
//! * [`perform`]: executes scripts; [`transactions`]: scripts as a workload of a spec; [`sending`]:
//!   how statements are sent; [`changes`]: tables that statements may change;
//! * [`run`]: runs scripts like pgbench; [`initialise`]: creates the standard tables; [`failure`]:
//!   failures in pgbench's words;
//! * [`statistics`], [`report`]: counters, and their text;
//! * [`terminal`], [`exit_code`]: output.
//!
//! # Invariants
//! * Output that is parsed by other programs has the layout of pgbench 15.
//! * With the same seed, one client draws the same numbers and chooses the same scripts as in
//!   pgbench 15.
//! * Passwords never appear on the terminal or in results.

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
mod session_state;
mod setup;
mod statistics;
mod terminal;
mod tpcb;
mod transactions;

use dyno_drivers::address::Surroundings;
use dyno_engine::GeneratorSource;
use options::Request;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub use changes::{mentions, reads};
pub use options::curve;
pub use run::distributed::PgbenchWork;
pub use terminal::Terminal;
pub use tpcb::{TPCB, description as tpcb_description, tpcb, tpcb_statements};
pub use transactions::{SQL, Transactions, description};

/// Executes the arguments (without the program's name). `interrupts` counts the interrupts by the
/// user; `source` starts the generators that a command line asks for. Returns the exit code.
pub fn main(
    arguments: &[String],
    terminal: &Arc<dyn Terminal>,
    interrupts: &AtomicUsize,
    source: Option<&dyn GeneratorSource<PgbenchWork>>,
) -> u8 {
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
            Ok(target) => run::run(&wanted, &target, terminal, interrupts, source),
            Err(()) => exit_code::FAILED,
        },
    }
}

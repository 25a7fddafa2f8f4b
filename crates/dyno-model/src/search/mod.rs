//! The search for the highest load at which a system passes a limit: the question, the load steps,
//! and the result. Pure: the caller measures each load and reports the result to
//! [`SaturationSearch`].
//!
//! * `search_question`: the question ([`Search`]), a load step ([`LoadStep`]) and the result
//!   ([`SearchRecord`]);
//! * [`evidence`]: whether the transactions of a load step pass or fail the limit, or are too few
//!   to decide;
//! * [`lengths`]: lengths of load steps;
//! * [`saturation`]: the choice of the next load and its length.

pub mod evidence;
mod lengths;
mod saturation;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use crate::search_question::{
    LoadStep, Outcome, PRECISION, STEPS_MAX, Search, SearchEnd, SearchRecord, Slow,
};
pub use lengths::{Lengths, StepLengths};
pub use saturation::{Next, Observed, SaturationSearch};

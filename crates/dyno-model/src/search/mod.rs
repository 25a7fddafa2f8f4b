//! The search for the highest load that a system takes: the question, the load steps, and the
//! result. Pure: whoever measures a load reports the result to [`SaturationSearch`].
//!
//! * [`question`]: what is asked ([`Search`]), one load step ([`LoadStep`]) and the result
//!   ([`SearchRecord`]);
//! * [`evidence`]: whether the transactions of a load step pass or fail the limit, or are too few
//!   to decide;
//! * [`lengths`]: how long load steps take;
//! * [`saturation`]: which load is measured next, and for how long.

pub mod evidence;
mod lengths;
mod question;
mod saturation;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use lengths::{Lengths, Window};
pub use question::{
    LoadStep, Outcome, PRECISION, STEPS_MAX, Search, SearchEnd, SearchRecord, Slow,
};
pub use saturation::{Next, Observed, SaturationSearch};

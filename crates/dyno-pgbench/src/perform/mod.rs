//! Executes scripts, for pgbench's own loop or for a workload of a spec.
//!
//! * [`program`]: scripts in the form shared by all clients; [`command`]: executes their commands;
//!   [`rows`]: stored results; [`trial_run`]: finds out whether a script writes.

mod command;
mod program;
mod rows;
mod trial_run;

pub(crate) use command::{Performer, Stop, attempt, micros, roll_back};
pub(crate) use program::{Program, first_words};
pub(crate) use trial_run::{Refusal, writing};

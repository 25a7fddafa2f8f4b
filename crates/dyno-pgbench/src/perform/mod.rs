//! Performing scripts, whoever asks for it: pgbench's own loop, or a workload of a spec.
//!
//! * [`program`]: scripts as all clients perform them; [`command`]: what their commands do;
//!   [`rows`]: results that scripts keep;
//!   [`trial_run`]: whether a script writes.

mod command;
mod program;
mod rows;
mod trial_run;

pub(crate) use command::{Performer, Stop, attempt, micros, roll_back};
pub(crate) use program::{Program, first_words};
pub(crate) use trial_run::writing;

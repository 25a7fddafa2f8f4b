//! Statistics of repeats: intervals, comparisons, verdicts. Pure functions over slices; imports
//! only `std`.
//!
//! # Layout
//! * [`student`]: the t distribution, its quantiles, mean and interval;
//! * [`compare`]: ratio of two configurations with interval, p-value and smallest visible effect;
//! * [`ranks`]: the same ratio without assumptions about the distribution (Hodges and Lehmann, Mann
//!   and Whitney);
//! * [`mixed`]: one effect over all cells of an experiment, with blocks and starts of servers as
//!   strata; `matrix`: its linear algebra;
//! * [`strata`]: which of blocks, starts and the like a model has;
//! * [`sides`]: the same for two sides of runs that share no block;
//! * [`moderated`]: variances of many cells that borrow strength from each other;
//! * [`group_sequential`]: data that are looked at after each block, without more false verdicts;
//! * [`sequence`]: hypotheses that are tested one after the other;
//! * [`gate`]: the verdicts of a whole report, questions first;
//! * [`verdict`]: correction for many comparisons and the five verdicts;
//! * [`limit`]: whether figures keep to a limit;
//! * [`within`]: how much of the scatter of trials comes from within them;
//! * [`steady`]: where a time series settles (MSER-5) and whether it still drifts (Theil-Sen).
//!
//! The unit of replication is a trial. Values inside one trial depend on each other and are never
//! pooled as if they were repeats.

pub mod compare;
pub mod gate;
pub mod group_sequential;
pub mod limit;
mod matrix;
pub mod mixed;
pub mod moderated;
#[cfg(test)]
mod noise;
pub mod ranks;
pub mod sequence;
pub mod sides;
pub mod steady;
pub mod strata;
pub mod student;
pub mod verdict;
pub mod within;

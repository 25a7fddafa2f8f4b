//! Statistics of repeated trials: intervals, comparisons, verdicts. Pure functions over slices;
//! imports only `std`.
//!
//! # Layout
//! * [`student`]: the t distribution, its quantiles, mean and interval;
//! * [`compare`]: ratio of two configurations with interval, p-value and smallest detectable
//!   effect;
//! * [`ranks`]: the same ratio without assumptions about the distribution (Hodges and Lehmann, Mann
//!   and Whitney);
//! * [`mixed`]: one effect over all configuration pairs of an experiment, with blocks and server
//!   starts as strata; `matrix`: its linear algebra;
//! * [`strata`]: which strata (blocks, starts, data sets) a model has;
//! * [`sides`]: the same for two sides of runs that share no block;
//! * [`moderated`]: variances of many configuration pairs that borrow strength from each other;
//! * [`group_sequential`]: interim analyses without more false verdicts;
//! * [`sequence`]: hypotheses that are tested in sequence;
//! * [`gate`]: the verdicts of a whole report, questions first;
//! * [`verdict`]: correction for multiple comparisons and the five verdicts;
//! * [`limit`]: tests against limits;
//! * [`within`]: the part of the variation between trials that comes from within them;
//! * [`steady`]: where a time series becomes steady (MSER-5) and whether it drifts (Theil-Sen).
//!
//! The unit of replication is a trial. Values within one trial are dependent and never pooled as if
//! they were repeats.

pub mod compare;
pub mod gate;
pub mod group_sequential;
pub mod limit;
pub mod mixed;
pub mod moderated;
#[cfg(test)]
mod noise;
pub mod ranks;
pub mod sequence;
pub mod sides;
pub mod steady;
pub mod student;
pub mod verdict;
pub mod within;

use mixed::matrix;
pub use mixed::strata;

//! From single times to histograms.
//!
//! * `sample`: what is written down on the hot path, sixteen bytes per time;
//! * `recorder`: the samples and books of one worker, which the coordinator may look into;
//! * `gaps`: how long nothing committed;
//! * `collector`: histograms of the whole window and of each interval, made from samples;
//! * `stages`: what each stage of a load brought;
//! * [`shares`]: how much each client did, readable while it runs.

pub(crate) mod collector;
mod gaps;
pub(crate) mod recorder;
mod sample;
pub mod shares;
pub(crate) mod stages;

pub(crate) use collector::Collector;
pub use recorder::Totals;
pub(crate) use recorder::{Batch, Recorder, SharedRecorder};
pub(crate) use sample::{NAMES_MAX, Sample};

/// What has figures of its own: by name, in the workload's order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kinds {
    /// Kinds of statements.
    pub(crate) statements: Vec<&'static str>,
    /// Names of transactions, at most [`NAMES_MAX`]; none where they are all alike.
    pub(crate) transactions: Vec<&'static str>,
    /// Places among [`Self::statements`] of those that are a COMMIT.
    pub(crate) commits: Vec<usize>,
}

//! The path from single response times to histograms per interval.
//!
//! * `sample`: what the hot path records, sixteen bytes per time;
//! * `recorder`: the samples and counters of one worker, which the coordinator may read;
//! * `gaps`: the longest times without a commit;
//! * `collector`: histograms of the whole window and of each interval, made from samples;
//! * `stages`: results of each stage of a load;
//! * [`client_statistics`]: statistics of each client, readable while it runs.

pub mod client_statistics;
pub(crate) mod collector;
mod gaps;
#[cfg(test)]
mod merging;
pub(crate) mod recorder;
mod sample;
pub(crate) mod stages;

pub(crate) use collector::Collector;
pub use recorder::Totals;
pub(crate) use recorder::{Batch, Recorder, SharedRecorder};
pub(crate) use sample::{NAMES_MAX, Sample};

/// The statement kinds and transaction names with separate figures, in the workload's order.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampleNames {
    /// Kinds of statements.
    pub(crate) statements: Vec<&'static str>,
    /// Names of transactions, at most [`NAMES_MAX`]; none if all are alike.
    pub(crate) transactions: Vec<&'static str>,
    /// Indexes in [`Self::statements`] of the kinds that are a COMMIT.
    pub(crate) commit_kinds: Vec<usize>,
}

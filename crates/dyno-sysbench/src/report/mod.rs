//! Reports in sysbench's layouts, byte for byte, from [`Snapshot`]s.
//!
//! * [`header`]: the lines before a run; [`interval`]: a line every few seconds; [`cumulative`]:
//!   the full report, with [`histogram`]; [`json`]: all figures as a document;
//! * [`figures`]: number formats.

pub(crate) mod cumulative;
pub(crate) mod figures;
pub(crate) mod header;
pub(crate) mod histogram;
pub(crate) mod interval;
pub(crate) mod json;
pub(crate) mod snapshot;

pub(crate) use snapshot::{Counts, Latency, Queue, Snapshot};

#[cfg(test)]
mod tests;

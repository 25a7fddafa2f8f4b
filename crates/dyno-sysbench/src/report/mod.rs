//! Reports in sysbench's layouts, byte for byte, from plain [`Snapshot`]s.
//!
//! * [`header`]: the lines before a run; [`interval`]: a line every few seconds; [`cumulative`]: the whole report, with
//!   [`histogram`]; [`json`]: everything as one document;
//! * [`figures`]: widths and decimals.

pub mod cumulative;
pub mod figures;
pub mod header;
pub mod histogram;
pub mod interval;
pub mod json;
pub mod snapshot;

pub use snapshot::{Counts, Latency, Queue, Snapshot};

#[cfg(test)]
mod tests;

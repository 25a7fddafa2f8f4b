//! Reports in sysbench's layouts, byte for byte, from plain [`Snapshot`]s.

pub mod snapshot;

pub use snapshot::{Counts, Latency, Queue, Share, Snapshot, StatementReport};

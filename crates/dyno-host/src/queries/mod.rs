//! Queries to servers outside of trials.

pub mod counters;
pub mod pooler;
pub mod probe;
pub mod survey;

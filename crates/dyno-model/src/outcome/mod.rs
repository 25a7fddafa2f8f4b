//! Outcomes of transactions: failures, retries, and counters that must add up.

pub mod counters;
pub mod failure;
pub(super) mod interval;
pub mod retry;

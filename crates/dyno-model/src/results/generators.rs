//! The generators of a trial whose clients are in several processes.

use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The generators of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorsRecord {
    /// One row for each, in the order of their numbers.
    pub parts: Vec<GeneratorPart>,
    /// CPU time of the coordinator over the window.
    pub coordinator_cpu: Nanos,
}

/// One of several generators of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorPart {
    /// Its number, from 0, and its machine.
    pub name: String,
    /// Clients it drove.
    pub clients: u32,
    /// Transactions that they committed in the window.
    pub committed: u64,
    /// CPU time of its process over the window.
    pub cpu: Nanos,
    /// As [`GeneratorRecord::wakeup_lag_p99`](crate::record::GeneratorRecord::wakeup_lag_p99).
    pub wakeup_lag_p99: u64,
    /// As [`Facts::steal`](crate::record::Facts::steal), of its machine.
    pub steal: f64,
    /// Largest resident set of its process so far, bytes.
    pub memory_peak: u64,
    /// How exactly its start is known: half of the shortest round trip to it.
    pub clock_uncertainty: Nanos,
    /// How far its clock ran ahead of the coordinator's during the trial (negative: behind),
    /// nanoseconds.
    pub clock_drift: i64,
}

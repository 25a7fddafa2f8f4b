//! The generators of a trial whose clients are in several processes.

use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The generators of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorsRecord {
    /// One row for each, in the order of their numbers.
    pub summaries: Vec<GeneratorSummary>,
    /// CPU time of the coordinator over the window.
    pub coordinator_cpu: Nanos,
    /// Length of an interval, by which the exactness of clocks is judged.
    pub interval: Nanos,
}

/// One of several generators of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorSummary {
    /// Its number, from 0.
    pub number: u32,
    /// Name of its machine, as the machine itself reports it.
    pub host: String,
    /// Clients it drove.
    pub clients: u32,
    /// Transactions that they committed in the window.
    pub committed: u64,
    /// CPU time of its process over the window.
    pub cpu: Nanos,
    /// CPU time of its busiest worker over the worker's window.
    pub busiest_worker: f64,
    /// As [`GeneratorRecord::held_up`](crate::record::GeneratorRecord::held_up).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_up: Option<f64>,
    /// As [`GeneratorRecord::wakeup_lag_p99`](crate::record::GeneratorRecord::wakeup_lag_p99).
    pub wakeup_lag_p99: u64,
    /// Open loop: start lag of its transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Lag>,
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

impl GeneratorSummary {
    /// Its name in messages: its number and its machine.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} ({})", self.number, self.host)
    }
}

/// Start lag of the generator in the window, in nanoseconds: from the due time of a transaction
/// until it started, where a free client waited for it. Transactions that waited because no client
/// was free waited for the system; they are included with no delay (1 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Lag {
    /// Number of transactions.
    pub count: u64,
    /// Transactions that a free client waited for.
    pub awaited: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

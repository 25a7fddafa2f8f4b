//! Effects of injected faults.

use super::figures::Figures;
use dyno_model::failure::FailureKind;
use dyno_model::fault::FaultRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Effects of the faults in a configuration's trials. Times count from the first fault of a trial,
/// in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// Each valid trial, in run order.
    pub trials: Vec<FaultTrial>,
    /// Errors at clients after the first fault, in all trials, by kind, in order of first
    /// occurrence.
    pub errors: Vec<FaultErrors>,
}

/// Errors of one kind after the first fault of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultErrors {
    /// Kind of the errors.
    pub kind: FailureKind,
    /// How many, and when: attempts of transactions that ended with one, whether they were retried
    /// or not, and failed attempts to reconnect. Times are those of intervals of a second.
    pub figures: Figures,
}

/// Effects of the faults in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultTrial {
    /// Its id.
    pub trial: String,
    /// The faults, in their order.
    pub faults: Vec<FaultRecord>,
    /// Longest time without a commit by any client, among gaps that ended after the first fault.
    /// Gaps below a tenth of a second are not recorded and count as 0.
    pub outage_s: f64,
    /// From the first fault to the first second whose throughput, and the mean of up to ten seconds
    /// from it on, is at least 90 % of the mean before the fault. `None`: it had not recovered when
    /// measuring ended, or the throughput before is unknown.
    pub recovered_s: Option<f64>,
    /// Lost throughput until then (or the end), in seconds of the throughput before; `None` when
    /// that is unknown.
    pub missed_s: Option<f64>,
    /// Longest response time of a committed transaction.
    pub slowest_s: f64,
}

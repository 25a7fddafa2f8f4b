//! Effects of injected faults.

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
    /// Longest time without a commit by any client.
    pub outage: Spread,
    /// Time until throughput recovered ([`FaultTrial::recovered_s`]), over the trials in which it
    /// did.
    pub recovered: Option<Spread>,
    /// Trials in which it had not recovered when measuring ended.
    pub not_recovered: u32,
    /// Lost throughput until then, in seconds of the throughput before.
    pub missed: Option<Spread>,
    /// Longest response time of a committed transaction, including its retries and new connections.
    pub slowest: Spread,
    /// Transactions that failed permanently, in all trials.
    pub failed: u64,
    /// New connections of clients, in all trials.
    pub reconnects: u64,
    /// Errors at clients after the first fault, in all trials, by kind, in order of first
    /// occurrence.
    #[serde(default)]
    pub errors: Vec<FaultErrors>,
}

/// Errors of one kind after the first fault of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultErrors {
    /// Kind of the errors.
    pub kind: FailureKind,
    /// Attempts of transactions that ended with such an error, whether or not they were retried,
    /// and failed attempts to reconnect.
    pub errors: u64,
    /// Start of the first interval (a second) with such an error, since the fault; 0 for the
    /// interval of the fault itself.
    pub first_s: f64,
    /// End of the last interval with such an error.
    pub last_s: f64,
    /// Largest number in one interval of one trial.
    pub most: u64,
    /// Start of that interval.
    pub most_s: f64,
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

/// Summary of several trials' values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

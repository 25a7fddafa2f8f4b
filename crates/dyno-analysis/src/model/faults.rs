//! What faults did that were made on purpose.

use dyno_model::failure::FailureKind;
use dyno_model::fault::FaultRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the faults of a configuration's trials did. Times count from the first fault of a trial, in
/// seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// Each valid trial, in run order.
    pub trials: Vec<FaultTrial>,
    /// Longest time without a commit of any client.
    pub outage: Spread,
    /// Until throughput was back ([`FaultTrial::recovered_s`]), over the trials in which it was.
    pub recovered: Option<Spread>,
    /// Trials in which it was not back when measuring ended.
    pub not_recovered: u32,
    /// Work that was not done meanwhile, as seconds of the throughput before.
    pub missed: Option<Spread>,
    /// Longest response time of a committed transaction, its retries and new connections included.
    pub slowest: Spread,
    /// Transactions that failed for good, in all trials.
    pub failed: u64,
    /// New connections of clients, in all trials.
    pub reconnects: u64,
    /// Errors that clients met from the first fault on, in all trials, by kind, in the order in
    /// which they came.
    #[serde(default)]
    pub errors: Vec<FaultErrors>,
}

/// Errors of one kind from the first fault of a trial on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultErrors {
    /// What they were.
    pub kind: FailureKind,
    /// Attempts of transactions that ended with one, whether they were tried again or not, and
    /// attempts to connect anew that failed.
    pub errors: u64,
    /// Beginning of the first interval (a second) that has one, since the fault; 0 for the interval
    /// of the fault itself.
    pub first_s: f64,
    /// End of the last interval that has one.
    pub last_s: f64,
    /// Most in one interval of one trial.
    pub most: u64,
    /// Beginning of that interval.
    pub most_s: f64,
}

/// What the faults of one trial did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultTrial {
    /// Its id.
    pub trial: String,
    /// The faults, in their order.
    pub faults: Vec<FaultRecord>,
    /// Longest time without a commit of any client, of those that ended after the first fault.
    /// Below a tenth of a second nothing is written down, and it is 0.
    pub outage_s: f64,
    /// From the first fault to the first second whose throughput, and the mean of up to ten seconds
    /// from it on, is at least 90 % of the mean before the fault. `None`: it was not back when
    /// measuring ended, or nothing is known of the time before.
    pub recovered_s: Option<f64>,
    /// Work that was not done until then (or the end), as seconds of the throughput before; `None`
    /// when that is not known.
    pub missed_s: Option<f64>,
    /// Longest response time of a committed transaction.
    pub slowest_s: f64,
}

/// Several trials' values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The middle one (the mean of the two in the middle).
    pub median: f64,
    /// The largest.
    pub max: f64,
}

//! What each stage of a load brought that changes inside a trial.

use super::estimate::Estimate;
use dyno_model::stages::LoadBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One stage of one configuration, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Name of the stage.
    pub name: String,
    /// What its load is given by.
    pub by: LoadBy,
    /// Its load on average: transactions per second, or clients.
    pub load: f64,
    /// How long it lasts, in seconds.
    pub length_s: f64,
    /// What the load goes through, in straight lines, by rising time; two points or more.
    pub course: Vec<LoadPoint>,
    /// Transactions per second that committed while it lasted, whenever they began; absent without
    /// a valid trial.
    pub throughput: Option<Estimate>,
    /// Mean response time in ms of what began in it, or was due in it; this and the following are
    /// absent where too little was.
    pub mean: Option<Estimate>,
    /// Median in ms.
    pub p50: Option<Estimate>,
    /// 95th percentile in ms.
    pub p95: Option<Estimate>,
    /// 99th percentile in ms.
    pub p99: Option<Estimate>,
    /// Transactions that began in it, or were due in it, in all valid trials.
    pub begun: u64,
    /// Open loop: those of them that did not commit.
    pub not_committed: u64,
}

/// A load at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPoint {
    /// Seconds since the first client began, warm-up included.
    pub at_s: f64,
    /// Transactions per second, or clients.
    pub load: f64,
}

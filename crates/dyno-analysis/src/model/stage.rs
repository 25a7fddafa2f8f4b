//! Results of the stages of a staged load.

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
    /// How its load is specified.
    pub by: LoadBy,
    /// Its mean load: transactions per second, or clients.
    pub load: f64,
    /// How long it lasts, in seconds.
    pub length_s: f64,
    /// The course of the load as a polyline, by ascending time; two points or more.
    pub course: Vec<LoadPoint>,
    /// Transactions committed per second during the stage, whenever they started; absent without a
    /// valid trial.
    pub throughput: Option<Estimate>,
    /// Mean response time in ms of transactions that started or were due in it; this and the
    /// following are absent where there were too few.
    pub mean: Option<Estimate>,
    /// Median in ms.
    pub p50: Option<Estimate>,
    /// 95th percentile in ms.
    pub p95: Option<Estimate>,
    /// 99th percentile in ms.
    pub p99: Option<Estimate>,
    /// Transactions that started or were due in it, in all valid trials.
    pub begun: u64,
    /// Open loop: those of them that did not commit.
    pub not_committed: u64,
}

/// A load at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPoint {
    /// Seconds since the first client started, warm-up included.
    pub at_s: f64,
    /// Transactions per second, or clients.
    pub load: f64,
}

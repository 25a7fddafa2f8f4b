//! Transactions of a configuration by name.

use super::estimate::Estimate;
use dyno_model::audit::AuditVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A background workload of a configuration, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundRow {
    /// Kind of workload.
    pub kind: String,
    /// Its clients.
    pub clients: u32,
    /// Open loop: arrival rate per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The worst audit verdict, over all measured trials.
    pub audit: AuditVerdict,
    /// Its name and results.
    pub figures: NamedRow,
}

/// The transactions of one name, or of one database, in one configuration, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Name of the transactions, or of the database whose transactions these are.
    pub name: String,
    /// For all transactions of a database with `load.databases`: its clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// Committed transactions per second; absent without a valid trial.
    pub throughput: Option<Estimate>,
    /// Mean response time in ms; this and the following are absent where there were too few
    /// transactions.
    pub mean: Option<Estimate>,
    /// Median in ms; it and the other percentiles are absent for a database whose transactions have
    /// separate names.
    pub p50: Option<Estimate>,
    /// 95th percentile in ms.
    pub p95: Option<Estimate>,
    /// 99th percentile in ms.
    pub p99: Option<Estimate>,
    /// Committed transactions, in all valid trials.
    pub committed: u64,
    /// Transactions that failed permanently.
    pub failed: u64,
    /// Transactions that were cut off.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: u64,
}

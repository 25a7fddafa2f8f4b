//! Parts of a configuration's transactions that have a name.

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
    /// Open loop: transactions that arrived per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The worst that its audits came to, over all measured trials.
    pub audit: AuditVerdict,
    /// Its name and figures.
    pub figures: NamedRow,
}

/// The transactions of one name, or of one database, in one configuration, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Their name; of all transactions in a database, that of the database.
    pub name: String,
    /// Where they are all those of a database that clients are spread over: its clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// Committed transactions per second; absent without a valid trial.
    pub throughput: Option<Estimate>,
    /// Mean response time in ms; this and the following are absent where there were too few.
    pub mean: Option<Estimate>,
    /// Median in ms; this and the other percentiles are absent of a database whose transactions
    /// have names of their own.
    pub p50: Option<Estimate>,
    /// 95th percentile in ms.
    pub p95: Option<Estimate>,
    /// 99th percentile in ms.
    pub p99: Option<Estimate>,
    /// Committed, in all valid trials.
    pub committed: u64,
    /// Given up.
    pub failed: u64,
    /// Cut off.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: u64,
}

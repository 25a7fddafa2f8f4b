//! Parts of a configuration's load that have figures of their own.

use super::figures::Figures;
use dyno_model::audit::AuditVerdict;
use dyno_model::isolation::IsolationLevel;
use dyno_model::stages::LoadBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of one configuration, over its valid trials; a load generator over all measured ones,
/// apart from its commits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// Its name.
    pub name: String,
    /// Its kind.
    #[serde(flatten)]
    pub part: PartKind,
    /// Its figures. In a stage, throughput counts what committed during it, and response times
    /// belong to what began or was due in it.
    pub figures: Figures,
}

/// The kinds of parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum PartKind {
    /// A stage of a load that changes during a trial.
    Stage {
        /// Whether the load is a rate or a number of clients.
        by: LoadBy,
        /// The profile of the load, in straight lines, by rising time; two points or more.
        profile: Vec<LoadPoint>,
    },
    /// The transactions of one name.
    Transaction,
    /// All transactions in one database of several. Percentiles are absent if they have several
    /// names.
    Database {
        /// Its clients.
        clients: u32,
    },
    /// A background workload.
    Background {
        /// Kind of workload.
        kind: String,
        /// Its clients.
        clients: u32,
        /// Open loop: transactions that arrived per second.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<f64>,
        /// The worst verdict of its audits, over all measured trials.
        audit: AuditVerdict,
    },
    /// What a workload derived from a standard benchmark counts; its name is that of the
    /// transactions.
    Benchmark {
        /// True when clients waited as long as the standard says.
        is_paced: bool,
        /// Isolation level of the transactions, as the server reported it; absent if trials differ.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<IsolationLevel>,
    },
    /// One of several load generators; its name is its number.
    Generator {
        /// Its clients.
        clients: u32,
        /// Its machines in the trials, each once.
        hosts: Vec<String>,
    },
}

impl PartKind {
    /// The table that it belongs to.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match self {
            Self::Stage { .. } => Scope::Stage,
            Self::Transaction | Self::Database { .. } => Scope::Transaction,
            Self::Background { .. } => Scope::Background,
            Self::Benchmark { .. } => Scope::Benchmark,
            Self::Generator { .. } => Scope::Generator,
        }
    }
}

/// The object that figures describe; a column of CSV.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// A trial.
    Trial,
    /// A configuration, over its valid trials.
    Configuration,
    /// A step of a growing table.
    Step,
    /// A stage of a load.
    Stage,
    /// The transactions of one name, or in one database.
    Transaction,
    /// A background workload.
    Background,
    /// What a workload derived from a standard benchmark counts.
    Benchmark,
    /// One of several load generators.
    Generator,
}

/// A load at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPoint {
    /// Seconds since the common start, warm-up included.
    pub at_s: f64,
    /// Transactions per second, or clients.
    pub load: f64,
}

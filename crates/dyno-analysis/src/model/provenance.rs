//! Place, time and conditions of a measurement.

use dyno_model::reason::Reason;
use dyno_model::version::ServerVersion;
use dyno_store::environment::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Place, time and conditions of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Short name of the experiment.
    pub experiment: String,
    /// Name of the run's folder.
    pub run: String,
    /// UTC time at which the run started, RFC 3339.
    pub started_at: String,
    /// UTC time of the last event, RFC 3339.
    pub ended_at: String,
    /// Version of dyno that measured.
    pub dyno_version: String,
    /// Profile of the spec, if any.
    pub profile: Option<String>,
    /// Seed of order, keys and data.
    pub seed: u64,
    /// Number of blocks planned.
    pub blocks: u32,
    /// The machine of the generator.
    pub environment: Environment,
    /// Systems in the spec's order.
    pub systems: Vec<SystemRow>,
    /// Workloads used, `kind` with every option, one per distinct combination.
    pub workloads: Vec<WorkloadRow>,
    /// Distinct load and stop rules, as typed values.
    pub loads: Vec<dyno_model::plan::LoadPlan>,
    /// The spec as written (TOML).
    pub spec: String,
}

/// [`SystemRow::kind`] of imported results.
pub const IMPORTED: &str = "imported";

impl Provenance {
    /// True when all results were imported.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        !self.systems.is_empty() && self.systems.iter().all(|system| system.kind == IMPORTED)
    }

    /// True when another run had the same workloads and loads.
    #[must_use]
    pub fn has_work_of(&self, other: &Self) -> bool {
        self.workloads == other.workloads && self.loads == other.loads
    }
}

/// One system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemRow {
    /// Name in the spec.
    pub name: String,
    /// Protocol or server kind, e.g. `mariadb`, `postgres`; `imported` for imported results.
    pub kind: String,
    /// The product of its servers, e.g. `MariaDB`; empty when it is unknown or has none.
    pub product: String,
    /// True when dyno started it.
    pub is_managed: bool,
    /// Servers that clients talk to, when dyno started a cluster; 0 otherwise.
    pub nodes: u32,
    /// Nodes of the cluster that hold the data for these; 0 when there are none.
    pub data_nodes: u32,
    /// Address of an existing system (without user and password), else empty.
    pub address: String,
    /// Version it reported; empty when it never answered.
    pub version: ServerVersion,
    /// How statements were sent: `prepared`, `simple`, `extended`.
    pub query_mode: String,
    /// Settings requested in the spec.
    pub requested_settings: BTreeMap<String, String>,
    /// Settings as the server reported them.
    pub settings_read: BTreeMap<String, String>,
    /// Names of requested settings that it cannot report; `settings_read` has the requested
    /// values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub settings_unread: BTreeSet<String>,
    /// Why it could not be started or died, if so.
    pub failure: Option<Reason>,
    /// Its starts by dyno; absent when there were none.
    pub starts: Option<SystemStarts>,
}

/// How long the starts of a server took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemStarts {
    /// Mean time from the start command to the first answer including settings, without copying
    /// data, in seconds.
    pub mean_s: f64,
    /// The longest of these times, in seconds.
    pub max_s: f64,
    /// Mean time that copying the data set took, in seconds; absent when no start had a data set.
    pub restoring_mean_s: Option<f64>,
    /// Each start, in order.
    pub all: Vec<SystemStart>,
}

/// How long one start of a server took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemStart {
    /// Time from the start command to the first answer including settings, without copying data, in
    /// seconds.
    pub starting_s: f64,
    /// Time that copying its data set took, in seconds; absent when it started empty.
    pub restoring_s: Option<f64>,
}

/// A workload with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadRow {
    /// Name.
    pub kind: String,
    /// Its name if it is a background workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// All options as text.
    pub options: BTreeMap<String, String>,
}

//! The plan: an experiment with every default explicit and its trials in run order. It is stored as
//! `plan.json`.

use crate::catalog::WorkloadOptions;
use crate::fault::{FaultPlan, FaultTarget};
use crate::front::FrontMatter;
use crate::launcher::LauncherPlan;
use crate::limit::{Limit, LimitMetric};
use crate::lists;
use crate::target::{Engine, QueryMode};
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use crate::comparison_metric::ComparisonMetric;
pub use crate::engine::ServerKind;
pub use crate::existing::{
    DataPolicy, ExclusivePlan, ExistingSystem, HooksPlan, MonitorPlan, PasswordSource,
};
pub use crate::load::{LoadPlan, Spacing, StopRule};
pub use crate::network_path::{
    ApplicationKind, ApplicationPlan, EndpointPlan, ProxyKind, ProxyPlan, Via,
};
pub use crate::server::{DATABASE, MANAGEMENT_NODE, ManagedServer, NodeRole};
pub use crate::stages::{LoadBy, Stages};

/// Version of the formats of the results folder. A reader rejects a newer one.
pub const FORMAT: u32 = 1;

/// An experiment, resolved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// Short name for folders, derived from the spec's file name.
    pub name: String,
    /// The spec's title.
    pub title: String,
    /// The spec's description, perhaps empty; shown under the title.
    pub description: String,
    /// The profile chosen, if any.
    pub profile: Option<String>,
    /// Seed of everything random: run order, keys, data.
    pub seed: u64,
    /// Number of blocks, which is the number of repeats; with a budget it is the maximum.
    pub blocks: u32,
    /// Machine time budget of the run. An interim analysis follows each block from the third on,
    /// and the run ends when its questions are decided. `None`: all blocks are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Nanos>,
    /// Systems under test, in the spec's order.
    pub systems: Vec<SystemPlan>,
    /// Names of the factors varied besides system and clients, in the spec's order (e.g.
    /// `workload.variant`).
    pub factors: Vec<String>,
    /// All configurations, in the order reports list them.
    pub configurations: Vec<Configuration>,
    /// All trials in run order: the blocks in sequence, each a random order of all configurations.
    pub trials: Vec<Trial>,
    /// Published figures of others, drawn next to the measured ones.
    pub published: Vec<Published>,
    /// The factors compared, if the spec names them; otherwise systems, and the levels of every
    /// factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    /// The metric that is tested first, if the spec names it; otherwise see
    /// [`Plan::primary_metric`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<ComparisonMetric>,
    /// Limits on the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Faults that are injected into systems while they are measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultPlan>,
    /// Contents of the first pages of a test report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontMatter>,
    /// Claims about the systems, which the figures confirm or contradict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// How the initial data of each start of a server is created.
    pub data: FreshData,
    /// Storages for the data of servers that dyno starts, referenced by levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<Storage>,
    /// Network paths to servers, referenced by levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointPlan>,
    /// What starts the load generators of configurations that have several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub launcher: LauncherPlan,
}

/// A factor of comparison: configurations are compared along it, and charts draw it as series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Systems.
    System,
    /// The levels of a factor, by its index into [`Plan::factors`].
    Factor(usize),
}

/// The claim that one system is faster than the other: it commits more transactions per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Index into [`Plan::systems`] of the system that is claimed to be faster.
    pub faster: usize,
    /// Index of the other system.
    pub slower: usize,
}

/// A storage for a server's data: the user's folders, and the commands that prepare and clear them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Name in levels; unique.
    pub name: String,
    /// Folder in which the server's scratch folder is created.
    pub data: PathBuf,
    /// Folder for the server's transaction log; `None`: in the data folder.
    pub log: Option<PathBuf>,
    /// Shell command that runs before each start of a server on it.
    pub before: Option<String>,
    /// Shell command that runs after the server has stopped and its folder has been removed; also
    /// when dyno was killed.
    pub after: Option<String>,
    /// Timeout of each command.
    pub time_limit: Nanos,
}

/// How the initial data is created for each start of a server that dyno starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreshData {
    /// Loaded for each start.
    #[default]
    Load,
    /// Loaded once; the server's data folder is then copied for each start.
    Restore,
    /// Restored from [`RESTORE_ROWS`] rows on, loaded below that.
    Auto,
}

/// From this number of rows on, copying a data folder is faster than loading.
pub const RESTORE_ROWS: u64 = 100_000;

impl Plan {
    /// The configurations of a system.
    pub(crate) fn of_system(&self, system: usize) -> impl Iterator<Item = &Configuration> {
        self.configurations.iter().filter(move |configuration| configuration.system == system)
    }

    /// Maximum number of concurrent sessions on a system, of clients and of applications on their
    /// network path. An application keeps its sessions while other configurations are measured.
    #[must_use]
    pub fn most_sessions(&self, system: usize) -> u32 {
        let of_application = |endpoint: &EndpointPlan| match &endpoint.via {
            Via::Application(application) => application.connections,
            _ => 0,
        };
        self.most_client_sessions(system) + self.endpoints.iter().map(of_application).sum::<u32>()
    }

    /// The faults of a system in each of its trials, in order.
    pub fn faults_of(&self, system: usize) -> impl Iterator<Item = &FaultPlan> {
        self.faults.iter().filter(move |fault| fault.system == system)
    }

    /// True when a fault of a system cuts its network path.
    #[must_use]
    pub fn interrupts_path_to(&self, system: usize) -> bool {
        self.faults_of(system).any(|fault| fault.action.target() == FaultTarget::NetworkPath)
    }

    /// The configuration of a trial.
    #[must_use]
    pub fn configuration(&self, trial: &Trial) -> &Configuration {
        &self.configurations[trial.configuration]
    }

    /// The system of a trial.
    #[must_use]
    pub fn system(&self, trial: &Trial) -> &SystemPlan {
        &self.systems[self.configuration(trial).system]
    }

    /// The server of a configuration, with the settings of its levels; `None` for systems that
    /// already run.
    #[must_use]
    pub fn server(&self, configuration: &Configuration) -> Option<ManagedServer> {
        let SystemSource::Managed(server) = &self.systems[configuration.system].source else {
            return None;
        };
        let mut server = server.clone();
        let levels = configuration.variation.settings.iter();
        server.settings.extend(levels.map(|(name, value)| (name.clone(), value.clone())));
        if let Some(storage) = self.storage(configuration) {
            server.scratch = Some(storage.data.clone());
        }
        Some(server)
    }

    /// The lifecycle commands of a configuration's system: the user's commands around an existing
    /// system.
    #[must_use]
    pub fn hooks(&self, system: usize) -> Option<(&ExistingSystem, &HooksPlan)> {
        let SystemSource::Existing(existing) = &self.systems[system].source else { return None };
        Some((existing, existing.hooks.as_ref()?))
    }

    /// True for a system that user commands start and stop.
    #[must_use]
    pub fn is_exclusive(&self, system: usize) -> bool {
        self.hooks(system).is_some_and(|(_, hooks)| hooks.exclusive.is_some())
    }

    /// The storage that a configuration's levels name.
    #[must_use]
    pub fn storage(&self, configuration: &Configuration) -> Option<&Storage> {
        let name = configuration.variation.storage.as_deref()?;
        self.storages.iter().find(|storage| storage.name == name)
    }

    /// The network path to the server that a configuration's levels name.
    #[must_use]
    pub fn endpoint(&self, configuration: &Configuration) -> Option<&EndpointPlan> {
        let name = configuration.variation.endpoint.as_deref()?;
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    /// The properties that two configurations must share to be measured on one start of a server.
    #[must_use]
    pub fn restart_group<'p>(&'p self, configuration: &'p Configuration) -> RestartGroup<'p> {
        let Variation { settings, storage, .. } = &configuration.variation;
        RestartGroup { system: configuration.system, settings, storage: storage.as_deref() }
    }

    /// The restart groups in the order in which configurations first need them, each with its
    /// configurations.
    #[must_use]
    pub fn restart_groups(&self) -> Vec<(RestartGroup<'_>, Vec<usize>)> {
        lists::grouped(self.configurations.iter().map(|it| self.restart_group(it)).zip(0..))
    }

    /// True when a level needs another start of a server, when the nodes of a cluster would consume
    /// resources while another system is measured (they do even when idle), or when systems need an
    /// exclusive slot. Blocks are then split into restart groups (docs/decisions/010), and one
    /// system runs at a time.
    #[must_use]
    pub fn is_split(&self) -> bool {
        let is_alone =
            |system: usize| self.systems[system].is_cluster() || self.is_exclusive(system);
        if self.systems.len() > 1 && (0..self.systems.len()).any(is_alone) {
            return true;
        }
        let mut first: BTreeMap<usize, RestartGroup<'_>> = BTreeMap::new();
        self.configurations.iter().any(|configuration| {
            let restart_group = self.restart_group(configuration);
            *first.entry(configuration.system).or_insert(restart_group) != restart_group
        })
    }

    /// True when a data set of this many rows is loaded once for a system and then restored by
    /// copying; dyno has no access to the data folder of systems that already run.
    #[must_use]
    pub fn restores(&self, system: usize, rows: u64) -> bool {
        self.is_copyable(system)
            && match self.data {
                FreshData::Load => false,
                FreshData::Restore => true,
                FreshData::Auto => rows >= RESTORE_ROWS,
            }
    }

    /// True when the loaded data of a system can be restored by copying.
    #[must_use]
    pub fn is_copyable(&self, system: usize) -> bool {
        matches!(&self.systems[system].source, SystemSource::Managed(server) if server.is_copyable())
    }

    /// The share of failed transactions that limits of the user permit in whole trials of a
    /// configuration; 0 without such a limit.
    #[must_use]
    pub fn tolerated_failures(&self, configuration: usize) -> f64 {
        let applies = |limit: &&Limit| {
            limit.metric == LimitMetric::Failed
                && limit.part.is_none()
                && limit.configurations.contains(&configuration)
        };
        let permitted = self.limits.iter().filter(applies).map(|limit| limit.value / 100.0);
        permitted.reduce(f64::min).unwrap_or(0.0)
    }

    /// The metric that is tested first. In a closed loop it is throughput, which results from the
    /// fixed number of clients; the mean response time is then only the number of clients divided
    /// by it. In an open loop throughput is given, unless the offered load exceeds the capacity,
    /// and response times are the result. In a search the load found is the result: response times
    /// are then all near the same limit.
    #[must_use]
    pub fn primary_metric(&self) -> ComparisonMetric {
        self.metrics()[0]
    }

    /// The metrics that configurations are compared by, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<ComparisonMetric> {
        let loads = || self.configurations.iter().map(|configuration| &configuration.load);
        let all_find =
            |most| loads().all(|load| load.find.as_ref().is_some_and(|search| search.most == most));
        if all_find(LoadBy::Rate) {
            return vec![ComparisonMetric::HighestRate];
        }
        if all_find(LoadBy::Clients) {
            return vec![ComparisonMetric::MostClients];
        }
        let is_given = loads().all(LoadPlan::gives_throughput);
        let usual = if is_given {
            [ComparisonMetric::P95Ms, ComparisonMetric::MeanMs]
        } else {
            [ComparisonMetric::Throughput, ComparisonMetric::P95Ms]
        };
        lists::distinct(self.primary.into_iter().chain(usual))
    }

    /// True when an interim analysis follows each block, which may end the run.
    #[must_use]
    pub fn has_interim_analyses(&self) -> bool {
        self.budget.is_some() || self.limits.iter().any(|limit| limit.aborts)
    }

    /// Removes all blocks after the given one, as if no more had been planned.
    pub fn end_after(&mut self, block: u32) {
        self.trials.retain(|trial| trial.block <= block);
        self.blocks = block;
    }

    /// Number of server starts in all blocks, if every trial succeeds.
    #[must_use]
    pub fn starts(&self) -> usize {
        self.starts_per_block() * self.blocks as usize
    }

    /// Number of server starts in a block, if every trial succeeds.
    #[must_use]
    pub fn starts_per_block(&self) -> usize {
        let is_server = |system: usize| {
            self.hooks(system).is_some()
                || matches!(&self.systems[system].source, SystemSource::Managed(server)
                    if server.kind.engine().is_server())
        };
        let restart_groups = self.restart_groups();
        let starts = |(restart_group, configurations): &(RestartGroup<'_>, Vec<usize>)| {
            // Faults change the state of a system: each trial has its own start.
            let is_harmed = self.faults_of(restart_group.system).next().is_some();
            if is_harmed { configurations.len() } else { 1 }
        };
        restart_groups
            .iter()
            .filter(|(restart_group, _)| is_server(restart_group.system))
            .map(starts)
            .sum()
    }
}

/// One system under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemPlan {
    /// Name in reports; unique.
    pub name: String,
    /// Started by dyno, or already running.
    pub source: SystemSource,
    /// How statements are sent.
    pub query_mode: QueryMode,
    /// Connection timeout.
    pub connect_timeout: Nanos,
}

impl SystemPlan {
    /// Its protocol and dialect; unknown for a system that others measured, which is treated as one
    /// without a server.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match &self.source {
            SystemSource::Managed(server) => server.kind.engine(),
            SystemSource::Existing(existing) => existing.engine,
            SystemSource::Imported => Engine::UNKNOWN,
        }
    }

    /// The database in its address; possibly empty.
    #[must_use]
    pub fn database(&self) -> &str {
        match &self.source {
            SystemSource::Managed(_) => DATABASE,
            SystemSource::Existing(existing) => &existing.database,
            SystemSource::Imported => "",
        }
    }

    /// True for several servers that dyno starts as one system.
    #[must_use]
    pub fn is_cluster(&self) -> bool {
        matches!(&self.source, SystemSource::Managed(server) if server.kind.is_cluster())
    }
}

/// Origin of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemSource {
    /// dyno starts it in a scratch folder, which it removes afterwards.
    Managed(ManagedServer),
    /// It already runs.
    Existing(ExistingSystem),
    /// Other programs measured it, and only their figures are available.
    Imported,
}

/// One combination of levels, which a trial measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Number of clients.
    pub clients: u32,
    /// Workload with all options.
    pub workload: WorkloadPlan,
    /// Load rules.
    pub load: LoadPlan,
    /// Level of each factor of [`Plan::factors`], in that order, as text.
    pub levels: Vec<String>,
    /// Changes that these levels make to the system.
    #[serde(default, skip_serializing_if = "Variation::is_empty")]
    pub variation: Variation,
    /// Workloads that run at the same time, in the order of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundPlan>,
}

/// The unit that gets its own start of a server within a block: a system with the levels that need
/// a start. In split-plot designs this is the whole plot: hard-to-change factors vary between
/// restart groups, the others within them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartGroup<'p> {
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Settings besides the system's own.
    pub settings: &'p BTreeMap<String, String>,
    /// Name of the storage.
    pub storage: Option<&'p str>,
}

/// Changes that the levels of a configuration make to its system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Variation {
    /// Settings of the server besides the system's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// How statements are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_mode: Option<QueryMode>,
    /// Location of the server's data: the name of a storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// The network path from the clients to the server: the name of an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Variation {
    /// True when the system is used without changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Workload with every option resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadPlan {
    /// Name of the workload.
    pub kind: String,
    /// All options.
    pub options: WorkloadOptions,
    /// The requests of the workload `http`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestPlan>,
}

impl WorkloadPlan {
    /// A workload that consists of options only.
    #[must_use]
    pub fn new(kind: impl Into<String>, options: WorkloadOptions) -> Self {
        Self { kind: kind.into(), options, requests: Vec::new() }
    }
}

/// A request of HTTP. Path, headers and body are [templates](crate::template::Template).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestPlan {
    /// Name of its response times in reports.
    pub name: String,
    /// Method, as it is sent.
    pub method: String,
    /// Path with its query, appended to the path of the system's URL.
    pub path: String,
    /// Headers in addition to those that dyno adds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Accepted statuses; empty: 200 to 299.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<u16>,
    /// Text that the response body must contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_holds: Option<String>,
    /// Its weight relative to the other requests.
    pub weight: u32,
}

/// A background workload, which runs at the same time as that of a configuration, with separate
/// clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundPlan {
    /// Its name in levels, limits and reports; unique.
    pub name: String,
    /// Its workload.
    pub workload: WorkloadPlan,
    /// Number of clients.
    pub clients: u32,
    /// Open loop: arrival rate in transactions per second. `None`: a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Closed loop: same as [`LoadPlan::think`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
}

/// One measurement of one configuration in one block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Name, unique in the run and sortable: `b01-003` is the third trial of block 1.
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Index into [`Plan::configurations`].
    pub configuration: usize,
}

/// Figures from a publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Source, with machine and year.
    pub source: String,
    /// Name of the series, e.g. `MySQL 5.0.7, Linux`.
    pub series: String,
    /// Metric.
    pub metric: ComparisonMetric,
    /// Numbers of clients; empty when the axis is that of rows.
    pub clients: Vec<u32>,
    /// Numbers of rows of a table that grows; the values are then rows per second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<u64>,
    /// Values, one per number of clients or rows, in the metric's unit.
    pub values: Vec<f64>,
    /// True when values were read off a chart or are a trend rather than a table's figures.
    pub approximate: bool,
    /// The system that it is drawn with, by name; `None`: all systems.
    pub system: Option<String>,
}

//! The plan: an experiment with every default explicit and its trials in run order. Stored as
//! `plan.json`.

use crate::catalog::WorkloadOptions;
use crate::fault::{FaultPart, FaultPlan};
use crate::front::FrontMatter;
use crate::limit::Limit;
use crate::lists;
use crate::target::{Engine, QueryMode};
use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use crate::engine::ServerKind;
pub use crate::existing::{
    DataPolicy, ExclusivePlan, ExistingSystem, HooksPlan, MonitorPlan, PasswordSource,
};
pub use crate::load::{LoadPlan, Spacing, StopRule};
pub use crate::metric::Metric;
pub use crate::network_path::{
    ApplicationKind, ApplicationPlan, EndpointPlan, ProxyKind, ProxyPlan, Via,
};
pub use crate::server::{DATABASE, MANAGEMENT_NODE, ManagedServer, NodeRole};
pub use crate::stages::{LoadBy, Stages};

/// Version of the results folder's formats. A reader refuses a newer one.
pub const FORMAT: u32 = 1;

/// An experiment, resolved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Short name for folders, from the spec's file name.
    pub name: String,
    /// The spec's title.
    pub title: String,
    /// The spec's description, perhaps empty; shown under the title.
    pub description: String,
    /// The profile chosen, if any.
    pub profile: Option<String>,
    /// Seed of everything random: run order, keys, data.
    pub seed: u64,
    /// Number of blocks, which is the number of repeats; with a budget at most so many.
    pub blocks: u32,
    /// Machine time that the run may take. The data are looked at after each block from the third
    /// on, and the run ends when its questions are decided. `None`: all blocks are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Nanos>,
    /// Systems under test, in the spec's order.
    pub systems: Vec<SystemPlan>,
    /// Names of the factors varied besides system and clients, in the spec's order (e.g.
    /// `workload.variant`).
    pub factors: Vec<String>,
    /// All configurations, in the order reports list them.
    pub configurations: Vec<Configuration>,
    /// All trials in run order: blocks one after another, each a random order of all
    /// configurations.
    pub trials: Vec<Trial>,
    /// Figures published elsewhere, drawn beside ours.
    pub published: Vec<Published>,
    /// What is compared, where the spec says; otherwise systems, and the levels of every factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    /// The metric that is tested first, where the spec says; otherwise see
    /// [`Plan::primary_metric`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<Metric>,
    /// What figures have to keep to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Harm that is done to systems while they are measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultPlan>,
    /// What a test report says before its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontMatter>,
    /// What somebody says of the systems, for the figures to confirm or contradict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// How fresh data is made for each start of a server.
    #[serde(default)]
    pub data: FreshData,
    /// Places for the data of servers that dyno starts, which levels name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storages: Vec<Storage>,
    /// Ways to servers, which levels name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointPlan>,
}

/// What an experiment asks about: comparisons are made along it, and charts draw it as curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Systems.
    System,
    /// The levels of a factor, by its index into [`Plan::factors`].
    Factor(usize),
}

/// "One system is faster than the other": it commits more transactions per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Index into [`Plan::systems`] of the system that is said to be faster.
    pub faster: usize,
    /// Index of the other.
    pub slower: usize,
}

/// A place for a server's data: folders that the user gives, and what makes and clears them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Name in levels; unique.
    pub name: String,
    /// Folder in which the server's scratch folder is made.
    pub data: PathBuf,
    /// Folder for the server's transaction log; else it is with the data.
    pub log: Option<PathBuf>,
    /// Shell command that is run before each start of a server there.
    pub before: Option<String>,
    /// Shell command that is run after the server has stopped and its folder is gone; also when
    /// dyno was killed.
    pub after: Option<String>,
    /// How long each command may take.
    pub time_limit: Nanos,
}

/// How fresh data is made for each start of a server that dyno starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreshData {
    /// Loaded each time.
    #[default]
    Load,
    /// Loaded once, then the server's data folder is copied for each start.
    Restore,
    /// Restored from [`RESTORE_ROWS`] rows on, loaded below.
    Auto,
}

/// From this number of rows on, copying a data folder is faster than loading.
pub const RESTORE_ROWS: u64 = 100_000;

impl Plan {
    /// The configurations of a system.
    pub(crate) fn of_system(&self, system: usize) -> impl Iterator<Item = &Configuration> {
        self.configurations.iter().filter(move |configuration| configuration.system == system)
    }

    /// Most sessions that clients, and applications on their way, have on a system at once. An
    /// application keeps its own while others are measured.
    #[must_use]
    pub fn most_sessions(&self, system: usize) -> u32 {
        let of_application = |endpoint: &EndpointPlan| match &endpoint.via {
            Via::Application(application) => application.connections,
            _ => 0,
        };
        self.most_client_sessions(system) + self.endpoints.iter().map(of_application).sum::<u32>()
    }

    /// What is done to a system in each of its trials, in the order of the faults.
    pub fn faults_of(&self, system: usize) -> impl Iterator<Item = &FaultPlan> {
        self.faults.iter().filter(move |fault| fault.system == system)
    }

    /// True when a fault of a system cuts the way to it.
    #[must_use]
    pub fn cuts_way_to(&self, system: usize) -> bool {
        self.faults_of(system).any(|fault| fault.action.part() == FaultPart::Way)
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

    /// The server that a configuration runs on, with the settings of its levels; `None` for systems
    /// that run already.
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

    /// What steers the system of a configuration: commands of the user's around a system that is
    /// there.
    #[must_use]
    pub fn hooks(&self, system: usize) -> Option<(&ExistingSystem, &HooksPlan)> {
        let SystemSource::Existing(existing) = &self.systems[system].source else { return None };
        Some((existing, existing.hooks.as_ref()?))
    }

    /// True for a system that commands of the user's start and stop.
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

    /// The way to the server that a configuration's levels name.
    #[must_use]
    pub fn endpoint(&self, configuration: &Configuration) -> Option<&EndpointPlan> {
        let name = configuration.variation.endpoint.as_deref()?;
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    /// What has to be the same for two configurations to be measured on one start of a server.
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

    /// True when a level needs another start of a server, when the nodes of a cluster would be at
    /// work beside another system (they are when nobody asks them), or when systems take turns.
    /// Blocks are then split into restart groups (docs/decisions/010), and one system runs at a
    /// time.
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

    /// True when a data set of so many rows is loaded once for a system and then restored by copy;
    /// of systems that run already dyno has no data folder.
    #[must_use]
    pub fn restores(&self, system: usize, rows: u64) -> bool {
        self.is_copyable(system)
            && match self.data {
                FreshData::Load => false,
                FreshData::Restore => true,
                FreshData::Auto => rows >= RESTORE_ROWS,
            }
    }

    /// True when what was loaded on a system can be restored by copy.
    #[must_use]
    pub fn is_copyable(&self, system: usize) -> bool {
        matches!(&self.systems[system].source, SystemSource::Managed(server) if server.is_copyable())
    }

    /// The metric that questions are about first. In a closed loop throughput is what the system
    /// makes of its clients, and the mean response time only the number of clients over it. In an
    /// open loop throughput is given, unless more arrives than the system can do, and response
    /// times are what it makes of that. Where the load is searched for, what was found is all:
    /// response times are then near the same limit.
    #[must_use]
    pub fn primary_metric(&self) -> Metric {
        self.metrics()[0]
    }

    /// The metrics that configurations are compared by, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<Metric> {
        let loads = || self.configurations.iter().map(|configuration| &configuration.load);
        let all_find =
            |most| loads().all(|load| load.find.as_ref().is_some_and(|search| search.most == most));
        if all_find(LoadBy::Rate) {
            return vec![Metric::HighestRate];
        }
        if all_find(LoadBy::Clients) {
            return vec![Metric::MostClients];
        }
        let is_given = loads().all(LoadPlan::gives_throughput);
        let usual = if is_given {
            [Metric::P95Ms, Metric::MeanMs]
        } else {
            [Metric::Throughput, Metric::P95Ms]
        };
        lists::distinct(self.primary.into_iter().chain(usual))
    }

    /// True when the data are looked at after each block, and may end the run.
    #[must_use]
    pub fn has_interim_analyses(&self) -> bool {
        self.budget.is_some() || self.limits.iter().any(|limit| limit.aborts)
    }

    /// Leaves out all blocks after one, as if no more had been planned.
    pub fn end_after(&mut self, block: u32) {
        self.trials.retain(|trial| trial.block <= block);
        self.blocks = block;
    }

    /// How often servers are started when every trial goes well, in all blocks.
    #[must_use]
    pub fn starts(&self) -> usize {
        self.starts_per_block() * self.blocks as usize
    }

    /// How often servers are started in a block when every trial goes well.
    #[must_use]
    pub fn starts_per_block(&self) -> usize {
        let is_server = |system: usize| {
            self.hooks(system).is_some()
                || matches!(&self.systems[system].source, SystemSource::Managed(server)
                    if server.kind.engine().is_server())
        };
        let restart_groups = self.restart_groups();
        let starts = |(restart_group, configurations): &(RestartGroup<'_>, Vec<usize>)| {
            // After harm nothing is as it was: each trial has a start of its own.
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
    /// Started by dyno, or there already.
    pub source: SystemSource,
    /// How statements travel.
    pub query_mode: QueryMode,
    /// Limit for connecting.
    pub connect_timeout: Nanos,
}

impl SystemPlan {
    /// The protocol and dialect it speaks; of a system that others measured nobody knows, and it is
    /// taken for one without a server.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match &self.source {
            SystemSource::Managed(server) => server.kind.engine(),
            SystemSource::Existing(existing) => existing.engine,
            SystemSource::Imported => Engine::UNKNOWN,
        }
    }

    /// The database that its address names; perhaps empty.
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

/// Where a system comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemSource {
    /// dyno starts it in a scratch folder and removes it afterwards.
    Managed(ManagedServer),
    /// It runs already.
    Existing(ExistingSystem),
    /// Other programs measured it, and only their figures are here.
    Imported,
}

/// One combination of levels: what a trial measures.
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
    /// What these levels change of the system.
    #[serde(default, skip_serializing_if = "Variation::is_empty")]
    pub variation: Variation,
    /// Workloads that run at the same time, in the order of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundPlan>,
}

/// The unit that gets its own start of a server within a block: a system with the levels that need
/// a start. (The word is of split-plot designs, which come from fields: hard-to-change factors go
/// to restart groups, the others inside them.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartGroup<'p> {
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Settings besides the system's own.
    pub settings: &'p BTreeMap<String, String>,
    /// Name of the storage.
    pub storage: Option<&'p str>,
}

/// What the levels of a configuration change of its system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Variation {
    /// Settings of the server besides the system's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// How statements travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_mode: Option<QueryMode>,
    /// Where the server's data is: the name of a storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// The way of the clients to the server: the name of an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Variation {
    /// True when the system is used as it is.
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
    /// What the workload `http` sends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestPlan>,
}

impl WorkloadPlan {
    /// A workload that is all options.
    #[must_use]
    pub fn new(kind: impl Into<String>, options: WorkloadOptions) -> Self {
        Self { kind: kind.into(), options, requests: Vec::new() }
    }
}

/// A request of HTTP. Path, headers and body are [templates](crate::template::Template).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestPlan {
    /// What its response times are reported as.
    pub name: String,
    /// Method, as it is sent.
    pub method: String,
    /// Path with its query, behind the path of the system's URL.
    pub path: String,
    /// Headers besides those that dyno writes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Statuses that are wanted; empty: 200 to 299.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<u16>,
    /// What the answer's body must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_holds: Option<String>,
    /// How often it is sent, beside the others.
    pub weight: u32,
}

/// A background workload: it runs at the same time as that of a configuration, with clients of its
/// own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundPlan {
    /// What it is called in levels, limits and reports; unique.
    pub name: String,
    /// What its clients do.
    pub workload: WorkloadPlan,
    /// Number of clients.
    pub clients: u32,
    /// Open loop: so many transactions arrive per second. `None`: a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Closed loop: as [`LoadPlan::think`].
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
    /// Where they stand, with machine and year.
    pub source: String,
    /// Name of the curve, e.g. `MySQL 5.0.7, Linux`.
    pub series: String,
    /// What is given.
    pub metric: Metric,
    /// Numbers of clients; empty when the axis is that of rows.
    pub clients: Vec<u32>,
    /// Numbers of rows of a table that grows; the values are then rows per second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<u64>,
    /// Values, one per number of clients or rows, in the metric's unit.
    pub values: Vec<f64>,
    /// True when values were read off a chart or are a trend rather than a table's figures.
    pub approximate: bool,
    /// The one system it belongs beside, by name; otherwise beside all.
    pub system: Option<String>,
}

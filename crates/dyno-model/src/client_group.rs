//! Client groups, the sets of clients that a trial runs concurrently ([`Plan::groups`]).
//!
//! The groups with the role [`Measured`](GroupRole::Measured) run the workload of the
//! configuration. There is one, or one per database of `load.databases`; they share one load, and
//! their combined figures are those of the trial. Each background group has its own load and its
//! own record ([`GroupRecord`]).

use crate::audit::AuditVerdict;
use crate::catalog::LUA;
use crate::lists;
use crate::plan::{Configuration, LoadPlan, Plan, WorkloadPlan};
use crate::record::{Facts, TrialRecord};
use crate::warning::Warning;
use serde::{Deserialize, Serialize};

pub use crate::plan::BackgroundPlan;
pub use crate::record::GroupRecord;

/// Clients of a trial that run the same workload in the same database.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientGroup {
    /// Unique in its trial: the name of the background workload or of the database; empty when
    /// there is only one measured group.
    pub name: String,
    /// Role of the group.
    pub role: GroupRole,
    /// Workload of its clients.
    pub workload: WorkloadPlan,
    /// Database; `None`: the one in the system's address.
    pub database: Option<String>,
    /// Ids of its clients within the trial.
    pub clients: ClientIds,
    /// Load. The rate, stages and stop rule of measured groups apply to all of them together.
    pub load: LoadPlan,
}

/// Role of a client group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupRole {
    /// Runs the measured workload of the configuration.
    Measured,
    /// Runs a background workload at the same time.
    Background,
}

/// Ids of clients: `first`, `first + step` and so on. Each client of the measured groups has one
/// id, from 0. Their ids alternate, so that any range of ids, such as the active clients of a
/// stage, is divided evenly among the groups. The clients of each background group are numbered
/// from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientIds {
    /// The lowest id.
    pub first: u32,
    /// Increment between ids; at least 1.
    pub step: u32,
    /// Number of clients.
    pub count: u32,
}

impl ClientIds {
    /// The clients of one group where client i of `clients` belongs to group i modulo `groups`.
    #[must_use]
    pub fn round_robin(clients: u32, group: u32, groups: u32) -> Self {
        let count = clients / groups + u32::from(group < clients % groups);
        Self { first: group, step: groups, count }
    }

    /// The group of a client among groups that clients are dealt out to, and its position within
    /// it.
    #[must_use]
    pub fn group_and_position(client: u32, groups: u32) -> (u32, u32) {
        (client % groups, client / groups)
    }

    /// The ids, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |position| self.first + position * self.step)
    }

    /// The position of one of the ids among them, from 0.
    #[inline]
    #[must_use]
    pub fn position(self, client: u32) -> u32 {
        (client - self.first) / self.step
    }

    /// How many of the ids are below a limit.
    fn count_below(self, limit: u32) -> u32 {
        limit.saturating_sub(self.first).div_ceil(self.step).min(self.count)
    }
}

/// The clients of a load that one process drives: all, or those of one of several generators.
///
/// **The rule that divides a load**: client c of a load belongs to generator c modulo the number of
/// generators. Item i of whatever all clients share (the arrivals of an open loop, in order; the
/// transactions of a budget) belongs to client i modulo the number of clients, and so to the
/// generator of that client. All that a client does on its own follows from its id. The
/// subsets of all generators are therefore disjoint, and together they are the whole load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSubset {
    /// Ids of the clients that this process drives.
    pub ids: ClientIds,
    /// Number of clients of the whole load.
    pub total: u32,
}

impl ClientSubset {
    /// The whole load.
    #[must_use]
    pub fn whole(clients: u32) -> Self {
        Self::new(clients, 0, 1)
    }

    /// The subset of one of several generators, which are numbered from 0.
    #[must_use]
    pub fn new(total: u32, generator: u32, generators: u32) -> Self {
        Self { ids: ClientIds::round_robin(total, generator, generators), total }
    }

    /// Number of clients that this process drives.
    #[must_use]
    pub fn count(self) -> u32 {
        self.ids.count
    }

    /// True for an item, from 0, that belongs to one of these clients.
    #[inline]
    #[must_use]
    pub fn contains_item(self, item: u64) -> bool {
        let client = (item % u64::from(self.total)) as u32;
        client >= self.ids.first && (client - self.ids.first).is_multiple_of(self.ids.step)
    }

    /// The item that is the nth, from 0, of those that belong to these clients.
    #[must_use]
    pub fn item(self, nth: u64) -> u64 {
        let count = u64::from(self.ids.count);
        let client = self.ids.first + (nth % count) as u32 * self.ids.step;
        nth / count * u64::from(self.total) + u64::from(client)
    }

    /// How many of the first `items` items belong to these clients.
    #[must_use]
    pub fn items_of(self, items: u64) -> u64 {
        let clients = u64::from(self.total);
        let of_last_round = self.ids.count_below((items % clients) as u32);
        items / clients * u64::from(self.ids.count) + u64::from(of_last_round)
    }
}

impl ClientGroup {
    /// The section of the spec that defines the group.
    #[must_use]
    pub fn section(&self) -> String {
        match self.role {
            GroupRole::Measured => "[workload]".to_owned(),
            GroupRole::Background => format!("[[background]] {:?}", self.name),
        }
    }

    /// Sessions of its clients. Each Lua script has a separate session for each client, since it
    /// connects by itself.
    #[must_use]
    pub fn sessions(&self) -> u32 {
        match self.workload.kind.as_str() {
            LUA => self
                .clients
                .count
                .saturating_mul(self.workload.options.scripts("scripts").len() as u32),
            _ => self.clients.count,
        }
    }
}

impl BackgroundPlan {
    /// The load of its clients in a trial: the same length and rules as the measured load, except
    /// for the arrivals.
    fn load(&self, measured_load: &LoadPlan) -> LoadPlan {
        LoadPlan {
            rate: self.rate,
            think: self.think,
            stages: None,
            is_overload: false,
            find: None,
            milestones: Vec::new(),
            ..measured_load.clone()
        }
    }
}

impl Plan {
    /// The client groups that a trial of a configuration runs: first the measured ones, then the
    /// background groups in the order of the spec.
    #[must_use]
    pub fn groups(&self, configuration: &Configuration) -> Vec<ClientGroup> {
        let databases = self.databases(configuration);
        let database_count = databases.len().max(1) as u32;
        let measured_group = |group: u32| {
            let database = databases.get(group as usize).cloned();
            ClientGroup {
                name: database.clone().unwrap_or_default(),
                role: GroupRole::Measured,
                workload: configuration.workload.clone(),
                database,
                clients: ClientIds::round_robin(configuration.clients, group, database_count),
                load: configuration.load.clone(),
            }
        };
        let mut groups: Vec<ClientGroup> = (0..database_count).map(measured_group).collect();
        let mut first = configuration.clients;
        for plan in &configuration.background {
            groups.push(ClientGroup {
                name: plan.name.clone(),
                role: GroupRole::Background,
                workload: plan.workload.clone(),
                database: None,
                clients: ClientIds { first, step: 1, count: plan.clients },
                load: plan.load(&configuration.load),
            });
            first += plan.clients;
        }
        groups
    }

    /// The largest client count, over all groups, of any configuration of a system.
    #[must_use]
    pub fn most_clients(&self, system: usize) -> u32 {
        self.most(system, |group| group.clients.count)
    }

    /// The largest number of sessions that clients of a system have at once.
    pub(crate) fn most_client_sessions(&self, system: usize) -> u32 {
        self.most(system, ClientGroup::sessions)
    }

    fn most(&self, system: usize, of: fn(&ClientGroup) -> u32) -> u32 {
        self.of_system(system)
            .map(|configuration| self.sum_of_groups(configuration, of))
            .max()
            .unwrap_or(0)
    }

    /// A sum over the groups of a configuration.
    #[must_use]
    pub fn sum_of_groups(&self, configuration: &Configuration, of: fn(&ClientGroup) -> u32) -> u32 {
        self.groups(configuration).iter().map(of).fold(0, u32::saturating_add)
    }

    /// The largest number of clients that a group has in any configuration of a system.
    #[must_use]
    pub fn most_clients_of(&self, system: usize, group: &ClientGroup) -> u32 {
        let clients = |configuration: &Configuration| match group.role {
            GroupRole::Measured => Some(configuration.clients),
            GroupRole::Background => configuration
                .background
                .iter()
                .find(|it| it.name == group.name)
                .map(|it| it.clients),
        };
        self.of_system(system).filter_map(clients).max().unwrap_or(0)
    }

    /// The largest number of generators of any configuration; 0 without any.
    #[must_use]
    pub fn most_generators(&self) -> u32 {
        let of = |configuration: &Configuration| configuration.load.generators.unwrap_or(0);
        self.configurations.iter().map(of).max().unwrap_or(0)
    }

    /// All background workloads, each once, as defined in the first configuration that has it.
    #[must_use]
    pub fn background(&self) -> Vec<&BackgroundPlan> {
        let all = self.configurations.iter().flat_map(|configuration| &configuration.background);
        lists::grouped(all.map(|it| (&it.name, it))).into_iter().map(|(_, all)| all[0]).collect()
    }

    /// The databases of the measured groups of a configuration; empty when they work in the
    /// system's own database.
    #[must_use]
    pub fn databases(&self, configuration: &Configuration) -> Vec<String> {
        configuration.load.databases.names(self.systems[configuration.system].database())
    }

    /// All databases of the measured groups of a system.
    #[must_use]
    pub fn databases_of(&self, system: usize) -> Vec<String> {
        lists::distinct(
            self.of_system(system).flat_map(|configuration| self.databases(configuration)),
        )
    }

    /// True when a group works in a system's own database.
    #[must_use]
    pub fn uses_own_database(&self, system: usize) -> bool {
        self.of_system(system).any(|configuration| configuration.load.databases.is_one())
    }
}

impl TrialRecord {
    /// Warnings about the background groups. Warnings that concern the whole trial are reported for
    /// the trial itself.
    pub(crate) fn background_warnings(&self) -> impl Iterator<Item = Warning> {
        let is_stopped = self.facts.as_ref().is_some_and(|facts| facts.stopped.is_some());
        let is_of_all = move |warning: &Warning| match warning.of_any_generator() {
            Warning::SharedMachine
            | Warning::DebugBuild
            | Warning::Steal { .. }
            | Warning::ClockUncertain { .. }
            | Warning::ShortWindow { .. } => true,
            Warning::CutShort { .. } => is_stopped,
            _ => false,
        };
        self.background.iter().flat_map(move |group| {
            let own = group.record.warnings.iter().filter(move |warning| !is_of_all(warning));
            own.map(|it| Warning::Background {
                name: group.name.clone(),
                inner: Box::new(it.clone()),
            })
        })
    }

    /// True when the group had work: a transaction started or was due.
    #[must_use]
    pub fn had_work(&self) -> bool {
        let facts = self.facts.as_ref();
        let total = facts.map_or(0, |facts| facts.committed_total + facts.unfinished_total);
        self.counters.started + total > 0
            || self.open_loop.is_some_and(|open_loop| open_loop.arrived > 0)
    }

    /// The worst audit verdict of all groups.
    #[must_use]
    pub fn worst_audit(&self) -> AuditVerdict {
        let background = self.background.iter().map(|group| group.record.audit.verdict());
        background.fold(self.audit.verdict(), AuditVerdict::max)
    }

    /// The sum of what was counted in all groups.
    pub(crate) fn sum_of_groups(&self, of: impl Fn(&TrialRecord, &Facts) -> u64) -> u64 {
        let background = self.background.iter().map(|group| &group.record);
        let all = [self].into_iter().chain(background);
        all.filter_map(|record| Some(of(record, record.facts.as_ref()?))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn subsets_of_any_number_of_generators_are_the_whole_load(
            clients in 1_u32..200, generators in 1_u32..20, items in 0_u64..1_000
        ) {
            let generators = generators.min(clients);
            let subsets: Vec<ClientSubset> =
                (0..generators).map(|it| ClientSubset::new(clients, it, generators)).collect();
            let mut all: Vec<u32> = subsets.iter().flat_map(|subset| subset.ids.iter()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..clients).collect::<Vec<_>>());
            for item in 0..items {
                let owners = subsets.iter().filter(|subset| subset.contains_item(item)).count();
                prop_assert_eq!(owners, 1, "item {}", item);
            }
            for subset in &subsets {
                let counted = (0..items).filter(|item| subset.contains_item(*item)).count() as u64;
                prop_assert_eq!(subset.items_of(items), counted);
                let positions: Vec<u32> =
                    subset.ids.iter().map(|client| subset.ids.position(client)).collect();
                prop_assert_eq!(positions, (0..subset.count()).collect::<Vec<_>>());
                // Even where clients are not, subsets are as even as they can be.
                prop_assert!(subset.count() >= clients / generators);
            }
        }
    }

    #[test]
    fn clients_are_partitioned_into_groups_of_nearly_equal_size() {
        for (clients, sizes) in
            [(5, vec![5]), (5, vec![3, 2]), (8, vec![2, 2, 2, 2]), (8, vec![3, 3, 2])]
        {
            let groups = sizes.len() as u32;
            let ids = |group| ClientIds::round_robin(clients, group, groups);
            let round_robin: Vec<ClientIds> = (0..groups).map(ids).collect();
            assert_eq!(round_robin.iter().map(|it| it.count).collect::<Vec<_>>(), sizes);
            let each =
                |it: &ClientIds| (it.first..).step_by(it.step as usize).take(it.count as usize);
            let mut all: Vec<u32> = round_robin.iter().flat_map(each).collect();
            all.sort_unstable();
            assert_eq!(all, (0..clients).collect::<Vec<_>>());
        }
    }
}

//! Workloads that run beside the one that an experiment is about: at the same time, on the same
//! system, with clients of their own.

use crate::audit::AuditVerdict;
use crate::catalog::LUA;
use crate::lists;
use crate::plan::{Configuration, LoadPlan, Plan};
use crate::record::{Facts, TrialRecord};
use crate::warning::Warning;

pub use crate::plan::BesidePlan;
pub use crate::record::BesideRecord;

impl BesidePlan {
    /// A configuration with this in the place of its workload and clients. It lasts as long and
    /// follows the same rules, but for what arrives.
    #[must_use]
    pub fn configuration(&self, of: &Configuration) -> Configuration {
        let load = LoadPlan {
            rate: self.rate,
            think: self.think,
            stages: None,
            is_overload: false,
            find: None,
            milestones: Vec::new(),
            ..of.load.clone()
        };
        let (clients, workload) = (self.clients, self.workload.clone());
        Configuration { clients, workload, load, beside: Vec::new(), ..of.clone() }
    }
}

impl Configuration {
    /// All clients, those of the workloads beside included.
    #[must_use]
    pub fn all_clients(&self) -> u32 {
        self.clients + self.beside.iter().map(|beside| beside.clients).sum::<u32>()
    }

    /// Sessions of all clients. Each script of Lua has one of its own for each client, since it
    /// connects by itself.
    #[must_use]
    pub fn all_sessions(&self) -> u32 {
        let beside = self.beside.iter().map(|beside| (beside.clients, &beside.workload));
        let all = std::iter::once((self.clients, &self.workload)).chain(beside);
        let sessions = all.map(|(clients, workload)| match workload.kind.as_str() {
            LUA => clients.saturating_mul(workload.options.scripts("scripts").len() as u32),
            _ => clients,
        });
        sessions.fold(0, u32::saturating_add)
    }
}

impl Plan {
    /// All workloads that run beside others, each once, as the first configuration that has it has
    /// it.
    #[must_use]
    pub fn beside(&self) -> Vec<&BesidePlan> {
        let all = self.configurations.iter().flat_map(|configuration| &configuration.beside);
        lists::grouped(all.map(|beside| (&beside.name, beside)))
            .into_iter()
            .map(|(_, all)| all[0])
            .collect()
    }
}

impl TrialRecord {
    /// What is doubtful about the workloads beside it. What concerns all of a trial is told of the
    /// trial itself.
    pub(crate) fn warnings_beside(&self) -> impl Iterator<Item = Warning> {
        let is_stopped = self.facts.as_ref().is_some_and(|facts| facts.stopped.is_some());
        let is_of_all = move |warning: &Warning| match warning {
            Warning::SharedMachine
            | Warning::DebugBuild
            | Warning::Steal { .. }
            | Warning::ShortWindow { .. } => true,
            Warning::CutShort { .. } => is_stopped,
            _ => false,
        };
        self.beside.iter().flat_map(move |beside| {
            let warnings = beside.record.warnings.iter().filter(move |warning| !is_of_all(warning));
            warnings.map(|inner| Warning::Beside {
                name: beside.name.clone(),
                inner: Box::new(inner.clone()),
            })
        })
    }

    /// True when anything was there to be done: a transaction was begun, or was due.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        let facts = self.facts.as_ref();
        let in_all = facts.map_or(0, |facts| facts.committed_in_all + facts.unfinished_in_all);
        self.ledger.started + in_all > 0
            || self.open_loop.is_some_and(|open_loop| open_loop.arrived > 0)
    }

    /// The worst that the audits of its own workload and of those beside it came to.
    #[must_use]
    pub fn worst_audit(&self) -> AuditVerdict {
        let beside = self.beside.iter().map(|beside| beside.record.audit.verdict());
        beside.fold(self.audit.verdict(), AuditVerdict::max)
    }

    /// The sum of what was counted in the trial's own workload and in those beside it.
    pub(crate) fn with_beside(&self, of: impl Fn(&TrialRecord, &Facts) -> u64) -> u64 {
        let beside = self.beside.iter().map(|beside| &beside.record);
        let all = [self].into_iter().chain(beside);
        all.filter_map(|record| Some(of(record, record.facts.as_ref()?))).sum()
    }
}

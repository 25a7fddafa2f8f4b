//! Workloads that run beside the one that a trial is about: each is measured on a thread of its own.

use crate::together::Member;
use dyno_engine::random::trial_seed;
use dyno_engine::{Company, Node, Place, Role, TrialError, TrialInput};
use dyno_model::event::Listeners;
use dyno_model::plan::Trial;
use dyno_model::record::TrialRecord;
use std::sync::atomic::AtomicUsize;

/// What all of them have in common.
pub(crate) struct Beside<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) nodes: &'a [Node],
    /// Seed of the experiment.
    pub(crate) seed: u64,
    /// Number of interrupts by the user.
    pub(crate) count: &'a AtomicUsize,
    pub(crate) shares_machine: bool,
}

impl Beside<'_> {
    /// Measures members around the workload that the trial is about, which `lead` measures in its role.
    pub(crate) fn around(
        &self,
        members: Vec<Member<'_>>,
        lead: impl FnOnce(Role<'_>) -> Result<TrialRecord, TrialError>,
    ) -> Result<TrialRecord, TrialError> {
        if members.is_empty() {
            return lead(Role::Alone);
        }
        let names = members.iter().filter_map(|member| member.beside);
        let all = names.zip(&members).map(|(plan, member)| (plan.name.clone(), member.treatment.clients));
        let (company, places) = Company::of(all);
        std::thread::scope(|scope| {
            for (member, place) in members.into_iter().zip(places) {
                scope.spawn(move || {
                    let outcome = self.measure(member, &place);
                    place.done(outcome);
                });
            }
            let measured = lead(Role::Leads(&company));
            // Whoever still waits for its beginning is told that there is none.
            drop(company);
            measured
        })
    }

    fn measure(&self, member: Member<'_>, place: &Place) -> Result<TrialRecord, TrialError> {
        let nodes = nodes_for(&member, self.nodes);
        let name = member.beside.map_or("", |beside| beside.name.as_str());
        let Member { workload, treatment, is_audited, .. } = member;
        // It draws other numbers than its neighbours.
        let seed = trial_seed(self.seed, name);
        let mut input = TrialInput {
            role: Role::Beside(place),
            is_audited,
            ..TrialInput::new(self.trial.clone(), nodes, treatment.clients, &treatment.load, seed, self.count)
        };
        input.load.shares_machine = self.shares_machine;
        workload.run(&input, &mut Listeners(Vec::new()))
    }
}

/// Where the clients of a workload connect; sessions that only read are kept from writing.
pub(crate) fn nodes_for(member: &Member<'_>, nodes: &[Node]) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    if member.only_reads {
        for node in &mut nodes {
            node.target.session_setup.push(node.target.engine.dialect().read_only.to_owned());
        }
    }
    nodes
}

//! Workloads that run beside the one that a trial is about: each is measured on a thread of its
//! own.

use crate::together::Member;
use dyno_engine::random::trial_seed;
use dyno_engine::{Company, Node, Place, Role, TrialError, TrialInput};
use dyno_model::event::Listener;
use dyno_model::history::History;
use dyno_model::plan::Trial;
use dyno_model::record::TrialRecord;
use dyno_sysbench::SCRIPT_STACK;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;

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
    /// Measures members around the workload that the trial is about, which `lead` measures in its
    /// role. The listener hears of that one, and gets the histories of all.
    pub(crate) fn around<'m>(
        &self,
        members: Vec<Member<'m>>,
        listener: &mut dyn Listener,
        lead: impl FnOnce(Role<'_>, &mut dyn Listener) -> Result<TrialRecord, TrialError>,
    ) -> Result<TrialRecord, TrialError> {
        if members.is_empty() {
            return lead(Role::Alone, listener);
        }
        let names = members.iter().filter_map(|member| member.beside);
        let all = names
            .zip(&members)
            .map(|(plan, member)| (plan.name.clone(), member.configuration.clients));
        let (company, places) = Company::of(all);
        thread::scope(|scope| {
            let measure = |(member, place): (Member<'m>, Place)| {
                let name = member.beside.map(|plan| plan.name.as_str());
                let mut kept = Kept::default();
                let outcome = self.measure(member, &place, &mut kept);
                place.done(outcome);
                (name, kept)
            };
            let members = members.into_iter().zip(places);
            let threads: Vec<_> = members
                .map(|member| {
                    // Scripts may be read there.
                    let thread = thread::Builder::new().stack_size(SCRIPT_STACK);
                    thread
                        .spawn_scoped(scope, move || measure(member))
                        .expect("a thread can be started")
                })
                .collect();
            let measured = lead(Role::Leads(&company), &mut *listener);
            // Whoever still waits for its beginning is told that there is none.
            drop(company);
            // Of one that panicked the company has told; nobody who is not joined may panic here.
            for (name, Kept(history)) in threads.into_iter().filter_map(|thread| thread.join().ok())
            {
                if let Some(history) = history {
                    listener.history(&self.trial.id, name, &history);
                }
            }
            measured
        })
    }

    fn measure(
        &self,
        member: Member<'_>,
        place: &Place,
        kept: &mut Kept,
    ) -> Result<TrialRecord, TrialError> {
        let nodes = nodes_for(&member, self.nodes);
        let name = member.beside.map_or("", |beside| beside.name.as_str());
        let Member { workload, configuration, is_audited, .. } = member;
        // It draws other numbers than its neighbours.
        let seed = trial_seed(self.seed, name);
        let mut input = TrialInput {
            role: Role::Beside(place),
            is_audited,
            ..TrialInput::new(
                self.trial.clone(),
                nodes,
                configuration.clients,
                &configuration.load,
                seed,
                self.count,
            )
        };
        input.load.shares_machine = self.shares_machine;
        workload.run(&input, kept)
    }
}

/// What is kept of what a member tells: its history, if it has one.
#[derive(Default)]
struct Kept(Option<Arc<History>>);

impl Listener for Kept {
    fn history(&mut self, _trial: &str, _beside: Option<&str>, history: &Arc<History>) {
        self.0 = Some(Arc::clone(history));
    }
}

/// Where the clients of a workload connect; sessions that only read are kept from writing.
pub(crate) fn nodes_for(member: &Member<'_>, nodes: &[Node]) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    if member.only_reads {
        for node in &mut nodes {
            node.target = node.target.clone().reading();
            node.client_target = node.client_target.take().map(|client_target| {
                if client_target.engine.has_sql() { client_target.reading() } else { client_target }
            });
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::together::Together;
    use crate::workload::catalog;
    use dyno_model::spec::{Input, parse};
    use dyno_model::target::{Endpoint, Engine, Target};

    #[test]
    fn a_member_that_panics_ends_the_trial_with_the_reason_and_not_the_run() {
        let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 10\n";
        let text = format!(
            "title = \"t\"\n[[system]]\nname = \"s\"\nurl = \"null:\"\n[load]\nclients = 1\nduration = \"1s\"\n\
             [workload]\n{mix}[[beside]]\nname = \"report\"\n[beside.workload]\n{mix}"
        );
        let input = Input { file_name: "t.toml", text: &text, ..Input::default() };
        let (_, plan) = parse(input, &catalog()).unwrap_or_else(|errors| panic!("{errors}"));
        let (trial, configuration) = (&plan.trials[0], &plan.configurations[0]);
        let mut members =
            Together::of(&plan, configuration).expect("both only read").members.into_iter();
        let own = members.next().expect("the configuration's own");
        let count = AtomicUsize::new(0);
        // Without a server there is nowhere to connect, which is a mistake of whoever asks.
        let beside = Beside { trial, nodes: &[], seed: 1, count: &count, shares_machine: true };
        let nodes = Node::alone(Target::new(Engine::Null, Endpoint::InProcess));
        let measured = beside.around(members.collect(), &mut Kept::default(), |role, listener| {
            let input = TrialInput::new(trial.clone(), nodes, 1, &configuration.load, 1, &count);
            own.workload.run(&TrialInput { role, ..input }, listener)
        });
        let told = measured.expect_err("nothing was measured").to_string();
        assert!(told.contains("the workload \"report\" beside: its thread panicked"), "{told}");
    }
}

//! The client groups of a trial: running background groups, and the nodes that a group connects to.

use crate::generators::DistributedTrial;
use crate::workload::AnyWorkload;
use crate::workload_set::Member;
use dyno_engine::random::trial_seed;
use dyno_engine::{BackgroundGroup, BarrierMember, Generators, Node, TrialInput};
use dyno_model::event::Listener;
use dyno_model::plan::Trial;
use dyno_sysbench::SCRIPT_STACK;
use std::sync::atomic::AtomicUsize;

/// What the background groups of a trial share.
pub(crate) struct Background<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) nodes: &'a [Node],
    /// Seed of the experiment.
    pub(crate) seed: u64,
    /// Number of interrupts by the user so far.
    pub(crate) count: &'a AtomicUsize,
    pub(crate) shares_machine: bool,
    /// The generators that drive the clients; `None`: this process does.
    pub(crate) distributed: Option<DistributedTrial<'a>>,
}

impl Background<'_> {
    pub(crate) fn group(&self, member: Member) -> BackgroundGroup<'_> {
        let nodes = nodes_for(&member, self.nodes);
        let Member { group, workload, is_audited, .. } = member;
        let (name, clients) = (group.name.clone(), group.clients.count);
        // Each group draws its own random numbers.
        let seed = trial_seed(self.seed, &name);
        let run = move |barrier: &BarrierMember, listener: &mut dyn Listener| {
            let mut input = TrialInput {
                barrier: Some(barrier),
                is_audited,
                ..TrialInput::new(self.trial.clone(), nodes, clients, &group.load, seed, self.count)
            };
            input.load.shares_machine = self.shares_machine;
            let generators =
                self.distributed.map(|distributed| distributed.of_background_group(&group, &input));
            input.generators = generators.as_ref().map(|it| it as &dyn Generators);
            AnyWorkload::run(vec![workload], &input, listener)
        };
        // The thread may have to parse scripts, which needs a larger stack.
        BackgroundGroup { name, clients, run: Box::new(run), stack_size: SCRIPT_STACK }
    }
}

/// The nodes that the clients of a group connect to; read-only groups get sessions that cannot
/// write.
pub(crate) fn nodes_for(member: &Member, nodes: &[Node]) -> Vec<Node> {
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
    use crate::workload::catalog;
    use crate::workload_set::WorkloadSet;
    use dyno_engine::run_groups;
    use dyno_model::spec::{Input, parse};
    use dyno_model::target::{Endpoint, Engine, Target};

    struct Nobody;
    impl Listener for Nobody {}

    #[test]
    fn a_panicking_background_group_ends_the_trial_with_the_reason() {
        let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 10\n";
        let text = format!(
            "title = \"t\"\n[[system]]\nname = \"s\"\nurl = \"null:\"\n[load]\nclients = 1\nduration = \"1s\"\n\
             [workload]\n{mix}[[background]]\nname = \"report\"\n[background.workload]\n{mix}"
        );
        let input = Input { file_name: "t.toml", text: &text, ..Input::default() };
        let (_, plan) = parse(input, &catalog()).unwrap_or_else(|errors| panic!("{errors}"));
        let (trial, configuration) = (&plan.trials[0], &plan.configurations[0]);
        let mut members =
            WorkloadSet::new(&plan, configuration).expect("both only read").into_members();
        let own = members.next().expect("the measured group");
        let count = AtomicUsize::new(0);
        // A group without a server cannot connect: the caller made a mistake.
        let background = Background {
            trial,
            nodes: &[],
            seed: 1,
            count: &count,
            shares_machine: true,
            distributed: None,
        };
        let groups = members.map(|member| background.group(member)).collect();
        let nodes = Node::alone(Target::new(Engine::Null, Endpoint::InProcess));
        let outcome = run_groups(&trial.id, groups, &mut Nobody, |barrier, listener| {
            let input = TrialInput::new(trial.clone(), nodes, 1, &configuration.load, 1, &count);
            AnyWorkload::run(vec![own.workload], &TrialInput { barrier, ..input.clone() }, listener)
        });
        let reported = outcome.expect_err("nothing was measured").to_string();
        assert!(
            reported.contains("the background workload \"report\": its thread panicked"),
            "{reported}"
        );
    }
}

//! A trial with the clients of a fleet: its assignments and reports.

use super::client_work::ClientWork;
use super::fleet::{Fleet, FleetSize};
use super::generator_handle::{GeneratorEvent, GeneratorHandle};
use super::message::{CoordinatorMessage, GeneratorAssignment, SentTarget};
use crate::interrupt::Interrupts;
use crate::workload::WorkloadSpec;
use dyno_engine::{
    DistributedLoad, GeneratorReport, GeneratorSource, Generators, LoadInput, TrialError,
    TrialInput,
};
use dyno_model::catalog::Growth;
use dyno_model::client_group::{ClientGroup, GroupRole};
use dyno_model::launcher::LauncherPlan;
use dyno_model::plan::{Configuration, LoadPlan, Plan};
use dyno_model::reason::Reason;
use dyno_model::record::GeneratorSummary;
use dyno_model::sync::lock;
use dyno_pgbench::PgbenchWork;
use dyno_store::environment::boot_id;
use dyno_sysbench::SysbenchWork;
use std::time::{Duration, Instant};

/// Time between the order to start and the start, in which it reaches all generators and their
/// workers wake up.
const RUN_UP: Duration = Duration::from_millis(500);
/// Longest time that a load step waits for comparisons of clocks.
const CLOCK_LIMIT: Duration = Duration::from_secs(2);

/// A trial that is divided among the generators of a fleet.
#[derive(Clone, Copy)]
pub(crate) struct DistributedTrial<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) plan: &'a Plan,
    pub(super) configuration: &'a Configuration,
}

impl<'a> DistributedTrial<'a> {
    pub(crate) fn new(fleet: &'a Fleet, plan: &'a Plan, configuration: &'a Configuration) -> Self {
        Self { fleet, plan, configuration }
    }

    /// The generators of the measured groups.
    pub(crate) fn of_measured_groups(self, input: &TrialInput<'_>) -> GroupGenerators<'a> {
        let mut groups = self.plan.groups(self.configuration);
        groups.retain(|group| group.role == GroupRole::Measured);
        let mut spec = WorkloadSpec::of_group(self.plan, self.configuration, &groups[0]);
        spec.groups = groups.iter().map(|group| group.clients.count).collect();
        self.generators(0, ClientWork::Workload(spec), input)
    }

    /// The generators of a background group.
    pub(crate) fn of_background_group(
        self,
        group: &ClientGroup,
        input: &TrialInput<'_>,
    ) -> GroupGenerators<'a> {
        let index = self.configuration.background.iter().position(|it| it.name == group.name);
        let group_index = 1 + index.expect("it is a group of this configuration") as u32;
        let spec = WorkloadSpec::of_group(self.plan, self.configuration, group);
        self.generators(group_index, ClientWork::Workload(spec), input)
    }

    fn generators(
        self,
        group: u32,
        client_work: ClientWork,
        input: &TrialInput<'_>,
    ) -> GroupGenerators<'a> {
        let load = &input.load;
        let generators = |clients| self.configuration.load.generators_for(clients);
        let generator_count = generators(load.clients.total);
        let background = self.configuration.background.iter().map(|it| generators(it.clients));
        let nodes = &input.nodes;
        let target =
            |node: &dyno_engine::Node| node.client_target.as_ref().unwrap_or(&node.target).into();
        let targets = nodes.iter().map(target).collect();
        let spare = nodes.iter().filter(|node| node.is_spare).count();
        let of_trial = background.fold(generator_count, u32::max) as usize;
        let assignment = GeneratorAssignment {
            group,
            spare,
            ..GeneratorAssignment::new(load, generator_count, client_work, targets)
        };
        GroupGenerators {
            fleet: self.fleet,
            generators: generator_count as usize,
            of_trial,
            assignment,
        }
    }
}

impl GeneratorAssignment {
    /// The assignment of generator 0 of a load.
    fn new(
        load: &LoadInput<'_>,
        generators: u32,
        client_work: ClientWork,
        targets: Vec<SentTarget>,
    ) -> Self {
        Self {
            name: load.name.clone(),
            group: 0,
            seed: load.seed,
            generator: 0,
            generators,
            clients: load.clients.total,
            load: LoadPlan { generators: None, ..load.load.clone() },
            interval: load.interval,
            growth: None,
            expected: load.expected,
            servers_boot: load.shares_machine.then(boot_id),
            client_work,
            targets,
            spare: 0,
        }
    }
}

/// Generators for a load outside of an experiment.
pub(crate) struct LoadGenerators<'a> {
    pub(crate) interrupts: &'a Interrupts,
}

impl GeneratorSource<SysbenchWork> for LoadGenerators<'_> {
    fn with_generators(
        &self,
        load: &DistributedLoad<'_, SysbenchWork>,
        run: &mut dyn FnMut(&dyn Generators),
    ) -> Result<(), String> {
        let client_work = match &load.client_work {
            SysbenchWork::Native(plan) => {
                let target = load.targets.first().ok_or("there is no server")?;
                let clients = load.input.clients.total;
                ClientWork::Workload(WorkloadSpec {
                    plan: plan.clone(),
                    engine: target.engine,
                    seed: load.input.seed,
                    query_mode: target.query_mode,
                    groups: vec![clients],
                    clients_max: clients,
                })
            }
            SysbenchWork::Script(script) => ClientWork::Script(script.clone()),
        };
        self.run(load, client_work, run)
    }
}

impl GeneratorSource<PgbenchWork> for LoadGenerators<'_> {
    fn with_generators(
        &self,
        load: &DistributedLoad<'_, PgbenchWork>,
        run: &mut dyn FnMut(&dyn Generators),
    ) -> Result<(), String> {
        self.run(load, ClientWork::Pgbench(load.client_work.clone()), run)
    }
}

impl LoadGenerators<'_> {
    fn run<W>(
        &self,
        load: &DistributedLoad<'_, W>,
        client_work: ClientWork,
        run: &mut dyn FnMut(&dyn Generators),
    ) -> Result<(), String> {
        let DistributedLoad { generators, launcher, targets, input, .. } = *load;
        let targets = targets.iter().map(SentTarget::from).collect();
        let assignment = GeneratorAssignment::new(input, generators, client_work, targets);
        let launcher = LauncherPlan { kind: launcher, ..LauncherPlan::default() };
        let fleet = Fleet::launch(&launcher, FleetSize { generators, groups: 1 }, self.interrupts)?;
        let generators = generators as usize;
        run(&GroupGenerators { fleet: &fleet, generators, of_trial: generators, assignment });
        Ok(())
    }
}

/// The generators of a fleet that drive the clients of a client group.
pub(crate) struct GroupGenerators<'a> {
    fleet: &'a Fleet,
    /// Number of generators with clients of this group: the first ones of the fleet.
    generators: usize,
    /// Number of generators with clients of any group.
    of_trial: usize,
    /// That of generator 0.
    assignment: GeneratorAssignment,
}

impl GroupGenerators<'_> {
    fn all(&self) -> impl Iterator<Item = &GeneratorHandle> {
        self.fleet.members.iter().take(self.generators)
    }
}

impl Generators for GroupGenerators<'_> {
    fn assign(&self, growth: Option<Growth>) -> Result<(), TrialError> {
        for (member, generator) in self.all().zip(0..) {
            let assignment = GeneratorAssignment { generator, growth, ..self.assignment.clone() };
            member.order(CoordinatorMessage::Assign(Box::new(assignment)));
        }
        Ok(())
    }

    fn summaries(&self) -> Vec<GeneratorSummary> {
        self.all().map(GeneratorHandle::summary).collect()
    }

    fn start(&self) -> Result<Instant, TrialError> {
        let all = || self.fleet.members.iter().take(self.of_trial);
        let slowest = all().map(|member| lock(&member.clock).error()).max();
        let epoch = Instant::now() + RUN_UP + 4 * slowest.unwrap_or_default();
        for member in all() {
            let since = Instant::now();
            let at = loop {
                match lock(&member.clock).mark(epoch) {
                    Some(at) => break at,
                    None if since.elapsed() > CLOCK_LIMIT => {
                        let reason = Box::new(Reason::from("its clock is unknown"));
                        let name = member.summary().name();
                        return Err(TrialError::Failed(Reason::GeneratorFailed { name, reason }));
                    }
                    None => {}
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            member.order(CoordinatorMessage::Start(at));
        }
        Ok(epoch)
    }

    fn next(&self, wait: Duration) -> Result<Option<(usize, GeneratorReport)>, TrialError> {
        Ok(match self.fleet.next(self.assignment.group, wait)? {
            Some((from, GeneratorEvent::Report(report))) if from < self.generators => {
                Some((from, *report))
            }
            _ => None,
        })
    }

    fn stop(&self, cause: &Reason) {
        let stop = || CoordinatorMessage::Stop(self.assignment.group, cause.clone());
        self.all().for_each(|member| member.order(stop()));
    }
}

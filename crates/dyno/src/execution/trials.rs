//! All trials of a plan in run order. A failed trial is marked, and the next one starts.

use crate::client_groups::{Background, nodes_for};
use crate::data::{DataSetup, Missing};
use crate::faults::Faults;
use crate::generators::DistributedTrial;
use crate::interrupt::Interrupts;
use crate::search::Searches;
use crate::systems::Systems;
use crate::workload::AnyWorkload;
use crate::workload_set::{Member, WorkloadSet};
use dyno_engine::{Generators, TrialError, TrialInput, run_groups};
use dyno_host::monitor::Watch;
use dyno_model::client_group::GroupRole;
use dyno_model::event::{Event, InterimAnalysis, Listener, Listeners};
use dyno_model::fault::ExpectedFaults;
use dyno_model::judge::has_faults;
use dyno_model::plan::{Configuration, Plan, Trial};
use dyno_model::reason::Reason;
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::search::SearchEnd;
use dyno_model::units::Nanos;
use dyno_store::environment::boot_id;
use dyno_store::{RunWriter, utc_now};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Trials with at least this warm-up first try different numbers of workers, which takes about as
/// long.
const WARMUP_FOR_TRIES: Nanos = Nanos(2_000_000_000);

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Trials measured completely, including those of an earlier part of the run.
    pub(crate) measured_trials: usize,
    /// Trials with results that an interrupt or their system cut short.
    pub(crate) cut: Vec<String>,
    /// Trials without results.
    pub(crate) failed: usize,
    /// Searches in which no load passed the limit.
    pub(crate) unmet: usize,
    /// Searches that ended without a decision.
    pub(crate) undecided: usize,
    /// Number of times that a system died or could not be started.
    pub(crate) system_failures: usize,
    /// True when any trial committed anything, including those of an earlier part of the run.
    pub(crate) has_commits: bool,
    /// Number of trials: fewer than planned when an interim analysis ended the run.
    pub(crate) planned: usize,
}

impl Tally {
    /// True when every trial was measured.
    pub(crate) fn is_complete(&self) -> bool {
        self.measured_trials + self.unmet + self.undecided == self.planned
    }

    /// Counts a search that ended without a load that passes.
    pub(crate) fn without_load(&mut self, end: &SearchEnd) {
        match end {
            SearchEnd::FailsEverywhere { .. } => self.unmet += 1,
            _ => self.undecided += 1,
        }
    }

    /// Counts a trial with results.
    fn add(&mut self, trial: &Trial, record: &TrialRecord) {
        self.has_commits |= record.has_committed();
        match record.is_whole() {
            true => self.measured_trials += 1,
            false => self.cut.push(trial.id.clone()),
        }
    }

    /// Counts and reports a failed trial.
    fn fail(&mut self, trial: &Trial, reason: Reason, listener: &mut dyn Listener) {
        self.failed += 1;
        listener.event(&Event::TrialFailed { trial: trial.id.clone(), reason, search: None });
    }
}

/// Runs all trials. Every block, and every restart group in it, starts with fresh servers and fresh
/// data, because a repeat must include these.
///
/// `done` are trials that an interrupted run has already measured. If the plan has interim
/// analyses, `interim_analysis` evaluates the data after each block.
pub(crate) fn run(
    plan: &Plan,
    done: &BTreeSet<String>,
    interim_analysis: &dyn Fn(u32) -> Option<InterimAnalysis>,
    systems: &mut Systems<'_>,
    writer: &mut RunWriter,
    screen: &mut dyn Listener,
    interrupts: &Interrupts,
) -> Tally {
    let (measured_trials, planned) = (done.len(), plan.trials.len());
    let mut tally =
        Tally { measured_trials, planned, has_commits: measured_trials > 0, ..Tally::default() };
    Listeners(vec![&mut *writer, &mut *screen]).event(&Event::RunStarted {
        trials: plan.trials.len(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        boot: boot_id(),
    });
    let mut block = 0;
    let mut searches = Searches::default();
    for trial in plan.trials.iter().filter(|trial| !done.contains(&trial.id)) {
        // After a write error, further measurements would be lost as well.
        if interrupts.is_requested() || writer.failure().is_some() {
            break;
        }
        let listener = &mut Listeners(vec![&mut *writer, &mut *screen]);
        if trial.block != block {
            block = trial.block;
            if let Some(interim_analysis) =
                is_next(plan, done, block).then(|| interim_analysis(block - 1)).flatten()
            {
                listener.event(&Event::InterimAnalysis(interim_analysis));
                if interim_analysis.stop.is_some() {
                    tally.planned = plan.trials.iter().filter(|trial| trial.block < block).count();
                    break;
                }
            }
            systems.begin_block(block, listener);
        }
        let system = plan.configuration(trial).system;
        listener.event(&Event::TrialStarted { trial: trial.id.clone() });
        let configuration = plan.configuration(trial);
        let outcome = match configuration.load.find {
            None => measure(plan, trial, configuration, systems, listener, interrupts),
            Some(ref search) => searches.run(
                search,
                trial,
                configuration,
                listener,
                &mut |trial, configuration, listener| {
                    measure(plan, trial, configuration, systems, listener, interrupts)
                },
            ),
        };
        if outcome.is_err() && interrupts.is_requested() {
            // The interrupt caused the failure of the current trial.
            break;
        }
        if finish_trial(outcome, trial, system, &mut tally, systems, listener).is_break() {
            break;
        }
    }
    tally
}

/// Counts the outcome of a trial, reports it, and stops its system where necessary. Breaks when
/// nothing more can be measured.
fn finish_trial(
    outcome: Result<TrialRecord, Missing>,
    trial: &Trial,
    system: usize,
    tally: &mut Tally,
    systems: &mut Systems<'_>,
    listener: &mut dyn Listener,
) -> ControlFlow<()> {
    match outcome {
        Ok(record) => {
            tally.add(trial, &record);
            let has_failed = record.end == TrialEnd::System;
            let was_harmed = has_faults(&record);
            listener.event(&Event::TrialFinished(Box::new(record)));
            if systems.discard_if_dead(system, listener).is_some()
                || has_failed && systems.discard_if_silent(system, listener).is_some()
            {
                tally.system_failures += 1;
            } else if was_harmed {
                systems.stop_system(system, listener);
            }
        }
        Err(Missing::Interrupted) => return ControlFlow::Break(()),
        Err(Missing::Search(search)) => {
            tally.without_load(&search.end);
            let (end, steps) = (search.end.clone(), search.steps.len());
            let reason = Reason::NoLoad { search: Box::new(search.search.clone()), end, steps };
            listener.event(&Event::TrialFailed {
                trial: trial.id.clone(),
                reason,
                search: Some(search),
            });
        }
        Err(Missing::System(reason)) => {
            tally.fail(trial, reason, listener);
            tally.system_failures += 1;
            systems.discard(system, listener);
        }
        Err(Missing::Trial(reason)) => {
            tally.fail(trial, reason, listener);
            tally.system_failures += usize::from(systems.discard(system, listener));
        }
        Err(Missing::Run(reason)) => {
            tally.fail(trial, reason, listener);
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Continue(())
}

/// True when an interim analysis precedes this block. The run may end there only if no later block
/// has been measured, which can be the case when failed trials are measured again.
fn is_next(plan: &Plan, done: &BTreeSet<String>, block: u32) -> bool {
    let is_later = |trial: &&Trial| trial.block >= block && done.contains(&trial.id);
    plan.has_interim_analyses() && block > 1 && !plan.trials.iter().any(|trial| is_later(&trial))
}

/// Measures a configuration of the plan, or a variant of it with another load.
fn measure(
    plan: &Plan,
    trial: &Trial,
    configuration: &Configuration,
    systems: &mut Systems<'_>,
    listener: &mut dyn Listener,
    interrupts: &Interrupts,
) -> Result<TrialRecord, Missing> {
    let system = configuration.system;
    let set = WorkloadSet::new(plan, configuration).map_err(Missing::trial)?;
    let fleet = match configuration.load.generators {
        Some(_) => Some(
            systems
                .idle_fleet
                .take(plan, interrupts)
                .map_err(|reason| Missing::Run(reason.into()))?,
        ),
        None => None,
    };
    let distributed = fleet.as_ref().map(|fleet| DistributedTrial::new(fleet, plan, configuration));
    let loading = DataSetup { trial, systems, interrupts, distributed }.prepare(&set, listener)?;
    systems.report_unlocked(system, listener);
    systems.open_network_path(trial.configuration, listener).map_err(Missing::trial)?;
    let network_path = plan.endpoint(configuration);
    let (disks, measured_workers) = (systems.disks.clone(), Arc::clone(&systems.measured_workers));
    let command = systems.monitor_command(system);
    let ready = systems.ready(system).expect("it was just brought up");
    ready.is_untouched = false;
    if !set.is_reusable() {
        // Other trials must not use the modified data.
        ready.loaded = None;
    }
    let marks = ready.write_marks();
    let names = plan.databases(configuration);
    let nodes = ready.work_nodes(network_path, plan.query_mode(configuration), &names);
    let (seed, warmup) = (plan.seed, configuration.load.warmup.into());
    let mut watch = Watch::begin(
        &trial.id,
        warmup,
        ready.monitored(network_path, command, names.clone()),
        listener,
    );
    let trigger = watch.trigger();
    let expected = ExpectedFaults::of(plan.faults_of(system).map(|fault| fault.action));
    let full = || if expected == ExpectedFaults::FullDisk { None } else { disks.full() };
    let end_reason = || ready.end_reason().or_else(|| ready.path_exit(network_path)).or_else(full);
    let (clients, load, count) = (configuration.clients, &configuration.load, interrupts.counter());
    // Canned replies have no data that could be damaged.
    let keeps_data = plan.system(trial).engine().keeps_data();
    let members =
        set.into_members().map(|it| Member { is_audited: it.is_audited && keeps_data, ..it });
    let (own, others): (Vec<_>, Vec<_>) =
        members.partition(|it| it.group.role == GroupRole::Measured);
    let shares_machine = ready.shares_machine();
    let background = Background { trial, nodes: &nodes, seed, count, shares_machine, distributed };
    let groups = others.into_iter().map(|member| background.group(member)).collect();
    let counters = || {
        let counters = ready.counters(network_path, &names);
        // Counters are read immediately before the clients start and after they end.
        trigger.fire();
        counters
    };
    let mut input = TrialInput {
        started_at: utc_now(),
        loading,
        counters: &counters,
        is_audited: own[0].is_audited,
        ..TrialInput::new(trial.clone(), nodes_for(&own[0], &nodes), clients, load, seed, count)
    };
    input.load.shares_machine = ready.shares_machine();
    // Tries would warm up a system that is to be measured cold.
    input.load.measured_workers = (load.warmup >= WARMUP_FOR_TRIES).then_some(measured_workers);
    input.load.is_dead = &end_reason;
    input.load.expected = expected;
    input.load.tolerated_failures = plan.tolerated_failures(trial.configuration);
    let faults = Faults::of(plan, trial, ready).map_err(Missing::trial)?;
    let repair = || faults.as_ref().expect("it is asked where there are faults").repair();
    input.repair = faults.is_some().then_some(&repair);
    let mut clock = faults.as_ref().map(Faults::clock);
    let mut listeners = Listeners(vec![&mut watch]);
    listeners.0.extend(clock.as_mut().map(|clock| clock as &mut dyn Listener));
    let generators = distributed.map(|distributed| distributed.of_measured_groups(&input));
    input.generators = generators.as_ref().map(|it| it as &dyn Generators);
    let own = own.into_iter().map(|member| member.workload).collect();
    let outcome = run_groups(&trial.id, groups, &mut listeners, |barrier, listener| {
        AnyWorkload::run(own, &TrialInput { barrier, ..input.clone() }, listener)
    });
    let outcome = outcome.map(|mut record| {
        record.server_version = ready.version().to_string();
        watch.finish(&mut record, &configuration.load);
        // Clients may give up before dyno notices that the server died, and dyno gets no notice
        // from a server that it did not start.
        if record.is_cut_short() && record.end == TrialEnd::Trial && !ready.answers() {
            record.end = TrialEnd::System;
        }
        record
    });
    let measured = outcome.map_err(|error| missing(error, end_reason));
    if let Some(fleet) = fleet.filter(|_| measured.is_ok()) {
        systems.idle_fleet.keep(fleet);
    }
    systems.check_after(system, &marks, measured, listener)
}

/// Why a trial was not measured; `end_reason` tells how its system ended, if it did.
fn missing(error: TrialError, end_reason: impl Fn() -> Option<Reason>) -> Missing {
    match error {
        TrialError::Interrupted => Missing::Interrupted,
        TrialError::SystemDied(reason) => Missing::System(reason),
        TrialError::ThreadsStillRunning(reason) => Missing::Run(reason),
        other => match end_reason() {
            Some(reason) => Missing::System(reason),
            None => Missing::Trial(other.into()),
        },
    }
}

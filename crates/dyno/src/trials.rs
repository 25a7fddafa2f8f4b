//! All trials of a plan in run order. A trial that fails is marked and the next one goes on.

use crate::interrupt::Interrupts;
use crate::listeners::Listeners;
use crate::systems::Systems;
use dyno_engine::loading::{self, Loading};
use dyno_engine::workload::{Native, Setting, Workload};
use dyno_engine::{TrialError, TrialInput, run_trial, with_native};
use dyno_model::event::{Event, Listener};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{DataPolicy, Plan, Trial};
use dyno_model::record::TrialRecord;
use dyno_model::units::Nanos;
use dyno_results::store::utc_now;
use std::time::Instant;

/// How the trials of a run went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Trials with figures.
    pub(crate) measured: usize,
    /// Trials without.
    pub(crate) failed: usize,
    /// Times a system could not be started or died.
    pub(crate) system_failures: usize,
}

impl Outcome {
    /// True when every trial was measured.
    pub(crate) fn is_complete(&self, plan: &Plan) -> bool {
        self.measured == plan.trials.len() && self.failed == 0
    }
}

/// Why a trial has no figures.
enum Missing {
    /// The user asked for the end.
    Interrupted,
    /// Its system is not there.
    System(String),
    /// Something else that only concerns this trial.
    Trial(String),
}

/// Runs all trials. Every block, and every whole plot in it, begins with fresh servers and fresh data, because these are
/// what a repeat must repeat.
pub(crate) fn run(
    plan: &Plan,
    systems: &mut Systems<'_>,
    listener: &mut Listeners,
    interrupts: &Interrupts,
) -> Outcome {
    let mut outcome = Outcome::default();
    listener.event(&Event::RunStarted {
        trials: plan.trials.len(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let mut block = 0;
    for trial in &plan.trials {
        if interrupts.is_requested() || listener.cannot_write() {
            break;
        }
        if trial.block != block {
            block = trial.block;
            systems.begin_block(block, listener);
        }
        listener.event(&Event::TrialStarted { trial: trial.id.clone() });
        match measure(plan, trial, systems, listener, interrupts) {
            Ok(record) => {
                listener.event(&Event::TrialFinished(Box::new(record)));
                outcome.measured += 1;
                if let Some(reason) = systems.bury_if_dead(plan.treatment(trial).system, listener) {
                    outcome.system_failures += usize::from(!reason.is_empty());
                }
            }
            Err(Missing::Interrupted) => break,
            Err(Missing::System(reason)) => {
                outcome.system_failures += 1;
                outcome.failed += 1;
                listener.event(&Event::TrialFailed { trial: trial.id.clone(), reason });
            }
            Err(Missing::Trial(reason)) => {
                outcome.failed += 1;
                listener.event(&Event::TrialFailed { trial: trial.id.clone(), reason });
            }
        }
    }
    outcome
}

fn measure(
    plan: &Plan,
    trial: &Trial,
    systems: &mut Systems<'_>,
    listener: &mut dyn Listener,
    interrupts: &Interrupts,
) -> Result<TrialRecord, Missing> {
    let treatment = plan.treatment(trial);
    let system = treatment.system;
    systems.bring_up(trial.treatment, listener).map_err(Missing::System)?;
    let mut target = systems.ready(system).expect("it was just brought up").target();
    target.query_mode = plan.query_mode(treatment);
    let setting = Setting { engine: target.engine, clients: treatment.clients, seed: plan.seed };
    let native = Native::build(&treatment.workload, setting).map_err(Missing::Trial)?;
    let loading = with_native!(&native, workload => {
        prepare(trial, systems, system, workload.data(), listener, interrupts)
    })?;
    let ready = systems.ready(system).expect("it is still up");
    let input = TrialInput {
        trial: trial.clone(),
        clients: treatment.clients,
        load: &treatment.load,
        seed: plan.seed,
        target,
        shares_machine: ready.shares_machine(),
        started_at: utc_now(),
        loading,
        interrupts: interrupts.count(),
        is_dead: &|| ready.ending(),
        counters: &|| ready.counters(),
    };
    with_native!(native, workload => run_trial(workload, &input, listener)).map_err(|error| match error {
        TrialError::Interrupted => Missing::Interrupted,
        TrialError::SystemDied(reason) => Missing::System(reason),
        other => match ready.ending() {
            Some(reason) => Missing::System(reason),
            None => Missing::Trial(other.to_string()),
        },
    })
}

/// Makes the data set, unless the one that is there will do. Returns the time it took.
fn prepare(
    trial: &Trial,
    systems: &mut Systems<'_>,
    system: usize,
    data: &dyn dyno_engine::workload::DataSet,
    listener: &mut dyn Listener,
    interrupts: &Interrupts,
) -> Result<Nanos, Missing> {
    if systems.data_policy(system) == DataPolicy::Existing {
        return Ok(Nanos(0));
    }
    let ready = systems.ready(system).expect("it was just brought up");
    if data.is_reusable() && ready.has_loaded(&data.fingerprint()) {
        return Ok(Nanos(0));
    }
    let began = Instant::now();
    let target = ready.target();
    let tables = data.tables();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    systems.begin_loading(system, &names).map_err(Missing::Trial)?;
    let ready = systems.ready(system).expect("it is still up");
    let loading = Loading { trial: &trial.id, target: &target, data, interrupts: interrupts.count() };
    match loading::load(&loading, listener) {
        Ok(_) => {
            ready.note_loaded(data.fingerprint());
            Ok(began.elapsed().into())
        }
        Err(failure) if failure.kind == FailureKind::Cancelled => Err(Missing::Interrupted),
        Err(failure) => match ready.ending() {
            Some(reason) => Err(Missing::System(reason)),
            None => Err(Missing::Trial(format!("the data could not be loaded: {failure}"))),
        },
    }
}

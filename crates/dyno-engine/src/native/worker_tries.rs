//! Short loads that try numbers of workers before the measured load.

use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::native_clients::NativeClients;
use crate::worker_count::candidates;
use crate::workload::Workload;
use dyno_model::engine::Engine;
use dyno_model::event::Listener;
use dyno_model::fault::ExpectedFaults;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::WorkersTried;
use dyno_model::units::Nanos;

/// Numbers of clients for which workers are tried. Fewer leave nothing to choose; more take longer
/// to connect than the choice is worth.
const CLIENTS_TRIED: std::ops::RangeInclusive<u32> = 4..=512;
/// Length of a single try. Each number of workers has two, so that a drift of the machine's speed
/// favours no number.
const TRY_LENGTH: Nanos = Nanos(250_000_000);
/// Time before the window of a try, in which all clients begin.
const TRY_WARMUP: Nanos = Nanos(50_000_000);

/// Tries numbers of workers with short loads of the same clients, if the number matters and the
/// user has not set it: the server shares the machine, and clients neither wait nor write. Empty if
/// nothing was tried.
///
/// `run` measures one load.
///
/// # Errors
/// As `run`.
pub(crate) fn try_worker_counts<W: Workload>(
    native: &NativeClients<W>,
    input: &LoadInput<'_>,
    mut run: impl FnMut(&LoadInput<'_>, &mut dyn Listener) -> Result<LoadRecord, TrialError>,
) -> Result<Vec<WorkersTried>, TrialError> {
    let engine = native.targets[0].0.engine;
    let Some(measured) = input.measured_workers.as_deref() else { return Ok(Vec::new()) };
    if !is_worth_trying(engine, input)
        || !native.workloads.iter().all(|workload| workload.only_reads())
    {
        return Ok(Vec::new());
    }
    measured.get_or_measure(
        (engine, native.targets[0].1.kinds.clone(), input.clients.count()),
        || {
            let mut tried = candidates(input.clients.count());
            for index in (0..tried.len()).chain((0..tried.len()).rev()) {
                let plan = LoadPlan {
                    workers: Some(tried[index].workers),
                    warmup: TRY_WARMUP,
                    ..LoadPlan { stop: StopRule::Duration(TRY_LENGTH), ..input.load.clone() }
                };
                let input = LoadInput {
                    shares_machine: input.shares_machine,
                    is_dead: input.is_dead,
                    ..LoadInput::new(
                        &input.name,
                        input.clients.count(),
                        &plan,
                        input.seed,
                        input.interrupts,
                    )
                };
                let record = run(&input, &mut ())?;
                tried[index].per_second +=
                    record.counters.committed as f64 / record.window_length.as_secs_f64() / 2.0;
            }
            Ok(tried)
        },
    )
}

fn is_worth_trying(engine: Engine, input: &LoadInput<'_>) -> bool {
    let load = input.load;
    let is_closed =
        !load.is_open() && load.find.is_none() && load.stages.is_none() && load.think.is_none();
    let is_closed = is_closed && input.expected == ExpectedFaults::NoFaults;
    let is_shared = input.shares_machine && engine.has_sql() && !engine.is_embedded();
    is_shared
        && is_closed
        && load.workers.is_none()
        && CLIENTS_TRIED.contains(&input.clients.count())
}

//! How many workers drive the clients of a native workload.

use crate::measure::load::{LoadInput, LoadRecord, TrialError};
use crate::native_clients::NativeClients;
use crate::workload::Workload;
use dyno_model::engine::{Engine, Execution};
use dyno_model::event::Listener;
use dyno_model::fault::Expected;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::WorkersTried;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Clients of a PostgreSQL server on this machine from which on more workers do better than one per processor.
const CLIENTS_PER_WORKER: u32 = 64;
/// Numbers of clients for which workers are tried. Fewer leave nothing to choose; more take longer to connect than the choice is worth.
const CLIENTS_TRIED: std::ops::RangeInclusive<u32> = 4..=512;
/// Length of a single try. Each number of workers has two, so that a drift of the machine's speed favours none.
const TRY: Nanos = Nanos(250_000_000);
/// Time before the window of a try, in which all clients begin.
const TRY_WARMUP: Nanos = Nanos(50_000_000);
/// A larger number of workers must be faster by this factor to be chosen: they take more CPU time.
const GAIN_MIN: f64 = 1.02;

/// Number of workers when neither the plan nor a measurement says otherwise: one client each for drivers that block; as many as processors
/// when the server is elsewhere. On a machine that the server shares, fewer workers find more answers ready at a time; how few do best differs
/// with the server's processes or threads (docs/decisions/003-workers.md has the measurements).
#[must_use]
pub fn default_workers(engine: Engine, clients: u32, shares_machine: bool) -> u32 {
    let processors = processors();
    match engine.traits().execution {
        Execution::Client => clients,
        Execution::Thread | Execution::Service if shares_machine => processors.div_ceil(2).min(clients),
        Execution::Process if shares_machine => {
            clients.div_ceil(CLIENTS_PER_WORKER).clamp(processors, 2 * processors).min(clients)
        }
        Execution::Thread | Execution::Process | Execution::Service | Execution::Nowhere => {
            processors.min(clients)
        }
    }
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// The numbers of workers that a run has tried. Trials with the same statements and number of clients have the same number of workers: the first
/// of them measures, so that configurations differ in nothing else.
#[derive(Debug, Default)]
pub struct MeasuredWorkers(Mutex<BTreeMap<Key, Vec<WorkersTried>>>);

/// Engine, kinds of statements, number of clients.
type Key = (Engine, Vec<&'static str>, u32);

/// Tries numbers of workers with short loads of the same clients, where the number makes a difference and nobody has set it: the server shares the
/// machine and clients neither wait nor write. Empty where nothing was tried.
///
/// `run` measures one load.
///
/// # Errors
/// As `run`.
pub(crate) fn tried<W: Workload>(
    native: &NativeClients<W>,
    input: &LoadInput<'_>,
    mut run: impl FnMut(&LoadInput<'_>, &mut dyn Listener) -> Result<LoadRecord, TrialError>,
) -> Result<Vec<WorkersTried>, TrialError> {
    let engine = native.targets[0].0.engine;
    let Some(known) = input.measured_workers.as_deref() else { return Ok(Vec::new()) };
    if !is_worth_trying(engine, input) || !native.workloads.iter().all(|workload| workload.only_reads()) {
        return Ok(Vec::new());
    }
    let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (engine, native.targets[0].1.kinds.clone(), input.clients);
    if let Some(tried) = known.get(&key) {
        return Ok(tried.clone());
    }
    let mut tried = candidates(input.clients);
    for place in (0..tried.len()).chain((0..tried.len()).rev()) {
        let plan = LoadPlan {
            workers: Some(tried[place].workers),
            warmup: TRY_WARMUP,
            ..LoadPlan { stop: StopRule::Duration(TRY), ..input.load.clone() }
        };
        let one = LoadInput {
            shares_machine: input.shares_machine,
            is_dead: input.is_dead,
            ..LoadInput::new(&input.name, input.clients, &plan, input.seed, input.interrupts)
        };
        let record = run(&one, &mut Silent)?;
        tried[place].per_second += record.ledger.committed as f64 / record.measured.as_secs_f64() / 2.0;
    }
    known.insert(key, tried.clone());
    Ok(tried)
}

/// Keeps loads that only serve a choice out of the results.
struct Silent;
impl Listener for Silent {}

fn is_worth_trying(engine: Engine, input: &LoadInput<'_>) -> bool {
    let load = input.load;
    let is_closed = !load.is_open() && load.find.is_none() && load.stages.is_none() && load.think.is_none();
    let is_closed = is_closed && input.expected == Expected::Peace;
    let is_shared = input.shares_machine && engine.has_sql() && !engine.is_embedded();
    is_shared && is_closed && load.workers.is_none() && CLIENTS_TRIED.contains(&input.clients)
}

/// Powers of two up to two for each processor.
fn candidates(clients: u32) -> Vec<WorkersTried> {
    let most = (2 * processors()).min(clients);
    let numbers = std::iter::successors(Some(1_u32), |workers| Some(workers * 2));
    numbers
        .take_while(|workers| *workers <= most)
        .map(|workers| WorkersTried { workers, per_second: 0.0 })
        .collect()
}

/// The number with the highest throughput, or a smaller one that is nearly as fast; `None` where none was tried.
pub(crate) fn best(tried: &[WorkersTried]) -> Option<u32> {
    let fastest = tried.iter().map(|it| it.per_second).fold(0.0, f64::max);
    tried.iter().find(|it| it.per_second * GAIN_MIN >= fastest).map(|it| it.workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workers_are_chosen_only_where_they_are_clearly_faster() {
        let tried = |rates: &[f64]| -> Vec<WorkersTried> {
            let of = |(place, rate): (usize, &f64)| WorkersTried { workers: 1 << place, per_second: *rate };
            rates.iter().enumerate().map(of).collect()
        };
        assert_eq!(best(&tried(&[79.0, 83.0, 84.0])), Some(2));
        assert_eq!(best(&tried(&[79.0, 78.0, 85.0])), Some(4));
        assert_eq!(best(&tried(&[60.0, 55.0, 45.0])), Some(1));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn candidates_are_powers_of_two_that_have_a_client_each() {
        let numbers = |clients| candidates(clients).into_iter().map(|it| it.workers).collect::<Vec<_>>();
        assert_eq!(numbers(1), [1]);
        assert!(numbers(1000).windows(2).all(|pair| pair[1] == 2 * pair[0]));
        assert!(numbers(1000).last().is_some_and(|most| *most > processors() && *most <= 2 * processors()));
    }
}

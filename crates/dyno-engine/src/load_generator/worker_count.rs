//! The choice of how many workers drive the clients of a native workload.

use dyno_model::engine::{Engine, Execution};
use dyno_model::record::WorkersTried;
use dyno_model::sync::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Number of clients of a PostgreSQL server on this machine above which more workers than one per
/// processor perform better.
const CLIENTS_PER_WORKER: u32 = 64;
/// A larger number of workers must be faster by this factor to be chosen: they take more CPU time.
const GAIN_MIN: f64 = 1.02;

/// Number of workers when neither the plan nor a measurement determines it: one per client for
/// drivers that block; as many as processors when the server is remote. On a machine shared with
/// the server, fewer workers process more answers per wake-up; the best number depends on whether
/// the server uses processes or threads (docs/decisions/003-workers.md has the measurements).
#[must_use]
pub fn default_workers(engine: Engine, clients: u32, shares_machine: bool) -> u32 {
    let processors = processors();
    match engine.traits().execution {
        Execution::Client => clients,
        Execution::Thread | Execution::Service if shares_machine => {
            processors.div_ceil(2).min(clients)
        }
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

/// The numbers of workers that a run has tried. Trials with the same statements and number of
/// clients use the same number of workers: the first of them measures it, so that configurations
/// differ in nothing else.
#[derive(Debug, Default)]
pub struct MeasuredWorkers(Mutex<BTreeMap<LoadKey, Vec<WorkersTried>>>);

/// Engine, kinds of statements, number of clients.
type LoadKey = (Engine, Vec<&'static str>, u32);

impl MeasuredWorkers {
    /// The result for these clients, measured now if it does not exist.
    pub(crate) fn get_or_measure<E>(
        &self,
        key: LoadKey,
        measure: impl FnOnce() -> Result<Vec<WorkersTried>, E>,
    ) -> Result<Vec<WorkersTried>, E> {
        let mut known = lock(&self.0);
        if let Some(tried) = known.get(&key) {
            return Ok(tried.clone());
        }
        let tried = measure()?;
        known.insert(key, tried.clone());
        Ok(tried)
    }
}

/// Powers of two up to two for each processor.
pub(crate) fn candidates(clients: u32) -> Vec<WorkersTried> {
    let most = (2 * processors()).min(clients);
    let numbers = std::iter::successors(Some(1_u32), |workers| Some(workers * 2));
    numbers
        .take_while(|workers| *workers <= most)
        .map(|workers| WorkersTried { workers, per_second: 0.0 })
        .collect()
}

/// The number with the highest throughput, or a smaller one that is nearly as fast; `None` if none
/// was tried.
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
            let of = |(exponent, rate): (usize, &f64)| WorkersTried {
                workers: 1 << exponent,
                per_second: *rate,
            };
            rates.iter().enumerate().map(of).collect()
        };
        assert_eq!(best(&tried(&[79.0, 83.0, 84.0])), Some(2));
        assert_eq!(best(&tried(&[79.0, 78.0, 85.0])), Some(4));
        assert_eq!(best(&tried(&[60.0, 55.0, 45.0])), Some(1));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn candidates_are_powers_of_two_that_have_a_client_each() {
        let numbers =
            |clients| candidates(clients).into_iter().map(|it| it.workers).collect::<Vec<_>>();
        assert_eq!(numbers(1), [1]);
        assert!(numbers(1000).windows(2).all(|pair| pair[1] == 2 * pair[0]));
        assert!(
            numbers(1000)
                .last()
                .is_some_and(|most| *most > processors() && *most <= 2 * processors())
        );
    }
}

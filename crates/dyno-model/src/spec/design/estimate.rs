//! Estimated duration of an experiment, before its systems are known.

use crate::plan::{Configuration, Plan, StopRule};
use crate::search::{Lengths, STEPS_MAX};
use crate::units::Nanos;

/// Assumed transactions per second where a trial counts transactions. A guess between an fsync per
/// commit on a slow disk and a large server; measured trials replace it.
pub const RATE_ASSUMED: u64 = 1_000;

/// Time for creating the schema, loading, connecting and auditing, for a system across a socket: a
/// guess for small data sets.
const AROUND_SERVER: Nanos = Nanos::from_secs(2);
/// The same for a system in this process.
const AROUND_EMBEDDED: Nanos = Nanos(300_000_000);

/// Time for creating a server's folder, starting, stopping and removing it: measured 2 to 6 s for
/// small data sets, by kind.
const START: Nanos = Nanos::from_secs(4);

/// Time for a trial or a whole plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Expected duration.
    pub likely: Nanos,
    /// Duration if every time limit is used up.
    pub at_most: Nanos,
    /// True when `likely` depends on [`RATE_ASSUMED`].
    pub is_rate_assumed: bool,
}

/// Time for all trials of a plan and for all starts of servers, excluding the loading of large data
/// sets.
#[must_use]
pub fn plan(plan: &Plan) -> Estimate {
    let block = block(plan);
    let all = |one: Nanos| Nanos(one.0.saturating_mul(u64::from(plan.blocks)));
    Estimate { likely: all(block.likely), at_most: all(block.at_most), ..block }
}

/// Time for the trials of one block and its starts of servers.
#[must_use]
pub fn block(plan: &Plan) -> Estimate {
    let mut sum = Estimate { likely: Nanos(0), at_most: Nanos(0), is_rate_assumed: false };
    for of in &plan.configurations {
        let one = trial(plan, of);
        sum.likely.0 = sum.likely.0.saturating_add(one.likely.0);
        sum.at_most.0 = sum.at_most.0.saturating_add(one.at_most.0);
        sum.is_rate_assumed |= one.is_rate_assumed;
    }
    let starts = START.0.saturating_mul(plan.starts_per_block() as u64);
    sum.likely.0 = sum.likely.0.saturating_add(starts);
    sum.at_most.0 = sum.at_most.0.saturating_add(starts);
    sum
}

/// Time for one trial of a configuration.
#[must_use]
pub fn trial(plan: &Plan, configuration: &Configuration) -> Estimate {
    let load = &configuration.load;
    let time_for = |transactions: u64| {
        let nanos = u128::from(transactions) * 1_000_000_000 / u128::from(RATE_ASSUMED);
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    };
    let (window, is_rate_assumed) = match load.stop {
        StopRule::Duration(duration) => (duration, false),
        StopRule::Transactions(total) => (time_for(total), true),
        StopRule::Rows(rows) => {
            let growth = configuration.workload.options.growth();
            (time_for(growth.map_or(rows, |growth| growth.commits_until(rows))), true)
        }
        StopRule::TransactionsPerClient(each) => {
            (time_for(each.saturating_mul(u64::from(configuration.clients))), true)
        }
    };
    let is_server = plan.systems[configuration.system].engine().is_server();
    let around = if is_server { AROUND_SERVER } else { AROUND_EMBEDDED };
    let sum = |parts: [Nanos; 3]| {
        Nanos(parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.0)))
    };
    let at_most = sum([load.warmup, Nanos(load.time_limit.0.saturating_add(load.grace.0)), around]);
    let likely = sum([load.warmup, window.min(load.time_limit), around]);
    if load.find.is_none() {
        return Estimate { likely, at_most, is_rate_assumed };
    }
    let lengths = Lengths::new(load.warmup, window);
    let (steps, seconds) = lengths.usual();
    let of_steps = |seconds: f64, steps: usize, each: Nanos| {
        Nanos(((seconds * 1e9) as u64).saturating_add(each.0.saturating_mul(steps as u64)))
    };
    Estimate {
        likely: of_steps(seconds, steps, around),
        at_most: of_steps(lengths.most(), STEPS_MAX, sum([load.warmup, load.grace, around])),
        is_rate_assumed,
    }
}

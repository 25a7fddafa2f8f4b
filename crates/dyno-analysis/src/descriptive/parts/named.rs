//! Figures of the transactions of one name in a trial.

use dyno_model::counters::{TransactionCounters, TrialCounters};
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::{self, NamedTransactions, TrialRecord};
use dyno_model::response::ResponseSummary;

pub(super) fn count<'l>(
    counters: &'l TrialCounters,
    name: &str,
) -> Option<&'l TransactionCounters> {
    counters.transactions.iter().find(|count| count.name == name)
}

/// The figure, and whether it is only a lower bound.
pub(super) fn of_transactions(
    record: &TrialRecord,
    name: &str,
    metric: ComparisonMetric,
) -> Option<(f64, bool)> {
    let NamedTransactions { weighted_commits, response, .. } =
        record.transactions.iter().find(|it| it.name == name)?;
    match metric {
        ComparisonMetric::Throughput => {
            let committed = count(&record.counters, name)?.committed;
            Some((record::throughput(*weighted_commits, committed, record.window_length), false))
        }
        // Arrivals that no client started may have had this name.
        _ => {
            let is_bound = record.open_loop.is_some_and(|open_loop| open_loop.unstarted > 0);
            time(response.as_ref()?, metric).map(|(value, is_low)| (value, is_low || is_bound))
        }
    }
}

pub(super) fn time(times: &ResponseSummary, metric: ComparisonMetric) -> Option<(f64, bool)> {
    record::time(times, metric).map(|time| (time.as_millis(), time.is_bound))
}

//! Figures of what has a name within a trial: transactions, and kinds of statements.

use crate::estimate::{among, unit};
use crate::model::NamedRow;
use crate::view::View;
use dyno_model::ledger::{Ledger, TransactionCount};
use dyno_model::limit::LimitPart;
use dyno_model::plan::Metric;
use dyno_model::record::{self, NamedTransactions, TrialRecord};
use dyno_model::response::ResponseSummary;

/// A row per name, where there are several.
pub(crate) fn transactions(view: &View<'_>) -> Vec<NamedRow> {
    let of = |(treatment, _)| {
        let first = view.valid(treatment).find(|record| record.transactions.len() > 1);
        let names = first.map_or(&[][..], |record| &record.transactions);
        names.iter().map(move |named| row(view, treatment, &named.name))
    };
    view.treatments().flat_map(of).collect()
}

fn row(view: &View<'_>, treatment: usize, name: &str) -> NamedRow {
    let part = LimitPart::Transaction(name.to_owned());
    let mean = |metric| {
        among(view.valid(treatment).filter_map(|record| figure(record, &part, metric)), unit(metric))
    };
    let counts = view.valid(treatment).filter_map(|record| count(&record.ledger, name));
    let counts: Vec<&TransactionCount> = counts.collect();
    let sum = |of: fn(&TransactionCount) -> u64| counts.iter().map(|count| of(count)).sum();
    NamedRow {
        treatment,
        name: name.to_owned(),
        throughput: mean(Metric::Throughput),
        mean: mean(Metric::MeanMs),
        p50: mean(Metric::P50Ms),
        p95: mean(Metric::P95Ms),
        p99: mean(Metric::P99Ms),
        committed: sum(|count| count.committed),
        failed: sum(|count| count.failed),
        unfinished: sum(|count| count.unfinished),
        retries: sum(|count| count.retries),
    }
}

fn count<'l>(ledger: &'l Ledger, name: &str) -> Option<&'l TransactionCount> {
    ledger.transactions.iter().find(|count| count.name == name)
}

/// What a trial says of a part: transactions per second or milliseconds, and whether that is only a lower bound.
fn figure(record: &TrialRecord, part: &LimitPart, metric: Metric) -> Option<(f64, bool)> {
    match part {
        LimitPart::Stage(_) => None,
        LimitPart::Transaction(name) => of_transactions(record, name, metric),
        LimitPart::Statement(name) => {
            let statement = record.statements.iter().find(|statement| statement.name == *name)?;
            time(&ResponseSummary::from(&statement.latency), metric)
        }
    }
}

fn of_transactions(record: &TrialRecord, name: &str, metric: Metric) -> Option<(f64, bool)> {
    let NamedTransactions { work, response, .. } = record.transactions.iter().find(|it| it.name == name)?;
    match metric {
        Metric::Throughput => {
            let committed = count(&record.ledger, name)?.committed;
            Some((record::throughput(*work, committed, record.measured), false))
        }
        // What nobody took on may have had this name.
        _ => {
            let is_bound = record.open_loop.is_some_and(|open_loop| open_loop.unstarted > 0);
            time(response.as_ref()?, metric).map(|(value, is_low)| (value, is_low || is_bound))
        }
    }
}

fn time(times: &ResponseSummary, metric: Metric) -> Option<(f64, bool)> {
    record::time(times, metric).map(|time| (time.as_millis(), time.is_bound))
}

/// The figures of a part, over the trials that are compared. `None` when one of them has none.
pub(crate) fn figures(
    view: &View<'_>,
    treatment: usize,
    part: &LimitPart,
    metric: Metric,
) -> Option<Vec<(f64, bool)>> {
    view.standings[treatment].usable.iter().map(|record| figure(record, part, metric)).collect()
}

/// How many of a part failed, and how many there were; of all transactions without a part.
pub(crate) fn failures(ledger: &Ledger, part: Option<&LimitPart>) -> Option<(u64, u64)> {
    match part {
        None | Some(LimitPart::Stage(_)) => Some((ledger.failed, ledger.started)),
        Some(LimitPart::Transaction(name)) => count(ledger, name).map(|it| (it.failed, it.started)),
        Some(LimitPart::Statement(name)) => {
            let statement = ledger.statements.iter().find(|statement| statement.name == *name);
            statement.map(|it| (it.failed, it.sent))
        }
    }
}

#[cfg(test)]
mod tests;

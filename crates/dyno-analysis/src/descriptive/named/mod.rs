//! Figures of the named parts of a trial: client groups, transactions, and kinds of statements.

use crate::estimate::{among, unit};
use crate::model::{BackgroundRow, NamedRow};
use crate::view::View;
use dyno_model::audit::AuditVerdict;
use dyno_model::client_group::{ClientGroup, GroupRole};
use dyno_model::ledger::{Ledger, TransactionCount};
use dyno_model::limit::LimitPart;
use dyno_model::plan::{Configuration, Metric};
use dyno_model::record::{self, NamedTransactions, TrialRecord};
use dyno_model::response::ResponseSummary;

/// One row per background group of a configuration.
pub(crate) fn background(view: &View<'_>) -> Vec<BackgroundRow> {
    let mut rows = Vec::new();
    for (configuration, plan) in view.configurations() {
        let groups =
            view.plan().groups(plan).into_iter().filter(|it| it.role == GroupRole::Background);
        rows.extend(groups.map(|group| background_row(view, configuration, group)));
    }
    rows
}

fn background_row(view: &View<'_>, configuration: usize, group: ClientGroup) -> BackgroundRow {
    let part = LimitPart::Background(group.name);
    let records = || view.valid(configuration).filter_map(|record| of_part(record, Some(&part)));
    let ledgers: Vec<&Ledger> = records().map(|record| &record.ledger).collect();
    let sum = |of: fn(&Ledger) -> u64| ledgers.iter().map(|ledger| of(ledger)).sum();
    let audits =
        view.measured(configuration).iter().filter_map(|record| of_part(record, Some(&part)));
    BackgroundRow {
        kind: group.workload.kind,
        clients: group.clients.count,
        rate: group.load.rate,
        audit: audits
            .map(|record| record.audit.verdict())
            .max()
            .unwrap_or(AuditVerdict::NotChecked),
        figures: NamedRow {
            committed: sum(|ledger| ledger.committed),
            failed: sum(|ledger| ledger.failed),
            unfinished: sum(|ledger| ledger.unfinished),
            retries: sum(|ledger| ledger.retries),
            ..estimates(view, configuration, &part)
        },
    }
}

/// The record with the figures of a part.
pub(crate) fn of_part<'r>(
    record: &'r TrialRecord,
    part: Option<&LimitPart>,
) -> Option<&'r TrialRecord> {
    let Some(LimitPart::Background(name)) = part else { return Some(record) };
    record.background.iter().find(|group| group.name == *name).map(|group| &group.record)
}

/// One row per name if there are several; the rows of a database follow a row for all of them.
pub(crate) fn transactions(view: &View<'_>) -> Vec<NamedRow> {
    view.configurations()
        .flat_map(|(configuration, plan)| rows(view, configuration, plan))
        .collect()
}

fn rows(view: &View<'_>, configuration: usize, plan: &Configuration) -> Vec<NamedRow> {
    let Some(first) = view.valid(configuration).find(|record| record.transactions.len() > 1) else {
        return Vec::new();
    };
    let names: Vec<&str> = first.transactions.iter().map(|it| it.name.as_str()).collect();
    let mut groups = view.plan().groups(plan);
    groups.retain(|group| group.database.is_some());
    let each = names.len() / groups.len().max(1);
    let of_name = |name: &&str| row(view, configuration, name);
    if groups.is_empty() || each == 0 {
        return names.iter().map(of_name).collect();
    }
    let mut rows = Vec::new();
    for (group, own) in groups.iter().zip(names.chunks(each)) {
        let clients = Some(group.clients.count);
        let of_names: Vec<NamedRow> = own.iter().map(of_name).collect();
        match own {
            [_] => rows.extend(of_names.into_iter().map(|row| NamedRow { clients, ..row })),
            _ => {
                rows.push(NamedRow { clients, ..of_group(view, &group.name, own, &of_names) });
                rows.extend(of_names);
            }
        }
    }
    rows
}

/// All transactions of a group with these names and rows. Percentiles of several names cannot be
/// combined.
fn of_group(view: &View<'_>, group: &str, names: &[&str], rows: &[NamedRow]) -> NamedRow {
    let configuration = rows[0].configuration;
    let sum = |of: fn(&NamedRow) -> u64| rows.iter().map(of).sum();
    let throughput = |record: &TrialRecord| {
        let all = names.iter().map(|name| of_transactions(record, name, Metric::Throughput));
        Some((all.map(|it| it.map(|(figure, _)| figure)).sum::<Option<f64>>()?, false))
    };
    NamedRow {
        configuration,
        name: group.to_owned(),
        clients: None,
        throughput: among(
            view.valid(configuration).filter_map(throughput),
            unit(Metric::Throughput),
        ),
        mean: among(
            view.valid(configuration).filter_map(|it| mean_of(it, names)),
            unit(Metric::MeanMs),
        ),
        p50: None,
        p95: None,
        p99: None,
        committed: sum(|row| row.committed),
        failed: sum(|row| row.failed),
        unfinished: sum(|row| row.unfinished),
        retries: sum(|row| row.retries),
    }
}

/// The mean response time of several names, weighted by their counts.
fn mean_of(record: &TrialRecord, names: &[&str]) -> Option<(f64, bool)> {
    let (mut sum, mut number, mut is_bound) = (0.0, 0.0, false);
    for it in record.transactions.iter().filter(|it| names.contains(&it.name.as_str())) {
        let Some((mean, is_low)) = of_transactions(record, &it.name, Metric::MeanMs) else {
            continue;
        };
        let count = it.response.map_or(0, |response| response.count) as f64;
        (sum, number, is_bound) = (sum + mean * count, number + count, is_bound || is_low);
    }
    (number > 0.0).then(|| (sum / number, is_bound))
}

fn row(view: &View<'_>, configuration: usize, name: &str) -> NamedRow {
    let part = LimitPart::Transaction(name.to_owned());
    let counts = view.valid(configuration).filter_map(|record| count(&record.ledger, name));
    let counts: Vec<&TransactionCount> = counts.collect();
    let sum = |of: fn(&TransactionCount) -> u64| counts.iter().map(|count| of(count)).sum();
    NamedRow {
        committed: sum(|count| count.committed),
        failed: sum(|count| count.failed),
        unfinished: sum(|count| count.unfinished),
        retries: sum(|count| count.retries),
        ..estimates(view, configuration, &part)
    }
}

/// The means of a part over the valid trials of a configuration, without counts.
fn estimates(view: &View<'_>, configuration: usize, part: &LimitPart) -> NamedRow {
    let mean = |metric| {
        among(
            view.valid(configuration).filter_map(|record| figure(record, part, metric)),
            unit(metric),
        )
    };
    NamedRow {
        configuration,
        name: part.name().to_owned(),
        clients: None,
        throughput: mean(Metric::Throughput),
        mean: mean(Metric::MeanMs),
        p50: mean(Metric::P50Ms),
        p95: mean(Metric::P95Ms),
        p99: mean(Metric::P99Ms),
        committed: 0,
        failed: 0,
        unfinished: 0,
        retries: 0,
    }
}

fn count<'l>(ledger: &'l Ledger, name: &str) -> Option<&'l TransactionCount> {
    ledger.transactions.iter().find(|count| count.name == name)
}

/// A trial's figure for a part: transactions per second or milliseconds, and whether it is only a
/// lower bound.
fn figure(record: &TrialRecord, part: &LimitPart, metric: Metric) -> Option<(f64, bool)> {
    match part {
        LimitPart::Stage(_) => None,
        LimitPart::Transaction(name) => of_transactions(record, name, metric),
        LimitPart::Background(_) => {
            let record = of_part(record, Some(part))?;
            record.figure(metric).map(|value| (value, record.is_bound(metric)))
        }
        LimitPart::Statement(_) => time(&responses(record, Some(part))?, metric),
    }
}

/// Response times of the whole trial or of a part that is not a stage.
fn responses(record: &TrialRecord, part: Option<&LimitPart>) -> Option<ResponseSummary> {
    match part {
        None => record.response(),
        Some(LimitPart::Stage(_)) => None,
        Some(LimitPart::Background(_)) => of_part(record, part)?.response(),
        Some(LimitPart::Transaction(name)) => {
            record.transactions.iter().find(|it| it.name == *name)?.response
        }
        Some(LimitPart::Statement(name)) => {
            let statement = record.statements.iter().find(|statement| statement.name == *name)?;
            Some(ResponseSummary::from(&statement.latency))
        }
    }
}

/// The number of response times in each compared trial, for the whole trial or a part that is not a
/// stage.
pub(crate) fn counts(view: &View<'_>, configuration: usize, part: Option<&LimitPart>) -> Vec<u64> {
    let records = view.eligibilities[configuration].usable.iter();
    records.map(|record| responses(record, part).map_or(0, |times| times.count)).collect()
}

fn of_transactions(record: &TrialRecord, name: &str, metric: Metric) -> Option<(f64, bool)> {
    let NamedTransactions { work, response, .. } =
        record.transactions.iter().find(|it| it.name == name)?;
    match metric {
        Metric::Throughput => {
            let committed = count(&record.ledger, name)?.committed;
            Some((record::throughput(*work, committed, record.measured), false))
        }
        // Arrivals that no client started may have had this name.
        _ => {
            let is_bound = record.open_loop.is_some_and(|open_loop| open_loop.unstarted > 0);
            time(response.as_ref()?, metric).map(|(value, is_low)| (value, is_low || is_bound))
        }
    }
}

fn time(times: &ResponseSummary, metric: Metric) -> Option<(f64, bool)> {
    record::time(times, metric).map(|time| (time.as_millis(), time.is_bound))
}

/// The figures of a part over the compared trials. `None` if one of them has none.
pub(crate) fn figures(
    view: &View<'_>,
    configuration: usize,
    part: &LimitPart,
    metric: Metric,
) -> Option<Vec<(f64, bool)>> {
    view.eligibilities[configuration]
        .usable
        .iter()
        .map(|record| figure(record, part, metric))
        .collect()
}

/// The numbers of failed and of all transactions of a part, or of all transactions without a part.
/// The counters are those of the record from [`of_part`].
pub(crate) fn failures(ledger: &Ledger, part: Option<&LimitPart>) -> Option<(u64, u64)> {
    match part {
        None | Some(LimitPart::Stage(_) | LimitPart::Background(_)) => {
            ledger.known_failed().map(|failed| (failed, ledger.started))
        }
        Some(LimitPart::Transaction(name)) => count(ledger, name).map(|it| (it.failed, it.started)),
        Some(LimitPart::Statement(name)) => {
            let statement = ledger.statements.iter().find(|statement| statement.name == *name);
            statement.map(|it| (it.failed, it.sent))
        }
    }
}

#[cfg(test)]
mod tests;

//! Figures of the parts of a load: stages, transactions of each name, client groups, kinds of
//! statements, what benchmarks count (`benchmark`), and load generators (`generators`).

mod benchmark;
mod generators;
mod named;

use crate::estimate::{AVERAGED_METRICS, estimate_figures};
use crate::model::{Figures, LoadPoint, Metric, PartKind, PartRow};
use crate::view::View;
use dyno_model::audit::AuditVerdict;
use dyno_model::client_group::{ClientGroup, GroupRole};
use dyno_model::counters::{TransactionCounters, TrialCounters};
use dyno_model::limit::LimitPart;
use dyno_model::plan::{ComparisonMetric, Configuration, LoadBy, Stages};
use dyno_model::record::TrialRecord;
use dyno_model::response::ResponseSummary;
use dyno_model::stages::{Stage, StageRecord};
use dyno_model::units::Nanos;
use named::{count, of_transactions, time};

/// All parts with figures of their own: stages, what benchmarks count, transactions, background
/// workloads, and load generators.
pub(crate) fn parts(view: &View<'_>) -> Vec<PartRow> {
    let of_each = |rows: fn(&View<'_>, usize, &Configuration) -> Vec<PartRow>| {
        view.configurations().flat_map(move |(index, plan)| rows(view, index, plan))
    };
    let benchmarks = of_each(|view, index, _| benchmark::row(view, index).into_iter().collect());
    let of_load = of_each(stages).chain(benchmarks).chain(of_each(transactions));
    let of_load = of_load.chain(of_each(background));
    of_load.chain(of_each(generators::rows)).collect()
}

/// A part with its means over the valid trials of a configuration.
fn row(view: &View<'_>, configuration: usize, limited: &LimitPart, part: PartKind) -> PartRow {
    let mut figures = Figures::default();
    for metric in AVERAGED_METRICS {
        let values =
            view.valid(configuration).filter_map(|record| figure(view, record, limited, metric));
        figures.set(metric.into(), estimate_figures(values, metric.into()));
    }
    PartRow { configuration, name: limited.name().to_owned(), part, figures }
}

fn stages(view: &View<'_>, configuration: usize, plan: &Configuration) -> Vec<PartRow> {
    let Some(Stages { by, stages }) = &plan.load.stages else { return Vec::new() };
    let mut start = plan.load.warmup;
    let row = |(index, stage): (usize, &Stage)| {
        let part = PartKind::Stage { by: *by, profile: profile(start, stage) };
        let mut row = row(view, configuration, &LimitPart::Stage(stage.name.clone()), part);
        let records = view.valid(configuration).filter_map(|record| record.stages.get(index));
        let responses: Vec<_> = records.filter_map(|record| record.response.as_ref()).collect();
        let load = match by {
            LoadBy::Rate => Metric::Offered,
            LoadBy::Clients => Metric::AtWork,
        };
        let lost: u64 = responses.iter().map(|response| response.censored).sum();
        row.figures.set(Metric::Length, Some(stage.length().as_secs_f64()));
        row.figures.set(load, Some(stage.mean()));
        row.figures.set(Metric::Started, Some(responses.iter().map(|it| it.count).sum::<u64>()));
        row.figures.set(Metric::NotCommitted, (*by == LoadBy::Rate).then_some(lost));
        start = Nanos(start.0 + stage.length().0);
        row
    };
    stages.iter().enumerate().map(row).collect()
}

/// Both ends of each segment of a stage.
fn profile(mut start: Nanos, stage: &Stage) -> Vec<LoadPoint> {
    let mut points = Vec::new();
    for segment in &stage.segments {
        points.push(LoadPoint { at_s: start.as_secs_f64(), load: segment.from });
        start = Nanos(start.0 + segment.length.0);
        points.push(LoadPoint { at_s: start.as_secs_f64(), load: segment.to });
    }
    points.dedup();
    points
}

/// One row per background group of a configuration.
fn background(view: &View<'_>, configuration: usize, plan: &Configuration) -> Vec<PartRow> {
    let mut groups = view.plan().groups(plan);
    groups.retain(|group| group.role == GroupRole::Background);
    groups.into_iter().map(|group| background_row(view, configuration, group)).collect()
}

fn background_row(view: &View<'_>, configuration: usize, group: ClientGroup) -> PartRow {
    let limited = LimitPart::Background(group.name);
    let ledgers = view
        .valid(configuration)
        .filter_map(|record| record.of_group(Some(&limited)))
        .map(|record| &record.counters)
        .collect::<Vec<_>>();
    let sum = |of: fn(&TrialCounters) -> u64| ledgers.iter().map(|counters| of(counters)).sum();
    let audits = view
        .measured_records(configuration)
        .iter()
        .filter_map(|record| record.of_group(Some(&limited)));
    let part = PartKind::Background {
        kind: group.workload.kind,
        clients: group.clients.count,
        rate: group.load.rate,
        audit: audits
            .map(|record| record.audit.verdict())
            .max()
            .unwrap_or(AuditVerdict::NotChecked),
    };
    let mut row = row(view, configuration, &limited, part);
    // Without a valid trial, a zero would be taken for a result.
    if !ledgers.is_empty() {
        row.figures.add(outcomes([
            sum(|counters| counters.committed),
            sum(|counters| counters.failed),
            sum(|counters| counters.unfinished),
            sum(|counters| counters.retries),
        ]));
    }
    row
}

/// Measures of [`outcomes`].
const OUTCOMES: [Metric; 4] =
    [Metric::Committed, Metric::Failed, Metric::Unfinished, Metric::Retries];

fn outcomes(counts: [u64; 4]) -> Figures {
    let mut figures = Figures::default();
    std::iter::zip(OUTCOMES, counts).for_each(|(metric, it)| figures.set(metric, Some(it)));
    figures
}

/// One row per name if there are several; the rows of a database follow a row for all of them.
fn transactions(view: &View<'_>, configuration: usize, plan: &Configuration) -> Vec<PartRow> {
    let Some(first) = view.valid(configuration).find(|record| record.transactions.len() > 1) else {
        return Vec::new();
    };
    let names: Vec<&str> = first.transactions.iter().map(|it| it.name.as_str()).collect();
    let mut groups = view.plan().groups(plan);
    groups.retain(|group| group.database.is_some());
    let each = names.len() / groups.len().max(1);
    let of_name = |name: &&str| transaction_row(view, configuration, name);
    if groups.is_empty() || each == 0 {
        return names.iter().map(of_name).collect();
    }
    let mut rows = Vec::new();
    for (group, own) in groups.iter().zip(names.chunks(each)) {
        let part = PartKind::Database { clients: group.clients.count };
        let of_names: Vec<PartRow> = own.iter().map(of_name).collect();
        if own.len() == 1 {
            rows.extend(of_names.into_iter().map(|row| PartRow { part: part.clone(), ..row }));
        } else {
            let (name, figures) =
                (group.name.clone(), of_group(view, configuration, own, &of_names));
            rows.push(PartRow { configuration, name, part, figures });
            rows.extend(of_names);
        }
    }
    rows
}

/// Figures of all transactions of a group with these names and rows. Percentiles of several names
/// cannot be combined.
fn of_group(view: &View<'_>, configuration: usize, names: &[&str], rows: &[PartRow]) -> Figures {
    let sum = |of: Metric| rows.iter().filter_map(|row| row.figures.count(of)).sum();
    let throughput = |record: &TrialRecord| {
        let all =
            names.iter().map(|name| of_transactions(record, name, ComparisonMetric::Throughput));
        Some((all.map(|it| it.map(|(figure, _)| figure)).sum::<Option<f64>>()?, false))
    };
    let throughputs = view.valid(configuration).filter_map(throughput);
    let means = view.valid(configuration).filter_map(|it| mean_of(it, names));
    let mut figures = outcomes(OUTCOMES.map(sum));
    figures.set(Metric::Throughput, estimate_figures(throughputs, Metric::Throughput));
    figures.set(Metric::Mean, estimate_figures(means, Metric::Mean));
    figures
}

/// The mean response time of several names, weighted by their counts.
fn mean_of(record: &TrialRecord, names: &[&str]) -> Option<(f64, bool)> {
    let (mut sum, mut number, mut is_bound) = (0.0, 0.0, false);
    for it in record.transactions.iter().filter(|it| names.contains(&it.name.as_str())) {
        let Some((mean, is_low)) = of_transactions(record, &it.name, ComparisonMetric::MeanMs)
        else {
            continue;
        };
        let count = it.response.map_or(0, |response| response.count) as f64;
        (sum, number, is_bound) = (sum + mean * count, number + count, is_bound || is_low);
    }
    (number > 0.0).then(|| (sum / number, is_bound))
}

fn transaction_row(view: &View<'_>, configuration: usize, name: &str) -> PartRow {
    let counts = view.valid(configuration).filter_map(|record| count(&record.counters, name));
    let counts: Vec<&TransactionCounters> = counts.collect();
    let sum = |of: fn(&TransactionCounters) -> u64| counts.iter().map(|count| of(count)).sum();
    let limited = LimitPart::Transaction(name.to_owned());
    let mut row = row(view, configuration, &limited, PartKind::Transaction);
    row.figures.add(outcomes([
        sum(|count| count.committed),
        sum(|count| count.failed),
        sum(|count| count.unfinished),
        sum(|count| count.retries),
    ]));
    if benchmark::is_rolled_back(view, configuration, name) {
        row.figures.set(Metric::RolledBack, row.figures.get(Metric::Committed));
        row.figures.set(Metric::Committed, None::<u64>);
    }
    row
}

/// A trial's figure for a part: transactions per second or milliseconds, and whether it is only a
/// lower bound.
fn figure(
    view: &View<'_>,
    record: &TrialRecord,
    part: &LimitPart,
    metric: ComparisonMetric,
) -> Option<(f64, bool)> {
    match part {
        LimitPart::Stage(name) => {
            let (stage, record) = of_stage(view, record, name)?;
            match metric {
                ComparisonMetric::Throughput => {
                    Some((record.committed as f64 / stage.length().as_secs_f64(), false))
                }
                _ => time(record.response.as_ref()?, metric),
            }
        }
        LimitPart::Transaction(name) => of_transactions(record, name, metric),
        LimitPart::Background(_) => {
            let record = record.of_group(Some(part))?;
            record.figure(metric).map(|value| (value, record.is_bound(metric)))
        }
        LimitPart::Statement(_) => time(&responses(view, record, Some(part))?, metric),
    }
}

/// A stage by name, in the plan and in a record.
fn of_stage<'a>(
    view: &View<'a>,
    record: &'a TrialRecord,
    name: &str,
) -> Option<(&'a Stage, &'a StageRecord)> {
    let stages = &view.plan().configuration(&record.trial).load.stages.as_ref()?.stages;
    let index = stages.iter().position(|stage| stage.name == name)?;
    Some((&stages[index], record.stages.get(index)?))
}

/// Response times of the whole trial or of a part.
fn responses(
    view: &View<'_>,
    record: &TrialRecord,
    part: Option<&LimitPart>,
) -> Option<ResponseSummary> {
    match part {
        None => record.response(),
        Some(LimitPart::Stage(name)) => of_stage(view, record, name)?.1.response,
        Some(LimitPart::Background(_)) => record.of_group(part)?.response(),
        Some(LimitPart::Transaction(name)) => {
            record.transactions.iter().find(|it| it.name == *name)?.response
        }
        Some(LimitPart::Statement(name)) => {
            let statement = record.statements.iter().find(|statement| statement.name == *name)?;
            Some(ResponseSummary::from(&statement.latency))
        }
    }
}

/// The number of response times in each compared trial, for the whole trial or a part. Empty if the
/// program that measured did not report the metric: more transactions would not change that.
pub(crate) fn counts(
    view: &View<'_>,
    configuration: usize,
    part: Option<&LimitPart>,
    metric: ComparisonMetric,
) -> Vec<u64> {
    let records = view.eligibilities[configuration].usable.iter();
    let counts = records.map(|record| match responses(view, record, part) {
        Some(times) if times.count > 0 => {
            // As if there were enough: a figure is then missing only if it was not reported.
            let many = ResponseSummary { count: u64::MAX, ..times };
            time(&many, metric).map(|_| times.count)
        }
        _ => Some(0),
    });
    counts.collect::<Option<_>>().unwrap_or_default()
}

/// The figures of a part over the compared trials. `None` if one of them has none.
pub(crate) fn figures(
    view: &View<'_>,
    configuration: usize,
    part: &LimitPart,
    metric: ComparisonMetric,
) -> Option<Vec<(f64, bool)>> {
    view.eligibilities[configuration]
        .usable
        .iter()
        .map(|record| figure(view, record, part, metric))
        .collect()
}

/// The numbers of failed and of all transactions of a part, or of all transactions without a part.
/// The counters are those of the record from [`TrialRecord::of_group`].
pub(crate) fn failures(counters: &TrialCounters, part: Option<&LimitPart>) -> Option<(u64, u64)> {
    match part {
        None | Some(LimitPart::Stage(_) | LimitPart::Background(_)) => {
            counters.known_failed().map(|failed| (failed, counters.started))
        }
        Some(LimitPart::Transaction(name)) => {
            count(counters, name).map(|it| (it.failed, it.started))
        }
        Some(LimitPart::Statement(name)) => {
            let statement = counters.statements.iter().find(|statement| statement.name == *name);
            statement.map(|it| (it.failed, it.sent))
        }
    }
}

#[cfg(test)]
mod tests;

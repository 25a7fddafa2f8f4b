//! Configurations and trials with their figures, and the planned compared with the existing trials.

use crate::checks;
use crate::estimate::{AVERAGED_METRICS, as_u32, sum_over_open_loops, total};
use crate::faults;
use crate::latency;
use crate::model::{
    Completeness, ConfigurationRow, FailedTrial, Figure, Figures, KindCount, Metric, TrialRow,
    TrialState, Validity,
};
use crate::parts;
use crate::resources;
use crate::shortage::shortage;
use crate::view::View;
use dyno_model::audit::AuditVerdict;
use dyno_model::counters::TrialCounters;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureLog;
use dyno_model::plan::{ComparisonMetric, Configuration, Trial};
use dyno_model::record::TrialRecord;
use dyno_model::warning::Severity;
use dyno_store::TrialOutcome;
use std::collections::BTreeMap;

pub(crate) fn configuration_rows(view: &View<'_>) -> Vec<ConfigurationRow> {
    view.configurations()
        .map(|(index, configuration)| configuration_row(view, index, configuration))
        .collect()
}

fn configuration_row(
    view: &View<'_>,
    index: usize,
    configuration: &Configuration,
) -> ConfigurationRow {
    let records = view.measured_records(index);
    let valid: Vec<_> = view.valid(index).collect();
    let validity = match (records.len(), valid.len()) {
        (0, _) => Validity::Missing,
        (_, 0) => Validity::Invalid,
        _ if records.iter().any(|record| view.worst(record) >= Some(Severity::Warning)) => {
            Validity::Warned
        }
        _ => Validity::Valid,
    };
    let (monitored, of_resources) = resources::observed(view, index).unzip();
    let mut figures = figures(view, index);
    figures.add(latency::summary_of_all(&view.merged[index]));
    figures.add(faults::figures(view, index));
    figures.add(checks::generator(records));
    figures.add(of_resources.unwrap_or_default());
    ConfigurationRow {
        series: view.series_of[index],
        clients: configuration.clients,
        trials_planned: as_u32(
            view.plan().trials.iter().filter(|trial| trial.configuration == index).count(),
        ),
        trials_measured: as_u32(records.len()),
        trials_valid: as_u32(valid.len()),
        not_working: view.eligibilities[index].not_working(),
        figures,
        shortage: shortage(
            &parts::counts(view, index, None, ComparisonMetric::P99Ms),
            ComparisonMetric::P99Ms,
            &configuration.load,
        ),
        failed_by_kind: kinds(records, |record| &record.counters.failed_by_kind),
        retries_by_kind: kinds(records, |record| &record.counters.retries_by_kind),
        errors: errors(records),
        monitored,
        shares_machine: records.iter().any(|record| record.generator.shares_machine),
        audit: records
            .iter()
            .map(|record| record.audit.verdict())
            .max()
            .unwrap_or(AuditVerdict::NotChecked),
        validity,
    }
}

/// Rates, times and outcomes of a configuration's transactions.
fn figures(view: &View<'_>, index: usize) -> Figures {
    let records = view.measured_records(index);
    let mut figures = Figures::default();
    for metric in AVERAGED_METRICS {
        figures.set(metric.into(), view.estimate(index, metric));
    }
    // Commits are counted in valid trials only, as in all figures. Failures are counted in all
    // trials, because they make some of them invalid.
    let committed = view.valid(index).map(|record| record.counters.committed).sum::<u64>();
    let sum =
        |of: fn(&TrialCounters) -> u64| records.iter().map(|it| of(&it.counters)).sum::<u64>();
    let lost = checks::commit_audit(records).map(|audit| audit.lost_percent);
    figures.set(Metric::Arrived, sum_over_open_loops(records, |open_loop| open_loop.arrived));
    figures
        .set(Metric::NeverStarted, sum_over_open_loops(records, |open_loop| open_loop.unstarted));
    figures.set(Metric::Committed, Some(committed));
    figures.set(Metric::Failed, total(records, TrialCounters::known_failed));
    figures.set(Metric::Unfinished, Some(sum(|counters| counters.unfinished)));
    figures.set(Metric::Retries, total(records, TrialCounters::known_retries));
    let valid: Vec<_> = view.valid(index).collect();
    let of_valid = total(&valid, TrialCounters::known_retries).filter(|_| committed > 0);
    let per_commit = of_valid.map(|retries| retries as f64 / committed as f64);
    figures.set(Metric::RetriesPerCommit, per_commit);
    let statements = valid.iter().flat_map(|record| &record.counters.statements);
    let statements = statements.map(|it| it.sent).sum();
    figures.set(Metric::StatementsPerTransaction, per_transaction(statements, committed));
    let facts = || valid.iter().filter_map(|record| record.facts.as_ref());
    let commits =
        facts().map(|it| it.commits_sent_total.saturating_sub(it.commits_failed_total)).sum();
    let committed = facts().map(|it| it.committed_total).sum();
    figures.set(Metric::CommitsPerTransaction, per_transaction(commits, committed));
    let skipped = Some(sum(|counters| counters.skipped)).filter(|skipped| *skipped > 0);
    figures.set(Metric::Skipped, skipped);
    figures.set(Metric::LostPercent, lost);
    figures
}

fn per_transaction(count: u64, committed: u64) -> Option<f64> {
    (count > 0 && committed > 0).then(|| count as f64 / committed as f64)
}

/// Messages of failures, including background workloads.
fn errors(records: &[&TrialRecord]) -> FailureLog {
    let mut all = FailureLog::default();
    for record in records {
        all.add(&record.failures);
        for background in &record.background {
            let mut failures = background.record.failures.clone();
            failures
                .0
                .iter_mut()
                .for_each(|it| it.statement = format!("{}: {}", background.name, it.statement));
            all.add(&failures);
        }
    }
    all.0.sort_by_key(|it| std::cmp::Reverse(it.count));
    all
}

fn kinds<'a>(
    records: &[&'a TrialRecord],
    pick: impl Fn(&'a TrialRecord) -> &'a BTreeMap<FailureKind, u64>,
) -> Vec<KindCount> {
    let mut sums: BTreeMap<FailureKind, u64> = BTreeMap::new();
    for (kind, number) in records.iter().flat_map(|record| pick(record)) {
        *sums.entry(*kind).or_default() += number;
    }
    let mut kinds: Vec<_> =
        sums.into_iter().map(|(kind, count)| KindCount { kind, count }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}

pub(crate) fn trial_rows(view: &View<'_>) -> Vec<TrialRow> {
    let row = |trial: &Trial| {
        let mut row = TrialRow {
            id: trial.id.clone(),
            block: trial.block,
            configuration: trial.configuration,
            state: TrialState::Missing,
            started_at: String::new(),
            figures: None,
            warnings: Vec::new(),
            steadiness: view.judged.get(trial.id.as_str()).and_then(|judged| judged.steadiness),
            reason: None,
        };
        match view.run.outcomes.get(&trial.id) {
            None => {}
            Some(TrialOutcome::Failed { reason, .. }) => {
                (row.state, row.reason) = (TrialState::Failed, Some(reason.clone()));
            }
            Some(TrialOutcome::Finished(record)) => {
                row.state = match view.worst(record) {
                    Some(Severity::Invalid) => TrialState::Invalid,
                    Some(Severity::Warning) => TrialState::Warned,
                    Some(Severity::Note) | None => TrialState::Valid,
                };
                row.started_at.clone_from(&record.started_at);
                row.figures = Some(trial_figures(record));
                row.warnings = view.warnings(record).to_vec();
            }
        }
        row
    };
    view.plan().trials.iter().map(row).collect()
}

fn trial_figures(record: &TrialRecord) -> Figures {
    let mut figures = Figures::default();
    for metric in AVERAGED_METRICS {
        let value = record.figure(metric);
        figures.set(metric.into(), value.map(|it| Figure::bounded(it, record.is_bound(metric))));
    }
    let counters = &record.counters;
    let max = record.response().map(|response| response.max).filter(|max| max.nanos > 0.0);
    // The maximum is a bound if the mean is one.
    let max =
        max.map(|it| Figure::bounded(it.as_millis(), record.is_bound(ComparisonMetric::MeanMs)));
    let lost = record.audit.losses().commits.map(|commits| commits.lost_min);
    figures.set(Metric::Max, max);
    figures.set(Metric::LongestGap, record.longest_gap.map(|gap| gap.length.as_millis_f64()));
    figures.set(Metric::Arrived, record.open_loop.map(|open_loop| open_loop.arrived));
    figures.set(Metric::NeverStarted, record.open_loop.map(|open_loop| open_loop.unstarted));
    figures.set(Metric::WindowLength, Some(record.window_length.as_secs_f64()));
    figures.set(Metric::Committed, Some(counters.committed));
    figures.set(Metric::Failed, counters.known_failed());
    figures.set(Metric::Unfinished, Some(counters.unfinished));
    figures.set(Metric::Retries, counters.known_retries());
    figures.set(Metric::Skipped, Some(counters.skipped).filter(|skipped| *skipped > 0));
    figures.set(Metric::Lost, lost);
    figures
}

pub(crate) fn completeness(view: &View<'_>) -> Completeness {
    let run = view.run;
    let mut completeness = Completeness {
        planned: as_u32(run.plan.trials.len()),
        is_interrupted: run.is_interrupted,
        has_ended: run.has_ended,
        unreadable: run.problems.clone(),
        ..Completeness::default()
    };
    for trial in &run.plan.trials {
        match run.outcomes.get(&trial.id) {
            None => completeness.missing.push(trial.id.clone()),
            Some(TrialOutcome::Failed { reason, .. }) => completeness.failed.push(FailedTrial {
                trial: trial.id.clone(),
                configuration: trial.configuration,
                reason: reason.clone(),
            }),
            Some(TrialOutcome::Finished(record)) => {
                completeness.with_results += 1;
                completeness.valid += u32::from(record.is_valid());
                match record.is_whole() {
                    true => completeness.measured += 1,
                    false => completeness.cut.push(trial.id.clone()),
                }
            }
        }
    }
    completeness.is_complete = run.has_ended && completeness.measured == completeness.planned;
    completeness
}

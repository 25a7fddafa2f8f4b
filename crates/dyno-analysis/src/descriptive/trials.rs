//! Configurations and trials with their figures, and the planned compared with the existing trials.

use crate::checks;
use crate::estimate::{arrived, count, total};
use crate::latency;
use crate::model::{
    Completeness, ConfigurationRow, FailedTrial, KindCount, TrialFigures, TrialRow, TrialState,
    Validity,
};
use crate::named;
use crate::shortage::shortage;
use crate::view::View;
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::FailureLog;
use dyno_model::ledger::Ledger;
use dyno_model::plan::{Configuration, Metric};
use dyno_model::record::TrialRecord;
use dyno_model::response::Bounded;
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
    let measured = view.measured(index);
    let valid: Vec<_> = view.valid(index).collect();
    let sum =
        |pick: fn(&TrialRecord) -> u64| measured.iter().map(|record| pick(record)).sum::<u64>();
    let retries = total(measured, Ledger::known_retries);
    // Commits are counted in valid trials only, as in all figures. Failures are counted in all
    // trials, because they make some of them invalid.
    let committed = valid.iter().map(|record| record.ledger.committed).sum::<u64>();
    let retries_of_valid = total(&valid, Ledger::known_retries);
    let validity = match (measured.len(), valid.len()) {
        (0, _) => Validity::Missing,
        (_, 0) => Validity::Invalid,
        _ if measured.iter().any(|record| view.worst(record) >= Some(Severity::Warning)) => {
            Validity::Warned
        }
        _ => Validity::Valid,
    };
    ConfigurationRow {
        line: view.line_of[index],
        clients: configuration.clients,
        trials_planned: count(
            view.plan().trials.iter().filter(|trial| trial.configuration == index).count(),
        ),
        trials_measured: count(measured.len()),
        trials_valid: count(valid.len()),
        not_working: view.eligibilities[index].not_working(),
        throughput: view.estimate(index, Metric::Throughput),
        mean: view.estimate(index, Metric::MeanMs),
        p50: view.estimate(index, Metric::P50Ms),
        p95: view.estimate(index, Metric::P95Ms),
        p99: view.estimate(index, Metric::P99Ms),
        shortage: shortage(&named::counts(view, index, None), Metric::P99Ms, &configuration.load),
        merged: latency::summary_of_all(&view.merged[index]),
        arrived: arrived(measured, |open_loop| open_loop.arrived),
        unstarted: arrived(measured, |open_loop| open_loop.unstarted),
        committed,
        failed: total(measured, Ledger::known_failed),
        unfinished: sum(|record| record.ledger.unfinished),
        skipped: sum(|record| record.ledger.skipped),
        retries,
        failed_by_kind: kinds(measured, |record| &record.ledger.failed_by_kind),
        retries_by_kind: kinds(measured, |record| &record.ledger.retries_by_kind),
        errors: errors(measured),
        retries_per_commit: retries_of_valid
            .map(|retries| if committed == 0 { 0.0 } else { retries as f64 / committed as f64 }),
        lost_percent: checks::commit_audit(measured).map(|audit| audit.lost_percent),
        audit: measured
            .iter()
            .map(|record| record.audit.verdict())
            .max()
            .unwrap_or(AuditVerdict::NotChecked),
        validity,
    }
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
    view.plan()
        .trials
        .iter()
        .map(|trial| {
            let row = |state, figures, warnings, reason| TrialRow {
                id: trial.id.clone(),
                block: trial.block,
                configuration: trial.configuration,
                state,
                figures,
                warnings,
                steadiness: view.judged.get(trial.id.as_str()).and_then(|judged| judged.steadiness),
                reason,
            };
            match view.run.outcomes.get(&trial.id) {
                None => row(TrialState::Missing, None, Vec::new(), String::new()),
                Some(TrialOutcome::Failed { reason, .. }) => {
                    row(TrialState::Failed, None, Vec::new(), reason.clone())
                }
                Some(TrialOutcome::Finished(record)) => {
                    let state = match view.worst(record) {
                        Some(Severity::Invalid) => TrialState::Invalid,
                        Some(Severity::Warning) => TrialState::Warned,
                        Some(Severity::Note) | None => TrialState::Valid,
                    };
                    row(
                        state,
                        Some(trial_figures(record)),
                        view.warnings(record).to_vec(),
                        String::new(),
                    )
                }
            }
        })
        .collect()
}

fn trial_figures(record: &TrialRecord) -> TrialFigures {
    TrialFigures {
        started_at: record.started_at.clone(),
        measured_s: record.measured.as_secs_f64(),
        throughput: record.throughput(),
        mean_ms: record.figure(Metric::MeanMs),
        p50_ms: record.figure(Metric::P50Ms),
        p95_ms: record.figure(Metric::P95Ms),
        p99_ms: record.figure(Metric::P99Ms),
        max_ms: record
            .response()
            .map(|response| response.max)
            .filter(|max| max.nanos > 0.0)
            .map(Bounded::as_millis),
        bounds: [Metric::MeanMs, Metric::P50Ms, Metric::P95Ms, Metric::P99Ms]
            .into_iter()
            .filter(|metric| record.is_bound(*metric))
            .collect(),
        arrived: record.open_loop.map(|open_loop| open_loop.arrived),
        unstarted: record.open_loop.map(|open_loop| open_loop.unstarted),
        longest_gap_ms: record.longest_gap.map(|gap| gap.length.as_millis_f64()),
        committed: record.ledger.committed,
        failed: record.ledger.known_failed(),
        unfinished: record.ledger.unfinished,
        skipped: record.ledger.skipped,
        retries: record.ledger.known_retries(),
        audit: record.audit.verdict(),
        lost: record.audit.losses().commits.map(|commits| commits.lost_min),
    }
}

pub(crate) fn completeness(view: &View<'_>) -> Completeness {
    let run = view.run;
    let mut completeness = Completeness {
        planned: count(run.plan.trials.len()),
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
                completeness.measured += 1;
                completeness.valid += u32::from(record.is_valid());
                completeness.cut.extend((!record.is_whole()).then(|| trial.id.clone()));
            }
        }
    }
    completeness.is_complete = run.has_ended
        && completeness.measured == completeness.planned
        && completeness.cut.is_empty();
    completeness
}

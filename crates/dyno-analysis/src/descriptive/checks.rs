//! Checks of the figures' validity: audits, the load generator's own figures, warnings.

use crate::eligibility::cause_first;
use crate::estimate::as_u32;
use crate::model::{
    AnomalyAudit, AnomalyExample, AuditRow, CommitAudit, Figure, Figures, FoundAnomaly,
    LedgerAudit, LedgerExample, Metric, RowCountAudit, UpdateAudit, ValueAudit, WarningRow,
    WitnessExample,
};
use crate::view::View;
use dyno_model::audit::{AuditCheck, AuditVerdict, LedgerEntry};
use dyno_model::lists;
use dyno_model::reason::Reason;
use dyno_model::record::{GeneratorRecord, TrialRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::Severity;
use dyno_model::warning::Warning;
use std::cmp::Reverse;
use std::mem::discriminant;

/// Maximum number of examples of lost updates per configuration in a report.
const EXAMPLES_MAX: usize = 3;

pub(crate) fn audits(view: &View<'_>) -> Vec<AuditRow> {
    view.configurations()
        .map(|(configuration, _)| (configuration, view.measured_records(configuration)))
        .filter(|(_, records)| records.iter().any(|record| !record.audit.checks.is_empty()))
        .map(|(configuration, records)| {
            let verdict = records
                .iter()
                .map(|record| record.audit.verdict())
                .max()
                .unwrap_or(AuditVerdict::NotChecked);
            AuditRow {
                configuration,
                verdict,
                trials: as_u32(
                    records.iter().filter(|record| record.audit.verdict() == verdict).count(),
                ),
                losses: records
                    .iter()
                    .map(|record| record.audit.losses().verdict)
                    .max()
                    .unwrap_or(AuditVerdict::NotChecked),
                commits: commit_audit(records),
                updates: update_audit(records),
                ledger: ledger_audit(records),
                anomalies: anomaly_audit(records),
                row_counts: row_counts(records),
                values: values(records),
                not_run: not_run(records),
            }
        })
        .collect()
}

/// Sums of acknowledged commits over trials, including invalid ones: an overloaded generator does
/// not lose commits.
pub(crate) fn commit_audit(records: &[&TrialRecord]) -> Option<CommitAudit> {
    let mut sum = CommitAudit::default();
    for commits in records.iter().filter_map(|record| record.audit.losses().commits) {
        sum.committed += commits.acknowledged;
        sum.lost += commits.lost_min;
        sum.lost_max += commits.lost_max;
        sum.lost_percent_by_trial.push(percent(commits.lost_min, commits.acknowledged));
        sum.trials_with_losses += u32::from(commits.lost_min > 0);
        sum.lost_in_one = sum.lost_in_one.max(commits.lost_min);
    }
    sum.lost_percent = percent(sum.lost, sum.committed);
    sum.lost_percent_max = percent(sum.lost_max, sum.committed);
    (!sum.lost_percent_by_trial.is_empty()).then_some(sum)
}

/// Sums of the update counts over trials, including invalid ones.
fn update_audit(records: &[&TrialRecord]) -> Option<UpdateAudit> {
    let mut sum = UpdateAudit::default();
    let mut was_checked = false;
    for record in records {
        let mut was_checked_in_trial = false;
        for check in &record.audit.checks {
            let AuditCheck::LostUpdates { in_doubt, witnessed, examples, .. } = check else {
                continue;
            };
            let Some(balance) = check.balance() else { continue };
            was_checked_in_trial = true;
            sum.in_doubt += in_doubt;
            sum.phantom += balance.surplus_min;
            sum.witnessed += witnessed;
            let room = EXAMPLES_MAX.saturating_sub(sum.examples.len());
            sum.examples.extend(examples.iter().take(room).map(|witness| WitnessExample {
                trial: record.trial.id.clone(),
                witness: witness.clone(),
            }));
        }
        if was_checked_in_trial {
            was_checked = true;
            sum.statement_errors +=
                record.counters.statements.iter().map(|statement| statement.failed).sum::<u64>();
        }
    }
    was_checked.then_some(sum)
}

/// Sums of the commit ledger over trials, including invalid ones.
fn ledger_audit(records: &[&TrialRecord]) -> Option<LedgerAudit> {
    let mut sum = LedgerAudit::default();
    let mut was_checked = false;
    for record in records {
        for check in &record.audit.checks {
            let AuditCheck::Ledger { lost, phantoms, in_doubt, took_effect, examples, .. } = check
            else {
                continue;
            };
            was_checked = true;
            sum.has_losses |= *lost > 0;
            sum.phantoms += phantoms;
            sum.in_doubt += in_doubt;
            sum.took_effect += took_effect;
            let room = EXAMPLES_MAX.saturating_sub(sum.examples.len());
            let example = |entry: &LedgerEntry| LedgerExample {
                trial: record.trial.id.clone(),
                entry: *entry,
            };
            sum.examples.extend(examples.iter().take(room).map(example));
        }
    }
    was_checked.then_some(sum)
}

/// Sums of anomalies over trials, including invalid ones. All trials of a configuration have the
/// same isolation level.
fn anomaly_audit(records: &[&TrialRecord]) -> Option<AnomalyAudit> {
    let mut sum: Option<AnomalyAudit> = None;
    let checks = records
        .iter()
        .flat_map(|record| record.audit.checks.iter().map(|check| (&record.trial.id, check)));
    for (trial, check) in checks {
        let AuditCheck::Anomalies { level, committed, failed, in_doubt, outside, found } = check
        else {
            continue;
        };
        let sum = sum.get_or_insert_with(|| AnomalyAudit {
            level: *level,
            verdict: AuditVerdict::Intact,
            committed: 0,
            outside: 0,
            failed: 0,
            in_doubt: 0,
            found: Vec::new(),
        });
        sum.verdict = sum.verdict.max(check.verdict());
        sum.committed += committed;
        sum.outside += outside;
        sum.failed += failed;
        sum.in_doubt += in_doubt;
        for one in found {
            let example =
                || AnomalyExample { trial: trial.clone(), transactions: one.example.clone() };
            let example = (one.count > 0).then(example);
            let is_forbidden = level.is_some_and(|level| level >= one.anomaly.forbidden_from());
            let anomaly = one.anomaly;
            let new = || FoundAnomaly { anomaly, count: 0, is_forbidden: false, example: None };
            let known = lists::entry(&mut sum.found, |known| known.anomaly == anomaly, new);
            known.count += one.count;
            known.is_forbidden |= is_forbidden;
            known.example = known.example.take().or(example);
        }
    }
    sum
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Merges the row of a trial: for each check, the first failure is kept, otherwise the last row
/// with the worst verdict.
fn merge_row<R>(
    rows: &mut Vec<R>,
    row: R,
    is_same: impl Fn(&R) -> bool,
    verdict: fn(&R) -> AuditVerdict,
) {
    match rows.iter_mut().find(|known| is_same(known)) {
        None => rows.push(row),
        Some(known)
            if verdict(known) < AuditVerdict::Violated && verdict(known) <= verdict(&row) =>
        {
            *known = row;
        }
        Some(_) => {}
    }
}

/// All checks, each with its trial and, if there are several databases, its database.
fn all_checks<'a>(
    records: &'a [&TrialRecord],
) -> impl Iterator<Item = (&'a str, Option<&'a str>, &'a AuditCheck)> {
    let of = |record: &&'a TrialRecord| {
        let trial = record.trial.id.as_str();
        record.audit.by_database().map(move |(database, check)| (trial, database, check))
    };
    records.iter().flat_map(of)
}

/// One row per table.
fn row_counts(records: &[&TrialRecord]) -> Vec<RowCountAudit> {
    let mut rows: Vec<RowCountAudit> = Vec::new();
    for (trial, database, check) in all_checks(records) {
        let AuditCheck::RowCount { table, expected_min, expected_max, found } = check else {
            continue;
        };
        let table = in_database(database, table);
        let row = RowCountAudit {
            table: table.clone(),
            trial: trial.to_owned(),
            expected_min: *expected_min,
            expected_max: *expected_max,
            found: *found,
            verdict: check.verdict(),
        };
        merge_row(&mut rows, row, |known| known.table == table, |row| row.verdict);
    }
    rows
}

/// One row per value.
fn values(records: &[&TrialRecord]) -> Vec<ValueAudit> {
    let mut values: Vec<ValueAudit> = Vec::new();
    for (trial, database, check) in all_checks(records) {
        let (expression, (expected_min, expected_max), found) = match check {
            AuditCheck::ColumnSum { table, column, expected_min, expected_max, found } => {
                (format!("SUM({table}.{column})"), (*expected_min, *expected_max), *found)
            }
            AuditCheck::Value { expression, expected_min, expected_max, found } => {
                (expression.clone(), (*expected_min, *expected_max), *found)
            }
            _ => continue,
        };
        let (trial, verdict) = (trial.to_owned(), check.verdict());
        let expression = in_database(database, &expression);
        let name = expression.clone();
        let value = ValueAudit { expression, trial, expected_min, expected_max, found, verdict };
        merge_row(&mut values, value, |known| known.expression == name, |value| value.verdict);
    }
    values
}

/// The subject of a check, with its database if there are several.
fn in_database(database: Option<&str>, what: &str) -> String {
    database.map_or_else(|| what.to_owned(), |database| format!("{database}: {what}"))
}

fn not_run(records: &[&TrialRecord]) -> Vec<Reason> {
    lists::distinct(all_checks(records).filter_map(|(_, database, check)| match check {
        AuditCheck::NotRun { reason, .. } => {
            Some(Reason::NotAudited(Box::new(reason.clone())).in_database(database))
        }
        _ => None,
    }))
}

/// The load generator's own figures in a configuration's measured trials.
pub(crate) fn generator(records: &[&TrialRecord]) -> Figures {
    let of = || records.iter().map(|record| &record.generator);
    let Some(most) = of().map(|it| it.workers.len() as u64).max() else {
        return Figures::default();
    };
    let held_up = of().filter_map(GeneratorRecord::held_up).reduce(f64::max);
    let workers = || of().flat_map(|it| &it.workers);
    let busiest = workers()
        .filter(|worker| worker.wall.0 > 0)
        .map(|worker| 100.0 * worker.cpu.0 as f64 / worker.wall.0 as f64)
        .fold(0.0, f64::max);
    let sent = records.iter().flat_map(|record| &record.counters.statements).map(|it| it.sent);
    let statements: u64 = sent.sum();
    let per_statement = |time: fn(&GeneratorRecord) -> Nanos| {
        let nanos = of().map(|it| time(it).0).sum::<u64>() as f64;
        if statements == 0 { 0.0 } else { nanos / 1e3 / statements as f64 }
    };
    let wakeup_lag = of().map(|it| it.wakeup_lag_p99).max().filter(|lag| *lag > 0);
    let lag = records.iter().filter_map(|record| Some(record.open_loop?.lag?.p99)).max();
    let milliseconds = |nanos: u64| Figure::Value(Nanos(nanos).as_millis_f64());
    let wakeups: u64 = workers().map(|worker| worker.wakeups).sum();
    let awake: u64 = workers().map(|worker| worker.statements).sum();
    let per_wakeup = (wakeups > 0).then(|| awake as f64 / wakeups as f64);
    Figures::from([
        (Metric::Workers, Some(most.into())),
        (Metric::WorkerCpu, Some(busiest.into())),
        (Metric::Stalled, held_up.map(|share| (100.0 * share).into())),
        (Metric::CpuUserPerStatement, Some(per_statement(|it| it.cpu_user).into())),
        (Metric::CpuSystemPerStatement, Some(per_statement(|it| it.cpu_system).into())),
        (Metric::WakeupLag, wakeup_lag.map(milliseconds)),
        (Metric::StatementsPerWakeup, per_wakeup.map(Into::into)),
        (Metric::GeneratorMemory, of().map(|it| it.memory_peak).max().map(Into::into)),
        (Metric::Lag, lag.map(milliseconds)),
    ])
}

/// One row per kind and severity, worst first; within a severity, the kind with the most trials
/// first, and causes before their effects.
pub(crate) fn warnings(view: &View<'_>) -> Vec<WarningRow> {
    let mut rows: Vec<WarningRow> = Vec::new();
    for warning in &view.run.warnings {
        add_warning(&mut rows, warning, warning.severity(), None);
    }
    for trial in &view.plan().trials {
        let record = view
            .measured_records(trial.configuration)
            .iter()
            .find(|record| record.trial.id == trial.id);
        if let Some(record) = record {
            for warning in view.warnings(record) {
                let severity = record.severity(warning);
                add_warning(&mut rows, warning, severity, Some((&trial.id, trial.configuration)));
            }
        }
    }
    for row in &mut rows {
        // A trial may have several of a kind in a row, such as stalls.
        row.trials.dedup();
        row.configurations.sort_unstable();
        row.configurations.dedup();
    }
    let worst = |row: &WarningRow| Reverse((row.severity, row.trials.is_empty(), row.trials.len()));
    rows.sort_by_key(|row| (worst(row), cause_first(&row.warning)));
    rows
}

pub(crate) fn add_warning(
    rows: &mut Vec<WarningRow>,
    warning: &Warning,
    severity: Severity,
    of: Option<(&str, usize)>,
) {
    // Each of these has a different subject.
    let is_reported_alone =
        matches!(warning, Warning::SettingRounded { .. } | Warning::ViolatedIn { .. });
    // For a background workload and for generators, the kind is that of the inner warning.
    let is_other = |other: &Warning| match (other, warning) {
        (
            Warning::Background { name: one, inner },
            Warning::Background { name: two, inner: this },
        ) => {
            let kind = |inner: &Warning| discriminant(inner.of_any_generator());
            one != two || kind(inner) != kind(this)
        }
        (Warning::OfGenerators { inner, .. }, Warning::OfGenerators { inner: this, .. }) => {
            discriminant(&**inner) != discriminant(&**this)
        }
        _ => false,
    };
    let same = |row: &WarningRow| {
        (!is_reported_alone || row.warning == *warning)
            && !is_other(&row.warning)
            && discriminant(&row.warning) == discriminant(warning)
            && row.severity == severity
            && row.trials.is_empty() == of.is_none()
    };
    let row = lists::entry(rows, same, || WarningRow {
        severity,
        warning: warning.clone(),
        trials: Vec::new(),
        configurations: Vec::new(),
    });
    if let Some((trial, configuration)) = of {
        row.trials.push(trial.to_owned());
        row.configurations.push(configuration);
    }
    if weight(warning) > weight(&row.warning) {
        row.warning = warning.clone();
    }
}

/// The weight of a warning among those of its kind; only the order matters.
fn weight(warning: &Warning) -> f64 {
    match warning {
        Warning::GeneratorBusy { share }
        | Warning::SameWait { share, .. }
        | Warning::MonitorCost { share }
        | Warning::Stalled { share }
        | Warning::Steal { share }
        | Warning::OtherProcessesCpu { share, .. }
        | Warning::Skipped { share, .. }
        | Warning::Paced { share, .. }
        | Warning::Failures { share, .. }
        | Warning::ToleratedFailures { share, .. } => *share,
        Warning::Unfinished { unfinished } => *unfinished as f64,
        Warning::FellBehind { share, .. } | Warning::Overload { share, .. } => -share,
        Warning::GeneratorLate { share, .. } => *share,
        Warning::ShortWindow { seconds } => -seconds,
        Warning::FewWaves { waves } => -waves,
        Warning::FewTransactions { committed } => -(*committed as f64),
        Warning::Stall { longest_gap, .. } => *longest_gap,
        Warning::Collapse { seconds, .. } => *seconds,
        Warning::WarmUpLeft { share, .. } | Warning::Drift { share, .. } => share.abs(),
        Warning::BlockApart { hours, .. } => *hours,
        Warning::RecordingBehind { seconds, .. } => *seconds,
        Warning::ForeignSessions { sessions } | Warning::Unsettled { sessions } => *sessions as f64,
        Warning::Background { inner, .. } | Warning::OfGenerators { inner, .. } => weight(inner),
        Warning::ClockUncertain { share, .. } => *share,
        Warning::CountersDiffer { ours, theirs, .. } => ours.abs_diff(*theirs) as f64,
        // All others have no degree.
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_warnings_are_grouped_by_workload_and_kind() {
        let background = |name: &str, inner: Warning| Warning::Background {
            name: name.to_owned(),
            inner: Box::new(inner),
        };
        let failures = |share| Warning::Failures { failed: 7, share };
        let mut rows = Vec::new();
        for (trial, warning) in [
            ("b01-001", background("report", failures(0.1))),
            ("b02-001", background("report", failures(0.3))),
            ("b03-001", background("report", Warning::Unfinished { unfinished: 2 })),
            ("b03-001", background("report", Warning::FewTransactions { committed: 3 })),
            ("b04-001", background("night", failures(0.2))),
            ("b05-001", failures(0.2)),
        ] {
            add_warning(&mut rows, &warning, warning.severity(), Some((trial, 0)));
        }
        let reported: Vec<_> =
            rows.iter().map(|row| (row.warning.clone(), row.trials.len())).collect();
        assert_eq!(
            reported,
            [
                (background("report", failures(0.3)), 2),
                (background("report", Warning::Unfinished { unfinished: 2 }), 1),
                (background("report", Warning::FewTransactions { committed: 3 }), 1),
                (background("night", failures(0.2)), 1),
                (failures(0.2), 1),
            ]
        );
    }
}

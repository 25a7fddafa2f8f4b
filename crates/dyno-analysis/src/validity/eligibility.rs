//! Eligibility of a configuration's trials for comparisons: which trials are compared, and which
//! count against the configuration. Used for the report of a run and by [`crate::compare`].
//!
//! A trial in which a configuration did not work has no usable figure. Ignoring it would bias the
//! result: a configuration that fails in its slow trials would win on the rest. Such trials
//! therefore count against their configuration: its remaining trials can lead to a verdict against
//! it, never for it.

use crate::estimate::as_u32;
use crate::model::{NotWorking, NotWorkingReason, Verdict, WarningRow};
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::TrialRecord;
use dyno_model::warning::{Severity, Warning};
use dyno_store::{Run, TrialOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// The trials of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Eligibility<'a> {
    /// Compared trials, in the order of runs and plans: valid trials with at least one commit.
    pub(crate) usable: Vec<&'a TrialRecord>,
    /// Number of trials that ended, with any outcome.
    ended: u32,
    /// Trials in which the configuration did not work, by reason.
    not_working: BTreeMap<NotWorkingReason, u32>,
}

impl<'a> Eligibility<'a> {
    /// Adds a trial of a run.
    pub(crate) fn add(&mut self, run: &Run, outcome: &'a TrialOutcome) {
        self.add_unmeasured(run, outcome);
        if let TrialOutcome::Finished(record) = outcome
            && record.is_valid()
            && record.has_committed()
            && record.throughput() > 0.0
        {
            self.usable.push(record);
        }
    }

    /// Adds a trial, or a part of one, that is compared by figures other than those of its record.
    pub(crate) fn add_worked(&mut self) {
        self.ended += 1;
    }

    /// Counts a trial that has ended, also against the configuration if this did not work in it;
    /// returns whether it does.
    pub(crate) fn add_unmeasured(&mut self, run: &Run, outcome: &TrialOutcome) -> bool {
        self.ended += 1;
        let reason = not_working_reason(run, outcome);
        if let Some(reason) = reason {
            *self.not_working.entry(reason).or_default() += 1;
        }
        reason.is_some()
    }

    /// The trials in which the configuration did not work; `None` if there are none.
    pub(crate) fn not_working(&self) -> Option<NotWorking> {
        // The first of equally frequent reasons.
        let (because, _) = self.not_working.iter().rev().max_by_key(|(_, trials)| **trials)?;
        Some(NotWorking {
            trials: self.not_working.values().sum(),
            of: self.ended,
            because: *because,
        })
    }

    /// Its figures of a metric, each with its trial. `None` if a compared trial has no figure:
    /// using only the trials with enough transactions for a percentile would again favour the
    /// better trials.
    pub(crate) fn figures(&self, metric: ComparisonMetric) -> Option<Vec<(&'a TrialRecord, f64)>> {
        self.usable.iter().map(|record| Some((*record, record.figure(metric)?))).collect()
    }
}

/// Why a configuration did not work in a trial; `None` if it did, or if something else prevented
/// the measurement: an overloaded or lost generator, stolen CPU time, an interrupted run.
fn not_working_reason(run: &Run, outcome: &TrialOutcome) -> Option<NotWorkingReason> {
    let record = match outcome {
        TrialOutcome::Finished(record) => record,
        // A search without a decision says nothing about the system.
        TrialOutcome::Failed { search: Some(search), .. } if search.is_undecided() => return None,
        TrialOutcome::Failed { reason, .. } if reason.is_failure_of_generator() => return None,
        TrialOutcome::Failed { .. } => {
            return (!run.is_interrupted).then_some(NotWorkingReason::NotMeasured);
        }
    };
    let is_meant =
        |reason: &NotWorkingReason| !run.is_interrupted || *reason != NotWorkingReason::CutShort;
    let own = of_workload(record).filter(is_meant);
    let background = || record.background.iter().filter_map(|it| of_background(&it.record)).min();
    own.or_else(|| background().filter(|_| record.is_valid()))
}

/// Why a workload did not work, from its warnings and counters.
fn of_workload(record: &TrialRecord) -> Option<NotWorkingReason> {
    let invalid =
        record.warnings.iter().filter(|warning| record.severity(warning) == Severity::Invalid);
    let nothing = record.is_valid() && !record.has_committed();
    invalid.filter_map(reason_of).min().or(nothing.then_some(NotWorkingReason::NothingCommitted))
}

/// Why a background workload did not work: the load was then lower than specified. An error that
/// ends a background workload also ends the trial.
fn of_background(record: &TrialRecord) -> Option<NotWorkingReason> {
    match of_workload(record)? {
        NotWorkingReason::NothingCommitted => {
            record.had_work().then_some(NotWorkingReason::BackgroundNothingCommitted)
        }
        NotWorkingReason::Failures => Some(NotWorkingReason::BackgroundFailures),
        NotWorkingReason::FellBehind => Some(NotWorkingReason::BackgroundFellBehind),
        _ => None,
    }
}

/// Measured trials in which the background workload of this name did not work.
pub(crate) fn background(records: &[&TrialRecord], name: &str) -> Option<NotWorking> {
    let named =
        records.iter().flat_map(|record| record.background.iter().filter(|it| it.name == name));
    let reasons: Vec<_> = named.filter_map(|it| of_background(&it.record)).collect();
    let because = *reasons.iter().min()?;
    Some(NotWorking { trials: as_u32(reasons.len()), of: as_u32(records.len()), because })
}

/// The reason for which a warning counts against the configuration, if any.
fn reason_of(warning: &Warning) -> Option<NotWorkingReason> {
    match warning {
        Warning::SystemFailed { .. } | Warning::ServerRestarted { .. } => {
            Some(NotWorkingReason::SystemFailed)
        }
        Warning::CutShort { .. } => Some(NotWorkingReason::CutShort),
        Warning::Failures { .. } => Some(NotWorkingReason::Failures),
        Warning::FellBehind { .. } => Some(NotWorkingReason::FellBehind),
        _ => None,
    }
}

/// Sort key that puts causes before effects: a dead server fails transactions and falls behind, and
/// so does the best system if its machine or generator stalls.
pub(crate) fn cause_first(warning: &Warning) -> impl Ord + use<> {
    use NotWorkingReason as Reason;
    let reason = reason_of(warning);
    let rank = match reason {
        Some(Reason::SystemFailed | Reason::NotMeasured | Reason::CutShort) => 0,
        None => 1,
        Some(_) => 2,
    };
    (rank, reason)
}

/// The warning that makes most trials invalid. A trial with several counts for their cause; among
/// equally frequent warnings, the cause is returned, too.
pub(crate) fn main_reason<'rows>(rows: &'rows [WarningRow]) -> Option<&'rows WarningRow> {
    let is_reason = |row: &&WarningRow| row.severity == Severity::Invalid && !row.trials.is_empty();
    let mut reasons: Vec<&WarningRow> = rows.iter().filter(is_reason).collect();
    reasons.sort_by_key(|row| cause_first(&row.warning));
    let mut counted = BTreeSet::new();
    let own =
        |row: &'rows WarningRow| (row.trials.iter().filter(|it| counted.insert(*it)).count(), row);
    let reasons: Vec<(usize, &WarningRow)> = reasons.into_iter().map(own).collect();
    // The first of equally frequent warnings.
    reasons.into_iter().rev().max_by_key(|(trials, _)| *trials).map(|(_, row)| row)
}

/// The verdict on a subject if one or both sides did not work in some trials: the remaining trials
/// can lead to a verdict against that side, never for it.
pub(crate) fn counted_against(
    verdict: Verdict,
    subject: Option<NotWorking>,
    baseline: Option<NotWorking>,
) -> Verdict {
    match (verdict, subject, baseline) {
        (verdict, None, None)
        | (verdict @ Verdict::Worse, Some(_), None)
        | (verdict @ Verdict::Better, None, Some(_)) => verdict,
        _ => Verdict::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(warning: Warning, trials: &[&str]) -> WarningRow {
        let trials = trials.iter().map(|&trial| trial.to_owned()).collect();
        WarningRow { severity: warning.severity(), warning, trials, configurations: vec![0] }
    }

    #[test]
    fn main_reason_is_the_cause_rather_than_its_consequences() {
        let died = || Warning::SystemFailed { reason: "out of memory".into() };
        let failures = || Warning::Failures { failed: 12, share: 0.2 };
        let behind = || Warning::FellBehind { share: 0.5, unstarted: 9 };
        let stood_still = || Warning::Stalled { share: 0.4 };
        let rare = || Warning::Failures { failed: 1, share: 1e-6 };
        let all = &["a", "b", "c"][..];
        for (rows, main) in [
            (vec![row(failures(), all), row(died(), all)], died()),
            (vec![row(died(), all), row(failures(), all)], died()),
            // In one further trial, transactions failed on their own.
            (vec![row(failures(), &["a", "b", "c", "d"]), row(died(), all)], died()),
            (vec![row(failures(), all), row(died(), &["b"])], failures()),
            (vec![row(behind(), all), row(stood_still(), all)], stood_still()),
            (vec![row(behind(), all), row(failures(), &["c"])], behind()),
            (vec![row(rare(), all), row(died(), &["a"])], died()),
        ] {
            assert_eq!(main_reason(&rows).map(|row| &row.warning), Some(&main), "{rows:?}");
        }
        assert_eq!(main_reason(&[row(rare(), all)]), None, "no trial is invalid");
    }
}

//! What became of a configuration's trials, as comparisons see it: which trials are compared, and
//! what is held against a configuration. The one place that says so, for the report of a run and
//! for [`super::compare`].
//!
//! A trial in which a configuration did not work has no figure, or none that may be used. Left out
//! without a word it would flatter: whoever fails in its slow trials would win on the rest. So such
//! trials are counted against their configuration: what is left of its trials may speak against it,
//! never for it.

use crate::estimate::count;
use crate::model::{NotWorking, NotWorkingReason, Verdict, WarningRow};
use dyno_model::plan::Metric;
use dyno_model::record::TrialRecord;
use dyno_model::warning::{Severity, Warning};
use dyno_store::{Run, TrialOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// The trials of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Eligibility<'a> {
    /// Trials that are compared, in the order of runs and plans: valid, and with at least one
    /// commit.
    pub(crate) usable: Vec<&'a TrialRecord>,
    /// Trials that ended in one way or another.
    ended: u32,
    /// Trials in which the configuration did not work, by reason.
    not_working: BTreeMap<NotWorkingReason, u32>,
}

impl<'a> Eligibility<'a> {
    /// Takes a trial of a run.
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

    /// Takes a trial, or a part of it, that is compared by other figures than those of its record.
    pub(crate) fn worked(&mut self) {
        self.ended += 1;
    }

    /// Takes a trial for what is held against the configuration alone; true when something is.
    pub(crate) fn add_unmeasured(&mut self, run: &Run, outcome: &TrialOutcome) -> bool {
        self.ended += 1;
        let reason = reason(run, outcome);
        if let Some(reason) = reason {
            *self.not_working.entry(reason).or_default() += 1;
        }
        reason.is_some()
    }

    /// The trials in which it did not work, if there are any.
    pub(crate) fn not_working(&self) -> Option<NotWorking> {
        // The first of equally frequent reasons.
        let (because, _) = self.not_working.iter().rev().max_by_key(|(_, trials)| **trials)?;
        Some(NotWorking {
            trials: self.not_working.values().sum(),
            of: self.ended,
            because: *because,
        })
    }

    /// Its figures of a metric, each with its trial. `None` when a trial that is compared has none:
    /// percentiles of the trials with many transactions alone would again be those of the better
    /// ones.
    pub(crate) fn figures(&self, metric: Metric) -> Option<Vec<(&'a TrialRecord, f64)>> {
        self.usable.iter().map(|record| Some((*record, record.figure(metric)?))).collect()
    }
}

/// Why a configuration did not work in a trial; `None` when it did, and when something else kept
/// the trial from being measured: a generator that was too busy, a host that stole time, somebody
/// who interrupted the run.
fn reason(run: &Run, outcome: &TrialOutcome) -> Option<NotWorkingReason> {
    let record = match outcome {
        TrialOutcome::Finished(record) => record,
        // A search that ended undecided says nothing about the system.
        TrialOutcome::Failed { search: Some(search), .. } if search.is_undecided() => return None,
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

/// Why a workload did not work, by the doubts about it and its books.
fn of_workload(record: &TrialRecord) -> Option<NotWorkingReason> {
    let invalid =
        record.warnings.iter().filter(|warning| record.severity(warning) == Severity::Invalid);
    let nothing = record.is_valid() && !record.has_committed();
    invalid.filter_map(held).min().or(nothing.then_some(NotWorkingReason::NothingCommitted))
}

/// Why a background workload did not work: the load was then not what was asked for, and less than
/// elsewhere. What ended it has ended the trial.
fn of_background(record: &TrialRecord) -> Option<NotWorkingReason> {
    match of_workload(record)? {
        NotWorkingReason::NothingCommitted => {
            record.was_asked().then_some(NotWorkingReason::BackgroundNothingCommitted)
        }
        NotWorkingReason::Failures => Some(NotWorkingReason::BackgroundFailures),
        NotWorkingReason::KeptBehind => Some(NotWorkingReason::BackgroundKeptBehind),
        _ => None,
    }
}

/// Trials in which a background workload of this name did not work, of those that were measured.
pub(crate) fn background(records: &[&TrialRecord], name: &str) -> Option<NotWorking> {
    let named =
        records.iter().flat_map(|record| record.background.iter().filter(|it| it.name == name));
    let reasons: Vec<_> = named.filter_map(|it| of_background(&it.record)).collect();
    let because = *reasons.iter().min()?;
    Some(NotWorking { trials: count(reasons.len()), of: count(records.len()), because })
}

/// What a finding holds against the configuration, if anything.
fn held(warning: &Warning) -> Option<NotWorkingReason> {
    match warning {
        Warning::SystemFailed { .. } | Warning::ServerRestarted { .. } => {
            Some(NotWorkingReason::SystemFailed)
        }
        Warning::CutShort { .. } => Some(NotWorkingReason::CutShort),
        Warning::Failures { .. } => Some(NotWorkingReason::Failures),
        Warning::KeptBehind { .. } => Some(NotWorkingReason::KeptBehind),
        _ => None,
    }
}

/// Orders findings so that causes stand before what follows from them: who died fails transactions
/// and falls behind, and so does the best system whose machine or generator stood still.
pub(crate) fn from_cause(warning: &Warning) -> impl Ord + use<> {
    use NotWorkingReason as Reason;
    let held = held(warning);
    let place = match held {
        Some(Reason::SystemFailed | Reason::NotMeasured | Reason::CutShort) => 0,
        None => 1,
        Some(_) => 2,
    };
    (place, held)
}

/// The doubt for which most trials are invalid. A trial with several counts for the one that is the
/// cause of the others; of equally frequent ones that is named too.
pub(crate) fn main_reason<'rows>(rows: &'rows [WarningRow]) -> Option<&'rows WarningRow> {
    let is_reason = |row: &&WarningRow| row.severity == Severity::Invalid && !row.trials.is_empty();
    let mut reasons: Vec<&WarningRow> = rows.iter().filter(is_reason).collect();
    reasons.sort_by_key(|row| from_cause(&row.warning));
    let mut counted = BTreeSet::new();
    let own =
        |row: &'rows WarningRow| (row.trials.iter().filter(|it| counted.insert(*it)).count(), row);
    let reasons: Vec<(usize, &WarningRow)> = reasons.into_iter().map(own).collect();
    // The first of equally frequent ones.
    reasons.into_iter().rev().max_by_key(|(trials, _)| *trials).map(|(_, row)| row)
}

/// The verdict on a subject when one side or both did not work in some of their trials: what is
/// left may speak against that side, never for it.
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
    fn the_main_reason_is_the_cause_of_the_others_and_not_what_follows_from_it() {
        let died = || Warning::SystemFailed { reason: "out of memory".to_owned() };
        let failures = || Warning::Failures { failed: 12, share: 0.2 };
        let behind = || Warning::KeptBehind { share: 0.5, unstarted: 9 };
        let stood_still = || Warning::HeldUp { share: 0.4 };
        let rare = || Warning::Failures { failed: 1, share: 1e-6 };
        let all = &["a", "b", "c"][..];
        for (rows, main) in [
            (vec![row(failures(), all), row(died(), all)], died()),
            (vec![row(died(), all), row(failures(), all)], died()),
            // In one more trial transactions failed by themselves.
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

//! What became of a treatment's trials, as comparisons see it: which trials are compared, and what is held against a treatment. The one place
//! that says so, for the report of a run and for [`super::compare`].
//!
//! A trial in which a treatment did not work has no figure, or none that may be used. Left out without a word it would flatter: whoever
//! fails in its slow trials would win on the rest. So such trials are counted against their treatment: what is left of its trials may speak
//! against it, never for it.

use crate::model::{NotWorking, NotWorkingReason, Verdict};
use dyno_model::finding::{Finding, Severity};
use dyno_model::plan::Metric;
use dyno_model::record::TrialRecord;
use dyno_store::{Run, TrialOutcome};
use std::collections::BTreeMap;

/// The trials of a treatment.
#[derive(Debug, Default)]
pub(crate) struct Standing<'a> {
    /// Trials that are compared, in the order of runs and plans: valid, and with at least one commit.
    pub(crate) usable: Vec<&'a TrialRecord>,
    /// Trials that ended in one way or another.
    ended: u32,
    /// Trials in which the treatment did not work, by reason.
    not_working: BTreeMap<NotWorkingReason, u32>,
}

impl<'a> Standing<'a> {
    /// Takes a trial of a run.
    pub(crate) fn add(&mut self, run: &Run, outcome: &'a TrialOutcome) {
        self.add_unmeasured(run, outcome);
        if let TrialOutcome::Finished(record) = outcome
            && record.is_valid()
            && record.ledger.committed > 0
            && record.throughput() > 0.0
        {
            self.usable.push(record);
        }
    }

    /// Takes a trial, or a part of it, that is compared by other figures than those of its record.
    pub(crate) fn worked(&mut self) {
        self.ended += 1;
    }

    /// Takes a trial for what is held against the treatment alone; true when something is.
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
        Some(NotWorking { trials: self.not_working.values().sum(), of: self.ended, because: *because })
    }

    /// Its figures of a metric, each with its trial. `None` when a trial that is compared has none: percentiles of the trials with many
    /// transactions alone would again be those of the better ones.
    pub(crate) fn figures(&self, metric: Metric) -> Option<Vec<(&'a TrialRecord, f64)>> {
        self.usable.iter().map(|record| Some((*record, record.figure(metric)?))).collect()
    }
}

/// Why a treatment did not work in a trial; `None` when it did, and when something else kept the trial from being measured: a generator that was
/// too busy, a host that stole time, somebody who interrupted the run.
fn reason(run: &Run, outcome: &TrialOutcome) -> Option<NotWorkingReason> {
    let TrialOutcome::Finished(record) = outcome else {
        return (!run.is_interrupted).then_some(NotWorkingReason::NotMeasured);
    };
    let of = |finding: &Finding| match finding {
        Finding::SystemFailed { .. } | Finding::ServerRestarted { .. } => {
            Some(NotWorkingReason::SystemFailed)
        }
        Finding::CutShort { .. } if !run.is_interrupted => Some(NotWorkingReason::CutShort),
        Finding::Failures { .. } => Some(NotWorkingReason::Failures),
        Finding::KeptBehind { .. } => Some(NotWorkingReason::KeptBehind),
        _ => None,
    };
    let invalid = record.findings.iter().filter(|finding| finding.severity() == Severity::Invalid);
    let nothing = record.is_valid() && record.ledger.committed == 0;
    invalid.filter_map(of).min().or(nothing.then_some(NotWorkingReason::NothingCommitted))
}

/// The verdict on a subject when one side or both did not work in some of their trials: what is left may speak against that side, never for it.
pub(crate) fn held_against(
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

//! Doubts about a trial that has been read: those of its record ([`dyno_model::judge`]), and those that its timeline and the looks at the
//! server's sessions give reason for. Whoever shows or compares trials asks here, whichever command measured them.

use crate::model::TrialSteadiness;
use crate::steadiness;
use dyno_model::finding::Finding;
use dyno_model::judge::collapse::{self, Beat, Look};
use dyno_model::judge::is_meant;
use dyno_model::monitor::Sample;
use dyno_model::plan::Plan;
use dyno_model::record::TrialRecord;
use dyno_store::TimelineLine;

/// What is said about a trial.
#[derive(Debug)]
pub(crate) struct Judged {
    /// All doubts.
    pub(crate) findings: Vec<Finding>,
    /// How steady it was; `None` where that cannot be judged.
    pub(crate) steadiness: Option<TrialSteadiness>,
}

/// Judges a trial of a run that was opened, so that its record is judged already, by its course and by what its sessions did. What an
/// empty course or no looks cannot tell stands as it was written.
pub(crate) fn judge(
    plan: &Plan,
    record: &TrialRecord,
    timeline: &[TimelineLine],
    sessions: &[Sample],
) -> Judged {
    let load = &plan.treatment(&record.trial).load;
    let opens = load.warmup.as_secs_f64();
    let closes = opens + record.measured.as_secs_f64();
    let look = |sample: &Sample| Look { at: sample.at_s, sessions: sample.sessions.clone() };
    let looks: Vec<Look> = sessions.iter().map(look).collect();
    let is_judged_here = |finding: &Finding| match finding {
        Finding::Collapse { .. } => !timeline.is_empty(),
        Finding::SameWait { .. } => !looks.is_empty(),
        Finding::WarmUpLeft { .. } | Finding::Drift { .. } => true,
        _ => false,
    };
    let written = record.findings.iter().filter(|finding| !is_judged_here(finding));
    let mut findings: Vec<Finding> = written.cloned().collect();
    if !looks.is_empty() {
        collapse::explain_stalls(&mut findings, &looks, opens);
    }
    findings.extend(collapse::findings(&beats(timeline), &looks, opens, closes));
    let steadiness = steadiness::judge(record, load, timeline);
    findings.extend(steadiness.iter().flat_map(steadiness::findings));
    findings.retain(|finding| !is_meant(record, load, finding));
    Judged { findings, steadiness }
}

fn beats(timeline: &[TimelineLine]) -> Vec<Beat> {
    let beat =
        |line: &TimelineLine| Beat { start: line.start_s, length: line.length_s, committed: line.committed };
    timeline.iter().map(beat).collect()
}

#[cfg(test)]
mod tests;

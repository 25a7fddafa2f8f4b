//! Warnings about a stored trial: those from its record ([`dyno_model::judge`]), and those from its
//! timeline and from the samples of the server's sessions. Everything that shows or compares trials
//! uses this module, whichever command measured them.

use crate::model::TrialSteadiness;
use crate::steadiness;
use dyno_model::judge::collapse::{self, IntervalRate, SessionSample};
use dyno_model::judge::is_meant;
use dyno_model::monitor::MonitorSample;
use dyno_model::plan::Plan;
use dyno_model::record::TrialRecord;
use dyno_model::warning::Warning;
use dyno_store::TimelineLine;

/// The judgement of a trial.
#[derive(Debug)]
pub(crate) struct Judged {
    /// All warnings.
    pub(crate) warnings: Vec<Warning>,
    /// Its steadiness; `None` if it cannot be judged.
    pub(crate) steadiness: Option<TrialSteadiness>,
}

/// Judges a trial of an opened run by its timeline and its session samples; its record is already
/// judged. With an empty timeline or no samples, the stored warnings remain unchanged.
pub(crate) fn judge(
    plan: &Plan,
    record: &TrialRecord,
    timeline: &[TimelineLine],
    sessions: &[MonitorSample],
) -> Judged {
    let load = &plan.configuration(&record.trial).load;
    let opens = load.warmup.as_secs_f64();
    let closes = opens + record.window_length.as_secs_f64();
    let sample = |sample: &MonitorSample| SessionSample {
        at: sample.at_s,
        sessions: sample.sessions.clone(),
    };
    let samples: Vec<SessionSample> = sessions.iter().map(sample).collect();
    let is_judged_here = |warning: &Warning| match warning {
        Warning::Collapse { .. } => !timeline.is_empty(),
        Warning::SameWait { .. } => !samples.is_empty(),
        Warning::WarmUpLeft { .. } | Warning::Drift { .. } => true,
        _ => false,
    };
    let written = record.warnings.iter().filter(|warning| !is_judged_here(warning));
    let mut warnings: Vec<Warning> = written.cloned().collect();
    if !samples.is_empty() {
        collapse::explain_stalls(&mut warnings, &samples, opens);
    }
    warnings.extend(collapse::warnings(&rates(timeline), &samples, opens, closes));
    let steadiness = steadiness::judge(record, load, timeline);
    warnings.extend(steadiness.iter().flat_map(steadiness::warnings));
    warnings.retain(|warning| !is_meant(record, load, warning));
    Judged { warnings, steadiness }
}

fn rates(timeline: &[TimelineLine]) -> Vec<IntervalRate> {
    let rate = |line: &TimelineLine| IntervalRate {
        start: line.start_s,
        length: line.length_s,
        committed: line.committed,
    };
    timeline.iter().map(rate).collect()
}

#[cfg(test)]
mod tests;

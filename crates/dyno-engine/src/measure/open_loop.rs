//! The final accounting of the arrivals of an open loop, after everything has ended.

use crate::arrivals::Arrivals;
use crate::recording::Collector;
use crate::window::MeasurementWindow;
use dyno_model::counters::TrialCounters;

/// Adds the ages of arrivals of which there is no sample to those that did not commit, and returns
/// how many were never started. All samples must have been collected; `ended` is when the last
/// worker had ended.
pub(super) fn add_unsampled_arrivals(
    arrivals: &Arrivals,
    window: &MeasurementWindow,
    collector: &mut Collector,
    counters: &TrialCounters,
    ended: u64,
) -> u64 {
    let until = window.admission_ends().min(ended);
    // After a stop rule by count was met, later arrivals belong to no client.
    let is_met = !window.is_stopped() && ended < window.closes();
    let unstarted = if is_met { Vec::new() } else { arrivals.unstarted(window.opens(), until) };
    let never_started = unstarted.iter().map(|at| (until, until - at));
    // The due times of transactions of threads left behind are unknown, but lie before the end.
    let left_behind = (collector.cut_off()..counters.unfinished).map(|_| (ended, ended - until));
    for (seen, age) in never_started.chain(left_behind) {
        collector.record_uncommitted(seen, age);
    }
    unstarted.len() as u64
}

//! The final accounting of the arrivals of an open loop, after everything has ended.

use crate::arrivals::Arrivals;
use crate::recording::Collector;
use crate::window::Window;
use dyno_model::latency;
use dyno_model::ledger::Ledger;
use dyno_model::record::OpenLoop;
use dyno_model::response::Responses;
use hdrhistogram::Histogram;

/// The account of the arrivals, and the ages of those that did not commit. All samples must have
/// been collected; `ended` is when the last worker had ended.
pub(super) fn account(
    arrivals: &Arrivals,
    window: &Window,
    collector: &mut Collector,
    ledger: &Ledger,
    ended: u64,
) -> (OpenLoop, Histogram<u64>) {
    let until = window.ends().min(ended);
    // After a stop rule by count was met, later arrivals belong to no client.
    let is_met = !window.is_stopped() && ended < window.closes();
    let unstarted = if is_met { Vec::new() } else { arrivals.unstarted(window.opens(), until) };
    let (lost, cut_off) = collector.censored();
    let mut censored = lost.clone();
    let never_started = unstarted.iter().map(|at| (until, until - at));
    // The due times of transactions of threads left behind are unknown, but lie before the end.
    let left_behind = (cut_off..ledger.unfinished).map(|_| (ended, ended - until));
    for (seen, age) in never_started.chain(left_behind) {
        latency::record(&mut censored, age);
        if let Some(stages) = &mut collector.stages {
            stages.lost(seen, age);
        }
    }
    let unstarted = unstarted.len() as u64;
    let responses = Responses { committed: collector.transaction.clone(), censored };
    let account = OpenLoop {
        arrived: ledger.started + unstarted,
        unstarted,
        response: responses.summary(),
        lag: collector.lag(ledger.started),
    };
    (account, responses.censored)
}

//! Progress of a run as plain lines, for logs and pipes: one per system and per trial, with the
//! time left at intervals.

use crate::printer::Printer;
use dyno_live::campaign::Current;
use dyno_live::live::Live;
use dyno_live::state::State;
use dyno_model::event::Event;
use dyno_model::printable;
use dyno_model::record::TrialEnd;
use dyno_report::{Note, Position};
use std::time::Duration;

/// Minimum time between progress lines of a long trial in a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Time of the last line written to a log.
#[derive(Debug, Default)]
struct Pace {
    last: Duration,
}

impl Pace {
    /// Records that a line was written at `now` (since the run began).
    fn written(&mut self, now: Duration) {
        self.last = now;
    }

    /// True when the last line is old enough for another one.
    fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.last) >= LINE_EVERY
    }
}

/// Prints what is new in the state of a run.
pub(super) struct Lines {
    live: Live,
    printer: Printer,
    pace: Pace,
    /// Lines of the state that are printed.
    printed: usize,
}

impl Lines {
    pub(super) fn new(live: Live, printer: Printer) -> Self {
        Self { live, printer, pace: Pace::default(), printed: 0 }
    }

    /// Prints new lines; after an event perhaps also the time left.
    pub(super) fn print(&mut self, event: Option<&Event>) {
        self.print_new();
        let is_trial_over = match event {
            Some(Event::TrialFinished(record)) => record.end != TrialEnd::User,
            Some(Event::TrialFailed { .. }) => true,
            _ => false,
        };
        let time_left = is_trial_over.then(|| self.live.read(time_left)).flatten();
        let due = time_left.or_else(|| {
            let now = self.live.now();
            self.pace.is_due(now).then(|| self.live.read(position_line)).flatten()
        });
        if let Some(line) = due {
            self.live.say(&line);
            self.print_new();
        }
    }

    /// Prints the lines that are not printed yet.
    pub(super) fn print_new(&mut self) {
        let (new, total) = self.live.read(|state, _| {
            let lines = state.lines();
            (lines.since(self.printed).map(str::to_owned).collect::<Vec<_>>(), lines.total())
        });
        self.printed = total;
        for line in new {
            self.pace.written(self.live.now());
            self.printer.note(&line);
        }
    }
}

/// The time left after a block, and after the first trial, when the estimate uses measured times.
fn time_left(state: &State, now: Duration) -> Option<String> {
    let campaign = state.campaign();
    let (done, trials) = (campaign.done(), campaign.plan().trials.len());
    let is_block_over = done.is_multiple_of(campaign.plan().configurations.len());
    (done < trials && (done == 1 || is_block_over)).then(|| {
        let left = Some(campaign.left(now));
        dyno_report::note(&Note::Done { done, trials, left }, state.lang())
    })
}

/// Progress of a long trial: `block 2 of 5, trial 13 of 60: MariaDB, 20 clients: measure 40 %`,
/// with elapsed and remaining time and its throughput.
fn position_line(state: &State, now: Duration) -> Option<String> {
    let (campaign, lang) = (state.campaign(), state.lang());
    let current = campaign.current()?;
    let (trial, phase, share) = (current.position, current.phase(), current.share);
    let progress = Note::At(Position { plan: campaign.plan(), trial, phase, share });
    let rate = campaign.current().and_then(Current::throughput);
    let time = Note::Time { spent: now, left: campaign.left(now), rate };
    let [place, time] = [progress, time].map(|note| dyno_report::note(&note, lang));
    Some(printable::line(&format!("{place}{}{time}", lang.semicolon)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_reported_every_half_a_minute_where_a_long_trial_is() {
        let mut pace = Pace::default();
        let mut reported = Vec::new();
        for now in 0..100 {
            // A trial ended at 40 s and printed a line.
            let is_due = pace.is_due(Duration::from_secs_f64(f64::from(now)));
            if is_due || now == 40 {
                pace.written(Duration::from_secs_f64(f64::from(now)));
            }
            reported.extend(is_due.then_some(now));
        }
        assert_eq!(reported, [30, 70]);
    }
}

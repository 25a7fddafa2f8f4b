//! Display of a run: on a terminal two redrawn lines at the bottom, with finished trials scrolling
//! above them; elsewhere plain lines, one per system and per trial, with the time left at
//! intervals.

use super::campaign::{Campaign, Current, Pace};
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Event, Listener};
use dyno_model::printable;
use dyno_model::record::Interval;
use dyno_report::{Lang, Note, Position};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// The progress bar counts thousandths of the run.
const SCALE: u64 = 1000;

enum Surface {
    /// A redrawn display.
    Bar(ProgressBar),
    /// For logs and pipes.
    Lines(Printer),
}

pub(super) struct Screen {
    campaign: Campaign,
    interrupts: Interrupts,
    is_interrupt_shown: bool,
    surface: Surface,
    lang: Lang,
    started: Instant,
    pace: Pace,
}

impl Screen {
    pub(super) fn new(
        campaign: Campaign,
        interrupts: Interrupts,
        printer: Printer,
        lang: Lang,
    ) -> Self {
        let surface = if printer.is_interactive() {
            let bar = ProgressBar::with_draw_target(Some(SCALE), printer.progress_target());
            let style = ProgressStyle::with_template("{prefix}\n[{bar:30}] {percent:>3} %  {msg}")
                .expect("the template is a constant that parses");
            bar.set_style(style.progress_chars("=> "));
            Surface::Bar(bar)
        } else {
            Surface::Lines(printer)
        };
        let (started, pace) = (Instant::now(), Pace::default());
        Self { campaign, interrupts, is_interrupt_shown: false, surface, lang, started, pace }
    }

    fn say(&mut self, line: &str) {
        self.pace.said(self.started.elapsed());
        match &self.surface {
            Surface::Bar(bar) => bar.println(dyno_report::fitted(line)),
            Surface::Lines(printer) => printer.note(line),
        }
    }

    fn say_if_interrupted(&mut self) {
        if self.interrupts.is_requested() && !self.is_interrupt_shown {
            self.is_interrupt_shown = true;
            self.say(&dyno_report::note(&Note::Interrupted, self.lang));
        }
    }

    /// Prints the time left after every block, and after the first trial, when the estimate uses
    /// measured times.
    fn say_time_left(&mut self) {
        let (done, trials) = (self.campaign.done(), self.campaign.plan().trials.len());
        let is_block_over = done.is_multiple_of(self.campaign.plan().configurations.len());
        if done < trials && (done == 1 || is_block_over) {
            let left = Some(self.campaign.left(self.started.elapsed()));
            self.say(&dyno_report::note(&Note::Done { done, trials, left }, self.lang));
        }
    }

    /// In a log: prints the progress of a long trial at intervals.
    fn say_where_it_is(&mut self) {
        let now = self.started.elapsed();
        if matches!(self.surface, Surface::Lines(_))
            && self.campaign.current().is_some()
            && self.pace.is_due(now)
        {
            let line = format!("{}{}{}", self.place(), self.lang.semicolon, self.time(now));
            self.say(&printable::line(&line));
        }
    }

    /// Elapsed and remaining time of the run, and the state of the current trial.
    fn time(&self, now: Duration) -> String {
        let rate = self.campaign.current().and_then(Current::throughput);
        dyno_report::note(
            &Note::Time { spent: now, left: self.campaign.left(now), rate },
            self.lang,
        )
    }

    fn draw(&self) {
        let Surface::Bar(bar) = &self.surface else { return };
        let now = self.started.elapsed();
        bar.set_prefix(printable::line(&self.place()).into_owned());
        bar.set_message(self.time(now));
        bar.set_position((self.campaign.share(now) * SCALE as f64) as u64);
    }

    /// Progress of the run: `block 2 of 5, trial 13 of 60: MariaDB, 20 clients: measure 40 %`.
    fn place(&self) -> String {
        let plan = self.campaign.plan();
        let note = match self.campaign.current() {
            None => {
                Note::Done { done: self.campaign.done(), trials: plan.trials.len(), left: None }
            }
            Some(current) => {
                let (trial, phase, share) = (current.position, current.phase(), current.share);
                Note::At(Position { plan, trial, phase, share })
            }
        };
        dyno_report::note(&note, self.lang)
    }
}

impl Listener for Screen {
    fn event(&mut self, event: &Event) {
        self.campaign.event(event, self.started.elapsed());
        if let Some(line) = dyno_report::event(self.campaign.plan(), event, self.lang) {
            self.say(&line);
        }
        match (&self.surface, event) {
            (Surface::Bar(bar), Event::RunFinished { .. }) => return bar.finish_and_clear(),
            (Surface::Lines(_), Event::TrialFinished(_) | Event::TrialFailed { .. }) => {
                self.say_time_left();
            }
            _ => {}
        }
        self.say_if_interrupted();
        self.draw();
        self.say_where_it_is();
    }

    fn interval(&mut self, interval: &Interval) {
        self.campaign.interval(interval);
        self.say_if_interrupted();
        self.draw();
        self.say_where_it_is();
    }
}

/// Clears the display when the run ends with an error.
impl Drop for Screen {
    fn drop(&mut self) {
        if let Surface::Bar(bar) = &self.surface {
            bar.finish_and_clear();
        }
    }
}

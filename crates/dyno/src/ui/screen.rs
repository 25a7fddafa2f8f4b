//! A display of two lines at the bottom of the terminal: where the run is, and how long it will still take. Finished
//! trials scroll by above it.

use super::campaign::Campaign;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Event, Listener};
use dyno_model::printable;
use dyno_model::record::Interval;
use dyno_report::{Lang, Note, Position};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Instant;

/// The bar counts thousandths of the run.
const SCALE: u64 = 1000;

/// The display.
pub(super) struct Screen {
    campaign: Campaign,
    interrupts: Interrupts,
    is_interrupt_shown: bool,
    bar: ProgressBar,
    lang: Lang,
    started: Instant,
}

impl Screen {
    pub(super) fn new(campaign: Campaign, interrupts: Interrupts, printer: Printer, lang: Lang) -> Self {
        let bar = ProgressBar::with_draw_target(Some(SCALE), printer.progress_target());
        let style = ProgressStyle::with_template("{prefix}\n[{bar:30}] {percent:>3} %  {msg}")
            .expect("the template is a constant that parses");
        bar.set_style(style.progress_chars("=> "));
        Self { campaign, interrupts, is_interrupt_shown: false, bar, lang, started: Instant::now() }
    }

    fn draw(&mut self) {
        if self.interrupts.is_requested() && !self.is_interrupt_shown {
            self.is_interrupt_shown = true;
            self.bar.println(dyno_report::note(&Note::Interrupted, self.lang));
        }
        let now = self.started.elapsed();
        self.bar.set_prefix(printable::line(&self.place()).into_owned());
        let rate = self.campaign.current().and_then(super::campaign::Current::throughput);
        let time = Note::Time { spent: now, left: self.campaign.left(now), rate };
        self.bar.set_message(dyno_report::note(&time, self.lang));
        self.bar.set_position((self.campaign.share(now) * SCALE as f64) as u64);
    }

    /// Where the run is: `block 2 of 5, trial 13 of 60: MariaDB, 20 clients: measure 40 %`.
    fn place(&self) -> String {
        let plan = self.campaign.plan();
        let note = match self.campaign.current() {
            None => Note::Done { done: self.campaign.done(), trials: plan.trials.len(), left: None },
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
            self.bar.println(line);
        }
        match event {
            Event::RunFinished { .. } => self.bar.finish_and_clear(),
            _ => self.draw(),
        }
    }

    fn interval(&mut self, interval: &Interval) {
        self.campaign.interval(interval);
        self.draw();
    }
}

/// Leaves no half-drawn display behind when the run ends by an error.
impl Drop for Screen {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

//! Plain lines for logs and pipes: one per system and per trial, with the time left now and then.

use super::campaign::Campaign;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Event, Listener};
use dyno_model::record::Interval;
use dyno_report::{Lang, Note};
use std::time::Instant;

/// The lines.
pub(super) struct Journal {
    campaign: Campaign,
    interrupts: Interrupts,
    is_interrupt_shown: bool,
    printer: Printer,
    lang: Lang,
    started: Instant,
}

impl Journal {
    pub(super) fn new(campaign: Campaign, interrupts: Interrupts, printer: Printer, lang: Lang) -> Self {
        Self { campaign, interrupts, is_interrupt_shown: false, printer, lang, started: Instant::now() }
    }

    fn note(&self, note: &Note<'_>) {
        self.printer.note(&dyno_report::note(note, self.lang));
    }

    /// The time left, after every block and after the first trial, when the estimate has met reality.
    fn report_time_left(&self, event: &Event) {
        let (Event::TrialFinished(_) | Event::TrialFailed { .. }) = event else { return };
        let (done, trials) = (self.campaign.done(), self.campaign.plan().trials.len());
        let is_block_over = done.is_multiple_of(self.campaign.plan().treatments.len());
        if done < trials && (done == 1 || is_block_over) {
            let left = Some(self.campaign.left(self.started.elapsed()));
            self.note(&Note::Done { done, trials, left });
        }
    }
}

impl Listener for Journal {
    fn event(&mut self, event: &Event) {
        self.campaign.event(event, self.started.elapsed());
        if let Some(line) = dyno_report::event(self.campaign.plan(), event, self.lang) {
            self.printer.note(&line);
        }
        self.report_time_left(event);
        if self.interrupts.is_requested() && !self.is_interrupt_shown {
            self.is_interrupt_shown = true;
            self.note(&Note::Interrupted);
        }
    }

    fn interval(&mut self, interval: &Interval) {
        self.campaign.interval(interval);
    }
}

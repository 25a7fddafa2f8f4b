//! Plain lines for logs and pipes: one per system and per trial, with the time left now and then.

use super::campaign::Campaign;
use super::words::{duration, line};
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Event, Listener};
use dyno_model::record::Interval;
use std::time::Instant;

/// The lines.
pub(super) struct Journal {
    campaign: Campaign,
    interrupts: Interrupts,
    is_interrupt_shown: bool,
    printer: Printer,
    started: Instant,
}

impl Journal {
    pub(super) fn new(campaign: Campaign, interrupts: Interrupts, printer: Printer) -> Self {
        Self { campaign, interrupts, is_interrupt_shown: false, printer, started: Instant::now() }
    }

    /// The time left, after every block and after the first trial, when the estimate has met reality.
    fn report_time_left(&self, event: &Event) {
        let (Event::TrialFinished(_) | Event::TrialFailed { .. }) = event else { return };
        let (done, trials) = (self.campaign.done(), self.campaign.plan().trials.len());
        let is_block_over = done.is_multiple_of(self.campaign.plan().treatments.len());
        if done < trials && (done == 1 || is_block_over) {
            let left = duration(self.campaign.left(self.started.elapsed()));
            self.printer.note(&format!("{done} of {trials} trials done, about {left} left"));
        }
    }
}

impl Listener for Journal {
    fn event(&mut self, event: &Event) {
        self.campaign.event(event, self.started.elapsed());
        if let Some(line) = line(self.campaign.plan(), event) {
            self.printer.note(&line);
        }
        self.report_time_left(event);
        if self.interrupts.is_requested() && !self.is_interrupt_shown {
            self.is_interrupt_shown = true;
            self.printer.note(super::words::INTERRUPTED);
        }
    }

    fn interval(&mut self, interval: &Interval) {
        self.campaign.interval(interval);
    }
}

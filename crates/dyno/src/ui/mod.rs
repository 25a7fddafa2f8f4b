//! The display of a run. It listens to events, and removing it does not change a measurement.
//!
//! The state of the run is that of `dyno_live`, which also has the screen of a terminal; `lines`
//! prints it as plain lines elsewhere, and `page_server` serves it to browsers.

mod lines;
pub(crate) mod page_server;

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_live::campaign::Campaign;
use dyno_live::live::Live;
use dyno_live::metrics::{Collector, Push};
use dyno_live::state::State;
use dyno_live::terminal::Screen;
use dyno_model::event::{Event, Listener};
use dyno_model::exit_code;
use dyno_model::monitor::MonitorSample;
use dyno_model::plan::Plan;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_report::{Lang, Note};
use lines::Lines;
use std::collections::BTreeSet;

/// The display of a run; it is shown until it is dropped.
pub(crate) struct Display {
    live: Live,
    lang: Lang,
    interrupts: Interrupts,
    is_interrupt_shown: bool,
    screen: Option<Screen>,
    /// With a screen, they are printed after it is closed, and so remain in the terminal.
    lines: Option<Lines>,
    /// Prints failures where there are no lines.
    quiet: Option<Printer>,
}

impl Display {
    /// The display for this kind of terminal. `done` are trials that were measured earlier.
    pub(crate) fn new(
        plan: &Plan,
        done: &BTreeSet<String>,
        interrupts: &Interrupts,
        printer: Printer,
        lang: Lang,
    ) -> Self {
        let live = Live::new(State::new(Campaign::new(plan.clone(), done), lang));
        // A terminal that cannot be controlled gets lines.
        let screen = printer.has_screen().then(|| Screen::open(&live, printer.has_colour()));
        let screen = screen.and_then(Result::ok);
        if screen.is_some() {
            let live = live.clone();
            Printer::divert(Some(Box::new(move |text| live.say(text))));
        }
        let lines = (!printer.is_quiet()).then(|| Lines::new(live.clone(), printer));
        let quiet = printer.is_quiet().then_some(printer);
        let interrupts = interrupts.clone();
        Self { live, lang, interrupts, is_interrupt_shown: false, screen, lines, quiet }
    }

    /// The state that is displayed.
    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    /// Shows where a browser finds the run.
    pub(crate) fn served_at(&mut self, address: &str) {
        self.live.served_at(address);
        self.live.say(&dyno_report::served_at(address, self.lang));
        self.show(None);
    }

    /// Sends metrics to a collector until the value is dropped.
    pub(crate) fn push_to(&self, collector: Collector) -> Result<Push, Failure> {
        let lang = self.lang;
        let failed = move |live: &Live, reason: &str| {
            live.say(&dyno_report::metrics_not_sent(reason, lang));
        };
        Push::start(self.live.clone(), collector, failed).map_err(|error| {
            Failure::new(exit_code::INTERNAL, "cannot start to send metrics").because(&error)
        })
    }

    fn show(&mut self, event: Option<&Event>) {
        if self.interrupts.is_requested() && !self.is_interrupt_shown {
            self.is_interrupt_shown = true;
            self.live.say(&dyno_report::note(&Note::Interrupted, self.lang));
        }
        if self.screen.is_none()
            && let Some(lines) = &mut self.lines
        {
            lines.print(event);
        }
        if let (Some(printer), Some(event)) = (self.quiet, event.filter(|it| is_problem(it))) {
            let reported = self
                .live
                .read(|state, _| dyno_report::event(state.campaign().plan(), event, self.lang));
            reported.iter().for_each(|text| printer.warning(text));
        }
    }
}

/// True for what a user must hear of who wants no progress.
fn is_problem(event: &Event) -> bool {
    let is_incomplete = |it: &Warning| matches!(it, Warning::CleanUpIncomplete { .. });
    match event {
        Event::SystemFailed { .. } | Event::TrialFailed { .. } => true,
        Event::RunWarning(warning) => is_incomplete(warning),
        _ => false,
    }
}

impl Listener for Display {
    fn event(&mut self, event: &Event) {
        self.live.event(event);
        self.show(Some(event));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.live.interval(interval);
        self.show(None);
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.live.commits_stopped(since);
    }

    fn sample(&mut self, sample: &MonitorSample) {
        self.live.sample(sample);
    }
}

/// Closes the screen, then prints what it has shown.
impl Drop for Display {
    fn drop(&mut self) {
        if self.screen.take().is_some() {
            Printer::divert(None);
            if let Some(lines) = &mut self.lines {
                lines.print_new();
            }
        }
    }
}

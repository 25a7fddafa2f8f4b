//! The screen: what a run shows while it goes on. It listens to events and can be absent without
//! changing a measurement.
//!
//! * [`campaign`]: what is known about the run so far, and the time left (pure);
//! * `screen`: a display that redraws itself, for a terminal, or plain lines, for everything else.

mod campaign;
mod screen;

use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Listener, Listeners};
use dyno_model::plan::Plan;
use dyno_report::Lang;
use std::collections::BTreeSet;

/// The listener that suits the terminal. `done` are trials that were measured before.
pub(crate) fn listener(
    plan: &Plan,
    done: &BTreeSet<String>,
    interrupts: &Interrupts,
    printer: Printer,
    lang: Lang,
) -> Box<dyn Listener> {
    if printer.is_quiet() {
        return Box::new(Listeners(Vec::new()));
    }
    let campaign = campaign::Campaign::new(plan.clone(), done);
    Box::new(screen::Screen::new(campaign, interrupts.clone(), printer, lang))
}

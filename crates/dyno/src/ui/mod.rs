//! The progress display of a run. It listens to events, and removing it does not change a
//! measurement.
//!
//! * [`campaign`]: state of the run and time left (pure);
//! * `screen`: a redrawn display on a terminal, or plain lines elsewhere.

mod campaign;
mod screen;

use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_model::event::{Listener, Listeners};
use dyno_model::plan::Plan;
use dyno_report::Lang;
use std::collections::BTreeSet;

/// The listener for this kind of terminal. `done` are trials that were measured earlier.
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

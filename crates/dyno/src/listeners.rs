//! Everything that hears the events of a run.

use dyno_model::event::{Event, Listener};
use dyno_model::monitor::Sample;
use dyno_model::record::Interval;
use dyno_store::RunWriter;

/// The results folder and the screen; what is written down comes first.
pub(crate) struct Listeners {
    pub(crate) writer: RunWriter,
    pub(crate) screen: Box<dyn Listener>,
}

impl Listeners {
    /// True once something could not be written: measuring on would only lose more.
    pub(crate) fn cannot_write(&self) -> bool {
        self.writer.failure().is_some()
    }
}

impl Listener for Listeners {
    fn event(&mut self, event: &Event) {
        self.writer.event(event);
        self.screen.event(event);
    }

    fn interval(&mut self, interval: &Interval) {
        self.writer.interval(interval);
        self.screen.interval(interval);
    }

    fn sample(&mut self, sample: &Sample) {
        self.writer.sample(sample);
        self.screen.sample(sample);
    }
}

//! What a state reports while its script runs.

pub use dyno_drivers::null::StatementKind;
use dyno_model::failure::OperationFailure;
use dyno_model::ledger::{OutcomeClass, ScriptCounter};
use dyno_model::secret::Secret;

/// Takes what a thread's script does. Called on the thread of the state, never by two at once.
/// Every call is on the hot path: none may allocate, and only [`Meter::more_events`] may wait.
///
/// The calls of one event are `more_events` (true), `event_start`, any number of statements, then
/// `event_stop`, or `abandon_event` when the event does not count, or `give_up_event`. An event
/// that fails for good is followed by nothing.
pub trait Meter {
    /// Whether another event may start: neither time nor budget is used up and nobody has stopped
    /// the run. Under a rate it waits for the event's time.
    fn more_events(&mut self) -> bool {
        false
    }

    /// The event begins.
    fn event_start(&mut self) {}

    /// [`Meter::more_events`] and [`Meter::event_start`] in one, for loops that do nothing in
    /// between: the end of one event may then be taken as the beginning of the next, which spares a
    /// look at the clock.
    fn begin_event(&mut self) -> bool {
        let may_begin = self.more_events();
        if may_begin {
            self.event_start();
        }
        may_begin
    }

    /// The event is complete and counts.
    fn event_stop(&mut self) {}

    /// The event is over and does not count: it returned a value that ends its thread, or it may
    /// not be tried again.
    fn abandon_event(&mut self) {}

    /// The event failed for good: it was tried as often as is allowed. Another one may follow.
    fn give_up_event(&mut self) {}

    /// Nanoseconds on the meter's own clock, whose zero does not matter.
    fn now(&mut self) -> u64 {
        0
    }

    /// A statement succeeded. `start` and `end` are times of [`Meter::now`].
    fn statement(&mut self, _kind: StatementKind, _class: OutcomeClass, _start: u64, _end: u64) {}

    /// A statement failed: counted as an ignored error, also the fatal one that ends the run.
    fn statement_failed(&mut self, _kind: StatementKind) {}

    /// What the database said to a statement. `password` opens the connection, and must not be
    /// written down.
    fn note_failure(&mut self, _failure: &OperationFailure, _sql: &str, _password: &Secret) {}

    /// Asked before an event is tried once more after an error that may be ignored, and between
    /// attempts to connect anew. False when the run is over: the event is abandoned then.
    fn may_retry(&mut self) -> bool {
        true
    }

    /// The event is tried once more.
    fn restarted(&mut self) {}

    /// A connection was opened anew.
    fn reconnected(&mut self) {}

    /// The script bumps a counter of sysbench's itself.
    fn count(&mut self, _counter: ScriptCounter, _by: u64) {}

    /// What the counter of this thread stands at; 0 when that is not known.
    fn counter(&mut self, _counter: ScriptCounter) -> u64 {
        0
    }
}

/// Counts nothing and lets no event start; for states that do not run events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMeter;

impl Meter for NoMeter {}

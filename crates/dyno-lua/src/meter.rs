//! The events that a state reports while its script runs.

pub use dyno_drivers::null::StatementKind;
use dyno_model::counters::{OutcomeClass, ScriptCounter};
use dyno_model::failure::OperationFailure;
use dyno_model::secret::Secret;

/// Receives the events and statements of a thread's script. Called on the thread of the state,
/// never concurrently. Every call is on the hot path: none may allocate, and only
/// [`Meter::more_events`] may block.
///
/// The calls for one event are `more_events` (true), `event_start`, any number of statements, then
/// `event_stop`, or `abandon_event` when the event does not count, or `give_up_event`. A fatal
/// error in an event is followed by no call.
pub trait Meter {
    /// Whether another event may start: time and budget are left and the run has not been stopped.
    /// With a rate it waits until the event is due.
    fn more_events(&mut self) -> bool {
        false
    }

    /// The event begins.
    fn event_start(&mut self) {}

    /// [`Meter::more_events`] and [`Meter::event_start`] combined, for loops without code in
    /// between: the end of one event may then be used as the start of the next, which saves a clock
    /// reading.
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
    /// not be retried.
    fn abandon_event(&mut self) {}

    /// The event failed for good after all allowed retries. Another one may follow.
    fn give_up_event(&mut self) {}

    /// Nanoseconds of the meter's own clock, with an arbitrary origin.
    fn now(&mut self) -> u64 {
        0
    }

    /// A statement succeeded. `start` and `end` are from [`Meter::now`].
    fn statement(&mut self, _kind: StatementKind, _class: OutcomeClass, _start: u64, _end: u64) {}

    /// A statement failed: counted as an ignored error, including the fatal one that ends the run.
    fn statement_failed(&mut self, _kind: StatementKind) {}

    /// The database's error for a statement. `password` opens the connection, and must not be
    /// stored.
    fn note_failure(&mut self, _failure: &OperationFailure, _sql: &str, _password: &Secret) {}

    /// Called before an event is retried after an ignored error, and between attempts to reconnect.
    /// False when the run is over: the event is then abandoned.
    fn may_retry(&mut self) -> bool {
        true
    }

    /// The event is retried.
    fn restarted(&mut self) {}

    /// A connection was reopened.
    fn reconnected(&mut self) {}

    /// The script increments a sysbench counter.
    fn add_to_counter(&mut self, _counter: ScriptCounter, _by: u64) {}

    /// The value of a counter of this thread; 0 when unknown.
    fn counter(&mut self, _counter: ScriptCounter) -> u64 {
        0
    }
}

/// Counts nothing and allows no events; for states that do not run events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMeter;

impl Meter for NoMeter {}

//! The state of a run, shared between the thread that measures and those of the views.

use crate::state::State;
use dyno_model::event::{Event, Listener};
use dyno_model::monitor::MonitorSample;
use dyno_model::record::IntervalRecord;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A handle of the shared state; as a listener it updates the state.
#[derive(Debug, Clone)]
pub struct Live(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    versioned: Mutex<Versioned>,
    changed: Condvar,
    started: Instant,
}

#[derive(Debug)]
struct Versioned {
    state: State,
    /// Number of changes.
    version: u64,
}

impl Live {
    /// Shares the state of a run that begins now.
    #[must_use]
    pub fn new(state: State) -> Self {
        let versioned = Mutex::new(Versioned { state, version: 0 });
        Self(Arc::new(Shared { versioned, changed: Condvar::new(), started: Instant::now() }))
    }

    /// Time since the run began.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.0.started.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, Versioned> {
        lock(&self.0.versioned)
    }

    /// Reads the state at this time. The measuring thread may wait for `read`, which must only copy
    /// what is needed.
    pub fn read<T>(&self, read: impl FnOnce(&State, Duration) -> T) -> T {
        read(&self.lock().state, self.now())
    }

    /// Waits until the state differs from the version `seen`, up to a time limit; returns the
    /// current version.
    #[must_use]
    pub fn wait(&self, seen: u64, limit: Duration) -> u64 {
        let is_old = |versioned: &mut Versioned| versioned.version == seen;
        let guard = self.0.changed.wait_timeout_while(self.lock(), limit, is_old);
        guard.unwrap_or_else(PoisonError::into_inner).0.version
    }

    /// Wakes everybody who waits.
    pub fn wake(&self) {
        self.change(|_, _| {});
    }

    /// Adds a line to what happened.
    pub fn say(&self, line: &str) {
        self.change(|state, _| state.say(line));
    }

    /// Remembers where a browser finds the run.
    pub fn served_at(&self, address: &str) {
        self.change(|state, _| state.served_at(address));
    }

    fn change(&self, change: impl FnOnce(&mut State, Duration)) {
        let mut versioned = self.lock();
        change(&mut versioned.state, self.now());
        versioned.version += 1;
        self.0.changed.notify_all();
    }
}

impl Listener for Live {
    fn event(&mut self, event: &Event) {
        self.change(|state, now| state.event(event, now));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.change(|state, now| state.interval(interval, now));
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.change(|state, now| state.commits_stopped(since.is_some(), now));
    }

    fn sample(&mut self, sample: &MonitorSample) {
        self.change(|state, _| state.sample(sample));
    }
}

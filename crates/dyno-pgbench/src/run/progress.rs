//! Writes lines of progress during a run, in a thread that only reads counters.

use super::log_files::unix_time;
use super::scene::RunSetup;
use crate::report::progress::{Stamp, line};
use crate::statistics::Tally;
use dyno_model::event::Listener;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The thread that writes lines of progress; dropping it ends the thread.
pub(super) struct ProgressThread {
    state: Arc<(Mutex<State>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// Start time of the clients.
    began: Option<Instant>,
    is_over: bool,
}

impl ProgressThread {
    /// Writes a line every `seconds` from the clients' common start on.
    pub(super) fn start(
        scene: &Arc<RunSetup>,
        seconds: u64,
        is_unix_time: bool,
    ) -> std::io::Result<Self> {
        let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let (scene, shared) = (Arc::clone(scene), Arc::clone(&state));
        let thread =
            std::thread::Builder::new().name("dyno-progress".to_owned()).spawn(move || {
                write_lines(&scene, &shared, Duration::from_secs(seconds), is_unix_time);
            })?;
        Ok(Self { state, thread: Some(thread) })
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state.0));
        self.state.1.notify_all();
    }
}

impl Listener for ProgressThread {
    fn clients_begin(&mut self, from_now: Nanos) {
        self.change(|state| state.began = Some(Instant::now() + Duration::from(from_now)));
    }
}

impl Drop for ProgressThread {
    fn drop(&mut self) {
        self.change(|state| state.is_over = true);
        // It writes at most one more line.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn write_lines(
    scene: &RunSetup,
    state: &(Mutex<State>, Condvar),
    every: Duration,
    is_unix_time: bool,
) {
    let lock = || lock(&state.0);
    let waiting = state.1.wait_while(lock(), |state| state.began.is_none() && !state.is_over);
    let Some(began) = waiting.unwrap_or_else(PoisonError::into_inner).began else { return };
    let (mut last, mut before) = (began, Tally::default());
    let mut due = began + every;
    loop {
        let left = due.saturating_duration_since(Instant::now());
        let waited = state.1.wait_timeout_while(lock(), left, |state| !state.is_over);
        let is_over = waited.unwrap_or_else(PoisonError::into_inner).0.is_over;
        let now = Instant::now();
        // A run that ends just when its last line is due has that line too.
        if now < due && is_over {
            return;
        }
        let tally = scene.tally();
        let stamp = if is_unix_time {
            Stamp::Unix(unix_time() as f64 / 1_000_000.0)
        } else {
            Stamp::Elapsed(now.duration_since(began).as_secs_f64())
        };
        let seconds = now.duration_since(last).as_secs_f64();
        scene.terminal.message(&line(&scene.options.style, stamp, seconds, &before, &tally));
        if is_over {
            return;
        }
        (last, before) = (now, tally);
        // Missed lines are not made up for.
        while due <= now {
            due += every;
        }
    }
}

//! What a script reports with: a client whose loop is not ours.
//!
//! A script runs on a thread of its own and may block. Its thread connects and prepares whatever it
//! needs, says [`Meter::ready`], and then runs its loop:
//!
//! ```text
//!   while meter.begin_event() {
//!       ...  meter.statement(kind, start, end, class)  ...
//!       meter.end_event();
//!   }
//! ```

use super::interrupt::Interrupters;
use super::load::{ClientId, Fatal, FatalCause, TrialError};
use super::worker_pool::{Post, Report, WorkerPool, WorkerReport};
use crate::arrivals::{Arrivals, Begun};
use crate::client::think;
use crate::generator::WorkerMeter;
use crate::recording::recorder::{Answered, SMALL_BATCH, UNNAMED};
use crate::recording::shares::ClientShares;
use crate::recording::{Kinds, Recorder, SharedRecorder};
use crate::session::COMMIT;
use crate::window::{StopCause, Window};
use dyno_drivers::lock;
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::Failed;
use dyno_model::ledger::{OutcomeClass, ScriptCounter};
use dyno_model::secret::Secret;
use dyno_model::units::Nanos;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A client that waits for an arrival looks so often whether the run was stopped.
const STOP_NOTICED: Duration = Duration::from_millis(100);
/// How late the kernel may let a thread sleep, in nanoseconds, when arrivals are waited for; its
/// default is 50,000.
const TIMER_SLACK: u64 = 1_000;

/// A script, shared by all its threads.
pub trait Script: Send + Sync + 'static {
    /// Names of the kinds of statements that it reports; each has its own histogram.
    fn kinds(&self) -> Vec<&'static str>;

    /// Places among [`Self::kinds`] of those that are a COMMIT.
    fn commits(&self) -> Vec<usize> {
        self.kinds()
            .iter()
            .enumerate()
            .filter(|(_, kind)| **kind == COMMIT)
            .map(|(place, _)| place)
            .collect()
    }

    /// The whole life of one client, on a thread of its own. Ending without having been ready fails
    /// the run.
    ///
    /// # Errors
    /// When this client cannot go on. Everybody stops then.
    fn run(&self, client: ClientId, meter: Meter) -> Result<(), ScriptTrouble>;
}

/// What has figures of its own in a script.
pub(crate) fn kinds(script: &impl Script) -> Kinds {
    Kinds { statements: script.kinds(), commits: script.commits(), ..Kinds::default() }
}

/// Why a script cannot go on, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptTrouble(pub String);

/// How script threads are made and how long they may take to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptThreads {
    /// Size of each thread's stack in bytes; only what is touched takes memory.
    pub stack: usize,
    /// A script that has not said that it is ready after this time ends the run.
    pub ready_limit: Duration,
}

impl Default for ScriptThreads {
    fn default() -> Self {
        Self { stack: 256 << 10, ready_limit: Duration::from_secs(30) }
    }
}

/// Where a client is in its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    /// It may start an event, whose time begins here.
    Admitted(u64),
    /// In an event whose time began at `start`; in an open loop its client works on it only from
    /// `begun` on.
    Within {
        start: u64,
        begun: u64,
    },
}

/// One script client's connection with the measuring core. All calls are cheap: no allocation, and
/// no lock that anybody else holds for longer than a moment.
pub struct Meter {
    client: ClientId,
    recorder: SharedRecorder,
    shares: Arc<ClientShares>,
    reports: Sender<Report>,
    go: Receiver<Arc<Window>>,
    interrupters: Arc<Interrupters>,
    started: Arc<OnceLock<(Arc<Window>, WorkerMeter)>>,
    window: Arc<Window>,
    /// Open loop.
    arrivals: Option<Arc<Arrivals>>,
    is_ready: bool,
    /// Whether what happens now belongs to the measured window.
    is_counted: bool,
    /// Open loop: the client was free before the event was due.
    is_awaited: bool,
    place: Place,
    /// When the last event ended, nanoseconds since the epoch.
    last_end: u64,
    /// Events of this client that were admitted to the measured window.
    admitted: u64,
    /// Events that it asked for, in a closed loop.
    taken: u64,
    /// Seed of its think times.
    seed: u64,
}

impl Meter {
    /// Says that the client is ready, and waits until all are. False when the run was called off:
    /// then no event may begin.
    pub fn ready(&mut self) -> bool {
        let _ = self.reports.send(Report::Ready);
        let Ok(window) = self.go.recv() else { return false };
        window.await_epoch();
        self.last_end = window.now();
        self.is_counted = window.opens() == 0;
        self.is_ready = true;
        let _ = self.started.set((Arc::clone(&window), WorkerMeter::start(&window)));
        self.window = window;
        true
    }

    /// Begins the next event; false when there must be none. The time between the end of one event
    /// and the beginning of the next counts to the next, so that the clock is read once per event.
    #[inline]
    pub fn begin_event(&mut self) -> bool {
        if !self.more_events() {
            return false;
        }
        if let Place::Admitted(start) = self.place {
            self.open(start);
        }
        true
    }

    /// Asks whether another event may begin, for scripts with a loop of their own: takes it from
    /// the budget. Followed by [`Self::start_event`].
    #[inline]
    pub fn more_events(&mut self) -> bool {
        self.withdraw();
        let next = match &self.arrivals {
            Some(arrivals) => await_arrival(arrivals, &self.window, self.admitted),
            None => {
                let think = think(self.window.think(), self.seed, self.client, self.taken);
                self.taken += 1;
                await_stage(self.client, &self.window, self.last_end, think, self.admitted)
            }
        };
        let Some(Begun { start, is_counted, is_awaited }) = next else {
            self.is_counted = self.is_ready && self.last_end >= self.window.opens();
            self.place = Place::Between;
            return false;
        };
        (self.is_counted, self.is_awaited) = (is_counted, is_awaited);
        self.admitted += u64::from(is_counted);
        self.place = Place::Admitted(start);
        true
    }

    /// Begins an event now, admitted or not: a loop of the script's own is the script's own. In an
    /// open loop an admitted event's time began when it was due.
    pub fn start_event(&mut self) {
        self.withdraw();
        let now = self.window.now();
        match self.place {
            Place::Admitted(due) if self.arrivals.is_some() => return self.open(due),
            Place::Admitted(_) => {}
            _ => self.is_counted = self.is_ready && now >= self.window.opens(),
        }
        self.open(now);
    }

    #[inline]
    fn open(&mut self, start: u64) {
        let begun = if self.arrivals.is_some() { self.window.now() } else { start };
        let is_counted = self.is_counted;
        let is_awaited = std::mem::take(&mut self.is_awaited);
        self.recorder.note(|recorder| {
            recorder.started(UNNAMED, is_counted);
            if is_awaited {
                recorder.began_late(begun, begun.saturating_sub(start), is_counted);
            }
        });
        self.place = Place::Within { start, begun };
    }

    /// The event is done and counts as a committed transaction. Without one it does nothing.
    #[inline]
    pub fn end_event(&mut self) {
        let Place::Within { start, begun } = self.place else { return };
        let (window, is_counted) = (&self.window, self.is_counted);
        // The clock is read behind the lock: what ended before the coordinator looked is then there
        // when it looks.
        let end = self.recorder.note(|recorder| {
            let end = window.now();
            recorder.committed(UNNAMED, start, end, window.share(begun, end), is_counted);
            end
        });
        if is_counted {
            self.shares.record(self.client.0, end - start);
        }
        self.place = Place::Between;
        self.last_end = end;
    }

    /// The event does not count, although its statements do. It was taken from the budget all the
    /// same.
    pub fn abandon_event(&mut self) {
        self.withdraw();
        self.last_end = self.window.now();
        self.place = Place::Between;
    }

    /// The event that was begun failed for good. Without one it does nothing.
    pub fn give_up_event(&mut self) {
        let Place::Within { start, .. } = self.place else { return };
        let end = self.window.now();
        self.note(|recorder, now, is_counted| {
            recorder.failed(UNNAMED, FailureKind::Other, start, now, false, is_counted);
        });
        self.place = Place::Between;
        self.last_end = end;
    }

    /// Takes back an event that was begun and not ended.
    #[inline]
    fn withdraw(&mut self) {
        if let Place::Within { .. } = self.place {
            let is_counted = self.is_counted;
            self.recorder.note(|recorder| recorder.withdrawn(is_counted));
            self.place = Place::Between;
        }
    }

    /// A statement was answered with success; times as [`Self::now`] gives them.
    #[inline]
    pub fn statement(&mut self, kind: u16, start: u64, end: u64, class: OutcomeClass) {
        let duration = end.saturating_sub(start);
        let end = if self.is_ready { end } else { 0 };
        let answered = Answered { kind, end, duration, rows: 0, class };
        let is_counted = self.is_counted;
        self.recorder.note(|recorder| {
            recorder.statement_sent(kind, is_counted);
            recorder.statement_ok(&answered, is_counted);
        });
    }

    /// A statement was answered with an error.
    pub fn statement_failed(&mut self, kind: u16) {
        self.note(|recorder, now, is_counted| {
            recorder.statement_sent(kind, is_counted);
            recorder.statement_failed(kind, now, is_counted);
        });
    }

    /// Writes down what was said of it now; `password` opens the connection that it happened on.
    pub fn note_failure(&mut self, failed: &Failed<'_>, password: &Secret) {
        self.note(|recorder, now, is_counted| {
            if is_counted {
                recorder.failures.note(&Failed { at: Nanos(now), ..*failed }, password);
            }
        });
    }

    /// The event begins anew after a failure.
    pub fn restarted(&mut self, cause: FailureKind) {
        self.note(|recorder, now, is_counted| recorder.retried(UNNAMED, cause, now, is_counted));
    }

    /// A connection was opened again.
    pub fn reconnected(&mut self) {
        self.note(Recorder::reconnected);
    }

    /// The script counts something by itself.
    pub fn count(&mut self, counter: ScriptCounter, n: u64) {
        self.note(|recorder, now, is_counted| recorder.counted(counter, n, now, is_counted));
    }

    fn note(&self, write: impl FnOnce(&mut Recorder, u64, bool)) {
        let (is_ready, is_counted) = (self.is_ready, self.is_counted);
        let window = &self.window;
        self.recorder.note(|recorder| {
            // What comes before the start belongs to the first interval.
            let now = if is_ready { window.now() } else { 0 };
            write(recorder, now, is_counted);
        });
    }

    /// What a counter stands at for this client: measured and counted by the script itself.
    #[must_use]
    pub fn counter(&self, counter: ScriptCounter) -> u64 {
        self.recorder.note(|recorder| {
            let ledger = &recorder.ledger;
            let measured = match counter {
                ScriptCounter::Events => ledger.committed,
                ScriptCounter::Reads => ledger.outcomes.reads,
                ScriptCounter::Writes => ledger.outcomes.writes,
                ScriptCounter::Others => ledger.outcomes.others,
                ScriptCounter::Errors => ledger.errors(),
                ScriptCounter::Reconnects => ledger.reconnects,
            };
            measured + recorder.counts.get(counter)
        })
    }

    /// Nanoseconds since the common start; before it, since this client's beginning.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.window.now()
    }

    /// True when no further event begins: a loop of retries should end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.window.is_stopped()
    }

    /// True when clients must not wait or retry any longer: measuring and its grace period are
    /// over.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_ready && self.window.is_cut(self.window.now())
    }

    /// Where connections leave a way to be interrupted.
    #[must_use]
    pub fn interrupters(&self) -> &Arc<Interrupters> {
        &self.interrupters
    }
}

impl Drop for Meter {
    /// An event that was begun and has no end failed, unless its client was cut off: then it is
    /// unfinished.
    fn drop(&mut self) {
        if !self.is_cut() {
            self.give_up_event();
        } else if let Place::Within { start, .. } = self.place {
            self.note(|recorder, now, is_counted| {
                recorder.cut_off(UNNAMED, start, now, is_counted);
            });
        }
    }
}

/// Takes the next arrival and blocks until it is due: its time, and whether it counts. `None` when
/// nothing starts any more.
fn await_arrival(arrivals: &Arrivals, window: &Window, admitted: u64) -> Option<Begun> {
    let readiness = arrivals.readiness(window, admitted);
    sleep_until(readiness.until(window)?, window);
    arrivals.after(readiness, window)
}

/// In a closed loop: blocks until the client has thought and may work in this stage. `None` when
/// nothing starts any more.
#[inline]
fn await_stage(
    client: ClientId,
    window: &Window,
    now: u64,
    think: u64,
    admitted: u64,
) -> Option<Begun> {
    let from = window.works_from(client.0, now.saturating_add(think));
    if from == now {
        return Begun::at_once(window, now, admitted);
    }
    sleep_until(from.min(window.closes()), window);
    Begun::at_once(window, window.now(), admitted)
}

/// Blocks until a time, or until nothing starts any more.
fn sleep_until(until: u64, window: &Window) {
    let mut now = window.now();
    while now < until.min(window.ends()) {
        std::thread::sleep(Duration::from_nanos(until - now).min(STOP_NOTICED));
        now = window.now();
    }
}

/// Has this thread's sleeps end close to their time. A kernel that refuses leaves them 50 µs late.
fn precise_timers() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(TIMER_SLACK));
}

/// Starts one thread per client.
pub(crate) fn spawn_scripts<S: Script>(
    worker_pool: &mut WorkerPool<'_>,
    script: &Arc<S>,
    threads: &ScriptThreads,
) -> Result<(), TrialError> {
    let input = worker_pool.input;
    let (counts_early, seed) = (input.load.warmup.0 == 0, input.seed);
    for client in (0..input.clients).map(ClientId) {
        let common = (Arc::clone(script), Arc::clone(&input.shares), worker_pool.arrivals());
        worker_pool.spawn(vec![client], SMALL_BATCH, Some(threads.stack), move |post| {
            let (script, shares, arrivals) = common;
            run_client(&*script, client, post, shares, arrivals, counts_early, seed)
        })?;
    }
    Ok(())
}

fn run_client<S: Script>(
    script: &S,
    client: ClientId,
    post: Post,
    shares: Arc<ClientShares>,
    arrivals: Option<Arc<Arrivals>>,
    counts_early: bool,
    seed: u64,
) -> WorkerReport {
    if arrivals.is_some() {
        precise_timers();
    }
    let started = Arc::new(OnceLock::new());
    let (reports, recorder) = (post.reports.clone(), post.recorder.inner());
    let meter = Meter {
        client,
        recorder: post.recorder,
        shares,
        reports: post.reports,
        go: post.go,
        interrupters: post.interrupters,
        started: Arc::clone(&started),
        window: Arc::new(Window::closed()),
        arrivals,
        is_ready: false,
        is_counted: counts_early,
        is_awaited: false,
        place: Place::Between,
        last_end: 0,
        admitted: 0,
        taken: 0,
        seed,
    };
    let outcome = script.run(client, meter);
    let Some((window, cpu)) = started.get() else {
        let message = outcome
            .map_or_else(|trouble| trouble.0, |()| "the script ended before it was ready".into());
        // When the run was called off meanwhile, nobody reads this.
        let _ = reports.send(Report::InitFailed(client, message));
        return WorkerReport::default();
    };
    if let Err(trouble) = outcome
        && !window.is_cut(window.now())
    {
        window.stop(StopCause::Trouble(trouble.0.clone()));
        let _ = reports.send(Report::Fatal(Fatal { client, cause: FatalCause::Script(trouble.0) }));
    }
    let statements = lock(&recorder).statements_sent();
    WorkerReport { record: cpu.finish(window, 1, statements, None), ..Default::default() }
}

//! The interface through which a script reports its measurements; the script runs its own loop.
//!
//! Each client of a script runs on its own thread and may block. The thread connects, prepares
//! whatever it needs, calls [`Meter::await_start`], and then runs its loop:
//!
//! ```text
//!   while meter.begin_event() {
//!       ...  meter.statement(kind, start, end, class)  ...
//!       meter.end_event();
//!   }
//! ```

use super::interrupt::Interrupters;
use super::load::TrialError;
use super::worker_pool::{WorkerChannels, WorkerMessage, WorkerPool, WorkerReport};
use crate::arrivals::{Arrivals, NextStart, TransactionStart, think_time};
use crate::client_id::ClientId;
use crate::fatal::{Fatal, FatalCause};
use crate::generator::WorkerMeter;
use crate::recording::client_statistics::StatisticsByClient;
use crate::recording::recorder::{SMALL_BATCH, StatementOk, UNNAMED};
use crate::recording::{Recorder, SampleNames, SharedRecorder};
use crate::session::COMMIT;
use crate::window::{MeasurementWindow, Period};
use dyno_model::counters::{OutcomeClass, ScriptCounter};
use dyno_model::failure::FailureKind;
use dyno_model::failure_log::Failed;
use dyno_model::secret::Secret;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How often a client that waits for an arrival checks whether the run was stopped.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Timer slack while waiting for arrivals: how late the kernel may wake a thread, in nanoseconds.
/// The kernel's default is 50,000.
const TIMER_SLACK: u64 = 1_000;

/// A script, shared by all its threads.
pub trait Script: Send + Sync + 'static {
    /// Names of the kinds of statements that it reports; each has its own histogram.
    fn kinds(&self) -> Vec<&'static str>;

    /// Indexes in [`Self::kinds`] of the kinds that are a COMMIT.
    fn commit_kinds(&self) -> Vec<usize> {
        self.kinds()
            .iter()
            .enumerate()
            .filter(|(_, kind)| **kind == COMMIT)
            .map(|(index, _)| index)
            .collect()
    }

    /// Runs one client on its own thread from beginning to end. Returning before the client was
    /// ready fails the run.
    ///
    /// # Errors
    /// When this client cannot continue. All clients stop then.
    fn run(&self, client: ClientId, meter: Meter) -> Result<(), ScriptFailure>;
}

/// The kinds of statements of a script that have separate figures.
pub(crate) fn kinds(script: &impl Script) -> SampleNames {
    SampleNames {
        statements: script.kinds(),
        commit_kinds: script.commit_kinds(),
        ..SampleNames::default()
    }
}

/// Why a script cannot continue, as reported by the script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptFailure(pub String);

/// How script threads are created and how long they may take to become ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptThreads {
    /// Size of each thread's stack in bytes; only what is touched takes memory.
    pub stack: usize,
    /// A script that does not report that it is ready within this time ends the run.
    pub ready_limit: Duration,
}

impl Default for ScriptThreads {
    fn default() -> Self {
        Self { stack: 256 << 10, ready_limit: Duration::from_secs(30) }
    }
}

/// The state of a client in its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventState {
    NotStarted,
    /// It may start an event; the time of the event begins here.
    Admitted(u64),
    /// In an event whose time began at `start`; in an open loop, the client works on it only since
    /// `run_start`.
    Running {
        start: u64,
        run_start: u64,
    },
}

/// The connection of one script client to the measuring core. All calls are cheap: they allocate
/// only when a batch of samples is full or a failure is recorded, and take no lock that another
/// thread holds for long.
pub struct Meter {
    client: ClientId,
    recorder: SharedRecorder,
    client_statistics: Arc<StatisticsByClient>,
    messages: Sender<WorkerMessage>,
    start_receiver: Receiver<Arc<MeasurementWindow>>,
    interrupters: Arc<Interrupters>,
    started: Arc<OnceLock<(Arc<MeasurementWindow>, WorkerMeter)>>,
    window: Arc<MeasurementWindow>,
    /// Open loop.
    arrivals: Option<Arc<Arrivals>>,
    is_ready: bool,
    /// The period of what happens now.
    period: Period,
    /// Open loop: the client was free before the event was due.
    client_was_idle: bool,
    state: EventState,
    /// When the last event ended, nanoseconds since the epoch.
    last_end: u64,
    /// Events of this client that were admitted to the measured window.
    measured_events: u64,
    /// Events that the client requested.
    events_requested: u64,
    /// Seed of the client's think times.
    seed: u64,
}

impl Meter {
    /// Reports that the client is ready, and waits until all are. Returns false if the run was
    /// called off; no event may begin then.
    pub fn await_start(&mut self) -> bool {
        let _ = self.messages.send(WorkerMessage::Ready);
        let Ok(window) = self.start_receiver.recv() else { return false };
        window.await_epoch();
        self.last_end = window.now();
        self.period = window.period(0);
        self.is_ready = true;
        let _ = self.started.set((Arc::clone(&window), WorkerMeter::start(&window)));
        self.window = window;
        true
    }

    /// Begins the next event; returns false if no event may begin. The time between the end of one
    /// event and the beginning of the next counts towards the next, so that the clock is read once
    /// per event.
    #[inline]
    pub fn begin_event(&mut self) -> bool {
        if !self.more_events() {
            return false;
        }
        if let EventState::Admitted(start) = self.state {
            self.begin(start);
        }
        true
    }

    /// Asks whether another event may begin and takes it from the budget, for scripts that run
    /// their own loop. [`Self::start_event`] must follow.
    #[inline]
    pub fn more_events(&mut self) -> bool {
        self.withdraw();
        let (arrivals, window, measured_count) =
            (self.arrivals.as_deref(), &self.window, self.measured_events);
        let wait = think_time(window.think(), self.seed, self.client, self.events_requested);
        self.events_requested += 1;
        let next =
            NextStart::new(arrivals, window, self.client, (self.last_end, wait), measured_count);
        if let Some(until) = next.wait_until(window) {
            sleep_until(until, window);
        }
        let next = next.begin(arrivals, window, measured_count);
        let Some(TransactionStart { start, period, client_was_idle }) = next else {
            self.period = self.period_of(self.last_end);
            self.state = EventState::NotStarted;
            return false;
        };
        (self.period, self.client_was_idle) = (period, client_was_idle);
        self.measured_events += u64::from(period.is_measured());
        self.state = EventState::Admitted(start);
        true
    }

    /// Begins an event now, whether or not it was admitted: a script controls its own loop. In an
    /// open loop, the time of an admitted event began when the event was due.
    pub fn start_event(&mut self) {
        self.withdraw();
        let now = self.window.now();
        match self.state {
            EventState::Admitted(due) if self.arrivals.is_some() => return self.begin(due),
            EventState::Admitted(_) => {}
            _ => self.period = self.period_of(now),
        }
        self.begin(now);
    }

    /// The period of what happens at a time. Before the client is ready, nothing counts.
    fn period_of(&self, now: u64) -> Period {
        if self.is_ready { self.window.period(now) } else { Period::WarmUp }
    }

    #[inline]
    fn begin(&mut self, start: u64) {
        let run_start = if self.arrivals.is_some() { self.window.now() } else { start };
        let period = self.period;
        let client_was_idle = std::mem::take(&mut self.client_was_idle);
        self.recorder.record(|recorder| {
            recorder.started(UNNAMED, period);
            if client_was_idle {
                recorder.record_start_delay(run_start, run_start.saturating_sub(start), period);
            }
        });
        self.state = EventState::Running { start, run_start };
    }

    /// Ends the event and counts it as a committed transaction. Has no effect outside an event.
    #[inline]
    pub fn end_event(&mut self) {
        let EventState::Running { start, run_start } = self.state else { return };
        let (window, period) = (&self.window, self.period);
        // The clock is read while the lock is held: the coordinator then sees every event that
        // ended before it takes the lock.
        let end = self.recorder.record(|recorder| {
            let end = window.now();
            recorder.committed(UNNAMED, start, end, window.measured_share(run_start, end), period);
            end
        });
        if period.is_measured() {
            self.client_statistics.record(self.client.0, end - start);
        }
        self.state = EventState::NotStarted;
        self.last_end = end;
    }

    /// Ends the event without counting it; its statements still count. It remains taken from the
    /// budget.
    pub fn abandon_event(&mut self) {
        self.withdraw();
        self.last_end = self.window.now();
        self.state = EventState::NotStarted;
    }

    /// Ends the event as finally failed. Has no effect outside an event.
    pub fn give_up_event(&mut self) {
        let EventState::Running { start, .. } = self.state else { return };
        let end = self.window.now();
        // Whether a COMMIT of the script was lost is not known here.
        let is_in_doubt = false;
        self.record(|recorder, now, period| {
            recorder.failed(UNNAMED, FailureKind::Other, start, now, is_in_doubt, period);
        });
        self.state = EventState::NotStarted;
        self.last_end = end;
    }

    /// Takes back an event that has begun and has not ended.
    #[inline]
    fn withdraw(&mut self) {
        if let EventState::Running { .. } = self.state {
            let period = self.period;
            self.recorder.record(|recorder| recorder.withdrawn(period));
            self.state = EventState::NotStarted;
        }
    }

    /// Counts a successful statement; times are those that [`Self::now`] returns.
    #[inline]
    pub fn statement(&mut self, kind_index: u16, start: u64, end: u64, class: OutcomeClass) {
        let duration = end.saturating_sub(start);
        let end = if self.is_ready { end } else { 0 };
        let answered = StatementOk { kind_index, end, duration, rows: 0, class };
        let period = self.period;
        self.recorder.record(|recorder| {
            recorder.statement_sent(kind_index, period);
            recorder.statement_ok(&answered, period);
        });
    }

    /// Counts a statement that returned an error.
    pub fn statement_failed(&mut self, kind_index: u16) {
        self.record(|recorder, now, period| {
            recorder.statement_sent(kind_index, period);
            recorder.statement_failed(kind_index, now, period);
        });
    }

    /// Records a failure now; `password` is that of the connection on which it happened.
    pub fn note_failure(&mut self, failed: &Failed<'_>, password: &Secret) {
        self.record(|recorder, now, period| {
            if period.is_measured() {
                recorder.failures.note(&Failed { at: Nanos(now), ..*failed }, password);
            }
        });
    }

    /// Counts a restart of the event after a failure.
    pub fn restarted(&mut self, cause: FailureKind) {
        self.record(|recorder, now, period| recorder.retried(UNNAMED, cause, now, period));
    }

    /// Counts a reopened connection.
    pub fn reconnected(&mut self) {
        self.record(Recorder::reconnected);
    }

    /// Adds to a counter that the script maintains itself.
    pub fn add_to_counter(&mut self, counter: ScriptCounter, n: u64) {
        self.record(|recorder, now, period| recorder.add_to_counter(counter, n, now, period));
    }

    fn record(&self, write: impl FnOnce(&mut Recorder, u64, Period)) {
        let (is_ready, period) = (self.is_ready, self.period);
        let window = &self.window;
        self.recorder.record(|recorder| {
            // Everything before the start belongs to the first interval.
            let now = if is_ready { window.now() } else { 0 };
            write(recorder, now, period);
        });
    }

    /// The value of a counter for this client: both what was measured and what the script counted.
    #[must_use]
    pub fn counter(&self, counter: ScriptCounter) -> u64 {
        self.recorder.record(|recorder| {
            let counters = &recorder.counters;
            let measured_count = match counter {
                ScriptCounter::Events => counters.committed,
                ScriptCounter::Reads => counters.outcomes.reads,
                ScriptCounter::Writes => counters.outcomes.writes,
                ScriptCounter::Others => counters.outcomes.others,
                ScriptCounter::Errors => counters.statement_errors(),
                ScriptCounter::Reconnects => counters.reconnects,
            };
            measured_count + recorder.script_counters.get(counter)
        })
    }

    /// Nanoseconds since the common start; before it, since this client began.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.window.now()
    }

    /// True when no further event begins; a retry loop should then end.
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

    /// Where connections register their interrupters.
    #[must_use]
    pub fn interrupters(&self) -> &Arc<Interrupters> {
        &self.interrupters
    }
}

impl Drop for Meter {
    /// An event that has begun and has not ended counts as failed, or as unfinished if its client
    /// was cut off.
    fn drop(&mut self) {
        if !self.is_cut() {
            self.give_up_event();
        } else if let EventState::Running { start, .. } = self.state {
            self.record(|recorder, now, period| {
                recorder.cut_off(UNNAMED, start, now, period);
            });
        }
    }
}

/// Blocks until a time, or until nothing starts any more.
fn sleep_until(until: u64, window: &MeasurementWindow) {
    let mut now = window.now();
    while now < until.min(window.admission_ends()) {
        std::thread::sleep(Duration::from_nanos(until - now).min(STOP_CHECK_INTERVAL));
        now = window.now();
    }
}

/// Reduces the timer slack of this thread. If the kernel refuses, sleeps end up to 50 µs late.
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
    let first = if input.load.warmup.0 == 0 { Period::Measured } else { Period::WarmUp };
    let seed = input.seed;
    for client in input.clients.ids.iter().map(ClientId) {
        let shared =
            (Arc::clone(script), Arc::clone(&input.client_statistics), worker_pool.arrivals());
        worker_pool.spawn(vec![client], SMALL_BATCH, Some(threads.stack), move |channels| {
            let (script, client_statistics, arrivals) = shared;
            run_client(&*script, client, channels, client_statistics, arrivals, first, seed)
        })?;
    }
    Ok(())
}

fn run_client<S: Script>(
    script: &S,
    client: ClientId,
    channels: WorkerChannels,
    client_statistics: Arc<StatisticsByClient>,
    arrivals: Option<Arc<Arrivals>>,
    first: Period,
    seed: u64,
) -> WorkerReport {
    if arrivals.is_some() {
        precise_timers();
    }
    let started = Arc::new(OnceLock::new());
    let (messages, recorder) = (channels.messages.clone(), channels.recorder.inner());
    let meter = Meter {
        client,
        recorder: channels.recorder,
        client_statistics,
        messages: channels.messages,
        start_receiver: channels.start_receiver,
        interrupters: channels.interrupters,
        started: Arc::clone(&started),
        window: Arc::new(MeasurementWindow::closed()),
        arrivals,
        is_ready: false,
        period: first,
        client_was_idle: false,
        state: EventState::NotStarted,
        last_end: 0,
        measured_events: 0,
        events_requested: 0,
        seed,
    };
    let outcome = script.run(client, meter);
    let Some((window, cpu)) = started.get() else {
        let message = outcome
            .map_or_else(|problem| problem.0, |()| "the script ended before it was ready".into());
        // If the run was called off meanwhile, the receiver is gone.
        let _ = messages.send(WorkerMessage::InitFailed(client, message));
        return WorkerReport::default();
    };
    if let Err(problem) = outcome
        && !window.is_cut(window.now())
    {
        window.stop(problem.0.clone().into());
        let _ = messages
            .send(WorkerMessage::Fatal(Fatal { client, cause: FatalCause::Script(problem.0) }));
    }
    let statements = lock(&recorder).statements_sent();
    WorkerReport { record: cpu.finish(window, 1, statements, None), ..Default::default() }
}

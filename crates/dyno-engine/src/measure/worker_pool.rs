//! The threads of a run, from their start to their last sample.

use super::interrupt::Interrupters;
use super::load::{LoadInput, TrialError};
use super::load_monitor::LoadMonitor;
use super::open_loop;
use super::partial_result::{EndedMeasurement, PartialResult};
use super::stall::{CommitReports, StallDetector};
use super::start::Start;
use crate::arrivals::{Arrivals, DueCounter};
use crate::client_id::ClientId;
use crate::fatal::Fatal;
use crate::generator::{memory_peak, wakeup_lag_p99};
use crate::recording::stages::StageTally;
use crate::recording::{Batch, Collector, Recorder, Sample, SampleNames, SharedRecorder};
use crate::scheduling::yield_to_server;
use crate::window::MeasurementWindow;
use dyno_model::event::{CommitActivity, Event, Listener, Phase, ProgressUnit};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::reason::Reason;
use dyno_model::record::{GeneratorRecord, WorkerRecord};
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the coordinator checks the workers.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Shortest time between two checks while a batch is awaited.
const CHECK_INTERVAL_MIN: Duration = Duration::from_millis(1);
/// Time that a worker has to end after the grace period; a blocked worker that exceeds it is
/// interrupted repeatedly.
const END_TIMEOUT: Duration = Duration::from_secs(1);
/// The same for a script of a trial, whose failure to end also ends the run; not applied when the
/// user requested the end.
const SCRIPT_END_TIMEOUT: Duration = Duration::from_secs(5);
/// Delay of collecting samples after the end of an interval, nanoseconds: a worker that was
/// preempted between the end of a transaction and recording it has usually resumed by then.
const COLLECT_DELAY: u64 = 5_000_000;
/// An interval is complete at the latest this long after its end, nanoseconds, even if a batch is
/// still in transit.
const BATCH_WAIT_MAX: u64 = 2_500_000_000;

/// How threads that do not end are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StuckThreadPolicy {
    /// The coordinator interrupts them until they end, because the audit must not begin before.
    Await,
    /// The coordinator abandons and reports those that have not ended one second after the grace
    /// period.
    LeaveBehind,
    /// The same after five seconds, or after one if the user requested the end. Nothing can stop a
    /// script that runs its own loop, and while an abandoned script runs, nothing more can be
    /// measured.
    LeaveScript,
}

/// A worker's report to the coordinator.
pub(crate) enum WorkerMessage {
    /// One more client is ready.
    Ready,
    /// A client could not connect; the run cannot begin.
    ConnectFailed(OperationFailure),
    /// A script failed before it was ready, with its error message.
    InitFailed(ClientId, String),
    /// A client could not continue; all clients stop.
    Fatal(Fatal),
    /// The worker has ended.
    Done(u32, WorkerReport),
}

/// A worker's final report about itself.
#[derive(Default)]
pub(crate) struct WorkerReport {
    pub(crate) record: WorkerRecord,
    /// How late timers fired, nanoseconds.
    pub(crate) wakeup_lags: Vec<u64>,
    /// An error of the worker itself.
    pub(crate) problem: Option<Reason>,
}

/// A worker's ends of all channels to the coordinator.
pub(crate) struct WorkerChannels {
    pub(crate) index: u32,
    pub(crate) messages: Sender<WorkerMessage>,
    pub(crate) recorder: SharedRecorder,
    pub(crate) interrupters: Arc<Interrupters>,
    /// Delivers the window once all clients are ready; the channel is closed when the run is called
    /// off.
    pub(crate) start_receiver: Receiver<Arc<MeasurementWindow>>,
}

impl WorkerChannels {
    pub(crate) fn report(&self, report: WorkerMessage) {
        // The coordinator listens until every worker is done; a worker left behind has no receiver.
        let _ = self.messages.send(report);
    }
}

/// The coordinator's side of a worker.
struct WorkerHandle {
    thread: Option<JoinHandle<()>>,
    clients: Vec<ClientId>,
    recorder: Arc<Mutex<Recorder>>,
    interrupters: Arc<Interrupters>,
    /// Number of batches received from it.
    batches_received: u64,
    is_done: bool,
}

/// The workers of a run and the data received from them.
pub(crate) struct WorkerPool<'a> {
    pub(crate) input: &'a LoadInput<'a>,
    kinds: SampleNames,
    stuck_threads: StuckThreadPolicy,
    workers: Vec<WorkerHandle>,
    start_senders: Vec<Sender<Arc<MeasurementWindow>>>,
    /// Kept until all workers are spawned: when the last worker ends, the channels must close.
    senders: Option<(Sender<WorkerMessage>, SyncSender<Batch>)>,
    incoming: Receiver<WorkerMessage>,
    batches: Receiver<Batch>,
    worker_reports: Vec<WorkerReport>,
    fatal: Option<Fatal>,
    collector: Collector,
    commit_reports: CommitReports,
    /// Open loop: the schedule, and how much of it has been due.
    arrivals: Option<(Arc<Arrivals>, DueCounter)>,
    /// Whether workers yield the processor to a server on this machine. Not in an open loop, where
    /// transactions must start when they are due.
    yields_to_server: bool,
    connecting: Nanos,
    spawned_at: Instant,
}

impl<'a> WorkerPool<'a> {
    pub(crate) fn new(
        kinds: SampleNames,
        stuck_threads: StuckThreadPolicy,
        input: &'a LoadInput<'a>,
    ) -> Self {
        let (report, incoming) = channel();
        // Workers wait when the coordinator is behind: no measurement is discarded, and memory is
        // bounded.
        let (batch, batches) = sync_channel((2 * input.clients.count() as usize).clamp(64, 1024));
        Self {
            input,
            stuck_threads,
            workers: Vec::new(),
            start_senders: Vec::new(),
            senders: Some((report, batch)),
            incoming,
            batches,
            worker_reports: Vec::new(),
            fatal: None,
            collector: Collector::new(&input.name, &kinds, input.load.warmup.0, input.interval.0)
                .with_stages(StageTally::of(input.load)),
            commit_reports: CommitReports::Stalls(StallDetector::default()),
            kinds,
            yields_to_server: input.shares_machine && !input.load.is_open(),
            arrivals: Arrivals::of(input.load, input.seed, input.clients).map(|arrivals| {
                let due = arrivals.due_counter();
                (Arc::new(arrivals), due)
            }),
            connecting: Nanos(0),
            spawned_at: Instant::now(),
        }
    }

    /// The same for clients whose results are put together with those of other processes.
    pub(crate) fn mergeable(self) -> Self {
        let commit_reports = CommitReports::Activity { due: 0 };
        Self { collector: self.collector.mergeable(), commit_reports, ..self }
    }

    /// The schedule of an open loop, for the workers.
    pub(crate) fn arrivals(&self) -> Option<Arc<Arrivals>> {
        self.arrivals.as_ref().map(|(arrivals, _)| Arc::clone(arrivals))
    }

    /// Starts a worker's thread. A worker that panics is reported, so that nothing waits for it.
    pub(crate) fn spawn(
        &mut self,
        clients: Vec<ClientId>,
        batch: usize,
        stack: Option<usize>,
        run_worker: impl FnOnce(WorkerChannels) -> WorkerReport + Send + 'static,
    ) -> Result<(), TrialError> {
        let (messages, batches) =
            self.senders.clone().expect("all workers are spawned before measuring begins");
        let index = self.workers.len() as u32;
        let (start_sender, start_receiver) = channel();
        let recorder = SharedRecorder::new(index, &self.kinds, batch, batches.clone());
        let shared = recorder.inner();
        let interrupters = Arc::new(Interrupters::default());
        let channels = WorkerChannels {
            index,
            messages: messages.clone(),
            recorder,
            interrupters: Arc::clone(&interrupters),
            start_receiver,
        };
        let mut builder = std::thread::Builder::new().name(format!("dyno-worker-{index}"));
        if let Some(stack) = stack {
            builder = builder.stack_size(stack);
        }
        let yields_to_server = self.yields_to_server;
        let thread = builder
            .spawn(move || {
                if yields_to_server {
                    // Where this is not permitted, measuring costs more but remains correct.
                    let _ = yield_to_server();
                }
                let outcome =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_worker(channels)));
                let report = outcome.unwrap_or_else(|_| {
                    let failure = FailureKind::Other.failure("a generator worker panicked");
                    let _ = messages.send(WorkerMessage::ConnectFailed(failure));
                    let problem = Some(Reason::WorkerPanicked);
                    WorkerReport { problem, ..Default::default() }
                });
                // The receiver is gone after clients failed to connect, and for an abandoned
                // worker.
                let _ = messages.send(WorkerMessage::Done(index, report));
                // The coordinator waits for samples; an empty batch wakes it.
                let _ = batches.try_send(Batch { worker: index, samples: Vec::new() });
            })
            .map_err(|error| {
                TrialError::Failed(format!("worker {index} could not be started: {error}").into())
            })?;
        self.start_senders.push(start_sender);
        let thread = Some(thread);
        self.workers.push(WorkerHandle {
            thread,
            clients,
            recorder: shared,
            interrupters,
            batches_received: 0,
            is_done: false,
        });
        Ok(())
    }

    /// Waits until every client is ready.
    ///
    /// # Errors
    /// When one fails to become ready, when the limit passes, or when the run is called off.
    pub(crate) fn await_ready(
        &mut self,
        limit: Option<Duration>,
        listener: &mut dyn Listener,
    ) -> Result<(), TrialError> {
        let input = self.input;
        self.senders = None;
        let mut ready = 0;
        let error = loop {
            if ready == input.clients.count() {
                self.connecting = self.spawned_at.elapsed().into();
                return Ok(());
            }
            if input.interrupts.load(Ordering::Relaxed) > 0 {
                break TrialError::Interrupted;
            }
            match self.incoming.recv_timeout(CHECK_INTERVAL) {
                Ok(WorkerMessage::Ready) => ready += 1,
                Ok(WorkerMessage::ConnectFailed(failure)) => {
                    break TrialError::NotConnected(failure);
                }
                Ok(WorkerMessage::InitFailed(client, message)) => {
                    break TrialError::Script { client, message };
                }
                Ok(other) => self.handle(other),
                Err(RecvTimeoutError::Timeout) => {
                    listener.event(&Event::Progress {
                        trial: input.name.clone(),
                        phase: Phase::Connecting,
                        done: ready.into(),
                        total: input.clients.count().into(),
                        unit: ProgressUnit::Connections,
                    });
                    if let Some(reason) = (input.is_dead)() {
                        break TrialError::SystemDied(reason);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break TrialError::Failed("all workers ended before the run began".into());
                }
            }
            // Scripts may already send statements.
            self.receive_batches();
            if limit.is_some_and(|limit| self.spawned_at.elapsed() > limit) {
                break TrialError::NotReady { ready, clients: input.clients.count() };
            }
        };
        self.cancel();
        let is_stuck = self.stuck_threads == StuckThreadPolicy::LeaveScript
            && self.workers.iter().any(|worker| !worker.is_done);
        Err(if is_stuck { TrialError::threads_still_running(error.into()) } else { error })
    }

    /// Closes the channels that workers wait on, and gives the workers that notice time to end.
    pub(crate) fn cancel(&mut self) {
        self.start_senders.clear();
        let until = Instant::now() + END_TIMEOUT;
        while self.workers.iter().any(|worker| !worker.is_done) && Instant::now() < until {
            self.workers.iter().for_each(|worker| worker.interrupters.interrupt());
            self.receive_batches();
            match self.incoming.recv_timeout(CHECK_INTERVAL) {
                Ok(report) => self.handle(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn handle(&mut self, report: WorkerMessage) {
        match report {
            WorkerMessage::Fatal(fatal) => {
                self.fatal.get_or_insert(fatal);
            }
            WorkerMessage::Done(index, report) => {
                self.workers[index as usize].is_done = true;
                self.worker_reports.push(report);
            }
            // These reports matter only while clients connect.
            WorkerMessage::Ready
            | WorkerMessage::ConnectFailed(_)
            | WorkerMessage::InitFailed(..) => {}
        }
    }

    /// Receives the batches that have arrived.
    fn receive_batches(&mut self) {
        while let Ok(batch) = self.batches.try_recv() {
            self.add_batch(&batch);
        }
    }

    fn add_batch(&mut self, batch: &Batch) {
        if batch.samples.is_empty() {
            return;
        }
        self.workers[batch.worker as usize].batches_received += 1;
        self.collector.add_samples(&batch.samples);
    }

    /// Collects the samples of every recorder. Returns true when no previously recorded sample is
    /// in transit.
    fn collect_recorded(&mut self, empty: &mut Vec<Sample>) -> bool {
        let mut batches_sent = Vec::with_capacity(self.workers.len());
        for worker in &self.workers {
            let mut recorder = lock(&worker.recorder);
            if empty.capacity() == 0 {
                *empty = recorder.empty_batch();
            }
            recorder.take_samples(empty);
            batches_sent.push(recorder.batches_sent);
            drop(recorder);
            self.collector.add_samples(empty);
            empty.clear();
        }
        self.receive_batches();
        self.workers
            .iter()
            .zip(batches_sent)
            .all(|(worker, batches_sent)| worker.batches_received >= batches_sent)
    }

    fn in_flight(&self) -> u64 {
        self.workers.iter().map(|worker| lock(&worker.recorder).in_flight()).sum()
    }

    /// Transactions that are due by a time and have not started.
    fn queue(&mut self, now: u64) -> u64 {
        self.arrivals
            .as_mut()
            .map_or(0, |(arrivals, due)| due.count_until(now).saturating_sub(arrivals.taken()))
    }

    /// Passes the intervals that have ended to the listener.
    fn deliver_intervals(
        &mut self,
        window: &MeasurementWindow,
        empty: &mut Vec<Sample>,
        listener: &mut dyn Listener,
    ) {
        let now = window.now();
        if self.collector.next_end().saturating_add(COLLECT_DELAY) > now {
            return;
        }
        let concurrency = self.in_flight();
        let queue = self.queue(now.min(window.admission_ends()));
        if !self.collect_recorded(empty) && self.collector.next_end() + BATCH_WAIT_MAX > now {
            return;
        }
        while let Some(mut interval) = self.collector.pop_complete(now) {
            (interval.concurrency, interval.queue) = (concurrency, queue);
            listener.interval(&interval);
        }
    }

    /// Gives the signal to start and returns when every worker has ended or was left behind.
    pub(crate) fn run(
        mut self,
        start: &Start,
        listener: &mut dyn Listener,
    ) -> EndedMeasurement<'a> {
        let epoch = start.epoch;
        let window = Arc::new(self.input.window(epoch));
        let mut monitor = LoadMonitor::new();
        let mut empty = Vec::new();
        for start_sender in self.start_senders.drain(..) {
            // A worker that has ended has reported why.
            let _ = start_sender.send(Arc::clone(&window));
        }
        listener.clients_begin(epoch.saturating_duration_since(Instant::now()).into());
        let mut is_cut_off = false;
        loop {
            while let Ok(report) = self.incoming.try_recv() {
                self.handle(report);
            }
            if self.workers.iter().all(|worker| worker.is_done) {
                break;
            }
            let next = self
                .collector
                .next_end()
                .saturating_add(COLLECT_DELAY)
                .saturating_sub(window.now());
            let wait = Duration::from_nanos(next).clamp(CHECK_INTERVAL_MIN, CHECK_INTERVAL);
            match self.batches.recv_timeout(wait) {
                Ok(batch) => {
                    self.add_batch(&batch);
                    self.receive_batches();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // All workers have ended; their reports are in the other channel.
                    while let Ok(report) = self.incoming.recv() {
                        self.handle(report);
                    }
                    break;
                }
            }
            monitor.check(&window, &self.collector, self.input, listener);
            start.propagate_stop(&window);
            let now = window.now();
            self.commit_reports.report(now, || activity(&self.workers, now), listener);
            self.deliver_intervals(&window, &mut empty, listener);
            let now = window.now();
            if window.is_cut(now) {
                is_cut_off = true;
                self.interrupt_stuck();
                let limit = self
                    .abandon_timeout()
                    .map(|time| window.grace_ends().saturating_add(Nanos::from(time).0));
                if limit.is_some_and(|limit| now > limit) {
                    break;
                }
            }
        }
        // Its workers may have stopped and ended since the last check. A pool that is done cannot
        // be stopped by another.
        if window.is_stopped() {
            start.propagate_stop(&window);
        }
        for worker in self.workers.iter_mut().filter(|worker| worker.is_done) {
            // Panics were caught and reported.
            let _ = worker.thread.take().map(JoinHandle::join);
        }
        self.finish(RunState { window, monitor, empty, is_cut_off })
    }

    /// Time after the grace period at which a thread that has not ended is left behind.
    fn abandon_timeout(&self) -> Option<Duration> {
        match self.stuck_threads {
            StuckThreadPolicy::Await => None,
            StuckThreadPolicy::LeaveScript
                if self.input.interrupts.load(Ordering::Relaxed) == 0 =>
            {
                Some(SCRIPT_END_TIMEOUT)
            }
            StuckThreadPolicy::LeaveScript | StuckThreadPolicy::LeaveBehind => Some(END_TIMEOUT),
        }
    }

    fn interrupt_stuck(&self) {
        let stuck = self.workers.iter().filter(|worker| !worker.is_done);
        stuck.for_each(|worker| worker.interrupters.interrupt());
    }

    /// Closes the counters, including those of workers left behind.
    fn finish(mut self, mut state: RunState) -> EndedMeasurement<'a> {
        let window = Arc::clone(&state.window);
        let ended = window.now();
        self.collect_recorded(&mut state.empty);
        let mut result =
            PartialResult { ended, connecting: self.connecting, ..self.partial_result() };
        if let Some((arrivals, _)) = &self.arrivals {
            let collector = &mut self.collector;
            result.unstarted = open_loop::add_unsampled_arrivals(
                arrivals,
                &window,
                collector,
                &result.counters,
                ended,
            );
        }
        let (cpu_user, cpu_system) = state.monitor.cpu();
        let (mut workers, mut wakeup_lags) = (Vec::new(), Vec::new());
        for report in self.worker_reports {
            workers.push(report.record);
            wakeup_lags.extend(report.wakeup_lags);
            result.problems.extend(report.problem);
        }
        result.generator = GeneratorRecord {
            workers,
            cpu_user,
            cpu_system,
            wakeup_lag_p99: wakeup_lag_p99(wakeup_lags),
            memory_peak: memory_peak(),
            shares_machine: self.input.shares_machine,
            workers_tried: Vec::new(),
        };
        result.steal = state.monitor.steal();
        result.is_debug_build = cfg!(debug_assertions);
        result.fatal = self.fatal;
        result.is_cut_off = state.is_cut_off;
        let stuck = self.workers.iter().filter(|worker| !worker.is_done);
        result.left_behind = stuck.flat_map(|worker| worker.clients.iter().copied()).collect();
        let (input, kinds, collector) = (self.input, self.kinds, self.collector);
        EndedMeasurement { input, kinds, window, collector, result, generators: None }
    }

    /// The counters of all workers, including those left behind.
    fn partial_result(&self) -> PartialResult {
        let mut sum = PartialResult::default();
        for worker in &self.workers {
            let recorder = lock(&worker.recorder);
            let (counters, totals) = recorder.close();
            sum.counters.add(&counters);
            sum.totals.add(&totals);
            sum.script_counters.add(&recorder.script_counters);
            sum.failures.add(&recorder.failures);
        }
        sum
    }
}

/// Commits of these workers so far, and when the last one came.
fn activity(workers: &[WorkerHandle], at: u64) -> CommitActivity {
    let of = |worker: &WorkerHandle| {
        let recorder = lock(&worker.recorder);
        CommitActivity { at, committed: recorder.commits_and_events, last: recorder.last_commit }
    };
    let none = CommitActivity { at, ..CommitActivity::default() };
    workers.iter().map(of).fold(none, CommitActivity::and)
}

/// The state that [`WorkerPool::run`] passes to the final step.
struct RunState {
    window: Arc<MeasurementWindow>,
    monitor: LoadMonitor,
    empty: Vec<Sample>,
    is_cut_off: bool,
}

//! Worker threads: each drives many clients on one event loop, or one client that may block.

use crate::client::Client;
use crate::generator::WorkerMeter;
use crate::recorder::{Recorder, Sample, Totals};
use crate::session::{Session, SessionPlan};
use crate::window::Window;
use crate::workload::{ClientId, Workload};
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Executor, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::ledger::Ledger;
use dyno_model::record::WorkerRecord;
use dyno_model::target::Target;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Longest wait of an event loop: how soon it notices a stop while no socket stirs.
const TURN_MAX: Duration = Duration::from_millis(250);
/// Connections being opened at the same time, over all workers: a listen queue holds about a hundred.
const CONNECTING_MAX: usize = 32;
/// Pause of a client that waits for its turn to connect.
const CONNECTING_PAUSE: Duration = Duration::from_millis(1);
/// Workers up to this number wake up regularly to measure how late they wake up.
const PULSE_WORKERS: u32 = 8;
/// Time between two such wake-ups.
const PULSE: Duration = Duration::from_millis(100);

/// What a worker is told.
pub(crate) struct Assignment<W: Workload> {
    pub(crate) index: u32,
    pub(crate) clients: Vec<ClientId>,
    pub(crate) seed: u64,
    pub(crate) attempts_max: u32,
    pub(crate) workload: Arc<W>,
    pub(crate) target: Arc<Target>,
    pub(crate) session_plan: Arc<SessionPlan>,
    pub(crate) connecting: Arc<AtomicUsize>,
    pub(crate) reports: Sender<Report>,
    pub(crate) samples: Sender<Vec<Sample>>,
    /// The window, once everybody is connected; the channel is closed when the trial is called off.
    pub(crate) go: Receiver<Arc<Window>>,
}

/// What a worker tells the coordinator.
pub(crate) enum Report {
    /// One more client is connected.
    Connected,
    /// A client could not connect; the trial cannot begin.
    ConnectFailed(OperationFailure),
    /// A way to end the blocking client's statement in progress.
    Interrupter(Box<dyn Fn() + Send>),
    /// The worker has ended.
    Done(Box<WorkerReport>),
}

/// A worker's books.
#[derive(Default)]
pub(crate) struct WorkerReport {
    pub(crate) ledger: Ledger,
    pub(crate) totals: Totals,
    pub(crate) record: WorkerRecord,
    /// How late timers fired, nanoseconds.
    pub(crate) lags: Vec<u64>,
    /// Trouble of the worker itself.
    pub(crate) trouble: Option<String>,
}

/// Connections in the making take a place; dropping gives it back.
struct ConnectingPlace(Arc<AtomicUsize>);

impl ConnectingPlace {
    async fn take(connecting: &Arc<AtomicUsize>, io: &Io) -> Self {
        while connecting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < CONNECTING_MAX).then_some(n + 1))
            .is_err()
        {
            io.sleep(CONNECTING_PAUSE).await;
        }
        Self(Arc::clone(connecting))
    }
}

impl Drop for ConnectingPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<W: Workload> Assignment<W> {
    fn client(
        &self,
        id: ClientId,
        io: &Io,
        recorder: &Rc<RefCell<Recorder>>,
        window: &Arc<Window>,
    ) -> Client<W> {
        Client {
            id,
            seed: self.seed,
            attempts_max: self.attempts_max,
            workload: Arc::clone(&self.workload),
            target: Arc::clone(&self.target),
            session_plan: Arc::clone(&self.session_plan),
            io: io.clone(),
            window: Arc::clone(window),
            recorder: Rc::clone(recorder),
        }
    }

    fn recorder(&self) -> Rc<RefCell<Recorder>> {
        Rc::new(RefCell::new(Recorder::new(&self.session_plan.kinds, self.samples.clone())))
    }

    fn report(&self, report: Report) {
        // The coordinator listens until every worker is done; after a failed ramp nobody does, and nothing is lost.
        let _ = self.reports.send(report);
    }
}

/// Drives all clients of the assignment on one event loop. Runs on a thread of its own.
pub(crate) fn run_event_loop<W: Workload>(assignment: &Assignment<W>) {
    let report = match drive(assignment) {
        Ok(report) => report,
        Err(error) => WorkerReport { trouble: Some(format!("event loop: {error}")), ..Default::default() },
    };
    assignment.report(Report::Done(Box::new(report)));
}

fn drive<W: Workload>(assignment: &Assignment<W>) -> io::Result<WorkerReport> {
    let reactor = Reactor::new()?;
    let io = Io::Reactor(reactor.clone());
    let recorder = assignment.recorder();
    let mut executor = Executor::new(reactor.clone());
    let (ready, failed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let start: Rc<RefCell<Option<Arc<Window>>>> = Rc::default();
    for id in &assignment.clients {
        let (ready, failed, start) = (Rc::clone(&ready), Rc::clone(&failed), Rc::clone(&start));
        let client = assignment.client(*id, &io, &recorder, &Arc::new(Window::closed()));
        let connecting = Arc::clone(&assignment.connecting);
        let reports = assignment.reports.clone();
        executor.spawn(async move {
            let place = ConnectingPlace::take(&connecting, &client.io).await;
            let session = client.connect().await;
            drop(place);
            match session {
                Ok(session) => {
                    ready.set(ready.get() + 1);
                    let _ = reports.send(Report::Connected);
                    let window = poll_fn(|_| match &*start.borrow() {
                        Some(window) => Poll::Ready(Arc::clone(window)),
                        None => Poll::Pending,
                    })
                    .await;
                    run_client(client, session, window).await;
                }
                Err(failure) => {
                    failed.set(failed.get() + 1);
                    let _ = reports.send(Report::ConnectFailed(failure));
                }
            }
        });
    }
    while ready.get() + failed.get() < assignment.clients.len() {
        executor.turn(TURN_MAX)?;
    }
    let Ok(window) = assignment.go.recv() else { return Ok(WorkerReport::default()) };
    wait_for(window.epoch());
    *start.borrow_mut() = Some(Arc::clone(&window));
    executor.wake_all();
    let _ramp = reactor.take_counters();
    let mut meter = WorkerMeter::start(&window);
    let mut pulse = Instant::now();
    while executor.alive() > 0 {
        let now = window.now();
        if window.is_cut(now) {
            executor.abandon();
            break;
        }
        if assignment.index < PULSE_WORKERS && pulse <= Instant::now() {
            pulse = Instant::now() + PULSE;
            reactor.pulse_at(pulse);
        }
        let left = Duration::from_nanos(window.grace_ends().saturating_sub(now));
        executor.turn(TURN_MAX.min(left))?;
        meter.turn(&window);
        if meter.opened_now() {
            let _warmup = reactor.take_counters();
            meter.note_baseline(recorder.borrow().statements_sent());
        }
    }
    let counters = reactor.take_counters();
    drop(executor);
    let recorder = Rc::into_inner(recorder).expect("all clients are gone").into_inner();
    let statements = recorder.statements_sent();
    let (ledger, totals) = recorder.close(window.closes());
    let record = meter.finish(&window, assignment.clients.len() as u32, statements, counters.wakeups);
    Ok(WorkerReport { ledger, totals, record, lags: counters.timer_lags, trouble: None })
}

async fn run_client<W: Workload>(mut client: Client<W>, mut session: Session, window: Arc<Window>) {
    session.set_window(&window);
    client.window = window;
    client.run(session).await;
}

/// Drives one client whose driver blocks (SQLite, in process).
pub(crate) fn run_blocking<W: Workload>(assignment: &Assignment<W>) {
    let recorder = assignment.recorder();
    let closed = Arc::new(Window::closed());
    let client = assignment.client(assignment.clients[0], &Io::Blocking, &recorder, &closed);
    let session = block_on(client.connect());
    let mut report = WorkerReport::default();
    match session {
        Err(failure) => assignment.report(Report::ConnectFailed(failure)),
        Ok(session) => {
            if let Some(interrupt) = session.interrupter() {
                assignment.report(Report::Interrupter(interrupt));
            }
            assignment.report(Report::Connected);
            if let Ok(window) = assignment.go.recv() {
                wait_for(window.epoch());
                // CPU time and statements of warm-up are in the record of a blocking worker, and so is its time.
                let meter = WorkerMeter::start(&window);
                let before = recorder.borrow().statements_sent();
                block_on(run_client(client, session, Arc::clone(&window)));
                let recorder = Rc::into_inner(recorder).expect("the client is gone").into_inner();
                let statements = recorder.statements_sent() - before;
                let (ledger, totals) = recorder.close(window.closes());
                let record = meter.finish(&window, 1, statements, 0);
                report = WorkerReport { ledger, totals, record, lags: Vec::new(), trouble: None };
            }
        }
    }
    assignment.report(Report::Done(Box::new(report)));
}

/// A worker that panicked is reported, so that the coordinator does not wait for it.
pub(crate) fn guarded<W: Workload>(assignment: &Assignment<W>, run: fn(&Assignment<W>)) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(assignment)));
    if outcome.is_err() {
        let failure = OperationFailure::new(FailureKind::Other, "a generator worker panicked");
        assignment.report(Report::ConnectFailed(failure));
        let trouble = Some("a generator worker panicked; this is a bug of dyno".to_owned());
        assignment.report(Report::Done(Box::new(WorkerReport { trouble, ..Default::default() })));
    }
}

fn wait_for(epoch: Instant) {
    std::thread::sleep(epoch.saturating_duration_since(Instant::now()));
}

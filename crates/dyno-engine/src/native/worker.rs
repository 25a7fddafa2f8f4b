//! Worker threads: each drives many clients on one event loop, or one client that may block.

use crate::arrivals::Arrivals;
use crate::client::Client;
use crate::client_id::ClientId;
use crate::commit_ledger::LedgerWriter;
use crate::generator::WorkerMeter;
use crate::measure::load::TrialError;
use crate::measure::worker_pool::{WorkerChannels, WorkerMessage, WorkerPool, WorkerReport};
use crate::native_clients::NativeClients;
use crate::recording::client_statistics::StatisticsByClient;
use crate::recording::recorder::{BATCH, SMALL_BATCH, UNNAMED};
use crate::session::Session;
use crate::window::MeasurementWindow;
use crate::worker_count::default_workers;
use crate::workload::Workload;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Executor, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::fault::ExpectedFaults;
use dyno_model::sync::lock;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::TryRecvError;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Longest wait of an event loop: how soon it notices a stop while no socket is ready.
const TURN_MAX: Duration = Duration::from_millis(250);
/// Limit on connections being opened at the same time, over all workers: a listen queue holds about
/// a hundred.
const CONNECTING_MAX: usize = 32;
/// Pause of a client that waits until it may connect.
const CONNECTING_PAUSE: Duration = Duration::from_millis(1);
/// Longest time for which a client retries a server that has no free connection.
const FREE_CONNECTION_WAIT_MAX: Duration = Duration::from_secs(5);
const FREE_CONNECTION_PAUSE: Duration = Duration::from_millis(20);
/// Workers up to this number wake up regularly to measure how late they wake up.
const LAG_PROBE_WORKERS: u32 = 8;
/// Time between two such wake-ups.
const LAG_PROBE_INTERVAL: Duration = Duration::from_millis(100);

/// Starts the workers of a native workload.
pub(crate) fn spawn_native<W: Workload>(
    worker_pool: &mut WorkerPool<'_>,
    native: &Arc<NativeClients<W>>,
) -> Result<(), TrialError> {
    let input = worker_pool.input;
    native.workloads.iter().for_each(|workload| workload.set_subset(input.clients));
    let engine = native.targets[0].0.engine;
    let clients = input.clients.count();
    let workers = match input.load.workers {
        Some(workers) if !engine.is_embedded() => workers.min(clients),
        _ => default_workers(engine, clients, input.shares_machine),
    };
    let (batch, run) = match engine.is_embedded() {
        true => (SMALL_BATCH, run_blocking::<W> as fn(&WorkerAssignment<W>) -> WorkerReport),
        false => (BATCH, run_event_loop::<W> as fn(&WorkerAssignment<W>) -> WorkerReport),
    };
    let connecting = Arc::new(AtomicUsize::new(0));
    let ids = input.clients.ids;
    for index in 0..workers {
        let clients: Vec<ClientId> =
            ids.iter().skip(index as usize).step_by(workers as usize).map(ClientId).collect();
        let (native, connecting) = (Arc::clone(native), Arc::clone(&connecting));
        let (seed, attempts_max) = (input.seed, input.load.attempts_max);
        let (client_statistics, arrivals, expected) =
            (Arc::clone(&input.client_statistics), worker_pool.arrivals(), input.expected);
        worker_pool.spawn(clients.clone(), batch, None, move |channels| {
            let assignment = WorkerAssignment {
                clients,
                seed,
                attempts_max,
                expected,
                native,
                connecting,
                client_statistics,
                arrivals,
                channels,
            };
            run(&assignment)
        })?;
    }
    Ok(())
}

/// The assignment of a worker.
struct WorkerAssignment<W: Workload> {
    clients: Vec<ClientId>,
    seed: u64,
    attempts_max: u32,
    expected: ExpectedFaults,
    native: Arc<NativeClients<W>>,
    connecting: Arc<AtomicUsize>,
    client_statistics: Arc<StatisticsByClient>,
    arrivals: Option<Arc<Arrivals>>,
    channels: WorkerChannels,
}

/// A slot for a connection that is being opened; dropping it frees the slot.
struct ConnectionSlot(Arc<AtomicUsize>);

impl ConnectionSlot {
    async fn acquire(connecting: &Arc<AtomicUsize>, io: &Io) -> Self {
        while connecting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < CONNECTING_MAX).then_some(n + 1)
            })
            .is_err()
        {
            io.sleep(CONNECTING_PAUSE).await;
        }
        Self(Arc::clone(connecting))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<W: Workload> WorkerAssignment<W> {
    fn client(&self, id: ClientId, io: &Io, window: &Arc<MeasurementWindow>) -> Client<W> {
        Client {
            id,
            seed: self.seed,
            attempts_max: self.attempts_max,
            retry: Arc::clone(&self.native.retry),
            workload: Arc::clone(self.native.workload(id)),
            native: Arc::clone(&self.native),
            server_switches: Cell::new(0),
            ledger_writer: RefCell::new(
                self.native.ledger(id).map(|ledger| LedgerWriter::new(id, ledger)),
            ),
            expected: self.expected,
            io: io.clone(),
            window: Arc::clone(window),
            recorder: self.channels.recorder.clone(),
            client_statistics: Arc::clone(&self.client_statistics),
            messages: self.channels.messages.clone(),
            arrivals: self.arrivals.clone(),
            in_progress: Cell::new(None),
            name: Cell::new(UNNAMED),
        }
    }

    fn statements_sent(&self) -> u64 {
        lock(&self.channels.recorder.inner()).statements_sent()
    }
}

/// Connects for the first time. The sessions of the previous trial may still be ending on a server
/// that is busy with its disks, so a server without a free connection is retried for a while.
async fn connect_with_retry<T>(
    io: &Io,
    limit: Duration,
    mut connect: impl AsyncFnMut() -> Result<T, OperationFailure>,
) -> Result<T, OperationFailure> {
    let until = Instant::now() + limit;
    loop {
        match connect().await {
            Err(failure)
                if failure.kind == FailureKind::OutOfConnections && Instant::now() < until =>
            {
                io.sleep(FREE_CONNECTION_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// Drives all clients of the assignment on one event loop, on its own thread.
fn run_event_loop<W: Workload>(assignment: &WorkerAssignment<W>) -> WorkerReport {
    run_clients(assignment).unwrap_or_else(|error| WorkerReport {
        problem: Some(format!("event loop: {error}").into()),
        ..Default::default()
    })
}

fn run_clients<W: Workload>(assignment: &WorkerAssignment<W>) -> io::Result<WorkerReport> {
    let reactor = Reactor::new()?;
    let io = Io::Reactor(reactor.clone());
    let mut executor = Executor::new(reactor.clone());
    let (ready_clients, failed_clients) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let start: Rc<RefCell<Option<Arc<MeasurementWindow>>>> = Rc::default();
    let closed = Arc::new(MeasurementWindow::closed());
    for id in &assignment.clients {
        let (ready_clients, failed_clients, start) =
            (Rc::clone(&ready_clients), Rc::clone(&failed_clients), Rc::clone(&start));
        let client = assignment.client(*id, &io, &closed);
        let connecting = Arc::clone(&assignment.connecting);
        let messages = assignment.channels.messages.clone();
        executor.spawn(async move {
            let slot = ConnectionSlot::acquire(&connecting, &client.io).await;
            let limit = FREE_CONNECTION_WAIT_MAX.min(client.connect_timeout());
            let session =
                connect_with_retry(&client.io, limit, async || client.connect().await).await;
            drop(slot);
            match session {
                Ok(session) => {
                    ready_clients.set(ready_clients.get() + 1);
                    let _ = messages.send(WorkerMessage::Ready);
                    let window = poll_fn(|_| match &*start.borrow() {
                        Some(window) => Poll::Ready(Arc::clone(window)),
                        None => Poll::Pending,
                    })
                    .await;
                    run_client(client, session, window).await;
                }
                Err(failure) => {
                    failed_clients.set(failed_clients.get() + 1);
                    let _ = messages.send(WorkerMessage::ConnectFailed(failure));
                }
            }
        });
    }
    while ready_clients.get() + failed_clients.get() < assignment.clients.len() {
        executor.turn(TURN_MAX)?;
        let is_waiting = ready_clients.get() + failed_clients.get() < assignment.clients.len();
        if is_waiting
            && matches!(
                assignment.channels.start_receiver.try_recv(),
                Err(TryRecvError::Disconnected)
            )
        {
            // The start was cancelled: connections that are being opened are not needed.
            return Ok(WorkerReport::default());
        }
    }
    let Ok(window) = assignment.channels.start_receiver.recv() else {
        return Ok(WorkerReport::default());
    };
    window.await_epoch();
    *start.borrow_mut() = Some(Arc::clone(&window));
    run_until_end(assignment, &window, &reactor, &mut executor)
}

/// Drives clients that have begun until all have ended or are cut off.
fn run_until_end<W: Workload>(
    assignment: &WorkerAssignment<W>,
    window: &MeasurementWindow,
    reactor: &Reactor,
    executor: &mut Executor,
) -> io::Result<WorkerReport> {
    executor.wake_all();
    let _before_start = reactor.take_counters();
    let mut meter = WorkerMeter::start(window);
    let mut next_probe = Instant::now();
    let mut has_stopped = false;
    while executor.alive() > 0 {
        let (instant, now) = (Instant::now(), window.now());
        if window.is_cut(now) {
            executor.abandon();
            break;
        }
        if window.is_stopped() && !has_stopped {
            // Clients that wait for an arrival need not wait any longer.
            has_stopped = true;
            executor.wake_all();
        }
        if assignment.channels.index < LAG_PROBE_WORKERS && next_probe <= instant {
            next_probe = instant + LAG_PROBE_INTERVAL;
            reactor.pulse_at(next_probe);
        }
        let left = Duration::from_nanos(window.grace_ends().saturating_sub(now));
        executor.turn(TURN_MAX.min(left))?;
        meter.record_opening(window);
        if meter.has_just_opened {
            let _warmup = reactor.take_counters();
            meter.set_statements_at_open(assignment.statements_sent());
        }
    }
    let counters = reactor.take_counters();
    let statements = assignment.statements_sent();
    let record = meter.finish(window, assignment.clients.len() as u32, statements, Some(&counters));
    Ok(WorkerReport { record, wakeup_lags: counters.timer_lags, problem: None })
}

async fn run_client<W: Workload>(
    mut client: Client<W>,
    mut session: Session,
    window: Arc<MeasurementWindow>,
) {
    session.set_window(&window);
    client.window = window;
    client.run(session).await;
}

/// Drives one client whose driver blocks (SQLite, in process).
fn run_blocking<W: Workload>(assignment: &WorkerAssignment<W>) -> WorkerReport {
    let client = assignment.client(
        assignment.clients[0],
        &Io::Blocking,
        &Arc::new(MeasurementWindow::closed()),
    );
    let session = match block_on(client.connect()) {
        Ok(session) => session,
        Err(failure) => {
            assignment.channels.report(WorkerMessage::ConnectFailed(failure));
            return WorkerReport::default();
        }
    };
    let _interruptible =
        session.interrupter().map(|interrupt| assignment.channels.interrupters.add(interrupt));
    assignment.channels.report(WorkerMessage::Ready);
    let Ok(window) = assignment.channels.start_receiver.recv() else {
        return WorkerReport::default();
    };
    window.await_epoch();
    // The record of a blocking worker includes CPU time and statements of the warm-up, and also its
    // duration.
    let meter = WorkerMeter::start(&window);
    let before = assignment.statements_sent();
    block_on(run_client(client, session, Arc::clone(&window)));
    let statements = assignment.statements_sent() - before;
    WorkerReport { record: meter.finish(&window, 1, statements, None), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_connections_is_retried_and_other_failures_are_not() {
        let attempts = |kind: FailureKind, limit: Duration| {
            let mut attempts = 0;
            let outcome = block_on(connect_with_retry(&Io::Blocking, limit, async || {
                attempts += 1;
                if attempts < 4 { Err(kind.failure("no")) } else { Ok(()) }
            }));
            (outcome.is_ok(), attempts)
        };
        assert_eq!(attempts(FailureKind::OutOfConnections, Duration::from_secs(3600)), (true, 4));
        assert_eq!(attempts(FailureKind::OutOfConnections, Duration::ZERO), (false, 1));
        assert_eq!(attempts(FailureKind::Authentication, Duration::from_secs(3600)), (false, 1));
    }
}

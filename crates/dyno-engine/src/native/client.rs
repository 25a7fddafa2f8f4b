//! The loop of one client: transaction after transaction, each with its retries.

use crate::arrivals::{Arrivals, NextStart, TransactionStart, think_time};
use crate::client_id::ClientId;
use crate::commit_ledger::LedgerWriter;
use crate::fatal::{Fatal, FatalCause};
use crate::measure::worker_pool::WorkerMessage;
use crate::native_clients::NativeClients;
use crate::random::{Random, Stream};
use crate::recording::SharedRecorder;
use crate::recording::client_statistics::StatisticsByClient;
use crate::recording::recorder::UNNAMED;
use crate::session::Session;
use crate::window::{MeasurementWindow, Period};
use crate::workload::{AfterFailure, Workload};
use dyno_drivers::Io;
use dyno_model::failure::{FailureKind, OperationFailure, Remedy};
use dyno_model::fault::ExpectedFaults;
use dyno_model::reason::Reason;
use dyno_model::retry::RetryPolicy;
use dyno_model::units::Nanos;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Longest pause between two attempts of a transaction.
const BACKOFF_MAX: Duration = Duration::from_millis(100);
/// First pause between two attempts; doubles with each further one (full jitter).
const BACKOFF_FIRST: Duration = Duration::from_millis(1);
/// First pause between two attempts to connect; doubles up to [`RECONNECT_PAUSE_MAX`].
const RECONNECT_PAUSE_FIRST: Duration = Duration::from_millis(10);
const RECONNECT_PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long a client waits before it retries a server that accepted the connection and then
/// reported that it is not ready.
fn not_ready_pause(attempt: u32) -> Duration {
    RECONNECT_PAUSE_FIRST.saturating_mul(1 << (attempt - 1).min(10)).min(RECONNECT_PAUSE_MAX)
}

/// A client that cannot reconnect for this long gives up.
const RECONNECT_LIMIT: Nanos = Nanos::from_secs(5);

/// A client, with what it shares with the other clients of its worker.
pub(crate) struct Client<W: Workload> {
    pub(crate) id: ClientId,
    pub(crate) seed: u64,
    pub(crate) attempts_max: u32,
    pub(crate) retry: Arc<RetryPolicy>,
    pub(crate) workload: Arc<W>,
    pub(crate) native: Arc<NativeClients<W>>,
    /// How often it has switched to the next server.
    pub(crate) server_switches: Cell<usize>,
    /// Writes the outcome of its commits, if the workload keeps a commit ledger.
    pub(crate) ledger_writer: RefCell<Option<LedgerWriter>>,
    /// With faults scheduled, it retries connecting indefinitely.
    pub(crate) expected: ExpectedFaults,
    pub(crate) io: Io,
    pub(crate) window: Arc<MeasurementWindow>,
    pub(crate) recorder: SharedRecorder,
    pub(crate) client_statistics: Arc<StatisticsByClient>,
    pub(crate) messages: Sender<WorkerMessage>,
    /// Open loop.
    pub(crate) arrivals: Option<Arc<Arrivals>>,
    /// The transaction in progress.
    pub(crate) in_progress: Cell<Option<TransactionStart>>,
    /// Index of its name among the names of all transactions.
    pub(crate) name: Cell<u16>,
}

/// How a transaction that did not commit ended.
enum NotCommitted {
    /// Counted as failed or skipped; the client continues.
    Failed,
    /// The client was cut off; the transaction remains unfinished.
    Cut,
    /// Counted as failed; the client ends, the others continue.
    Ended,
    /// The client cannot continue after this failure.
    GaveUp(Box<FatalCause>),
}

fn gave_up(failure: OperationFailure, session: &Session) -> NotCommitted {
    NotCommitted::GaveUp(Box::new(session.cause_of(failure)))
}

impl<W: Workload> Client<W> {
    /// Connects; nothing is measured.
    pub(crate) async fn connect(&self) -> Result<Session, OperationFailure> {
        let window = Arc::clone(&self.window);
        let (target, plan) = self.native.target(self.id, self.server_switches.get());
        Session::open(target, plan, &self.io, self.recorder.clone(), window, self.seed).await
    }

    /// The next connection is to the next server.
    fn switch_server(&self) {
        self.server_switches.set(self.server_switches.get() + 1);
    }

    /// How to handle a failure. If the loss of a primary is scheduled, a read-only node may accept
    /// writes soon; if a full disk is scheduled, space may become available again.
    fn remedy(&self, failure: &OperationFailure) -> Remedy {
        match failure.kind {
            kind if !self.expected.explains(kind) => self.retry.remedy(failure),
            FailureKind::ReadOnly => Remedy::Reconnect,
            FailureKind::OutOfResources => Remedy::RetryTransaction,
            _ => self.retry.remedy(failure),
        }
    }

    /// Longest time for connecting.
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.native.target(self.id, 0).0.connect_timeout
    }

    /// Writes to the commit ledger, if there is one.
    fn write_ledger(&self, write: impl FnOnce(&mut LedgerWriter)) {
        if let Some(ledger_writer) = &mut *self.ledger_writer.borrow_mut() {
            write(ledger_writer);
        }
    }

    /// Runs transactions until the window admits no more.
    pub(crate) async fn run(self, mut session: Session) {
        let mut state = self.workload.client(self.native.id_in_database(self.id));
        let reconnect_every = self.workload.reconnect_every();
        let has_names = self.workload.transactions().len() > 1;
        let mut measured_count = 0;
        // In a closed loop, a transaction begins when the previous one has ended: one reading of
        // the clock serves both.
        let mut now = self.window.now();
        for sequence in 0.. {
            let name_in_workload = match has_names {
                true => {
                    self.workload.transaction_name(&mut state, sequence, &mut self.random(sequence))
                }
                false => UNNAMED,
            };
            let name = self.native.transaction_name(self.id, name_in_workload);
            self.name.set(name);
            let waits =
                (self.workload.think(name_in_workload), self.workload.keying(name_in_workload));
            let Some(next) = self.next_start(now, sequence, measured_count, waits).await else {
                break;
            };
            let TransactionStart { start, period, client_was_idle } = next;
            self.in_progress.set(Some(next));
            self.write_ledger(LedgerWriter::begin);
            measured_count += u64::from(period.is_measured());
            // Thinking and waiting for a stage are not work: a client that is still waiting when
            // the window closes begins nothing that could be counted.
            let run_start = if self.arrivals.is_some() { self.window.now() } else { start };
            session.start_transaction(run_start, period);
            session.set_intended_start(start);
            self.recorder.record(|recorder| {
                recorder.started(name, period);
                if client_was_idle {
                    recorder.record_start_delay(run_start, run_start.saturating_sub(start), period);
                }
            });
            let mut outcome = self.transaction(&mut session, &mut state, sequence, period).await;
            if outcome.is_ok() {
                self.write_ledger(LedgerWriter::acknowledged);
                self.in_progress.set(None);
                if reconnect_every > 0 && (sequence + 1) % reconnect_every == 0 {
                    outcome = self.replace_connection(&mut session, period).await;
                }
                // A transaction without statements ends when it is done.
                now = self.window.now();
                let end = if session.last_end() == run_start { now } else { session.last_end() };
                let share = self.window.measured_share(run_start, end);
                let ((), has_left) = self.recorder.record_and_flush(|recorder| {
                    recorder.committed(name, start, end, share, period);
                });
                if period.is_measured() {
                    self.client_statistics.record(self.id.0, end.saturating_sub(start));
                }
                if has_left {
                    // Waiting for the coordinator must not count towards the next transaction.
                    now = self.window.now();
                }
                if outcome.is_ok() {
                    continue;
                }
            } else {
                self.window.return_to_budget();
            }
            match outcome {
                Ok(()) | Err(NotCommitted::Failed | NotCommitted::Ended) => {}
                Err(NotCommitted::Cut) => return,
                Err(NotCommitted::GaveUp(cause)) => {
                    self.give_up(*cause);
                    return;
                }
            }
            now = self.window.now();
            if matches!(outcome, Err(NotCommitted::Ended)) {
                break;
            }
        }
        match self.workload.finish(&mut state, &mut session).await {
            // Its statement may have taken effect; the audit reports a range. All transactions are
            // over, so nothing ends before its time.
            Err(_) if session.is_in_doubt() && self.retry.is_default() => {}
            Err(failure) if !self.window.is_cut(self.window.now()) => {
                self.give_up(session.cause_of(failure));
            }
            _ => session.close().await,
        }
    }

    /// Replaces a healthy connection by a new one because the workload requests it.
    async fn replace_connection(
        &self,
        session: &mut Session,
        period: Period,
    ) -> Result<(), NotCommitted> {
        session.close_idle().await;
        let reason = FailureKind::ConnectionLost.failure("closed to connect anew");
        self.reconnect(session, period, reason).await
    }

    /// Returns when the next transaction's time begins and whether it counts: in a closed loop now;
    /// in an open loop the time it is due, for which the client waits. `None` when there is none.
    async fn next_start(
        &self,
        now: u64,
        sequence: u64,
        measured_count: u64,
        (own_think_time, keying): (Option<Nanos>, Nanos),
    ) -> Option<TransactionStart> {
        let (arrivals, window) = (self.arrivals.as_deref(), &self.window);
        let wait =
            think_time(own_think_time.or(window.think()), self.seed, self.id, sequence) + keying.0;
        let next = NextStart::new(arrivals, window, self.id, (now, wait), measured_count);
        if let Some(until) = next.wait_until(window) {
            let until = window.epoch() + Duration::from_nanos(until);
            self.io.sleep_until(until, || window.is_stopped()).await;
        }
        next.begin(arrivals, window, measured_count)
    }

    /// Ends the run for all clients.
    fn give_up(&self, cause: FatalCause) {
        self.window.stop(match &cause {
            FatalCause::Failure { failure, .. } => Reason::Failure(failure.clone()),
            FatalCause::Script(message) => message.clone().into(),
        });
        let _ = self.messages.send(WorkerMessage::Fatal(Fatal { client: self.id, cause }));
    }

    /// One transaction with all its attempts. The same sequence number draws the same keys in every
    /// attempt.
    async fn transaction(
        &self,
        session: &mut Session,
        state: &mut W::Client,
        sequence: u64,
        period: Period,
    ) -> Result<(), NotCommitted> {
        // Applies to any attempt: a list of errors to retry does not exempt statements that may
        // have taken effect.
        let mut is_in_doubt = false;
        for attempt in 1.. {
            session.start_attempt(self.id, sequence);
            let mut random = self.random(sequence);
            let result = match self.needs_wrapping() {
                true => self.wrapped_transaction(state, sequence, session, &mut random).await,
                false => self.workload.transaction(state, sequence, session, &mut random).await,
            };
            let Err(failure) = result else { return Ok(()) };
            if self.window.is_cut(self.window.now()) {
                return Err(NotCommitted::Cut);
            }
            let after_failure = self.workload.after_failure(state, &failure);
            if let Some(outcome) =
                self.outcome_after_failure(after_failure, &failure, session, period)
            {
                return Err(outcome);
            }
            is_in_doubt |= session.is_in_doubt();
            let is_last = attempt >= self.attempts_max || is_in_doubt && self.retry.is_default();
            match self.remedy(&failure) {
                Remedy::RetryTransaction => {
                    if is_last {
                        self.fail(&failure, is_in_doubt, period);
                    }
                    self.restore(session, &failure, period).await?;
                    if is_last {
                        return Err(NotCommitted::Failed);
                    }
                    self.wait_before_retry(attempt, sequence).await;
                }
                Remedy::Reconnect => {
                    if is_last {
                        self.fail(&failure, is_in_doubt, period);
                        self.reconnect(session, period, failure).await?;
                        return Err(NotCommitted::Failed);
                    }
                    if failure.kind == FailureKind::ReadOnly {
                        // The target may be a replica that has lost its primary: another server may
                        // accept writes.
                        self.switch_server();
                    }
                    if matches!(failure.kind, FailureKind::NotReady | FailureKind::ReadOnly) {
                        self.io.sleep(not_ready_pause(attempt)).await;
                    }
                    if let Err(loss) = self.reconnect(session, period, failure.clone()).await {
                        self.fail(&failure, is_in_doubt, period);
                        return Err(loss);
                    }
                }
                Remedy::CountOnly => {
                    self.fail(&failure, is_in_doubt, period);
                    self.restore(session, &failure, period).await?;
                    return Err(NotCommitted::Failed);
                }
                Remedy::Abort => {
                    self.fail(&failure, is_in_doubt, period);
                    // The failed statement is read before another one fails.
                    let loss = gave_up(failure, session);
                    let _ = session.roll_back().await;
                    return Err(loss);
                }
            }
            if self.window.is_cut(self.window.now()) {
                return Err(NotCommitted::Cut);
            }
            let now = self.window.now();
            let name = self.name.get();
            self.recorder.record(|recorder| recorder.retried(name, failure.kind, now, period));
        }
        unreachable!("the loop of attempts ends by returning")
    }

    /// The random numbers of a transaction; the same in each attempt.
    fn random(&self, sequence: u64) -> Random {
        Random::new(self.seed, Stream::Transaction, u64::from(self.id.0), sequence)
    }

    /// True if each commit leaves a row in the ledger and the workload begins no transaction that
    /// could contain it.
    fn needs_wrapping(&self) -> bool {
        self.ledger_writer.borrow().is_some() && self.workload.begin().is_none()
    }

    /// One attempt of a workload without transactions, wrapped in a transaction because its commits
    /// leave rows in the ledger.
    async fn wrapped_transaction(
        &self,
        state: &mut W::Client,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        session.begin().await?;
        self.workload.transaction(state, sequence, session, random).await?;
        session.commit().await
    }

    /// The outcome of the transaction if the workload decides it itself. Records the failure.
    fn outcome_after_failure(
        &self,
        after_failure: AfterFailure,
        failure: &OperationFailure,
        session: &Session,
        period: Period,
    ) -> Option<NotCommitted> {
        if after_failure != AfterFailure::Skip {
            session.note_failure(failure);
        }
        match after_failure {
            AfterFailure::RetryPolicy => return None,
            AfterFailure::Skip => {
                let (start, now) = self.take_times();
                self.write_ledger(LedgerWriter::failed);
                self.recorder.record(|recorder| recorder.skipped(start, now, period));
            }
            AfterFailure::Continue | AfterFailure::EndClient | AfterFailure::EndRun => {
                // The workload has decided the outcome.
                let is_in_doubt = false;
                self.fail(failure, is_in_doubt, period);
            }
        }
        Some(match after_failure {
            AfterFailure::EndClient => NotCommitted::Ended,
            AfterFailure::EndRun => gave_up(failure.clone(), session),
            AfterFailure::RetryPolicy | AfterFailure::Skip | AfterFailure::Continue => {
                NotCommitted::Failed
            }
        })
    }

    fn fail(&self, failure: &OperationFailure, is_in_doubt: bool, period: Period) {
        if !is_in_doubt {
            self.write_ledger(LedgerWriter::failed);
        }
        let (start, now) = self.take_times();
        let (name, kind) = (self.name.get(), failure.kind);
        self.recorder
            .record(|recorder| recorder.failed(name, kind, start, now, is_in_doubt, period));
    }

    /// The start of the transaction in progress, and the current time; afterwards none is in
    /// progress.
    fn take_times(&self) -> (u64, u64) {
        let now = self.window.now();
        (self.in_progress.take().map_or(now, |transaction| transaction.start), now)
    }

    /// Prepares the session for another transaction: ROLLBACK, or a new connection if an answer is
    /// still outstanding on the old one.
    async fn restore(
        &self,
        session: &mut Session,
        failure: &OperationFailure,
        period: Period,
    ) -> Result<(), NotCommitted> {
        if failure.leaves_doubt() && !failure.is_answered() {
            return self.reconnect(session, period, failure.clone()).await;
        }
        match session.roll_back().await {
            Err(failure) => self.reconnect(session, period, failure).await,
            Ok(()) => Ok(()),
        }
    }

    /// Waits with full jitter and a doubling limit; the first retry follows immediately, because
    /// the conflict that caused it is over.
    async fn wait_before_retry(&self, attempt: u32, sequence: u64) {
        if attempt == 1 {
            return;
        }
        let limit = BACKOFF_FIRST.saturating_mul(1 << (attempt - 2).min(10)).min(BACKOFF_MAX);
        let stream = u64::from(self.id.0) << 32 | u64::from(attempt);
        let share = Random::new(self.seed, Stream::Backoff, stream, sequence).unit();
        self.io.sleep(limit.mul_f64(share)).await;
    }

    async fn reconnect(
        &self,
        session: &mut Session,
        period: Period,
        cause: OperationFailure,
    ) -> Result<(), NotCommitted> {
        let since = self.window.now();
        // A user who lists a lost connection among the errors to retry wants it reopened, however
        // long that takes.
        let is_limited = self.retry.is_default() && !self.expected.has_faults();
        let limit = if is_limited { RECONNECT_LIMIT.0 } else { u64::MAX };
        let mut delay = RECONNECT_PAUSE_FIRST;
        let mut failure = cause;
        if failure.kind == FailureKind::Timeout && !failure.is_answered() {
            // A server that does not answer may not accept a connection either: with several
            // servers, the client tries the next one first.
            self.switch_server();
        }
        loop {
            let now = self.window.now();
            if self.window.is_cut(now) {
                return Err(NotCommitted::Cut);
            }
            // Applies to any list of retries: a wrong password never succeeds. A replica that does
            // not accept writes yet has accepted the connection.
            let is_hopeless =
                failure.kind.remedy() == Remedy::Abort && failure.kind != FailureKind::ReadOnly;
            if now - since > limit || is_hopeless {
                return Err(gave_up(failure, session));
            }
            match self.connect().await {
                Ok(mut new_session) => {
                    let now = self.window.now();
                    new_session.start_transaction(now, period);
                    *session = new_session;
                    self.recorder.record(|recorder| recorder.reconnected(now, period));
                    return Ok(());
                }
                Err(error) => {
                    let now = self.window.now();
                    self.recorder
                        .record(|recorder| recorder.not_connected(error.kind, now, period));
                    session.note_not_connected(&error);
                    failure = error;
                }
            }
            // With several servers, another may be healthy. The client stays with the one that
            // accepts it.
            self.switch_server();
            self.io.sleep(delay).await;
            delay = (delay * 2).min(RECONNECT_PAUSE_MAX);
        }
    }
}

impl<W: Workload> Drop for Client<W> {
    /// A client that ends in the middle of a transaction was cut off.
    fn drop(&mut self) {
        if let Some(TransactionStart { start, period, .. }) = self.in_progress.take() {
            let (name, now) = (self.name.get(), self.window.now());
            self.recorder.record(|recorder| recorder.cut_off(name, start, now, period));
        }
    }
}

//! Queries the server on a separate connection and thread, so that a server that does not answer
//! does not stop the monitor from sampling the machine, when that matters most.

use super::pace::{Pace, thread_cpu};
use super::sessions;
use crate::control_connection::QueryResult;
use crate::engine::Values;
use crate::engine::{Observe, Observed, queries};
use dyno_model::engine::Syntax;
use dyno_model::monitor::{SessionGroup, names};
use dyno_model::target::Target;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

/// A request to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleRequest {
    /// Counters and sessions, each as often as its cost allows.
    Regular,
    /// Counters and sessions, at any cost: the window begins or ends.
    Boundary,
    /// Sessions only, with details of their waits: throughput has collapsed.
    Sessions,
}

/// The server's answer.
#[derive(Debug, Default)]
pub(super) struct ServerSample {
    pub(super) values: Values,
    pub(super) sessions: Vec<SessionGroup>,
    /// Processor time of the observer's thread so far.
    pub(super) cpu: Duration,
}

/// Handle of the querying thread.
#[derive(Debug)]
pub(super) struct Observer {
    requests: Sender<SampleRequest>,
    answers: Receiver<ServerSample>,
    /// The time of a request that has not been answered yet.
    pending: Option<Instant>,
    /// Processor time of the thread as last reported.
    pub(super) cpu: Duration,
}

impl Observer {
    /// Connects, on the new thread. A server that rejects the connection is not queried, and there
    /// are no values of it.
    pub(super) fn start(target: Target, databases: Vec<String>, is_local: bool) -> Option<Self> {
        let observe = queries(target.engine).observe?;
        let (requests, received) = channel();
        let (answer, answers) = channel();
        let run = move || {
            answer_all(
                || ServerQueries::open(&target, &databases, is_local, observe),
                &received,
                &answer,
            );
        };
        // Not joined: it ends with its channel, or when the server that it waits for is stopped.
        std::thread::Builder::new().name("dyno-monitor-asks".to_owned()).spawn(run).ok()?;
        Some(Self { requests, answers, pending: None, cpu: Duration::ZERO })
    }

    /// Sends a request, unless the last one is unanswered. False when the thread has ended.
    pub(super) fn ask(&mut self, request: SampleRequest) -> bool {
        if self.pending.is_some() {
            return true;
        }
        self.pending = Some(Instant::now());
        self.requests.send(request).is_ok()
    }

    /// The answer to the last request, waited for until `until`. The cost of a missing answer is
    /// the time waited so far.
    pub(super) fn answer(&mut self, until: Instant) -> Option<ServerSample> {
        let requested_at = self.pending?;
        match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(mut answer) => {
                self.pending = None;
                self.cpu = answer.cpu;
                if requested_at.elapsed() > Duration::from_secs(1) {
                    // Its values belong to no known time.
                    answer = ServerSample::default();
                }
                answer.values.put(names::SERVER_ANSWER, requested_at.elapsed().as_secs_f64());
                Some(answer)
            }
            Err(RecvTimeoutError::Timeout) => {
                let mut answer = ServerSample::default();
                answer.values.put(names::SERVER_ANSWER, requested_at.elapsed().as_secs_f64());
                Some(answer)
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

fn answer_all(
    open: impl FnOnce() -> QueryResult<ServerQueries>,
    requests: &Receiver<SampleRequest>,
    answers: &Sender<ServerSample>,
) {
    let Ok(mut connection) = open() else { return };
    while let Ok(request) = requests.recv() {
        // Only the latest request matters to a server that was slow.
        let request = match requests.try_recv() {
            Ok(newer) => newer,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => request,
        };
        let Ok(mut answer) = connection.answer(request) else { return };
        answer.cpu = thread_cpu();
        if answers.send(answer).is_err() {
            return;
        }
    }
}

/// A connection with its cost at the server.
struct ServerQueries {
    syntax: Syntax,
    observed: Box<dyn Observed>,
    /// The server's thread or process that serves this connection.
    worker: Option<u32>,
    counters_pace: Pace,
    sessions_pace: Pace,
}

impl ServerQueries {
    fn open(
        target: &Target,
        databases: &[String],
        is_local: bool,
        observe: Observe,
    ) -> QueryResult<Self> {
        let target = Target { session_setup: Vec::new(), ..target.clone() };
        let own = std::slice::from_ref(&target.database);
        let databases = if databases.is_empty() { own } else { databases };
        let (observed, worker) = observe(&target, databases)?;
        let worker = worker.filter(|_| is_local);
        Ok(Self {
            syntax: target.engine.dialect().syntax,
            observed,
            worker,
            counters_pace: Pace::default(),
            sessions_pace: Pace::default(),
        })
    }

    fn answer(&mut self, request: SampleRequest) -> QueryResult<ServerSample> {
        let mut answer = ServerSample::default();
        let is_wanted = |pace: &Pace| match request {
            SampleRequest::Regular => pace.is_due(Instant::now()),
            SampleRequest::Boundary => true,
            SampleRequest::Sessions => false,
        };
        let began = (Instant::now(), self.worker_cpu());
        if is_wanted(&self.counters_pace) {
            self.observed.counters(&mut answer.values)?;
            self.counters_pace.note(Instant::now(), self.cost_since(began));
        }
        let began = (Instant::now(), self.worker_cpu());
        if request == SampleRequest::Sessions || is_wanted(&self.sessions_pace) {
            let is_detailed = request == SampleRequest::Sessions;
            if let Some(seen) = self.observed.sessions(is_detailed)? {
                answer.sessions = sessions::grouped(seen, self.syntax);
                if !is_detailed {
                    sessions::count_by_state(&answer.sessions, &mut answer.values);
                }
            }
            self.sessions_pace.note(Instant::now(), self.cost_since(began));
        }
        if let Some(cpu) = self.worker_cpu() {
            answer.values.put(names::MONITOR_SERVER_CPU, cpu.as_secs_f64());
        }
        Ok(answer)
    }

    /// Processor time of the server's thread that serves this connection. In nanoseconds, because
    /// `/proc/<pid>/schedstat` exists in every kernel that dyno supports.
    fn worker_cpu(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.worker?)).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }

    /// Processor time at the server; where it cannot be read, the time that the answer took.
    fn cost_since(&self, (time, cpu): (Instant, Option<Duration>)) -> Duration {
        match (cpu, self.worker_cpu()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => time.elapsed(),
        }
    }
}

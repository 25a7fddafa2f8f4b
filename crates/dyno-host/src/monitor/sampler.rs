//! The sampling thread: samples once a second, at the bounds of the window, and sessions four times
//! a second while throughput is collapsed.

use super::host::Machine;
use super::observer::{Observer, SampleRequest};
use super::others::ProcessTable;
use super::pace::thread_cpu;
use super::processes::Processes;
use super::remote::Remote;
use super::server_process::traces;
use super::watched::Watched;
use crate::engine::Values;
use dyno_model::engine::Execution;
use dyno_model::monitor::{SessionGroup, names};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Time between two samples.
const SECOND: Duration = Duration::from_secs(1);
/// Time between two samples of sessions while throughput is collapsed.
const COLLAPSED: Duration = Duration::from_millis(250);
/// Timeout for the server's answer; then the sample is sent without it.
const TIMEOUT: Duration = Duration::from_millis(200);
/// The timeout at the bounds of the window, whose values the report needs most. After it the answer
/// no longer belongs to a known time.
const BOUNDARY_TIMEOUT: Duration = SECOND;
/// The timeout for the first answer, before which a connection is opened. Values missing from the
/// first sample get no column, so even a busy machine gets enough time.
const FIRST_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the thread to end: one sample of any kind, and time for a busy machine.
const ENDING: Duration = Duration::from_secs(15);
/// From this share of the active sessions on, the query for the waiters of row locks is worth its
/// cost.
const LOCKED_SHARE: f64 = 0.5;

/// A request to the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Sample at whole seconds from this moment on: seconds of the window are then seconds of the
    /// timeline.
    Align(Instant),
    /// Sample now: the window begins or ends.
    Sample,
    /// Throughput has collapsed, or recovered.
    Collapsed(bool),
    Stop,
}

#[derive(Debug)]
pub(super) struct Reading {
    pub(super) at: Instant,
    pub(super) values: Values,
    pub(super) sessions: Vec<SessionGroup>,
    /// At the bounds of the window: all processes of dyno's machine.
    pub(super) processes: Option<ProcessTable>,
    /// What the monitor missed since the last sample.
    pub(super) problem: Option<String>,
}

/// Handle of the running thread.
#[derive(Debug)]
pub(super) struct Sampler {
    pub(super) orders: Sender<Order>,
    pub(super) readings: Receiver<Reading>,
}

impl Sampler {
    /// Starts the thread; `None` when no thread can be started, in which case the trial continues
    /// without a monitor. When the server's machine is observed through a command, this waits for
    /// its first answer.
    pub(super) fn start(watched: Watched) -> Option<Self> {
        let (orders, order_receiver) = channel();
        let (reading, readings) = channel();
        let mut sampler = SamplerThread::new(watched, reading);
        let run = move || sampler.sample_until_stopped(&order_receiver);
        // Not joined: the channel of readings closes when the thread ends.
        std::thread::Builder::new().name("dyno-monitor".to_owned()).spawn(run).ok()?;
        Some(Self { orders, readings })
    }

    /// Stops the thread and returns its remaining samples; does not wait for a sample that hangs.
    pub(super) fn stop(self) -> Vec<Reading> {
        let _ = self.orders.send(Order::Stop);
        let until = Instant::now() + ENDING;
        let mut rest = Vec::new();
        while let Ok(reading) =
            self.readings.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            rest.push(reading);
        }
        rest
    }
}

struct SamplerThread {
    machine: Machine,
    /// The server's machine, if it is another one.
    remote: Option<Remote>,
    problem: Option<String>,
    server: Option<Processes>,
    generator: Processes,
    observer: Option<Observer>,
    readings: Sender<Reading>,
    is_first: bool,
    /// In the last sample many sessions waited for row locks.
    is_locked: bool,
}

impl SamplerThread {
    fn new(watched: Watched, readings: Sender<Reading>) -> Self {
        let has_children = watched.target.engine.traits().execution == Execution::Process;
        let (mut remote, mut problem) = (None, None);
        if let Some(command) = &watched.command {
            let (traces, session) = traces(&watched.target).unzip();
            match Remote::start(command, traces.unwrap_or_default(), has_children) {
                Ok(running) => remote = Some(running),
                Err(error) => problem = Some(cannot_observe(&error)),
            }
            drop(session);
        }
        Self {
            machine: Machine::new(),
            remote,
            problem,
            server: (!watched.pids.is_empty())
                .then(|| Processes::of_server(watched.pids, has_children)),
            generator: Processes::of_generator(),
            observer: Observer::start(watched.target, watched.databases, watched.is_local),
            readings,
            is_first: true,
            is_locked: false,
        }
    }

    fn sample_until_stopped(&mut self, orders: &Receiver<Order>) {
        let mut next = Instant::now();
        // The start of the window, once it is known.
        let mut opening = None;
        let mut collapsed: Option<Instant> = None;
        loop {
            let wake = collapsed.map_or(next, |sample| sample.min(next));
            match orders.recv_timeout(wake.saturating_duration_since(Instant::now())) {
                Ok(Order::Align(origin)) => {
                    opening = Some(origin);
                    next = next_second(origin, Instant::now());
                }
                Ok(Order::Sample) => self.sample(SampleRequest::Boundary),
                Ok(Order::Collapsed(true)) => {
                    collapsed = Some(collapsed.unwrap_or_else(Instant::now));
                }
                Ok(Order::Collapsed(false)) => collapsed = None,
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if next <= Instant::now() => {
                    let is_opening = opening == Some(next);
                    self.sample(if is_opening {
                        SampleRequest::Boundary
                    } else {
                        SampleRequest::Regular
                    });
                    // Missed seconds, for example while the machine was suspended, are not made up
                    // for.
                    next = next_second(next, Instant::now());
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.sample_sessions();
                    collapsed = Some(Instant::now() + COLLAPSED);
                }
            }
        }
    }

    fn sample(&mut self, request: SampleRequest) {
        let is_boundary = request == SampleRequest::Boundary;
        let at = Instant::now();
        self.ask(request);
        self.with_remote(|remote| remote.ask(is_boundary));
        let mut values = Values::default();
        self.machine.sample(&mut values);
        if self.remote.is_some() {
            values = values.behind(names::GENERATOR);
        }
        let ticks = self.machine.ticks_per_second();
        if let Some(server) = &mut self.server {
            server.sample(ticks, is_boundary, &mut values);
        }
        self.generator.sample(ticks, is_boundary, &mut values);
        let processes = if is_boundary { ProcessTable::now() } else { None };
        let timeout = match request {
            _ if self.is_first => FIRST_TIMEOUT,
            SampleRequest::Boundary => BOUNDARY_TIMEOUT,
            SampleRequest::Regular | SampleRequest::Sessions => TIMEOUT,
        };
        self.is_first = false;
        self.with_remote(|remote| remote.sample(at + timeout, &mut values));
        let mut sessions = Vec::new();
        let observer_cpu = match &mut self.observer {
            None => Duration::ZERO,
            Some(observer) => {
                if let Some(answer) = observer.answer(at + timeout) {
                    values.add(answer.values);
                    sessions = answer.sessions;
                }
                observer.cpu
            }
        };
        values.put(names::MONITOR_CPU, (thread_cpu() + observer_cpu).as_secs_f64());
        self.note_locks(&values);
        // After the trial nobody receives any more.
        let _ = self.readings.send(Reading {
            at,
            values,
            sessions,
            processes,
            problem: self.problem.take(),
        });
        if self.is_locked && request == SampleRequest::Regular {
            self.sample_sessions();
        }
    }

    fn sample_sessions(&mut self) {
        let at = Instant::now();
        self.ask(SampleRequest::Sessions);
        let answer = self.observer.as_mut().and_then(|observer| observer.answer(at + TIMEOUT));
        if let Some(answer) = answer.filter(|answer| !answer.sessions.is_empty()) {
            let (values, sessions) = (Values::default(), answer.sessions);
            let _ = self.readings.send(Reading {
                at,
                values,
                sessions,
                processes: None,
                problem: None,
            });
        }
    }

    /// A command that has ended is not restarted in this trial.
    fn with_remote(&mut self, act: impl FnOnce(&mut Remote) -> Result<(), String>) {
        if let Some(remote) = &mut self.remote
            && let Err(error) = act(remote)
        {
            self.problem = Some(cannot_observe(&error));
            self.remote = None;
        }
    }

    fn ask(&mut self, request: SampleRequest) {
        if self.observer.as_mut().is_some_and(|observer| !observer.ask(request)) {
            self.observer = None;
        }
    }

    fn note_locks(&mut self, values: &Values) {
        let waits = values.get("server.status.Innodb_row_lock_current_waits");
        let active = values.get(names::SESSIONS_ACTIVE);
        if let (Some(waits), Some(active)) = (waits, active) {
            self.is_locked = waits >= 2.0 && waits > LOCKED_SHARE * active;
        }
    }
}

fn cannot_observe(error: &str) -> String {
    format!("the server's machine cannot be observed: monitor.command {error}")
}

/// The next moment after `now` at a whole second from `origin`.
fn next_second(origin: Instant, now: Instant) -> Instant {
    if origin > now {
        let before = (origin - now).as_secs();
        return origin.checked_sub(Duration::from_secs(before)).unwrap_or(origin);
    }
    origin + SECOND * (u32::try_from((now - origin).as_secs()).unwrap_or(u32::MAX - 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::{Endpoint, Target};

    #[test]
    fn samples_are_at_whole_seconds_from_the_origin_even_before_it() {
        let origin = Instant::now() + Duration::from_secs(100);
        let at = |millis: u64| origin - Duration::from_secs(10) + Duration::from_millis(millis);
        for (now, next) in
            [(0, 0), (1, 1000), (999, 1000), (9_500, 10_000), (10_000, 11_000), (12_345, 13_000)]
        {
            assert_eq!(next_second(origin, at(now)), at(next), "after {now} ms");
        }
    }

    #[test]
    fn sampler_takes_boundary_samples_and_stops_on_request() {
        let target = Target::new(dyno_model::engine::Engine::Null, Endpoint::InProcess);
        let sampler = Sampler::start(Watched {
            target,
            pids: vec![std::process::id()],
            is_local: true,
            command: None,
            databases: Vec::new(),
        })
        .unwrap();
        let first = sampler.readings.recv().unwrap();
        assert!(first.values.get("server.process.cpu_user_seconds_total").is_some());
        assert!(first.values.get("monitor.cpu_seconds_total").unwrap() > 0.0);
        assert!(first.processes.is_none());
        sampler.orders.send(Order::Sample).unwrap();
        // On a busy machine the regular sample of the next second may arrive first; it does not
        // read all processes.
        let samples = sampler.readings.iter().take(10);
        assert!(samples.map(|sample| sample.processes).any(|processes| processes.is_some()));
        sampler.orders.send(Order::Stop).unwrap();
        // As long as the thread lives, there is another sample every second.
        assert!(sampler.readings.iter().take(10).count() < 10, "it goes on");
    }
}

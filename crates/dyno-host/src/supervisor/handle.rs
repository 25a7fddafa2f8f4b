//! What dyno orders its guard to do with a process, and what it has heard of it. Several hands may
//! hold the reins.

use super::{Exit, Launch, Order, Reply, SharedMemory, StopStep, SupervisorSignal};
use dyno_drivers::timeout::{self, CHECK_INTERVAL};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the guard may take to answer, besides the time that stopping a server takes.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// What went wrong between dyno and its guard.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// The guard process could not be started.
    #[error("cannot start the process that guards servers, {}: {error}", .program.display())]
    Start {
        /// Program.
        program: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The guard could not do what was asked.
    #[error("{0}")]
    Refused(String),
    /// The guard process ended or does not answer.
    #[error("the supervisor process (dyno supervise) has ended or does not answer")]
    Gone,
    /// The user asked for the end meanwhile.
    #[error("interrupted by the user")]
    Interrupted,
}

/// What the guard has said so far.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) replies: VecDeque<Reply>,
    pub(super) pid: Option<u32>,
    pub(super) exit: Option<Exit>,
    pub(super) is_gone: bool,
    /// What the guard was told to do at the end, in case it does not live to do so.
    pub(super) stop: Vec<StopStep>,
    pub(super) memory: SharedMemory,
}

#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `found` has something, the limit is over, or the user has asked for the end more
    /// often than so many times.
    pub(super) fn wait_for<T>(
        &self,
        limit: Duration,
        requests: usize,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(value) = found(&mut state) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || timeout::requests() > requests {
                return None;
            }
            let moment = left.min(CHECK_INTERVAL);
            state =
                self.changed.wait_timeout(state, moment).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait_exit(&self, limit: Duration, requests: usize) -> Result<Option<Exit>, SupervisorError> {
        let found = self.wait_for(limit, requests, |state| match state.exit {
            Some(exit) => Some(Ok(exit)),
            None if state.is_gone => Some(Err(SupervisorError::Gone)),
            None => None,
        });
        found.transpose()
    }
}

/// Orders for a guard, and its answers. Orders of one hand must not cross those of another.
#[derive(Clone)]
pub struct SupervisorHandle {
    orders: Arc<Mutex<Option<ChildStdin>>>,
    pub(super) shared: Arc<Shared>,
}

impl SupervisorHandle {
    /// Takes the two pipes of a guard, and listens.
    pub(super) fn hold(orders: Option<ChildStdin>, replies: ChildStdout) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let listener = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("supervisor".to_owned())
            .spawn(move || listen(BufReader::new(replies), &listener))?;
        Ok(Self { orders: Arc::new(Mutex::new(orders)), shared })
    }

    /// Closes the guard's input, for all hands; false when it was closed before.
    pub(super) fn let_go(&self) -> bool {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }

    pub(super) fn order(&self, order: &Order) -> Result<(), SupervisorError> {
        let mut line = serde_json::to_string(order).map_err(|error| {
            SupervisorError::Refused(format!("a path is not valid UTF-8 ({error})"))
        })?;
        line.push('\n');
        let mut held = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = held.as_mut().ok_or(SupervisorError::Gone)?;
        orders
            .write_all(line.as_bytes())
            .and_then(|()| orders.flush())
            .map_err(|_broken_pipe| SupervisorError::Gone)
    }

    pub(super) fn reply(&self) -> Result<Reply, SupervisorError> {
        let requests = timeout::requests();
        let reply =
            self.shared.wait_for(ANSWER_LIMIT, requests, |state| match state.replies.pop_front() {
                Some(reply) => Some(Ok(reply)),
                None if state.is_gone => Some(Err(SupervisorError::Gone)),
                None => None,
            });
        let late = if timeout::requests() > requests {
            SupervisorError::Interrupted
        } else {
            SupervisorError::Gone
        };
        match reply.unwrap_or(Err(late))? {
            Reply::Refused(reason) => Err(SupervisorError::Refused(reason)),
            reply => Ok(reply),
        }
    }

    /// Starts a process and returns its number.
    ///
    /// # Errors
    /// When it cannot be started, or another one runs.
    pub fn launch(&self, launch: Launch) -> Result<u32, SupervisorError> {
        {
            let mut state = self.shared.lock();
            state.exit = None;
            state.pid = None;
            state.stop.clone_from(&launch.stop);
        }
        self.order(&Order::Start(launch))?;
        match self.reply()? {
            Reply::Started { pid } => Ok(pid),
            _ => Err(SupervisorError::Gone),
        }
    }

    /// Sends the process and its group a signal.
    ///
    /// # Errors
    /// When it does not run, or the guard is gone.
    pub fn signal(&self, signal: SupervisorSignal) -> Result<(), SupervisorError> {
        self.order(&Order::Signal(signal))?;
        match self.reply()? {
            Reply::Signalled => Ok(()),
            _ => Err(SupervisorError::Gone),
        }
    }

    /// Has shared memory given back at the end, in case the server does not live to do so.
    ///
    /// # Errors
    /// When the guard is gone.
    pub fn remove_at_end(&self, memory: SharedMemory) -> Result<(), SupervisorError> {
        self.shared.lock().memory.clone_from(&memory);
        self.order(&Order::Remove(memory))
    }

    /// Number of the process that was started last.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.shared.lock().pid
    }

    /// How the process ended; `None` while it runs, or when none was started.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.shared.lock().exit
    }

    /// Waits for the process to end.
    ///
    /// # Errors
    /// When the guard is gone, or the user asks for the end.
    pub fn wait_exit(&self, limit: Duration) -> Result<Option<Exit>, SupervisorError> {
        match self.shared.wait_exit(limit, 0)? {
            None if timeout::is_end_requested() => Err(SupervisorError::Interrupted),
            exit => Ok(exit),
        }
    }

    /// Ends the process, politely first; returns how it ended. When the user asks for the end
    /// meanwhile, it is ended by force.
    ///
    /// # Errors
    /// When the guard is gone.
    pub fn stop(&self, steps: &[StopStep]) -> Result<Option<Exit>, SupervisorError> {
        if let Some(exit) = self.exit() {
            return Ok(Some(exit));
        }
        if self.shared.lock().pid.is_none() {
            return Ok(None);
        }
        self.order(&Order::Stop(steps.to_vec()))?;
        let timeout: Duration = steps.iter().map(|step| step.timeout).sum();
        let requests = timeout::requests();
        let exit = self.shared.wait_exit(timeout + ANSWER_LIMIT, requests)?;
        if exit.is_some() || timeout::requests() == requests {
            return Ok(exit);
        }
        self.order(&Order::Hurry)?;
        self.shared.wait_exit(ANSWER_LIMIT, usize::MAX)
    }
}

/// Writes down what the guard says until it is gone.
fn listen(replies: impl BufRead, shared: &Shared) {
    for line in replies.lines() {
        let Ok(line) = line else { break };
        // Anything else on the guard's output is no reply, such as what a test harness prints.
        let Ok(reply) = serde_json::from_str::<Reply>(&line) else { continue };
        let mut state = shared.lock();
        match reply {
            Reply::Ended(exit) => state.exit = Some(exit),
            Reply::Started { pid } => {
                state.pid = Some(pid);
                state.replies.push_back(reply);
            }
            reply => state.replies.push_back(reply),
        }
        shared.changed.notify_all();
    }
    shared.lock().is_gone = true;
    shared.changed.notify_all();
}

//! Requests to the supervisor about a process, and its replies. Several threads may hold a handle.

use super::{Exit, Launch, Order, Reply, SharedMemory, StopStep, SupervisorSignal};
use dyno_drivers::timeout::{self, CHECK_INTERVAL};
use dyno_model::sync::lock;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::debug;

/// Timeout for a reply of the supervisor, in addition to the time that stopping a server takes.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Errors between dyno and its supervisor.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// The supervisor process could not be started.
    #[error("cannot start the supervisor {}: {error}", .program.display())]
    Start {
        /// Program.
        program: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The supervisor could not do what was requested.
    #[error("{0}")]
    Refused(String),
    /// The supervisor process ended or does not answer.
    #[error("the supervisor process (dyno supervise) has ended or does not answer")]
    Gone,
    /// The user interrupted the wait.
    #[error("interrupted by the user")]
    Interrupted,
}

/// What the supervisor has reported so far.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) replies: VecDeque<Reply>,
    pub(super) pid: Option<u32>,
    pub(super) exit: Option<Exit>,
    pub(super) is_gone: bool,
    /// The steps to stop the process, in case the supervisor is killed.
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
        lock(&self.state)
    }

    /// Waits until `found` returns a value, the timeout expires, or the user has interrupted more
    /// than `interrupts` times.
    pub(super) fn wait_for<T>(
        &self,
        limit: Duration,
        interrupts: usize,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(value) = found(&mut state) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || timeout::interrupts() > interrupts {
                return None;
            }
            let moment = left.min(CHECK_INTERVAL);
            state =
                self.changed.wait_timeout(state, moment).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait_exit(
        &self,
        limit: Duration,
        interrupts: usize,
    ) -> Result<Option<Exit>, SupervisorError> {
        let found = self.wait_for(limit, interrupts, |state| match state.exit {
            Some(exit) => Some(Ok(exit)),
            None if state.is_gone => Some(Err(SupervisorError::Gone)),
            None => None,
        });
        found.transpose()
    }
}

/// Sends requests to a supervisor and waits for its replies. Requests of one handle must not
/// overlap with those of another.
#[derive(Clone)]
pub struct SupervisorHandle {
    orders: Arc<Mutex<Option<ChildStdin>>>,
    pub(super) shared: Arc<Shared>,
}

impl SupervisorHandle {
    /// Takes the two pipes of a supervisor, and starts to listen.
    pub(super) fn hold(orders: Option<ChildStdin>, replies: ChildStdout) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let listener = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("supervisor".to_owned())
            .spawn(move || listen(BufReader::new(replies), &listener))?;
        Ok(Self { orders: Arc::new(Mutex::new(orders)), shared })
    }

    /// Closes the supervisor's input for all handles; false when it was closed before.
    pub(super) fn close_input(&self) -> bool {
        lock(&self.orders).take().is_some()
    }

    pub(super) fn order(&self, order: &Order) -> Result<(), SupervisorError> {
        let mut line = serde_json::to_string(order).map_err(|error| {
            SupervisorError::Refused(format!("a path is not valid UTF-8 ({error})"))
        })?;
        line.push('\n');
        let mut orders = lock(&self.orders);
        let orders = orders.as_mut().ok_or(SupervisorError::Gone)?;
        orders
            .write_all(line.as_bytes())
            .and_then(|()| orders.flush())
            .map_err(|_broken_pipe| SupervisorError::Gone)
    }

    pub(super) fn reply(&self) -> Result<Reply, SupervisorError> {
        let interrupts = timeout::interrupts();
        let reply = self.shared.wait_for(ANSWER_LIMIT, interrupts, |state| {
            match state.replies.pop_front() {
                Some(reply) => Some(Ok(reply)),
                None if state.is_gone => Some(Err(SupervisorError::Gone)),
                None => None,
            }
        });
        let late = if timeout::interrupts() > interrupts {
            SupervisorError::Interrupted
        } else {
            SupervisorError::Gone
        };
        match reply.unwrap_or(Err(late))? {
            Reply::Refused(reason) => Err(SupervisorError::Refused(reason)),
            reply => Ok(reply),
        }
    }

    /// Starts a process and returns its id.
    ///
    /// # Errors
    /// When it cannot be started, or another one is running.
    pub fn launch(&self, launch: Launch) -> Result<u32, SupervisorError> {
        debug!(program = %launch.program.display(), arguments = ?launch.arguments, "launching");
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

    /// Sends a signal to the process and its group.
    ///
    /// # Errors
    /// When it is not running, or the supervisor is gone.
    pub fn signal(&self, signal: SupervisorSignal) -> Result<(), SupervisorError> {
        self.order(&Order::Signal(signal))?;
        match self.reply()? {
            Reply::Signalled => Ok(()),
            _ => Err(SupervisorError::Gone),
        }
    }

    /// Requests that shared memory is released at the end, in case the server is killed.
    ///
    /// # Errors
    /// When the supervisor is gone.
    pub fn remove_at_end(&self, memory: SharedMemory) -> Result<(), SupervisorError> {
        self.shared.lock().memory.clone_from(&memory);
        self.order(&Order::Remove(memory))
    }

    /// Id of the process that was started last.
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
    /// When the supervisor is gone, or the user interrupts.
    pub fn wait_exit(&self, limit: Duration) -> Result<Option<Exit>, SupervisorError> {
        match self.shared.wait_exit(limit, 0)? {
            None if timeout::is_end_requested() => Err(SupervisorError::Interrupted),
            exit => Ok(exit),
        }
    }

    /// Stops the process, first cleanly; returns how it ended. When the user interrupts meanwhile,
    /// it is killed.
    ///
    /// # Errors
    /// When the supervisor is gone.
    pub fn stop(&self, steps: &[StopStep]) -> Result<Option<Exit>, SupervisorError> {
        if let Some(exit) = self.exit() {
            return Ok(Some(exit));
        }
        if self.shared.lock().pid.is_none() {
            return Ok(None);
        }
        self.order(&Order::Stop(steps.to_vec()))?;
        let timeout: Duration = steps.iter().map(|step| step.timeout).sum();
        let interrupts = timeout::interrupts();
        let exit = self.shared.wait_exit(timeout + ANSWER_LIMIT, interrupts)?;
        if exit.is_some() || timeout::interrupts() == interrupts {
            return Ok(exit);
        }
        self.order(&Order::Hurry)?;
        self.shared.wait_exit(ANSWER_LIMIT, usize::MAX)
    }
}

/// Stores the supervisor's replies until it is gone.
fn listen(replies: impl BufRead, shared: &Shared) {
    for line in replies.lines() {
        let Ok(line) = line else { break };
        // Other output is not a reply, such as the output of a test harness.
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

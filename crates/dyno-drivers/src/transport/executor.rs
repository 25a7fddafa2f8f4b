//! Tasks of one worker thread.

use super::reactor::{Reactor, TaskId};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Runs the tasks of one worker thread. Tasks are polled when one of their sockets or timers is
/// ready, in the order in which the kernel reports them.
pub struct Executor {
    reactor: Reactor,
    tasks: Vec<Option<Task>>,
    /// Tasks that have not been polled yet.
    fresh: Vec<TaskId>,
    ready: Vec<TaskId>,
    alive: usize,
}

impl Executor {
    /// An executor with a reactor. All connections of its tasks must use the same reactor.
    #[must_use]
    pub fn new(reactor: Reactor) -> Self {
        Self { reactor, tasks: Vec::new(), fresh: Vec::new(), ready: Vec::new(), alive: 0 }
    }

    /// Adds a task, which is first polled by the next [`Self::turn`].
    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'static) -> TaskId {
        let id = self.tasks.len();
        self.tasks.push(Some(Box::pin(task)));
        self.fresh.push(id);
        self.alive += 1;
        id
    }

    /// Number of tasks that have not ended.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.alive
    }

    /// Waits at most `max_wait` for ready tasks, and polls them.
    ///
    /// # Errors
    /// When waiting fails, which is an error of the system.
    pub fn turn(&mut self, max_wait: Duration) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.append(&mut self.fresh);
        let wait = if ready.is_empty() { max_wait } else { Duration::ZERO };
        self.reactor.wait(wait, &mut ready)?;
        for id in ready.drain(..) {
            self.poll(id);
        }
        self.ready = ready;
        Ok(())
    }

    fn poll(&mut self, id: TaskId) {
        let Some(Some(task)) = self.tasks.get_mut(id) else { return };
        self.reactor.set_current(id);
        let mut context = Context::from_waker(Waker::noop());
        if task.as_mut().poll(&mut context).is_ready() {
            self.tasks[id] = None;
            self.alive -= 1;
        }
    }

    /// Makes the next [`Self::turn`] poll every task, whatever it waits for.
    pub fn wake_all(&mut self) {
        self.fresh.extend(0..self.tasks.len());
    }

    /// Drops all tasks and their connections.
    pub fn abandon(&mut self) -> usize {
        self.tasks.clear();
        self.fresh.clear();
        std::mem::take(&mut self.alive)
    }
}

/// Runs a future whose connections are all [`super::Io::Blocking`] or [`super::Io::WithTimeout`].
///
/// # Panics
/// When the future pends, which blocking connections never do.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future on a blocking connection must not pend"),
    }
}

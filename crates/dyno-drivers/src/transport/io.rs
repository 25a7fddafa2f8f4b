//! How a connection waits: the thread blocks, with or without a timeout, or the task pends.

use super::reactor::Reactor;
use crate::timeout::{CHECK_INTERVAL, TimeoutPolicy, Waiting};
use std::time::{Duration, Instant};

/// How a connection waits.
#[derive(Clone)]
pub enum Io {
    /// The thread blocks without a timeout; deadlines are implemented with socket timeouts. For
    /// clients with their own thread, whose connection another thread breaks when necessary
    /// ([`crate::Driver::interrupter`]). Until the connection is open, only the user can interrupt:
    /// a login behaves as with [`TimeoutPolicy::endless`].
    Blocking,
    /// The thread blocks, and every answer has a timeout. For all queries outside the load.
    WithTimeout(TimeoutPolicy),
    /// The task pends, and the reactor's thread runs other tasks.
    Reactor(Reactor),
}

impl Io {
    /// The timeout that applies to a thread while it connects; none for a task on a reactor, which
    /// its worker ends.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        match self {
            Self::Blocking => Some(Waiting::new(&TimeoutPolicy::endless())),
            Self::WithTimeout(timeout) => Some(Waiting::new(timeout)),
            Self::Reactor(_) => None,
        }
    }

    /// Waits for a time without blocking other clients of the worker.
    pub async fn sleep(&self, duration: Duration) {
        match self {
            Self::Blocking | Self::WithTimeout(_) => std::thread::sleep(duration),
            Self::Reactor(reactor) => {
                reactor.sleep_until(Instant::now() + duration, || false).await;
            }
        }
    }

    /// Lets the worker poll other tasks; a blocking thread has no others.
    pub async fn yield_now(&self) {
        if let Self::Reactor(reactor) = self {
            reactor.yield_now().await;
        }
    }

    /// Waits until a time, or until `is_over`. A task on a reactor calls it whenever it is polled;
    /// a blocking thread calls it ten times a second.
    pub async fn sleep_until(&self, due: Instant, is_over: impl Fn() -> bool) {
        match self {
            Self::Blocking | Self::WithTimeout(_) => {
                while Instant::now() < due && !is_over() {
                    std::thread::sleep(
                        due.saturating_duration_since(Instant::now()).min(CHECK_INTERVAL),
                    );
                }
            }
            Self::Reactor(reactor) => reactor.sleep_until(due, is_over).await,
        }
    }
}

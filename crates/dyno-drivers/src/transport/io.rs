//! How a connection waits: the thread blocks, with patience or without, or the task pends.

use super::reactor::Reactor;
use crate::timeout::{CHECK_INTERVAL, TimeoutPolicy, Waiting};
use std::time::{Duration, Instant};

/// How a connection waits.
#[derive(Clone)]
pub enum Io {
    /// The thread blocks, for as long as it takes; deadlines are kept by socket timeouts. For
    /// clients that have a thread of their own, and somebody who breaks their connection when it is
    /// time ([`crate::Driver::interrupter`]). Until there is a connection, only the user can: a
    /// login hears Ctrl-C as if it were asked with [`TimeoutPolicy::endless`].
    Blocking,
    /// The thread blocks, and every answer has a limit. For all that is asked beside the load.
    WithTimeout(TimeoutPolicy),
    /// The task pends and the reactor's thread does other work.
    Reactor(Reactor),
}

impl Io {
    /// What a thread waits under while a connection is made; nothing for a task on a reactor, which
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

    /// Lets the other tasks of the worker have a turn; a thread that blocks has no others.
    pub async fn give_way(&self) {
        if let Self::Reactor(reactor) = self {
            reactor.give_way().await;
        }
    }

    /// Waits until a time, or until there is a reason to stop waiting. A task on a reactor asks for
    /// the reason whenever it is polled; a thread that blocks asks ten times a second.
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

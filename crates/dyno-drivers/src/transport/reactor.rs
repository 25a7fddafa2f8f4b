//! Readiness of sockets and timers of one worker thread.

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::Poll as TaskPoll;
use std::time::{Duration, Instant};

/// Id of a task within its executor.
pub type TaskId = usize;

/// Maximum number of events per system call; the next call returns further ones.
const EVENTS_PER_WAIT: usize = 1024;

const READS_AND_WRITES: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Token of the timer; no socket has it.
const ALARM: Token = Token(usize::MAX);

/// Sockets and timers of one worker thread. Cheap to clone; not `Send`.
#[derive(Clone)]
pub struct Reactor(Rc<Inner>);

struct Inner {
    poll: RefCell<Poll>,
    /// Timer for deadlines: epoll itself counts in milliseconds and rounds up, which is too late
    /// for an arrival.
    alarm: OwnedFd,
    /// The time to which the timer is set.
    armed: Cell<Option<Instant>>,
    events: RefCell<Events>,
    slots: RefCell<Vec<Option<Rc<Readiness>>>>,
    free: RefCell<Vec<usize>>,
    timers: RefCell<BinaryHeap<Reverse<(Instant, TaskId)>>>,
    current: Cell<TaskId>,
    counters: RefCell<ReactorCounters>,
}

/// Counters of a reactor since its creation.
#[derive(Debug, Clone, Default)]
pub struct ReactorCounters {
    /// Number of returns from waiting.
    pub wakeups: u64,
    /// Number of sockets found ready.
    pub ready: u64,
    /// Time spent waiting for sockets and timers.
    pub waited: Duration,
    /// Delay of each timer in nanoseconds; at most [`LAGS_MAX`] of them.
    pub timer_lags: Vec<u64>,
}

/// Maximum number of stored delays, so that memory stays constant in long runs.
const LAGS_MAX: usize = 100_000;

/// Known state of one socket. Edge-triggered: a flag stays set until an operation finds the socket
/// exhausted.
#[derive(Default)]
struct Readiness {
    readable: Cell<bool>,
    writable: Cell<bool>,
    /// The peer closed: reads no longer block, so `readable` must never be cleared.
    closed: Cell<bool>,
    task: Cell<TaskId>,
}

impl Reactor {
    /// A new epoll instance.
    ///
    /// # Errors
    /// When no file descriptor is available.
    pub fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let alarm = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Edge-triggered: the timer needs only to be set again, and is never read.
        poll.registry().register(&mut SourceFd(&alarm.as_raw_fd()), ALARM, Interest::READABLE)?;
        Ok(Self(Rc::new(Inner {
            poll: RefCell::new(poll),
            alarm,
            armed: Cell::default(),
            events: RefCell::new(Events::with_capacity(EVENTS_PER_WAIT)),
            slots: RefCell::default(),
            free: RefCell::default(),
            timers: RefCell::default(),
            current: Cell::default(),
            counters: RefCell::default(),
        })))
    }

    /// Registers a connecting socket for the current task.
    pub(super) fn register(&self, fd: RawFd) -> io::Result<Registration> {
        let readiness = Rc::new(Readiness::default());
        readiness.task.set(self.0.current.get());
        let mut slots = self.0.slots.borrow_mut();
        let slot = self.0.free.borrow_mut().pop().unwrap_or_else(|| {
            slots.push(None);
            slots.len() - 1
        });
        self.0.poll.borrow().registry().register(
            &mut SourceFd(&fd),
            Token(slot),
            READS_AND_WRITES,
        )?;
        slots[slot] = Some(Rc::clone(&readiness));
        Ok(Registration {
            reactor: self.clone(),
            readiness,
            watches_writes: Cell::new(true),
            slot,
            fd,
        })
    }

    /// Waits at most `max_wait` for sockets and timers, and appends the tasks to poll.
    pub(super) fn wait(&self, max_wait: Duration, ready: &mut Vec<TaskId>) -> io::Result<()> {
        let mut wait = max_wait;
        let before = Instant::now();
        if let Some(Reverse((due, _))) = self.0.timers.borrow().peek() {
            let left = due.saturating_duration_since(before);
            if left.is_zero() {
                wait = left;
            } else if left < wait {
                self.arm(*due, left)?;
            }
        }
        let mut events = self.0.events.borrow_mut();
        let polled = self.0.poll.borrow_mut().poll(&mut events, Some(wait));
        let now = Instant::now();
        self.0.counters.borrow_mut().waited += now - before;
        match polled {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        let slots = self.0.slots.borrow();
        let mut count = 0;
        for event in events.iter() {
            // A socket closed since the wait began has no slot.
            let Some(Some(readiness)) = slots.get(event.token().0) else { continue };
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                readiness.readable.set(true);
            }
            if event.is_read_closed() || event.is_error() {
                readiness.closed.set(true);
            }
            if event.is_writable() || event.is_error() {
                readiness.writable.set(true);
            }
            ready.push(readiness.task.get());
            count += 1;
        }
        drop(slots);
        let mut counters = self.0.counters.borrow_mut();
        counters.wakeups += 1;
        counters.ready += count;
        self.fire_timers(now, &mut counters, ready);
        Ok(())
    }

    /// Sets the timer, which ends the wait in time.
    fn arm(&self, due: Instant, left: Duration) -> io::Result<()> {
        if self.0.armed.get() == Some(due) {
            return Ok(());
        }
        self.0.armed.set(Some(due));
        let value =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let once = Itimerspec { it_interval: Timespec::default(), it_value: value };
        timerfd_settime(&self.0.alarm, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    fn fire_timers(&self, now: Instant, counters: &mut ReactorCounters, ready: &mut Vec<TaskId>) {
        let mut timers = self.0.timers.borrow_mut();
        while let Some(Reverse((due, task))) = timers.peek().copied() {
            if due > now {
                break;
            }
            timers.pop();
            if counters.timer_lags.len() < LAGS_MAX {
                counters.timer_lags.push(u64::try_from((now - due).as_nanos()).unwrap_or(u64::MAX));
            }
            ready.push(task);
        }
    }

    /// The task being polled, which owns new sockets and timers.
    pub(super) fn set_current(&self, task: TaskId) {
        self.0.current.set(task);
    }

    /// Requests that the current task is polled at a time.
    pub(super) fn wake_at(&self, due: Instant) {
        self.0.timers.borrow_mut().push(Reverse((due, self.0.current.get())));
    }

    /// Ends a wait at a time without a task: its delay is recorded in the counters.
    pub fn pulse_at(&self, due: Instant) {
        self.0.timers.borrow_mut().push(Reverse((due, TaskId::MAX)));
    }

    /// Pends once, so that other tasks and sockets are processed.
    pub(super) async fn yield_now(&self) {
        let mut has_pended = false;
        poll_fn(|_| {
            if std::mem::replace(&mut has_pended, true) {
                return TaskPoll::Ready(());
            }
            self.wake_at(Instant::now());
            TaskPoll::Pending
        })
        .await;
    }

    /// Pends until the time has come, or until `is_over` when the task is polled.
    pub async fn sleep_until(&self, due: Instant, is_over: impl Fn() -> bool) {
        let mut is_armed = false;
        poll_fn(|_| {
            if Instant::now() >= due || is_over() {
                return TaskPoll::Ready(());
            }
            if !is_armed {
                self.wake_at(due);
                is_armed = true;
            }
            TaskPoll::Pending
        })
        .await;
    }

    /// The counters so far; the stored delays are removed.
    #[must_use]
    pub fn take_counters(&self) -> ReactorCounters {
        std::mem::take(&mut *self.0.counters.borrow_mut())
    }
}

/// A registered socket; dropping it deregisters. It must be dropped before the socket is closed.
pub(super) struct Registration {
    reactor: Reactor,
    readiness: Rc<Readiness>,
    watches_writes: Cell<bool>,
    slot: usize,
    fd: RawFd,
}

impl Registration {
    /// Sets whether the reactor reports that the socket is writable. Only used while a write waits
    /// for that: a unix socket reports it each time the peer reads, which would wake the worker
    /// twice per statement.
    pub(super) fn watch_writes(&self, watches: bool) -> io::Result<()> {
        if self.watches_writes.replace(watches) == watches {
            return Ok(());
        }
        let interest = if watches { READS_AND_WRITES } else { Interest::READABLE };
        let poll = self.reactor.0.poll.borrow();
        poll.registry().reregister(&mut SourceFd(&self.fd), Token(self.slot), interest)
    }

    /// True when a read may return data.
    pub(super) fn is_readable(&self) -> bool {
        self.readiness.readable.get()
    }

    /// Records that the socket has no more data: no read is tried until the reactor reports it.
    pub(super) fn clear_readable(&self) {
        if !self.readiness.closed.get() {
            self.readiness.readable.set(false);
        }
    }

    /// True when a write may succeed.
    pub(super) fn is_writable(&self) -> bool {
        self.readiness.writable.get()
    }

    /// Requests that the current task is polled at a time even if the socket is not ready.
    pub(super) fn wake_at(&self, due: Instant) {
        self.reactor.wake_at(due);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Failing to deregister is harmless: the kernel removes the socket when it is closed.
        let _ = self.reactor.0.poll.borrow().registry().deregister(&mut SourceFd(&self.fd));
        self.reactor.0.slots.borrow_mut()[self.slot] = None;
        self.reactor.0.free.borrow_mut().push(self.slot);
    }
}

//! Timeouts for a server's answers, and interrupts of the wait.
//!
//! All queries outside the load use connections with [`crate::Io::WithTimeout`]: settings,
//! counters, marker, loading, baseline, audit. Their sockets wake up ten times a second and check
//! here whether to continue waiting. So every query has a timeout, and Ctrl-C works in all of them
//! without extra code.

use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often a waiting thread checks whether to stop.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Timeout of a query as a multiple of that of a connection ([`Target::connect_timeout`]): with ten
/// seconds for a login, a list of settings has half a minute.
const ANSWER_PER_CONNECT: u32 = 3;

/// Timeout of a statement whose duration depends on the amount of data, on a healthy server: an
/// index on a billion rows takes hours.
const WORK_MAX: Duration = Duration::from_secs(6 * 3600);

/// Remaining time of a query after an interrupt, and timeout of later queries. Most answers arrive
/// in time, and users do not perceive it as a delay.
pub(crate) const REST: Duration = Duration::from_millis(500);

/// Timeout of work started after an interrupt, such as the audit of a trial that was cut short, on
/// a healthy server.
pub const WORK_AFTER_INTERRUPT: Duration = Duration::from_secs(5);

/// Silence after which a server that works after an interrupt is checked.
const CHECK_INTERVAL_AFTER_INTERRUPT: Duration = Duration::from_millis(200);

/// The process's number of interrupts, once one is registered.
static INTERRUPTS: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Registers the counter of interrupts that applies to all waits of this process, because signals
/// affect the whole process. Only the first call has an effect.
pub fn count_interrupts(interrupts: &Arc<AtomicUsize>) {
    let _ = INTERRUPTS.set(Arc::clone(interrupts));
}

/// Number of interrupts so far. Code that waits for something else than a server compares it with
/// an earlier value.
#[must_use]
pub fn interrupts() -> usize {
    INTERRUPTS.get().map_or(0, |interrupts| interrupts.load(Ordering::Relaxed))
}

/// True after the user has interrupted.
#[must_use]
pub fn is_end_requested() -> bool {
    interrupts() > 0
}

/// How long a thread waits for answers on one connection. Each query has a timeout, measured from
/// the last bytes sent to the last bytes received. After an interrupt a query has half a second,
/// and work has five seconds if the server is healthy.
#[derive(Clone)]
pub struct TimeoutPolicy(Box<Terms>);

/// Boxed, because every client of an event loop has an [`Io`] and none of them uses this.
#[derive(Clone)]
struct Terms {
    limit: Duration,
    limit_after_interrupt: Duration,
    /// Interrupts have no effect.
    is_unhurried: bool,
    interrupts: Arc<AtomicUsize>,
    check: Option<LivenessCheck>,
}

/// The health check of the server during a long statement.
#[derive(Clone)]
struct LivenessCheck {
    interval: Duration,
    target: Arc<Target>,
    ask: Ask,
}

/// Opens another connection and sends a simple query.
pub(crate) type Ask = fn(&Target, TimeoutPolicy) -> Result<(), OperationFailure>;

impl TimeoutPolicy {
    /// A timeout for answers.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        let interrupts = INTERRUPTS.get().map(Arc::clone).unwrap_or_default();
        let limit_after_interrupt = limit.min(REST);
        Self(Box::new(Terms {
            limit,
            limit_after_interrupt,
            is_unhurried: false,
            interrupts,
            check: None,
        }))
    }

    /// For statements that the user ordered, such as those of a script: without a timeout; only the
    /// user ends them.
    #[must_use]
    pub fn endless() -> Self {
        Self::new(Duration::MAX)
    }

    /// For queries that a server answers from its own state: three times the connect timeout.
    #[must_use]
    pub fn for_questions(target: &Target) -> Self {
        Self::new(Self::limit_of_questions(target))
    }

    /// The timeout of queries, for connections that wait in another way.
    #[must_use]
    pub fn limit_of_questions(target: &Target) -> Duration {
        target.connect_timeout.saturating_mul(ANSWER_PER_CONNECT)
    }

    /// For statements whose duration depends on the amount of data: a timeout of six hours while
    /// the server is healthy. Whenever the timeout of a query has passed without an answer, `ask`
    /// opens another connection to check that. Engines without data have the timeout of a query.
    pub(crate) fn for_work_asking(target: &Target, ask: Ask) -> Self {
        let interval = Self::limit_of_questions(target);
        let check = target.engine.is_server().then(|| {
            let target = Target { session_setup: Vec::new(), ..target.clone() };
            LivenessCheck { interval, target: Arc::new(target), ask }
        });
        let limit = if target.engine.keeps_data() { WORK_MAX.max(interval) } else { interval };
        let mut timeout = Self::new(limit);
        timeout.0.check = check;
        timeout.0.limit_after_interrupt = limit.min(WORK_AFTER_INTERRUPT);
        timeout
    }

    /// For statements whose result nobody needs after an interrupt: they have half a second left,
    /// whenever they began.
    #[must_use]
    pub fn hasty(mut self) -> Self {
        self.0.limit_after_interrupt = REST;
        self
    }

    /// For statements that clean up: an interrupt only makes a silent server be checked sooner.
    #[must_use]
    pub fn unhurried(mut self) -> Self {
        self.0.limit_after_interrupt = self.0.limit;
        self.0.is_unhurried = true;
        self
    }

    /// Uses another counter of interrupts than the process's.
    #[must_use]
    pub fn counting(mut self, interrupts: Arc<AtomicUsize>) -> Self {
        self.0.interrupts = interrupts;
        self
    }

    fn is_end_requested(&self) -> bool {
        self.0.interrupts.load(Ordering::Relaxed) > 0
    }

    /// Why a silent server is not expected to answer: another connection fails, or is not answered
    /// either. A rejection shows that the server is alive.
    fn find_fault(&self, check: &LivenessCheck, silence: Duration) -> Option<TimedOut> {
        let timeout = Self::new(check.interval).counting(Arc::clone(&self.0.interrupts));
        let failure = (check.ask)(&check.target, timeout).err()?;
        match failure.kind {
            FailureKind::Cancelled => Some(TimedOut::Interrupted),
            FailureKind::Timeout | FailureKind::ConnectRefused | FailureKind::ConnectionLost => {
                Some(TimedOut::Unhealthy { silence, fault: failure.to_string() })
            }
            _ => None,
        }
    }
}

/// The state of waiting for answers on one connection.
pub(crate) struct Waiting {
    timeout: TimeoutPolicy,
    requested_at: Instant,
    checked: Instant,
    /// True when the interrupt came before the query.
    pub(crate) is_late: bool,
    /// When the interrupt was noticed during the query.
    heard: Option<Instant>,
}

impl Waiting {
    /// Starts waiting for the answer to a query sent now.
    pub(crate) fn new(timeout: &TimeoutPolicy) -> Self {
        let now = Instant::now();
        let is_late = timeout.is_end_requested();
        Self { timeout: timeout.clone(), requested_at: now, checked: now, is_late, heard: None }
    }

    /// A query is sent now.
    pub(crate) fn ask(&mut self) {
        self.requested_at = Instant::now();
        self.checked = self.requested_at;
        self.is_late = self.timeout.is_end_requested();
        self.heard = None;
    }

    /// Fails when the wait is over. Called every [`CHECK_INTERVAL`] while there is no answer.
    pub(crate) fn check(&mut self) -> Result<(), TimedOut> {
        let now = Instant::now();
        let is_requested = self.timeout.is_end_requested();
        if !self.is_late && is_requested && !self.timeout.0.is_unhurried {
            let heard = *self.heard.get_or_insert(now);
            if now.saturating_duration_since(heard) >= REST {
                return Err(TimedOut::Interrupted);
            }
        }
        let limit =
            if self.is_late { self.timeout.0.limit_after_interrupt } else { self.timeout.0.limit };
        if now.saturating_duration_since(self.requested_at) >= limit {
            let is_own = limit >= self.timeout.0.limit;
            return Err(if is_own { TimedOut::Late { limit } } else { TimedOut::Interrupted });
        }
        if let Some(check) = &self.timeout.0.check {
            let interval = if is_requested {
                check.interval.min(CHECK_INTERVAL_AFTER_INTERRUPT)
            } else {
                check.interval
            };
            if now.saturating_duration_since(self.checked) >= interval {
                if let Some(reason) = self.timeout.find_fault(check, interval) {
                    return Err(reason);
                }
                self.checked = Instant::now();
            }
        }
        Ok(())
    }
}

/// Why the wait is over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimedOut {
    /// The timeout of the query has passed.
    #[error("the server did not answer within {limit:?}")]
    Late { limit: Duration },
    /// The server does not answer on another connection either.
    #[error("the server has been silent for {silence:?}, and another connection failed: {fault}")]
    Unhealthy { silence: Duration, fault: String },
    /// The user interrupted.
    #[error("interrupted before the server answered")]
    Interrupted,
}

impl From<TimedOut> for OperationFailure {
    fn from(reason: TimedOut) -> Self {
        let kind = match reason {
            TimedOut::Late { .. } | TimedOut::Unhealthy { .. } => FailureKind::Timeout,
            TimedOut::Interrupted => FailureKind::Cancelled,
        };
        kind.failure(reason.to_string())
    }
}

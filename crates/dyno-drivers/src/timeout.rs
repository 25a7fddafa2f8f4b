//! How long a thread waits for a server's answer, and what ends the waiting.
//!
//! All that dyno asks a server beside the load goes over connections with
//! [`crate::Io::WithTimeout`]: settings, counters, marker, loading, baseline, audit. Their sockets
//! wake up ten times a second and look here whether to wait on. So every question has an end, and
//! Ctrl-C is heard in all of them, without any of them knowing of it.

use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often a thread that waits looks for a reason to stop.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A question may take so many times as long as a connection may ([`Target::connect_timeout`]): who
/// finds ten seconds long for a login finds half a minute long for a list of settings.
const ANSWER_PER_CONNECT: u32 = 3;

/// Longest statement whose work grows with the data, on a server that is well: an index over a
/// billion rows takes hours.
const WORK_MAX: Duration = Duration::from_secs(6 * 3600);

/// What a question still has that is under way when the user asks for the end, and one that is
/// asked later. Most answers come within it, and it is too short to be felt as waiting.
pub(crate) const REST: Duration = Duration::from_millis(500);

/// Longest work that is begun after the user has asked for the end, such as the audit of a trial
/// that was cut short, on a server that is well.
pub const AFTER_REQUEST: Duration = Duration::from_secs(5);

/// Silence after which a server that works for a user who has asked for the end is looked at.
const CHECK_INTERVAL_AFTER_REQUEST: Duration = Duration::from_millis(200);

/// The process's number of requests for the end, once somebody counts them.
static REQUESTS: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Tells the number of requests for the end that all patience of this process is under: signals
/// concern the whole process. Only the first call counts.
pub fn hear(requests: &Arc<AtomicUsize>) {
    let _ = REQUESTS.set(Arc::clone(requests));
}

/// How often the user has asked for the end. Whoever waits for something else than a server
/// compares it with what it was before.
#[must_use]
pub fn requests() -> usize {
    REQUESTS.get().map_or(0, |requests| requests.load(Ordering::Relaxed))
}

/// True once the user has asked for the end.
#[must_use]
pub fn is_end_requested() -> bool {
    requests() > 0
}

/// How long a thread waits for answers on one connection. Each question has a limit, counted from
/// the last bytes that were sent to the last that come back. Once the user has asked for the end, a
/// question that is under way or is asked later has half a second, and work has five if the server
/// is well.
#[derive(Clone)]
pub struct TimeoutPolicy(Box<Terms>);

/// What somebody is patient for. In a box, because every client of an event loop has an [`Io`] and
/// none of them waits under these.
#[derive(Clone)]
struct Terms {
    limit: Duration,
    limit_after_request: Duration,
    /// Requests for the end cut nothing short.
    is_unhurried: bool,
    requests: Arc<AtomicUsize>,
    check: Option<LivenessCheck>,
}

/// A look at the server while it works on a long statement.
#[derive(Clone)]
struct LivenessCheck {
    every: Duration,
    target: Arc<Target>,
    ask: Ask,
}

/// Opens another connection and asks the server something simple.
pub(crate) type Ask = fn(&Target, TimeoutPolicy) -> Result<(), OperationFailure>;

impl TimeoutPolicy {
    /// Patience for answers within a limit.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        let requests = REQUESTS.get().map(Arc::clone).unwrap_or_default();
        let limit_after_request = limit.min(REST);
        Self(Box::new(Terms {
            limit,
            limit_after_request,
            is_unhurried: false,
            requests,
            check: None,
        }))
    }

    /// For statements that the user has ordered, as a script does: they take as long as they take,
    /// and only the user ends them.
    #[must_use]
    pub fn endless() -> Self {
        Self::new(Duration::MAX)
    }

    /// For questions that a server answers from what it knows: three times what connecting may
    /// take.
    #[must_use]
    pub fn for_questions(target: &Target) -> Self {
        Self::new(Self::limit_of_questions(target))
    }

    /// The limit of these, for connections that wait in another way.
    #[must_use]
    pub fn limit_of_questions(target: &Target) -> Duration {
        target.connect_timeout.saturating_mul(ANSWER_PER_CONNECT)
    }

    /// For statements that take the longer the more data there are: six hours, as long as the
    /// server is well. Whenever as much time as a question may take has passed without an answer,
    /// another connection is opened and asked, to see that. That is what `ask` does. Where no data
    /// are kept, nothing takes longer than a question.
    pub(crate) fn for_work_asking(target: &Target, ask: Ask) -> Self {
        let every = Self::limit_of_questions(target);
        let check = target.engine.is_server().then(|| {
            let target = Target { session_setup: Vec::new(), ..target.clone() };
            LivenessCheck { every, target: Arc::new(target), ask }
        });
        let limit = if target.engine.keeps_data() { WORK_MAX.max(every) } else { every };
        let mut timeout = Self::new(limit);
        timeout.0.check = check;
        timeout.0.limit_after_request = limit.min(AFTER_REQUEST);
        timeout
    }

    /// For statements whose outcome nobody wants once the user has asked for the end: they have
    /// half a second left, whenever they began.
    #[must_use]
    pub fn hasty(mut self) -> Self {
        self.0.limit_after_request = REST;
        self
    }

    /// For statements that clean up: a request for the end changes nothing but how soon a silent
    /// server is looked at.
    #[must_use]
    pub fn unhurried(mut self) -> Self {
        self.0.limit_after_request = self.0.limit;
        self.0.is_unhurried = true;
        self
    }

    /// The same, ended by other requests than the process's.
    #[must_use]
    pub fn hearing(mut self, requests: Arc<AtomicUsize>) -> Self {
        self.0.requests = requests;
        self
    }

    fn is_end_requested(&self) -> bool {
        self.0.requests.load(Ordering::Relaxed) > 0
    }

    /// Why a server that is silent cannot be expected to speak again: another connection cannot be
    /// had, or is not answered either. A refusal is a sign of life.
    fn find_fault(&self, check: &LivenessCheck, silence: Duration) -> Option<TimedOut> {
        let timeout = Self::new(check.every).hearing(Arc::clone(&self.0.requests));
        let failure = (check.ask)(&check.target, timeout).err()?;
        match failure.kind {
            FailureKind::Cancelled => Some(TimedOut::Interrupted),
            FailureKind::Timeout | FailureKind::ConnectRefused | FailureKind::ConnectionLost => {
                Some(TimedOut::Unwell { silence, fault: failure.to_string() })
            }
            _ => None,
        }
    }
}

/// The waiting for one answer after another on one connection.
pub(crate) struct Waiting {
    timeout: TimeoutPolicy,
    asked: Instant,
    checked: Instant,
    /// True when the end was requested before the question was asked.
    pub(crate) is_late: bool,
    /// When the request for the end was noticed during the question.
    heard: Option<Instant>,
}

impl Waiting {
    /// Waiting for an answer to what is asked now.
    pub(crate) fn new(timeout: &TimeoutPolicy) -> Self {
        let now = Instant::now();
        let is_late = timeout.is_end_requested();
        Self { timeout: timeout.clone(), asked: now, checked: now, is_late, heard: None }
    }

    /// Something is asked now.
    pub(crate) fn ask(&mut self) {
        self.asked = Instant::now();
        self.checked = self.asked;
        self.is_late = self.timeout.is_end_requested();
        self.heard = None;
    }

    /// Fails when the answer is to be waited for no more. To be called every [`CHECK_INTERVAL`]
    /// while there is none.
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
            if self.is_late { self.timeout.0.limit_after_request } else { self.timeout.0.limit };
        if now.saturating_duration_since(self.asked) >= limit {
            let is_own = limit >= self.timeout.0.limit;
            return Err(if is_own { TimedOut::Late { limit } } else { TimedOut::Interrupted });
        }
        if let Some(check) = &self.timeout.0.check {
            let every = if is_requested {
                check.every.min(CHECK_INTERVAL_AFTER_REQUEST)
            } else {
                check.every
            };
            if now.saturating_duration_since(self.checked) >= every {
                if let Some(reason) = self.timeout.find_fault(check, every) {
                    return Err(reason);
                }
                self.checked = Instant::now();
            }
        }
        Ok(())
    }
}

/// Why an answer is waited for no more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimedOut {
    /// The question's own limit has passed.
    #[error("the server did not answer within {limit:?}")]
    Late { limit: Duration },
    /// The server is silent, on another connection too.
    #[error("the server has been silent for {silence:?}, and another connection failed: {fault}")]
    Unwell { silence: Duration, fault: String },
    /// The user asked for the end.
    #[error("interrupted before the server answered")]
    Interrupted,
}

impl From<TimedOut> for OperationFailure {
    fn from(reason: TimedOut) -> Self {
        let kind = match reason {
            TimedOut::Late { .. } | TimedOut::Unwell { .. } => FailureKind::Timeout,
            TimedOut::Interrupted => FailureKind::Cancelled,
        };
        kind.failure(reason.to_string())
    }
}

//! The start barrier: the points at which the client groups of a trial wait for each other.
//!
//! The groups with the role `measured` together are the first member; each background group is
//! another member with its own thread.
//!
//! 1. **Start**: no client begins before the clients of all members are ready and the first member
//!    has read the server's counters. All begin at the same moment. A member that is stopped early
//!    stops the others ([`Start`]).
//! 2. **Audit**: no member queries the data before the sessions of all members have ended. The
//!    first member reads the server's counters and audits before the others do, so that the
//!    counters include no query of dyno's.

use crate::measure::load::TrialError;
use crate::measure::start::Start;
use dyno_model::client_group::GroupRecord;
use dyno_model::event::Listener;
use dyno_model::history::History;
use dyno_model::reason::Reason;
use dyno_model::record::TrialRecord;
use dyno_model::sync::lock;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

const PANICKED: &str = "its thread panicked; this is a bug of dyno";

/// A background group, and the function that measures it as a member of the barrier.
pub struct BackgroundGroup<'a> {
    /// Its name.
    pub name: String,
    /// Number of its clients.
    pub clients: u32,
    /// The function that measures it.
    pub run: MeasureGroup<'a>,
    /// Stack size of its thread in bytes.
    pub stack_size: usize,
}

type Outcome = Result<TrialRecord, TrialError>;
type MeasureGroup<'a> = Box<dyn FnOnce(&BarrierMember, &mut dyn Listener) -> Outcome + Send + 'a>;

/// Measures background groups, each on its own thread, while `run_measured` measures the measured
/// groups. The listener receives the events of the measured groups, and the histories of all
/// groups.
///
/// # Errors
/// Those of `run_measured`.
pub fn run_groups(
    trial: &str,
    background: Vec<BackgroundGroup<'_>>,
    listener: &mut dyn Listener,
    run_measured: impl FnOnce(Option<&BarrierMember>, &mut dyn Listener) -> Outcome,
) -> Outcome {
    if background.is_empty() {
        return run_measured(None, listener);
    }
    let (first, members) =
        StartBarrier::members(background.iter().map(|it| (it.name.clone(), it.clients)));
    thread::scope(|scope| {
        let run = |group: BackgroundGroup<'_>, member: BarrierMember| {
            let mut history = HistoryKeeper::default();
            let outcome = (group.run)(&member, &mut history);
            member.end(outcome);
            (group.name, history)
        };
        let threads = background.into_iter().zip(members).map(|(group, member)| {
            let thread = thread::Builder::new().stack_size(group.stack_size);
            let spawned = thread.spawn_scoped(scope, move || run(group, member));
            spawned.expect("a thread can be started")
        });
        let threads: Vec<_> = threads.collect();
        let outcome = run_measured(Some(&first), &mut *listener);
        // Members that still wait for the start receive its cancellation.
        drop(first);
        // A panicked member was already reported; this thread must not panic before all are joined.
        for (name, HistoryKeeper(history)) in
            threads.into_iter().filter_map(|thread| thread.join().ok())
        {
            if let Some(history) = history {
                listener.history(trial, Some(&name), &history);
            }
        }
        outcome
    })
}

/// Keeps the history of a background group, and drops its other events.
#[derive(Default)]
struct HistoryKeeper(Option<Arc<History>>);

impl Listener for HistoryKeeper {
    fn history(&mut self, _trial: &str, _group: Option<&str>, history: &Arc<History>) {
        self.0 = Some(Arc::clone(history));
    }
}

/// The state that the members of a trial share.
struct StartBarrier {
    /// Names and numbers of clients of the background groups.
    groups: Vec<(String, u32)>,
    state: Mutex<BarrierState>,
    changed: Condvar,
}

#[derive(Default)]
struct BarrierState {
    /// The progress of each background group.
    background: Vec<MemberState>,
    start: Option<Start>,
    /// The first member has audited, or has left.
    may_audit: bool,
}

#[derive(Default, PartialEq)]
enum MemberState {
    #[default]
    Connecting,
    Ready,
    Settled,
    /// `None`: it panicked.
    Ended(Option<Box<Outcome>>),
}

impl MemberState {
    fn is_ready(&self) -> bool {
        *self != Self::Connecting
    }

    fn is_settled(&self) -> bool {
        matches!(self, Self::Settled | Self::Ended(_))
    }

    fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// A member of the barrier.
pub struct BarrierMember {
    /// Its index among the background groups; `None`: the measured groups.
    group: Option<usize>,
    barrier: Arc<StartBarrier>,
}

impl StartBarrier {
    fn members(groups: impl Iterator<Item = (String, u32)>) -> (BarrierMember, Vec<BarrierMember>) {
        let groups: Vec<_> = groups.collect();
        let background = groups.iter().map(|_| MemberState::default()).collect();
        let state = Mutex::new(BarrierState { background, ..BarrierState::default() });
        let barrier = Arc::new(Self { groups, state, changed: Condvar::new() });
        let member = |group| BarrierMember { group, barrier: Arc::clone(&barrier) };
        (member(None), (0..barrier.groups.len()).map(|group| member(Some(group))).collect())
    }

    /// An error of a background group, with its name.
    fn failed(&self, group: usize, error: Option<&TrialError>) -> TrialError {
        let failed = |reason: Reason| Reason::BackgroundFailed {
            name: self.groups[group].0.clone(),
            reason: Box::new(reason),
        };
        match error {
            Some(TrialError::Interrupted) => TrialError::Interrupted,
            Some(TrialError::ThreadsStillRunning(reason)) => {
                TrialError::ThreadsStillRunning(failed(reason.clone()))
            }
            Some(error) => TrialError::Failed(failed(error.clone().into())),
            None => TrialError::Failed(failed(PANICKED.into())),
        }
    }
}

impl BarrierMember {
    /// True for a background group.
    pub(crate) fn is_background(&self) -> bool {
        self.group.is_some()
    }

    fn change(&self, change: impl FnOnce(&mut BarrierState)) {
        change(&mut lock(&self.barrier.state));
        self.barrier.changed.notify_all();
    }

    /// Records its progress, and waits until `until` returns true.
    fn wait(
        &self,
        reached: MemberState,
        until: impl Fn(&BarrierState) -> bool,
    ) -> MutexGuard<'_, BarrierState> {
        if let Some(group) = self.group {
            self.change(|state| state.background[group] = reached);
        }
        let waiting =
            self.barrier.changed.wait_while(lock(&self.barrier.state), |state| !until(state));
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports that its clients are ready, and returns when those of all members are. The first
    /// member calls `start` before any client begins, which sets the moment.
    ///
    /// # Errors
    /// For the first member, when another has left, and those of `start`; for the others, when the
    /// start was cancelled.
    pub(crate) fn await_start(
        &self,
        start: impl FnOnce() -> Result<Start, TrialError>,
    ) -> Result<Start, TrialError> {
        let Some(group) = self.group else {
            let state = self.wait(MemberState::Ready, |state| {
                state.background.iter().all(MemberState::is_ready)
                    || state.background.iter().any(MemberState::has_ended)
            });
            let ended =
                state.background.iter().enumerate().find_map(|(group, progress)| match progress {
                    MemberState::Ended(outcome) => {
                        Some(self.barrier.failed(group, error(outcome.as_deref())))
                    }
                    _ => None,
                });
            drop(state);
            if let Some(error) = ended {
                return Err(error);
            }
            let start = start()?;
            self.change(|state| state.start = Some(start.clone()));
            return Ok(start);
        };
        let state = self.wait(MemberState::Ready, |state| state.start.is_some() || state.may_audit);
        let start =
            state.start.as_ref().map(|start| start.for_group(&self.barrier.groups[group].0));
        start.ok_or(TrialError::Interrupted)
    }

    /// Reports that its sessions have ended; returns when it may audit the data.
    pub(crate) fn settled(&self) {
        drop(self.wait(MemberState::Settled, |state| match self.group {
            None => state.background.iter().all(MemberState::is_settled),
            Some(_) => state.may_audit,
        }));
    }

    /// Returns the records of the background groups, which audit from here on, and the reason for
    /// each missing record.
    ///
    /// # Errors
    /// When threads of a group are still running.
    pub(crate) fn records(&self) -> Result<(Vec<GroupRecord>, Vec<Reason>), TrialError> {
        self.change(|state| state.may_audit = true);
        let mut state = self.wait(MemberState::Settled, |state| {
            state.background.iter().all(MemberState::has_ended)
        });
        let (mut records, mut missing) = (Vec::new(), Vec::new());
        let outcomes =
            state.background.drain(..).enumerate().map(|(group, progress)| match progress {
                MemberState::Ended(outcome) => (group, outcome.map(|outcome| *outcome)),
                _ => (group, None),
            });
        for (group, outcome) in outcomes {
            let (name, clients) = self.barrier.groups[group].clone();
            match outcome {
                Some(Ok(record)) => records.push(GroupRecord { name, clients, record }),
                other => match self.barrier.failed(group, error(other.as_ref())) {
                    error @ TrialError::ThreadsStillRunning(_) => return Err(error),
                    error => missing.push(error.into()),
                },
            }
        }
        Ok((records, missing))
    }

    /// Reports that the member has ended.
    fn end(self, outcome: Outcome) {
        self.set_ended(Some(Box::new(outcome)));
    }

    fn set_ended(&self, outcome: Option<Box<Outcome>>) {
        self.change(|state| match self.group {
            None => state.may_audit = true,
            Some(group) => {
                if let Some(progress) = state.background.get_mut(group)
                    && !progress.has_ended()
                {
                    *progress = MemberState::Ended(outcome);
                }
            }
        });
    }
}

fn error(outcome: Option<&Outcome>) -> Option<&TrialError> {
    outcome.and_then(|outcome| outcome.as_ref().err())
}

impl Drop for BarrierMember {
    fn drop(&mut self) {
        self.set_ended(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::failure::FailureKind;

    fn pair() -> (BarrierMember, BarrierMember) {
        let (first, mut others) = StartBarrier::members([("report".to_owned(), 3)].into_iter());
        (first, others.remove(0))
    }

    #[test]
    fn all_begin_together_and_the_records_come_with_their_names() {
        let (first, member) = pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                assert!(member.await_start(|| panic!("the first member does this")).is_ok());
                member.settled();
                member.end(Ok(TrialRecord {
                    started_at: "then".to_owned(),
                    ..TrialRecord::default()
                }));
            });
            let mut has_begun = false;
            assert!(
                first
                    .await_start(|| {
                        has_begun = true;
                        Ok(Start::soon())
                    })
                    .is_ok()
                    && has_begun
            );
            first.settled();
            let (records, missing) = first.records().expect("all have ended");
            assert_eq!(
                (records[0].name.as_str(), records[0].clients, missing),
                ("report", 3, vec![])
            );
            assert_eq!(records[0].record.started_at, "then");
        });
    }

    #[test]
    fn no_background_group_audits_before_the_first_member_has() {
        let (first, member) = pair();
        let (sender, audits) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                let _ = member.await_start(|| Ok(Start::soon()));
                member.settled();
                let _ = sender.send("background");
                member.end(Ok(TrialRecord::default()));
            });
            first.await_start(|| Ok(Start::soon())).expect("both are ready");
            first.settled();
            let is_early = audits.recv_timeout(std::time::Duration::from_millis(50)).is_ok();
            assert!(!is_early, "the first member has read no counters yet");
            first.records().expect("all have ended");
            assert_eq!(audits.recv(), Ok("background"));
        });
    }

    #[test]
    fn a_member_that_cannot_begin_is_named_with_its_reason() {
        let failed = |leave: fn(BarrierMember)| {
            let (first, member) = pair();
            leave(member);
            (first.await_start(|| panic!("nobody begins")).expect_err("it is not ready"), first)
        };
        let refused = |member: BarrierMember| {
            member.end(Err(TrialError::NotConnected(FailureKind::Other.failure("no room"))));
        };
        let sender = failed(refused).0.to_string();
        assert!(
            sender.contains("the background workload \"report\": clients could not be started: ")
                && sender.contains("no room"),
            "{sender}"
        );
        assert_eq!(
            failed(|member| member.end(Err(TrialError::Interrupted))).0,
            TrialError::Interrupted
        );
        let (panicked, first) = failed(drop);
        assert!(panicked.to_string().contains("panicked"));
        let (records, missing) = first.records().expect("all have ended");
        assert!(records.is_empty() && missing.len() == 1, "{missing:?}");
    }

    #[test]
    fn waiting_members_learn_that_there_will_be_no_start() {
        let (first, member) = pair();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || {
                let start = member.await_start(|| Ok(Start::soon()));
                member.settled();
                start.err()
            });
            drop(first);
            assert_eq!(waiting.join().expect("it ends"), Some(TrialError::Interrupted));
        });
    }
}

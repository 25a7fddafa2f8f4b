//! Several workloads in one trial: each is measured by a trial of its own, on a thread of its own,
//! and here they wait for each other.
//!
//! One of them leads. All begin at one moment, once the clients of all are ready; one that is
//! stopped before its end stops the others. Nobody asks what became of the data before the sessions
//! of all have ended, and the leader has read the server's counters.

use crate::measure::load::TrialError;
use crate::measure::start::Start;
use dyno_model::beside::BesideRecord;
use dyno_model::record::TrialRecord;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a member has come to.
enum Report {
    /// All its clients are ready.
    Ready,
    /// Its sessions have ended.
    Settled,
    /// It has ended, with its record unless it could not be measured.
    Done(Result<Box<TrialRecord>, TrialError>),
}

/// The members, as the workload that leads sees them. Dropped before they have begun, it tells them
/// that nothing comes of it.
pub struct Company(Vec<Member>);

/// A member.
struct Member {
    name: String,
    clients: u32,
    reports: Receiver<Report>,
    start: Sender<Start>,
    audit: Sender<()>,
}

/// The place of a member, on its own thread.
pub struct Place {
    reports: Sender<Report>,
    start: Receiver<Start>,
    audit: Receiver<()>,
}

impl Company {
    /// Members by name and number of clients, each with its place.
    pub fn of(members: impl IntoIterator<Item = (String, u32)>) -> (Self, Vec<Place>) {
        let pair = |(name, clients)| {
            let (told, reports) = channel();
            let (go, start) = channel();
            let (ask, audit) = channel();
            let member = Member { name, clients, reports, start: go, audit: ask };
            (member, Place { reports: told, start, audit })
        };
        let (members, places) = members.into_iter().map(pair).unzip();
        (Self(members), places)
    }

    /// Waits until the clients of all are ready.
    pub(crate) fn await_ready(&self) -> Result<(), TrialError> {
        self.0.iter().try_for_each(|member| match member.reports.recv() {
            Ok(Report::Ready) => Ok(()),
            Ok(Report::Done(Err(TrialError::Interrupted))) => Err(TrialError::Interrupted),
            Ok(Report::Done(Err(TrialError::LeftBehind(reason)))) => {
                Err(TrialError::LeftBehind(member.failed(&reason).to_string()))
            }
            Ok(Report::Done(Err(error))) => Err(member.failed(&error.to_string())),
            Ok(Report::Settled | Report::Done(Ok(_))) | Err(_) => Err(member.failed(PANICKED)),
        })
    }

    /// All begin.
    pub(crate) fn begin(&self, start: &Start) {
        for member in &self.0 {
            // Of a member that is gone, its record tells.
            let _ = member.start.send(start.of(&member.name));
        }
    }

    /// Waits until the sessions of all have ended.
    pub(crate) fn await_settled(&self) {
        for member in &self.0 {
            // One that is gone has no sessions.
            let _ = member.reports.recv();
        }
    }

    /// The records of all, which may ask what became of the data from here on. In the place of one
    /// that is missing is why.
    ///
    /// # Errors
    /// When threads of one go on.
    pub(crate) fn records(&self) -> Result<(Vec<BesideRecord>, Vec<String>), TrialError> {
        for member in &self.0 {
            let _ = member.audit.send(());
        }
        let (mut records, mut missing) = (Vec::new(), Vec::new());
        for member in &self.0 {
            match member.reports.recv() {
                Ok(Report::Done(Ok(record))) => {
                    let (name, clients) = (member.name.clone(), member.clients);
                    records.push(BesideRecord { name, clients, record: *record });
                }
                Ok(Report::Done(Err(TrialError::LeftBehind(reason)))) => {
                    return Err(TrialError::LeftBehind(member.failed(&reason).to_string()));
                }
                Ok(Report::Done(Err(error))) => {
                    missing.push(member.failed(&error.to_string()).to_string());
                }
                Ok(Report::Ready | Report::Settled) | Err(_) => {
                    missing.push(member.failed(PANICKED).to_string());
                }
            }
        }
        Ok((records, missing))
    }
}

const PANICKED: &str = "its thread panicked; this is a bug of dyno";

impl Member {
    fn failed(&self, reason: &str) -> TrialError {
        TrialError::Machine(format!("the workload {:?} beside: {reason}", self.name))
    }
}

impl Place {
    /// All clients are ready; returns when all others are, too. `None`: nothing comes of it.
    pub(crate) fn ready(&self) -> Option<Start> {
        let _ = self.reports.send(Report::Ready);
        self.start.recv().ok()
    }

    /// Its sessions have ended; returns when those of all others have, too.
    pub(crate) fn settled(&self) {
        let _ = self.reports.send(Report::Settled);
        // Without a leader nobody is left to wait for.
        let _ = self.audit.recv();
    }

    /// It has ended.
    pub fn done(self, outcome: Result<TrialRecord, TrialError>) {
        let _ = self.reports.send(Report::Done(outcome.map(Box::new)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::failure::FailureKind;

    fn pair() -> (Company, Place) {
        let (company, mut places) = Company::of([("report".to_owned(), 3)]);
        (company, places.remove(0))
    }

    #[test]
    fn all_begin_together_and_the_records_come_with_their_names() {
        let (company, place) = pair();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                assert!(place.ready().is_some());
                place.settled();
                place.done(Ok(TrialRecord {
                    started_at: "then".to_owned(),
                    ..TrialRecord::default()
                }));
            });
            assert_eq!(company.await_ready(), Ok(()));
            company.begin(&Start::soon());
            company.await_settled();
            let (records, missing) = company.records().expect("all have ended");
            assert_eq!(
                (records[0].name.as_str(), records[0].clients, missing),
                ("report", 3, vec![])
            );
            assert_eq!(records[0].record.started_at, "then");
        });
    }

    #[test]
    fn a_member_that_cannot_begin_is_named_with_its_reason() {
        let (company, place) = pair();
        place.done(Err(TrialError::Ramp(FailureKind::Other.failure("no room"))));
        let told = company.await_ready().expect_err("it is not ready").to_string();
        assert!(
            told.contains("the workload \"report\" beside: clients could not be started: ")
                && told.contains("no room"),
            "{told}"
        );
        let (company, place) = pair();
        place.done(Err(TrialError::Interrupted));
        assert_eq!(company.await_ready(), Err(TrialError::Interrupted));
        let (company, place) = pair();
        drop(place);
        assert!(company.await_ready().expect_err("it is gone").to_string().contains("panicked"));
        let (records, missing) = company.records().expect("all have ended");
        assert!(records.is_empty() && missing.len() == 1, "{missing:?}");
    }

    #[test]
    fn members_that_wait_are_told_when_nothing_comes_of_it() {
        let (company, place) = pair();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || {
                let start = place.ready();
                place.settled();
                start.is_none()
            });
            drop(company);
            assert!(waiting.join().expect("it ends"));
        });
    }
}

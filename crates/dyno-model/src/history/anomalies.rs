//! Anomalies in a history that follow from values alone: no knowledge of the server, no clocks.
//! What is found is certain; what is not found may be there all the same (longer cycles,
//! predicates), and Elle, which reads the same history, looks further.

use super::{Attempt, Fate, History, Operation, shown};
use crate::isolation::IsolationLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

crate::named! {
    /// What transactions at the same time may do to one another. Names as in Berenson, Bernstein,
    /// Gray and others: "A Critique of ANSI SQL Isolation Levels" (SIGMOD 1995), and Adya, Liskov,
    /// O'Neil: "Generalized Isolation Level Definitions" (ICDE 2000).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Anomaly {
        /// A committed transaction read what a transaction wrote that has failed (Adya's G1a).
        DirtyRead = "dirty-read",
        /// A committed transaction read what another one wrote, and wrote over before it ended
        /// (Adya's G1b).
        IntermediateRead = "intermediate-read",
        /// A committed transaction read an object twice, did not write it in between, and saw two
        /// values (P2).
        NonRepeatableRead = "non-repeatable-read",
        /// Two committed transactions read the same value of an object, and both wrote it (P4).
        LostUpdate = "lost-update",
        /// Two committed transactions read the same values of two objects, and each wrote the one
        /// that the other did not (A5B).
        WriteSkew = "write-skew",
    }
}

impl Anomaly {
    /// The weakest level that forbids it. Berenson and others, table 4, where REPEATABLE READ is
    /// kept by locks; most servers take a snapshot instead, and snapshot isolation allows write
    /// skew.
    #[must_use]
    pub fn forbidden_from(self) -> IsolationLevel {
        match self {
            Self::DirtyRead | Self::IntermediateRead => IsolationLevel::ReadCommitted,
            Self::NonRepeatableRead | Self::LostUpdate => IsolationLevel::RepeatableRead,
            Self::WriteSkew => IsolationLevel::Serializable,
        }
    }
}

/// How often an anomaly was found, and one of the cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Which.
    pub anomaly: Anomaly,
    /// Transactions that read so; of [lost updates](Anomaly::LostUpdate), writes that were made on
    /// top of a value that somebody else had written over; of [write skew](Anomaly::WriteSkew),
    /// pairs of transactions.
    pub count: u64,
    /// The transactions of the first case, the one that suffers first.
    pub example: Vec<Involved>,
}

/// A transaction of an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Involved {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// What it did to the objects concerned: `r[3]=17 w[3]=21`.
    pub operations: String,
}

/// Index of an attempt.
type At = usize;

/// An object at a moment: the last value in it, 0 before the first.
type Version = (u32, u64);

/// Looks for all anomalies; one entry of each, in their order. Time and memory grow with the number
/// of operations, and with the transactions that read what others wrote over.
#[must_use]
pub fn find(history: &History) -> Vec<Found> {
    let writes = Writes::of(history);
    let (mut dirty, mut intermediate, mut unrepeated) = (
        Finder::of(Anomaly::DirtyRead),
        Finder::of(Anomaly::IntermediateRead),
        Finder::of(Anomaly::NonRepeatableRead),
    );
    for (at, attempt) in
        history.attempts.iter().enumerate().filter(|(_, it)| it.fate == Fate::Committed)
    {
        if let Some((object, writer)) = writes.dirty_read(history, at) {
            dirty.case(history, &[at, writer], &[object]);
        }
        if let Some((object, writer)) = writes.intermediate_read(history, at) {
            intermediate.case(history, &[at, writer], &[object]);
        }
        if let Some(object) = changed(attempt) {
            unrepeated.case(history, &[at], &[object]);
        }
    }
    let versions = Versions::of(history);
    let finders = [
        dirty,
        intermediate,
        unrepeated,
        versions.lost_updates(history),
        versions.write_skews(history),
    ];
    finders.into_iter().map(|finder| finder.0).collect()
}

/// Counts one kind of anomaly.
struct Finder(Found);

impl Finder {
    fn of(anomaly: Anomaly) -> Self {
        Self(Found { anomaly, count: 0, example: Vec::new() })
    }

    fn case(&mut self, history: &History, attempts: &[At], objects: &[u32]) {
        self.0.count += 1;
        if self.0.example.is_empty() {
            let involved = attempts.iter().map(|at| {
                let Attempt { client, sequence, operations, .. } = &history.attempts[*at];
                Involved {
                    client: *client,
                    sequence: *sequence,
                    operations: shown(operations, objects),
                }
            });
            self.0.example.extend(involved);
        }
    }
}

/// What an object holds for whoever reads it: the last value, 0 before the first.
fn last(seen: &[u64]) -> u64 {
    seen.last().copied().unwrap_or(0)
}

/// Who wrote a value, and whether the same transaction wrote the object again later.
struct Writes(HashMap<u64, (At, bool)>);

impl Writes {
    fn of(history: &History) -> Self {
        let mut writes = HashMap::new();
        for (at, attempt) in history.attempts.iter().enumerate() {
            let mut is_over = HashSet::new();
            for operation in attempt.operations.iter().rev() {
                if let Operation::Write { object, value } = operation {
                    writes.insert(*value, (at, !is_over.insert(*object)));
                }
            }
        }
        Self(writes)
    }

    /// An object that an attempt read with a value of a failed one. All values of a list count:
    /// each was there to be read.
    fn dirty_read(&self, history: &History, reader: At) -> Option<(u32, At)> {
        reads(&history.attempts[reader]).find_map(|(object, seen)| {
            let writer = seen.iter().find_map(|value| {
                let (writer, _) = *self.0.get(value)?;
                (writer != reader && history.attempts[writer].fate == Fate::Failed)
                    .then_some(writer)
            });
            Some((object, writer?))
        })
    }

    /// An object that an attempt read in the middle of another one.
    fn intermediate_read(&self, history: &History, reader: At) -> Option<(u32, At)> {
        reads(&history.attempts[reader]).find_map(|(object, seen)| {
            let (writer, is_over) = *self.0.get(&last(seen))?;
            (is_over && writer != reader).then_some((object, writer))
        })
    }
}

/// Reads that were answered.
fn reads(attempt: &Attempt) -> impl Iterator<Item = (u32, &[u64])> {
    attempt.operations.iter().filter_map(|operation| match operation {
        Operation::Read { object, seen: Some(seen) } => Some((*object, &seen[..])),
        _ => None,
    })
}

/// The versions that an attempt read before it wrote the object itself, in order.
fn versions_read(attempt: &Attempt) -> Vec<Version> {
    let mut own = HashSet::new();
    let mut read = Vec::new();
    for operation in &attempt.operations {
        match operation {
            Operation::Write { object, .. } => {
                own.insert(*object);
            }
            Operation::Read { object, seen: Some(seen) } if !own.contains(object) => {
                read.push((*object, last(seen)));
            }
            Operation::Read { .. } => {}
        }
    }
    read
}

/// An object of which an attempt saw two versions, without having written it.
fn changed(attempt: &Attempt) -> Option<u32> {
    let mut first = HashMap::new();
    versions_read(attempt)
        .into_iter()
        .find(|(object, value)| *first.entry(*object).or_insert(*value) != *value)
        .map(|(object, _)| object)
}

/// Who read a version of an object, and wrote then.
#[derive(Default)]
struct Readers {
    /// They wrote the object itself.
    and_wrote: Vec<At>,
    /// They wrote others only.
    and_wrote_others: Vec<At>,
}

/// The versions that committed transactions read, those that wrote something too. In the order in
/// which they were met, so that the same history gives the same example.
struct Versions(Vec<(Version, Readers)>);

impl Versions {
    fn of(history: &History) -> Self {
        let mut index: HashMap<Version, usize> = HashMap::new();
        let mut versions: Vec<(Version, Readers)> = Vec::new();
        for (at, attempt) in
            history.attempts.iter().enumerate().filter(|(_, it)| it.fate == Fate::Committed)
        {
            let written =
                attempt.operations.iter().filter(|it| matches!(it, Operation::Write { .. }));
            let written: HashSet<u32> = written.map(Operation::object).collect();
            if written.is_empty() {
                continue;
            }
            let mut read = versions_read(attempt);
            read.sort_unstable();
            read.dedup();
            for version in read {
                let place = *index.entry(version).or_insert_with(|| {
                    versions.push((version, Readers::default()));
                    versions.len() - 1
                });
                let readers = &mut versions[place].1;
                match written.contains(&version.0) {
                    true => readers.and_wrote.push(at),
                    false => readers.and_wrote_others.push(at),
                }
            }
        }
        Self(versions)
    }

    /// Each write but one on top of the same version is one that did not know of another.
    fn lost_updates(&self, history: &History) -> Finder {
        let mut found = Finder::of(Anomaly::LostUpdate);
        for ((object, _), readers) in &self.0 {
            for pair in readers.and_wrote.windows(2) {
                found.case(history, pair, &[*object]);
            }
        }
        found
    }

    /// Pairs of which each read what the other wrote over, in two objects.
    fn write_skews(&self, history: &History) -> Finder {
        // Who read a version that somebody wrote over: the first has to come before the second.
        let mut before: HashMap<(At, At), u32> = HashMap::new();
        let mut order = Vec::new();
        for ((object, _), readers) in &self.0 {
            for earlier in &readers.and_wrote_others {
                for later in &readers.and_wrote {
                    if before.insert((*earlier, *later), *object).is_none() {
                        order.push((*earlier, *later));
                    }
                }
            }
        }
        let mut found = Finder::of(Anomaly::WriteSkew);
        for (earlier, later) in order.into_iter().filter(|(earlier, later)| earlier < later) {
            if let Some(back) = before.get(&(later, earlier)) {
                found.case(history, &[earlier, later], &[before[&(earlier, later)], *back]);
            }
        }
        found
    }
}

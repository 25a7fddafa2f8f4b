//! Anomalies in a history that follow from values alone, without knowledge of the server and
//! without clocks. Every anomaly found is certain; others may remain undetected (longer cycles,
//! predicates). Elle, which reads the same history, detects more.

use super::{Attempt, AttemptOutcome, History, Operation, shown};
use crate::isolation::IsolationLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

crate::named! {
    /// Anomalies of concurrent transactions. Names as in Berenson, Bernstein, Gray and others: "A
    /// Critique of ANSI SQL Isolation Levels" (SIGMOD 1995), and Adya, Liskov, O'Neil: "Generalized
    /// Isolation Level Definitions" (ICDE 2000).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Anomaly {
        /// A committed transaction read a value written by a failed transaction (Adya's G1a).
        DirtyRead = "dirty-read",
        /// A committed transaction read a value that another transaction wrote and overwrote before
        /// it ended (Adya's G1b).
        IntermediateRead = "intermediate-read",
        /// A committed transaction read an object twice without writing it in between, and saw two
        /// values (P2).
        NonRepeatableRead = "non-repeatable-read",
        /// Two committed transactions read the same value of an object, and both wrote it (P4).
        LostUpdate = "lost-update",
        /// Two committed transactions read the same values of two objects, and each wrote the one
        /// that the other did not write (A5B).
        WriteSkew = "write-skew",
    }
}

impl Anomaly {
    /// The weakest level that forbids it. Berenson and others, table 4, where REPEATABLE READ is
    /// implemented with locks; most servers take a snapshot instead, and snapshot isolation allows
    /// write skew.
    #[must_use]
    pub fn forbidden_from(self) -> IsolationLevel {
        match self {
            Self::DirtyRead | Self::IntermediateRead => IsolationLevel::ReadCommitted,
            Self::NonRepeatableRead | Self::LostUpdate => IsolationLevel::RepeatableRead,
            Self::WriteSkew => IsolationLevel::Serializable,
        }
    }
}

/// The number of occurrences of an anomaly, with an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The anomaly.
    pub anomaly: Anomaly,
    /// Transactions with such reads; for [lost updates](Anomaly::LostUpdate), writes based on a
    /// value that another transaction had overwritten; for [write skew](Anomaly::WriteSkew), pairs
    /// of transactions.
    pub count: u64,
    /// The transactions of the first occurrence, the affected one first.
    pub example: Vec<Involved>,
}

/// A transaction of an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Involved {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// Its operations on the objects concerned: `r[3]=17 w[3]=21`.
    pub operations: String,
}

/// Index of an attempt.
type At = usize;

/// A version of an object: its last value, 0 before the first write.
type Version = (u32, u64);

/// Finds all anomalies; one entry per kind, in order. Time and memory grow with the number of
/// operations, and with the number of transactions that read overwritten values.
#[must_use]
pub fn find(history: &History) -> Vec<Found> {
    let writes = Writes::of(history);
    let (mut dirty, mut intermediate, mut unrepeated) = (
        AnomalyCounter::of(Anomaly::DirtyRead),
        AnomalyCounter::of(Anomaly::IntermediateRead),
        AnomalyCounter::of(Anomaly::NonRepeatableRead),
    );
    for (at, attempt) in history
        .attempts
        .iter()
        .enumerate()
        .filter(|(_, it)| it.outcome == AttemptOutcome::Committed)
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
struct AnomalyCounter(Found);

impl AnomalyCounter {
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

/// The state of an object for a reader: the last value, 0 before the first write.
fn last(seen: &[u64]) -> u64 {
    seen.last().copied().unwrap_or(0)
}

/// The writer of a value, and whether the same transaction wrote the object again later.
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

    /// An object of which an attempt read a value of a failed one. All values of a list count,
    /// since each was visible.
    fn dirty_read(&self, history: &History, reader: At) -> Option<(u32, At)> {
        reads(&history.attempts[reader]).find_map(|(object, seen)| {
            let writer = seen.iter().find_map(|value| {
                let (writer, _) = *self.0.get(value)?;
                (writer != reader && history.attempts[writer].outcome == AttemptOutcome::Failed)
                    .then_some(writer)
            });
            Some((object, writer?))
        })
    }

    /// An object of which an attempt read an intermediate value of another one.
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

/// An object of which an attempt saw two versions without having written it.
fn changed(attempt: &Attempt) -> Option<u32> {
    let mut first = HashMap::new();
    versions_read(attempt)
        .into_iter()
        .find(|(object, value)| *first.entry(*object).or_insert(*value) != *value)
        .map(|(object, _)| object)
}

/// Attempts that read a version of an object and then wrote.
#[derive(Default)]
struct Readers {
    /// Those that wrote the object itself.
    and_wrote: Vec<At>,
    /// Those that wrote only other objects.
    and_wrote_others: Vec<At>,
}

/// The versions that committed transactions with writes read, in order of first occurrence, so that
/// the same history gives the same example.
struct Versions(Vec<(Version, Readers)>);

impl Versions {
    fn of(history: &History) -> Self {
        let mut index: HashMap<Version, usize> = HashMap::new();
        let mut versions: Vec<(Version, Readers)> = Vec::new();
        for (at, attempt) in history
            .attempts
            .iter()
            .enumerate()
            .filter(|(_, it)| it.outcome == AttemptOutcome::Committed)
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
                let position = *index.entry(version).or_insert_with(|| {
                    versions.push((version, Readers::default()));
                    versions.len() - 1
                });
                let readers = &mut versions[position].1;
                match written.contains(&version.0) {
                    true => readers.and_wrote.push(at),
                    false => readers.and_wrote_others.push(at),
                }
            }
        }
        Self(versions)
    }

    /// Of the writes based on the same version, all but one missed another.
    fn lost_updates(&self, history: &History) -> AnomalyCounter {
        let mut found = AnomalyCounter::of(Anomaly::LostUpdate);
        for ((object, _), readers) in &self.0 {
            for pair in readers.and_wrote.windows(2) {
                found.case(history, pair, &[*object]);
            }
        }
        found
    }

    /// Pairs in which each read what the other overwrote, in two objects.
    fn write_skews(&self, history: &History) -> AnomalyCounter {
        // Readers of an overwritten version: the first must precede the second.
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
        let mut found = AnomalyCounter::of(Anomaly::WriteSkew);
        for (earlier, later) in order.into_iter().filter(|(earlier, later)| earlier < later) {
            if let Some(back) = before.get(&(later, earlier)) {
                found.case(history, &[earlier, later], &[before[&(earlier, later)], *back]);
            }
        }
        found
    }
}

//! Histories: the reads and writes of clients, by transaction, with times. Every value is written
//! only once, so that each read identifies the write that it observed.
//!
//! * this file: a history as its clients recorded it;
//! * [`anomalies`]: anomalies in it that an isolation level may forbid.

pub mod anomalies;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

crate::named! {
    /// Type of the objects that transactions read and write.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Objects {
        /// A value that a write replaces. Registers are initially empty.
        Registers = "registers",
        /// A list to which a write appends a value. Lists are initially empty, and a read shows the
        /// order of the writes.
        Lists = "lists",
    }
}

/// Outcome of an attempt of a transaction, as its client knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// Its commit was acknowledged.
    Committed,
    /// It has not committed and never will: no COMMIT was sent, or the server refused it.
    Failed,
    /// The answer to its COMMIT was lost, or the client did not wait for it.
    InDoubt,
}

/// One operation of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A read. If it was not answered, the transaction ended with it.
    Read {
        /// The object.
        object: u32,
        /// The result: for a register its value, or nothing before the first write; for a list all
        /// values.
        seen: Option<Vec<u64>>,
    },
    /// A write that was sent.
    Write {
        /// The object.
        object: u32,
        /// The value, above 0 and unique in the history.
        value: u64,
    },
}

impl Operation {
    /// The object.
    #[must_use]
    pub fn object(&self) -> u32 {
        match self {
            Self::Read { object, .. } | Self::Write { object, .. } => *object,
        }
    }
}

/// An attempt of a transaction. Retries are separate attempts with different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// Start, nanoseconds since the common start. Each attempt of a client starts after its
    /// previous one has ended.
    pub started: u64,
    /// Time at which its outcome was known, nanoseconds since the common start; later than
    /// [`Self::started`]. Absent when its client was cut off.
    pub ended: Option<u64>,
    /// Outcome.
    pub outcome: AttemptOutcome,
    /// Operations, in order.
    pub operations: Vec<Operation>,
}

/// All attempts on a set of objects that no other client used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Type of the objects.
    pub objects: Objects,
    /// Number of clients.
    pub clients: u32,
    /// The attempts of each client in order, clients in any order.
    pub attempts: Vec<Attempt>,
}

impl History {
    /// Number of attempts with this outcome.
    #[must_use]
    pub fn count(&self, outcome: AttemptOutcome) -> u64 {
        self.attempts.iter().filter(|attempt| attempt.outcome == outcome).count() as u64
    }
}

/// Operations in the usual notation, restricted to some objects: `r[3]=17 w[3]=21`. For a list the
/// last observed value is shown.
fn shown(operations: &[Operation], objects: &[u32]) -> String {
    let mut text = String::new();
    for operation in operations.iter().filter(|it| objects.contains(&it.object())) {
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a String cannot fail.
        let _ = match operation {
            Operation::Read { object, seen } => match seen.as_ref().map(|seen| seen.last()) {
                Some(Some(value)) => write!(text, "{space}r[{object}]={value}"),
                Some(None) => write!(text, "{space}r[{object}]=nil"),
                None => write!(text, "{space}r[{object}]"),
            },
            Operation::Write { object, value } => write!(text, "{space}w[{object}]={value}"),
        };
    }
    text
}

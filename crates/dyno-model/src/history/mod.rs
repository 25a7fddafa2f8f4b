//! Histories: what clients read and wrote, transaction by transaction, with times. Every value is
//! written once, so that a read says whose write it saw.
//!
//! * this file: a history as its clients knew it;
//! * [`anomalies`]: what in it an isolation level may forbid.

pub mod anomalies;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

crate::named! {
    /// What transactions read and write.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Objects {
        /// A value that a write replaces. Registers begin without one.
        Registers = "registers",
        /// Values to which a write adds one at the end. Lists begin empty, and a read shows in
        /// which order they grew.
        Lists = "lists",
    }
}

/// What became of an attempt of a transaction, as its client knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its commit was acknowledged.
    Committed,
    /// It has not committed and never will: no COMMIT was sent, or the server refused it.
    Failed,
    /// The answer to its COMMIT was lost, or nobody waited for it.
    InDoubt,
}

/// One operation of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A read. Without an answer the transaction ended there.
    Read {
        /// The object.
        object: u32,
        /// What was there: of a register its value, or nothing before the first write; of a list
        /// all values.
        seen: Option<Vec<u64>>,
    },
    /// A write that was sent.
    Write {
        /// The object.
        object: u32,
        /// The value, above 0 and written nowhere else.
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

/// An attempt of a transaction. Retries are attempts of their own, with values of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// When it was begun, nanoseconds since the first client began. Of one client's attempts each
    /// begins after the one before has ended.
    pub begun: u64,
    /// When its end was known, nanoseconds since the first client began; later than
    /// [`Self::begun`]. Absent when its client was cut off.
    pub ended: Option<u64>,
    /// What became of it.
    pub fate: Fate,
    /// What it did, in order.
    pub operations: Vec<Operation>,
}

/// All attempts on a set of objects on which nobody else worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// What the objects are.
    pub objects: Objects,
    /// Number of clients.
    pub clients: u32,
    /// The attempts of each client in their order, clients in any order.
    pub attempts: Vec<Attempt>,
}

impl History {
    /// Attempts that ended in this way.
    #[must_use]
    pub fn count(&self, fate: Fate) -> u64 {
        self.attempts.iter().filter(|attempt| attempt.fate == fate).count() as u64
    }
}

/// Operations as people write them, those on some objects only: `r[3]=17 w[3]=21`. Of a list the
/// last value that was seen is shown.
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

//! What the data said after a trial.

use serde::{Deserialize, Serialize};

/// The audit of one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Everything that was checked; empty when the workload has no audit.
    pub checks: Vec<AuditCheck>,
}

impl AuditRecord {
    /// The worst verdict of all checks.
    #[must_use]
    pub fn verdict(&self) -> AuditVerdict {
        self.checks.iter().map(AuditCheck::verdict).max().unwrap_or(AuditVerdict::NotChecked)
    }
}

/// Outcome of an audit; ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// What must hold, holds.
    Intact,
    /// There was nothing to check, or the check could not be run.
    NotChecked,
    /// What must hold, does not.
    Violated,
}

/// One integrity check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum AuditCheck {
    /// Every committed transaction added exactly one to a counter; counters must have grown by the number of commits.
    LostUpdates {
        /// Acknowledged commits since the counters were last summed (warm-up included).
        committed: u64,
        /// Commits whose acknowledgement was lost; each may or may not have counted.
        in_doubt: u64,
        /// Sum of the counters before.
        sum_before: i64,
        /// Sum of the counters after.
        sum_after: i64,
        /// `committed - (sum_after - sum_before)`, at least 0: acknowledged updates that are not in the data.
        lost: u64,
        /// Updates that are in the data although nobody was told they had committed (beyond `in_doubt`).
        phantom: u64,
        /// Pairs of committed transactions that read the same value of the same row, from the client log.
        witnessed: u64,
        /// Up to a few of these pairs.
        examples: Vec<LostUpdateWitness>,
    },
    /// A table must hold a number of rows.
    RowCount {
        /// Table.
        table: String,
        /// Smallest right number.
        expected_min: u64,
        /// Largest right number.
        expected_max: u64,
        /// Rows found.
        found: u64,
    },
    /// The sum of a column must be within bounds.
    ColumnSum {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// Smallest right sum.
        expected_min: i64,
        /// Largest right sum: the smallest and what transactions in doubt or cut off may have added.
        expected_max: i64,
        /// Sum found.
        found: i64,
    },
    /// The check could not be run.
    NotRun {
        /// What was to be checked.
        name: String,
        /// Why it was not.
        reason: String,
    },
}

impl AuditCheck {
    /// Whether what must hold, holds.
    #[must_use]
    pub fn verdict(&self) -> AuditVerdict {
        let holds = match self {
            Self::LostUpdates { lost, phantom, .. } => *lost == 0 && *phantom == 0,
            Self::RowCount { expected_min, expected_max, found, .. } => {
                (*expected_min..=*expected_max).contains(found)
            }
            Self::ColumnSum { expected_min, expected_max, found, .. } => {
                (*expected_min..=*expected_max).contains(found)
            }
            Self::NotRun { .. } => return AuditVerdict::NotChecked,
        };
        if holds { AuditVerdict::Intact } else { AuditVerdict::Violated }
    }
}

/// Two transactions that both committed on top of the same value: one of the two updates is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostUpdateWitness {
    /// Key of the row.
    pub row: i64,
    /// The value both read.
    pub value_read: i64,
    /// First transaction.
    pub first: WitnessedTransaction,
    /// Second transaction.
    pub second: WitnessedTransaction,
}

/// A transaction as the client log knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessedTransaction {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// When its commit was acknowledged, nanoseconds since the measured window opened (negative in warm-up).
    pub committed_at: i64,
}

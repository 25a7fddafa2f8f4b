//! Counters of a trial. They must add up, which [`TrialCounters::check`] verifies.

use crate::failure::FailureKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Counts of the measured window, over all clients.
///
/// The identities, checked after every trial:
/// * `started = committed + failed + unfinished + skipped`
/// * `failed = Σ failed_by_kind`
/// * `attempts = started - skipped + retries`
/// * `retries = Σ retries_by_kind`
/// * per statement kind: `sent = ok + failed + unfinished`
/// * where transactions have names: each of their counts adds up to the one above
/// * `outcomes.total() = Σ ok`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialCounters {
    /// Transactions that clients took: started or skipped.
    pub started: u64,
    /// Transactions acknowledged as committed. Throughput is based on them, or on
    /// `weighted_commits` of the record where those are known.
    pub committed: u64,
    /// Transactions that failed for good.
    pub failed: u64,
    /// Transactions in flight when the window closed that were cut off after the grace period.
    pub unfinished: u64,
    /// Transactions skipped because they were too late (pgbench's `-R` with `-L`); they are not
    /// failures. 0 in records written before this was counted.
    pub skipped: u64,
    /// Executions of the transaction's statements, retries included.
    pub attempts: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Commits whose acknowledgement was lost: they count as `failed`, but may be in the database.
    pub in_doubt: u64,
    /// Failed transactions by the kind that ended them.
    pub failed_by_kind: BTreeMap<FailureKind, u64>,
    /// Retries by the kind that caused them.
    pub retries_by_kind: BTreeMap<FailureKind, u64>,
    /// Reconnects: after the connection broke, or because the workload requests them.
    pub reconnects: u64,
    /// Successful statements by outcome. All 0 in records written before this was counted.
    pub outcomes: Outcomes,
    /// Statements by kind, in the workload's order.
    pub statements: Vec<StatementCounters>,
    /// Transactions by name, in the workload's order; empty where they have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionCounters>,
    /// Counts that are 0 because they are unknown: another program omitted them from its results.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unknown: BTreeSet<UnknownCount>,
}

/// A count of [`TrialCounters`] that another program may omit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownCount {
    /// [`TrialCounters::failed`].
    Failed,
    /// [`TrialCounters::retries`].
    Retries,
}

/// Outcome of a successful statement, derived from the answer and never from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutcomeClass {
    /// A result set, possibly empty.
    Read,
    /// No result set, and at least one row changed.
    Write,
    /// Neither: BEGIN, COMMIT, DDL, an UPDATE that matched no row.
    Other,
}

/// Successful statements by [`OutcomeClass`]; sysbench prints them as read, write and other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// Statements answered with a result set.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// All others.
    pub others: u64,
}

impl Outcomes {
    /// Counts one statement.
    pub fn count(&mut self, class: OutcomeClass) {
        match class {
            OutcomeClass::Read => self.reads += 1,
            OutcomeClass::Write => self.writes += 1,
            OutcomeClass::Other => self.others += 1,
        }
    }

    /// Total.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
    }
}

/// Counts that a script reports itself, in addition to the measured counts (sysbench's
/// `sb_counter_inc`). They are not included in any other count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptCounters {
    /// Events.
    pub events: u64,
    /// Statements.
    pub outcomes: Outcomes,
    /// Errors.
    pub errors: u64,
    /// Reconnects.
    pub reconnects: u64,
}

/// A counter of [`ScriptCounters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptCounter {
    /// Events.
    Events,
    /// Statements with a result set.
    Reads,
    /// Statements that changed rows.
    Writes,
    /// Other statements.
    Others,
    /// Errors.
    Errors,
    /// Reconnects.
    Reconnects,
}

impl ScriptCounters {
    /// The value of a counter.
    #[must_use]
    pub fn get(&self, counter: ScriptCounter) -> u64 {
        let mut copy = *self;
        *copy.value(counter)
    }

    /// Adds to a counter.
    pub fn count(&mut self, counter: ScriptCounter, n: u64) {
        let value = self.value(counter);
        *value = value.saturating_add(n);
    }

    fn value(&mut self, counter: ScriptCounter) -> &mut u64 {
        match counter {
            ScriptCounter::Events => &mut self.events,
            ScriptCounter::Reads => &mut self.outcomes.reads,
            ScriptCounter::Writes => &mut self.outcomes.writes,
            ScriptCounter::Others => &mut self.outcomes.others,
            ScriptCounter::Errors => &mut self.errors,
            ScriptCounter::Reconnects => &mut self.reconnects,
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.outcomes.add(&other.outcomes);
        self.errors += other.errors;
        self.reconnects += other.reconnects;
    }
}

/// Counts of one kind of statement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementCounters {
    /// Name from the workload, e.g. `point-select`.
    pub name: String,
    /// Requests sent.
    pub sent: u64,
    /// Answered with success.
    pub ok: u64,
    /// Answered with an error, or the connection broke.
    pub failed: u64,
    /// Unanswered when the window closed and cut off.
    pub unfinished: u64,
    /// Rows received.
    pub rows: u64,
}

/// Counts of the transactions of one name; each corresponds to that of [`TrialCounters`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionCounters {
    /// Name from the workload: a script's, for example.
    pub name: String,
    /// Transactions that clients took.
    pub started: u64,
    /// Acknowledged as committed.
    pub committed: u64,
    /// Failed for good.
    pub failed: u64,
    /// Cut off.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: u64,
}

impl TransactionCounters {
    /// Adds other counts.
    fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.retries += other.retries;
    }
}

impl TrialCounters {
    /// Every identity that is violated, in words; empty when the counters add up.
    #[must_use]
    pub fn check(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut expect = |left: u64, right: u64, what: &str| {
            if left != right {
                broken.push(format!("{what}: {left} against {right}"));
            }
        };
        expect(
            self.started,
            self.committed + self.failed + self.unfinished + self.skipped,
            "started = committed + failed + unfinished + skipped",
        );
        expect(self.failed, self.failed_by_kind.values().sum(), "failed = sum over kinds");
        expect(
            self.attempts + self.skipped,
            self.started + self.retries,
            "attempts = started - skipped + retries",
        );
        expect(self.retries, self.retries_by_kind.values().sum(), "retries = sum over kinds");
        for statement in &self.statements {
            let answered = statement.ok + statement.failed + statement.unfinished;
            expect(
                statement.sent,
                answered,
                &format!("{}: sent = ok + failed + unfinished", statement.name),
            );
        }
        let ok = self.statements.iter().map(|statement| statement.ok).sum();
        expect(self.outcomes.total(), ok, "read + write + other = sum of ok");
        if !self.transactions.is_empty() {
            let mut sum = TransactionCounters::default();
            self.transactions.iter().for_each(|count| sum.add(count));
            for (whole, parts, what) in [
                (self.started, sum.started, "started"),
                (self.committed, sum.committed, "committed"),
                (self.failed, sum.failed, "failed"),
                (self.unfinished, sum.unfinished, "unfinished"),
                (self.retries, sum.retries, "retries"),
            ] {
                expect(whole, parts, &format!("{what} = sum over names"));
            }
        }
        broken
    }

    /// Transactions that failed for good; `None` when they were not counted.
    #[must_use]
    pub fn known_failed(&self) -> Option<u64> {
        (!self.unknown.contains(&UnknownCount::Failed)).then_some(self.failed)
    }

    /// Attempts after the first; `None` when they were not counted.
    #[must_use]
    pub fn known_retries(&self) -> Option<u64> {
        (!self.unknown.contains(&UnknownCount::Retries)).then_some(self.retries)
    }

    /// Statements answered with an error, of all kinds; sysbench's "ignored errors".
    #[must_use]
    pub fn statement_errors(&self) -> u64 {
        self.statements.iter().map(|statement| statement.failed).sum()
    }

    /// Adds the counters of another worker. Kinds of statements and names of transactions must be
    /// the same, in the same order.
    pub fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.skipped += other.skipped;
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.in_doubt += other.in_doubt;
        self.reconnects += other.reconnects;
        self.outcomes.add(&other.outcomes);
        self.unknown.extend(&other.unknown);
        for (mine, theirs) in [
            (&mut self.failed_by_kind, &other.failed_by_kind),
            (&mut self.retries_by_kind, &other.retries_by_kind),
        ] {
            theirs.iter().for_each(|(kind, count)| *mine.entry(*kind).or_default() += count);
        }
        if self.statements.is_empty() && self.transactions.is_empty() {
            self.statements.clone_from(&other.statements);
            self.transactions.clone_from(&other.transactions);
            return;
        }
        self.transactions
            .iter_mut()
            .zip(&other.transactions)
            .for_each(|(mine, theirs)| mine.add(theirs));
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            mine.sent += theirs.sent;
            mine.ok += theirs.ok;
            mine.failed += theirs.failed;
            mine.unfinished += theirs.unfinished;
            mine.rows += theirs.rows;
        }
    }
}

//! Results of the integrity checks (audits) of the data after a trial.

use crate::history::anomalies::{Anomaly, Found};
use crate::isolation::IsolationLevel;
use crate::lists;
use crate::reason::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The audit of one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AuditRecord {
    /// All checks; empty when the workload has no audit.
    pub checks: Vec<AuditCheck>,
    /// Client sessions that were still active on the server when the data was checked, although
    /// they had been terminated.
    pub unsettled: u64,
    /// The database of each check when clients work in several databases; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<String>,
}

impl From<AuditCheck> for AuditRecord {
    fn from(check: AuditCheck) -> Self {
        Self { checks: vec![check], ..Self::default() }
    }
}

impl AuditRecord {
    /// The checks, each with its database when clients work in several databases.
    pub fn by_database(&self) -> impl Iterator<Item = (Option<&str>, &AuditCheck)> {
        self.checks
            .iter()
            .enumerate()
            .map(|(at, check)| (self.databases.get(at).map(String::as_str), check))
    }

    /// The worst verdict of all checks.
    #[must_use]
    pub fn verdict(&self) -> AuditVerdict {
        self.checks.iter().map(AuditCheck::verdict).max().unwrap_or(AuditVerdict::NotChecked)
    }

    /// The combined result of all checks about missing acknowledged work.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let settled = |database: Option<&str>| {
            self.by_database().filter(move |it| it.0 == database).find_map(|it| it.1.settled())
        };
        let checks = || {
            self.by_database()
                .map(|(database, check)| (database, check, check.after(settled(database))))
        };
        let verdicts = checks().map(|(.., balance)| AuditCheck::loses(balance));
        let verdict = verdicts.max().unwrap_or(AuditVerdict::NotChecked);
        let checked = checks()
            .filter_map(|(database, check, balance)| Some((database, check.commits(balance?)?)));
        let commits = lists::grouped(checked)
            .into_iter()
            .map(|(_, of_database)| AcknowledgedCommits::of_one_database(&of_database));
        Losses { verdict, commits: commits.reduce(AcknowledgedCommits::and) }
    }
}

/// The acknowledged work that is missing after a trial. Every sentence, column and limit about
/// losses is derived from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Losses {
    /// Violated when acknowledged work (commits, rows, or part of a sum) is certainly missing;
    /// undecided when it may be missing.
    pub verdict: AuditVerdict,
    /// Commits; absent where no check counts them.
    pub commits: Option<AcknowledgedCommits>,
}

/// Acknowledged commits, and how many of them are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcknowledgedCommits {
    /// Acknowledged commits that were checked.
    pub acknowledged: u64,
    /// Lower bound of the number of missing commits.
    pub lost_min: u64,
    /// Upper bound of the number of missing commits.
    pub lost_max: u64,
}

impl AcknowledgedCommits {
    /// Combines several checks of the same commits: each may have found different missing commits
    /// or the same ones.
    fn of_one_database(checks: &[Self]) -> Self {
        let most = |of: fn(&Self) -> u64| checks.iter().map(of).max().unwrap_or_default();
        let acknowledged = most(|it| it.acknowledged);
        let lost_min = most(|it| it.lost_min).min(acknowledged);
        let lost_max =
            checks.iter().map(|it| it.lost_max).sum::<u64>().clamp(lost_min, acknowledged);
        Self { acknowledged, lost_min, lost_max }
    }

    /// Combines the losses of two databases.
    fn and(self, other: Self) -> Self {
        Self {
            acknowledged: self.acknowledged + other.acknowledged,
            lost_min: self.lost_min + other.lost_min,
            lost_max: self.lost_max + other.lost_max,
        }
    }
}

/// Outcome of an audit; ordered from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// All invariants hold.
    Intact,
    /// Nothing to check, or the check could not be run.
    NotChecked,
    /// The invariants may or may not hold: transactions in doubt or cut off leave it open.
    Undecided,
    /// An invariant is violated.
    Violated,
}

/// One integrity check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum AuditCheck {
    /// Every committed transaction added exactly one to a counter; counters must have grown by the
    /// number of commits.
    LostUpdates {
        /// Acknowledged commits since the counters were last summed (warm-up included).
        committed: u64,
        /// Transactions whose commit is in doubt, or that were cut off; each may or may not have
        /// been counted.
        in_doubt: u64,
        /// Sum of the counters before.
        sum_before: i64,
        /// Sum of the counters after.
        sum_after: i64,
        /// Pairs of committed transactions that read the same value of the same row, from the
        /// client log.
        witnessed: u64,
        /// Up to a few of these pairs.
        examples: Vec<LostUpdateWitness>,
    },
    /// The number of rows of a table must be within bounds.
    RowCount {
        /// Table.
        table: String,
        /// Smallest valid number.
        expected_min: u64,
        /// Largest valid number.
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
        /// Smallest valid sum.
        expected_min: i64,
        /// Largest valid sum: the smallest plus the possible contribution of transactions in doubt
        /// or cut off.
        expected_max: i64,
        /// Sum found.
        found: i64,
    },
    /// A value that the user's own SQL returns must be within bounds.
    Value {
        /// The SQL that returns it.
        expression: String,
        /// Smallest valid value.
        expected_min: i64,
        /// Largest valid value: the smallest plus what transactions in doubt or cut off may have
        /// changed.
        expected_max: i64,
        /// Value found.
        found: i64,
    },
    /// Each transaction leaves a row with its number: there must be one row for every acknowledged
    /// commit, and none for a failed transaction.
    Ledger {
        /// Acknowledged commits (warm-up included).
        acknowledged: u64,
        /// Acknowledged commits without a row in the data.
        lost: u64,
        /// Rows of transactions that failed or never ran.
        phantoms: u64,
        /// Transactions whose commit is in doubt, or that were cut off.
        in_doubt: u64,
        /// Transactions in doubt or cut off that have a row in the data and are therefore resolved.
        took_effect: u64,
        /// Examples of lost commits and phantom rows.
        examples: Vec<LedgerEntry>,
    },
    /// The history of the reads and writes of clients must contain no anomaly that the isolation
    /// level forbids.
    Anomalies {
        /// The isolation level in force; absent when the server did not report it.
        level: Option<IsolationLevel>,
        /// Acknowledged commits in the history.
        committed: u64,
        /// Failed attempts in the history, including those that were retried.
        failed: u64,
        /// Attempts in the history whose commit is in doubt, or that were cut off.
        in_doubt: u64,
        /// Acknowledged commits that did not fit into the history; they did not touch its objects.
        outside: u64,
        /// The anomalies found, one entry per kind.
        found: Vec<Found>,
    },
    /// The check could not be run.
    NotRun {
        /// The check.
        name: String,
        /// The reason.
        reason: Reason,
    },
}

impl AuditCheck {
    /// The verdict of this check.
    #[must_use]
    pub fn verdict(&self) -> AuditVerdict {
        match self {
            // An anomaly that the level allows is not a violation. Without the level this is
            // undecidable.
            Self::Anomalies { level: None, found, .. } if found.iter().any(|it| it.count > 0) => {
                AuditVerdict::Undecided
            }
            Self::Anomalies { level, found, .. } => {
                match level.is_some_and(|level| forbidden(found, level) > 0) {
                    true => AuditVerdict::Violated,
                    false => AuditVerdict::Intact,
                }
            }
            _ => self.balance().map_or(AuditVerdict::NotChecked, Balance::verdict),
        }
    }

    /// The verdict on missing acknowledged work alone, regardless of other violations.
    fn loses(balance: Option<Balance>) -> AuditVerdict {
        balance.map_or(AuditVerdict::NotChecked, |balance| match balance {
            Balance { lost_min: 1.., .. } => AuditVerdict::Violated,
            Balance { lost_max: 1.., .. } => AuditVerdict::Undecided,
            _ => AuditVerdict::Intact,
        })
    }

    /// The number of transactions in doubt, and how many of them the commit ledger found in the
    /// data.
    fn settled(&self) -> Option<(u64, u64)> {
        match self {
            Self::Ledger { in_doubt, took_effect, .. } => Some((*in_doubt, *took_effect)),
            _ => None,
        }
    }

    /// Same as [`Self::balance`]; where a ledger resolved the same transactions in doubt, counters
    /// must include exactly those that took effect.
    fn after(&self, settled: Option<(u64, u64)>) -> Option<Balance> {
        match (self, settled) {
            (
                Self::LostUpdates { committed, in_doubt, sum_before, sum_after, witnessed, .. },
                Some((same, took_effect)),
            ) if same == *in_doubt => {
                let expected =
                    i64::try_from(committed.saturating_add(took_effect)).unwrap_or(i64::MAX);
                let balance =
                    Balance::new(expected, expected, sum_after.saturating_sub(*sum_before));
                Some(balance.of_updates(*committed, *witnessed))
            }
            _ => self.balance(),
        }
    }

    /// The number of commits that it checks; `None` when it counts something else.
    fn commits(&self, balance: Balance) -> Option<AcknowledgedCommits> {
        let (Self::LostUpdates { committed: acknowledged, .. }
        | Self::Ledger { acknowledged, .. }
        | Self::Anomalies { committed: acknowledged, .. }) = self
        else {
            return None;
        };
        let Balance { lost_min, lost_max, .. } = balance;
        Some(AcknowledgedCommits { acknowledged: *acknowledged, lost_min, lost_max })
    }

    /// The missing and surplus work; `None` when the check could not be run.
    #[must_use]
    pub fn balance(&self) -> Option<Balance> {
        let rows = |rows: u64| i64::try_from(rows).unwrap_or(i64::MAX);
        Some(match self {
            Self::LostUpdates { committed, in_doubt, sum_before, sum_after, witnessed, .. } => {
                Balance::new(
                    rows(*committed),
                    rows(committed.saturating_add(*in_doubt)),
                    sum_after.saturating_sub(*sum_before),
                )
                .of_updates(*committed, *witnessed)
            }
            Self::RowCount { expected_min, expected_max, found, .. } => {
                Balance::new(rows(*expected_min), rows(*expected_max), rows(*found))
            }
            Self::ColumnSum { expected_min, expected_max, found, .. }
            | Self::Value { expected_min, expected_max, found, .. } => {
                Balance::new(*expected_min, *expected_max, *found)
            }
            Self::Ledger { lost, phantoms, .. } => Balance {
                lost_min: *lost,
                lost_max: *lost,
                surplus_min: *phantoms,
                surplus_max: *phantoms,
            },
            Self::Anomalies { found, .. } => {
                let lost = found
                    .iter()
                    .filter(|it| it.anomaly == Anomaly::LostUpdate)
                    .map(|it| it.count)
                    .sum();
                Balance { lost_min: lost, lost_max: lost, surplus_min: 0, surplus_max: 0 }
            }
            Self::NotRun { .. } => return None,
        })
    }
}

/// Anomalies that a level forbids.
#[must_use]
pub fn forbidden(found: &[Found], level: IsolationLevel) -> u64 {
    found.iter().filter(|it| level >= it.anomaly.forbidden_from()).map(|it| it.count).sum()
}

/// The difference between the expected and the actual data. Transactions in doubt or cut off may or
/// may not have taken effect, so the difference is a range: they widen it, but never hide work that
/// is certainly missing.
///
/// `lost_min <= lost_max`, `surplus_min <= surplus_max`, and not both `lost_min` and `surplus_min`
/// are above 0 unless something was witnessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// Lower bound of what is missing, if nothing in doubt took effect.
    pub lost_min: u64,
    /// Upper bound of what is missing, if everything in doubt took effect.
    pub lost_max: u64,
    /// Lower bound of the surplus, if everything in doubt took effect.
    pub surplus_min: u64,
    /// Upper bound of the surplus, if nothing in doubt took effect.
    pub surplus_max: u64,
}

impl Balance {
    /// The balance of a number that must be `expected_min` if nothing in doubt took effect, and
    /// `expected_max` if everything did.
    #[must_use]
    pub fn new(expected_min: i64, expected_max: i64, found: i64) -> Self {
        let above = |a: i64, b: i64| u64::try_from(i128::from(a) - i128::from(b)).unwrap_or(0);
        Self {
            lost_min: above(expected_min, found),
            lost_max: above(expected_max, found),
            surplus_min: above(found, expected_max),
            surplus_max: above(found, expected_min),
        }
    }

    /// The balance of a counter to which each of `acknowledged` transactions adds one. `witnessed`
    /// of them were seen to be overwritten: they are lost whatever the sum is, and the part of the
    /// sum that replaces them is unexplained. A sum above the acknowledged number is not a
    /// violation as far as transactions in doubt account for it.
    #[must_use]
    fn of_updates(self, acknowledged: u64, witnessed: u64) -> Self {
        let lost_min = self.lost_min.max(witnessed).min(acknowledged);
        let surplus = (witnessed + self.surplus_min).saturating_sub(self.lost_max);
        Self {
            lost_min,
            lost_max: self.lost_max.min(acknowledged).max(lost_min),
            surplus_min: surplus,
            surplus_max: surplus,
        }
    }

    /// Violated when anything is certainly missing or surplus, undecided when it may be.
    #[must_use]
    pub fn verdict(self) -> AuditVerdict {
        match self {
            Self { lost_min: 0, lost_max: 0, surplus_min: 0, surplus_max: 0 } => {
                AuditVerdict::Intact
            }
            Self { lost_min: 0, surplus_min: 0, .. } => AuditVerdict::Undecided,
            _ => AuditVerdict::Violated,
        }
    }
}

/// A transaction whose row in the commit ledger contradicts what its client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerEntry {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// True when it was acknowledged and its row is missing; false when the row exists although the
    /// transaction failed or never ran.
    pub is_lost: bool,
}

/// Two transactions that both committed on top of the same value: one of the two updates is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessedTransaction {
    /// Client, from 0.
    pub client: u32,
    /// Number of the transaction within the client, from 0.
    pub sequence: u64,
    /// When its commit was acknowledged, nanoseconds since the measured window opened (negative in
    /// warm-up).
    pub committed_at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn updates(committed: u64, in_doubt: u64, grown: i64, witnessed: u64) -> AuditCheck {
        let (sum_before, sum_after) = (5, 5 + grown);
        AuditCheck::LostUpdates {
            committed,
            in_doubt,
            sum_before,
            sum_after,
            witnessed,
            examples: Vec::new(),
        }
    }

    #[test]
    fn in_doubt_commits_widen_the_audit_range_but_hide_no_loss() {
        use AuditVerdict::{Intact, Undecided, Violated};
        // Commits, in doubt, growth of the sum, witnessed; lost at least and at most, too much;
        // verdict.
        let rows = [
            ((100, 0, 100, 0), (0, 0, 0), Intact),
            ((100, 0, 95, 0), (5, 5, 0), Violated),
            ((100, 0, 103, 0), (0, 0, 3), Violated),
            // Eight in doubt took effect and five updates were lost: the sum has grown by more than
            // the acknowledged number.
            ((100, 8, 103, 0), (0, 5, 0), Undecided),
            // They took effect and nothing was lost.
            ((100, 8, 108, 0), (0, 0, 0), Intact),
            // They did not, or they took effect and replaced eight that were lost.
            ((100, 8, 100, 0), (0, 8, 0), Undecided),
            ((100, 8, 98, 0), (2, 10, 0), Violated),
            ((100, 8, 110, 0), (0, 0, 2), Violated),
            // Witnessed: lost whatever the sum says.
            ((100, 8, 103, 5), (5, 5, 0), Violated),
            ((100, 0, 100, 1), (1, 1, 1), Violated),
            ((100, 8, 108, 2), (2, 2, 2), Violated),
            // The counters were set back.
            ((100, 0, -900, 0), (100, 100, 0), Violated),
        ];
        for ((committed, in_doubt, grown, witnessed), (lost_min, lost_max, surplus), verdict) in
            rows
        {
            let check = updates(committed, in_doubt, grown, witnessed);
            let expected =
                Balance { lost_min, lost_max, surplus_min: surplus, surplus_max: surplus };
            assert_eq!(check.balance(), Some(expected), "{check:?}");
            assert_eq!(check.verdict(), verdict, "{check:?}");
        }
    }

    #[test]
    fn a_number_within_the_range_that_doubt_leaves_decides_nothing() {
        let rows = |expected_min, expected_max, found| {
            AuditCheck::RowCount { table: "t".to_owned(), expected_min, expected_max, found }
                .verdict()
        };
        assert_eq!(rows(10, 10, 10), AuditVerdict::Intact);
        assert_eq!(rows(10, 12, 10), AuditVerdict::Undecided);
        assert_eq!(rows(10, 12, 12), AuditVerdict::Undecided);
        assert_eq!(rows(10, 12, 9), AuditVerdict::Violated);
        assert_eq!(rows(10, 12, 13), AuditVerdict::Violated);
    }

    #[test]
    fn losses_are_what_all_checks_of_a_trial_say_together() {
        use AuditVerdict::{Intact, NotChecked, Undecided, Violated};
        let checked = |acknowledged, lost, in_doubt, took_effect| AuditCheck::Ledger {
            acknowledged,
            lost,
            phantoms: 0,
            in_doubt,
            took_effect,
            examples: Vec::new(),
        };
        let counters = |acknowledged, lost| checked(acknowledged, lost, 0, 0);
        let settled = |in_doubt, took_effect| checked(100, 0, in_doubt, took_effect);
        let rows = |found| AuditCheck::RowCount {
            table: "t".to_owned(),
            expected_min: 10,
            expected_max: 12,
            found,
        };
        let not_run = AuditCheck::NotRun { name: "audit".to_owned(), reason: "no".into() };
        for (checks, databases, verdict, commits) in [
            (vec![], vec![], NotChecked, None),
            (vec![not_run.clone()], vec![], NotChecked, None),
            // Five rows of the ledger are missing, and the counters are right.
            (vec![updates(100, 0, 100, 0), counters(100, 5)], vec![], Violated, Some((100, 5, 5))),
            (vec![updates(100, 0, 97, 0), counters(100, 0)], vec![], Violated, Some((100, 3, 3))),
            // The same commits, or different ones.
            (vec![updates(100, 0, 97, 0), counters(100, 5)], vec![], Violated, Some((100, 5, 8))),
            (vec![updates(100, 8, 103, 0), counters(100, 0)], vec![], Undecided, Some((100, 0, 5))),
            (vec![updates(100, 0, 100, 0), counters(100, 0)], vec![], Intact, Some((100, 0, 0))),
            // The ledger found three of eight in doubt, and so did the counters; or one less.
            (vec![updates(100, 8, 103, 0), settled(8, 3)], vec![], Intact, Some((100, 0, 0))),
            (vec![updates(100, 8, 102, 0), settled(8, 3)], vec![], Violated, Some((100, 1, 1))),
            (vec![counters(100, 0), not_run], vec![], NotChecked, Some((100, 0, 0))),
            (vec![counters(100, 0), rows(9)], vec![], Violated, Some((100, 0, 0))),
            (vec![rows(11)], vec![], Undecided, None),
            // Surplus is not a loss.
            (vec![rows(13)], vec![], Intact, None),
            (vec![updates(100, 0, 103, 0)], vec![], Intact, Some((100, 0, 0))),
            // No more can be missing than were acknowledged.
            (vec![updates(5, 0, 0, 0), counters(5, 5)], vec![], Violated, Some((5, 5, 5))),
            // A ledger resolves nothing in another database.
            (
                vec![updates(100, 8, 102, 0), settled(8, 3)],
                vec!["a", "b"],
                Undecided,
                Some((200, 0, 6)),
            ),
            // Databases have commits of their own.
            (vec![counters(100, 5), counters(50, 1)], vec!["a", "b"], Violated, Some((150, 6, 6))),
        ] {
            let databases = databases.into_iter().map(str::to_owned).collect();
            let losses = AuditRecord { checks, databases, ..AuditRecord::default() }.losses();
            let found = losses.commits.map(|it| (it.acknowledged, it.lost_min, it.lost_max));
            assert_eq!((losses.verdict, found), (verdict, commits), "{losses:?}");
        }
    }

    #[test]
    fn an_anomaly_is_a_fault_from_the_level_on_that_forbids_it() {
        use AuditVerdict::{Intact, Undecided, Violated};
        use IsolationLevel::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
        let check = |level, anomaly, count| {
            let found = vec![Found { anomaly, count, example: Vec::new() }];
            AuditCheck::Anomalies { level, committed: 9, failed: 0, in_doubt: 0, outside: 0, found }
        };
        for (level, anomaly, count, verdict) in [
            (Some(ReadUncommitted), Anomaly::DirtyRead, 1, Intact),
            (Some(ReadCommitted), Anomaly::DirtyRead, 1, Violated),
            (Some(ReadCommitted), Anomaly::LostUpdate, 7, Intact),
            (Some(RepeatableRead), Anomaly::LostUpdate, 7, Violated),
            (Some(RepeatableRead), Anomaly::WriteSkew, 7, Intact),
            (Some(Serializable), Anomaly::WriteSkew, 7, Violated),
            (Some(Serializable), Anomaly::WriteSkew, 0, Intact),
            (None, Anomaly::LostUpdate, 7, Undecided),
            (None, Anomaly::LostUpdate, 0, Intact),
        ] {
            let check = check(level, anomaly, count);
            assert_eq!(check.verdict(), verdict, "{check:?}");
            let lost = if anomaly == Anomaly::LostUpdate { count } else { 0 };
            assert_eq!(
                check.balance().unwrap().lost_min,
                lost,
                "an update is lost whatever allows it"
            );
        }
    }

    proptest! {
        /// Whatever combination of effective, lost and unexplained transactions occurs, the range
        /// contains it, and only faults are violations.
        #[test]
        fn the_truth_lies_within_the_range(
            committed in 0_u64..50, in_doubt in 0_u64..9, effective in 0_u64..9, lost in 0_u64..50, seen in 0_u64..50,
            phantom in 0_u64..9,
        ) {
            let effective = effective.min(in_doubt);
            let lost = lost.min(committed);
            let grown = (committed + effective + phantom) as i64 - lost as i64;
            let check = updates(committed, in_doubt, grown, seen.min(lost));
            let balance = check.balance().unwrap();
            prop_assert!(balance.lost_min <= lost && balance.surplus_min <= phantom, "{:?}", balance);
            prop_assert!(phantom > 0 || lost <= balance.lost_max, "{:?}", balance);
            if lost == 0 && phantom == 0 {
                prop_assert_ne!(check.verdict(), AuditVerdict::Violated);
            } else if phantom == 0 {
                prop_assert_ne!(check.verdict(), AuditVerdict::Intact);
            }
        }
    }
}

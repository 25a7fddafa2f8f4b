//! Rows of `pgbench_accounts`, made as they are loaded.

use dyno_drivers::RowWriter;
use dyno_engine::workload::{DataSet, TableDefinition};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const ACCOUNTS_PER_BRANCH: u64 = 100_000;
pub(super) const TELLERS_PER_BRANCH: u64 = 10;
/// Rows after which a loader adds to the common count.
const ROWS_PER_COUNT: u64 = 1_000;

/// Rows of `pgbench_accounts` at a scale.
pub(crate) fn accounts(scale: u32) -> u64 {
    u64::from(scale) * ACCOUNTS_PER_BRANCH
}

/// The rows, counted as they are made.
pub(super) struct Accounts {
    rows: u64,
    made: AtomicU64,
}

impl Accounts {
    pub(super) fn new(scale: u32) -> Self {
        Self { rows: accounts(scale), made: AtomicU64::new(0) }
    }

    /// Rows made so far, a little behind.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The table as the loader wants it; it exists already.
    pub(super) fn table(&self) -> TableDefinition {
        TableDefinition::new(
            "pgbench_accounts",
            "",
            ["aid", "bid", "abalance", "filler"],
            self.rows,
        )
    }
}

impl DataSet for Accounts {
    fn fingerprint(&self) -> String {
        format!("pgbench_accounts {}", self.rows)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        vec![self.table()]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(row as i64 + 1);
        out.integer((row / ACCOUNTS_PER_BRANCH) as i64 + 1);
        out.integer(0);
        out.text("");
        if (row + 1).is_multiple_of(ROWS_PER_COUNT) {
            self.made.fetch_add(ROWS_PER_COUNT, Ordering::Relaxed);
        }
    }
}

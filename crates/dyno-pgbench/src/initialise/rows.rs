//! Rows of `pgbench_accounts`, generated during the load.

use dyno_drivers::RowWriter;
use dyno_engine::workload::{DataSet, TableDefinition};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const ACCOUNTS_PER_BRANCH: u64 = 100_000;
pub(super) const TELLERS_PER_BRANCH: u64 = 10;
/// Rows after which a loader updates the shared counter.
const ROWS_PER_COUNT: u64 = 1_000;

/// Number of rows of `pgbench_accounts` at a scale.
pub(crate) fn accounts(scale: u32) -> u64 {
    u64::from(scale) * ACCOUNTS_PER_BRANCH
}

/// The generated rows, with their counter.
pub(super) struct Accounts {
    rows: u64,
    made: AtomicU64,
}

impl Accounts {
    pub(super) fn new(scale: u32) -> Self {
        Self { rows: accounts(scale), made: AtomicU64::new(0) }
    }

    /// Number of rows so far, with a short delay.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The table definition for the loader; the table already exists.
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

//! The tables of a workload, and the rows in them.

use dyno_drivers::RowWriter;

/// A table as the loader makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name, unquoted.
    pub name: String,
    /// Makes the empty table; empty where the clients make it, so that the loader only drops what an earlier trial has left.
    pub create: String,
    /// Columns that the loader fills.
    pub columns: Vec<&'static str>,
    /// Number of rows to load.
    pub rows: u64,
    /// Sent after loading: secondary indexes.
    pub indexes: Vec<String>,
}

/// The tables of a workload and their rows, which are a pure function of (seed, table, row number).
pub trait DataSet: Send + Sync {
    /// Equal fingerprints mean equal data: a loaded data set can be used again.
    fn fingerprint(&self) -> String;

    /// True when a trial leaves the data as good as new (read-only, or as many rows as before), so that the next trial may use it.
    fn is_reusable(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<TableDefinition>;

    /// Statements that make what the tables above do not have, sent in their order. They cannot make it twice in one place, so such data are restored by
    /// copy.
    fn statements(&self) -> &[String] {
        &[]
    }

    /// Writes the fields of a row (from 0) of a table (index into [`Self::tables`]); called only where a table has rows to load.
    fn row(&self, _table: usize, _row: u64, _out: &mut dyn RowWriter) {}
}

/// No tables: the workload finds its own.
#[derive(Debug, Clone, Copy)]
pub struct NoData;

impl DataSet for NoData {
    fn fingerprint(&self) -> String {
        String::new()
    }

    fn tables(&self) -> Vec<TableDefinition> {
        Vec::new()
    }
}

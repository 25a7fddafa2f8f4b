//! The tables of a workload, and the rows in them.

use dyno_drivers::RowWriter;
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::sync::atomic::AtomicUsize;

/// A table as the loader makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name, unquoted.
    pub name: String,
    /// Makes the empty table; empty where the clients make it, so that the loader only drops what
    /// an earlier trial has left.
    pub create: String,
    /// Columns that the loader fills.
    pub columns: Vec<&'static str>,
    /// Number of rows to load.
    pub rows: u64,
    /// Sent after loading: secondary indexes.
    pub indexes: Vec<String>,
}

impl TableDefinition {
    /// A table without secondary indexes.
    pub fn new(
        name: impl Into<String>,
        create: impl Into<String>,
        columns: impl Into<Vec<&'static str>>,
        rows: u64,
    ) -> Self {
        let (name, create, columns) = (name.into(), create.into(), columns.into());
        Self { name, create, columns, rows, indexes: Vec::new() }
    }
}

/// The tables of a workload and their rows, which are a pure function of (seed, table, row number).
pub trait DataSet: Send + Sync {
    /// Equal fingerprints mean equal data: a loaded data set can be used again.
    fn fingerprint(&self) -> String;

    /// True when a trial leaves the data as good as new (read-only, or as many rows as before), so
    /// that the next trial may use it.
    fn is_reusable(&self) -> bool {
        false
    }

    /// The tables, with as many rows as are loaded.
    fn tables(&self) -> Vec<TableDefinition> {
        Vec::new()
    }

    /// The data sets that this one consists of, each of which is made when those before it are.
    /// None: it is one itself. Its tables are those of all.
    fn parts(&self) -> Vec<&dyn DataSet> {
        Vec::new()
    }

    /// True when only [`Self::make`] knows what it creates. It cannot run twice in one location, so
    /// such data are restored by copy; where that is impossible, [`Self::unmake`] runs first.
    fn is_made_once(&self) -> bool {
        false
    }

    /// Makes what the tables above do not have, by statements or a program of the workload's own.
    /// An interrupt by the user ends it.
    ///
    /// # Errors
    /// Why it could not be made.
    fn make(&self, _target: &Target, _interrupts: &AtomicUsize) -> Result<(), OperationFailure> {
        Ok(())
    }

    /// Removes what [`Self::make`] has created. dyno drops the rest.
    fn unmake(&self, _target: &Target, _interrupts: &AtomicUsize) {}

    /// Writes the fields of a row (from 0) of a table (index into [`Self::tables`]); called only
    /// where a table has rows to load.
    fn row(&self, _table: usize, _row: u64, _out: &mut dyn RowWriter) {}
}

/// No tables: the workload finds its own.
#[derive(Debug, Clone, Copy)]
pub struct NoData;

impl DataSet for NoData {
    fn fingerprint(&self) -> String {
        String::new()
    }
}

//! The tables of a workload, and the rows in them.

use dyno_drivers::RowWriter;
use dyno_drivers::statistics::RejectedStatement;
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::sync::atomic::AtomicUsize;

/// A table created by the loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name, unquoted.
    pub name: String,
    /// Statement that creates the empty table; empty if the clients create it and the loader only
    /// drops leftovers of an earlier trial.
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
    /// Equal fingerprints mean equal data: a loaded data set can be reused.
    fn fingerprint(&self) -> String;

    /// True when the data are reusable after a trial (read-only, or with as many rows as before).
    fn is_reusable(&self) -> bool {
        false
    }

    /// The tables, with the number of rows to load.
    fn tables(&self) -> Vec<TableDefinition> {
        Vec::new()
    }

    /// The data sets that this one consists of, in order of creation. Empty if it is a single one.
    /// Its tables are those of all of them.
    fn data_sets(&self) -> Vec<&dyn DataSet> {
        Vec::new()
    }

    /// True when only [`Self::create`] knows what it creates. It cannot run twice in one location,
    /// so such data are restored by copy; where that is impossible, [`Self::remove`] runs first.
    fn is_created_once(&self) -> bool {
        false
    }

    /// Creates everything beyond the tables above, by statements or a program of the workload. An
    /// interrupt by the user ends it.
    ///
    /// # Errors
    /// Why it could not be made.
    fn create(&self, _target: &Target, _interrupts: &AtomicUsize) -> Result<(), OperationFailure> {
        Ok(())
    }

    /// Updates the planner's statistics of what [`Self::create`] created. Returns the statements
    /// that the server rejected.
    ///
    /// # Errors
    /// As [`update_statistics`](dyno_drivers::update_statistics).
    fn update_statistics(
        &self,
        _target: &Target,
    ) -> Result<Vec<RejectedStatement>, OperationFailure> {
        Ok(Vec::new())
    }

    /// Removes what [`Self::create`] created. dyno drops the rest.
    fn remove(&self, _target: &Target, _interrupts: &AtomicUsize) {}

    /// Writes the fields of a row (from 0) of a table (index into [`Self::tables`]); called only
    /// for tables with rows to load.
    fn row(&self, _table: usize, _row: u64, _out: &mut dyn RowWriter) {}
}

/// No tables: the workload uses existing ones.
#[derive(Debug, Clone, Copy)]
pub struct NoData;

impl DataSet for NoData {
    fn fingerprint(&self) -> String {
        String::new()
    }
}

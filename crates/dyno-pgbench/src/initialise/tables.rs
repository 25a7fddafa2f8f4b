//! The standard tables as the data of a workload.

use super::rows::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH};
use super::statements;
use crate::options::Initialisation;
use dyno_drivers::RowWriter;
use dyno_engine::workload::{DataSet, TableDefinition};
use dyno_model::target::Engine;

/// A table with its columns that are loaded, and its rows for each branch.
const TABLES: [(&str, &[&str], u64); 4] = [
    ("pgbench_history", &["tid", "bid", "aid", "delta", "mtime", "filler"], 0),
    ("pgbench_tellers", &["tid", "bid", "tbalance"], TELLERS_PER_BRANCH),
    ("pgbench_accounts", &["aid", "bid", "abalance", "filler"], ACCOUNTS_PER_BRANCH),
    ("pgbench_branches", &["bid", "bbalance"], 1),
];

/// The tables at a scale.
pub(crate) struct StandardTables {
    scale: u32,
    engine: Engine,
}

/// The tables at a scale on an engine.
pub(crate) fn standard_tables(scale: u32, engine: Engine) -> StandardTables {
    StandardTables { scale, engine }
}

impl DataSet for StandardTables {
    fn fingerprint(&self) -> String {
        format!("pgbench scale={}", self.scale)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let wanted =
            Initialisation { scale: self.scale, fillfactor: 100, ..Initialisation::default() };
        let keys = statements::primary_keys(&wanted, self.engine);
        let created = statements::tables(&wanted, self.engine);
        let tables = created.into_iter().zip(TABLES).map(|(create, (name, columns, rows))| {
            let is_meant = |key: &&String| key.contains(&format!("table {name} "));
            let indexes = keys.iter().filter(is_meant).cloned().collect();
            let rows = u64::from(self.scale) * rows;
            TableDefinition { indexes, ..TableDefinition::new(name, create, columns, rows) }
        });
        tables.collect()
    }

    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        let (_, columns, rows) = TABLES[table];
        out.integer(row as i64 + 1);
        for column in &columns[1..] {
            match *column {
                "bid" => out.integer((row / rows) as i64 + 1),
                "filler" => out.text(""),
                _ => out.integer(0),
            }
        }
    }
}

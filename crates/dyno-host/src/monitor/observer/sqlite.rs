//! SQLite has no server and counts nothing that another connection could ask for: page caches and their hits belong to the
//! clients' own connections. What can be seen from outside are its files.

use super::super::Values;
use std::fs;
use std::path::PathBuf;

/// The database's files.
pub(super) struct Files {
    database: Option<PathBuf>,
}

impl Files {
    /// `None` for a database in memory.
    pub(super) fn new(database: Option<PathBuf>) -> Self {
        Self { database }
    }

    /// Sizes of database, write-ahead log and rollback journal; 0 for a file that is not there.
    pub(super) fn sizes(&self, values: &mut Values) {
        let Some(database) = &self.database else { return };
        for (suffix, name) in [("", "database"), ("-wal", "wal"), ("-journal", "journal")] {
            let mut path = database.clone().into_os_string();
            path.push(suffix);
            let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
            values.put(&format!("server.sqlite.{name}_bytes"), size as f64);
        }
    }
}

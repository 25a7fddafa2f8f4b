//! SQLite has no counters that another connection could read: page caches and their hits belong to
//! the clients' own connections. Only file sizes can be observed.

use crate::control_connection::QueryResult;
use crate::engine::Values;
use crate::engine::queries::{Observed, Watched};
use dyno_model::target::{Endpoint, Target};
use std::fs;
use std::path::PathBuf;

struct Files {
    /// `None` for a database in memory.
    database: Option<PathBuf>,
}

/// No connection is opened.
pub(super) fn observe(target: &Target, _databases: &[String]) -> QueryResult<Watched> {
    let database = match &target.endpoint {
        Endpoint::File(file) => Some(file.clone()),
        Endpoint::Tcp { .. } | Endpoint::Unix(_) | Endpoint::InProcess => None,
    };
    Ok((Box::new(Files { database }), None))
}

impl Observed for Files {
    /// Sizes of database, write-ahead log and rollback journal; 0 for a missing file.
    fn counters(&mut self, values: &mut Values) -> QueryResult<()> {
        let Some(database) = &self.database else { return Ok(()) };
        for (suffix, name) in [("", "database"), ("-wal", "wal"), ("-journal", "journal")] {
            let mut path = database.clone().into_os_string();
            path.push(suffix);
            let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
            values.put(&format!("server.sqlite.{name}_bytes"), size as f64);
        }
        Ok(())
    }
}

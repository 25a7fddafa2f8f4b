//! What servers count themselves: for the record, and to check dyno's own counts against.
//!
//! * MySQL family: `SHOW GLOBAL STATUS`, whole numbers only. A snapshot itself counts as one
//!   `Com_show_status` and a connection's set-up statements; no `Com_select`.
//! * PostgreSQL: `pg_stat_database` of the present database (`xact_commit`, `tup_updated`, ...),
//!   `pg_stat_wal`, `pg_stat_bgwriter` and `pg_stat_checkpointer` under their columns' names; and
//!   with `pg_stat_statements` the calls per kind of statement as `calls.SELECT`, `calls.UPDATE`
//!   and so on; and `Uptime`, the seconds since the server started. Sessions report their counts at
//!   most once a second and when they end, so a snapshot is taken when the clients have gone. Each
//!   snapshot adds a commit of its own.
//! * SQLite and null count nothing.

use crate::control_connection::ControlConnection;
use crate::engine::{UPTIME, questions};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::collections::BTreeMap;
use std::slice;

/// Counters at one moment.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn snapshot(target: &Target) -> Result<BTreeMap<String, i64>, OperationFailure> {
    snapshot_of(target, &[])
}

/// The same; what a server counts for each database is summed over these in the place of the
/// target's.
///
/// # Errors
/// As [`snapshot`].
pub fn snapshot_of(
    target: &Target,
    databases: &[String],
) -> Result<BTreeMap<String, i64>, OperationFailure> {
    match &questions(target.engine).server {
        Some(server) => {
            let databases =
                if databases.is_empty() { slice::from_ref(&target.database) } else { databases };
            (server.counters)(&mut ControlConnection::open(target)?, databases)
        }
        None => Ok(BTreeMap::new()),
    }
}

/// Counters of a system that is several servers: their sums, in which a row that Galera's nodes
/// repeat counts once for each of them, and how long the youngest has been up.
///
/// # Errors
/// When one of them cannot be reached or refuses to answer.
pub fn sums(targets: &[Target]) -> Result<BTreeMap<String, i64>, OperationFailure> {
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for target in targets {
        for (name, value) in snapshot(target)? {
            let is_age = name == UPTIME;
            let put = |sum: &mut i64| {
                *sum = if is_age { value.min(*sum) } else { value.saturating_add(*sum) }
            };
            sums.entry(name).and_modify(put).or_insert(value);
        }
    }
    Ok(sums)
}

/// What a server tells of changes in a database: equal before and after a time in which nobody
/// changed anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteMarks {
    /// The database.
    pub database: String,
    marks: Vec<Vec<Option<String>>>,
}

/// Asks for changes in a database; none are told of where nothing can be asked.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn write_marks(target: &Target) -> Result<WriteMarks, OperationFailure> {
    let mut marks = Vec::new();
    if let Some(server) = &questions(target.engine).server {
        let mut session = ControlConnection::open(target)?;
        for question in server.write_marks {
            marks.extend(session.rows(question)?);
        }
    }
    Ok(WriteMarks { database: target.database_name(), marks })
}

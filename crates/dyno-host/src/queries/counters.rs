//! Counters of servers, stored in the record and compared with dyno's own counts.
//!
//! * MySQL family: `SHOW GLOBAL STATUS`, whole numbers only. A snapshot itself counts as one
//!   `Com_show_status` and a connection's set-up statements; no `Com_select`.
//! * PostgreSQL: `pg_stat_database` of the current database (`xact_commit`, `tup_updated`, ...),
//!   `pg_stat_wal`, `pg_stat_bgwriter` and `pg_stat_checkpointer` under their column names; with
//!   `pg_stat_statements` the calls per kind of statement as `calls.SELECT`, `calls.UPDATE` and so
//!   on; and `Uptime`, the seconds since the server started. Sessions report their counts at most
//!   once a second and when they end, so a snapshot is taken when the clients have disconnected.
//!   Each snapshot adds a commit of its own.
//! * SQLite and the null engine have no counters.

use crate::control_connection::ControlConnection;
use crate::engine::{UPTIME, queries};
use dyno_model::engine::{Capability, Engine, Identity};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::collections::BTreeMap;
use std::slice;

/// The current counters.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn snapshot(target: &Target) -> Result<BTreeMap<String, i64>, OperationFailure> {
    snapshot_of(target, &[])
}

/// The current counters; those that exist per database are summed over `databases` instead of the
/// target's database.
///
/// # Errors
/// As [`snapshot`].
pub fn snapshot_of(
    target: &Target,
    databases: &[String],
) -> Result<BTreeMap<String, i64>, OperationFailure> {
    match &queries(target.engine).server {
        Some(server) => {
            let databases =
                if databases.is_empty() { slice::from_ref(&target.database) } else { databases };
            let mut session = ControlConnection::open(target)?;
            let mut counters = (server.counters)(&mut session, databases)?;
            // A pooler's sessions do not end with those of the clients, and report later.
            let pooled = server.lock.pooled.as_ref();
            let is_pooled = pooled.map(|it| it.changes_sessions(&mut session)).transpose()?;
            if is_pooled == Some(true) {
                leave_out_commits(target.engine, &mut counters);
            }
            Ok(compared(&session.identity(), counters))
        }
        None => Ok(BTreeMap::new()),
    }
}

/// Removes the number of commits, which cannot be compared where sessions report it later.
pub fn leave_out_commits(engine: Engine, counters: &mut BTreeMap<String, i64>) {
    if let Some(counter) = engine.traits().commit_counter {
        counters.remove(counter.name);
    }
}

/// The counters of a server that can be compared.
fn compared(server: &Identity, mut counters: BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    if server.lacks(Capability::CommitCounter) {
        leave_out_commits(server.product.engine(), &mut counters);
    }
    counters
}

/// Counters of a system of several servers: their sums, where a row replicated by Galera counts
/// once per node, and the shortest uptime.
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

/// Indicators of changes in a database: equal before and after a period in which nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteMarks {
    /// The database.
    pub database: String,
    marks: Vec<Vec<Option<String>>>,
}

/// Reads the indicators of changes in a database; empty where nothing can be queried.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn write_marks(target: &Target) -> Result<WriteMarks, OperationFailure> {
    let mut marks = Vec::new();
    if let Some(server) = &queries(target.engine).server {
        let mut session = ControlConnection::open(target)?;
        for question in server.write_marks {
            marks.extend(session.rows(question)?);
        }
    }
    Ok(WriteMarks { database: target.database_name(), marks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_count_is_omitted_if_missing_or_reported_late() {
        for (engine, version, is_compared) in [
            (Engine::Postgres, "15.18 (Debian 15.18-0+deb12u1)", true),
            (Engine::Postgres, "14.23", false),
            (Engine::Postgres, "15.2-YB-2025.1.0.0-b0", false),
            (Engine::Mysql, "9.7.4", true),
            (Engine::Mysql, "8.0.11-TiDB-v8.5.4", false),
        ] {
            let name = engine.traits().commit_counter.unwrap().name;
            let counters = BTreeMap::from([(name.to_owned(), 7), ("other".to_owned(), 1)]);
            let counters = compared(&Identity::reported(engine, version), counters);
            assert_eq!(counters.contains_key(name), is_compared, "{version}");
            assert!(counters.contains_key("other"));
        }
    }
}

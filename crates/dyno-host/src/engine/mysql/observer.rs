//! Observes MySQL and MariaDB with `SHOW GLOBAL STATUS` and `SHOW PROCESSLIST`, which work in every
//! version with few privileges and cost less than the tables of the same content (temporary tables,
//! in MariaDB on disk).

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::SessionActivity;
use crate::engine::Values;
use crate::engine::queries::{Observed, Watched};
use dyno_model::engine::{Engine, Product};
use dyno_model::monitor::names;
use dyno_model::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Cumulative status variables. Times of row locks are in ms; all others count events or bytes.
const TOTALS: [&str; 82] = [
    "Binlog_bytes_written",
    "Binlog_cache_disk_use",
    "Binlog_commits",
    "Bytes_received",
    "Bytes_sent",
    "Com_begin",
    "Com_commit",
    "Com_delete",
    "Com_insert",
    "Com_replace",
    "Com_rollback",
    "Com_select",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Com_update",
    "Connections",
    "Created_tmp_disk_tables",
    "Created_tmp_files",
    "Created_tmp_tables",
    "Handler_commit",
    "Handler_delete",
    "Handler_read_first",
    "Handler_read_key",
    "Handler_read_next",
    "Handler_read_prev",
    "Handler_read_rnd",
    "Handler_read_rnd_next",
    "Handler_rollback",
    "Handler_tmp_delete",
    "Handler_tmp_update",
    "Handler_tmp_write",
    "Handler_update",
    "Handler_write",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_write_requests",
    "Innodb_data_fsyncs",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_dblwr_pages_written",
    "Innodb_dblwr_writes",
    "Innodb_deadlocks",
    "Innodb_log_waits",
    "Innodb_log_write_requests",
    "Innodb_log_writes",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_pages_created",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_row_lock_time",
    "Innodb_row_lock_waits",
    "Innodb_rows_deleted",
    "Innodb_rows_inserted",
    "Innodb_rows_read",
    "Innodb_rows_updated",
    "Key_read_requests",
    "Key_reads",
    "Opened_tables",
    "Questions",
    "Rows_tmp_read",
    "Select_full_join",
    "Select_scan",
    "Slow_queries",
    "Sort_merge_passes",
    "Sort_rows",
    "Sort_scan",
    "Table_locks_waited",
    "Table_open_cache_misses",
    "Table_open_cache_overflows",
    "Threads_created",
    "Aria_pagecache_read_requests",
    "Aria_pagecache_reads",
    "Aria_pagecache_write_requests",
    "Aria_pagecache_writes",
    "Innodb_undo_truncations",
    "Innodb_lsn_current",
];

/// Status variables with a current value.
const MOMENTS: [&str; 20] = [
    "Innodb_buffer_pool_bytes_data",
    "Innodb_buffer_pool_bytes_dirty",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_total",
    "Innodb_checkpoint_age",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_history_list_length",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_row_lock_current_waits",
    "Open_tables",
    "Threadpool_idle_threads",
    "Threadpool_threads",
    "Threads_cached",
    "Threads_connected",
    "Threads_running",
];

/// Variables that also exist per session. The monitor's own share is read from them and subtracted.
/// The work of `SHOW STATUS` itself is counted only globally and stays included: temporary tables
/// and, in MySQL, a `Handler_write` per row.
const OF_SESSIONS: [&str; 8] = [
    "Bytes_",
    "Com_",
    "Created_tmp_disk",
    "Created_tmp_tables",
    "Handler_",
    "Questions",
    "Select_",
    "Sort_",
];

/// Commands of background threads.
const BACKGROUND: [&str; 4] = ["Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_worker"];

struct Status {
    session: ControlConnection,
    connection: String,
    global: String,
    own: String,
    /// Query for the length of the history list, where no status variable has it.
    history: Option<&'static str>,
    /// Query for the size of the data files; `None` when the account lacks the privilege.
    size: Option<&'static str>,
}

/// Opens the monitor's connection; also returns the id of the server's thread that serves it, where
/// it has one of its own.
pub(super) fn observe(target: &Target, _databases: &[String]) -> QueryResult<Watched> {
    let mut session = ControlConnection::open(target)?;
    let connection = session.first("SELECT CONNECTION_ID()")?.unwrap_or_default();
    // A proxy greets with a version of its own.
    let version = session.first("SELECT VERSION()")?.unwrap_or_default();
    let queries = queries_of(Product::recognised(Engine::Mysql, &version, &[]));
    let has_own_thread = session
        .pairs("SHOW GLOBAL VARIABLES LIKE 'thread_handling'")?
        .first()
        .is_none_or(|(_, handling)| handling == "one-thread-per-connection");
    let thread =
        session.first(queries.thread).ok().flatten().and_then(|thread| thread.parse().ok());
    let all: Vec<&str> = TOTALS.into_iter().chain(MOMENTS).collect();
    let own = all.iter().copied().filter(|name| is_of_sessions(name)).collect::<Vec<_>>();
    let history = queries.history.filter(|history| session.first(history).is_ok());
    let size = session.first(queries.size).is_ok().then_some(queries.size);
    let status = Status {
        session,
        connection,
        global: statement("GLOBAL", &all),
        own: statement("SESSION", &own),
        history,
        size,
    };
    Ok((Box::new(status), thread.filter(|_| has_own_thread)))
}

impl Observed for Status {
    /// The counters, without this connection's own share.
    fn counters(&mut self, values: &mut Values) -> QueryResult<()> {
        let own: BTreeMap<String, f64> = numbers(self.session.pairs(&self.own)?).collect();
        for (name, value) in numbers(self.session.pairs(&self.global)?) {
            if TOTALS.contains(&name.as_str()) {
                let others = value - own.get(&name).copied().unwrap_or(0.0);
                values.put(&format!("server.status.{name}_total"), others);
            } else {
                let monitor = f64::from(u8::from(matches!(
                    name.as_str(),
                    "Threads_connected" | "Threads_running"
                )));
                values.put(&format!("server.status.{name}"), value - monitor);
            }
        }
        if let Some(history) = self.history {
            let length = self.session.first(history)?.and_then(|text| text.parse::<f64>().ok());
            values.put("server.status.Innodb_history_list_length", length);
        }
        if let Some(size) = self.size {
            let bytes = self.session.first(size)?.and_then(|text| text.parse::<f64>().ok());
            values.put(names::SERVER_DATA, bytes);
        }
        Ok(())
    }

    /// All sessions but this one. The state of a thread does not show InnoDB row locks; the waiting
    /// transactions are queried only on demand, because the query briefly blocks InnoDB's locking.
    fn sessions(&mut self, is_detailed: bool) -> QueryResult<Option<Vec<SessionActivity>>> {
        let locked: BTreeSet<String> = if is_detailed {
            let rows = self.session.rows(
                "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
            );
            // Without the privilege, only states are known.
            rows.unwrap_or_default().into_iter().filter_map(|row| row.into_iter().next()?).collect()
        } else {
            BTreeSet::new()
        };
        // Id, User, Host, db, Command, Time, State, Info; MariaDB has another column.
        let rows = self.session.rows("SHOW PROCESSLIST")?;
        Ok(Some(rows.into_iter().filter_map(|row| self.seen(row, &locked)).collect()))
    }
}

impl Status {
    fn seen(&self, row: Vec<Option<String>>, locked: &BTreeSet<String>) -> Option<SessionActivity> {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let (id, user) = (fields.next()?, fields.next()?);
        let mut fields = fields.skip(2);
        let (command, _time) = (fields.next()?, fields.next()?);
        let (state, info) = (fields.next()?, fields.next()?);
        let is_background = user == "system user"
            || user == "event_scheduler"
            || BACKGROUND.iter().any(|background| command == *background);
        if id == self.connection || is_background {
            return None;
        }
        let wait = if locked.contains(&id) { "InnoDB row lock" } else { wait(&state) }.to_owned();
        let state = match (command.as_str(), state.as_str()) {
            ("Sleep", _) | (_, "") => command,
            _ if state == wait => command,
            _ => format!("{command}: {state}"),
        };
        Some(SessionActivity { sessions: 1, state, wait, statement: info })
    }
}

/// The state of a thread as a wait, if it is one. Most states are stages of work (`Sending data`,
/// `updating`), in which a thread may or may not wait; these are waits according to the manuals.
fn wait(state: &str) -> &str {
    const WAITS: [&str; 5] =
        ["System lock", "Commit", "Starting commit", "Table lock", "Opening tables"];
    let is_wait = state.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("wait"))
        || WAITS.iter().any(|wait| state.eq_ignore_ascii_case(wait));
    if is_wait { state } else { "" }
}

/// Queries that differ between products.
struct ProductQueries {
    /// Id of the thread that serves this connection.
    thread: &'static str,
    /// Size of InnoDB's table files on disk, compressed or not.
    size: &'static str,
    /// Length of the history list: changes that no transaction needs any more and that are not
    /// purged yet. `None` where a status variable has it.
    history: Option<&'static str>,
}

fn queries_of(product: Product) -> ProductQueries {
    match product {
        Product::Mariadb => ProductQueries {
            thread: "SELECT tid FROM information_schema.processlist WHERE id = CONNECTION_ID()",
            size: "SELECT SUM(FILE_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES",
            history: None,
        },
        _ => ProductQueries {
            thread: "SELECT thread_os_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()",
            size: "SELECT SUM(FILE_SIZE) FROM information_schema.INNODB_TABLESPACES",
            history: Some(
                "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
            ),
        },
    }
}

fn statement(scope: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("SHOW {scope} STATUS WHERE Variable_name IN ({})", names.join(", "))
}

fn is_of_sessions(name: &str) -> bool {
    OF_SESSIONS.iter().any(|prefix| name.starts_with(prefix))
}

fn numbers(pairs: Vec<(String, String)>) -> impl Iterator<Item = (String, f64)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value.trim().parse::<f64>().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_distinguished_from_stages_of_work() {
        for (state, is_wait) in [
            ("Waiting for table metadata lock", true),
            ("waiting for handler commit", true),
            ("Commit", true),
            ("updating", false),
            ("", false),
            ("Ждать", false),
        ] {
            assert_eq!(!wait(state).is_empty(), is_wait, "{state}");
        }
    }
}

//! MySQL, MariaDB and other servers with their protocol.

mod observer;
mod settings;

use super::queries::{ConnectionLimit, EngineQueries, LockQueries, ServerQueries, TableQueries};
use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::numbers::whole_numbers;
use crate::folder::read_beginning;
use std::collections::BTreeMap;
use std::path::Path;

/// Larger than any process id with its line end.
const PID_BYTES_MAX: u64 = 32;

pub(super) const QUERIES: EngineQueries = EngineQueries {
    settings: settings::SETTINGS,
    observe: Some(observer::observe),
    // ProxySQL answers exactly this text itself, and forwards every other question.
    versions: &["select @@version_comment limit 1"],
    tables: Some(TableQueries {
        sizes: None,
        indexes: "SELECT i.table_name, i.index_name, i.index_name = 'PRIMARY', i.column_name, \
            concat('`', replace(i.column_name, '`', '``'), '`'), c.data_type IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint') \
            FROM information_schema.statistics i JOIN information_schema.columns c ON c.table_schema = i.table_schema \
            AND c.table_name = i.table_name AND c.column_name = i.column_name WHERE i.table_schema = database() \
            ORDER BY i.table_name, i.index_name <> 'PRIMARY', i.index_name, i.seq_in_index",
        cache: "SELECT 'innodb_buffer_pool_size', @@innodb_buffer_pool_size",
    }),
    shared_storage: Some(
        "SELECT engine FROM information_schema.engines WHERE engine IN ('ndbcluster', 'InnoDB') \
         AND support IN ('YES', 'DEFAULT') ORDER BY engine = 'InnoDB' LIMIT 1",
    ),
    // A join, because Vitess rejects a correlated subquery here.
    plain_table: "SELECT count(*) FROM information_schema.tables t LEFT JOIN information_schema.triggers r \
        ON r.event_object_schema = database() AND r.event_object_table = t.table_name \
        WHERE t.table_schema = database() AND t.table_type = 'BASE TABLE' AND r.trigger_name IS NULL AND t.table_name =",
    server: Some(ServerQueries {
        connection_limit,
        foreign_sessions: "SELECT id, user, host, coalesce(db, ''), command FROM information_schema.processlist WHERE id <> connection_id() \
            AND user NOT IN ('system user', 'event_scheduler') AND command NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')",
        is_replicated,
        // `read_only` alone does not apply to every account.
        refuses_writes: "SHOW GLOBAL VARIABLES WHERE variable_name IN ('super_read_only', 'innodb_read_only') AND value = 'ON'",
        counters,
        programs: &["mysqld", "mariadbd"],
        write_marks: &[
            // MariaDB counts rows of internal tables separately, and its InnoDB counters have other
            // names.
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted' \
             /*M! , 'Handler_write', 'Handler_update', 'Handler_delete' */)",
            "SELECT count(*), sum(crc32(concat(table_name, ' ', coalesce(create_time, '')))) FROM information_schema.tables \
             WHERE table_schema = database()",
        ],
        // Names of locks are global to the server, case-insensitive and at most 64 characters long.
        lock: LockQueries {
            stay: "SET SESSION wait_timeout = 2147483",
            blocks_drop: false,
            pooled: None,
            take: "SELECT GET_LOCK(CONCAT('dyno:', SHA2(DATABASE(), 224)), 0)",
            held: "SELECT IS_USED_LOCK(CONCAT('dyno:', SHA2(DATABASE(), 224))) = CONNECTION_ID()",
            holder: "SELECT id, CONCAT(user, ' from ', host) FROM information_schema.processlist WHERE id = IS_USED_LOCK(CONCAT('dyno:', SHA2(DATABASE(), 224)))",
        },
        process,
        traces,
    }),
};

fn connection_limit(session: &mut ControlConnection) -> QueryResult<ConnectionLimit> {
    let connected = session.pairs("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
    let connected: u64 = connected.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(1);
    let per_user = session.count("SELECT @@max_user_connections")?;
    Ok(ConnectionLimit {
        max: session.count("SELECT @@max_connections")?,
        // The one connection reserved for an administrator is not part of the maximum.
        reserved: 0,
        in_use: connected.saturating_sub(1),
        per_user: (per_user > 0).then_some(per_user),
    })
}

fn is_replicated(session: &mut ControlConnection) -> bool {
    // MySQL 8.0.22 and MariaDB 10.5 renamed the statement; MySQL 8.4 removed the old name.
    let replica =
        session.rows("SHOW REPLICA STATUS").or_else(|_| session.rows("SHOW SLAVE STATUS"));
    let status = |session: &mut ControlConnection, name: &str| {
        let pairs = session.pairs(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap_or_default();
        pairs.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    let galera = status(session, "wsrep_cluster_size");
    let group = session.count(
        "SELECT count(*) FROM performance_schema.replication_group_members WHERE member_state <> 'OFFLINE'",
    );
    let receivers = session.count(
        "SELECT count(*) FROM information_schema.processlist WHERE command IN ('Binlog Dump', 'Binlog Dump GTID')",
    );
    replica.is_ok_and(|rows| !rows.is_empty())
        || galera + group.unwrap_or(0) + receivers.unwrap_or(0) > 0
}

fn counters(
    session: &mut ControlConnection,
    _databases: &[String],
) -> QueryResult<BTreeMap<String, i64>> {
    Ok(whole_numbers(session.pairs("SHOW GLOBAL STATUS")?).collect())
}

/// The PID file is often readable only by the server's account.
fn process(session: &mut ControlConnection) -> Option<u32> {
    let file = session.first("SELECT @@pid_file").ok()??;
    let text = read_beginning(Path::new(&file), PID_BYTES_MAX).ok()?;
    String::from_utf8(text).ok()?.trim().parse().ok()
}

fn traces(session: &mut ControlConnection) -> Vec<String> {
    let mut first = |sql| session.word(sql);
    let file = first("SELECT @@pid_file").and_then(|file| match file.starts_with('/') {
        true => Some(format!("file:{file}")),
        false => Some(format!("file:{}{file}", first("SELECT @@datadir")?)),
    });
    file.into_iter().chain(["name:mariadbd", "name:mysqld"].map(str::to_owned)).collect()
}

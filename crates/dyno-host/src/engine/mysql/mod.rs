//! MySQL, MariaDB and others that speak their protocol.

mod observer;
mod settings;

use super::questions::{ConnectionLimit, Questions, Replication, ServerQuestions, TableQuestions};
use crate::control_connection::{Asked, ControlConnection};
use crate::engine::numbers::whole_numbers;
use crate::folder::read_beginning;
use std::collections::BTreeMap;
use std::path::Path;

/// More than the digits of a process's number, and a line's end.
const PID_BYTES_MAX: u64 = 32;

pub(super) const QUESTIONS: Questions = Questions {
    settings: settings::SETTINGS,
    observe: Some(observer::observe),
    tables: Some(TableQuestions {
        sizes: None,
        indexes: "SELECT i.table_name, i.index_name, i.index_name = 'PRIMARY', i.column_name, \
            concat('`', replace(i.column_name, '`', '``'), '`'), c.data_type IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint') \
            FROM information_schema.statistics i JOIN information_schema.columns c ON c.table_schema = i.table_schema \
            AND c.table_name = i.table_name AND c.column_name = i.column_name WHERE i.table_schema = database() \
            ORDER BY i.table_name, i.index_name <> 'PRIMARY', i.index_name, i.seq_in_index",
        cache: "SELECT 'innodb_buffer_pool_size', @@innodb_buffer_pool_size",
    }),
    server: Some(ServerQuestions {
        connection_limit,
        foreign_sessions: "SELECT id, user, host, coalesce(db, ''), command FROM information_schema.processlist WHERE id <> connection_id() \
            AND user NOT IN ('system user', 'event_scheduler') AND command NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')",
        replication,
        counters,
        programs: &["mysqld", "mariadbd"],
        process,
        traces,
    }),
};

fn connection_limit(session: &mut ControlConnection) -> Asked<ConnectionLimit> {
    let connected = session.pairs("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
    let connected: u64 = connected.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(1);
    let per_user = session.count("SELECT @@max_user_connections")?;
    Ok(ConnectionLimit {
        max: session.count("SELECT @@max_connections")?,
        // One more connection than the maximum is kept for an administrator, so none of these.
        reserved: 0,
        in_use: connected.saturating_sub(1),
        per_user: (per_user > 0).then_some(per_user),
    })
}

fn replication(session: &mut ControlConnection) -> Replication {
    // The statement's name changed in MySQL 8.0.22 and MariaDB 10.5; the old one is gone from MySQL 8.4.
    let replica = session.rows("SHOW REPLICA STATUS").or_else(|_| session.rows("SHOW SLAVE STATUS"));
    let status = |session: &mut ControlConnection, name: &str| {
        let pairs = session.pairs(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap_or_default();
        pairs.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    let galera = status(session, "wsrep_cluster_size");
    let group = session.count(
        "SELECT count(*) FROM performance_schema.replication_group_members WHERE member_state <> 'OFFLINE'",
    );
    Replication {
        is_replica: replica.is_ok_and(|rows| !rows.is_empty()),
        receivers: session
            .count("SELECT count(*) FROM information_schema.processlist WHERE command IN ('Binlog Dump', 'Binlog Dump GTID')")
            .unwrap_or(0),
        members: std::cmp::max(galera, group.unwrap_or(0)),
    }
}

fn counters(session: &mut ControlConnection, _databases: &[String]) -> Asked<BTreeMap<String, i64>> {
    Ok(whole_numbers(session.pairs("SHOW GLOBAL STATUS")?).collect())
}

/// The file is often for the server's account only.
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

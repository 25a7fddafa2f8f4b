//! PostgreSQL and other servers with its protocol.

mod observer;
mod settings;

use super::queries::{
    ConnectionLimit, EngineQueries, LockQueries, PooledLock, ServerQueries, TableQueries,
};
use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::numbers::{UPTIME, whole_numbers};
use crate::process_stat::ProcessStat;
use crate::process_stat::children;
use std::collections::BTreeMap;

pub(super) const QUERIES: EngineQueries = EngineQueries {
    settings: settings::SETTINGS,
    observe: Some(observer::observe),
    versions: &[
        "SELECT version()",
        "SELECT proname FROM pg_catalog.pg_proc WHERE proname = 'aurora_version'",
    ],
    tables: Some(TableQueries {
        sizes: None,
        indexes: "SELECT n.nspname || '.' || c.relname, x.indexrelid::text, x.indisprimary::int::text, a.attname, quote_ident(a.attname), \
            (a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype))::int::text \
            FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid \
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
            CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY k(number, place) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number \
            ORDER BY 1, NOT x.indisprimary, 2, k.place",
        cache: "SELECT name, (setting::bigint * current_setting('block_size')::bigint)::text FROM pg_catalog.pg_settings WHERE name = 'shared_buffers'",
    }),
    shared_storage: None,
    plain_table: "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = current_schema() AND c.relkind = 'r' AND pg_get_userbyid(c.relowner) = current_user \
        AND NOT c.relhasrules AND NOT c.relhastriggers AND NOT c.relrowsecurity AND c.relname =",
    server: Some(ServerQueries {
        connection_limit,
        foreign_sessions: "SELECT pid::text, usename, coalesce(nullif(application_name, ''), client_addr::text, 'local'), coalesce(datname, ''), \
            coalesce(state, '') FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        is_replicated,
        // Also on during recovery.
        refuses_writes: "SELECT name FROM pg_catalog.pg_settings WHERE name = 'transaction_read_only' AND setting = 'on'",
        counters,
        programs: &["postgres", "postmaster"],
        write_marks: &[
            "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text FROM pg_catalog.pg_stat_user_tables",
            "SELECT count(*)::text, sum(hashtext(c.oid || ' ' || c.relname || ' ' || c.relfilenode)::bigint)::text FROM pg_catalog.pg_class c \
             WHERE c.relnamespace IN (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema')",
            "SELECT count(*)::text, max(oid)::text FROM pg_catalog.pg_largeobject_metadata",
        ],
        lock: LockQueries {
            stay: "SET idle_session_timeout = 0",
            blocks_drop: true,
            pooled: Some(PooledLock {
                session: "SELECT pg_backend_pid()",
                begin: &[
                    "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
                    "SELECT set_config(name, '0', true) FROM pg_catalog.pg_settings \
                     WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')",
                ],
                take: "SELECT pg_try_advisory_xact_lock(1685679727, 1835102827)",
            }),
            // The two halves of the key are the letters of "dyno" and "mark".
            take: "SELECT pg_try_advisory_lock(1685679727, 1835102827)",
            held: "SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND classid = 1685679727 AND objid = 1835102827 \
                AND granted AND pid = pg_backend_pid()",
            holder: "SELECT a.pid::text, a.usename || ' from ' || coalesce(host(a.client_addr), 'this machine') \
                FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid \
                WHERE l.locktype = 'advisory' AND l.classid = 1685679727 AND l.objid = 1835102827 AND l.granted \
                AND a.datname = current_database()",
        },
        process,
        traces,
    }),
};

fn connection_limit(session: &mut ControlConnection) -> QueryResult<ConnectionLimit> {
    let setting = |name: &str| format!("SELECT coalesce(current_setting('{name}', true), '0')");
    let is_superuser = session.first("SHOW is_superuser")?.as_deref() == Some("on");
    let reserved = if is_superuser {
        0
    } else {
        // The second setting exists since version 16.
        session.count(&setting("superuser_reserved_connections"))?
            + session.count(&setting("reserved_connections"))?
    };
    let role = session
        .first("SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = current_user")?;
    Ok(ConnectionLimit {
        max: session.count(&setting("max_connections"))?,
        reserved,
        in_use: session.count(
            "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?,
        per_user: role.and_then(|limit| limit.parse().ok()),
    })
}

fn is_replicated(session: &mut ControlConnection) -> bool {
    let is_replica = session.first("SELECT pg_is_in_recovery()");
    let receivers = session.count(
        "SELECT (SELECT count(*) FROM pg_catalog.pg_stat_replication) + \
         (SELECT count(*) FROM pg_catalog.pg_replication_slots WHERE NOT active)",
    );
    is_replica.is_ok_and(|answer| answer.as_deref() == Some("t")) || receivers.unwrap_or(0) > 0
}

/// Views are read as pairs of column and value through JSON, so that columns of every version
/// appear under their names.
fn counters(
    session: &mut ControlConnection,
    databases: &[String],
) -> QueryResult<BTreeMap<String, i64>> {
    let databases = observer::listed(databases);
    let each = session.pairs(&format!(
        "SELECT key, value FROM pg_catalog.pg_stat_database AS d, jsonb_each_text(to_jsonb(d)) \
         WHERE d.datname IN ({databases}) AND key NOT IN ('datid', 'datname', 'numbackends')"
    ))?;
    let mut counters: BTreeMap<String, i64> = BTreeMap::new();
    for (name, value) in whole_numbers(each) {
        *counters.entry(name).or_default() += value;
    }
    let views = session.rows(
        "SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'pg_catalog' \
         AND viewname IN ('pg_stat_wal', 'pg_stat_bgwriter', 'pg_stat_checkpointer')",
    )?;
    for view in views.into_iter().flatten().flatten() {
        // The names come from the constant list above.
        let pairs = session.pairs(&format!(
            "SELECT key, value FROM pg_catalog.{view} AS v, jsonb_each_text(to_jsonb(v))"
        ))?;
        // Two views have a timestamp column of this name.
        counters.extend(whole_numbers(pairs).filter(|(name, _)| name != "stats_reset"));
    }
    let up = "SELECT floor(extract(epoch FROM clock_timestamp() - pg_catalog.pg_postmaster_start_time()))::bigint";
    counters.extend(
        session.first(up)?.and_then(|up| Some((UPTIME.to_owned(), up.trim().parse().ok()?))),
    );
    counters.extend(calls(session, &databases)?);
    Ok(counters)
}

/// Calls by the first word of the statement, without catalogue queries such as these; empty where
/// the extension is missing or not readable.
fn calls(session: &mut ControlConnection, databases: &str) -> QueryResult<BTreeMap<String, i64>> {
    let schema = session.first(
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'pg_stat_statements'",
    )?;
    let Some(schema) = schema else { return Ok(BTreeMap::new()) };
    let pairs = session.pairs(&format!(
        "SELECT 'calls.' || upper(substring(query from '[A-Za-z]+')), sum(calls)::bigint FROM {schema}.pg_stat_statements \
         WHERE dbid IN (SELECT oid FROM pg_catalog.pg_database WHERE datname IN ({databases})) \
         AND query NOT LIKE '%pg\\_catalog.%' AND query NOT LIKE '%pg\\_stat\\_%' \
         AND substring(query from '[A-Za-z]+') IS NOT NULL GROUP BY 1"
    ));
    // The library may not be loaded although the extension exists, or may be inaccessible to this
    // account.
    Ok(pairs.map(|pairs| whole_numbers(pairs).collect()).unwrap_or_default())
}

/// The parent of the answering process, if it is on this machine.
fn process(session: &mut ControlConnection) -> Option<u32> {
    let backend: u32 = session.first("SELECT pg_backend_pid()").ok()??.parse().ok()?;
    let postmaster = ProcessStat::of(backend)?.parent;
    children(postmaster).contains(&backend).then_some(postmaster)
}

fn traces(session: &mut ControlConnection) -> Vec<String> {
    session
        .word("SELECT pg_backend_pid()")
        .map(|backend| format!("session:{backend}"))
        .into_iter()
        .collect()
}

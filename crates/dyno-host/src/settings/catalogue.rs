//! What is known of each engine's settings: which ones figures depend on, and which go by two names.

use super::Setting;
use dyno_model::target::Engine;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Settings that figures depend on and reports show: durability, memory, connections, isolation, threads. A server that
/// does not have one of them leaves it out.
#[must_use]
pub fn that_matter(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Mysql => &MYSQL,
        Engine::Postgres => &POSTGRES,
        Engine::Sqlite => &SQLITE,
        Engine::Null => &[],
    }
}

const MYSQL: [&str; 40] = [
    "autocommit",
    "binlog_format",
    "character_set_server",
    "default_storage_engine",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_deadlock_detect",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_print_all_deadlocks",
    "innodb_redo_log_capacity",
    "innodb_rollback_on_timeout",
    "innodb_snapshot_isolation",
    "innodb_thread_concurrency",
    "local_infile",
    "log_bin",
    "max_connections",
    "max_prepared_stmt_count",
    "open_files_limit",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "skip_name_resolve",
    "sql_mode",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    "transaction_isolation",
    "tx_isolation",
    "version_comment",
    "wsrep_on",
    "wsrep_sync_wait",
];

const POSTGRES: [&str; 34] = [
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "deadlock_timeout",
    "default_transaction_isolation",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "jit",
    "lock_timeout",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "min_wal_size",
    "password_encryption",
    "plan_cache_mode",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "shared_preload_libraries",
    "statement_timeout",
    "superuser_reserved_connections",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "work_mem",
];

const SQLITE: [&str; 13] = [
    "auto_vacuum",
    "busy_timeout",
    "cache_size",
    "encoding",
    "foreign_keys",
    "fullfsync",
    "journal_mode",
    "locking_mode",
    "mmap_size",
    "page_size",
    "synchronous",
    "temp_store",
    "wal_autocheckpoint",
];

/// Options of the MySQL family that are no system variables: the server stops at an unknown or broken one by itself.
const MYSQL_WITHOUT_VARIABLE: [&str; 6] = [
    "early_plugin_load",
    "loose_plugin_load_add",
    "performance_schema_consumer",
    "performance_schema_instrument",
    "plugin_load",
    "plugin_load_add",
];

/// True for options that no server tells back.
pub(super) fn cannot_be_read(engine: Engine, listed: &str) -> bool {
    engine == Engine::Mysql && MYSQL_WITHOUT_VARIABLE.contains(&listed)
}

/// The setting behind a name, and the value to compare it with, which differs where an option and its variable do.
pub(super) fn find<'a, 'b>(
    engine: Engine,
    listed: &str,
    value: &'a str,
    found: &'b BTreeMap<String, Setting>,
) -> Option<(&'b Setting, Cow<'a, str>)> {
    if engine == Engine::Mysql {
        match listed {
            // Options that switch binary logging off.
            "skip_log_bin" | "disable_log_bin" => return Some((found.get("log_bin")?, Cow::Borrowed("OFF"))),
            // The option's value is a file name, the variable only tells that there is one.
            "log_bin" if !matches!(value, "0" | "1") && !value.eq_ignore_ascii_case("off") => {
                return Some((found.get("log_bin")?, Cow::Borrowed("ON")));
            }
            _ => {}
        }
        // MariaDB before 11.1 has the option `transaction-isolation` for the variable `tx_isolation`.
        let twin = match listed {
            "transaction_isolation" => Some("tx_isolation"),
            "transaction_read_only" => Some("tx_read_only"),
            _ => None,
        };
        if let Some(setting) = found.get(listed).or_else(|| found.get(twin?)) {
            return Some((setting, Cow::Borrowed(value)));
        }
        return None;
    }
    Some((found.get(listed)?, Cow::Borrowed(value)))
}

/// The word for a pragma's number, as SQLite's documentation has it.
pub(super) fn pragma_word(name: &str, value: &str) -> Option<&'static str> {
    let words: &[&str] = match name {
        "synchronous" => &["off", "normal", "full", "extra"],
        "temp_store" => &["default", "file", "memory"],
        "auto_vacuum" => &["none", "full", "incremental"],
        _ => return None,
    };
    words.get(value.parse::<usize>().ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_once_and_as_servers_write_them() {
        for engine in [Engine::Mysql, Engine::Postgres, Engine::Sqlite] {
            let names = that_matter(engine);
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{engine}: sorted, no name twice");
            assert!(
                names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
            );
        }
    }
}

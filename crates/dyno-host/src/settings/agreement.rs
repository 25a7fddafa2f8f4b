//! Decides whether two spellings have the same value, by the rules of each engine.

use super::Setting;
use crate::engine::{FoundSettings, queries};
use dyno_model::target::Engine;

/// Result of comparing a setting in force with the requested value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// The server has the requested value, rounded to one that it supports.
    Rounded,
    Different,
}

/// Compares a setting with the requested value. `all` are the server's settings, some of which
/// determine how others are rounded.
pub(super) fn compare(
    engine: Engine,
    name: &str,
    requested: &str,
    found: &Setting,
    all: &FoundSettings,
) -> Agreement {
    if is_same(engine, name, requested, found) {
        return Agreement::Same;
    }
    if (queries(engine).settings.is_rounded)(name, requested.trim(), found, all) {
        Agreement::Rounded
    } else {
        Agreement::Different
    }
}

/// True when the server's value equals the requested one.
fn is_same(engine: Engine, name: &str, requested: &str, found: &Setting) -> bool {
    let requested = requested.trim();
    if requested.eq_ignore_ascii_case(found.value.trim())
        || requested.eq_ignore_ascii_case(found.shown.trim())
    {
        return true;
    }
    (queries(engine).settings.is_same)(name, requested, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn setting(value: &str, unit: &str, kind: &str) -> Setting {
        Setting {
            value: value.to_owned(),
            shown: value.to_owned(),
            unit: unit.to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn mysql_values_are_equal_in_every_spelling() {
        let rows = [
            ("4G", "4294967296", true),
            ("4g", "4294967296", true),
            ("4096M", "4294967296", true),
            ("4G", "4294967295", false),
            ("18446744073709551615", "18446744073709551615", true),
            ("0.9", "0.900000", true),
            ("0.9", "0.910000", false),
            ("on", "ON", true),
            ("1", "ON", true),
            ("true", "ON", true),
            ("0", "ON", false),
            ("2", "ON", false),
            ("1", "2", false),
            ("-1", "1", false),
            ("read committed", "READ-COMMITTED", true),
            ("READ-COMMITTED", "REPEATABLE-READ", false),
            ("utf8", "utf8mb3", true),
            ("STRICT_TRANS_TABLES,NO_ZERO_DATE", "NO_ZERO_DATE,STRICT_TRANS_TABLES", true),
            ("STRICT_TRANS_TABLES", "NO_ZERO_DATE,STRICT_TRANS_TABLES", false),
            ("", "STRICT_TRANS_TABLES", false),
            ("mrr=on", "index_merge=on,mrr=on,mrr_cost_based=off", true),
            ("mrr=off", "index_merge=on,mrr=on,mrr_cost_based=off", false),
            ("/var/tmp", "/var/tmp/", true),
            ("pool-of-threads", "pool-of-threads", true),
        ];
        for (requested, found, expected) in rows {
            let found_setting = setting(found, "", "");
            assert_eq!(
                is_same(Engine::Mysql, "any", requested, &found_setting),
                expected,
                "{requested:?} against {found:?}"
            );
        }
    }

    #[test]
    fn a_rounded_value_is_distinguished_from_an_ignored_one() {
        use Agreement::{Different, Rounded, Same};
        let chunks = |text: &str| setting(text, "", "");
        let all = BTreeMap::from([
            ("innodb_buffer_pool_chunk_size".to_owned(), chunks("134217728")),
            ("innodb_buffer_pool_instances".to_owned(), chunks("1")),
        ]);
        let rows = [
            ("innodb_buffer_pool_size", "200M", "268435456", Rounded),
            ("innodb_buffer_pool_size", "256M", "268435456", Same),
            ("innodb_buffer_pool_size", "192M", "134217728", Different),
            ("innodb_buffer_pool_size", "4G", "134217728", Different),
            ("key_buffer_size", "5000", "4096", Rounded),
            ("max_allowed_packet", "1100000", "1099776", Rounded),
            ("innodb_log_file_size", "5000000", "4194304", Rounded),
            ("sort_buffer_size", "5000", "32768", Different),
            ("innodb_flush_log_at_trx_commit", "7", "2", Different),
            ("max_connections", "5000", "4096", Different),
            ("table_open_cache", "2100", "2048", Different),
        ];
        for (name, requested, found, expected) in rows {
            let agreement = compare(Engine::Mysql, name, requested, &setting(found, "", ""), &all);
            assert_eq!(agreement, expected, "{name} = {requested:?} against {found:?}");
        }
        let rows = [
            ("shared_buffers", "1000kB", "125", "8kB", Same),
            ("shared_buffers", "1001kB", "125", "8kB", Rounded),
            ("shared_buffers", "1008kB", "125", "8kB", Different),
            ("checkpoint_timeout", "31500ms", "32", "s", Rounded),
            ("checkpoint_timeout", "31500ms", "300", "s", Different),
        ];
        for (name, requested, value, unit, expected) in rows {
            let found = setting(value, unit, "integer");
            let agreement = compare(Engine::Postgres, name, requested, &found, &all);
            assert_eq!(agreement, expected, "{name} = {requested:?} against {value:?}");
        }
    }

    #[test]
    fn postgres_values_are_equal_in_every_unit() {
        let rows = [
            ("shared_buffers", "128MB", "16384", "8kB", "integer", true),
            ("shared_buffers", "131072kB", "16384", "8kB", "integer", true),
            ("shared_buffers", "16384", "16384", "8kB", "integer", true),
            ("shared_buffers", "1GB", "16384", "8kB", "integer", false),
            ("shared_buffers", "128ms", "16384", "8kB", "integer", false),
            ("shared_buffers", "128mb", "16384", "8kB", "integer", false),
            ("work_mem", "4MB", "4096", "kB", "integer", true),
            ("checkpoint_timeout", "5min", "300", "s", "integer", true),
            ("checkpoint_timeout", "0.5h", "1800", "s", "integer", true),
            ("deadlock_timeout", "1s", "1000", "ms", "integer", true),
            ("checkpoint_completion_target", "0.9", "0.9", "", "real", true),
            ("vacuum_cost_delay", "2000us", "2", "ms", "real", true),
            ("fsync", "off", "off", "", "bool", true),
            ("fsync", "f", "off", "", "bool", true),
            ("fsync", "1", "off", "", "bool", false),
            ("synchronous_commit", "true", "on", "", "enum", true),
            ("synchronous_commit", "local", "on", "", "enum", false),
            ("wal_compression", "on", "pglz", "", "enum", true),
            ("wal_compression", "on", "lz4", "", "enum", false),
            ("wal_buffers", "-1", "512", "8kB", "integer", true),
            ("search_path", "public,x", "public, x", "", "string", true),
            ("search_path", "public", "public, x", "", "string", false),
        ];
        for (name, requested, value, unit, kind, expected) in rows {
            let found = setting(value, unit, kind);
            assert_eq!(
                is_same(Engine::Postgres, name, requested, &found),
                expected,
                "{name} = {requested:?} against {value:?}"
            );
        }
    }

    #[test]
    fn pragmas_are_equal_by_word_and_by_number() {
        let rows = [
            ("journal_mode", "WAL", "wal", true),
            ("journal_mode", "wal", "delete", false),
            ("synchronous", "FULL", "2", true),
            ("synchronous", "2", "2", true),
            ("synchronous", "normal", "2", false),
            ("temp_store", "memory", "2", true),
            ("foreign_keys", "on", "1", true),
            ("foreign_keys", "off", "1", false),
            ("cache_size", "-2000", "-2000", true),
            ("encoding", "'UTF-8'", "UTF-8", true),
        ];
        for (name, requested, found, expected) in rows {
            let found_setting = setting(found, "", "");
            assert_eq!(
                is_same(Engine::Sqlite, name, requested, &found_setting),
                expected,
                "{name} = {requested:?} against {found:?}"
            );
        }
    }
}

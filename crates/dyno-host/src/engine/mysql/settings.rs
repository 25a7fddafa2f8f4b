//! Settings of the MySQL family.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries::{EngineSettings, FoundSettings};
use crate::engine::setting::{Setting, boolean, is_close};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SETTINGS: EngineSettings = EngineSettings {
    that_matter: &[
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
    ],
    // Options set by dyno.
    reserved: &[
        (
            &[
                "port",
                "socket",
                "bind_address",
                "skip_networking",
                "extra_port",
                "mysqlx",
                "mysqlx_port",
                "mysqlx_socket",
                "admin_address",
            ],
            "dyno chooses where the server listens",
        ),
        (
            &[
                "datadir",
                "basedir",
                "tmpdir",
                "pid_file",
                "log_error",
                "init_file",
                "user",
                "chroot",
            ],
            "dyno chooses the server's directories, files and user",
        ),
        (
            &["defaults_file", "defaults_extra_file", "no_defaults", "defaults_group_suffix"],
            "dyno passes all settings itself, so that no other file can change them",
        ),
        (
            &["skip_grant_tables", "daemonize", "bootstrap", "initialize", "initialize_insecure"],
            "dyno does not support this mode of the server",
        ),
    ],
    shaping: &[
        "character_set_server",
        "collation_server",
        "default_storage_engine",
        "innodb_checksum_algorithm",
        "innodb_compression_algorithm",
        "innodb_compression_default",
        "innodb_compression_level",
        "innodb_data_file_path",
        "innodb_default_row_format",
        "innodb_encrypt_tables",
        "innodb_file_format",
        "innodb_file_per_table",
        "innodb_fill_factor",
        "innodb_log_file_size",
        "innodb_log_files_in_group",
        "innodb_page_size",
        "innodb_stats_persistent_sample_pages",
        "innodb_undo_tablespaces",
        "large_prefix",
        "lower_case_table_names",
        "plugin_load_add",
        "sql_mode",
    ],
    // Options without a system variable. The server itself refuses to start with an unknown or
    // invalid one.
    unreported: &[
        "early_plugin_load",
        "loose_plugin_load_add",
        "performance_schema_consumer",
        "performance_schema_instrument",
        "plugin_load",
        "plugin_load_add",
    ],
    read,
    listed,
    find,
    is_same: |_, requested, found| is_same(requested, &found.value),
    is_rounded: |name, requested, found, all| is_rounded(name, requested, &found.value, all),
    size: |_, digits, letter| Some(format!("{digits}{letter}")),
    is_value: |_| true,
    spare,
};

fn read(session: &mut ControlConnection) -> QueryResult<FoundSettings> {
    let pairs = session.pairs("SHOW GLOBAL VARIABLES")?;
    Ok(pairs
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), Setting::plain(value)))
        .collect())
}

/// The server treats `-` and `_` alike.
fn listed(name: &str) -> String {
    name.trim_start_matches('-').replace('-', "_")
}

fn find<'a, 'b>(
    listed: &str,
    value: &'a str,
    found: &'b FoundSettings,
) -> Option<(&'b Setting, Cow<'a, str>)> {
    match listed {
        // Options that disable the binary log.
        "skip_log_bin" | "disable_log_bin" => {
            return Some((found.get("log_bin")?, Cow::Borrowed("OFF")));
        }
        // The value of the option is a file name; the variable only tells whether there is one.
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
    let setting = found.get(listed).or_else(|| found.get(twin?))?;
    Some((setting, Cow::Borrowed(value)))
}

/// A binary log would hold all rows again.
fn spare(settings: &mut BTreeMap<String, String>) {
    let is_log = |name: &str| {
        let listed = listed(&name.to_ascii_lowercase());
        listed.starts_with("log_bin") || listed == "skip_log_bin" || listed == "disable_log_bin"
    };
    settings.retain(|name, _| !is_log(name));
    settings.insert("skip_log_bin".to_owned(), "1".to_owned());
}

/// Largest block to which servers round sizes, except for the buffer pool.
const BLOCK_MAX: u64 = 1 << 20;

/// Sizes are rounded to a block whose size is a power of two; the buffer pool is rounded up to a
/// multiple of its chunks (MySQL manual, "Configuring InnoDB Buffer Pool Size"). A clamped value is
/// not a rounded one, nor is a number that is not a size.
fn is_rounded(name: &str, requested: &str, found: &str, all: &FoundSettings) -> bool {
    let whole =
        |text: &str| parse_number(text).filter(|number| *number >= 0.0).map(|number| number as u64);
    let (Some(requested), Some(found)) = (whole(requested), whole(found)) else { return false };
    if name == "innodb_buffer_pool_size" {
        let value = |name: &str| {
            all.get(name).and_then(|setting| whole(&setting.value)).unwrap_or(1).max(1)
        };
        let step = value("innodb_buffer_pool_chunk_size")
            .saturating_mul(value("innodb_buffer_pool_instances"));
        if found > requested && found - requested < step && found % step == 0 {
            return true;
        }
    }
    let is_size =
        ["size", "buffer", "packet", "stack", "memory"].iter().any(|word| name.contains(word));
    let block = (1 << found.trailing_zeros().min(63)).min(BLOCK_MAX);
    is_size && found > 0 && requested >= block && requested.abs_diff(found) < block
}

/// A number with suffixes for powers of 1024. Exact for whole numbers below 2^64.
fn parse_number(text: &str) -> Option<f64> {
    let suffixes = ['k', 'm', 'g', 't', 'p', 'e'];
    let (digits, power) = match text.chars().last()?.to_ascii_lowercase() {
        last if suffixes.contains(&last) => {
            (&text[..text.len() - 1], 1 + suffixes.iter().position(|suffix| *suffix == last)?)
        }
        _ => (text, 0),
    };
    // Rust also parses `inf` and `nan`, which are words here.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    let number: f64 = if is_number { digits.parse().ok()? } else { return None };
    Some(number * 1024_f64.powi(i32::try_from(power).ok()?))
}

fn is_same(requested: &str, found: &str) -> bool {
    if let (Some(requested), Some(found)) = (parse_number(requested), parse_number(found)) {
        return is_close(requested, found);
    }
    if let (Some(requested), Some(found)) = (boolean(requested), boolean(found)) {
        return requested == found;
    }
    // `READ COMMITTED`, `read-committed` and `READ_COMMITTED` are equal; the server renamed utf8 to
    // utf8mb3.
    let word = |text: &str| match text
        .trim()
        .trim_end_matches('/')
        .to_ascii_lowercase()
        .replace(['-', '_'], " ")
        .as_str()
    {
        "utf8" => "utf8mb3".to_owned(),
        other => other.to_owned(),
    };
    let words = |text: &str| {
        text.split(',').map(word).filter(|item| !item.is_empty()).collect::<BTreeSet<_>>()
    };
    let (requested, found) = (words(requested), words(found));
    // For switches such as `mrr=on` only some are given, but the server returns all.
    let are_switches = !requested.is_empty() && requested.iter().all(|item| item.contains('='));
    requested == found || are_switches && requested.is_subset(&found)
}

//! Settings of PostgreSQL.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries::{EngineSettings, FoundSettings};
use crate::engine::setting::{Setting, boolean, by_name, is_close};

pub(super) const SETTINGS: EngineSettings = EngineSettings {
    that_matter: &[
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
    ],
    // Parameters set by dyno.
    reserved: &[
        (
            &["port", "listen_addresses", "unix_socket_directories", "bonjour"],
            "dyno chooses where the server listens",
        ),
        (
            &["data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"],
            "dyno chooses the server's directories and files",
        ),
        (&["logging_collector", "log_destination"], "dyno collects the server's log itself"),
    ],
    shaping: &[
        "default_statistics_target",
        "default_table_access_method",
        "default_tablespace",
        "default_toast_compression",
        "shared_preload_libraries",
    ],
    unreported: &[],
    read,
    listed: str::to_owned,
    find: by_name,
    is_same,
    is_rounded: |_, requested, found, _| is_rounded(requested, found),
    size: |_, digits, letter| match letter {
        "k" | "K" => Some(format!("{digits}kB")),
        letter => Some(format!("{digits}{}B", letter.to_ascii_uppercase())),
    },
    is_value: |_| true,
    spare: |_| {},
};

fn read(session: &mut ControlConnection) -> QueryResult<FoundSettings> {
    let rows = session.rows(
        "SELECT lower(name), setting, current_setting(name), coalesce(unit, ''), vartype FROM pg_catalog.pg_settings",
    )?;
    let setting = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().unwrap_or_default();
        (next(), Setting { value: next(), shown: next(), unit: next(), kind: next() })
    };
    Ok(rows.into_iter().map(setting).collect())
}

/// PostgreSQL manual, "Parameter Names and Values": a value with a unit is rounded to a multiple of
/// the parameter's own unit.
fn is_rounded(requested: &str, found: &Setting) -> bool {
    let (Some(requested), Ok(value)) =
        (parse_number(requested, &found.unit), found.value.parse::<f64>())
    else {
        return false;
    };
    found.kind == "integer" && (requested - value).abs() < 1.0
}

fn is_same(name: &str, requested: &str, found: &Setting) -> bool {
    match found.kind.as_str() {
        "bool" => {
            switch(requested).is_some_and(|requested| Some(requested) == switch(&found.value))
        }
        "integer" | "real" => {
            // The server computes the actual size at start and reports it.
            if name == "wal_buffers" && requested == "-1" {
                return true;
            }
            let (Some(requested), Ok(value)) =
                (parse_number(requested, &found.unit), found.value.parse::<f64>())
            else {
                return false;
            };
            is_close(requested, value)
        }
        "enum" => {
            // Some settings were booleans before they became enumerations.
            let is_switch =
                switch(requested).is_some_and(|requested| Some(requested) == switch(&found.value));
            is_switch
                || name == "wal_compression"
                    && boolean(requested) == Some(true)
                    && found.value == "pglz"
        }
        _ => {
            let items = |text: &str| -> Vec<String> {
                text.split(',').map(|item| item.trim().trim_matches('"').to_owned()).collect()
            };
            items(requested) == items(&found.value)
        }
    }
}

/// PostgreSQL accepts any unambiguous prefix: `t`, `fal`, `of` (but not `o`).
fn switch(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    if text == "1" || begins("true", 1) || begins("yes", 1) || text == "on" {
        Some(true)
    } else if text == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2) {
        Some(false)
    } else {
        None
    }
}

/// A number with or without a unit, converted to the setting's base unit.
fn parse_number(text: &str, base_unit: &str) -> Option<f64> {
    let digits =
        text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c))).unwrap_or(text.len());
    let (number, unit) = (text[..digits].parse::<f64>().ok()?, text[digits..].trim());
    if unit.is_empty() {
        return Some(number);
    }
    let ((size, dimension), (base_size, base_dimension)) =
        (unit_size(unit)?, unit_size(base_unit)?);
    (dimension == base_dimension).then(|| number * size / base_size)
}

#[derive(PartialEq)]
enum Dimension {
    Bytes,
    Microseconds,
}

/// A unit in bytes or microseconds; base units of settings may have a factor (`8kB` pages).
fn unit_size(unit: &str) -> Option<(f64, Dimension)> {
    use Dimension::{Bytes, Microseconds};
    let digits = unit.find(|c: char| !c.is_ascii_digit()).unwrap_or(unit.len());
    let factor: f64 = if digits == 0 { 1.0 } else { unit[..digits].parse().ok()? };
    let (size, dimension) = match &unit[digits..] {
        "B" => (1.0, Bytes),
        "kB" => (1024.0, Bytes),
        "MB" => (1_048_576.0, Bytes),
        "GB" => (1_073_741_824.0, Bytes),
        "TB" => (1_099_511_627_776.0, Bytes),
        "us" => (1.0, Microseconds),
        "ms" => (1e3, Microseconds),
        "s" => (1e6, Microseconds),
        "min" => (6e7, Microseconds),
        "h" => (3.6e9, Microseconds),
        "d" => (8.64e10, Microseconds),
        _ => return None,
    };
    Some((factor * size, dimension))
}

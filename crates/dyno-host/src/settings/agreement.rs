//! Whether two spellings mean the same value, by each engine's own rules.

use super::Setting;
use super::catalogue::pragma_word;
use dyno_model::target::Engine;
use std::collections::{BTreeMap, BTreeSet};

/// How a setting in force stands to what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// The server has the next value that it can have.
    Rounded,
    Different,
}

/// Compares a setting with what was asked for. `all` are the server's settings, of which some say how others are rounded.
pub(super) fn compare(
    engine: Engine,
    name: &str,
    asked: &str,
    found: &Setting,
    all: &BTreeMap<String, Setting>,
) -> Agreement {
    if is_same(engine, name, asked, found) {
        return Agreement::Same;
    }
    let is_rounded = match engine {
        Engine::Mysql => is_rounded_mysql(name, asked.trim(), &found.value, all),
        Engine::Postgres => is_rounded_postgres(asked.trim(), found),
        Engine::Sqlite | Engine::Null => false,
    };
    if is_rounded { Agreement::Rounded } else { Agreement::Different }
}

/// Largest block that servers of the MySQL family round sizes to, but for the buffer pool.
const BLOCK_MAX: u64 = 1 << 20;

/// Sizes become multiples of a block, whose size is a power of two; the buffer pool becomes a multiple of its chunks, upwards
/// (MySQL's manual, "Configuring InnoDB Buffer Pool Size"). A value out of bounds is another thing, and so is any number that
/// is no size.
fn is_rounded_mysql(name: &str, asked: &str, found: &str, all: &BTreeMap<String, Setting>) -> bool {
    let whole = |text: &str| mysql_number(text).filter(|number| *number >= 0.0).map(|number| number as u64);
    let (Some(asked), Some(found)) = (whole(asked), whole(found)) else { return false };
    if name == "innodb_buffer_pool_size" {
        let value = |name: &str| all.get(name).and_then(|setting| whole(&setting.value)).unwrap_or(1).max(1);
        let step =
            value("innodb_buffer_pool_chunk_size").saturating_mul(value("innodb_buffer_pool_instances"));
        if found > asked && found - asked < step && found % step == 0 {
            return true;
        }
    }
    let is_size = ["size", "buffer", "packet", "stack", "memory"].iter().any(|word| name.contains(word));
    let block = (1 << found.trailing_zeros().min(63)).min(BLOCK_MAX);
    is_size && found > 0 && asked >= block && asked.abs_diff(found) < block
}

/// The manual, "Parameter Names and Values": a value with a unit is rounded to a multiple of the parameter's own unit.
fn is_rounded_postgres(asked: &str, found: &Setting) -> bool {
    let (Some(asked), Ok(value)) = (postgres_number(asked, &found.unit), found.value.parse::<f64>()) else {
        return false;
    };
    found.kind == "integer" && (asked - value).abs() < 1.0
}

/// True when the server's setting is what was asked for.
fn is_same(engine: Engine, name: &str, asked: &str, found: &Setting) -> bool {
    let asked = asked.trim();
    if asked.eq_ignore_ascii_case(found.value.trim()) || asked.eq_ignore_ascii_case(found.shown.trim()) {
        return true;
    }
    match engine {
        Engine::Mysql => is_same_mysql(asked, &found.value),
        Engine::Postgres => is_same_postgres(name, asked, found),
        Engine::Sqlite => is_same_pragma(name, asked, &found.value),
        Engine::Null => true,
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// A number with the MySQL family's suffixes for powers of 1024. Exact for whole numbers below 2^64.
fn mysql_number(text: &str) -> Option<f64> {
    let suffixes = ['k', 'm', 'g', 't', 'p', 'e'];
    let (digits, power) = match text.chars().last()?.to_ascii_lowercase() {
        last if suffixes.contains(&last) => {
            (&text[..text.len() - 1], 1 + suffixes.iter().position(|suffix| *suffix == last)?)
        }
        _ => (text, 0),
    };
    // Rust also reads `inf` and `nan`, which are words here.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    let number: f64 = if is_number { digits.parse().ok()? } else { return None };
    Some(number * 1024_f64.powi(i32::try_from(power).ok()?))
}

fn is_same_mysql(asked: &str, found: &str) -> bool {
    if let (Some(asked), Some(found)) = (mysql_number(asked), mysql_number(found)) {
        return is_close(asked, found);
    }
    if let (Some(asked), Some(found)) = (boolean(asked), boolean(found)) {
        return asked == found;
    }
    // `READ COMMITTED`, `read-committed` and `READ_COMMITTED` are one word; the server's name of utf8 became utf8mb3.
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
    let words =
        |text: &str| text.split(',').map(word).filter(|item| !item.is_empty()).collect::<BTreeSet<_>>();
    let (asked, found) = (words(asked), words(found));
    // Of switches such as `mrr=on` only some are given, the server tells all.
    let are_switches = !asked.is_empty() && asked.iter().all(|item| item.contains('='));
    asked == found || are_switches && asked.is_subset(&found)
}

fn is_same_postgres(name: &str, asked: &str, found: &Setting) -> bool {
    match found.kind.as_str() {
        "bool" => postgres_boolean(asked).is_some_and(|asked| Some(asked) == postgres_boolean(&found.value)),
        "integer" | "real" => {
            // The server computes the real size at start and tells that.
            if name == "wal_buffers" && asked == "-1" {
                return true;
            }
            let (Some(asked), Ok(value)) = (postgres_number(asked, &found.unit), found.value.parse::<f64>())
            else {
                return false;
            };
            is_close(asked, value)
        }
        "enum" => {
            // Some settings were switches before they became choices.
            let is_switch =
                postgres_boolean(asked).is_some_and(|asked| Some(asked) == postgres_boolean(&found.value));
            is_switch || name == "wal_compression" && boolean(asked) == Some(true) && found.value == "pglz"
        }
        _ => {
            let items = |text: &str| -> Vec<String> {
                text.split(',').map(|item| item.trim().trim_matches('"').to_owned()).collect()
            };
            items(asked) == items(&found.value)
        }
    }
}

/// PostgreSQL takes any unambiguous beginning: `t`, `fal`, `of` (but not `o`).
fn postgres_boolean(text: &str) -> Option<bool> {
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

/// A number with or without unit in the setting's base unit.
fn postgres_number(text: &str, base_unit: &str) -> Option<f64> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c))).unwrap_or(text.len());
    let (number, unit) = (text[..digits].parse::<f64>().ok()?, text[digits..].trim());
    if unit.is_empty() {
        return Some(number);
    }
    let ((asked, asked_dimension), (base, base_dimension)) =
        (postgres_unit(unit)?, postgres_unit(base_unit)?);
    (asked_dimension == base_dimension).then(|| number * asked / base)
}

#[derive(PartialEq)]
enum Dimension {
    Bytes,
    Microseconds,
}

/// A unit's size in bytes or microseconds; base units of settings may have a factor (`8kB` pages).
fn postgres_unit(unit: &str) -> Option<(f64, Dimension)> {
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

fn is_same_pragma(name: &str, asked: &str, found: &str) -> bool {
    let asked = asked.trim_matches(['\'', '"']);
    if asked.eq_ignore_ascii_case(found) {
        return true;
    }
    if let Some(word) = pragma_word(name, found) {
        return word.eq_ignore_ascii_case(asked);
    }
    match (asked.parse::<i64>(), found.parse::<i64>()) {
        (Ok(asked), Ok(found)) => asked == found,
        _ => boolean(asked).is_some_and(|asked| Some(asked) == boolean(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(value: &str, unit: &str, kind: &str) -> Setting {
        Setting {
            value: value.to_owned(),
            shown: value.to_owned(),
            unit: unit.to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn mysql_values_agree_whatever_their_spelling() {
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
        for (asked, found, expected) in rows {
            let found_setting = setting(found, "", "");
            assert_eq!(
                is_same(Engine::Mysql, "any", asked, &found_setting),
                expected,
                "{asked:?} against {found:?}"
            );
        }
    }

    #[test]
    fn a_value_that_the_server_rounded_is_told_from_one_that_it_did_not_take() {
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
        for (name, asked, found, expected) in rows {
            let agreement = compare(Engine::Mysql, name, asked, &setting(found, "", ""), &all);
            assert_eq!(agreement, expected, "{name} = {asked:?} against {found:?}");
        }
        let rows = [
            ("shared_buffers", "1000kB", "125", "8kB", Same),
            ("shared_buffers", "1001kB", "125", "8kB", Rounded),
            ("shared_buffers", "1008kB", "125", "8kB", Different),
            ("checkpoint_timeout", "31500ms", "32", "s", Rounded),
            ("checkpoint_timeout", "31500ms", "300", "s", Different),
        ];
        for (name, asked, value, unit, expected) in rows {
            let found = setting(value, unit, "integer");
            let agreement = compare(Engine::Postgres, name, asked, &found, &all);
            assert_eq!(agreement, expected, "{name} = {asked:?} against {value:?}");
        }
    }

    #[test]
    fn postgres_values_agree_whatever_their_unit() {
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
        for (name, asked, value, unit, kind, expected) in rows {
            let found = setting(value, unit, kind);
            assert_eq!(
                is_same(Engine::Postgres, name, asked, &found),
                expected,
                "{name} = {asked:?} against {value:?}"
            );
        }
    }

    #[test]
    fn pragmas_agree_by_word_and_by_number() {
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
        for (name, asked, found, expected) in rows {
            let found_setting = setting(found, "", "");
            assert_eq!(
                is_same(Engine::Sqlite, name, asked, &found_setting),
                expected,
                "{name} = {asked:?} against {found:?}"
            );
        }
    }
}

//! Settings of SQLite: pragmas.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries::{EngineSettings, FoundSettings};
use crate::engine::setting::{Setting, boolean, by_name};
use std::collections::BTreeMap;

pub(super) const SETTINGS: EngineSettings = EngineSettings {
    that_matter: &[
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
    ],
    // Pragmas that are not settings.
    reserved: &[(
        &[
            "application_id",
            "incremental_vacuum",
            "integrity_check",
            "key",
            "optimize",
            "quick_check",
            "rekey",
            "schema_version",
            "shrink_memory",
            "table_info",
            "user_version",
            "wal_checkpoint",
            "writable_schema",
        ],
        "this pragma is an action or a marker, not a setting",
    )],
    // Pragmas stored in the file; all others belong to connections.
    shaping: &["auto_vacuum", "encoding", "journal_mode", "page_size"],
    unreported: &[],
    read,
    listed: str::to_owned,
    find: by_name,
    is_same: |name, requested, found| is_same(name, requested, &found.value),
    is_rounded: |_, _, _, _| false,
    size,
    is_value,
    spare: |_| {},
};

/// SQLite cannot list all pragmas with values, so the relevant ones are read one by one, and others
/// by name.
fn read(session: &mut ControlConnection) -> QueryResult<FoundSettings> {
    let mut settings = BTreeMap::new();
    for &name in SETTINGS.that_matter {
        if let Some(setting) = read_pragma(session, name)? {
            settings.insert(name.to_owned(), setting);
        }
    }
    Ok(settings)
}

/// Reads one pragma; `None` when SQLite does not know it, for which it returns no row.
pub(crate) fn read_pragma(
    session: &mut ControlConnection,
    name: &str,
) -> QueryResult<Option<Setting>> {
    let value = session.first(&format!("PRAGMA {name}"))?;
    Ok(value.map(|value| {
        let shown = pragma_word(name, &value).unwrap_or(&value).to_owned();
        Setting { value, shown, unit: String::new(), kind: String::new() }
    }))
}

/// The word for a pragma's number, as in SQLite's documentation.
fn pragma_word(name: &str, value: &str) -> Option<&'static str> {
    let words: &[&str] = match name {
        "synchronous" => &["off", "normal", "full", "extra"],
        "temp_store" => &["default", "file", "memory"],
        "auto_vacuum" => &["none", "full", "incremental"],
        _ => return None,
    };
    words.get(value.parse::<usize>().ok()?).copied()
}

/// Sizes are bytes; for `cache_size` a negative number means a size in KiB.
fn size(name: &str, digits: &str, letter: &str) -> Option<String> {
    let power = match letter.to_ascii_lowercase().as_str() {
        "k" => 0,
        "m" => 1,
        "g" => 2,
        _ => 3,
    };
    let kibibytes = digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(power))?;
    Some(match name.eq_ignore_ascii_case("cache_size") {
        true => format!("-{kibibytes}"),
        false => kibibytes.saturating_mul(1024).to_string(),
    })
}

/// A word, a number or a quoted string: nothing that could end the statement.
fn is_value(value: &str) -> bool {
    let inner =
        value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
    !inner.is_empty()
        && inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+".contains(&byte))
}

fn is_same(name: &str, requested: &str, found: &str) -> bool {
    let requested = requested.trim_matches(['\'', '"']);
    if requested.eq_ignore_ascii_case(found) {
        return true;
    }
    if let Some(word) = pragma_word(name, found) {
        return word.eq_ignore_ascii_case(requested);
    }
    match (requested.parse::<i64>(), found.parse::<i64>()) {
        (Ok(requested), Ok(found)) => requested == found,
        _ => boolean(requested).is_some_and(|requested| Some(requested) == boolean(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragma_values_cannot_end_the_statement() {
        for value in ["WAL", "-2000", "'UTF-8'", "0.5"] {
            assert!(is_value(value), "{value}");
        }
        for value in ["", "1; DROP TABLE x", "'a' --", "wal)", "''"] {
            assert!(!is_value(value), "{value}");
        }
    }
}

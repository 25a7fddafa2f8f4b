//! Converts sizes to each server's spelling, so that one spec can use `4G` for every server.

use crate::engine::queries;
use dyno_model::plan::ServerKind;
use std::borrow::Cow;

/// A setting's value in the server's spelling. Only sizes that the server would not accept are
/// converted; everything else is passed unchanged.
///
/// * MySQL family: accepts `4G`; `4GB` and `4GiB` are converted to it.
/// * PostgreSQL: accepts `4GB`; `4G` and `4GiB` are converted to it.
/// * SQLite: accepts numbers; sizes are converted to bytes, and for `cache_size` to the negative
///   number of KiB that means a size there.
#[must_use]
pub fn as_server_reads<'v>(kind: ServerKind, name: &str, value: &'v str) -> Cow<'v, str> {
    let Some((digits, unit)) = size(value) else { return Cow::Borrowed(value) };
    let settings = &queries(kind.engine()).settings;
    let Some(written) = (settings.size)(name, digits, &unit[..1]) else {
        return Cow::Borrowed(value);
    };
    if written == value { Cow::Borrowed(value) } else { Cow::Owned(written) }
}

/// Digits and unit of a size, neither of them empty: `4G`, `512 MiB`, `64kB`.
fn size(value: &str) -> Option<(&str, &str)> {
    let digits = value.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
    let (digits, unit) = value.split_at(digits);
    let unit = unit.trim();
    let is_unit = matches!(
        unit.to_ascii_lowercase().as_str(),
        "k" | "m" | "g" | "t" | "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" | "tib"
    );
    is_unit.then_some((digits, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::ServerKind::{Mariadb, Mysql, Postgres, Sqlite};

    #[test]
    fn sizes_are_written_as_each_server_reads_them() {
        let rows = [
            (Mariadb, "innodb_buffer_pool_size", "4G", "4G"),
            (Mysql, "innodb_buffer_pool_size", "4GB", "4G"),
            (Mysql, "innodb_buffer_pool_size", "512 MiB", "512M"),
            (Mariadb, "innodb_buffer_pool_size", "134217728", "134217728"),
            (Postgres, "shared_buffers", "4G", "4GB"),
            (Postgres, "shared_buffers", "4GB", "4GB"),
            (Postgres, "work_mem", "64k", "64kB"),
            (Postgres, "work_mem", "64KiB", "64kB"),
            // A unit of time, not of size.
            (Postgres, "checkpoint_timeout", "5min", "5min"),
            (Sqlite, "mmap_size", "256M", "268435456"),
            (Sqlite, "page_size", "8K", "8192"),
            (Sqlite, "cache_size", "2M", "-2048"),
            (Sqlite, "cache_size", "-2000", "-2000"),
            (Sqlite, "journal_mode", "WAL", "WAL"),
            (Mysql, "character_set_server", "utf8mb4", "utf8mb4"),
            (Mysql, "plugin_load_add", "g", "g"),
            (Postgres, "wal_level", "", ""),
        ];
        for (kind, name, value, expected) in rows {
            assert_eq!(as_server_reads(kind, name, value), expected, "{kind}: {name} = {value}");
        }
    }
}

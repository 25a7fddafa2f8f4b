//! Contents of a database when clients start: tables with their columns, indexes and sizes. Figures
//! measured with different schemas are not repeats of each other.

use crate::checksum::checksum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// The marker table of databases that dyno owns; it is not part of any schema.
pub const MARKER_TABLE: &str = "dyno_marker";

/// Maximum number of tables that are recorded in full; a database with thousands would fill every
/// record.
const TABLES_MAX: usize = 200;
/// Sizes that differ by less are considered equal: servers estimate, and leave free space in pages.
const SIZE_RATIO: f64 = 1.1;
/// Tables below this number of bytes are small, whatever their contents.
const SMALL_BYTES: u64 = 1 << 20;

/// A database's tables.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Schema {
    /// Fingerprint of all tables, columns and indexes, without sizes.
    pub fingerprint: String,
    /// Tables by name; the first 200 if there are more.
    pub tables: BTreeMap<String, TableSchema>,
    /// Number of further tables.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TableSchema {
    /// Columns with their types, in their order.
    pub columns: Vec<String>,
    /// Indexes by name, each with its definition.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<String, String>,
    /// Rows, if the server knows the number without counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Bytes including indexes, if the server reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A difference: the name in SQL, and both values; empty where one side does not have it.
pub type SchemaDifference = (String, String, String);

impl Schema {
    /// The schema of these tables.
    #[must_use]
    pub fn new(mut tables: BTreeMap<String, TableSchema>) -> Self {
        tables
            .retain(|name, _| name != MARKER_TABLE && !name.ends_with(&format!(".{MARKER_TABLE}")));
        let mut text = String::new();
        for (name, table) in &tables {
            write!(text, "{name:?} {:?} {:?};", table.columns, table.indexes)
                .expect("it is memory");
        }
        let fingerprint = checksum(text.as_bytes());
        let omitted = tables.len().saturating_sub(TABLES_MAX) as u64;
        Self { fingerprint, tables: tables.into_iter().take(TABLES_MAX).collect(), omitted }
    }

    /// Differences of tables, columns and indexes from another schema. Empty if and only if both
    /// have the same fingerprint.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<SchemaDifference> {
        if self.fingerprint == other.fingerprint {
            return Vec::new();
        }
        let mut differences = Vec::new();
        for name in self.tables.keys().chain(other.tables.keys()).collect::<BTreeSet<_>>() {
            match (self.tables.get(name), other.tables.get(name)) {
                (Some(one), Some(two)) => of_table(name, one, two, &mut differences),
                (one, two) => {
                    let columns = |it: Option<&TableSchema>| {
                        it.map_or(String::new(), |it| it.columns.join(", "))
                    };
                    differences.push((format!("TABLE {name}"), columns(one), columns(two)));
                }
            }
        }
        if differences.is_empty() {
            let (one, two) = (self.fingerprint.clone(), other.fingerprint.clone());
            differences.push(("...".to_owned(), one, two));
        }
        differences
    }

    /// Differences of the tables that both have.
    #[must_use]
    pub fn differences_in_common(&self, other: &Self) -> Vec<SchemaDifference> {
        let mut differences = Vec::new();
        for (name, one) in &self.tables {
            if let Some(two) = other.tables.get(name) {
                of_table(name, one, two, &mut differences);
            }
        }
        differences
    }

    /// Tables that both have and whose sizes differ: rows and bytes of both.
    #[must_use]
    pub fn size_differences(&self, other: &Self) -> Vec<(String, TableSize, TableSize)> {
        let both =
            self.tables.iter().filter_map(|(name, one)| Some((name, one, other.tables.get(name)?)));
        let unequal = both.filter(|(_, one, two)| one.is_of_another_size(two));
        unequal.map(|(name, one, two)| (name.clone(), one.size(), two.size())).collect()
    }
}

fn of_table(
    name: &str,
    one: &TableSchema,
    two: &TableSchema,
    differences: &mut Vec<SchemaDifference>,
) {
    if one.columns != two.columns {
        differences.push((format!("TABLE {name}"), one.columns.join(", "), two.columns.join(", ")));
    }
    for index in one.indexes.keys().chain(two.indexes.keys()).collect::<BTreeSet<_>>() {
        let definition =
            |table: &TableSchema| table.indexes.get(index).cloned().unwrap_or_default();
        let (of_one, of_two) = (definition(one), definition(two));
        if of_one != of_two {
            differences.push((format!("INDEX {index} ON {name}"), of_one, of_two));
        }
    }
}

impl TableSchema {
    /// Rows are more meaningful; where a server only estimates them, bytes are used.
    fn is_of_another_size(&self, other: &Self) -> bool {
        let differ = |one: u64, two: u64| one.max(two) as f64 > SIZE_RATIO * one.min(two) as f64;
        match (self.bytes.zip(other.bytes), self.rows.zip(other.rows)) {
            (Some((one, two)), _) if one.max(two) >= SMALL_BYTES => differ(one, two),
            (_, Some((one, two))) => differ(one, two),
            (Some((one, two)), None) => differ(one, two),
            (None, None) => false,
        }
    }

    fn size(&self) -> TableSize {
        TableSize { rows: self.rows, bytes: self.bytes }
    }
}

/// The size of a table, as far as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableSize {
    /// Its rows.
    pub rows: Option<u64>,
    /// Its bytes including indexes.
    pub bytes: Option<u64>,
}

impl TableSize {
    /// Its size on disk: `5.0 MiB`.
    #[must_use]
    pub fn mebibytes(&self) -> Option<String> {
        self.bytes.map(|bytes| format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64))
    }
}

impl fmt::Display for TableSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.map(|rows| format!("rows: {rows}"));
        f.write_str(&rows.into_iter().chain(self.mebibytes()).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], indexes: &[(&str, &str)], rows: u64, bytes: u64) -> TableSchema {
        TableSchema {
            columns: columns.iter().map(ToString::to_string).collect(),
            indexes: indexes.iter().map(|(name, of)| (name.to_string(), of.to_string())).collect(),
            rows: Some(rows),
            bytes: Some(bytes),
        }
    }

    fn schema(tables: &[(&str, TableSchema)]) -> Schema {
        Schema::new(tables.iter().map(|(name, table)| (name.to_string(), table.clone())).collect())
    }

    #[test]
    fn schema_covers_tables_columns_indexes_but_not_sizes_or_marker() {
        let plain = schema(&[("orders", table(&["id int", "n int"], &[], 1000, 5 << 20))]);
        let larger = schema(&[
            ("orders", table(&["id int", "n int"], &[], 3000, 15 << 20)),
            ("public.dyno_marker", table(&["a int"], &[], 1, 1)),
            ("dyno_marker", table(&["a int"], &[], 1, 1)),
        ]);
        assert_eq!(
            (&plain.fingerprint, plain.differences(&larger)),
            (&larger.fingerprint, Vec::new())
        );
        let size = |rows, bytes| TableSize { rows: Some(rows), bytes: Some(bytes) };
        let sizes = ("orders".to_owned(), size(1000, 5 << 20), size(3000, 15 << 20));
        assert_eq!(plain.size_differences(&larger), [sizes]);
        assert_eq!(size(1000, 5 << 20).to_string(), "rows: 1000, 5.0 MiB");
        let indexed = schema(&[
            ("orders", table(&["id int", "n bigint"], &[("orders_n", "btree (n)")], 1000, 5 << 20)),
            ("more", table(&["a int"], &[], 0, 0)),
        ]);
        let text =
            |name: &str, one: &str, two: &str| (name.to_owned(), one.to_owned(), two.to_owned());
        let expected = [
            text("TABLE more", "", "a int"),
            text("TABLE orders", "id int, n int", "id int, n bigint"),
            text("INDEX orders_n ON orders", "", "btree (n)"),
        ];
        assert_eq!(plain.differences(&indexed), expected);
        assert_eq!(plain.differences_in_common(&indexed), expected[1..]);
    }

    #[test]
    fn a_database_of_many_tables_is_known_by_all_and_listed_in_part() {
        let many = |columns: &str| {
            let each = |number: usize| {
                (
                    format!("t{number:04}"),
                    table(&[if number == 900 { columns } else { "id int" }], &[], 1, 1),
                )
            };
            Schema::new((0..1000).map(each).collect())
        };
        let (one, two) = (many("id int"), many("id bigint"));
        assert_eq!((one.tables.len(), one.omitted), (200, 800));
        assert_eq!(one.differences(&two).len(), 1, "the last is not listed, and differs");
    }

    #[test]
    fn sizes_that_only_were_estimated_anew_are_the_same() {
        for (one, two, differs) in [
            ((1000, 10 << 20), (1300, 10 << 20), false),
            ((1000, 10 << 20), (1000, 12 << 20), true),
            ((100, 16 << 10), (100, 48 << 10), false),
            ((100, 16 << 10), (200, 16 << 10), true),
        ] {
            let of =
                |(rows, bytes): (u64, u64)| schema(&[("t", table(&["id int"], &[], rows, bytes))]);
            assert_eq!(!of(one).size_differences(&of(two)).is_empty(), differs, "{one:?} {two:?}");
        }
    }
}

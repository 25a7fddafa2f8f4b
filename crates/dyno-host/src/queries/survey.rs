//! Reads the content of a database once: tables with their sizes, keys and indexes, and the size of
//! the page cache.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries;
use dyno_model::target::Target;

/// A table of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableInfo {
    /// Its name in readable form.
    pub name: String,
    /// Its name as SQL, with the necessary quotes.
    pub sql: String,
    /// Number of rows, as far as the server knows it without counting.
    pub rows: Option<u64>,
    /// Bytes including indexes, where the account may see them.
    pub bytes: Option<u64>,
    /// The columns of each of its indexes, those of the primary key first.
    pub indexes: Vec<Vec<String>>,
    /// The key by which single rows can be selected.
    pub key: Option<KeyInfo>,
}

/// A primary key of a single integer column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// The column as SQL.
    pub sql: String,
    /// Smallest value.
    pub first: i64,
    /// Largest value.
    pub last: i64,
}

/// Content of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseInfo {
    /// Tables, largest first.
    pub tables: Vec<TableInfo>,
    /// The setting with the size of the page cache, and its bytes.
    pub cache: Option<(String, u64)>,
}

impl DatabaseInfo {
    /// Bytes of all tables, as far as known.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().filter_map(|table| table.bytes).sum()
    }
}

/// Reads the content of a target's database; `None` for systems without tables.
///
/// # Errors
/// When the system cannot be reached, or refuses to answer.
pub fn survey(target: &Target) -> QueryResult<Option<DatabaseInfo>> {
    let Some(queries) = &queries(target.engine).tables else { return Ok(None) };
    let mut session = ControlConnection::open(target)?;
    let number = |field: Option<String>| field.and_then(|text| text.parse().ok());
    let mut tables: Vec<TableInfo> = Vec::new();
    for row in session.rows(target.engine.dialect().tables)? {
        let mut fields = row.into_iter();
        let mut next = || fields.next().flatten();
        let (Some(name), Some(sql)) = (next(), next()) else { continue };
        tables.push(TableInfo {
            name,
            sql,
            rows: number(next()),
            bytes: number(next()),
            ..TableInfo::default()
        });
    }
    for (name, bytes) in queries.sizes.map_or(Ok(Vec::new()), |sql| session.pairs(sql))? {
        if let Some(table) = tables.iter_mut().find(|table| table.name == name) {
            table.bytes = bytes.parse().ok();
        }
    }
    let mut last = None;
    for row in session.rows(queries.indexes)? {
        let [
            Some(table),
            Some(index),
            Some(is_primary),
            Some(column),
            Some(sql),
            Some(is_number),
            ..,
        ] = &row[..]
        else {
            continue;
        };
        let Some(found) = tables.iter_mut().find(|found| found.name == *table) else { continue };
        let table_and_index = (table.clone(), index.clone());
        if last.as_ref() == Some(&table_and_index) {
            found.indexes.last_mut().expect("it was begun").push(column.clone());
            found.key = found.key.take().filter(|_| is_primary != "1");
        } else {
            found.indexes.push(vec![column.clone()]);
            if is_primary == "1" && is_number == "1" {
                found.key = Some(KeyInfo { sql: sql.clone(), first: 0, last: 0 });
            }
        }
        last = Some(table_and_index);
    }
    for table in &mut tables {
        table.key = table.key.take().and_then(|key| range(&mut session, &table.sql, key));
    }
    tables.sort_by(|a, b| (b.bytes, b.rows, &a.name).cmp(&(a.bytes, a.rows, &b.name)));
    let cache = session.pairs(queries.cache)?.pop();
    let cache = cache.and_then(|(name, bytes)| Some((name, bytes.parse().ok()?)));
    Ok(Some(DatabaseInfo { tables, cache }))
}

/// A key with its range; `None` for an empty table, one that may not be read, and one whose values
/// are too large to be drawn.
fn range(session: &mut ControlConnection, table: &str, key: KeyInfo) -> Option<KeyInfo> {
    let query = format!("SELECT min({0}), max({0}) FROM {table}", key.sql);
    let row = session.rows(&query).ok()?.pop()?;
    let mut ends = row.into_iter().map(|field| field?.parse().ok());
    Some(KeyInfo { first: ends.next()??, last: ends.next()??, ..key })
}

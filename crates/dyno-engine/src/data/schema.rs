//! The contents of a database before clients begin, as reported by its server.

use dyno_drivers::{Connection, Driver, Io, Table, TimeoutPolicy, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::schema::{Schema, TableSchema};
use dyno_model::target::{Engine, Target};
use std::collections::BTreeMap;

/// Reads the schema of a target's database over a separate connection.
#[must_use]
pub fn of(target: &Target) -> Option<Schema> {
    let io = Io::WithTimeout(TimeoutPolicy::for_questions(target));
    let mut connection = block_on(Connection::connect(target, &io)).ok()?;
    let schema = block_on(read(&mut connection, target.engine));
    block_on(connection.close());
    schema
}

/// Reads the schema over the connection of an observer; `None` for a target without tables, and
/// where the server does not report it.
pub async fn read(connection: &mut Connection, engine: Engine) -> Option<Schema> {
    if !engine.keeps_data() || !engine.has_sql() {
        return None;
    }
    tables(connection, engine).await.ok().map(Schema::new)
}

async fn tables(
    connection: &mut Connection,
    engine: Engine,
) -> Result<BTreeMap<String, TableSchema>, OperationFailure> {
    let dialect = engine.dialect();
    let mut tables: BTreeMap<String, TableSchema> = BTreeMap::new();
    for [table, column] in rows(connection, dialect.columns).await? {
        tables.entry(table).or_default().columns.push(column);
    }
    for [table, index, definition] in rows(connection, dialect.indexes).await? {
        tables.entry(table).or_default().indexes.insert(index, definition);
    }
    for [table, _, rows, bytes] in rows(connection, dialect.tables).await? {
        let found = tables.entry(table).or_default();
        (found.rows, found.bytes) = (rows.parse().ok(), bytes.parse().ok());
    }
    Ok(tables)
}

/// The rows of a query with `FIELDS` columns; unknown values are empty.
async fn rows<const FIELDS: usize>(
    connection: &mut Connection,
    sql: &str,
) -> Result<Vec<[String; FIELDS]>, OperationFailure> {
    let mut table = Table::default();
    connection.query(sql, &mut table).await?;
    let whole = |row: Vec<Option<String>>| {
        let fields: Vec<String> =
            row.into_iter().take(FIELDS).map(Option::unwrap_or_default).collect();
        fields.try_into().ok()
    };
    Ok(table.0.into_iter().filter_map(whole).collect())
}

//! Isolation levels: the option of a workload, the statement that sets the level, and the level in
//! force.

use super::sbtest::choice;
use dyno_drivers::{Connection, Discard, Driver, Table};
use dyno_model::catalog::{OptionDescription, WorkloadOptions};
use dyno_model::engine::{Dialect, Engine, Isolation};
use dyno_model::failure::OperationFailure;
use dyno_model::isolation::IsolationLevel;

const NAME: &str = "isolation";
const LEVELS: &[&str] =
    &["default", "read-uncommitted", "read-committed", "repeatable-read", "serializable"];

/// The option of workloads with selectable isolation level.
#[must_use]
pub fn isolation_option() -> OptionDescription {
    choice(NAME, LEVELS, "transaction isolation level; default: that of the server")
}

/// The selected level; `None` for the server's default.
fn requested(options: &WorkloadOptions) -> Option<IsolationLevel> {
    IsolationLevel::named(options.text(NAME))
}

/// The statement that sets the level of a session; `None` for the server's default.
///
/// # Errors
/// A description, when the engine does not support the level.
pub fn isolation_setup(
    options: &WorkloadOptions,
    engine: Engine,
) -> Result<Option<String>, String> {
    match (requested(options), engine.dialect().isolation) {
        (None, _) | (Some(IsolationLevel::Serializable), Isolation::AlwaysSerializable) => Ok(None),
        (Some(level), Isolation::AlwaysSerializable) => {
            let products = engine.traits().products;
            Err(format!(
                "{products} does not support the isolation level {level}; it is always \
                         serializable"
            ))
        }
        (Some(level), Isolation::Set { statement, .. }) => {
            Ok(Some(format!("{statement} {}", level.sql())))
        }
    }
}

/// The level in force for transactions on a table, as the server reports it after `setup`, the
/// statement of [`isolation_setup`]; `None` when it reports no known level.
///
/// # Errors
/// Errors of the server.
pub(super) async fn isolation_in_force(
    setup: Option<&str>,
    table: &str,
    dialect: &Dialect,
    connection: &mut Connection,
) -> Result<Option<IsolationLevel>, OperationFailure> {
    let Isolation::Set { question, .. } = dialect.isolation else {
        return Ok(Some(IsolationLevel::Serializable));
    };
    let mut answer = Table::default();
    if dialect.has_storage_engines {
        let engine = format!(
            "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{table}'"
        );
        connection.query(&engine, &mut answer).await?;
        // Regardless of the session's setting: NDB Cluster's tables support no other level.
        if answer.first().is_some_and(|engine| engine.eq_ignore_ascii_case("ndbcluster")) {
            return Ok(Some(IsolationLevel::ReadCommitted));
        }
    }
    if let Some(setup) = setup {
        connection.query(setup, &mut Discard).await?;
    }
    answer = Table::default();
    connection.query(question, &mut answer).await?;
    let level = answer.0.first().and_then(|row| row.last()?.as_deref());
    Ok(level.and_then(IsolationLevel::of_server))
}

//! The isolation level of a workload's transactions.

use super::sbtest::choice;
use dyno_model::catalog::{OptionDescription, WorkloadOptions};
use dyno_model::engine::{Engine, Isolation};

const NAME: &str = "isolation";
const LEVELS: &[&str] = &["default", "read-committed", "repeatable-read", "serializable"];

/// The option of workloads that let it be chosen.
#[must_use]
pub fn isolation_option() -> OptionDescription {
    choice(NAME, LEVELS, "transaction isolation level; default: what the server comes with")
}

/// The statement that sets the level of a session; `None` where it is what the server comes with.
///
/// # Errors
/// When the engine has no such level, in words.
pub fn isolation_setup(options: &WorkloadOptions, engine: Engine) -> Result<Option<String>, String> {
    // Runs of older versions, which are gone on with, may have no such option.
    let level = if options.0.contains_key(NAME) { options.text(NAME) } else { LEVELS[0] };
    match (level, engine.dialect().isolation) {
        ("default", _) | ("serializable", Isolation::AlwaysSerializable) => Ok(None),
        (level, Isolation::AlwaysSerializable) => {
            let products = engine.traits().products;
            Err(format!("{products} knows no isolation level {level}; it is always serializable"))
        }
        (level, Isolation::Set(statement)) => {
            Ok(Some(format!("{statement} {}", level.to_uppercase().replace('-', " "))))
        }
    }
}

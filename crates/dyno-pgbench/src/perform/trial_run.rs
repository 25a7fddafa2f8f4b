//! Runs a script once in a read-only transaction that is never committed, to find out whether it
//! writes.

use super::program::Program;
use super::rows::LastRows;
use crate::changes::TransactionControl;
use crate::expression::Environment;
use crate::expression::variables::Variables;
use crate::random::Generator;
use crate::script::{Action, Script, Store};
use dyno_drivers::{Connection, Discard, Driver, Table};
use dyno_model::engine::ReadOnlyQueries;
use dyno_model::failure::{FailureKind, OperationFailure};

/// Why a text is rejected that would end the transaction of the trial run.
const MIXED: &str = "it begins or ends a transaction among other statements, so dyno cannot check \
                     it; write them without `\\;` between them";

/// What the run of a script shows, with the statement and the reason.
pub(crate) enum Refusal {
    /// It writes, or makes the session writable.
    Writes(String),
    /// The account lacks a privilege.
    Denied(String),
}

/// Returns what keeps a script from being run read-only, as far as one run with one set of values
/// shows; all branches are executed. A statement that fails for another reason ends the run,
/// because what it needs may only exist when the script really runs. The caller must then close
/// the connection, which rolls back.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn writing(
    program: &Program,
    script: &Script,
    mut variables: Variables,
    connection: &mut Connection,
    asks: &ReadOnlyQueries,
) -> Result<Option<Refusal>, OperationFailure> {
    connection.query(asks.begin, &mut Discard).await?;
    // A branch that is never taken needs no privileges.
    let has_branches = script.commands.iter().any(|it| matches!(it.action, Action::If(..)));
    let mut random = Generator::new(0);
    let syntax = program.engine.dialect().syntax;
    for command in &script.commands {
        match &command.action {
            Action::Set { slot: Some(slot), value, .. } => {
                let mut environment = Environment {
                    variables: &variables,
                    names: &program.names,
                    random: &mut random,
                    debug: &mut |_| {},
                };
                if let Ok(value) = value.evaluate(&mut environment) {
                    variables.set(*slot, value);
                }
            }
            Action::Sql(sql) => match TransactionControl::of(sql.template(), syntax) {
                TransactionControl::Only => {}
                TransactionControl::Mixed => {
                    return Ok(Some(Refusal::Writes(format!("{:?}: {MIXED}", command.line))));
                }
                TransactionControl::None => {
                    let mut text = String::new();
                    sql.write(&variables, &program.names, &mut text);
                    let mut rows = LastRows::default();
                    match connection.query(&text, &mut rows).await {
                        Ok(_) => keep(&rows, &sql.store, program, &mut variables),
                        Err(failure) if is_about_writing(&failure) => {
                            let what = format!("{:?}: {failure}", command.line);
                            return Ok(Some(Refusal::Writes(what)));
                        }
                        Err(failure)
                            if failure.kind == FailureKind::Permission && !has_branches =>
                        {
                            let what = format!("{:?}: {failure}", command.line);
                            return Ok(Some(Refusal::Denied(what)));
                        }
                        Err(failure) if failure.is_lost() => return Err(failure),
                        Err(_) => break,
                    }
                }
            },
            _ => {}
        }
    }
    Ok(read_only_state(connection, asks).await?.map(Refusal::Writes))
}

/// Rejected by the server in a read-only transaction, or not sent at all.
fn is_about_writing(failure: &OperationFailure) -> bool {
    failure.kind == FailureKind::ReadOnly
        || failure.kind == FailureKind::BadStatement && !failure.is_answered()
}

/// Queries the state of the transaction; `None` when the server does not answer because a statement
/// has failed.
async fn read_only_state(
    connection: &mut Connection,
    asks: &ReadOnlyQueries,
) -> Result<Option<String>, OperationFailure> {
    for (question, answer, meaning) in asks.after {
        let mut table = Table::default();
        match connection.query(question, &mut table).await {
            Ok(_) => {}
            Err(failure) if failure.is_lost() => return Err(failure),
            Err(_) => return Ok(None),
        }
        let given = table.0.into_iter().flatten().next_back().flatten();
        if given.as_deref() != *answer {
            return Ok(Some((*meaning).to_owned()));
        }
    }
    Ok(None)
}

/// Stores rows like `\gset` and `\aset`.
fn keep(rows: &LastRows, store: &Store, program: &Program, variables: &mut Variables) {
    let (Store::AnyRow(prefix) | Store::LastRow(prefix)) = store else { return };
    for result in &rows.results {
        for (column, value) in result.fields() {
            if let Some(slot) = program.names.find(&format!("{prefix}{column}")) {
                variables.set_text(slot, value);
            }
        }
    }
}

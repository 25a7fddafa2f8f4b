//! A copy of a database, in which a run may do what it likes while the original is only read. It lies beside the original, on the same server or in the
//! same folder, and bears dyno's mark, so that nothing else is ever dropped in its place.

use crate::control_connection::{Asked, ControlConnection};
use crate::databases::{are_there, beside};
use crate::error::HostError;
use crate::marker::{self, Claim, ClaimOptions};
use crate::run_lock;
use dyno_model::engine::Copying;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Target};
use std::fs;
use std::io;
use std::path::Path;

/// Behind the original's name.
const ENDING: &str = "_dyno_copy";
/// Longest name of a database that every server takes, bytes.
const NAME_MAX: usize = 63;

/// Where the copy of a database is.
#[must_use]
pub fn place(original: &Target) -> Target {
    let Endpoint::File(path) = &original.endpoint else {
        return beside(original, &format!("{}{ENDING}", original.database));
    };
    let mut file = path.clone().into_os_string();
    file.push(ENDING);
    Target { endpoint: Endpoint::File(file.into()), ..original.clone() }
}

/// Makes a fresh copy, in the place of one that dyno made before.
///
/// # Errors
/// When the place is taken by what is not dyno's, the server cannot copy, or the copy cannot be marked.
pub fn make(original: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let copy = place(original);
    let name = copy.database_name();
    if matches!(copy.endpoint, Endpoint::Tcp { .. } | Endpoint::Unix(_)) && name.len() > NAME_MAX {
        return Err(HostError::new(format!("the name of the copy, {name:?}, is too long")));
    }
    remove(original)?;
    let of = original.database_name();
    let failed = |failure: OperationFailure| {
        HostError::new(format!(
            "the database {of:?} cannot be copied to {name:?}: {failure}\n{}",
            hint(original, &failure)
        ))
    };
    let mut session = ControlConnection::open_to_work(original).map_err(failed)?;
    match original.engine.dialect().copying {
        Copying::Template => {
            let quoted = |name: &str| original.engine.dialect().quoted_name(name);
            session
                .run(&format!("CREATE DATABASE {} TEMPLATE {}", quoted(&name), quoted(&of)))
                .map_err(failed)?;
        }
        Copying::Vacuum => {
            let Endpoint::File(path) = &copy.endpoint else {
                return Err(HostError::new("only a file can be copied".to_owned()));
            };
            let file = original.engine.dialect().literal(&path.display().to_string());
            session.run(&format!("VACUUM INTO {file}")).map_err(failed)?;
        }
        Copying::Tables => {
            let quoted = original.engine.dialect().quoted_name(&name);
            session.run(&format!("CREATE DATABASE {quoted}")).map_err(failed)?;
            let claim = marker::claim_copy(&copy, options)?;
            tables(&mut session, original, &copy).map_err(failed)?;
            return Ok(claim);
        }
    }
    marker::claim_copy(&copy, options)
}

fn hint(original: &Target, failure: &OperationFailure) -> &'static str {
    match original.engine.dialect().copying {
        Copying::Template if failure.sqlstate == "55006" => {
            "hint: nobody else may be connected to a database while it is copied: end the other sessions, or load a dump on a server that dyno starts: \
             `setup = [\"dump.sql\"]`"
        }
        _ => {
            "hint: the account must be allowed to make databases beside it; else load a dump on a server that dyno starts: `setup = [\"dump.sql\"]`"
        }
    }
}

/// Removes the copy, if dyno made one; returns its name.
///
/// # Errors
/// When what is there is not dyno's, or cannot be dropped.
pub fn remove(original: &Target) -> Result<Option<String>, HostError> {
    let copy = place(original);
    let name = copy.database_name();
    let is_there = match &copy.endpoint {
        Endpoint::File(path) => path.exists(),
        _ => are_there(original, std::slice::from_ref(&name))? == [true],
    };
    if !is_there {
        return Ok(None);
    }
    let lock = marker::lock(&copy)?.filter(|_| !run_lock::is_in_the_way(copy.engine));
    if !marker::is_all_ours(&copy)? {
        return Err(HostError::new(format!(
            "{name:?} is in the place of the copy, and is not marked as dyno's\nhint: look what it is, and drop it"
        )));
    }
    let dropped = match &copy.endpoint {
        Endpoint::File(path) => remove_file(path).map_err(|error| error.to_string()),
        _ => {
            let drop = format!("DROP DATABASE {}", original.engine.dialect().quoted_name(&name));
            let run = |mut session: ControlConnection| session.run(&drop);
            ControlConnection::open_to_clean_up(original).and_then(run).map_err(|failure| failure.to_string())
        }
    };
    dropped.map_err(|why| HostError::new(format!("cannot drop the copy {name:?}: {why}")))?;
    drop(lock);
    Ok(Some(name))
}

/// A file of SQLite's, with what a process that was killed leaves beside it.
fn remove_file(path: &Path) -> io::Result<()> {
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_file(path)
}

/// Copies tables with their rows. What is not a table is left out: views, triggers and routines name the database that they are in.
fn tables(session: &mut ControlConnection, original: &Target, copy: &Target) -> Asked<()> {
    let dialect = original.engine.dialect();
    let found = session.rows(dialect.tables)?;
    let of = dialect.quoted_name(&original.database);
    session.run(&format!("USE {}", dialect.quoted_name(&copy.database)))?;
    // Rows are read as they were committed, without locks on them; keys are the original's.
    session.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
    session
        .run("SET SESSION foreign_key_checks = 0, unique_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")?;
    for row in found {
        let [Some(name), Some(table), ..] = &row[..] else { continue };
        let shown = session.rows(&format!("SHOW CREATE TABLE {of}.{table}"))?;
        let create = shown.into_iter().flatten().nth(1).flatten().unwrap_or_default();
        session.run(&create)?;
        let columns = session.rows(&format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = {} AND table_name = {} \
             AND coalesce(generation_expression, '') = '' ORDER BY ordinal_position",
            dialect.literal(&original.database),
            dialect.literal(name)
        ))?;
        let columns: Vec<String> =
            columns.into_iter().flatten().flatten().map(|column| dialect.quoted_name(&column)).collect();
        let columns = columns.join(", ");
        session.run(&format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {of}.{table}"))?;
        let analyze = original.engine.traits().analyze.unwrap_or_default();
        session.rows(&format!("{analyze} {table}"))?;
    }
    Ok(())
}

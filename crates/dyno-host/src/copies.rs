//! Creates a copy of a database for a run that must only read the original. The copy is created
//! next to the original, on the same server or in the same folder, and carries dyno's marker, so
//! that nothing else is ever dropped in its place.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::databases::{are_there, beside};
use crate::error::HostError;
use crate::marker::{self, Claim, ClaimOptions};
use crate::ownership::CreationNote;
use crate::probe;
use crate::run_lock;
use dyno_model::engine::Copying;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Target};
use std::fs;
use std::io;
use std::path::Path;

/// Appended to the original's name.
const ENDING: &str = "_dyno_copy";
/// PostgreSQL's conditions for `CREATE DATABASE ... TEMPLATE`; no row if they are met.
const TEMPLATE_REFUSED: &str = "SELECT CASE WHEN rolcreatedb THEN 'must be owner of the original' \
    ELSE 'permission denied to create database' END FROM pg_roles, pg_database \
    WHERE rolname = current_user AND datname = current_database() \
    AND NOT (rolsuper OR rolcreatedb AND (datistemplate OR pg_has_role(datdba, 'USAGE')))";
const NO_SESSIONS: &str = "hint: no other session may be connected to a database while it is \
    copied: end the other sessions, or load a dump into a server that dyno starts: \
    `setup = [\"dump.sql\"]`";
/// Longest database name that every server accepts, in bytes.
const NAME_MAX: usize = 63;

/// The location of a database's copy.
#[must_use]
pub fn copy_of(original: &Target) -> Target {
    let Endpoint::File(path) = &original.endpoint else {
        return beside(original, &format!("{}{ENDING}", original.database));
    };
    let mut file = path.clone().into_os_string();
    file.push(ENDING);
    Target { endpoint: Endpoint::File(file.into()), ..original.clone() }
}

/// Creates a new copy and replaces an earlier one of dyno's.
///
/// # Errors
/// When the name is taken by a database that is not dyno's, the server cannot copy, or the copy
/// cannot be marked.
pub fn make(original: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let copy = copy_of(original);
    let name = copy.database_name();
    if matches!(copy.endpoint, Endpoint::Tcp { .. } | Endpoint::Unix(_)) && name.len() > NAME_MAX {
        return Err(HostError::new(format!(
            "the name of the copy, {name:?}, is longer than {NAME_MAX} bytes"
        )));
    }
    remove(original)?;
    let note = CreationNote::begin(&copy.location());
    let created = ControlConnection::open_to_work(original)
        .and_then(|mut session| session.run(&creation(original, &copy)).map(|()| session));
    let mut session = match created {
        Ok(session) => session,
        Err(failure) => {
            note.end_if_refused(&failure);
            return Err(not_copied(original, &copy, &failure));
        }
    };
    let claim = marker::claim_copy(&copy, options)?;
    note.end();
    if original.engine.dialect().copying == Copying::Tables {
        tables(&mut session, original, &copy)
            .map_err(|failure| not_copied(original, &copy, &failure))?;
    }
    Ok(claim)
}
/// The statement that creates the copy; in the MySQL family it creates no tables yet.
fn creation(original: &Target, copy: &Target) -> String {
    let dialect = original.engine.dialect();
    let name = dialect.quoted_name(&copy.database);
    match dialect.copying {
        Copying::Template => {
            format!("CREATE DATABASE {name} TEMPLATE {}", dialect.quoted_name(&original.database))
        }
        Copying::Tables => format!("CREATE DATABASE {name}"),
        Copying::Vacuum => format!("VACUUM INTO {}", dialect.literal(&copy.endpoint.to_string())),
    }
}

fn not_copied(original: &Target, copy: &Target, failure: &OperationFailure) -> HostError {
    let (of, name) = (original.database_name(), copy.database_name());
    HostError::new(format!(
        "cannot copy the database {of:?} to {name:?}: {failure}\n{}",
        hint(original, failure)
    ))
}

fn hint(original: &Target, failure: &OperationFailure) -> &'static str {
    match original.engine.dialect().copying {
        Copying::Template if failure.sqlstate == "55006" => NO_SESSIONS,
        Copying::Template => {
            "hint: the account needs the attribute CREATEDB and must own the original; otherwise \
             load a dump into a server that dyno starts: `setup = [\"dump.sql\"]`"
        }
        Copying::Tables | Copying::Vacuum => {
            "hint: the account needs the privilege to create databases; otherwise load a dump into \
             a server that dyno starts: `setup = [\"dump.sql\"]`"
        }
    }
}

/// Removes the copy if dyno created it; returns its name.
///
/// # Errors
/// When the database of that name is not dyno's, or cannot be dropped.
pub fn remove(original: &Target) -> Result<Option<String>, HostError> {
    let copy = copy_of(original);
    let name = copy.database_name();
    if !is_there(original, &copy)? {
        return Ok(None);
    }
    let lock = marker::lock(&copy)?.filter(|_| !run_lock::blocks_drop(copy.engine));
    let note = CreationNote::left(&copy.location());
    let is_ours =
        marker::is_all_ours(&copy)? || note.is_some() && holds_nothing_else(original, &copy)?;
    if !is_ours {
        return Err(HostError::new(format!(
            "{name:?} has the name of the copy, but was not created by dyno\nhint: check its \
             content, and drop it if it is not needed"
        )));
    }
    let dropped = match &copy.endpoint {
        Endpoint::File(path) => remove_file(path).map_err(|error| error.to_string()),
        _ => {
            let drop = format!("DROP DATABASE {}", original.engine.dialect().quoted_name(&name));
            let run = |mut session: ControlConnection| session.run(&drop);
            ControlConnection::open_to_clean_up(original)
                .and_then(run)
                .map_err(|failure| failure.to_string())
        }
    };
    dropped.map_err(|why| HostError::new(format!("cannot drop the copy {name:?}: {why}")))?;
    drop(lock);
    if let Some(note) = note {
        note.end();
    }
    Ok(Some(name))
}

/// Checks whether a copy can be made.
///
/// # Errors
/// When another run uses the copy, the account may not create it, or the server cannot be queried.
pub fn inspect(original: &Target) -> Result<(), HostError> {
    let copy = copy_of(original);
    check_sessions(original)?;
    match is_there(original, &copy)? {
        true => marker::check_unused(&copy),
        false => {
            may_create(original, &copy).map_err(|failure| not_copied(original, &copy, &failure))
        }
    }
}

/// A database that is copied as a template must have no sessions.
fn check_sessions(original: &Target) -> Result<(), HostError> {
    if original.engine.dialect().copying != Copying::Template {
        return Ok(());
    }
    let sessions = probe::foreign_sessions(original).unwrap_or_default();
    let Some(first) = sessions.iter().find(|it| it.database == original.database) else {
        return Ok(());
    };
    Err(HostError::new(format!(
        "cannot copy the database {:?} while {} is connected to it ({})\n{NO_SESSIONS}",
        original.database, first.user, first.from
    )))
}

/// Fails as creating the copy would, if that can be known without creating it. Other failures to
/// query the server are not reported here.
fn may_create(original: &Target, copy: &Target) -> QueryResult<()> {
    let dialect = original.engine.dialect();
    let refused = match dialect.copying {
        Copying::Template => ControlConnection::open(original)?
            .first(TEMPLATE_REFUSED)
            .ok()
            .flatten()
            .map(|reason| FailureKind::Permission.failure(reason)),
        // Accounts without any privilege for a database are refused before its existence matters.
        Copying::Tables => ControlConnection::open(original)?
            .run(&format!("USE {}", dialect.quoted_name(&copy.database)))
            .err()
            .filter(|failure| failure.kind == FailureKind::Permission),
        Copying::Vacuum => None,
    };
    refused.map_or(Ok(()), Err)
}

fn is_there(original: &Target, copy: &Target) -> Result<bool, HostError> {
    match &copy.endpoint {
        Endpoint::File(path) => Ok(path.exists()),
        _ => Ok(are_there(original, &[copy.database_name()])? == [true]),
    }
}

/// True when a database with the name of the copy has no tables but those of the original.
fn holds_nothing_else(original: &Target, copy: &Target) -> Result<bool, HostError> {
    Ok(marker::tables(copy)?.is_subset(&marker::tables(original)?))
}

/// Removes an SQLite file and the files that a killed process leaves next to it.
fn remove_file(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_file(path)
}

/// Copies tables with their rows. Views, triggers and routines are left out, because they refer to
/// the database that they are in.
fn tables(session: &mut ControlConnection, original: &Target, copy: &Target) -> QueryResult<()> {
    let dialect = original.engine.dialect();
    let found = session.rows(dialect.tables)?;
    let of = dialect.quoted_name(&original.database);
    session.run(&format!("USE {}", dialect.quoted_name(&copy.database)))?;
    // Committed rows are read without locking them; keys are those of the original.
    session.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
    session.run(
        "SET SESSION foreign_key_checks = 0, unique_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
    )?;
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
        let columns: Vec<String> = columns
            .into_iter()
            .flatten()
            .flatten()
            .map(|column| dialect.quoted_name(&column))
            .collect();
        let columns = columns.join(", ");
        session
            .run(&format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {of}.{table}"))?;
        if let Some(analyze) = original.engine.traits().analyze.first() {
            session.rows(&format!("{analyze} {table}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_side_files_are_removed_with_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let all = ["copy.db", "copy.db-wal", "copy.db-shm", "copy.db-journal", "copy.db-mine"];
        all.iter().for_each(|name| fs::write(file(name), "x").unwrap());
        remove_file(&file("copy.db")).unwrap();
        let left: Vec<_> = all.into_iter().filter(|name| file(name).exists()).collect();
        assert_eq!(left, ["copy.db-mine"]);
        // Not all of them are always there.
        fs::write(file("copy.db"), "x").unwrap();
        remove_file(&file("copy.db")).unwrap();
        assert!(!file("copy.db").exists());
    }
}

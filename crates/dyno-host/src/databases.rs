//! Creates, checks and removes the databases of a run: several on one server, or one file each.
//!
//! Each database is claimed and marked separately ([`marker`]). A database created by dyno is
//! marked as such, and dropped with its content.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::error::HostError;
use crate::marker::{self, Claim, ClaimOptions};
pub use crate::ownership::CreationNote;
use crate::run_lock;

use dyno_model::plan::SystemSource;
use dyno_model::target::{Endpoint, Target};
use std::collections::BTreeSet;
use std::fs;

/// A target for another database on the same server.
#[must_use]
pub fn beside(base: &Target, name: &str) -> Target {
    Target { database: name.to_owned(), ..base.clone() }
}

/// Whether each of the databases exists.
///
/// # Errors
/// When the server cannot be queried.
pub fn are_there(base: &Target, names: &[String]) -> Result<Vec<bool>, HostError> {
    are_seen(ControlConnection::open(base), base, names)
}

fn are_seen(
    session: QueryResult<ControlConnection>,
    base: &Target,
    names: &[String],
) -> Result<Vec<bool>, HostError> {
    let rows = session.and_then(|mut session| session.rows(base.engine.dialect().databases));
    let rows =
        rows.map_err(|failure| HostError::new(format!("cannot list the databases: {failure}")))?;
    let known: BTreeSet<String> = rows.into_iter().flatten().flatten().collect();
    Ok(names.iter().map(|name| known.contains(name)).collect())
}

/// Claims all of the databases, or none: existing ones are checked first, and nothing is written
/// unless every one may be used. Missing ones are created.
///
/// # Errors
/// When a database holds other tables and is not named by `yes_write_to`, or when one cannot be
/// created or marked.
pub fn claim(
    base: &Target,
    names: &[String],
    options: &ClaimOptions<'_>,
) -> Result<Vec<Claim>, HostError> {
    let are_there = are_there(base, names)?;
    for (name, is_there) in names.iter().zip(&are_there) {
        if *is_there {
            marker::examine(&beside(base, name), options)?;
        }
    }
    let mut claims = Vec::with_capacity(names.len());
    for (name, is_there) in names.iter().zip(are_there) {
        let claimed = match is_there {
            true => claim_existing(&beside(base, name), options),
            false => make(base, name, options),
        };
        match claimed {
            Ok(claim) => claims.push(claim),
            Err(error) => {
                for claim in claims {
                    // The first failure is reported; databases that stay carry dyno's marker.
                    let _ = clean_up(base, &claim.database.clone(), claim);
                }
                return Err(error);
            }
        }
    }
    Ok(claims)
}

/// Claims an existing database. An unfinished one that dyno was creating belongs to dyno.
///
/// # Errors
/// As [`marker::claim`].
pub fn claim_existing(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    match CreationNote::left(&target.location()) {
        Some(note) if marker::tables(target)?.is_empty() => claim_created(target, note, options),
        _ => marker::claim(target, options),
    }
}

/// Claims a database that dyno has just created.
///
/// # Errors
/// As [`marker::claim_created`].
pub fn claim_created(
    target: &Target,
    note: CreationNote,
    options: &ClaimOptions<'_>,
) -> Result<Claim, HostError> {
    let claim = marker::claim_created(target, options)?;
    note.end();
    Ok(claim)
}

/// Notes that an SQLite file is about to be created. If dyno is killed before the file has a
/// marker, the note identifies it.
#[must_use]
pub fn creation_note(source: &SystemSource) -> Option<CreationNote> {
    let SystemSource::Existing(system) = source else { return None };
    let is_to_be_made = matches!(&system.endpoint, Endpoint::File(path) if !path.exists());
    let target = Target {
        database: system.database.clone(),
        ..Target::new(system.engine, system.endpoint.clone())
    };
    is_to_be_made.then(|| CreationNote::begin(&target.location()))
}

fn make(base: &Target, name: &str, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let note = CreationNote::begin(&beside(base, name).location());
    if let Err(failure) =
        run(base, &format!("CREATE DATABASE {}", base.engine.dialect().quoted_name(name)))
    {
        note.end_if_refused(&failure);
        return Err(HostError::new(format!(
            "the database {name:?} does not exist and cannot be created: {failure}\n\
             hint: create it, or grant the account of the URL the privilege to create databases"
        )));
    }
    claim_created(&beside(base, name), note, options)
}

/// Removes what dyno created in a database, and the database itself if dyno created it; returns
/// what was dropped. A missing database is ignored. `claim` is this run's claim, which ends here.
///
/// # Errors
/// As [`marker::cleanup`], and when the database cannot be dropped.
pub fn clean_up(base: &Target, name: &str, claim: Claim) -> Result<Vec<String>, HostError> {
    if are_seen(ControlConnection::open_to_clean_up(base), base, &[name.to_owned()])? == [false] {
        return Ok(Vec::new());
    }
    let drop = format!("DROP DATABASE {}", base.engine.dialect().quoted_name(name));
    emptied(&beside(base, name), claim, || run(base, &drop).map_err(|failure| failure.to_string()))
}

/// Removes what dyno created in a system's own database, and an SQLite file that dyno created;
/// returns what was dropped. A missing file is ignored. `claim` is this run's claim, which ends
/// here.
///
/// # Errors
/// As [`marker::cleanup`], and when the file cannot be removed.
pub fn clean_up_own(target: &Target, claim: Claim) -> Result<Vec<String>, HostError> {
    let Endpoint::File(path) = &target.endpoint else {
        return marker::cleanup(target, &claim.replaced);
    };
    if !path.exists() {
        // Connecting would create an empty file.
        return Ok(Vec::new());
    }
    emptied(target, claim, || fs::remove_file(path).map_err(|error| error.to_string()))
}

/// Removes what dyno created in a database, and calls `drop_it` if dyno created the database.
fn emptied(
    target: &Target,
    claim: Claim,
    drop_it: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<String>, HostError> {
    let lock = marker::lock(target)?;
    let note = CreationNote::left(&target.location());
    let is_all_ours =
        marker::is_all_ours(target)? || note.is_some() && marker::tables(target)?.is_empty();
    let mut dropped = marker::cleanup(target, &claim.replaced)?;
    if is_all_ours {
        let name = target.database_name();
        let lock = lock.filter(|_| !run_lock::blocks_drop(target.engine));
        drop(claim);
        drop_it()
            .map_err(|why| HostError::new(format!("cannot drop the database {name:?}: {why}")))?;
        drop(lock);
        dropped.push(name);
    }
    if let Some(note) = note {
        note.end();
    }
    Ok(dropped)
}

fn run(base: &Target, sql: &str) -> QueryResult<()> {
    ControlConnection::open_to_clean_up(base)?.run(sql)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Engine;

    const OPTIONS: ClaimOptions<'static> =
        ClaimOptions { experiment: "t", created_at: "now", yes_write_to: None, is_shared: true };

    fn ask(target: &Target, sql: &str) {
        ControlConnection::open(target).unwrap().run(sql).unwrap();
    }

    #[test]
    fn dyno_removes_its_file_unless_it_existed_or_has_other_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.db");
        let target = Target::new(Engine::Sqlite, Endpoint::File(path.clone()));
        let with_table = |mut claim: Claim| {
            claim.record_tables(&target, &["rush"], &OPTIONS).unwrap();
            ask(&target, "CREATE TABLE rush (id INTEGER)");
        };
        let none = BTreeSet::new();
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), Vec::<String>::new());
        assert!(!path.exists(), "who looks makes none");
        with_table(marker::claim_created(&target, &OPTIONS).unwrap());
        // The next copy is created in the same file.
        with_table(marker::renew(&target, &none, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush", "own.db"]);
        assert!(!path.exists());
        with_table(marker::claim_created(&target, &OPTIONS).unwrap());
        ask(&target, "CREATE TABLE theirs (id INTEGER)");
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush"]);
        assert!(path.exists(), "somebody has put a table there");
        ask(&target, "DROP TABLE theirs");
        with_table(marker::claim(&target, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush"]);
        assert!(path.exists(), "it was there");
    }
}

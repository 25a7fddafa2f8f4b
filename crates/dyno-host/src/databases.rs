//! Databases, side by side on one server or a file each: looked at, made where they are missing,
//! and removed.
//!
//! What is claimed and marked is each database by itself ([`marker`]). One that dyno makes is
//! marked as made, and dropped with what is in it.

use crate::control_connection::{Asked, ControlConnection};
use crate::error::HostError;
use crate::marker::{self, Claim, ClaimOptions};
pub use crate::ownership::Making;
use crate::run_lock;

use dyno_model::plan::SystemSource;
use dyno_model::target::{Endpoint, Engine, Target};
use std::collections::BTreeSet;
use std::fs;

/// A database on the server of another.
#[must_use]
pub fn beside(base: &Target, name: &str) -> Target {
    Target { database: name.to_owned(), ..base.clone() }
}

/// Whether each of the databases is there.
///
/// # Errors
/// When the server cannot be asked.
pub fn are_there(base: &Target, names: &[String]) -> Result<Vec<bool>, HostError> {
    are_seen(ControlConnection::open(base), base, names)
}

fn are_seen(
    session: Asked<ControlConnection>,
    base: &Target,
    names: &[String],
) -> Result<Vec<bool>, HostError> {
    let rows = session.and_then(|mut session| session.rows(base.engine.dialect().databases));
    let rows = rows.map_err(|failure| {
        HostError::new(format!("cannot ask which databases there are: {failure}"))
    })?;
    let known: BTreeSet<String> = rows.into_iter().flatten().flatten().collect();
    Ok(names.iter().map(|name| known.contains(name)).collect())
}

/// Claims all of them, or none: those that are there are looked at first, and nothing is written
/// unless each may be. Those that are missing are made.
///
/// # Errors
/// When one holds tables of others and is not named by `yes_write_to`, or cannot be made or marked.
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
            true => claim_found(&beside(base, name), options),
            false => make(base, name, options),
        };
        match claimed {
            Ok(claim) => claims.push(claim),
            Err(error) => {
                for claim in claims {
                    // Why the first could not be had is told; what stays bears its mark.
                    let _ = clean_up(base, &claim.database.clone(), claim);
                }
                return Err(error);
            }
        }
    }
    Ok(claims)
}

/// Where a database is, for the note that it is being made.
pub(crate) fn place(target: &Target) -> String {
    place_of(target.engine, &target.endpoint, &target.database)
}

fn place_of(engine: Engine, endpoint: &Endpoint, database: &str) -> String {
    format!("{engine}://{endpoint}/{database}")
}

/// Claims a database that is there. One whose making was cut off is dyno's.
///
/// # Errors
/// As [`marker::claim`].
pub fn claim_found(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    match Making::left(&place(target)) {
        Some(making) if marker::tables(target)?.is_empty() => claim_made(target, making, options),
        _ => marker::claim(target, options),
    }
}

/// Claims a database that dyno has just made.
///
/// # Errors
/// As [`marker::claim_made`].
pub fn claim_made(
    target: &Target,
    making: Making,
    options: &ClaimOptions<'_>,
) -> Result<Claim, HostError> {
    let claim = marker::claim_made(target, options)?;
    making.end();
    Ok(claim)
}

/// Notes that a file of SQLite's that is not there is about to be made: when dyno is killed before
/// it bears a marker, it is known by that.
#[must_use]
pub fn making_of(source: &SystemSource) -> Option<Making> {
    let SystemSource::Existing(system) = source else { return None };
    let is_to_be_made = matches!(&system.endpoint, Endpoint::File(path) if !path.exists());
    is_to_be_made
        .then(|| Making::begin(&place_of(system.engine, &system.endpoint, &system.database)))
}

fn make(base: &Target, name: &str, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let making = Making::begin(&place(&beside(base, name)));
    if let Err(failure) =
        run(base, &format!("CREATE DATABASE {}", base.engine.dialect().quoted_name(name)))
    {
        making.end_if_refused(&failure);
        return Err(HostError::new(format!(
            "the database {name:?} is not there and cannot be made: {failure}\n\
             hint: make it, or let the account of the URL make databases"
        )));
    }
    claim_made(&beside(base, name), making, options)
}

/// Removes what dyno made in a database, and the database where dyno made that; returns what was
/// dropped. One that is not there is left alone. `claim` is this run's, which ends with it.
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

/// Removes what dyno made in a system's own database, and SQLite's file where dyno made that;
/// returns what was dropped. A file that is not there is left alone. `claim` is this run's, which
/// ends with it.
///
/// # Errors
/// As [`marker::cleanup`], and when the file cannot be removed.
pub fn clean_up_own(target: &Target, claim: Claim) -> Result<Vec<String>, HostError> {
    let Endpoint::File(path) = &target.endpoint else {
        return marker::cleanup(target, &claim.replaced);
    };
    if !path.exists() {
        // SQLite would make an empty one.
        return Ok(Vec::new());
    }
    emptied(target, claim, || fs::remove_file(path).map_err(|error| error.to_string()))
}

/// Removes what dyno made in a database, and has the database removed where dyno made that.
fn emptied(
    target: &Target,
    claim: Claim,
    drop_it: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<String>, HostError> {
    let lock = marker::lock(target)?;
    let making = Making::left(&place(target));
    let is_all_ours =
        marker::is_all_ours(target)? || making.is_some() && marker::tables(target)?.is_empty();
    let mut dropped = marker::cleanup(target, &claim.replaced)?;
    if is_all_ours {
        let name = target.database_name();
        let lock = lock.filter(|_| !run_lock::is_in_the_way(target.engine));
        drop(claim);
        drop_it()
            .map_err(|why| HostError::new(format!("cannot drop the database {name:?}: {why}")))?;
        drop(lock);
        dropped.push(name);
    }
    if let Some(making) = making {
        making.end();
    }
    Ok(dropped)
}

fn run(base: &Target, sql: &str) -> Asked<()> {
    ControlConnection::open_to_clean_up(base)?.run(sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ClaimOptions<'static> =
        ClaimOptions { experiment: "t", created_at: "now", yes_write_to: None, is_shared: true };

    fn ask(target: &Target, sql: &str) {
        ControlConnection::open(target).unwrap().run(sql).unwrap();
    }

    #[test]
    fn a_file_that_dyno_made_goes_with_its_tables_and_one_that_was_there_or_holds_more_stays() {
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
        with_table(marker::claim_made(&target, &OPTIONS).unwrap());
        // What is made anew lies in the same file.
        with_table(marker::renew(&target, &none, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush", "own.db"]);
        assert!(!path.exists());
        with_table(marker::claim_made(&target, &OPTIONS).unwrap());
        ask(&target, "CREATE TABLE theirs (id INTEGER)");
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush"]);
        assert!(path.exists(), "somebody has put a table there");
        ask(&target, "DROP TABLE theirs");
        with_table(marker::claim(&target, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, Claim::default()).unwrap(), ["rush"]);
        assert!(path.exists(), "it was there");
    }
}

//! Databases, side by side on one server or a file each: looked at, made where they are missing, and removed.
//!
//! What is claimed and marked is each database by itself ([`marker`]). One that dyno makes is marked as made, and dropped with what is in it.

use crate::control_connection::{Asked, ControlConnection};
use crate::error::HostError;
use crate::marker::{self, Claim, ClaimOptions};
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Target};
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
    let failed = |failure: OperationFailure| {
        HostError::new(format!("cannot ask which databases there are: {failure}"))
    };
    let mut session = ControlConnection::open(base).map_err(failed)?;
    let rows = session.rows(base.engine.dialect().databases).map_err(failed)?;
    let known: BTreeSet<String> = rows.into_iter().flatten().flatten().collect();
    Ok(names.iter().map(|name| known.contains(name)).collect())
}

/// Claims all of them, or none: those that are there are looked at first, and nothing is written unless each may be. Those that are missing are made.
///
/// # Errors
/// When one holds tables of others and is not named by `yes_write_to`, or cannot be made or marked.
pub fn claim(base: &Target, names: &[String], options: &ClaimOptions<'_>) -> Result<Vec<Claim>, HostError> {
    let are_there = are_there(base, names)?;
    for (name, is_there) in names.iter().zip(&are_there) {
        if *is_there {
            marker::examine(&beside(base, name), options)?;
        }
    }
    let mut claims = Vec::with_capacity(names.len());
    for (name, is_there) in names.iter().zip(are_there) {
        let claimed = match is_there {
            true => marker::claim(&beside(base, name), options),
            false => make(base, name, options),
        };
        match claimed {
            Ok(claim) => claims.push(claim),
            Err(error) => {
                for claim in &claims {
                    // Why the first could not be had is told; what stays bears its mark.
                    let _ = clean_up(base, &claim.database, &BTreeSet::new());
                }
                return Err(error);
            }
        }
    }
    Ok(claims)
}

fn make(base: &Target, name: &str, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    run(base, &format!("CREATE DATABASE {}", base.engine.dialect().quoted_name(name))).map_err(
        |failure| {
            HostError::new(format!(
                "the database {name:?} is not there and cannot be made: {failure}\n\
             hint: make it, or let the account of the URL make databases"
            ))
        },
    )?;
    marker::claim_made(&beside(base, name), options)
}

/// Removes what dyno made in a database, and the database where dyno made that; returns what was dropped. One that is not there is left alone.
///
/// # Errors
/// As [`marker::cleanup`], and when the database cannot be dropped.
pub fn clean_up(base: &Target, name: &str, replaced: &BTreeSet<String>) -> Result<Vec<String>, HostError> {
    if are_there(base, &[name.to_owned()])? == [false] {
        return Ok(Vec::new());
    }
    let drop = format!("DROP DATABASE {}", base.engine.dialect().quoted_name(name));
    emptied(&beside(base, name), replaced, || run(base, &drop).map_err(|failure| failure.to_string()))
}

/// Removes what dyno made in a system's own database, and SQLite's file where dyno made that; returns what was dropped. A file that is not there is
/// left alone.
///
/// # Errors
/// As [`marker::cleanup`], and when the file cannot be removed.
pub fn clean_up_own(target: &Target, replaced: &BTreeSet<String>) -> Result<Vec<String>, HostError> {
    let Endpoint::File(path) = &target.endpoint else { return marker::cleanup(target, replaced) };
    if !path.exists() {
        // SQLite would make an empty one.
        return Ok(Vec::new());
    }
    emptied(target, replaced, || fs::remove_file(path).map_err(|error| error.to_string()))
}

/// Removes what dyno made in a database, and has the database removed where dyno made that.
fn emptied(
    target: &Target,
    replaced: &BTreeSet<String>,
    drop: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<String>, HostError> {
    let is_all_ours = marker::is_all_ours(target)?;
    let mut dropped = marker::cleanup(target, replaced)?;
    if is_all_ours {
        let name = marker::database_name(target);
        drop().map_err(|why| HostError::new(format!("cannot drop the database {name:?}: {why}")))?;
        dropped.push(name);
    }
    Ok(dropped)
}

fn run(base: &Target, sql: &str) -> Asked<()> {
    ControlConnection::open_to_clean_up(base)?.run(sql)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Engine;

    const OPTIONS: ClaimOptions<'static> =
        ClaimOptions { experiment: "t", created_at: "now", yes_write_to: None };

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
        assert_eq!(clean_up_own(&target, &none).unwrap(), Vec::<String>::new());
        assert!(!path.exists(), "who looks makes none");
        with_table(marker::claim_made(&target, &OPTIONS).unwrap());
        // What is made anew lies in the same file.
        with_table(marker::renew(&target, &none, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, &none).unwrap(), ["rush", "own.db"]);
        assert!(!path.exists());
        with_table(marker::claim_made(&target, &OPTIONS).unwrap());
        ask(&target, "CREATE TABLE theirs (id INTEGER)");
        assert_eq!(clean_up_own(&target, &none).unwrap(), ["rush"]);
        assert!(path.exists(), "somebody has put a table there");
        ask(&target, "DROP TABLE theirs");
        with_table(marker::claim(&target, &OPTIONS).unwrap());
        assert_eq!(clean_up_own(&target, &none).unwrap(), ["rush"]);
        assert!(path.exists(), "it was there");
    }
}

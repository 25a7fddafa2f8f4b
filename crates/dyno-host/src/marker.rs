//! The production guard: dyno writes only to a database that holds nothing but what dyno made; any
//! other needs an explicit word that names the database. The word holds for the run that was given
//! it, not for a later one that finds the marker.
//!
//! The marker, a table named [`MARKER_TABLE`], lists the tables that dyno made, one row each, so
//! [`cleanup`] can drop these and no others. A table that took the place of one that dyno did not
//! make is not listed: after a run that was killed, a table of its name may be the user's again, or
//! still be. A row with the empty name stands for the claim itself and names the run that made it
//! last, one with [`EVERYTHING`] for whatever is there: it is written before a program makes tables
//! that nobody knows beforehand, and gives way to their names. One whose name no table can have
//! stands for the database, which is then dyno's too.
//!
//! Anybody who may make a table can make one of this name. So a marker is an ordinary table of this
//! account, each row is signed ([`crate::ownership`]), and what is not signed counts as somebody's.
//! Who claims or cleans up a database holds its lock ([`crate::run_lock`]).

use crate::control_connection::{Asked, ControlConnection};
use crate::engine::questions;
use crate::error::HostError;
use crate::ownership::{signature, this_run};
use crate::run_lock::{self, Refused, RunLock};
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Engine, Target};
use std::collections::BTreeSet;
use std::rc::Rc;

pub use dyno_model::schema::MARKER_TABLE;

/// Takes the place of the names of tables, views and sequences that a program is about to make and
/// nobody knows yet, among those of [`Claim::record_tables`]. [`Claim::adopt_all`] puts their names
/// in its place.
pub const EVERYTHING: &str = "*";

/// Stands for the database itself, where dyno made it: no table can be called so.
const DATABASE: &str = " database";

/// How many tables an error names.
const TABLES_SHOWN: usize = 5;

/// What a claim is made with.
#[derive(Debug, Clone, Copy)]
pub struct ClaimOptions<'a> {
    /// Name of the experiment, for whoever finds the marker.
    pub experiment: &'a str,
    /// UTC time, RFC 3339, likewise.
    pub created_at: &'a str,
    /// What `--yes-write-to` named, if it was given: databases, separated by commas, that may be
    /// written to although they have foreign tables.
    pub yes_write_to: Option<&'a str>,
    /// Whether other runs can reach the database too, and have to be kept out. They do not know a
    /// server that dyno started.
    pub is_shared: bool,
}

/// The right to write to a database.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Name of the database.
    pub database: String,
    /// True when the database has tables that are not dyno's, and the user said yes to that.
    pub is_forced: bool,
    /// Tables that dyno made, now or earlier.
    pub tables: BTreeSet<String>,
    /// Those of them that took the place of tables that dyno did not make. The marker does not list
    /// them.
    pub replaced: BTreeSet<String>,
    /// Keeps other runs out of the database for as long as the claim is there.
    lock: Option<Rc<RunLock>>,
}

/// Why tables of others are left alone.
fn not_ours(database: &str, tables: &[String], yes_write_to: Option<&str>) -> HostError {
    let shown = tables.len().min(TABLES_SHOWN);
    let more = match tables.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = yes_write_to.map_or_else(String::new, |named| {
        format!("; --yes-write-to names {named:?}, which is another one")
    });
    HostError::new(format!(
        "the database {database:?} is not empty and was not created by dyno; it contains {}{more}{named}\n\
         hint: use an empty database; to permit writing to it and replacing tables of the same names, \
         add --yes-write-to {database}",
        tables[..shown].join(", ")
    ))
}

/// The database could not be asked or marked.
fn not_marked(database: &str) -> impl Fn(OperationFailure) -> HostError + Copy {
    move |failure| {
        HostError::new(format!("cannot mark the database {database:?} as dyno's: {failure}"))
    }
}

/// Somebody made a table of the marker's name.
fn not_our_marker(database: &str) -> HostError {
    HostError::new(format!(
        "the database {database:?} has a {MARKER_TABLE} that was not written by dyno under this account on this machine; what it lists is left alone\n\
         hint: run `dyno cleanup` where the run was started that left it, or look at what it lists and drop it by hand"
    ))
}

/// Another run's marker is there, and no lock tells whether that run has ended.
fn may_be_in_use(database: &str) -> HostError {
    HostError::new(format!(
        "the database {database:?} has the marker of another run, and the server has no lock that tells whether that run has ended\n\
         hint: when it has, `dyno cleanup` removes what it left"
    ))
}

/// Locks and claims the target's database: marks it when it is empty, and recognises the mark and
/// what it lists when they are there.
///
/// # Errors
/// When another run uses it; when it holds anything else and `yes_write_to` does not name it.
pub fn claim(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let lock = if options.is_shared { lock(target)? } else { None };
    let (claim, marker) = inspect(target, options)?;
    if let Some((mut marker, is_marked)) = marker {
        let failed = not_marked(&claim.database);
        let is_unlocked = lock.as_ref().is_some_and(|lock| lock.problem().is_some());
        if !is_marked {
            marker.create().map_err(failed)?;
        } else if is_unlocked
            && marker.rows().map_err(failed)?.iter().any(|row| row.run != this_run())
        {
            return Err(may_be_in_use(&claim.database));
        }
        marker.name_run(options).map_err(failed)?;
    }
    Ok(Claim { lock, ..claim })
}

/// Locks a database against other runs; what this process holds already is shared.
pub(crate) fn lock(target: &Target) -> Result<Option<Rc<RunLock>>, HostError> {
    Ok(take_lock(target)?)
}

fn take_lock(target: &Target) -> Result<Option<Rc<RunLock>>, Refused> {
    run_lock::take(target, || is_of_this_run(target).unwrap_or(false))
}

/// Whether the marker names this run.
fn is_of_this_run(target: &Target) -> Asked<bool> {
    let rows = Marker::open_to_clean_up(target)?.rows()?;
    Ok(rows.iter().any(|row| row.table.is_empty() && row.run == this_run()))
}

/// Says what [`claim`] would, and writes nothing.
///
/// # Errors
/// As [`claim`], but for other runs.
pub fn examine(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    inspect(target, options).map(|(claim, _marker)| claim)
}

/// Looks at the database; returns the way to mark it, and whether it is marked.
fn inspect(
    target: &Target,
    options: &ClaimOptions<'_>,
) -> Result<(Claim, Option<(Marker, bool)>), HostError> {
    let name = target.database_name();
    if !target.engine.keeps_data() {
        return Ok((Claim { database: name, ..Claim::default() }, None));
    }
    let failed = not_marked(&name);
    let mut marker = Marker::open(target).map_err(failed)?;
    let mut tables = marker.tables().map_err(failed)?;
    let is_marked = tables.remove(MARKER_TABLE);
    if is_marked && !marker.is_ours().map_err(failed)? {
        return Err(not_our_marker(&name));
    }
    let ours = if is_marked { marker.ours(&tables).map_err(failed)? } else { BTreeSet::new() };
    let foreign: Vec<String> = tables.difference(&ours).cloned().collect();
    let is_named = options
        .yes_write_to
        .is_some_and(|all| all == name || all.split(',').any(|one| one == name));
    if !foreign.is_empty() && !is_named {
        return Err(not_ours(&name, &foreign, options.yes_write_to));
    }
    let claim = Claim {
        database: name,
        is_forced: !foreign.is_empty() && is_named,
        tables: ours,
        ..Claim::default()
    };
    Ok((claim, Some((marker, is_marked))))
}

impl Claim {
    /// The same with the lock of the database: its tables are used as they are, and other runs are
    /// to keep out.
    ///
    /// # Errors
    /// When another run uses the database.
    pub fn locked(self, target: &Target) -> Result<Self, HostError> {
        Ok(Self { lock: lock(target)?, ..self })
    }

    /// Why the database could not be locked against other runs, if it could not.
    #[must_use]
    pub fn lock_problem(&self) -> Option<&str> {
        self.lock.as_ref()?.problem()
    }

    /// Whether the database is still this run's, whatever became of its lock; `is_marked` where the
    /// run has marked it. A server that cannot be asked has not given it away.
    ///
    /// # Errors
    /// When another run uses it, or has claimed it.
    pub fn check(&mut self, target: &Target, is_marked: bool) -> Result<(), HostError> {
        if !target.engine.keeps_data() {
            return Ok(());
        }
        match take_lock(target) {
            Ok(lock) => self.lock = lock,
            Err(Refused::InUse(error)) => return Err(error),
            Err(Refused::Unreachable(_)) => return Ok(()),
        }
        match !is_marked || is_of_this_run(target).unwrap_or(true) {
            true => Ok(()),
            false => Err(HostError::new(format!(
                "another run of dyno has claimed the database {:?} meanwhile\n\
                 hint: let one run end before the next begins; on a cluster, let both name the same node",
                self.database
            ))),
        }
    }

    /// Writes down tables that are about to be made, before they are, so that none is ever
    /// forgotten. One that takes the place of a table that dyno did not make, because the claim was
    /// forced, is known to this claim only: the consent ends with the run.
    ///
    /// # Errors
    /// When one exists that dyno did not make, unless the claim was forced; with [`EVERYTHING`],
    /// when there is anything at all that dyno did not make: it could not be told from what is
    /// made.
    pub fn record_tables(
        &mut self,
        target: &Target,
        tables: &[impl AsRef<str>],
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        let tables = tables.iter().map(AsRef::as_ref);
        let fresh: Vec<&str> = tables.filter(|table| !self.tables.contains(*table)).collect();
        if fresh.is_empty() || !target.engine.keeps_data() {
            return Ok(());
        }
        let database = &self.database;
        let failed = not_marked(database);
        let mut marker = Marker::open(target).map_err(failed)?;
        let existing = marker.tables().map_err(failed)?;
        if let Some(table) = fresh.iter().find(|table| existing.contains(**table))
            && !self.is_forced
        {
            return Err(HostError::new(format!(
                "the table {table:?} in the database {database:?} exists already and was not made by dyno\n\
                 hint: use another database, or, if the table may be replaced, give --yes-write-to {database}"
            )));
        }
        let is_ours = |table: &String| table == MARKER_TABLE || self.tables.contains(table);
        if fresh.contains(&EVERYTHING) && !existing.iter().all(is_ours) {
            return Err(HostError::new(format!(
                "the database {database:?} is not empty, and what scripts make there cannot be told from what was there\n\
                 hint: use an empty one"
            )));
        }
        for table in fresh {
            if existing.contains(table) {
                self.replaced.insert(table.to_owned());
            } else {
                marker.record(table, options).map_err(failed)?;
            }
            self.tables.insert(table.to_owned());
        }
        Ok(())
    }

    /// Marks every table that is there as dyno's. For a server that dyno started, and that nobody
    /// else has put anything into.
    ///
    /// # Errors
    /// When the marker cannot be written.
    pub fn adopt_all(
        &mut self,
        target: &Target,
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        let failed = not_marked(&self.database);
        let mut marker = Marker::open(target).map_err(&failed)?;
        let recorded = marker.recorded().map_err(&failed)?;
        for table in
            marker.tables().map_err(&failed)?.into_iter().filter(|table| table != MARKER_TABLE)
        {
            if !recorded.contains(&table) {
                marker.record(&table, options).map_err(&failed)?;
            }
            self.tables.insert(table);
        }
        if self.tables.remove(EVERYTHING) {
            marker.forget(EVERYTHING).map_err(&failed)?;
        }
        Ok(())
    }
}

/// Marks a database that dyno has just made as its own.
///
/// # Errors
/// When it cannot be marked, or is not empty any more.
pub fn claim_made(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let claim = claim(target, &ClaimOptions { yes_write_to: None, ..*options })?;
    let failed = not_marked(&claim.database);
    Marker::open(target).and_then(|mut marker| marker.record(DATABASE, options)).map_err(failed)?;
    Ok(claim)
}

/// Marks a copy that dyno has just made, or is about to fill, as its own with everything in it.
///
/// # Errors
/// When it cannot be marked.
pub fn claim_copy(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let lock = lock(target)?;
    let database = target.database_name();
    let failed = not_marked(&database);
    let mut marker = Marker::open(target).map_err(failed)?;
    // An original that dyno made or used has a marker of its own, which lists what was there and is
    // signed for another database.
    if marker.tables().map_err(failed)?.contains(MARKER_TABLE) {
        marker.drop_table(MARKER_TABLE).map_err(failed)?;
    }
    marker.create().map_err(failed)?;
    for row in ["", DATABASE, EVERYTHING] {
        marker.record(row, options).map_err(failed)?;
    }
    let tables = BTreeSet::from([EVERYTHING.to_owned()]);
    Ok(Claim { database, tables, lock, ..Claim::default() })
}

/// Removes what dyno made in a database, as [`cleanup`] does, and claims it anew. One that dyno
/// made stays marked so.
///
/// # Errors
/// As [`cleanup`] and [`claim`].
pub fn renew(
    target: &Target,
    replaced: &BTreeSet<String>,
    options: &ClaimOptions<'_>,
) -> Result<Claim, HostError> {
    let is_all_ours = is_all_ours(target)?;
    cleanup(target, replaced)?;
    if is_all_ours { claim_made(target, options) } else { claim(target, options) }
}

/// True when dyno made the database, and nothing is in it but what dyno made.
///
/// # Errors
/// When it cannot be asked.
pub(crate) fn is_all_ours(target: &Target) -> Result<bool, HostError> {
    let name = target.database_name();
    let failed = not_marked(&name);
    let mut marker = Marker::open_to_clean_up(target).map_err(failed)?;
    let mut tables = marker.tables().map_err(failed)?;
    if !tables.remove(MARKER_TABLE) || !marker.is_made().map_err(failed)? {
        return Ok(false);
    }
    let ours = marker.ours(&tables).map_err(failed)?;
    Ok(tables.is_subset(&ours))
}

/// Tables, views and sequences of a database, the marker among them.
///
/// # Errors
/// When it cannot be asked.
pub(crate) fn tables(target: &Target) -> Result<BTreeSet<String>, HostError> {
    let tables = Marker::open_to_clean_up(target).and_then(|mut marker| marker.tables());
    tables.map_err(not_marked(&target.database_name()))
}

/// Drops the tables that the marker lists, those that this run made in the place of others
/// ([`Claim::replaced`]), and the marker; returns the tables dropped. A database without marker is
/// left alone.
///
/// # Errors
/// When another run uses the database, when the marker is not this account's, when the database
/// cannot be asked, or a table cannot be dropped.
pub fn cleanup(target: &Target, replaced: &BTreeSet<String>) -> Result<Vec<String>, HostError> {
    if !target.engine.keeps_data() {
        return Ok(Vec::new());
    }
    let database = target.database_name();
    let failed = not_marked(&database);
    let mut marker = Marker::open_to_clean_up(target).map_err(failed)?;
    if !marker.tables().map_err(failed)?.contains(MARKER_TABLE) {
        return Ok(Vec::new());
    }
    let _lock = lock(target)?;
    // A run that held the lock until now may have dropped everything.
    let mut existing = marker.tables().map_err(failed)?;
    if !existing.remove(MARKER_TABLE) {
        return Ok(Vec::new());
    }
    if !marker.is_ours().map_err(failed)? {
        return Err(not_our_marker(&database));
    }
    let ours = marker.ours(&existing).map_err(failed)?;
    let dropped: Vec<String> = existing
        .into_iter()
        .filter(|table| ours.contains(table) || replaced.contains(table))
        .collect();
    let mut left = dropped.clone();
    while !left.is_empty() {
        // One that others refer to goes after them, and what belongs to a table goes with it.
        let failures: Vec<_> =
            left.iter().filter_map(|table| marker.drop_table(table).err()).collect();
        let existing = marker.tables().map_err(failed)?;
        let before = left.len();
        left.retain(|table| existing.contains(table));
        if let Some(failure) = failures.into_iter().next().filter(|_| left.len() == before) {
            return Err(failed(failure));
        }
    }
    marker.drop_table(MARKER_TABLE).map_err(failed)?;
    Ok(dropped)
}

/// The marker table of one database.
struct Marker {
    session: ControlConnection,
    engine: Engine,
    database: String,
}

/// A row of it that this account signed.
struct Row {
    table: String,
    /// The run that wrote it.
    run: String,
}

impl Marker {
    fn open(target: &Target) -> Asked<Self> {
        ControlConnection::open(target).map(|session| Self::with(session, target))
    }

    fn open_to_clean_up(target: &Target) -> Asked<Self> {
        ControlConnection::open_to_clean_up(target).map(|session| Self::with(session, target))
    }

    fn with(session: ControlConnection, target: &Target) -> Self {
        Self { session, engine: target.engine, database: target.database_name() }
    }

    /// Tables, views and sequences of the database that belong to users.
    fn tables(&mut self) -> Asked<BTreeSet<String>> {
        let sql = self.engine.dialect().user_tables;
        Ok(self.session.rows(sql)?.into_iter().flatten().flatten().collect())
    }

    fn create(&mut self) -> Asked<()> {
        // MySQL's keys of text need a length; 191 fits every character set and row format.
        self.session.run(&format!(
            "CREATE TABLE {MARKER_TABLE} (table_name VARCHAR(191) NOT NULL PRIMARY KEY, experiment VARCHAR(191) NOT NULL, \
             created_at VARCHAR(40) NOT NULL, run VARCHAR(40) NOT NULL, signature VARCHAR(80) NOT NULL)"
        ))
    }

    fn record(&mut self, table: &str, options: &ClaimOptions<'_>) -> Asked<()> {
        let values = self.values(table, options).join(", ");
        self.session.run(&format!(
            "INSERT INTO {MARKER_TABLE} (table_name, experiment, created_at, run, signature) VALUES ({values})"
        ))
    }

    /// The values of a row that this run writes, as literals.
    fn values(&self, table: &str, options: &ClaimOptions<'_>) -> [String; 5] {
        let experiment: String = options.experiment.chars().take(191).collect();
        let signed = signature(&[&self.database, table, this_run()]);
        [table, experiment.as_str(), options.created_at, this_run(), &signed]
            .map(|value| self.engine.dialect().literal(value))
    }

    /// Has the row of the claim name this run.
    fn name_run(&mut self, options: &ClaimOptions<'_>) -> Asked<()> {
        if !self.rows()?.iter().any(|row| row.table.is_empty()) {
            return self.forget("").and_then(|()| self.record("", options));
        }
        let [_, experiment, created_at, run, signed] = self.values("", options);
        self.session.run(&format!(
            "UPDATE {MARKER_TABLE} SET experiment = {experiment}, created_at = {created_at}, run = {run}, signature = {signed} \
             WHERE table_name = ''"
        ))
    }

    fn forget(&mut self, table: &str) -> Asked<()> {
        let name = self.engine.dialect().literal(table);
        self.session.run(&format!("DELETE FROM {MARKER_TABLE} WHERE table_name = {name}"))
    }

    /// Whether this account made it. One without rows, whose making was not brought to its end,
    /// lists nothing.
    fn is_ours(&mut self) -> Asked<bool> {
        let is_plain = questions(self.engine).is_plain_table;
        if self.session.count(&format!("{is_plain} '{MARKER_TABLE}'"))? == 0 {
            return Ok(false);
        }
        // One of another form is not read.
        let Ok(all) = self.session.count(&format!("SELECT count(signature) FROM {MARKER_TABLE}"))
        else {
            return Ok(false);
        };
        Ok(all == 0 || !self.rows()?.is_empty())
    }

    /// The rows that this account signed.
    fn rows(&mut self) -> Asked<Vec<Row>> {
        let rows =
            self.session.rows(&format!("SELECT table_name, run, signature FROM {MARKER_TABLE}"))?;
        let signed = |row: Vec<Option<String>>| {
            let [table, run, signed] = <[_; 3]>::try_from(row).ok()?;
            let (table, run) = (table?, run?);
            (signed? == signature(&[&self.database, &table, &run])).then_some(Row { table, run })
        };
        Ok(rows.into_iter().filter_map(signed).collect())
    }

    /// The tables that dyno made, of those that are there or were to be.
    fn ours(&mut self, existing: &BTreeSet<String>) -> Asked<BTreeSet<String>> {
        let mut recorded = self.recorded()?;
        if recorded.contains(EVERYTHING) {
            recorded.extend(existing.iter().cloned());
        }
        Ok(recorded)
    }

    fn recorded(&mut self) -> Asked<BTreeSet<String>> {
        let names = self.rows()?.into_iter().map(|row| row.table);
        Ok(names.filter(|name| !name.is_empty() && name != DATABASE).collect())
    }

    /// True when dyno made the database.
    fn is_made(&mut self) -> Asked<bool> {
        Ok(self.is_ours()? && self.rows()?.iter().any(|row| row.table == DATABASE))
    }

    fn drop_table(&mut self, table: &str) -> Asked<()> {
        let quoted = self.engine.dialect().quoted_name(table);
        self.session.run(&format!("DROP TABLE {quoted}")).or_else(|failure| {
            // Scripts of users make views as well.
            self.session.run(&format!("DROP VIEW {quoted}")).map_err(|_| failure)
        })
    }
}

#[cfg(test)]
mod tests;

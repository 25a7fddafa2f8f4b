//! The production guard: dyno writes only to a database that holds nothing but what dyno made; any other needs an explicit word
//! that names the database. The word holds for the run that was given it, not for a later one that finds the marker.
//!
//! The marker, a table named [`MARKER_TABLE`], lists the tables that dyno made, one row each, so [`cleanup`] can drop these and no
//! others. A table that took the place of one that dyno did not make is not listed: after a run that was killed, a table of its name
//! may be the user's again, or still be. A row with the empty name stands for the claim itself, one with [`EVERYTHING`] for whatever is
//! there: it is written before a program makes tables that nobody knows beforehand, and gives way to their names. One whose name no table
//! can have stands for the database, which is then dyno's too.

use crate::control_connection::{Asked, ControlConnection};
use crate::error::HostError;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Engine, Target};
use std::collections::BTreeSet;

pub use dyno_model::schema::MARKER_TABLE;

/// Takes the place of the names of tables, views and sequences that a program is about to make and nobody knows yet, among those of
/// [`Claim::record_tables`]. [`Claim::adopt_all`] puts their names in its place.
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
    /// What `--yes-write-to` named, if it was given: databases, separated by commas, that may be written to although they have foreign tables.
    pub yes_write_to: Option<&'a str>,
}

/// The right to write to a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// Name of the database.
    pub database: String,
    /// True when the database has tables that are not dyno's, and the user said yes to that.
    pub is_forced: bool,
    /// Tables that dyno made, now or earlier.
    pub tables: BTreeSet<String>,
    /// Those of them that took the place of tables that dyno did not make. The marker does not list them.
    pub replaced: BTreeSet<String>,
}

/// Why tables of others are left alone.
fn not_ours(database: &str, tables: &[String], yes_write_to: Option<&str>) -> HostError {
    let shown = tables.len().min(TABLES_SHOWN);
    let more = match tables.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = yes_write_to
        .map_or_else(String::new, |named| format!("; --yes-write-to names {named:?}, which is another one"));
    HostError::new(format!(
        "the database {database:?} is not empty and not made by dyno; it holds {}{more}{named}\n\
         hint: use an empty database, or, if it may be written to and its tables of the same names replaced, give \
         --yes-write-to {database}",
        tables[..shown].join(", ")
    ))
}

/// The database could not be asked or marked.
fn not_marked(database: &str) -> impl Fn(OperationFailure) -> HostError + Copy {
    move |failure| HostError::new(format!("cannot mark the database {database:?} as dyno's: {failure}"))
}

/// Claims the target's database: marks it when it is empty, and recognises the mark and what it lists when they are there.
///
/// # Errors
/// When it holds anything else and `yes_write_to` does not name it.
pub fn claim(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let (claim, unmarked) = look(target, options)?;
    if let Some(mut marker) = unmarked {
        let failed = not_marked(&claim.database);
        marker.create().map_err(failed)?;
        marker.record("", options).map_err(failed)?;
    }
    Ok(claim)
}

/// Says what [`claim`] would, and writes nothing.
///
/// # Errors
/// As [`claim`].
pub fn examine(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    look(target, options).map(|(claim, _unmarked)| claim)
}

/// Looks at the database; returns the way to mark it where that is still to be done.
fn look(target: &Target, options: &ClaimOptions<'_>) -> Result<(Claim, Option<Marker>), HostError> {
    let name = database_name(target);
    if !target.engine.keeps_data() {
        return Ok((Claim { database: name, ..Claim::default() }, None));
    }
    let failed = not_marked(&name);
    let mut marker = Marker::open(target).map_err(failed)?;
    let mut tables = marker.tables().map_err(failed)?;
    let is_marked = tables.remove(MARKER_TABLE);
    let ours = if is_marked { marker.ours(&tables).map_err(failed)? } else { BTreeSet::new() };
    let foreign: Vec<String> = tables.difference(&ours).cloned().collect();
    let is_named =
        options.yes_write_to.is_some_and(|all| all == name || all.split(',').any(|one| one == name));
    if !foreign.is_empty() && !is_named {
        return Err(not_ours(&name, &foreign, options.yes_write_to));
    }
    let claim = Claim {
        database: name.clone(),
        is_forced: !foreign.is_empty() && is_named,
        tables: ours,
        replaced: BTreeSet::new(),
    };
    Ok((claim, (!is_marked).then_some(marker)))
}

impl Claim {
    /// Writes down tables that are about to be made, before they are, so that none is ever forgotten. One that takes the place of a
    /// table that dyno did not make, because the claim was forced, is known to this claim only: the consent ends with the run.
    ///
    /// # Errors
    /// When one exists that dyno did not make, unless the claim was forced; with [`EVERYTHING`], when there is anything at all that dyno did not make: it
    /// could not be told from what is made.
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

    /// Marks every table that is there as dyno's. For a server that dyno started, and that nobody else has put anything into.
    ///
    /// # Errors
    /// When the marker cannot be written.
    pub fn adopt_all(&mut self, target: &Target, options: &ClaimOptions<'_>) -> Result<(), HostError> {
        let failed = not_marked(&self.database);
        let mut marker = Marker::open(target).map_err(&failed)?;
        let recorded = marker.recorded().map_err(&failed)?;
        for table in marker.tables().map_err(&failed)?.into_iter().filter(|table| table != MARKER_TABLE) {
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
    let database = database_name(target);
    let failed = not_marked(&database);
    let mut marker = Marker::open(target).map_err(failed)?;
    // An original that dyno made or used has a marker of its own, which lists what was there.
    if !marker.tables().map_err(failed)?.contains(MARKER_TABLE) {
        marker.create().map_err(failed)?;
    }
    let recorded = marker.session.rows(&format!("SELECT table_name FROM {MARKER_TABLE}")).map_err(failed)?;
    let recorded: BTreeSet<String> = recorded.into_iter().flatten().flatten().collect();
    for row in ["", DATABASE, EVERYTHING].into_iter().filter(|row| !recorded.contains(*row)) {
        marker.record(row, options).map_err(failed)?;
    }
    let tables = BTreeSet::from([EVERYTHING.to_owned()]);
    Ok(Claim { database, is_forced: false, tables, replaced: BTreeSet::new() })
}

/// Removes what dyno made in a database, as [`cleanup`] does, and claims it anew. One that dyno made stays marked so.
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
    let failed = not_marked(&target.database);
    let mut marker = Marker::open(target).map_err(failed)?;
    let mut tables = marker.tables().map_err(failed)?;
    if !tables.remove(MARKER_TABLE) || !marker.is_made().map_err(failed)? {
        return Ok(false);
    }
    let ours = marker.ours(&tables).map_err(failed)?;
    Ok(tables.is_subset(&ours))
}

/// Drops the tables that the marker lists, those that this run made in the place of others ([`Claim::replaced`]), and the marker;
/// returns the tables dropped. A database without marker is left alone.
///
/// # Errors
/// When the database cannot be asked, or a table cannot be dropped.
pub fn cleanup(target: &Target, replaced: &BTreeSet<String>) -> Result<Vec<String>, HostError> {
    if !target.engine.keeps_data() {
        return Ok(Vec::new());
    }
    let database = database_name(target);
    let failed = not_marked(&database);
    let session = ControlConnection::open_to_clean_up(target).map_err(failed)?;
    let mut marker = Marker { session, engine: target.engine };
    let mut existing = marker.tables().map_err(failed)?;
    if !existing.remove(MARKER_TABLE) {
        return Ok(Vec::new());
    }
    let ours = marker.ours(&existing).map_err(failed)?;
    let dropped: Vec<String> =
        existing.into_iter().filter(|table| ours.contains(table) || replaced.contains(table)).collect();
    let mut left = dropped.clone();
    while !left.is_empty() {
        // One that others refer to goes after them, and what belongs to a table goes with it.
        let failures: Vec<_> = left.iter().filter_map(|table| marker.drop_table(table).err()).collect();
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

/// The database's name, as `--yes-write-to` must name it: for SQLite the file's.
#[must_use]
pub fn database_name(target: &Target) -> String {
    match &target.endpoint {
        Endpoint::File(path) => {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        }
        _ => target.database.clone(),
    }
}

/// The marker table of one database.
struct Marker {
    session: ControlConnection,
    engine: Engine,
}

impl Marker {
    fn open(target: &Target) -> Asked<Self> {
        Ok(Self { session: ControlConnection::open(target)?, engine: target.engine })
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
             created_at VARCHAR(40) NOT NULL)"
        ))
    }

    fn record(&mut self, table: &str, options: &ClaimOptions<'_>) -> Asked<()> {
        let experiment: String = options.experiment.chars().take(191).collect();
        let values = [table, experiment.as_str(), options.created_at]
            .map(|value| self.engine.dialect().literal(value))
            .join(", ");
        self.session.run(&format!(
            "INSERT INTO {MARKER_TABLE} (table_name, experiment, created_at) VALUES ({values})"
        ))
    }

    fn forget(&mut self, table: &str) -> Asked<()> {
        let name = self.engine.dialect().literal(table);
        self.session.run(&format!("DELETE FROM {MARKER_TABLE} WHERE table_name = {name}"))
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
        let rows =
            self.session.rows(&format!("SELECT table_name FROM {MARKER_TABLE} WHERE table_name <> ''"))?;
        Ok(rows.into_iter().flatten().flatten().filter(|name| name != DATABASE).collect())
    }

    /// True when dyno made the database.
    fn is_made(&mut self) -> Asked<bool> {
        let name = self.engine.dialect().literal(DATABASE);
        let asks = format!("SELECT count(*) FROM {MARKER_TABLE} WHERE table_name = {name}");
        Ok(self.session.count(&asks)? > 0)
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
mod tests {
    use super::*;

    const OPTIONS: ClaimOptions<'static> =
        ClaimOptions { experiment: "rush's", created_at: "2026-01-02T03:04:05Z", yes_write_to: None };

    fn database(folder: &tempfile::TempDir) -> Target {
        Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("shop.db")))
    }

    fn run(target: &Target, statements: &[&str]) {
        let mut session = ControlConnection::open(target).unwrap();
        for sql in statements {
            session.run(sql).unwrap();
        }
    }

    #[test]
    fn an_empty_database_is_marked_and_recognised_again() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        let mut claim_made = claim(&target, &OPTIONS).unwrap();
        assert_eq!(claim_made.database, "shop.db");
        claim_made.record_tables(&target, &["rush"], &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE rush (id INTEGER)"]);
        let again = claim(&target, &OPTIONS).unwrap();
        assert_eq!(again.tables, BTreeSet::from(["rush".to_owned()]));
        assert!(!again.is_forced);
    }

    #[test]
    fn a_database_with_foreign_tables_is_refused_with_its_name_its_tables_and_the_flag() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        run(&target, &["CREATE TABLE customers (id INTEGER)", "CREATE VIEW good AS SELECT * FROM customers"]);
        let error = claim(&target, &OPTIONS).unwrap_err().to_string();
        assert_eq!(
            error,
            "the database \"shop.db\" is not empty and not made by dyno; it holds customers, good\n\
             hint: use an empty database, or, if it may be written to and its tables of the same names replaced, give \
             --yes-write-to shop.db"
        );
        let wrong = ClaimOptions { yes_write_to: Some("other.db"), ..OPTIONS };
        let error = claim(&target, &wrong).unwrap_err().to_string();
        assert!(error.contains("--yes-write-to names \"other.db\", which is another one"), "{error}");
        let tables =
            ControlConnection::open(&target).unwrap().count("SELECT count(*) FROM sqlite_master").unwrap();
        assert_eq!(tables, 2, "nothing was written");
    }

    #[test]
    fn the_flag_opens_exactly_the_database_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        run(&target, &["CREATE TABLE customers (id INTEGER)"]);
        let yes = ClaimOptions { yes_write_to: Some("shop.db"), ..OPTIONS };
        assert!(claim(&target, &yes).unwrap().is_forced);
    }

    #[test]
    fn a_table_that_is_not_ours_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        let mut claim_made = claim(&target, &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE customers (id INTEGER)"]);
        let error = claim_made.record_tables(&target, &["customers"], &OPTIONS).unwrap_err().to_string();
        assert!(error.contains("\"customers\"") && error.contains("--yes-write-to shop.db"), "{error}");
    }

    #[test]
    fn what_a_program_was_making_when_it_was_killed_is_all_dyno_s_until_it_has_names() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        let mut claim_made = claim(&target, &OPTIONS).unwrap();
        claim_made.record_tables(&target, &[EVERYTHING], &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE half (id INTEGER)"]);
        let mut again = claim(&target, &OPTIONS).unwrap();
        assert!(again.tables.contains("half") && !again.is_forced, "{again:?}");
        again.adopt_all(&target, &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE theirs (id INTEGER)"]);
        let error = claim(&target, &OPTIONS).unwrap_err().to_string();
        assert!(error.contains("it holds theirs\n"), "{error}");
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), ["half"]);
        // What others have put there is nobody's to give away.
        let yes = ClaimOptions { yes_write_to: Some("shop.db"), ..OPTIONS };
        let mut forced = claim(&target, &yes).unwrap();
        let error = forced.record_tables(&target, &[EVERYTHING], &yes).unwrap_err().to_string();
        assert!(error.contains("\"shop.db\" is not empty"), "{error}");
        run(&target, &["DROP TABLE theirs"]);
        let mut late = claim(&target, &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE theirs (id INTEGER)"]);
        late.record_tables(&target, &[EVERYTHING], &OPTIONS).unwrap_err();
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn cleanup_drops_what_dyno_made_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = database(&folder);
        let mut claim_made = claim(&target, &OPTIONS).unwrap();
        claim_made.record_tables(&target, &["rush", "never made"], &OPTIONS).unwrap();
        run(&target, &["CREATE TABLE rush (id INTEGER)", "CREATE TABLE theirs (id INTEGER)"]);
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), ["rush"]);
        let left = ControlConnection::open(&target).unwrap().rows("SELECT name FROM sqlite_master").unwrap();
        assert_eq!(left, [[Some("theirs".to_owned())]]);
        assert_eq!(
            cleanup(&target, &BTreeSet::new()).unwrap(),
            Vec::<String>::new(),
            "without a marker nothing is dropped"
        );
    }
}

//! Protects databases from being overwritten: dyno writes only to a database that holds nothing but
//! what dyno created; any other must be named explicitly by the user. The permission is valid for
//! one run, not for a later run that finds the marker.
//!
//! The marker, a table named [`MARKER_TABLE`], lists the tables that dyno created, one row each, so
//! [`cleanup`] drops these and no others. A table that replaced one that dyno did not create is not
//! listed: after a run that was killed, a table of its name may again be the user's, or still be. A
//! row with an empty name represents the claim itself and names the run that made it last. A row
//! with [`EVERYTHING`] represents all tables: it is written before a program creates tables with
//! unknown names, and replaced by their names afterwards. A row with a name that no table can have
//! represents the database, which is then dyno's too.
//!
//! Any account with the privilege to create tables can create one with this name. So a marker
//! counts only if it is an ordinary table of this account, each row is signed
//! ([`crate::ownership`]), and unsigned rows are ignored. Whoever claims or cleans up a database
//! holds its lock ([`crate::run_lock`]). On a cluster the lock may be that of one node, so dyno
//! also refuses a database whose marker names another run that has not ended.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries;
use crate::error::HostError;
use crate::ownership::{is_running, signature, this_run};
use crate::run_lock::{self, Refused, RunLock};
use dyno_model::failure::OperationFailure;
use dyno_model::reason::Reason;
use dyno_model::target::{Endpoint, Engine, Target};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use dyno_model::schema::MARKER_TABLE;

/// Stands for the names of tables, views and sequences that a program is about to create and that
/// are not known yet, in [`Claim::record_tables`]. [`Claim::adopt_all`] replaces it with their
/// names.
pub const EVERYTHING: &str = "*";

/// Represents the database itself, if dyno created it: no table can have this name.
const DATABASE: &str = " database";

/// The remedy for a run of this account that has not ended.
const PROCESS: &str = "wait until it ends, or stop its process";

/// How long a run waits for the row of another run that was faster.
const ROW_LIMIT: Duration = Duration::from_secs(2);
/// Pause between two looks for this row.
const ROW_PAUSE: Duration = Duration::from_millis(50);

/// Number of tables that an error names.
const TABLES_SHOWN: usize = 5;

/// Parameters of a claim.
#[derive(Debug, Clone, Copy)]
pub struct ClaimOptions<'a> {
    /// Name of the experiment, for readers of the marker.
    pub experiment: &'a str,
    /// UTC time, RFC 3339, for readers of the marker.
    pub created_at: &'a str,
    /// Databases named by `--yes-write-to`, separated by commas, that may be written to although
    /// they have foreign tables.
    pub yes_write_to: Option<&'a str>,
    /// Whether other runs can reach the database too and must be excluded. They cannot reach a
    /// server that dyno started.
    pub is_shared: bool,
}

/// The permission to write to a database.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Name of the database.
    pub database: String,
    /// Tables that are not dyno's, although which the user permitted writing.
    pub foreign: BTreeSet<String>,
    /// Tables that dyno created, now or earlier.
    pub tables: BTreeSet<String>,
    /// Those of them that replaced tables that dyno did not create. The marker does not list them.
    pub replaced: BTreeSet<String>,
    /// Excludes other runs from the database while the claim exists.
    lock: Option<Rc<RunLock>>,
}

/// The error for tables of others.
fn not_ours(database: &str, tables: &[String], yes_write_to: Option<&str>) -> HostError {
    let shown = tables.len().min(TABLES_SHOWN);
    let more = match tables.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = yes_write_to
        .map_or_else(String::new, |named| format!("; --yes-write-to names {named:?} instead"));
    HostError::new(Reason::DatabaseNotEmpty {
        database: database.to_owned(),
        tables: format!("{}{more}{named}", tables[..shown].join(", ")),
    })
}

/// The error of a database that could not be queried or marked.
fn not_marked(database: &str) -> impl Fn(OperationFailure) -> HostError + Copy {
    move |failure| {
        HostError::new(format!("cannot mark the database {database:?} as dyno's: {failure}"))
    }
}

/// The error of a marker table that somebody else created.
fn not_our_marker(database: &str) -> HostError {
    HostError::new(format!(
        "the database {database:?} has a {MARKER_TABLE} that was not written by dyno under this \
         account on this machine; the tables it lists are left alone\n\
         hint: run `dyno cleanup` on the machine and account of the run that left it, or check the \
         tables it lists and drop them by hand"
    ))
}

/// Locks and claims the target's database: marks it when it is empty, and recognises an existing
/// marker and the tables it lists.
///
/// # Errors
/// When another run uses it; when it holds other tables and `yes_write_to` does not name it.
pub fn claim(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let lock = if options.is_shared { lock(target)? } else { None };
    let (claim, marker) = inspect(target, options)?;
    if let Some((mut marker, is_marked)) = marker {
        let failed = not_marked(&claim.database);
        if !is_marked && let Err(failure) = marker.create() {
            // Another run may have created it meanwhile, through another node.
            if !marker.tables().map_err(failed)?.contains(MARKER_TABLE) {
                return Err(failed(failure));
            }
        }
        if !marker.name_run(options).map_err(failed)? {
            return Err(run_lock::in_use(target, PROCESS));
        }
    }
    Ok(Claim { lock, ..claim })
}

/// Locks a database against other runs; a lock that this process holds is shared. The marker names
/// the run that another node of a cluster may have locked it for.
pub(crate) fn lock(target: &Target) -> Result<Option<Rc<RunLock>>, HostError> {
    let lock = take_lock(target)?;
    // SQLite's lock is seen by every process that sees the file.
    if target.engine.keeps_data() && !matches!(target.endpoint, Endpoint::File(_)) {
        check_owner(target)?;
    }
    Ok(lock)
}

/// Checks that the marker names no other run that has not ended.
fn check_owner(target: &Target) -> Result<(), HostError> {
    let database = target.database_name();
    let failed = not_marked(&database);
    let mut marker = Marker::open_to_clean_up(target).map_err(failed)?;
    if marker.tables().map_err(failed)?.contains(MARKER_TABLE)
        && marker.is_ours().map_err(failed)?
        && marker.claim_row().map_err(failed)?.is_some_and(|row| row.is_in_use())
    {
        return Err(run_lock::in_use(target, PROCESS));
    }
    Ok(())
}

/// Checks whether another run uses a database; leaves nothing behind.
///
/// # Errors
/// When one does, and when the server cannot be queried.
pub fn check_unused(target: &Target) -> Result<(), HostError> {
    run_lock::inspect(target)?;
    match target.endpoint {
        Endpoint::File(_) => Ok(()),
        _ => lock(target).map(|_lock| ()),
    }
}

fn take_lock(target: &Target) -> Result<Option<Rc<RunLock>>, Refused> {
    run_lock::take(target, || is_of_this_run(target).unwrap_or(false))
}

/// Whether the marker names this run.
fn is_of_this_run(target: &Target) -> QueryResult<bool> {
    let mut marker = Marker::open_to_clean_up(target)?;
    Ok(marker.tables()?.contains(MARKER_TABLE)
        && marker.claim_row()?.is_some_and(|row| row.run == this_run()))
}

/// Returns what [`claim`] would, without writing.
///
/// # Errors
/// As [`claim`], except for other runs.
pub fn examine(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    inspect(target, options).map(|(claim, _marker)| claim)
}

/// Inspects the database; returns how to mark it, and whether it is marked.
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
        foreign: foreign.into_iter().collect(),
        tables: ours,
        ..Claim::default()
    };
    Ok((claim, Some((marker, is_marked))))
}

impl Claim {
    /// True when the database has tables that are not dyno's, and the user permitted writing.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        !self.foreign.is_empty()
    }

    /// The claim with the lock of the database: its tables are used as they are, and other runs are
    /// excluded.
    ///
    /// # Errors
    /// When another run uses the database.
    pub fn locked(self, target: &Target) -> Result<Self, HostError> {
        Ok(Self { lock: lock(target)?, ..self })
    }

    /// The reason why the database could not be locked against other runs, if any.
    #[must_use]
    pub fn lock_problem(&self) -> Option<&str> {
        self.lock.as_ref()?.problem()
    }

    /// Whether the database still belongs to this run, whatever happened to its lock; `is_marked`
    /// when the run has marked it. A server that cannot be queried counts as unchanged.
    ///
    /// # Errors
    /// When another run uses or has claimed it.
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
                "another run of dyno claimed the database {:?} in the meantime\n\
                 hint: start a run only after the other has ended",
                self.database
            ))),
        }
    }

    /// Records tables before they are created, so that none is ever forgotten. A table that
    /// replaces one that dyno did not create, because the claim was forced, is recorded in this
    /// claim only: the permission ends with the run.
    ///
    /// # Errors
    /// When a table exists that dyno did not create, unless the claim was forced; with
    /// [`EVERYTHING`], when there is anything at all that dyno did not create, because it could not
    /// be distinguished later.
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
            && !self.is_forced()
        {
            return Err(HostError::new(format!(
                "the table {table:?} in the database {database:?} already exists and was not \
                 created by dyno\n\
                 hint: use another database, or, if the table may be replaced, pass --yes-write-to \
                 {database}"
            )));
        }
        let is_ours = |table: &String| table == MARKER_TABLE || self.tables.contains(table);
        if fresh.contains(&EVERYTHING) && !existing.iter().all(is_ours) {
            return Err(HostError::new(format!(
                "the database {database:?} is not empty, and tables that scripts create there \
                 cannot be distinguished from existing ones\n\
                 hint: use an empty database"
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

    /// Marks every existing table as dyno's. Only for a server that dyno started and nobody else
    /// has used.
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

/// Marks a database that dyno has just created.
///
/// # Errors
/// When it cannot be marked, or is not empty any more.
pub fn claim_created(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let claim = claim(target, &ClaimOptions { yes_write_to: None, ..*options })?;
    let failed = not_marked(&claim.database);
    Marker::open(target).and_then(|mut marker| marker.record(DATABASE, options)).map_err(failed)?;
    Ok(claim)
}

/// Marks a copy that dyno has just created, or is about to fill, with everything in it.
///
/// # Errors
/// When it cannot be marked.
pub fn claim_copy(target: &Target, options: &ClaimOptions<'_>) -> Result<Claim, HostError> {
    let lock = lock(target)?;
    let database = target.database_name();
    let failed = not_marked(&database);
    let mut marker = Marker::open(target).map_err(failed)?;
    // An original that dyno created or used has its own marker, which lists the tables of the
    // original and is signed for another database.
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

/// Removes what dyno created in a database, as [`cleanup`] does, and claims it again. A database
/// that dyno created stays marked as such.
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
    if is_all_ours { claim_created(target, options) } else { claim(target, options) }
}

/// True when dyno created the database and everything in it.
///
/// # Errors
/// When it cannot be queried.
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

/// Tables, views and sequences of a database, including the marker.
///
/// # Errors
/// When it cannot be queried.
pub(crate) fn tables(target: &Target) -> Result<BTreeSet<String>, HostError> {
    let tables = Marker::open_to_clean_up(target).and_then(|mut marker| marker.tables());
    tables.map_err(not_marked(&target.database_name()))
}

/// Drops the tables that the marker lists, those that this run replaced ([`Claim::replaced`]), and
/// the marker; returns the dropped tables. A database without a marker is ignored.
///
/// # Errors
/// When another run uses the database, when the marker is not this account's, when the database
/// cannot be queried, or a table cannot be dropped.
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
    // The run that held the lock until now may have dropped everything.
    let mut existing = marker.tables().map_err(failed)?;
    if !existing.remove(MARKER_TABLE) {
        return Ok(Vec::new());
    }
    if !marker.is_ours().map_err(failed)? {
        return Err(not_our_marker(&database));
    }
    if !marker.take_over(Row::is_in_use).map_err(failed)? {
        return Err(run_lock::in_use(target, PROCESS));
    }
    let ours = marker.ours(&existing).map_err(failed)?;
    let dropped: Vec<String> = existing
        .into_iter()
        .filter(|table| ours.contains(table) || replaced.contains(table))
        .collect();
    let mut left = dropped.clone();
    while !left.is_empty() {
        // Tables that others refer to are dropped after those, and dependent objects disappear with
        // their table.
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

/// A row that this account signed.
struct Row {
    table: String,
    /// The run that wrote it.
    run: String,
}

impl Row {
    /// Whether another run wrote it and has not ended.
    fn is_in_use(&self) -> bool {
        self.run != this_run() && is_running(&self.run)
    }
}

impl Marker {
    fn open(target: &Target) -> QueryResult<Self> {
        ControlConnection::open(target).map(|session| Self::with(session, target))
    }

    fn open_to_clean_up(target: &Target) -> QueryResult<Self> {
        ControlConnection::open_to_clean_up(target).map(|session| Self::with(session, target))
    }

    fn with(session: ControlConnection, target: &Target) -> Self {
        Self { session, engine: target.engine, database: target.database_name() }
    }

    /// The users' tables, views and sequences in the database.
    fn tables(&mut self) -> QueryResult<BTreeSet<String>> {
        let sql = self.engine.dialect().user_tables;
        Ok(self.session.rows(sql)?.into_iter().flatten().flatten().collect())
    }

    fn create(&mut self) -> QueryResult<()> {
        let shared = queries(self.engine).shared_storage;
        let storage = match shared.and_then(|sql| self.session.first(sql).ok().flatten()) {
            Some(engine) => format!(" ENGINE = {engine}"),
            None => String::new(),
        };
        // MySQL needs a length for text keys; 191 fits every character set and row format.
        self.session.run(&format!(
            "CREATE TABLE {MARKER_TABLE} (table_name VARCHAR(191) NOT NULL PRIMARY KEY, experiment VARCHAR(191) NOT NULL, \
             created_at VARCHAR(40) NOT NULL, run VARCHAR(40) NOT NULL, signature VARCHAR(80) NOT NULL){storage}"
        ))
    }

    fn record(&mut self, table: &str, options: &ClaimOptions<'_>) -> QueryResult<()> {
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

    /// Updates the row of the claim to name this run; `false` when it names another that uses the
    /// database.
    fn name_run(&mut self, options: &ClaimOptions<'_>) -> QueryResult<bool> {
        if self.claim_row()?.is_none() {
            self.remove_unsigned_claim()?;
            // If another run does the same at this moment, one of them is rejected. Through another
            // node of a cluster, the row of the other may be visible only a moment later.
            let recorded = self.record("", options);
            let deadline = Instant::now() + ROW_LIMIT;
            while self.claim_row()?.is_none() {
                if Instant::now() >= deadline {
                    return recorded.map(|()| false);
                }
                std::thread::sleep(ROW_PAUSE);
            }
        }
        if !self.take_over(|row| options.is_shared && row.is_in_use())? {
            return Ok(false);
        }
        let [_, experiment, created_at, ..] = self.values("", options);
        let described = format!(
            "UPDATE {MARKER_TABLE} SET experiment = {experiment}, created_at = {created_at} WHERE table_name = ''"
        );
        self.session.run(&described).map(|()| true)
    }

    /// Puts this run in place of an earlier one into the row of the claim, if it has one; `false`
    /// when another run uses the database, which `is_in_use` decides from its row.
    fn take_over(&mut self, is_in_use: impl Fn(&Row) -> bool) -> QueryResult<bool> {
        let row = match self.claim_row()? {
            None => return Ok(true),
            Some(row) if row.run == this_run() => return Ok(true),
            Some(row) if is_in_use(&row) => return Ok(false),
            Some(row) => row,
        };
        let literal = |text: &str| self.engine.dialect().literal(text);
        let signed = literal(&signature(&[&self.database, "", this_run()]));
        // If another run does the same at this moment, even through another node, one of them
        // changes no row or is rejected.
        let changed = self.session.run(&format!(
            "UPDATE {MARKER_TABLE} SET run = {}, signature = {signed} WHERE table_name = '' AND run = {}",
            literal(this_run()),
            literal(&row.run)
        ));
        match self.claim_row()? {
            Some(row) if row.run == this_run() => Ok(true),
            _ => changed.map(|()| false),
        }
    }

    /// The row of the claim.
    fn claim_row(&mut self) -> QueryResult<Option<Row>> {
        Ok(self.rows()?.into_iter().find(|row| row.table.is_empty()))
    }

    /// Removes a row of the claim that this account did not sign, and never the row that another
    /// run writes at this moment.
    fn remove_unsigned_claim(&mut self) -> QueryResult<()> {
        let claims = format!("SELECT run, signature FROM {MARKER_TABLE} WHERE table_name = ''");
        for (run, signed) in self.session.pairs(&claims)? {
            if signed != signature(&[&self.database, "", &run]) {
                let signed = self.engine.dialect().literal(&signed);
                self.session.run(&format!(
                    "DELETE FROM {MARKER_TABLE} WHERE table_name = '' AND signature = {signed}"
                ))?;
            }
        }
        Ok(())
    }

    fn forget(&mut self, table: &str) -> QueryResult<()> {
        let name = self.engine.dialect().literal(table);
        self.session.run(&format!("DELETE FROM {MARKER_TABLE} WHERE table_name = {name}"))
    }

    /// Whether this account created the marker. One without rows, whose creation was interrupted,
    /// lists nothing.
    fn is_ours(&mut self) -> QueryResult<bool> {
        let is_plain = queries(self.engine).plain_table;
        if self.session.count(&format!("{is_plain} '{MARKER_TABLE}'"))? == 0 {
            return Ok(false);
        }
        // A table with other columns is not read.
        let Ok(all) = self.session.count(&format!("SELECT count(signature) FROM {MARKER_TABLE}"))
        else {
            return Ok(false);
        };
        Ok(all == 0 || !self.rows()?.is_empty())
    }

    /// The rows that this account signed.
    fn rows(&mut self) -> QueryResult<Vec<Row>> {
        let rows =
            self.session.rows(&format!("SELECT table_name, run, signature FROM {MARKER_TABLE}"))?;
        let signed = |row: Vec<Option<String>>| {
            let [table, run, signed] = <[_; 3]>::try_from(row).ok()?;
            let (table, run) = (table?, run?);
            (signed? == signature(&[&self.database, &table, &run])).then_some(Row { table, run })
        };
        Ok(rows.into_iter().filter_map(signed).collect())
    }

    /// The tables that dyno created or was about to create.
    fn ours(&mut self, existing: &BTreeSet<String>) -> QueryResult<BTreeSet<String>> {
        let mut recorded = self.recorded()?;
        if recorded.contains(EVERYTHING) {
            recorded.extend(existing.iter().cloned());
        }
        Ok(recorded)
    }

    fn recorded(&mut self) -> QueryResult<BTreeSet<String>> {
        let names = self.rows()?.into_iter().map(|row| row.table);
        Ok(names.filter(|name| !name.is_empty() && name != DATABASE).collect())
    }

    /// True when dyno created the database.
    fn is_made(&mut self) -> QueryResult<bool> {
        Ok(self.is_ours()? && self.rows()?.iter().any(|row| row.table == DATABASE))
    }

    fn drop_table(&mut self, table: &str) -> QueryResult<()> {
        let quoted = self.engine.dialect().quoted_name(table);
        self.session.run(&format!("DROP TABLE {quoted}")).or_else(|failure| {
            // Scripts of users create views as well.
            self.session.run(&format!("DROP VIEW {quoted}")).map_err(|_| failure)
        })
    }
}

#[cfg(test)]
mod tests;

//! Databases of `load.databases` on a system: claimed one by one, loaded, and cleaned up.

use dyno_host::HostError;
use dyno_host::databases::{self, beside};
use dyno_host::marker::{self, Claim, ClaimOptions};
use dyno_model::plan::DataPolicy;
use dyno_model::target::Target;

/// A database that clients work in.
struct Database {
    name: String,
    /// Its sessions are read-only.
    only_reads: bool,
    claim: Claim,
}

/// The databases of a system that have been claimed so far.
#[derive(Default)]
pub(crate) struct ClaimedDatabases(Vec<Database>);

#[derive(Clone, Copy)]
pub(crate) struct DatabaseUse {
    pub(crate) policy: DataPolicy,
    /// Only statements that are known not to write are sent.
    pub(crate) only_reads: bool,
}

impl ClaimedDatabases {
    /// Claims further databases on the server of `base`, skipping those already claimed. Where
    /// existing tables are used, it checks that dyno may use them.
    ///
    /// # Errors
    /// A description, when a database cannot be claimed.
    pub(crate) fn enter(
        &mut self,
        base: &Target,
        names: &[String],
        usage: DatabaseUse,
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        let is_new = |name: &&String| !self.0.iter().any(|known| known.name == **name);
        let names: Vec<String> = names.iter().filter(is_new).cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        let entered = match usage.policy {
            DataPolicy::Own => {
                let claims = databases::claim(base, &names, options)?;
                let claimed = |(name, claim)| Database { name, only_reads: false, claim };
                names.into_iter().zip(claims).map(claimed).collect()
            }
            DataPolicy::Existing | DataPolicy::Copy => {
                found(base, names, usage.only_reads, options)?
            }
        };
        self.0.extend(entered);
        Ok(())
    }

    /// A claimed database.
    fn of(&self, name: &str) -> &Database {
        let found = self.0.iter().find(|known| known.name == name);
        found.expect("databases are entered before anything is done in them")
    }

    /// The target of a database on the server of another; `None` returns `base` itself.
    pub(crate) fn target(&self, base: &Target, name: Option<&str>) -> Target {
        let Some(name) = name else { return base.clone() };
        let target = beside(base, name);
        if self.of(name).only_reads { target.reading() } else { target }
    }

    /// Records in a database that tables are about to be created.
    ///
    /// # Errors
    /// When a database does not belong to dyno, or the record cannot be written.
    pub(crate) fn record_tables(
        &mut self,
        base: &Target,
        name: &str,
        tables: &[String],
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        let Some(database) = self.0.iter_mut().find(|known| known.name == name) else {
            return Ok(());
        };
        database.claim.record_tables(&beside(base, name), tables, options)
    }

    /// Marks everything in these databases as dyno's, on a server that dyno started.
    ///
    /// # Errors
    /// When one cannot be marked.
    pub(crate) fn adopt_all(
        &mut self,
        base: &Target,
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        self.0.iter_mut().try_for_each(|database| {
            database.claim.adopt_all(&beside(base, &database.name), options)
        })
    }

    /// Checks that this run still owns the databases.
    ///
    /// # Errors
    /// A description, when another run uses one.
    pub(crate) fn check(&mut self, base: &Target, is_marked: bool) -> Result<(), HostError> {
        self.0
            .iter_mut()
            .filter(|database| !database.only_reads)
            .try_for_each(|database| database.claim.check(&beside(base, &database.name), is_marked))
    }

    /// The databases that are only read.
    pub(crate) fn only_read(&self, base: &Target) -> impl Iterator<Item = Target> {
        let reading = self.0.iter().filter(|database| database.only_reads);
        reading.map(|database| self.target(base, Some(&database.name)))
    }

    /// The claims.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.0.iter().map(|database| &database.claim)
    }

    /// Drops what dyno created; returns descriptions of what could not be dropped.
    pub(crate) fn clean_up(self, base: &Target) -> Vec<String> {
        let cleaned = self.0.into_iter().map(|it| databases::clean_up(base, &it.name, it.claim));
        cleaned.filter_map(Result::err).map(|error| error.to_string()).collect()
    }
}

/// Databases whose existing tables are used.
fn found(
    base: &Target,
    names: Vec<String>,
    only_reads: bool,
    options: &ClaimOptions<'_>,
) -> Result<Vec<Database>, HostError> {
    missing(base, &names)?;
    let examined = |target: &Target| marker::examine(target, options)?.locked(target);
    let look = |name: String| match examined(&beside(base, &name)) {
        Ok(claim) => Ok(Database { name, only_reads: false, claim }),
        Err(_) if only_reads => Ok(Database { name, only_reads: true, claim: Claim::default() }),
        Err(error) => Err(error),
    };
    names.into_iter().map(look).collect()
}

/// Checks that the databases exist.
///
/// # Errors
/// Names the missing one.
pub(crate) fn missing(base: &Target, names: &[String]) -> Result<(), HostError> {
    let are_there = databases::are_there(base, names)?;
    match names.iter().zip(are_there).find(|(_, is_there)| !is_there) {
        None => Ok(()),
        Some((name, _)) => Err(HostError::new(format!(
            "there is no database {name:?}\nhint: with `data = \"existing\"`, each database of \
             `load.databases` must exist with its tables"
        ))),
    }
}

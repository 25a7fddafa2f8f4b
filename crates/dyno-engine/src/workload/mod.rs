//! Workloads: what a transaction does, on which data, and how the data is checked afterwards.
//!
//! A native workload is one small file with tables, transaction, audit and options. [`catalog`] lists them all and
//! [`Native::build`] makes one from its resolved options.

mod bulk_insert;
mod dbatest;
mod mass_insert;
mod oltp;
mod random_selects;
mod rush;
mod sbtest;

pub use bulk_insert::BulkInsert;
pub use dbatest::Dbatest;
pub use mass_insert::MassInsert;
pub use oltp::Oltp;
pub use random_selects::RandomSelects;
pub use rush::Rush;

use crate::random::Random;
use crate::recording::Totals;
use crate::session::Session;
use dyno_drivers::{Connection, Driver, RowWriter, Table};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::WorkloadDescription;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::WorkloadPlan;
use dyno_model::record::Growth;
use dyno_model::target::Engine;

/// Number of a client within its trial, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId(pub u32);

/// A statement that every connection prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    /// SQL of the engine's dialect, `?` for parameters.
    pub sql: String,
    /// Index into [`Workload::kinds`].
    pub kind: u16,
}

/// What an audit knows besides the data itself.
pub struct AuditFacts<'a, B> {
    /// What [`Workload::baseline`] found before the trial.
    pub baseline: B,
    /// Everything the clients did, warm-up included.
    pub totals: &'a Totals,
    /// When the measured window opened, nanoseconds since the epoch that client logs use.
    pub opens: u64,
}

impl<B> AuditFacts<'_, B> {
    /// Transactions that may stand in the data or not: those whose commit is in doubt and, as much in doubt, those that were cut off.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.totals.in_doubt + self.totals.unfinished()
    }
}

type Result<T> = std::result::Result<T, OperationFailure>;

/// A workload, shared by all clients of a trial.
#[expect(async_fn_in_trait, reason = "futures stay on the worker thread that makes them")]
pub trait Workload: Send + Sync + 'static {
    /// State of one client, made before its first transaction.
    type Client: 'static;
    /// What the audit needs to know of the data before the trial.
    type Baseline;

    /// Names of the kinds of statements; each has its own histogram. `begin`, `commit` and `rollback` are added behind.
    fn kinds(&self) -> Vec<&'static str>;

    /// Sent once per connection, unmeasured.
    fn session_setup(&self) -> Vec<String> {
        Vec::new()
    }

    /// After so many of its transactions a client connects and prepares anew; 0: never. The time it takes belongs to the transaction.
    fn reconnect_every(&self) -> u64 {
        0
    }

    /// How a transaction begins; `None` when every statement commits by itself, so that nothing needs to be prepared for it.
    fn begin(&self) -> Option<&'static str> {
        Some("BEGIN")
    }

    /// Statements prepared on every connection; [`Session::execute`] addresses them by index.
    fn statements(&self) -> Vec<StatementText>;

    /// Statements as `dyno workloads NAME` shows them; workloads that send text give examples of it.
    fn examples(&self) -> Vec<StatementText> {
        self.statements()
    }

    /// The tables and their rows.
    fn data(&self) -> &dyn DataSet;

    /// State of a client.
    fn client(&self, id: ClientId) -> Self::Client;

    /// One attempt of a transaction. The same sequence number brings the same random numbers in every attempt.
    async fn transaction(
        &self,
        client: &mut Self::Client,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()>;

    /// What becomes of the client after a transaction that failed. `client` is its state after the failure.
    fn verdict(&self, _client: &Self::Client, _failure: &OperationFailure) -> Verdict {
        Verdict::Policy
    }

    /// Sends what a client has kept back, after its last transaction. Not called for a client that was cut off or gave up.
    async fn finish(&self, _client: &mut Self::Client, _session: &mut Session) -> Result<()> {
        Ok(())
    }

    /// Reads what the audit will need.
    async fn baseline(&self, connection: &mut Connection) -> Result<Self::Baseline>;

    /// How a table grows with every commit, where that is what the workload is about.
    fn growth(&self, _baseline: &Self::Baseline) -> Option<Growth> {
        None
    }

    /// Checks the data after the trial. Clients have ended and dropped their state.
    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Self::Baseline>,
    ) -> Result<Vec<AuditCheck>>;
}

/// What becomes of a client after a transaction that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As the retry policy says.
    Policy,
    /// The transaction counts as failed, the client goes on with its next one.
    GoesOn,
    /// The transaction was not begun, because it was too late, and counts as skipped; the client goes on with its next one.
    Skipped,
    /// The transaction counts as failed and the client ends; the others go on.
    EndsClient,
    /// The transaction counts as failed, and everybody stops.
    EndsRun,
}

/// A table as the loader makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name, unquoted.
    pub name: String,
    /// Makes the empty table.
    pub create: String,
    /// Columns that the loader fills.
    pub columns: Vec<&'static str>,
    /// Number of rows to load.
    pub rows: u64,
    /// Sent after loading: secondary indexes.
    pub indexes: Vec<String>,
}

/// The tables of a workload and their rows, which are a pure function of (seed, table, row number).
pub trait DataSet: Send + Sync {
    /// Equal fingerprints mean equal data: a loaded data set can be used again.
    fn fingerprint(&self) -> String;

    /// True when a trial leaves the data as good as new (read-only, or as many rows as before), so that the next trial may use it.
    fn is_reusable(&self) -> bool;

    /// The tables.
    fn tables(&self) -> Vec<TableDefinition>;

    /// Writes the fields of a row (from 0) of a table (index into [`Self::tables`]).
    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter);
}

/// No tables: the workload finds its own.
#[derive(Debug, Clone, Copy)]
pub struct NoData;

impl DataSet for NoData {
    fn fingerprint(&self) -> String {
        String::new()
    }

    fn is_reusable(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<TableDefinition> {
        Vec::new()
    }

    fn row(&self, _table: usize, _row: u64, _out: &mut dyn RowWriter) {}
}

/// Any native workload.
pub enum Native {
    /// Counters under a rush of clients.
    Rush(Rush),
    /// The OLTP family on the sbtest tables.
    Oltp(Oltp),
    /// `select_random_points` and `select_random_ranges`.
    RandomSelects(RandomSelects),
    /// Many rows per statement.
    BulkInsert(BulkInsert),
    /// Sets of rows with a temporary table and without.
    Dbatest(Dbatest),
    /// One table that only grows.
    MassInsert(MassInsert),
}

/// Calls code with whichever native workload it is.
#[macro_export]
macro_rules! with_native {
    ($native:expr, $workload:ident => $call:expr) => {
        match $native {
            $crate::workload::Native::Rush($workload) => $call,
            $crate::workload::Native::Oltp($workload) => $call,
            $crate::workload::Native::RandomSelects($workload) => $call,
            $crate::workload::Native::BulkInsert($workload) => $call,
            $crate::workload::Native::Dbatest($workload) => $call,
            $crate::workload::Native::MassInsert($workload) => $call,
        }
    };
}

/// What a workload needs to know of its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Dialect.
    pub engine: Engine,
    /// Number of clients of the trial.
    pub clients: u32,
    /// Seed of the experiment.
    pub seed: u64,
}

impl Native {
    /// Makes a workload from a plan whose options were checked against [`catalog`].
    ///
    /// # Errors
    /// When the dialect cannot do what the options ask, in words.
    pub fn build(plan: &WorkloadPlan, setting: Setting) -> std::result::Result<Self, String> {
        let options = &plan.options;
        match plan.kind.as_str() {
            "rush" => Rush::build(options, setting).map(Self::Rush),
            "bulk_insert" => Ok(Self::BulkInsert(BulkInsert::build(options, setting))),
            "mass-insert" => MassInsert::build(options, setting).map(Self::MassInsert),
            "select_random_points" | "select_random_ranges" => {
                Ok(Self::RandomSelects(RandomSelects::build(&plan.kind, options, setting)))
            }
            kind if let Some(way) = dbatest::Way::from_name(kind) => {
                Dbatest::build(way, options, setting).map(Self::Dbatest)
            }
            kind => oltp::Preset::from_name(kind)
                .map(|preset| Self::Oltp(Oltp::build(preset, options, setting)))
                .ok_or_else(|| format!("there is no workload {kind}")),
        }
    }
}

/// All native workloads with their options.
#[must_use]
pub fn catalog() -> Vec<WorkloadDescription> {
    let mut all = vec![rush::description()];
    all.extend(oltp::descriptions());
    all.extend(random_selects::descriptions());
    all.push(bulk_insert::description());
    all.extend(dbatest::descriptions());
    all.push(mass_insert::description());
    all
}

/// The statements of a workload with default options, for `dyno workloads NAME`: kind and SQL.
#[must_use]
pub fn sample_statements(plan: &WorkloadPlan, engine: Engine) -> Vec<(String, String)> {
    let setting = Setting { engine, clients: 1, seed: 1 };
    let Ok(native) = Native::build(plan, setting) else { return Vec::new() };
    with_native!(&native, workload => {
        let kinds = workload.kinds();
        workload.examples().into_iter().map(|text| (kinds[usize::from(text.kind)].to_owned(), text.sql)).collect()
    })
}

/// The integer a query answers with; 0 for NULL, as `SUM` of nothing gives.
pub(crate) async fn scalar(connection: &mut Connection, sql: &str) -> Result<i64> {
    let mut table = Table::default();
    connection.query(sql, &mut table).await?;
    Ok(table.first().and_then(|text| text.parse().ok()).unwrap_or(0))
}

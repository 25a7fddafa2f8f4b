//! The interface between a workload and the engine.

use crate::client_id::ClientId;
use crate::commit_ledger;
use crate::data_set::DataSet;
use crate::random::Random;
use crate::recording::Totals;
use crate::session::{CONTROL_KINDS, Session, StatementText};
use dyno_drivers::{Connection, Driver, Table};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::Growth;
use dyno_model::client_group::ClientSubset;
use dyno_model::failure::OperationFailure;
use dyno_model::history::History;
use dyno_model::record::BenchmarkFacts;
use dyno_model::target::Engine;
use dyno_model::units::Nanos;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The environment of a workload.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadContext {
    /// Dialect.
    pub engine: Engine,
    /// Number of clients of the trial.
    pub clients: u32,
    /// Seed of the experiment.
    pub seed: u64,
}

/// The input of an audit besides the data itself.
pub struct AuditFacts<'a, B> {
    /// What [`Workload::baseline`] found before the trial.
    pub baseline: B,
    /// Everything the clients did, warm-up included.
    pub totals: &'a Totals,
    /// When the measured window opened, nanoseconds since the epoch that client logs use.
    pub opens: u64,
}

impl<B> AuditFacts<'_, B> {
    /// Transactions whose effect may or may not be in the data: those whose commit is in doubt, and
    /// those that were cut off.
    #[must_use]
    pub fn uncertain(&self) -> u64 {
        self.totals.in_doubt + self.totals.unfinished()
    }
}

type Result<T> = std::result::Result<T, OperationFailure>;

/// A workload, shared by all clients of a trial.
#[expect(async_fn_in_trait, reason = "futures stay on the worker thread that makes them")]
pub trait Workload: Send + Sync + 'static {
    /// State of one client, created before its first transaction.
    type Client: 'static;
    /// State of the data before the trial that the audit needs.
    type Baseline: Default;

    /// Names of the kinds of statements; each has a separate histogram. `begin`, `commit` and
    /// `rollback` are appended.
    fn kinds(&self) -> Vec<&'static str>;

    /// Indexes in [`Self::kinds`] of the kinds that are a COMMIT. The server counts them in
    /// addition to those that the session sends.
    fn commit_kinds(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Sent once per connection, unmeasured.
    fn session_setup(&self) -> Vec<String> {
        Vec::new()
    }

    /// True when each transaction inserts a row into the [commit ledger](crate::commit_ledger). The
    /// session inserts it before COMMIT; if the workload begins no transactions, the session wraps
    /// each of them in one.
    fn keeps_ledger(&self) -> bool {
        false
    }

    /// Number of transactions after which a client reconnects and prepares again; 0: never. The
    /// time belongs to the transaction.
    fn reconnect_every(&self) -> u64 {
        0
    }

    /// True when it is known not to change the database, so that it can run in advance without
    /// affecting the data.
    fn only_reads(&self) -> bool {
        false
    }

    /// How a transaction begins; `None` when every statement commits by itself, so that nothing
    /// needs to be prepared for it.
    fn begin(&self) -> Option<&'static str> {
        Some("BEGIN")
    }

    /// Statements prepared on every connection; [`Session::execute`] addresses them by index. Empty
    /// if all are sent as text.
    fn statements(&self) -> Vec<StatementText> {
        Vec::new()
    }

    /// Statements shown by `dyno workloads NAME`; workloads that send text return examples.
    fn examples(&self) -> Vec<StatementText> {
        self.statements()
    }

    /// The tables and their rows.
    fn data(&self) -> &dyn DataSet;

    /// Called before any client is created, in every process that drives some of the clients.
    fn set_subset(&self, _subset: ClientSubset) {}

    /// State of a client.
    fn client(&self, id: ClientId) -> Self::Client;

    /// Names of its transactions, if any; the transactions of each name have separate figures, in
    /// addition to those of its statements.
    fn transactions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The name of a client's transaction, as an index into [`Self::transactions`], from its number
    /// and the random numbers that its attempts will draw. Not called with fewer than two names.
    fn transaction_name(
        &self,
        _client: &mut Self::Client,
        _sequence: u64,
        _random: &mut Random,
    ) -> u16 {
        0
    }

    /// Closed loop: mean think time before a transaction of this name, if it differs from the
    /// load's think time.
    fn think(&self, _name: u16) -> Option<Nanos> {
        None
    }

    /// Closed loop: fixed keying time of a client before each transaction of this name, in addition
    /// to its think time.
    fn keying(&self, _name: u16) -> Nanos {
        Nanos(0)
    }

    /// One attempt of a transaction. Every attempt with the same sequence number draws the same
    /// random numbers.
    async fn transaction(
        &self,
        client: &mut Self::Client,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()>;

    /// Decides how the client continues after a failed transaction. `client` is its state after the
    /// failure.
    fn after_failure(&self, _client: &Self::Client, _failure: &OperationFailure) -> AfterFailure {
        AfterFailure::RetryPolicy
    }

    /// Sends what a client has buffered, after its last transaction. Not called for a client that
    /// was cut off or gave up.
    async fn finish(&self, _client: &mut Self::Client, _session: &mut Session) -> Result<()> {
        Ok(())
    }

    /// Reads the state of the data before the trial, if the audit needs it.
    async fn baseline(&self, _connection: &mut Connection) -> Result<Self::Baseline> {
        Ok(Self::Baseline::default())
    }

    /// Kinds of statements that are sent as text in every query mode, because the server cannot
    /// prepare them; known after [`Self::baseline`].
    fn sent_as_text(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What its results depend on, where it is derived from a standard benchmark. Clients have
    /// ended and dropped their state.
    fn benchmark(&self, _baseline: &Self::Baseline) -> Option<BenchmarkFacts> {
        None
    }

    /// Growth of the table per commit, for workloads that measure growth.
    fn growth(&self, _baseline: &Self::Baseline) -> Option<Growth> {
        None
    }

    /// The history of reads and writes, if clients record it. Clients have ended and dropped their
    /// state.
    fn history(&self) -> Option<Arc<History>> {
        None
    }

    /// What its clients noted for the audit, as numbers, where they are in another process than the
    /// audit. Clients have ended and dropped their state.
    fn export_counts(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Takes what [`Self::export_counts`] returned in another process.
    fn import_counts(&self, _exported: &[u64]) {}

    /// Why its clients cannot be divided among several generators, as the end of a sentence; `None`
    /// where they can.
    fn reason_not_distributable(&self) -> Option<&'static str> {
        None
    }

    /// Checks the data after the trial. Clients have ended and dropped their state.
    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Self::Baseline>,
    ) -> Result<Vec<AuditCheck>>;
}

/// How a client continues after a failed transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// As the retry policy specifies.
    RetryPolicy,
    /// The transaction counts as failed, and the client continues with the next one.
    Continue,
    /// The transaction was not started, because it was too late, and counts as skipped; the client
    /// continues with the next one.
    Skip,
    /// The transaction counts as failed and the client ends; the others continue.
    EndClient,
    /// The transaction counts as failed, and all clients stop.
    EndRun,
}

/// Names of a workload's kinds of statements, followed by those of the ledger and the control
/// statements.
#[must_use]
pub fn statement_kinds<W: Workload>(workload: &W) -> Vec<&'static str> {
    let mut kinds = workload.kinds();
    kinds.extend(workload.keeps_ledger().then_some(commit_ledger::KIND));
    kinds.extend(CONTROL_KINDS);
    kinds
}

/// The integer that a query returns; 0 for NULL, which `SUM` of no rows returns.
pub(crate) async fn scalar(connection: &mut Connection, sql: &str) -> Result<i64> {
    let mut table = Table::default();
    connection.query(sql, &mut table).await?;
    Ok(table.number(0))
}

/// The number of rows of a table.
pub(crate) async fn count_rows(connection: &mut Connection, table: &str) -> Result<u64> {
    Ok(scalar(connection, &format!("SELECT COUNT(*) FROM {table}")).await?.unsigned_abs())
}

/// The check of a number of rows.
pub(super) fn row_count(
    table: impl Into<String>,
    expected: RangeInclusive<u64>,
    found: u64,
) -> AuditCheck {
    let (expected_min, expected_max) = expected.into_inner();
    AuditCheck::RowCount { table: table.into(), expected_min, expected_max, found }
}

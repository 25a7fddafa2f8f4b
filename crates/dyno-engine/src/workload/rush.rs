//! `rush`: many clients update few counters. Each transaction reads a random counter and writes it
//! back incremented by one.
//!
//! Afterwards the sum of all counters must have increased by the number of committed transactions.
//! With SELECT and UPDATE as two statements and no lock between them, the default isolation levels
//! of most databases let one client overwrite another's update without any error. The audit counts
//! these lost updates and, from the client log, names pairs of transactions that overwrote the same
//! value.

use super::contract::{AuditFacts, Workload, WorkloadContext, scalar};
use super::isolation::{isolation_option, isolation_setup};
use super::sbtest::{choice, integer, ledger};
use crate::client_id::ClientId;
use crate::commit_ledger;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, FirstInteger, RowWriter, Value};
use dyno_model::audit::{AuditCheck, LostUpdateWitness, WitnessedTransaction};
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::engine::Dialect;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const VARIANTS: &[&str] = &["read-modify-write", "in-place", "for-update", "optimistic"];
/// Maximum number of client log entries, so that memory stays constant in a long run. Later commits
/// are counted but cannot be witnessed.
const LOG_MAX: usize = 2_000_000;
/// Witnessed pairs quoted in the audit.
const EXAMPLES: usize = 5;

const SELECT: usize = 0;
const UPDATE: usize = 1;

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: "rush",
        summary: "Each transaction reads a random counter of a small table and increments it.",
        audit: "The sum of all counters must have increased by exactly one per committed \
                transaction; missing increments are lost updates, and the client log identifies \
                pairs of transactions that overwrote the same value.",
        options: vec![
            choice(
                "variant",
                VARIANTS,
                "how the counter is incremented: SELECT then UPDATE with a value computed by the \
                 client (read-modify-write), one UPDATE c2 = c2 + 1 (in-place), SELECT ... FOR \
                 UPDATE first (for-update; BEGIN IMMEDIATE on SQLite), or UPDATE ... WHERE c2 = \
                 the value read, retried when it changed (optimistic)",
            ),
            integer(
                "rows",
                1,
                100_000_000,
                100,
                "number of counters; fewer rows cause more \
                conflicts",
            ),
            isolation_option(),
            ledger(),
        ],
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    ReadModifyWrite,
    InPlace,
    ForUpdate,
    Optimistic,
}

/// The workload `rush`.
pub struct Rush {
    variant: Variant,
    /// Sets the isolation level of a session.
    isolation: Option<String>,
    table: Counters,
    log: Arc<Mutex<Vec<Entry>>>,
}

/// Row versions accumulate in such a small table, so every trial starts with a new one.
struct Counters {
    rows: u64,
    has_ledger: bool,
    dialect: &'static Dialect,
}

/// One committed transaction in the client log.
#[derive(Debug, Clone, Copy)]
struct Entry {
    row: i64,
    value_read: i64,
    client: u32,
    sequence: u64,
    committed_at: u64,
}

/// State of one client: its part of the log, handed over whenever the client ends.
pub struct RushClient {
    id: ClientId,
    entries: Vec<Entry>,
    log: Arc<Mutex<Vec<Entry>>>,
}

impl Drop for RushClient {
    fn drop(&mut self) {
        let mut log = lock(&self.log);
        let room = LOG_MAX.saturating_sub(log.len());
        log.extend(self.entries.drain(..).take(room));
    }
}

impl Rush {
    pub(super) fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Result<Self, String> {
        let variant = match options.text("variant") {
            "in-place" => Variant::InPlace,
            "for-update" => Variant::ForUpdate,
            "optimistic" => Variant::Optimistic,
            _ => Variant::ReadModifyWrite,
        };
        let isolation = isolation_setup(options, setting.engine)?;
        Ok(Self {
            variant,
            isolation,
            table: Counters {
                rows: options.count("rows"),
                has_ledger: options.boolean("ledger"),
                dialect: setting.engine.dialect(),
            },
            log: Arc::default(),
        })
    }

    /// Pairs of transactions that committed on top of the same value of the same row.
    fn witnesses(&self, opens: u64) -> (u64, Vec<LostUpdateWitness>) {
        let mut log = lock(&self.log);
        log.sort_unstable_by_key(|entry| entry.committed_at);
        let mut first: HashMap<(i64, i64), Entry> = HashMap::with_capacity(log.len());
        let (mut witnessed, mut examples) = (0, Vec::new());
        let witness = |entry: &Entry| WitnessedTransaction {
            client: entry.client,
            sequence: entry.sequence,
            committed_at: entry.committed_at as i64 - opens as i64,
        };
        for entry in log.iter() {
            let earlier = *first.entry((entry.row, entry.value_read)).or_insert(*entry);
            if (earlier.client, earlier.sequence) == (entry.client, entry.sequence) {
                continue;
            }
            witnessed += 1;
            if examples.len() < EXAMPLES {
                examples.push(LostUpdateWitness {
                    row: entry.row,
                    value_read: entry.value_read,
                    first: witness(&earlier),
                    second: witness(entry),
                });
            }
        }
        (witnessed, examples)
    }
}

impl Workload for Rush {
    type Client = RushClient;
    type Baseline = i64;

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select", "update"]
    }

    fn session_setup(&self) -> Vec<String> {
        self.isolation.iter().cloned().collect()
    }

    fn keeps_ledger(&self) -> bool {
        self.table.has_ledger
    }

    fn begin(&self) -> Option<&'static str> {
        match self.variant {
            Variant::InPlace => None,
            Variant::ForUpdate => Some(self.table.dialect.begin_to_write),
            Variant::ReadModifyWrite | Variant::Optimistic => Some("BEGIN"),
        }
    }

    fn statements(&self) -> Vec<StatementText> {
        let lock =
            if self.variant == Variant::ForUpdate { self.table.dialect.row_lock } else { "" };
        let update = match self.variant {
            Variant::InPlace => "UPDATE rush SET c2 = c2 + 1 WHERE c1 = ?",
            Variant::Optimistic => "UPDATE rush SET c2 = ? WHERE c1 = ? AND c2 = ?",
            Variant::ReadModifyWrite | Variant::ForUpdate => "UPDATE rush SET c2 = ? WHERE c1 = ?",
        };
        vec![
            StatementText { sql: format!("SELECT c2 FROM rush WHERE c1 = ?{lock}"), kind_index: 0 },
            StatementText { sql: update.to_owned(), kind_index: 1 },
        ]
    }

    fn data(&self) -> &dyn DataSet {
        &self.table
    }

    fn client(&self, id: ClientId) -> RushClient {
        RushClient { id, entries: Vec::new(), log: Arc::clone(&self.log) }
    }

    async fn transaction(
        &self,
        client: &mut RushClient,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let row = random.between(1, self.table.rows as i64);
        if self.variant == Variant::InPlace {
            session.run(UPDATE, &[Value::Integer(row)]).await?;
            return Ok(());
        }
        session.begin().await?;
        let mut found = FirstInteger::default();
        session.execute(SELECT, &[Value::Integer(row)], &mut found).await?;
        let value = found.0.ok_or_else(|| {
            FailureKind::BadStatement.failure(format!("table rush has no row with c1 = {row}"))
        })?;
        let next = Value::Integer(value + 1);
        if self.variant == Variant::Optimistic {
            let outcome =
                session.run(UPDATE, &[next, Value::Integer(row), Value::Integer(value)]).await?;
            if outcome.affected == 0 {
                return Err(FailureKind::Conflict.failure("the counter changed since it was read"));
            }
        } else {
            session.run(UPDATE, &[next, Value::Integer(row)]).await?;
        }
        session.commit().await?;
        // Any client may fill the log; excess entries are dropped when the parts are merged.
        if client.entries.len() < LOG_MAX / 8 {
            let (client_id, committed_at) = (client.id.0, session.last_end());
            client.entries.push(Entry {
                row,
                value_read: value,
                client: client_id,
                sequence,
                committed_at,
            });
        }
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<i64, OperationFailure> {
        scalar(connection, "SELECT SUM(c2) FROM rush").await
    }

    fn export_counts(&self) -> Vec<u64> {
        let numbers = |it: &Entry| {
            let Entry { row, value_read, client, sequence, committed_at } = *it;
            [row as u64, value_read as u64, client.into(), sequence, committed_at]
        };
        lock(&self.log).iter().flat_map(numbers).collect()
    }

    fn import_counts(&self, exported: &[u64]) {
        let mut log = lock(&self.log);
        let room = LOG_MAX.saturating_sub(log.len());
        let (entries, _) = exported.as_chunks();
        log.extend(entries.iter().take(room).map(
            |&[row, value_read, client, sequence, committed_at]| Entry {
                row: row as i64,
                value_read: value_read as i64,
                client: client as u32,
                sequence,
                committed_at,
            },
        ));
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, i64>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let sum_after = scalar(connection, "SELECT SUM(c2) FROM rush").await?;
        let (witnessed, examples) = self.witnesses(facts.opens);
        Ok(vec![AuditCheck::LostUpdates {
            committed: facts.totals.committed,
            in_doubt: facts.uncertain(),
            sum_before: facts.baseline,
            sum_after,
            witnessed,
            examples,
        }])
    }
}

impl DataSet for Counters {
    fn fingerprint(&self) -> String {
        format!("rush rows={} ledger={}", self.rows, self.has_ledger)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let create = "CREATE TABLE rush (c1 INTEGER NOT NULL PRIMARY KEY, c2 INTEGER NOT NULL)";
        let counters = TableDefinition::new("rush", create, ["c1", "c2"], self.rows);
        std::iter::once(counters).chain(self.has_ledger.then(commit_ledger::table)).collect()
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(row as i64 + 1);
        out.integer(0);
    }
}

//! `bulk_insert`: each client fills its own table with multi-row INSERTs.
//!
//! A transaction is either one INSERT of a given number of rows, or, as in sysbench, one row: rows
//! are buffered until their INSERT would exceed 512 KiB, so most transactions send nothing.

use super::contract::{AuditFacts, Workload, WorkloadContext, row_count};
use super::sbtest::{integer, row_counts};
use crate::client_id::ClientId;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::Session;
use dyno_drivers::Connection;
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::failure::OperationFailure;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: "bulk_insert",
        summary: "Each client appends rows to a separate table with multi-row INSERTs; one \
                  transaction is one INSERT.",
        audit: "The number of rows in all tables must have increased by the rows of all \
                acknowledged INSERTs.",
        options: vec![integer(
            "rows_per_insert",
            0,
            100_000,
            1_000,
            "rows per INSERT; 0: as in sysbench, a transaction is a row, and an INSERT is sent \
             every 512 KiB",
        )],
    }
}

/// Longest INSERT when a transaction is a row.
const PACKET: usize = 512 << 10;

/// The workload `bulk_insert`.
pub struct BulkInsert {
    /// 0: a transaction is a row.
    rows_per_insert: u64,
    tables: OwnTables,
    /// Rows of INSERTs that were sent.
    sent: AtomicU64,
    /// Rows of those that were acknowledged.
    written: AtomicU64,
}

struct OwnTables {
    clients: u32,
}

impl BulkInsert {
    pub(super) fn build(options: &WorkloadOptions, setting: WorkloadContext) -> Self {
        let tables = OwnTables { clients: setting.clients };
        let rows_per_insert = options.count("rows_per_insert");
        Self { rows_per_insert, tables, sent: AtomicU64::new(0), written: AtomicU64::new(0) }
    }
}

/// State of one client.
pub struct BulkInsertClient {
    table: u32,
    sql: String,
    rows: u64,
}

impl BulkInsertClient {
    fn begin(&mut self) {
        self.sql.clear();
        self.rows = 0;
        let _ = write!(self.sql, "INSERT INTO sbtest{} (id, k) VALUES ", self.table);
    }

    fn push(&mut self, id: u64) {
        let separator = if self.rows == 0 { "" } else { "," };
        let _ = write!(self.sql, "{separator}({id},{id})");
        self.rows += 1;
    }
}

/// Characters that a row takes, with its comma.
fn length(id: u64) -> usize {
    2 * (id.checked_ilog10().unwrap_or(0) as usize + 1) + 4
}

impl BulkInsert {
    /// Sends the buffered rows. Rows that the server rejects stay buffered for another attempt.
    async fn send(
        &self,
        client: &mut BulkInsertClient,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        self.sent.fetch_add(client.rows, Ordering::Relaxed);
        match session.text(0, &client.sql).await {
            Ok(_) => {
                self.written.fetch_add(client.rows, Ordering::Relaxed);
                client.rows = 0;
                Ok(())
            }
            Err(failure) => {
                if failure.leaves_doubt() {
                    // The rows may be in the table. Another attempt would then fail on them
                    // indefinitely.
                    client.rows = 0;
                } else {
                    self.sent.fetch_sub(client.rows, Ordering::Relaxed);
                }
                Err(failure)
            }
        }
    }
}

impl Workload for BulkInsert {
    type Client = BulkInsertClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["insert"]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &self.tables
    }

    fn client(&self, id: ClientId) -> BulkInsertClient {
        BulkInsertClient { table: id.0 + 1, sql: String::new(), rows: 0 }
    }

    async fn transaction(
        &self,
        client: &mut BulkInsertClient,
        sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        if self.rows_per_insert == 0 {
            let id = sequence + 1;
            if client.rows > 0 && client.sql.len() + length(id) > PACKET {
                self.send(client, session).await?;
            }
            if client.rows == 0 {
                client.begin();
            }
            client.push(id);
            return Ok(());
        }
        client.begin();
        let first = sequence * self.rows_per_insert + 1;
        (first..first + self.rows_per_insert).for_each(|id| client.push(id));
        self.send(client, session).await
    }

    async fn finish(
        &self,
        client: &mut BulkInsertClient,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        if self.rows_per_insert == 0 && client.rows > 0 {
            self.send(client, session).await?;
        }
        Ok(())
    }

    fn export_counts(&self) -> Vec<u64> {
        vec![self.sent.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed)]
    }

    fn import_counts(&self, exported: &[u64]) {
        for (counter, count) in [&self.sent, &self.written].into_iter().zip(exported) {
            counter.fetch_add(*count, Ordering::Relaxed);
        }
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let found = row_counts(connection, self.tables.clients.into()).await?.iter().sum();
        // Rows that were sent and not acknowledged may or may not be in the table.
        let expected = self.written.load(Ordering::Relaxed)..=self.sent.load(Ordering::Relaxed);
        Ok(vec![row_count(format!("sbtest1..{}", self.tables.clients), expected, found)])
    }
}

impl DataSet for OwnTables {
    fn fingerprint(&self) -> String {
        format!("bulk_insert clients={}", self.clients)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        (1..=self.clients)
            .map(|number| {
                let create = format!(
                    "CREATE TABLE sbtest{number} (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
                     PRIMARY KEY (id))"
                );
                TableDefinition::new(format!("sbtest{number}"), create, ["id", "k"], 0)
            })
            .collect()
    }
}

//! `bulk_insert`: each client fills a table of its own with multi-row INSERTs.

use super::sbtest::integer;
use super::{AuditFacts, ClientId, DataSet, Setting, StatementText, TableDefinition, Workload, scalar};
use crate::random::Random;
use crate::session::Session;
use dyno_drivers::{Connection, RowWriter};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Engine;
use std::fmt::Write;

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: "bulk_insert",
        summary: "Each client appends rows to a table of its own with multi-row INSERTs; one transaction is one INSERT.",
        audit: "All tables together must have grown by rows_per_insert rows per committed transaction.",
        options: vec![integer(
            "rows_per_insert",
            1,
            100_000,
            1_000,
            "rows per INSERT; sysbench fills 512 KiB",
        )],
    }
}

/// The workload `bulk_insert`.
pub struct BulkInsert {
    rows_per_insert: u64,
    tables: OwnTables,
}

struct OwnTables {
    engine: Engine,
    clients: u32,
}

impl BulkInsert {
    pub(super) fn build(options: &WorkloadOptions, setting: Setting) -> Self {
        let tables = OwnTables { engine: setting.engine, clients: setting.clients };
        Self { rows_per_insert: options.count("rows_per_insert"), tables }
    }
}

/// State of one client.
pub struct BulkInsertClient {
    table: u32,
    sql: String,
}

impl Workload for BulkInsert {
    type Client = BulkInsertClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["insert"]
    }

    fn statements(&self) -> Vec<StatementText> {
        Vec::new()
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &self.tables
    }

    fn client(&self, id: ClientId) -> BulkInsertClient {
        BulkInsertClient { table: id.0 + 1, sql: String::new() }
    }

    async fn transaction(
        &self,
        client: &mut BulkInsertClient,
        sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        client.sql.clear();
        let _ = write!(client.sql, "INSERT INTO sbtest{} (id, k) VALUES ", client.table);
        let first = sequence * self.rows_per_insert + 1;
        for id in first..first + self.rows_per_insert {
            let separator = if id == first { "" } else { "," };
            let _ = write!(client.sql, "{separator}({id},{id})");
        }
        session.text(0, &client.sql).await?;
        Ok(())
    }

    async fn baseline(&self, _connection: &mut Connection) -> Result<(), OperationFailure> {
        Ok(())
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let mut found = 0;
        for table in 1..=self.tables.clients {
            found += scalar(connection, &format!("SELECT COUNT(*) FROM sbtest{table}")).await?.unsigned_abs();
        }
        let expected = facts.totals.committed * self.rows_per_insert;
        let open = (facts.totals.in_doubt + facts.totals.unfinished()) * self.rows_per_insert;
        Ok(vec![AuditCheck::RowCount {
            table: format!("sbtest1..{}", self.tables.clients),
            expected_min: expected,
            expected_max: expected + open,
            found,
        }])
    }
}

impl DataSet for OwnTables {
    fn fingerprint(&self) -> String {
        format!("bulk_insert clients={}", self.clients)
    }

    fn is_reusable(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let options = if self.engine == Engine::Mysql { " ENGINE = InnoDB" } else { "" };
        (1..=self.clients)
            .map(|number| TableDefinition {
                name: format!("sbtest{number}"),
                create: format!(
                    "CREATE TABLE sbtest{number} (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
                     PRIMARY KEY (id)){options}"
                ),
                columns: vec!["id", "k"],
                rows: 0,
                indexes: Vec::new(),
            })
            .collect()
    }

    fn row(&self, _table: usize, _row: u64, _out: &mut dyn RowWriter) {}
}

//! Sets of rows with and without a temporary table: `temp-table-select` against `in-list-select`, and `temp-table-update` against
//! `row-by-row-update`, on table `dbatest`.
//!
//! Each transaction draws distinct random rows. One way puts their ids into a temporary table and joins it, the other names each id:
//! in one IN list for reading, in one prepared UPDATE per row for writing. An update adds 10 to c1 and 10,000 to c2 of every row it
//! touches, so that the sums of both columns tell how many rows were really changed.

use super::sbtest::integer;
use super::{AuditFacts, ClientId, DataSet, Setting, StatementText, TableDefinition, Workload, scalar};
use crate::random::Random;
use crate::session::Session;
use dyno_drivers::{Connection, RowWriter, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Engine;
use std::fmt::Write;

/// What an update adds to c1 of each row.
const STEP_C1: u64 = 10;
/// What an update adds to c2 of each row.
const STEP_C2: u64 = 10_000;
/// Characters of c3: with its 95 bytes a row of ten million takes 128 bytes on InnoDB, as in the published study.
const C3_LENGTH: usize = 95;

const SELECT_AUDIT: &str = "The table must still have its rows, with the same sums of c1 and c2.";
const UPDATE_AUDIT: &str = "The sums of c1 and c2 must have grown by 10 and 10,000 for each row of each committed transaction.";

/// Either way of either job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    TempTableSelect,
    InListSelect,
    TempTableUpdate,
    RowByRowUpdate,
}

const WAYS: [(Way, &str, &str, &str); 4] = [
    (
        Way::TempTableSelect,
        "temp-table-select",
        "Random ids go into a temporary table, which one SELECT joins.",
        SELECT_AUDIT,
    ),
    (Way::InListSelect, "in-list-select", "One SELECT with random ids in an IN list.", SELECT_AUDIT),
    (
        Way::TempTableUpdate,
        "temp-table-update",
        "Random ids go into a temporary table, which one UPDATE joins; a transaction.",
        UPDATE_AUDIT,
    ),
    (
        Way::RowByRowUpdate,
        "row-by-row-update",
        "One prepared UPDATE for each random id; a transaction.",
        UPDATE_AUDIT,
    ),
];

impl Way {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        WAYS.iter().find(|(_, known, ..)| *known == name).map(|(way, ..)| *way)
    }

    fn updates(self) -> bool {
        matches!(self, Self::TempTableUpdate | Self::RowByRowUpdate)
    }

    fn has_temporary_table(self) -> bool {
        matches!(self, Self::TempTableSelect | Self::TempTableUpdate)
    }
}

pub(super) fn descriptions() -> Vec<WorkloadDescription> {
    WAYS.iter()
        .map(|&(_, name, summary, audit)| WorkloadDescription {
            name,
            summary,
            audit,
            options: vec![
                integer("rows", 1, 2_000_000_000, 100_000, "rows of table dbatest; the published study had 10,000,105"),
                integer("touched", 1, 10_000, 20, "distinct random rows per transaction"),
            ],
        })
        .collect()
}

/// Kinds of statements.
const DROP: u16 = 0;
const CREATE: u16 = 1;
const FILL: u16 = 2;
const SELECT: u16 = 3;
const UPDATE: u16 = 4;

/// Any of the four workloads.
pub struct Dbatest {
    way: Way,
    engine: Engine,
    touched: usize,
    table: Table,
}

struct Table {
    rows: u64,
    engine: Engine,
}

impl Dbatest {
    pub(super) fn build(way: Way, options: &WorkloadOptions, setting: Setting) -> Result<Self, String> {
        let (rows, touched) = (options.count("rows"), options.count("touched"));
        if touched > rows {
            return Err(format!("touched = {touched} distinct rows cannot be drawn from rows = {rows}"));
        }
        let table = Table { rows, engine: setting.engine };
        Ok(Self { way, engine: setting.engine, touched: touched as usize, table })
    }

    /// Draws distinct ids in random order (Floyd's method would sort them; a transaction's few rows need no better than looking).
    fn draw(&self, random: &mut Random, ids: &mut Vec<i64>) {
        ids.clear();
        while ids.len() < self.touched {
            let id = random.between(1, self.table.rows as i64);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }

    /// Makes the client's temporary table anew and fills it with the ids.
    async fn fill_temporary_table(
        &self,
        client: &mut DbatestClient,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        session.text(DROP, &client.drop).await?;
        session.text(CREATE, &client.create).await?;
        client.sql.clear();
        let _ = write!(client.sql, "INSERT INTO {} (id) VALUES ", client.name);
        for (i, id) in client.ids.iter().enumerate() {
            let _ = write!(client.sql, "{}({id})", if i == 0 { "" } else { "," });
        }
        session.text(FILL, &client.sql).await?;
        Ok(())
    }

    /// The UPDATE that joins a temporary table, which every dialect writes in its own way.
    fn joined_update(&self, name: &str) -> String {
        match self.engine {
            Engine::Mysql | Engine::Null => format!(
                "UPDATE dbatest d JOIN {name} t ON d.i = t.id SET d.c1 = d.c1 + {STEP_C1}, d.c2 = d.c2 + {STEP_C2}"
            ),
            Engine::Postgres | Engine::Sqlite => format!(
                "UPDATE dbatest SET c1 = c1 + {STEP_C1}, c2 = c2 + {STEP_C2} FROM {name} t WHERE dbatest.i = t.id"
            ),
        }
    }
}

/// State of one client: its temporary table's statements, and room for ids and text.
pub struct DbatestClient {
    name: String,
    drop: String,
    create: String,
    joined: String,
    ids: Vec<i64>,
    sql: String,
}

impl Workload for Dbatest {
    type Client = DbatestClient;
    type Baseline = (i64, i64);

    fn kinds(&self) -> Vec<&'static str> {
        vec!["drop-temporary-table", "create-temporary-table", "fill-temporary-table", "select", "update"]
    }

    fn begin(&self) -> Option<&'static str> {
        match self.engine {
            // A transaction that reads first and writes then cannot be upgraded while another one writes.
            Engine::Sqlite => self.way.updates().then_some("BEGIN IMMEDIATE"),
            _ => self.way.updates().then_some("BEGIN"),
        }
    }

    fn statements(&self) -> Vec<StatementText> {
        if self.way != Way::RowByRowUpdate {
            return Vec::new();
        }
        let sql = format!("UPDATE dbatest SET c1 = c1 + {STEP_C1}, c2 = c2 + {STEP_C2} WHERE i = ?");
        vec![StatementText { sql, kind: UPDATE }]
    }

    fn data(&self) -> &dyn DataSet {
        &self.table
    }

    fn client(&self, id: ClientId) -> DbatestClient {
        let name = format!("ids_{}", id.0);
        let (drop, create) = match self.engine {
            Engine::Mysql | Engine::Null => (
                format!("DROP TEMPORARY TABLE IF EXISTS {name}"),
                format!("CREATE TEMPORARY TABLE {name} (id INTEGER NOT NULL PRIMARY KEY) ENGINE = MEMORY"),
            ),
            Engine::Postgres => (
                format!("DROP TABLE IF EXISTS pg_temp.{name}"),
                format!("CREATE TEMPORARY TABLE {name} (id INTEGER NOT NULL PRIMARY KEY)"),
            ),
            Engine::Sqlite => (
                format!("DROP TABLE IF EXISTS temp.{name}"),
                format!("CREATE TEMPORARY TABLE {name} (id INTEGER NOT NULL PRIMARY KEY)"),
            ),
        };
        let joined = match self.way {
            Way::TempTableUpdate => self.joined_update(&name),
            _ => format!("SELECT d.i, d.c1, d.c2 FROM dbatest d JOIN {name} t ON d.i = t.id"),
        };
        DbatestClient { name, drop, create, joined, ids: Vec::with_capacity(self.touched), sql: String::new() }
    }

    async fn transaction(
        &self,
        client: &mut DbatestClient,
        _sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        self.draw(random, &mut client.ids);
        if self.way.updates() {
            session.begin().await?;
        }
        match self.way {
            Way::TempTableSelect => {
                self.fill_temporary_table(client, session).await?;
                session.text(SELECT, &client.joined).await?;
            }
            Way::TempTableUpdate => {
                self.fill_temporary_table(client, session).await?;
                session.text(UPDATE, &client.joined).await?;
            }
            Way::InListSelect => {
                client.sql.clear();
                client.sql.push_str("SELECT i, c1, c2 FROM dbatest WHERE i IN (");
                for (i, id) in client.ids.iter().enumerate() {
                    let _ = write!(client.sql, "{}{id}", if i == 0 { "" } else { "," });
                }
                client.sql.push(')');
                session.text(SELECT, &client.sql).await?;
            }
            Way::RowByRowUpdate => {
                for id in &client.ids {
                    session.run(0, &[Value::Integer(*id)]).await?;
                }
            }
        }
        if self.way.updates() {
            session.commit().await?;
        }
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<(i64, i64), OperationFailure> {
        sums(connection).await
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, (i64, i64)>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let found = sums(connection).await?;
        let (sure, open) = if self.way.updates() {
            let open = facts.totals.in_doubt + facts.totals.unfinished();
            (facts.totals.committed * self.touched as u64, open * self.touched as u64)
        } else {
            (0, 0)
        };
        let check = |column: &str, before: i64, found: i64, step: u64| {
            let expected_min = before + (sure * step) as i64;
            AuditCheck::ColumnSum {
                table: "dbatest".to_owned(),
                column: column.to_owned(),
                expected_min,
                expected_max: expected_min + (open * step) as i64,
                found,
            }
        };
        let rows = scalar(connection, "SELECT COUNT(*) FROM dbatest").await?.unsigned_abs();
        Ok(vec![
            check("c1", facts.baseline.0, found.0, STEP_C1),
            check("c2", facts.baseline.1, found.1, STEP_C2),
            AuditCheck::RowCount {
                table: "dbatest".to_owned(),
                expected_min: self.table.rows,
                expected_max: self.table.rows,
                found: rows,
            },
        ])
    }
}

/// Sums of c1 and c2. As text on PostgreSQL `SUM` of bigint is numeric; the driver reads either.
async fn sums(connection: &mut Connection) -> Result<(i64, i64), OperationFailure> {
    let c1 = scalar(connection, "SELECT SUM(c1) FROM dbatest").await?;
    let c2 = scalar(connection, "SELECT SUM(c2) FROM dbatest").await?;
    Ok((c1, c2))
}

impl DataSet for Table {
    fn fingerprint(&self) -> String {
        format!("dbatest rows={}", self.rows)
    }

    /// Updates change values and no sizes; the audit compares with what it finds before.
    fn is_reusable(&self) -> bool {
        true
    }

    fn tables(&self) -> Vec<TableDefinition> {
        // c1 and c2 take 64 bits: ten thousand more with every update would leave 32 in a long run.
        let (id, options) = match self.engine {
            Engine::Mysql | Engine::Null => ("INTEGER NOT NULL AUTO_INCREMENT", " ENGINE = InnoDB"),
            Engine::Postgres | Engine::Sqlite => ("INTEGER NOT NULL", ""),
        };
        vec![TableDefinition {
            name: "dbatest".to_owned(),
            create: format!(
                "CREATE TABLE dbatest (i {id}, c1 BIGINT NOT NULL, c2 BIGINT NOT NULL, c3 VARCHAR(255) NOT NULL, \
                 PRIMARY KEY (i)){options}"
            ),
            columns: vec!["i", "c1", "c2", "c3"],
            rows: self.rows,
            indexes: Vec::new(),
        }]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(row as i64 + 1);
        out.integer(0);
        out.integer(0);
        let mut c3 = [0; C3_LENGTH];
        // Values do not matter, only their length; a function of the row keeps loads equal.
        let mut random = Random::new(1, crate::random::Stream::Data, 0, row);
        random.digits(&mut c3);
        out.text(super::sbtest::ascii(&c3));
    }
}

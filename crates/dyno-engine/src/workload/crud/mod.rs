//! `crud`: each client creates its own table, works on it, checks its contents, and drops it.
//!
//! The commands are those of a published comparison of one server with a cluster, in its order.
//! Statements are sent as text, because none can be prepared on a table that does not exist yet. If
//! an application runs in front of the database, the same commands are requests to it.

mod application;
mod command;

use command::{CHECK, CREATE, DELETE, DROP, INSERT, KINDS, SELECT, UPDATE};

use super::contract::{AfterFailure, AuditFacts, Workload, WorkloadContext, row_count};
use super::sbtest::{integer, storage_clause, storage_engine};
use crate::client_id::ClientId;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Driver, Outcome, Table};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{CRUD, WorkloadDescription, WorkloadOptions};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::Engine;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Mutex;

/// Maximum number of incorrect tables that an audit names.
const EXAMPLES: usize = 5;

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: CRUD,
        summary: "Each client creates a table, inserts, selects, updates and deletes rows, counts \
                  the remaining ones, and drops the table.",
        audit: "Before each DROP, the table must contain all rows inserted and not deleted, with \
                their updates; SELECT, UPDATE and DELETE must have found every row; no table may \
                remain.",
        options: vec![
            integer("rows", 1, 10_000, 10, "rows per INSERT; a DELETE removes half of them"),
            integer(
                "repetitions",
                1,
                10_000,
                1,
                "repetitions of INSERT, SELECT, UPDATE and DELETE per table, each on new rows",
            ),
            storage_engine(),
        ],
    }
}

/// The workload `crud`.
pub struct Crud {
    engine: Engine,
    rows: u64,
    repetitions: u64,
    tables: OwnTables,
    /// Observations of the clients, one lock per transaction.
    states: Mutex<TableStates>,
}

struct OwnTables {
    clients: u32,
    storage: String,
}

/// State of the clients' tables.
struct TableStates {
    /// Whether the table of each client exists.
    existence: Vec<TableExistence>,
    /// Rows that were in the tables before they were dropped.
    rows: Balance,
    /// Sums of column `value` in them.
    sum: Balance,
    /// Rows that SELECT, UPDATE and DELETE found.
    matched_rows: Balance,
    /// The first tables with incorrect contents.
    examples: Vec<AuditCheck>,
}

/// Whether a client's table exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableExistence {
    /// It was never created, or its DROP was acknowledged.
    Absent,
    /// Its CREATE was acknowledged, and no DROP was sent.
    Present,
    /// A CREATE or DROP was sent and not acknowledged.
    Unknown,
}

/// Expected and found values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Balance {
    expected: u64,
    found: u64,
}

impl Balance {
    fn add(&mut self, more: Self) {
        self.expected += more.expected;
        self.found += more.found;
    }

    fn rows(self, table: String) -> AuditCheck {
        let Self { expected, found } = self;
        row_count(table, expected..=expected, found)
    }

    fn values(self, table: String) -> AuditCheck {
        let signed = |sum: u64| i64::try_from(sum).unwrap_or(i64::MAX);
        let (expected, found) = (signed(self.expected), signed(self.found));
        let column = "value".to_owned();
        AuditCheck::ColumnSum {
            table,
            column,
            expected_min: expected,
            expected_max: expected,
            found,
        }
    }
}

/// State of one client.
pub struct CrudClient {
    /// From 0.
    id: usize,
    table: String,
    /// Buffer for the next SQL statement, or the address of an application's command.
    text: String,
    /// True when commands are sent to an application.
    asks_application: bool,
    /// The table may exist because of a statement sent on a connection that broke.
    is_in_doubt: bool,
}

/// The rows of one repetition, and those that its DELETE removes.
struct Batch {
    first: u64,
    last: u64,
    last_deleted: u64,
}

impl Crud {
    pub(super) fn build(options: &WorkloadOptions, setting: WorkloadContext) -> Self {
        let WorkloadContext { engine, clients, .. } = setting;
        let states = TableStates {
            existence: vec![TableExistence::Absent; clients as usize],
            rows: Balance::default(),
            sum: Balance::default(),
            matched_rows: Balance::default(),
            examples: Vec::new(),
        };
        let storage = storage_clause(engine.dialect(), options.text("mysql_storage_engine"));
        Self {
            engine,
            rows: options.count("rows"),
            repetitions: options.count("repetitions"),
            tables: OwnTables { clients, storage },
            states: Mutex::new(states),
        }
    }

    fn batch(&self, repetition: u64) -> Batch {
        let first = repetition * self.rows + 1;
        Batch {
            first,
            last: first + self.rows - 1,
            last_deleted: first + self.rows.div_ceil(2) - 1,
        }
    }

    /// Creates or drops the client's table.
    async fn define(
        &self,
        client: &mut CrudClient,
        session: &mut Session,
        kind_index: u16,
        after: TableExistence,
    ) -> Result<(), OperationFailure> {
        let before = std::mem::replace(
            &mut lock(&self.states).existence[client.id],
            TableExistence::Unknown,
        );
        let result = client.send(session, kind_index).await;
        match &result {
            Ok(_) => {
                lock(&self.states).existence[client.id] = after;
                client.is_in_doubt = false;
            }
            Err(failure) if failure.leaves_doubt() => client.is_in_doubt = true,
            Err(_) => lock(&self.states).existence[client.id] = before,
        }
        result.map(|_| ())
    }

    /// INSERT, SELECT, UPDATE and DELETE on the rows of one repetition; returns the number of rows
    /// that the last three found.
    async fn run_batch(
        &self,
        client: &mut CrudClient,
        session: &mut Session,
        batch: &Batch,
    ) -> Result<u64, OperationFailure> {
        let mut matched_rows = 0;
        for kind in [INSERT, SELECT, UPDATE, DELETE] {
            client.write(kind, batch);
            let outcome = client.send(session, kind).await?;
            matched_rows += match kind {
                INSERT => 0,
                SELECT => outcome.rows,
                _ => outcome.affected,
            };
        }
        Ok(matched_rows)
    }

    /// Compares the contents of a table after all repetitions with the expected ones.
    async fn check(
        &self,
        client: &mut CrudClient,
        sequence: u64,
        matched_rows: u64,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        let mut answer = Table::default();
        client.text.clear();
        if client.asks_application {
            application::address(CHECK, &client.table, None, &mut client.text);
            application::send_command(session, CHECK, &client.text, &mut answer).await?;
        } else {
            let sql = format!("SELECT COUNT(*), SUM(value) FROM {}", client.table);
            session
                .measure(CHECK, async |connection| connection.query(&sql, &mut answer).await)
                .await?;
        }
        let deleted = self.rows.div_ceil(2);
        let batches = (0..self.repetitions).map(|repetition| self.batch(repetition));
        let rows =
            Balance { expected: self.repetitions * (self.rows - deleted), found: answer.number(0) };
        let remaining = batches.flat_map(|batch| batch.last_deleted + 1..=batch.last);
        let sum = Balance { expected: remaining.map(|id| id + 1).sum(), found: answer.number(1) };
        let matched_rows =
            Balance { expected: self.repetitions * (2 * self.rows + deleted), found: matched_rows };

        let mut states = lock(&self.states);
        states.rows.add(rows);
        states.sum.add(sum);
        states.matched_rows.add(matched_rows);
        let whose = || format!("{} (transaction {})", client.table, sequence + 1);
        if states.examples.len() < EXAMPLES {
            if rows.expected != rows.found {
                states.examples.push(rows.rows(whose()));
            } else if sum.expected != sum.found {
                states.examples.push(sum.values(whose()));
            } else if matched_rows.expected != matched_rows.found {
                states.examples.push(matched_rows.rows(format!("{}, found by commands", whose())));
            }
        }
        Ok(())
    }
}

/// The table that a command drops.
#[derive(Clone, Copy)]
enum Dropped {
    /// The one that this attempt created.
    Own,
    /// A leftover of a failed attempt, which may not exist.
    Leftover,
}

impl CrudClient {
    /// Writes the command of a kind on the rows of one repetition into the buffer.
    fn write(&mut self, kind_index: u16, batch: &Batch) {
        let Self { table, text, .. } = self;
        let Batch { first, last, last_deleted } = batch;
        let last = if kind_index == DELETE { last_deleted } else { last };
        text.clear();
        if self.asks_application {
            return application::address(kind_index, table, Some((*first, *last)), text);
        }
        let _ = match kind_index {
            INSERT => {
                let _ = write!(text, "INSERT INTO {table} (id, value, note) VALUES ");
                (*first..=*last).try_for_each(|id| {
                    let separator = if id == *first { "" } else { ", " };
                    write!(text, "{separator}({id}, {id}, 'row {id} of {table}')")
                })
            }
            SELECT => write!(
                text,
                "SELECT id, value, note FROM {table} WHERE id BETWEEN {first} AND {last}"
            ),
            UPDATE => {
                write!(
                    text,
                    "UPDATE {table} SET value = value + 1 WHERE id BETWEEN {first} AND {last}"
                )
            }
            _ => write!(text, "DELETE FROM {table} WHERE id BETWEEN {first} AND {last}"),
        };
    }

    /// Writes the command that drops the table into the buffer.
    fn write_drop(&mut self, dropped: Dropped) {
        let Self { table, text, .. } = self;
        text.clear();
        if self.asks_application {
            application::address(DROP, table, None, text);
            text.push_str(match dropped {
                Dropped::Own => "",
                Dropped::Leftover => "&leftover=1",
            });
        } else {
            let condition = match dropped {
                Dropped::Own => "",
                Dropped::Leftover => "IF EXISTS ",
            };
            let _ = write!(text, "DROP TABLE {condition}{table}");
        }
    }

    /// Sends the buffer.
    async fn send(
        &self,
        session: &mut Session,
        kind_index: u16,
    ) -> Result<Outcome, OperationFailure> {
        match self.asks_application {
            true => {
                application::send_command(session, kind_index, &self.text, &mut Table::default())
                    .await
            }
            false => session.text(kind_index, &self.text).await,
        }
    }
}

impl OwnTables {
    fn name(number: u64) -> String {
        format!("crud_{number}")
    }

    fn names(&self) -> impl Iterator<Item = String> {
        (1..=u64::from(self.clients)).map(Self::name)
    }

    fn create(&self, table: &str, sql: &mut String) {
        let storage = &self.storage;
        let _ = write!(
            sql,
            "CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, value INTEGER NOT NULL, note VARCHAR(64) NOT NULL){storage}"
        );
    }
}

impl Workload for Crud {
    type Client = CrudClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        KINDS.to_vec()
    }

    fn examples(&self) -> Vec<StatementText> {
        let text = |kind_index, sql: &str| StatementText { sql: sql.to_owned(), kind_index };
        let mut create = String::new();
        self.tables.create("crud_1", &mut create);
        vec![
            text(CREATE, &create),
            text(
                INSERT,
                "INSERT INTO crud_1 (id, value, note) VALUES (1, 1, 'row 1 of crud_1'), (2, 2, ...)",
            ),
            text(SELECT, "SELECT id, value, note FROM crud_1 WHERE id BETWEEN 1 AND 10"),
            text(UPDATE, "UPDATE crud_1 SET value = value + 1 WHERE id BETWEEN 1 AND 10"),
            text(DELETE, "DELETE FROM crud_1 WHERE id BETWEEN 1 AND 5"),
            text(CHECK, "SELECT COUNT(*), SUM(value) FROM crud_1"),
            text(DROP, "DROP TABLE crud_1"),
        ]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &self.tables
    }

    fn client(&self, id: ClientId) -> CrudClient {
        let table = OwnTables::name(u64::from(id.0) + 1);
        let (id, text) = (id.0 as usize, String::new());
        CrudClient { id, table, text, asks_application: false, is_in_doubt: false }
    }

    async fn transaction(
        &self,
        client: &mut CrudClient,
        sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        client.asks_application = !session.target().engine.has_sql();
        // Leftover of a failed attempt.
        if lock(&self.states).existence[client.id] != TableExistence::Absent {
            client.write_drop(Dropped::Leftover);
            self.define(client, session, DROP, TableExistence::Absent).await?;
        }
        client.text.clear();
        match client.asks_application {
            true if !self.tables.storage.is_empty() => {
                let message = "the application creates its tables with the server's default \
                               storage engine; remove mysql_storage_engine";
                return Err(FailureKind::Unsupported.failure(message));
            }
            true => application::address(CREATE, &client.table, None, &mut client.text),
            false => self.tables.create(&client.table, &mut client.text),
        }
        self.define(client, session, CREATE, TableExistence::Present).await?;
        let mut matched_rows = 0;
        for repetition in 0..self.repetitions {
            matched_rows += self.run_batch(client, session, &self.batch(repetition)).await?;
        }
        self.check(client, sequence, matched_rows, session).await?;
        client.write_drop(Dropped::Own);
        self.define(client, session, DROP, TableExistence::Absent).await
    }

    /// A command sent on a broken connection may still be running when its client has reconnected,
    /// and may create or drop the table concurrently.
    fn after_failure(&self, client: &CrudClient, failure: &OperationFailure) -> AfterFailure {
        match failure.kind {
            FailureKind::BadStatement if client.is_in_doubt => AfterFailure::Continue,
            _ => AfterFailure::RetryPolicy,
        }
    }

    fn reason_not_distributable(&self) -> Option<&'static str> {
        Some("its audit compares what one process has seen")
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let mut names = Table::default();
        if self.engine.keeps_data() {
            connection.query(self.engine.dialect().user_tables, &mut names).await?;
        }
        let created: HashSet<String> = self.tables.names().collect();
        let names = names.0.into_iter().flatten().flatten();
        let found = names.filter(|name| created.contains(name)).count() as u64;
        let states = lock(&self.states);
        let tables = format!("crud_1..{}", self.tables.clients);
        let count =
            |existence| states.existence.iter().filter(|it| **it == existence).count() as u64;
        let (present, unknown) = (count(TableExistence::Present), count(TableExistence::Unknown));
        let mut checks = vec![
            states.rows.rows(format!("{tables}, before each DROP")),
            states.sum.values(tables.clone()),
            states.matched_rows.rows(format!("{tables}, found by SELECT, UPDATE and DELETE")),
            // Clients that were cut off leave their tables.
            row_count(format!("tables named {tables}"), present..=present + unknown, found),
        ];
        checks.extend(states.examples.iter().cloned());
        Ok(checks)
    }
}

impl DataSet for OwnTables {
    fn fingerprint(&self) -> String {
        format!("crud clients={}", self.clients)
    }

    fn tables(&self) -> Vec<TableDefinition> {
        self.names().map(|name| TableDefinition::new(name, "", [], 0)).collect()
    }
}

//! Sets of rows with and without a temporary table: `temp-table-select` against `in-list-select`,
//! and `temp-table-update` against `row-by-row-update`, on table `dbatest`.
//!
//! Each transaction draws distinct random rows. One variant puts their ids into a temporary table
//! and joins it, the other names each id: in one IN list for reading, in one prepared UPDATE per
//! row for writing. An update adds 10 to c1 and 10,000 to c2 of every row, so the sums of both
//! columns reveal how many rows were changed.
//!
//! Ids come in random order, as in the study that this workload reproduces, so updates of different
//! clients may deadlock. The victim is rolled back and retried with the same ids; its first attempt
//! must not contribute to the sums.

use super::contract::{AuditFacts, Workload, WorkloadContext, row_count};
use super::sbtest::{ascii, integer};
use crate::client_id::ClientId;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::{Random, Stream};
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Driver, RowWriter, Table, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::engine::{Dialect, JoinedUpdate, Numbering, TemporaryTables};
use dyno_model::failure::OperationFailure;
use std::collections::HashSet;
use std::fmt::{Display, Write};

/// What an update adds to c1 of each row.
const STEP_C1: u64 = 10;
/// What an update adds to c2 of each row.
const STEP_C2: u64 = 10_000;
/// Values of c1 and c2 before any update are below this.
const VALUES: u64 = 1_000_000;
/// Characters of c3. A row then takes 128 bytes of InnoDB's pages (with 80 characters a million
/// rows took 130.1 MB of MySQL 9.7's), as in the study, whose ten million rows took 1,283 MB.
const C3_LENGTH: usize = 78;
/// Prepared statement of `row-by-row-update`.
const UPDATE: usize = 0;

const SELECT_AUDIT: &str = "The table must have the same rows as before, with the same sums of c1 \
                            and c2.";
const UPDATE_AUDIT: &str = "The sums of c1 and c2 must have increased by 10 and 10,000 for each \
                            row of each committed transaction; transactions in doubt or cut off \
                            may have contributed or not.";

dyno_model::named! {
    /// The four combinations of task and method.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Variant {
        TempTableSelect = "temp-table-select",
        InListSelect = "in-list-select",
        TempTableUpdate = "temp-table-update",
        RowByRowUpdate = "row-by-row-update",
    }
}

/// Kinds of statements of the variants with a temporary table; the last kind of every variant is
/// the work itself.
const DROP: u16 = 0;
const CREATE: u16 = 1;
const FILL: u16 = 2;

impl Variant {
    fn summary(self) -> &'static str {
        match self {
            Self::TempTableSelect => {
                "Random ids are inserted into the client's recreated temporary table, and one SELECT \
                 joins it."
            }
            Self::InListSelect => "One SELECT with random ids in an IN list.",
            Self::TempTableUpdate => {
                "Random ids are inserted into the client's recreated temporary table, and one UPDATE \
                 joins it."
            }
            Self::RowByRowUpdate => {
                "One prepared UPDATE for each random id, all in one transaction."
            }
        }
    }

    fn is_update(self) -> bool {
        matches!(self, Self::TempTableUpdate | Self::RowByRowUpdate)
    }

    fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::TempTableSelect => {
                &["drop-temporary-table", "create-temporary-table", "fill", "select"]
            }
            Self::InListSelect => &["select"],
            Self::TempTableUpdate => {
                &["drop-temporary-table", "create-temporary-table", "fill", "update"]
            }
            Self::RowByRowUpdate => &["update"],
        }
    }

    /// Index of the statement that does the work.
    fn work_kind(self) -> u16 {
        (self.kinds().len() - 1) as u16
    }
}

pub(super) fn descriptions() -> Vec<WorkloadDescription> {
    let description = |variant: Variant| WorkloadDescription {
        name: variant.name(),
        summary: variant.summary(),
        audit: if variant.is_update() { UPDATE_AUDIT } else { SELECT_AUDIT },
        options: vec![
            integer(
                "rows",
                1,
                2_000_000_000,
                100_000,
                "rows of table dbatest; the study had 10,000,105",
            ),
            integer(
                "ids",
                1,
                10_000,
                20,
                "distinct random rows per transaction; the study had 20 and 1,000",
            ),
        ],
    };
    Variant::ALL.into_iter().map(description).collect()
}

/// Any of the four workloads.
pub struct Dbatest {
    variant: Variant,
    /// Rows per transaction.
    ids: usize,
    table: DbatestRows,
}

/// Table `dbatest`.
struct DbatestRows {
    count: u64,
    dialect: &'static Dialect,
    seed: u64,
}

impl Dbatest {
    pub(super) fn build(
        variant: Variant,
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Result<Self, String> {
        let (count, ids) = (options.count("rows"), options.count("ids"));
        if ids > count {
            return Err(format!(
                "workload.ids = {ids} distinct rows cannot be drawn from workload.rows = {count}"
            ));
        }
        let table = DbatestRows { count, dialect: setting.engine.dialect(), seed: setting.seed };
        Ok(Self { variant, ids: ids as usize, table })
    }

    /// Draws distinct ids in random order.
    fn draw(&self, random: &mut Random, client: &mut DbatestClient) {
        client.ids.clear();
        client.drawn.clear();
        while client.ids.len() < self.ids {
            let id = random.between(1, self.table.count as i64);
            if client.drawn.insert(id) {
                client.ids.push(id);
            }
        }
    }

    /// Recreates the client's temporary table and fills it with the ids.
    async fn fill(
        &self,
        client: &mut DbatestClient,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        session.text(DROP, &client.sql.drop).await?;
        session.text(CREATE, &client.sql.create).await?;
        client.text.clear();
        write_fill(&mut client.text, &client.sql.name, &client.ids);
        session.text(FILL, &client.text).await?;
        Ok(())
    }

    fn sql(&self, client: &dyn Display) -> Sql {
        let name = format!("ids_{client}");
        let TemporaryTables { drop, options, .. } = &self.table.dialect.temporary_tables;
        let joined = match (self.variant.is_update(), self.table.dialect.joined_update) {
            (true, JoinedUpdate::Join) => format!(
                "UPDATE dbatest d JOIN {name} t ON d.i = t.id SET d.c1 = d.c1 + {STEP_C1}, d.c2 = d.c2 + {STEP_C2}"
            ),
            (true, JoinedUpdate::From) => format!(
                "UPDATE dbatest SET c1 = c1 + {STEP_C1}, c2 = c2 + {STEP_C2} FROM {name} t WHERE dbatest.i = t.id"
            ),
            (false, _) => {
                format!("SELECT d.i, d.c1, d.c2 FROM dbatest d JOIN {name} t ON d.i = t.id")
            }
        };
        Sql {
            drop: format!("{drop}{name}"),
            create: format!(
                "CREATE TEMPORARY TABLE {name} (id INTEGER NOT NULL PRIMARY KEY){options}"
            ),
            joined,
            name,
        }
    }
}

fn write_fill(text: &mut String, name: &str, ids: &[impl Display]) {
    let _ = write!(text, "INSERT INTO {name} (id) VALUES ");
    for (i, id) in ids.iter().enumerate() {
        let _ = write!(text, "{}({id})", if i == 0 { "" } else { "," });
    }
}

fn write_select(text: &mut String, ids: &[impl Display]) {
    text.push_str("SELECT i, c1, c2 FROM dbatest WHERE i IN (");
    for (i, id) in ids.iter().enumerate() {
        let _ = write!(text, "{}{id}", if i == 0 { "" } else { "," });
    }
    text.push(')');
}

/// Statements on a client's temporary table.
struct Sql {
    name: String,
    drop: String,
    create: String,
    /// The SELECT or UPDATE that joins it.
    joined: String,
}

/// State of one client.
pub struct DbatestClient {
    sql: Sql,
    ids: Vec<i64>,
    /// The same ids as a set.
    drawn: HashSet<i64>,
    /// Buffer for a statement.
    text: String,
}

impl Workload for Dbatest {
    type Client = DbatestClient;
    type Baseline = Contents;

    fn kinds(&self) -> Vec<&'static str> {
        self.variant.kinds().to_vec()
    }

    /// Several UPDATEs form one transaction. With a temporary table only one statement changes rows
    /// and commits by itself; but on PostgreSQL and SQLite, creating the temporary table is
    /// transactional as well, and without an explicit transaction each of its statements would
    /// commit, on PostgreSQL with a write to disk.
    fn begin(&self) -> Option<&'static str> {
        let dialect = self.table.dialect;
        match self.variant {
            Variant::InListSelect => None,
            Variant::RowByRowUpdate => Some(dialect.begin_to_write),
            _ if !dialect.temporary_tables.are_transactional => None,
            Variant::TempTableUpdate => Some(dialect.begin_to_write),
            Variant::TempTableSelect => Some("BEGIN"),
        }
    }

    fn statements(&self) -> Vec<StatementText> {
        if self.variant != Variant::RowByRowUpdate {
            return Vec::new();
        }
        let sql =
            format!("UPDATE dbatest SET c1 = c1 + {STEP_C1}, c2 = c2 + {STEP_C2} WHERE i = ?");
        vec![StatementText { sql, kind_index: self.variant.work_kind() }]
    }

    fn examples(&self) -> Vec<StatementText> {
        let text = |kind_index, sql| StatementText { sql, kind_index };
        let sql = self.sql(&"CLIENT");
        let ids = ["?", "?", "..."];
        let mut list = String::new();
        match self.variant {
            Variant::RowByRowUpdate => self.statements(),
            Variant::InListSelect => {
                write_select(&mut list, &ids);
                vec![text(self.variant.work_kind(), list)]
            }
            Variant::TempTableSelect | Variant::TempTableUpdate => {
                write_fill(&mut list, &sql.name, &ids[..2]);
                list.push_str(",...");
                vec![
                    text(DROP, sql.drop),
                    text(CREATE, sql.create),
                    text(FILL, list),
                    text(self.variant.work_kind(), sql.joined),
                ]
            }
        }
    }

    fn data(&self) -> &dyn DataSet {
        &self.table
    }

    fn client(&self, id: ClientId) -> DbatestClient {
        DbatestClient {
            sql: self.sql(&id.0),
            ids: Vec::with_capacity(self.ids),
            drawn: HashSet::with_capacity(self.ids),
            text: String::new(),
        }
    }

    async fn transaction(
        &self,
        client: &mut DbatestClient,
        _sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        self.draw(random, client);
        let begins = self.begin().is_some();
        if begins {
            session.begin().await?;
        }
        match self.variant {
            Variant::InListSelect => {
                client.text.clear();
                write_select(&mut client.text, &client.ids);
                session.text(self.variant.work_kind(), &client.text).await?;
            }
            Variant::RowByRowUpdate => {
                for id in &client.ids {
                    session.run(UPDATE, &[Value::Integer(*id)]).await?;
                }
            }
            Variant::TempTableSelect | Variant::TempTableUpdate => {
                self.fill(client, session).await?;
                session.text(self.variant.work_kind(), &client.sql.joined).await?;
            }
        }
        if begins {
            session.commit().await?;
        }
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<Contents, OperationFailure> {
        Contents::read(connection).await
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Contents>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let found = Contents::read(connection).await?;
        let changed = |transactions: u64| match self.variant.is_update() {
            true => transactions * self.ids as u64,
            false => 0,
        };
        let sure = changed(facts.totals.committed);
        let open = changed(facts.uncertain());
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
        Ok(vec![
            check("c1", facts.baseline.c1, found.c1, STEP_C1),
            check("c2", facts.baseline.c2, found.c2, STEP_C2),
            row_count("dbatest", self.table.count..=self.table.count, found.rows),
        ])
    }
}

/// Values that the audit compares: number of rows, and the sums of both columns.
#[derive(Default)]
pub struct Contents {
    rows: u64,
    c1: i64,
    c2: i64,
}

impl Contents {
    /// Reads them in one pass over the table.
    async fn read(connection: &mut Connection) -> Result<Self, OperationFailure> {
        let mut table = Table::default();
        connection.query("SELECT COUNT(*), SUM(c1), SUM(c2) FROM dbatest", &mut table).await?;
        Ok(Self { rows: table.number(0), c1: table.number(1), c2: table.number(2) })
    }
}

impl DataSet for DbatestRows {
    fn fingerprint(&self) -> String {
        format!("dbatest rows={} seed={}", self.count, self.seed)
    }

    /// Updates change values but no sizes; the audit compares with the values before the trial.
    fn is_reusable(&self) -> bool {
        true
    }

    fn tables(&self) -> Vec<TableDefinition> {
        // c1 and c2 take 64 bits: with ten thousand more at every update a long run would overflow
        // the 32 bits of the study.
        let number =
            if self.dialect.numbering == Numbering::AutoIncrement { " AUTO_INCREMENT" } else { "" };
        let create = format!(
            "CREATE TABLE dbatest (i INTEGER NOT NULL{number}, c1 BIGINT NOT NULL, c2 BIGINT NOT NULL, c3 VARCHAR(255) NOT NULL, \
             PRIMARY KEY (i))"
        );
        vec![TableDefinition::new("dbatest", create, ["i", "c1", "c2", "c3"], self.count)]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        let mut random = Random::new(self.seed, Stream::Data, 0, row);
        out.integer(row as i64 + 1);
        out.integer(random.below(VALUES) as i64);
        out.integer(random.below(VALUES) as i64);
        let mut c3 = [0; C3_LENGTH];
        random.digits(&mut c3);
        out.text(ascii(&c3));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::engine::Engine;

    fn workload(variant: Variant, rows: i64, ids: i64) -> Result<Dbatest, String> {
        let description =
            descriptions().into_iter().find(|known| known.name == variant.name()).unwrap();
        let mut options = description.defaults();
        for (name, value) in [("rows", rows), ("ids", ids)] {
            options.0.insert(name.to_owned(), dyno_model::catalog::OptionValue::Integer(value));
        }
        Dbatest::build(
            variant,
            &options,
            WorkloadContext { engine: Engine::Sqlite, clients: 1, seed: 1 },
        )
    }

    #[test]
    fn ids_are_distinct_and_every_attempt_draws_the_same() {
        let workload = workload(Variant::InListSelect, 30, 30).unwrap();
        let drawn = || {
            let mut client = workload.client(ClientId(0));
            workload.draw(&mut Random::new(1, Stream::Transaction, 0, 5), &mut client);
            client.ids
        };
        let mut ids = drawn();
        assert_eq!(ids, drawn());
        assert!(!ids.is_sorted(), "they come in random order");
        ids.sort_unstable();
        assert_eq!(ids, (1..=30).collect::<Vec<_>>());
    }

    #[test]
    fn more_ids_than_rows_are_refused() {
        let refused = workload(Variant::TempTableUpdate, 10, 11).err().unwrap();
        assert!(
            refused.contains("workload.ids = 11") && refused.contains("workload.rows = 10"),
            "{refused}"
        );
    }

    #[test]
    fn all_ways_share_one_data_set() {
        let fingerprints =
            Variant::ALL.map(|variant| workload(variant, 50, 20).unwrap().data().fingerprint());
        assert!(
            fingerprints.iter().all(|fingerprint| *fingerprint == fingerprints[0]),
            "{fingerprints:?}"
        );
    }
}

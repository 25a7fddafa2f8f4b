//! `mass-insert`: clients insert rows about people into one growing table, until it reaches the
//! number of rows of the stop rule.
//!
//! The table is that of a published study of disk bottlenecks, with rows of about 70 bytes;
//! addresses and names are random letters of that length. The workload shows how the rate decreases
//! with the size: while data and indexes fit into the cache, the processor is the bottleneck, then
//! the disk. The relevant result is therefore throughput by rows, not the mean of the trial.

use super::contract::{AuditFacts, Workload, WorkloadContext, count_rows, row_count};
use super::sbtest::{choice, integer};
use crate::client_id::ClientId;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, RowWriter, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{Growth, WorkloadDescription, WorkloadOptions};
use dyno_model::engine::{Dialect, Numbering, Partitioning};
use dyno_model::failure::OperationFailure;

const INDEXES: &[&str] = &["none", "email"];
const ROW_FORMATS: &[&str] = &["default", "dynamic", "compact", "compressed"];
/// Letters of a name; with the domain an address has 30 characters, so that a row takes the 70
/// bytes of the published study.
const NAME_LENGTH: usize = 16;
const DOMAIN: &[u8] = b"@mail.example";

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: "mass-insert",
        summary: "Clients insert rows with an e-mail address and a name into one growing table.",
        audit: "The number of rows must have increased by rows_per_insert per committed \
                transaction.",
        options: vec![
            integer("rows_per_insert", 1, 10_000, 1, "rows per INSERT, which commits by itself"),
            integer(
                "partitions",
                0,
                1_024,
                0,
                "partitions by the hash of the key; 0: none (MySQL family and PostgreSQL)",
            ),
            choice("row_format", ROW_FORMATS, "InnoDB's row format (MySQL family)"),
            integer(
                "key_block_size",
                0,
                16,
                0,
                "KiB of a compressed page; 0: the server's default (row_format = \"compressed\")",
            ),
            choice(
                "index",
                INDEXES,
                "a second index, on the random e-mail address, whose pages are accessed in random \
                 order",
            ),
            integer("rows", 0, 2_000_000_000, 0, "rows loaded before the clients start"),
        ],
    }
}

/// The workload `mass-insert`.
pub struct MassInsert {
    rows_per_insert: usize,
    table: People,
}

/// A trial leaves its rows behind, and the size is the subject of the study, so no trial reuses a
/// table.
struct People {
    dialect: &'static Dialect,
    rows: u64,
    partitions: u64,
    is_indexed: bool,
    /// Clause after the table's definition (MySQL family).
    storage: String,
}

impl MassInsert {
    pub(super) fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Result<Self, String> {
        let partitions = options.count("partitions");
        let row_format = options.text("row_format");
        let key_block_size = options.count("key_block_size");
        let dialect = setting.engine.dialect();
        if dialect.partitioning == Partitioning::Missing && partitions > 0 {
            let products = setting.engine.traits().products;
            return Err(format!("{products} does not support partitions; remove `partitions`"));
        }
        if !dialect.has_storage_engines && row_format != "default" {
            return Err(format!(
                "row_format = \"{row_format}\" is specific to InnoDB; remove it for {}",
                setting.engine
            ));
        }
        if key_block_size > 0 && row_format != "compressed" {
            return Err("key_block_size needs row_format = \"compressed\"".to_owned());
        }
        let mut storage = String::new();
        if row_format != "default" {
            storage = format!(" ENGINE = InnoDB ROW_FORMAT = {}", row_format.to_uppercase());
        }
        if key_block_size > 0 {
            storage.push_str(&format!(" KEY_BLOCK_SIZE = {key_block_size}"));
        }
        let is_indexed = options.text("index") == "email";
        let table =
            People { dialect, rows: options.count("rows"), partitions, is_indexed, storage };
        Ok(Self { rows_per_insert: options.count("rows_per_insert") as usize, table })
    }
}

/// An e-mail address, which begins with the name.
type Person = [u8; NAME_LENGTH + DOMAIN.len()];

fn draw_person(random: &mut Random) -> Person {
    let mut person = [0; NAME_LENGTH + DOMAIN.len()];
    let (name, domain) = person.split_at_mut(NAME_LENGTH);
    for letter in name {
        *letter = b'a' + random.below(26) as u8;
    }
    domain.copy_from_slice(DOMAIN);
    person
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("letters and a domain are ASCII")
}

impl Workload for MassInsert {
    /// Buffer for the characters of one INSERT's rows.
    type Client = Vec<Person>;
    type Baseline = u64;

    fn kinds(&self) -> Vec<&'static str> {
        vec!["insert"]
    }

    fn statements(&self) -> Vec<StatementText> {
        let rows = vec!["(?, ?)"; self.rows_per_insert].join(", ");
        vec![StatementText {
            sql: format!("INSERT INTO people (email, name) VALUES {rows}"),
            kind_index: 0,
        }]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &self.table
    }

    fn client(&self, _id: ClientId) -> Vec<Person> {
        Vec::with_capacity(self.rows_per_insert)
    }

    async fn transaction(
        &self,
        people: &mut Vec<Person>,
        _sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        people.clear();
        people.extend((0..self.rows_per_insert).map(|_| draw_person(random)));
        if let [person] = people.as_slice() {
            let row = [Value::Text(text(person)), Value::Text(text(&person[..NAME_LENGTH]))];
            session.run(0, &row).await?;
            return Ok(());
        }
        let mut fields = Vec::with_capacity(2 * self.rows_per_insert);
        for person in &*people {
            fields.extend([Value::Text(text(person)), Value::Text(text(&person[..NAME_LENGTH]))]);
        }
        session.run(0, &fields).await?;
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<u64, OperationFailure> {
        count_rows(connection, "people").await
    }

    fn growth(&self, baseline: &u64) -> Option<Growth> {
        Some(Growth { rows_before: *baseline, rows_per_transaction: self.rows_per_insert as u64 })
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, u64>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let found = count_rows(connection, "people").await?;
        let rows = self.rows_per_insert as u64;
        let least = facts.baseline + facts.totals.committed * rows;
        Ok(vec![row_count("people", least..=least + facts.uncertain() * rows, found)])
    }
}

impl DataSet for People {
    fn fingerprint(&self) -> String {
        let Self { rows, partitions, is_indexed, storage, .. } = self;
        format!("people rows={rows} partitions={partitions} indexed={is_indexed} storage={storage}")
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let columns = "email VARCHAR(128) NOT NULL, name VARCHAR(32) NOT NULL";
        let partitions = self.partitions;
        let (number, key) = match self.dialect.numbering {
            Numbering::AutoIncrement => ("INTEGER NOT NULL AUTO_INCREMENT", ", PRIMARY KEY (no)"),
            Numbering::Sequence => ("SERIAL", ", PRIMARY KEY (no)"),
            Numbering::RowNumber => ("INTEGER PRIMARY KEY", ""),
        };
        let mut create =
            format!("CREATE TABLE people (no {number}, {columns}{key}){}", self.storage);
        match self.dialect.partitioning {
            Partitioning::Clause if partitions > 0 => {
                create.push_str(&format!(" PARTITION BY KEY (no) PARTITIONS {partitions}"));
            }
            Partitioning::Tables if partitions > 0 => {
                create.push_str(" PARTITION BY HASH (no)");
                for part in 0..partitions {
                    create.push_str(&format!(
                        "; CREATE TABLE people_{part} PARTITION OF people FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
                    ));
                }
            }
            Partitioning::Clause | Partitioning::Tables | Partitioning::Missing => {}
        }
        let index = "CREATE INDEX people_email ON people (email)".to_owned();
        vec![TableDefinition {
            indexes: self.is_indexed.then_some(index).into_iter().collect(),
            ..TableDefinition::new("people", create, ["email", "name"], self.rows)
        }]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        let mut random = Random::new(1, crate::random::Stream::Data, 0, row);
        let person = draw_person(&mut random);
        out.text(text(&person));
        out.text(text(&person[..NAME_LENGTH]));
    }
}

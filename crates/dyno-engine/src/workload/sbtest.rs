//! The sbtest tables: schema and rows as in sysbench, so that either program can use the other's
//! tables.

use super::contract::count_rows;
use crate::commit_ledger;
use crate::data_set::{DataSet, TableDefinition};
use crate::distribution::Distribution;
use crate::random::{Random, Stream};
use dyno_drivers::{Connection, RowWriter};
use dyno_model::catalog::{OptionDescription, OptionKind, OptionValue, WorkloadOptions};
use dyno_model::engine::{Dialect, Engine, Numbering};
use dyno_model::failure::OperationFailure;

/// Characters of column `c`: ten groups of eleven digits.
pub(super) const C_LENGTH: usize = 119;
/// Characters of column `pad`: five groups.
pub(super) const PAD_LENGTH: usize = 59;

const DISTRIBUTIONS: &[&str] = &["uniform", "gaussian", "special", "pareto", "zipfian"];

/// Tables `sbtest1` to `sbtestN`.
#[derive(Debug, Clone)]
pub(super) struct Sbtest {
    pub(super) dialect: &'static Dialect,
    pub(super) tables: u64,
    pub(super) table_size: u64,
    pub(super) distribution: Distribution,
    pub(super) is_reusable: bool,
    pub(super) seed: u64,
    auto_inc: bool,
    create_secondary: bool,
    /// True when `id` has a non-unique index instead of a primary key.
    secondary: bool,
    /// Rows that are loaded; fewer than `table_size` only where the workload fills the tables
    /// itself.
    rows: u64,
    /// Number of transactions after which a client reconnects; 0: never.
    pub(super) reconnect: u64,
    pub(super) has_ledger: bool,
    storage_engine: String,
    create_table_options: String,
}

/// Whether commits leave rows in the commit ledger.
pub(super) fn ledger() -> OptionDescription {
    flag(
        "ledger",
        "each transaction also inserts its number into table dyno_ledger, so that the audit names \
         every acknowledged commit that was lost",
    )
}

/// The storage engine that keeps the tables.
pub(super) fn storage_engine() -> OptionDescription {
    OptionDescription {
        name: "mysql_storage_engine",
        kind: OptionKind::Text,
        default: OptionValue::Text(String::new()),
        help: "storage engine of the tables (MySQL family); default: that of the server",
    }
}

/// The clause after a table's definition that selects this storage engine.
pub(super) fn storage_clause(dialect: &Dialect, engine: &str) -> String {
    if engine.is_empty() || !dialect.has_storage_engines {
        String::new()
    } else {
        format!(" ENGINE = {engine}")
    }
}

/// Options of the tables, shared by all workloads on them.
pub(super) fn table_options() -> Vec<OptionDescription> {
    vec![
        integer("tables", 1, 10_000, 1, "number of tables, sbtest1 to sbtestN"),
        integer("table_size", 1, 2_000_000_000, 10_000, "rows per table"),
        flag_on("auto_inc", "id is AUTO_INCREMENT (SERIAL on PostgreSQL)"),
        flag_on("create_secondary", "an index on column k"),
        flag("secondary", "a non-unique index on column id, instead of the primary key"),
        integer(
            "reconnect",
            0,
            1_000_000_000,
            0,
            "number of transactions after which a client reconnects; 0: never",
        ),
        storage_engine(),
        OptionDescription {
            name: "create_table_options",
            kind: OptionKind::Text,
            default: OptionValue::Text(String::new()),
            help: "appended to CREATE TABLE",
        },
    ]
}

/// Options of the key distribution, named as sysbench names them.
pub(super) fn distribution_options() -> Vec<OptionDescription> {
    let number_option = |name, min, max, default, help| OptionDescription {
        name,
        kind: OptionKind::Number { min, max },
        default: OptionValue::Number(default),
        help,
    };
    vec![
        OptionDescription {
            name: "rand_type",
            kind: OptionKind::Choice(DISTRIBUTIONS),
            default: OptionValue::Text("uniform".to_owned()),
            help: "distribution of the keys (default in sysbench 1.0: special, in 1.1: uniform)",
        },
        integer(
            "rand_spec_iter",
            1,
            1000,
            12,
            "gaussian, special: number of uniform draws that are averaged",
        ),
        integer(
            "rand_spec_pct",
            0,
            100,
            1,
            "special: width of the hot range in per cent of the keys",
        ),
        integer("rand_spec_res", 0, 100, 75, "special: per cent of the draws from it"),
        number_option(
            "rand_pareto_h",
            0.000_1,
            0.999_9,
            0.2,
            "pareto: the lowest share h of the keys gets 1-h of the draws",
        ),
        number_option("rand_zipfian_exp", 0.0, 100.0, 0.8, "zipfian: exponent"),
    ]
}

pub(super) fn integer(
    name: &'static str,
    min: i64,
    max: i64,
    default: i64,
    help: &'static str,
) -> OptionDescription {
    let default = OptionValue::Integer(default);
    OptionDescription { name, kind: OptionKind::Integer { min, max }, default, help }
}

/// An option with these words as values; the first is the default.
pub(super) fn choice(
    name: &'static str,
    words: &'static [&'static str],
    help: &'static str,
) -> OptionDescription {
    let default = OptionValue::Text(words[0].to_owned());
    OptionDescription { name, kind: OptionKind::Choice(words), default, help }
}

/// A switch that is off by default.
pub(super) fn flag(name: &'static str, help: &'static str) -> OptionDescription {
    let default = OptionValue::Boolean(false);
    OptionDescription { name, kind: OptionKind::Boolean, default, help }
}

/// A switch that is on by default.
pub(super) fn flag_on(name: &'static str, help: &'static str) -> OptionDescription {
    OptionDescription { default: OptionValue::Boolean(true), ..flag(name, help) }
}

/// The distribution that the options describe.
pub(super) fn distribution(options: &WorkloadOptions) -> Distribution {
    let iterations = options.count("rand_spec_iter") as u32;
    match options.text("rand_type") {
        "gaussian" => Distribution::Gaussian { iterations },
        "special" => Distribution::Special {
            iterations,
            width: options.count("rand_spec_pct") as f64 / 100.0,
            share: options.count("rand_spec_res") as f64 / 100.0,
        },
        "pareto" => Distribution::pareto(options.float("rand_pareto_h")),
        "zipfian" => Distribution::zipfian(options.float("rand_zipfian_exp")),
        _ => Distribution::Uniform,
    }
}

/// Digits in groups of eleven joined by `-`.
pub(super) fn digit_groups<const LENGTH: usize>(random: &mut Random) -> [u8; LENGTH] {
    let mut out = [0; LENGTH];
    random.digits(&mut out);
    for separator in out.iter_mut().skip(11).step_by(12) {
        *separator = b'-';
    }
    out
}

/// Digits are ASCII, so this always succeeds.
pub(super) fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("digits and dashes are ASCII")
}

/// Number of rows of each of the first tables.
pub(super) async fn row_counts(
    connection: &mut Connection,
    tables: u64,
) -> Result<Vec<u64>, OperationFailure> {
    let mut counts = Vec::with_capacity(tables as usize);
    for table in 1..=tables {
        counts.push(count_rows(connection, &format!("sbtest{table}")).await?);
    }
    Ok(counts)
}

impl Sbtest {
    pub(super) fn build(options: &WorkloadOptions, engine: Engine, seed: u64) -> Self {
        let has_ledger = options.is_on("ledger");
        Self {
            dialect: engine.dialect(),
            tables: options.count("tables"),
            table_size: options.count("table_size"),
            distribution: distribution(options),
            is_reusable: !has_ledger,
            has_ledger,
            seed,
            auto_inc: options.boolean("auto_inc"),
            create_secondary: options.boolean("create_secondary"),
            secondary: options.boolean("secondary"),
            rows: options.count("table_size"),
            reconnect: options.count("reconnect"),
            storage_engine: options.text("mysql_storage_engine").to_owned(),
            create_table_options: options.text("create_table_options").to_owned(),
        }
    }

    /// True when the server assigns ids to new rows. SQLite does so only for a primary key.
    pub(super) fn server_assigns_ids(&self) -> bool {
        self.auto_inc && !(self.secondary && self.dialect.numbering == Numbering::RowNumber)
    }

    pub(super) fn leave_empty(&mut self) {
        self.rows = 0;
    }

    /// Statement that creates the empty table. On PostgreSQL the sequence continues after the
    /// loaded ids.
    fn create(&self, name: &str) -> String {
        let id = match self.dialect.numbering {
            Numbering::AutoIncrement if self.auto_inc => "INTEGER NOT NULL AUTO_INCREMENT",
            Numbering::Sequence if self.auto_inc => "SERIAL",
            Numbering::AutoIncrement | Numbering::Sequence | Numbering::RowNumber => {
                "INTEGER NOT NULL"
            }
        };
        let key = match (self.secondary, self.dialect.has_inline_indexes) {
            (false, _) => ", PRIMARY KEY (id)",
            (true, true) => ", KEY xid (id)",
            // There is no keyword for it; the index is created later.
            (true, false) => "",
        };
        let engine = storage_clause(self.dialect, &self.storage_engine);
        let options = &self.create_table_options;
        let table = format!(
            "CREATE TABLE {name} (id {id}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL{key}){engine} {options}"
        );
        let table = table.trim_end();
        if self.dialect.numbering == Numbering::Sequence && self.auto_inc && self.rows > 0 {
            return format!("{table}; ALTER SEQUENCE {name}_id_seq RESTART WITH {}", self.rows + 1);
        }
        table.to_owned()
    }

    fn indexes(&self, table_number: u64) -> Vec<String> {
        let mut indexes = Vec::new();
        if self.secondary && !self.dialect.has_inline_indexes {
            indexes.push(format!("CREATE INDEX xid_{table_number} ON sbtest{table_number}(id)"));
        }
        if self.create_secondary {
            indexes.push(format!("CREATE INDEX k_{table_number} ON sbtest{table_number}(k)"));
        }
        indexes
    }
}

impl DataSet for Sbtest {
    fn fingerprint(&self) -> String {
        format!(
            "sbtest tables={} table_size={} rows={} seed={} auto_inc={} create_secondary={} \
             secondary={} engine={} options={} ledger={} {:?}",
            self.tables,
            self.table_size,
            self.rows,
            self.seed,
            self.auto_inc,
            self.create_secondary,
            self.secondary,
            self.storage_engine,
            self.create_table_options,
            self.has_ledger,
            self.distribution,
        )
    }

    fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    fn tables(&self) -> Vec<TableDefinition> {
        (1..=self.tables)
            .map(|number| {
                let name = format!("sbtest{number}");
                TableDefinition {
                    indexes: self.indexes(number),
                    ..TableDefinition::new(
                        name.clone(),
                        self.create(&name),
                        ["id", "k", "c", "pad"],
                        self.rows,
                    )
                }
            })
            .chain(self.has_ledger.then(commit_ledger::table))
            .collect()
    }

    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        let mut random = Random::new(self.seed, Stream::Data, table as u64, row);
        out.integer(row as i64 + 1);
        out.integer(self.distribution.draw(&mut random, 1, self.table_size as i64));
        out.text(ascii(&digit_groups::<C_LENGTH>(&mut random)));
        out.text(ascii(&digit_groups::<PAD_LENGTH>(&mut random)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn columns_look_as_sysbench_makes_them() {
        let mut random = Random::new(1, Stream::Data, 0, 0);
        let c = digit_groups::<C_LENGTH>(&mut random);
        let groups: Vec<&str> = ascii(&c).split('-').collect();
        assert_eq!(groups.len(), 10);
        assert!(
            groups
                .iter()
                .all(|group| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit()))
        );
        let pad = digit_groups::<PAD_LENGTH>(&mut random);
        assert_eq!(ascii(&pad).split('-').count(), 5);
    }
}

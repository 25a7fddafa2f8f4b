//! `ycsb`: the operations of YCSB's core workload on one table of keys and fields.
//!
//! Every operation commits by itself. Requests choose among the records that are known to exist,
//! while clients insert others; YCSB's hash functions and exponents are used, so that the same
//! records are popular.

mod keys;
mod operation;
mod options;
mod values;

#[cfg(test)]
mod tests;

use super::contract::{AuditFacts, Workload, WorkloadContext, count_rows, row_count};
use super::sbtest::storage_clause;
use crate::client_id::ClientId;
use crate::commit_ledger;
use crate::data_set::{DataSet, TableDefinition};
use crate::distribution::Distribution;
use crate::random::{Random, Stream};
use crate::session::{Session, StatementText};
use crate::text::intern;
use dyno_drivers::{Connection, Driver, Outcome, RowWriter, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::WorkloadOptions;
use dyno_model::client_group::ClientSubset;
use dyno_model::engine::Dialect;
use dyno_model::failure::{FailureKind, OperationFailure};
use keys::{EXPONENT, KeyFormat, Records, RequestDistribution};
use operation::Operation;
pub(super) use options::{Preset, descriptions};
use std::sync::Arc;
use values::Checked;

const TABLE: &str = "usertable";
/// Characters of all fields up to which they are VARCHAR; beyond, a row of the MySQL family, which
/// counts four bytes for each, might be too long.
const VARCHAR_MAX: usize = 16_000;

/// The statements, one for each field where they differ by it.
#[derive(Debug, Clone, Copy)]
struct Statements {
    /// Index of the first statement of each kind.
    first: [usize; 4],
    /// Whether reads and scans, and updates, have one statement for all fields.
    reads_all: bool,
    writes_all: bool,
}

/// The workload.
pub struct Ycsb {
    /// Operations with the sum of the shares up to and with each; the last is the sum of all.
    mix: Vec<(Operation, f64)>,
    requests: RequestDistribution,
    scan_lengths: Distribution,
    scan_range: (i64, i64),
    statements: Statements,
    data: Usertable,
    records: Arc<Records>,
    clients: u64,
}

/// The table with its rows.
struct Usertable {
    dialect: &'static Dialect,
    storage: String,
    seed: u64,
    records: u64,
    fields: usize,
    field_length: usize,
    keys: KeyFormat,
    is_reusable: bool,
    has_ledger: bool,
}

/// State of a client.
pub struct YcsbClient {
    /// The number of its operation among those of all clients, if all are equally fast.
    turn: u64,
    id: ClientId,
    /// The record that it inserts, until the server has acknowledged it.
    pending: Option<u64>,
    records: Arc<Records>,
    key: String,
    values: Vec<String>,
}

impl Drop for YcsbClient {
    fn drop(&mut self) {
        if let Some(record) = self.pending {
            self.records.return_record(record);
        }
    }
}

type Result<T> = std::result::Result<T, OperationFailure>;

impl Ycsb {
    pub(super) fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> std::result::Result<Self, String> {
        let mut sum = 0.0;
        let mut mix = Vec::new();
        for operation in Operation::ALL {
            let share = options.float(operation.option());
            if share > 0.0 {
                sum += share;
                mix.push((operation, sum));
            }
        }
        if mix.is_empty() {
            return Err("all proportions are 0: set for example `readproportion = 1`".to_owned());
        }
        let [low, high] = ["minscanlength", "maxscanlength"].map(|name| options.integer(name));
        if low > high {
            return Err(format!("minscanlength = {low} is greater than maxscanlength = {high}"));
        }
        let [fields, field_length] =
            ["fieldcount", "fieldlength"].map(|name| options.count(name) as usize);
        let keys = KeyFormat::build(options);
        let needed = values::length_min(keys.length_max(), fields);
        if field_length < needed {
            return Err(format!(
                "fieldlength = {field_length} is too short for the key, the field and the checksum \
                 that values carry: it must be at least {needed}"
            ));
        }
        let has = |operation| mix.iter().any(|(it, _)| *it == operation);
        let records = options.count("recordcount");
        let has_ledger = options.boolean("ledger");
        let dialect = setting.engine.dialect();
        Ok(Self {
            requests: RequestDistribution::build(options),
            scan_lengths: match options.text("scanlengthdistribution") {
                "zipfian" => Distribution::zipfian(EXPONENT),
                _ => Distribution::Uniform,
            },
            scan_range: (low, high),
            statements: Statements::new(
                fields,
                options.boolean("readallfields"),
                options.boolean("writeallfields"),
            ),
            data: Usertable {
                dialect,
                storage: storage_clause(dialect, options.text("mysql_storage_engine")),
                seed: setting.seed,
                records,
                fields,
                field_length,
                keys,
                is_reusable: !has(Operation::Insert) && !has_ledger,
                has_ledger,
            },
            records: Arc::new(Records::new(records)),
            clients: setting.clients.into(),
            mix,
        })
    }

    fn choose(&self, random: &mut Random) -> usize {
        let sum = self.mix.last().map_or(0.0, |(_, sum)| *sum);
        let drawn = random.unit() * sum;
        self.mix.iter().position(|(_, upto)| drawn < *upto).unwrap_or(self.mix.len() - 1)
    }

    /// Chooses a record, and writes its key.
    fn request(&self, client: &mut YcsbClient, random: &mut Random) {
        let record =
            self.requests.draw(random, client.turn, self.data.records, self.records.readable());
        self.data.keys.write(self.records.key_number(record), &mut client.key);
    }

    async fn read(
        &self,
        client: &YcsbClient,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        let statement = self.statements.of(Operation::Read, self.data.fields, random).0;
        let outcome = session.run(statement, &[Value::Text(&client.key)]).await?;
        found(outcome.rows, &client.key)
    }

    async fn update(
        &self,
        client: &mut YcsbClient,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        let (statement, fields) = self.statements.of(Operation::Update, self.data.fields, random);
        let YcsbClient { key, values, .. } = client;
        let count = fields.len();
        for (value, field) in values.iter_mut().zip(fields) {
            values::write(value, (key, field), self.data.field_length, random);
        }
        let mut parameters: Vec<_> =
            values.iter().take(count).map(|value| Value::Text(value)).collect();
        parameters.push(Value::Text(key));
        let outcome: Outcome = session.run(statement, &parameters).await?;
        found(outcome.affected, key)
    }

    async fn scan(
        &self,
        client: &YcsbClient,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        let (low, high) = self.scan_range;
        let length = self.scan_lengths.draw(random, low, high);
        let statement = self.statements.of(Operation::Scan, self.data.fields, random).0;
        let parameters = [Value::Text(&client.key), Value::Integer(length)];
        let outcome = session.run(statement, &parameters).await?;
        found(outcome.rows, &client.key)
    }

    async fn insert(
        &self,
        client: &mut YcsbClient,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        let record = *client.pending.get_or_insert_with(|| self.records.reserve());
        let YcsbClient { key, values, .. } = client;
        self.data.keys.write(self.records.key_number(record), key);
        for (field, value) in values.iter_mut().enumerate() {
            values::write(value, (key, field), self.data.field_length, random);
        }
        let texts = std::iter::once(&*key).chain(&*values);
        let parameters: Vec<_> = texts.map(|text| Value::Text(text)).collect();
        session.run(self.statements.first[Operation::Insert as usize], &parameters).await?;
        Ok(())
    }

    /// One operation up to its commit.
    async fn perform(
        &self,
        operation: Operation,
        client: &mut YcsbClient,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        if operation != Operation::Insert {
            self.request(client, random);
        }
        if self.data.has_ledger {
            session.begin().await?;
        }
        match operation {
            Operation::Read => self.read(client, session, random).await?,
            Operation::Update => self.update(client, session, random).await?,
            Operation::Scan => self.scan(client, session, random).await?,
            Operation::Insert => self.insert(client, session, random).await?,
            Operation::ReadModifyWrite => {
                self.read(client, session, random).await?;
                self.update(client, session, random).await?;
            }
        }
        if self.data.has_ledger {
            session.commit().await?;
        }
        Ok(())
    }
}

/// Fails when a record that exists was not found. The transaction fails and the client continues:
/// an earlier failure of the server may have lost it, which the audit then reports.
fn found(rows: u64, key: &str) -> Result<()> {
    match rows {
        0 => Err(FailureKind::Other.failure(format!("{TABLE} has no record with the key {key}"))),
        _ => Ok(()),
    }
}

impl Statements {
    fn new(fields: usize, reads_all: bool, writes_all: bool) -> Self {
        let each = |is_one: bool| if is_one { 1 } else { fields };
        let read = each(reads_all);
        let update = read + each(writes_all);
        Self { first: [0, read, update, update + read], reads_all, writes_all }
    }

    /// The statement of a kind, and the fields that it writes; draws the field where there is one.
    fn of(
        &self,
        operation: Operation,
        fields: usize,
        random: &mut Random,
    ) -> (usize, std::ops::Range<usize>) {
        let is_one = if operation == Operation::Update { self.writes_all } else { self.reads_all };
        let field = if is_one { 0 } else { random.below(fields as u64) as usize };
        let first = self.first[operation as usize];
        (first + field, if is_one { 0..fields } else { field..field + 1 })
    }
}

impl Workload for Ycsb {
    type Client = YcsbClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        Operation::ALL[..4].iter().map(|operation| operation.name()).collect()
    }

    fn keeps_ledger(&self) -> bool {
        self.data.has_ledger
    }

    fn only_reads(&self) -> bool {
        let reads = |it: &(Operation, f64)| matches!(it.0, Operation::Read | Operation::Scan);
        self.mix.iter().all(reads) && !self.data.has_ledger
    }

    fn begin(&self) -> Option<&'static str> {
        self.data.has_ledger.then_some(self.data.dialect.begin_to_write)
    }

    fn statements(&self) -> Vec<StatementText> {
        let Usertable { fields, .. } = self.data;
        let Statements { reads_all, writes_all, .. } = self.statements;
        let selections = match reads_all {
            true => vec!["*".to_owned()],
            false => (0..fields).map(|field| format!("field{field}")).collect(),
        };
        let all_set = (0..fields).map(|field| format!("field{field} = ?")).collect::<Vec<_>>();
        let sets = if writes_all { vec![all_set.join(", ")] } else { all_set };
        let parameters = vec!["?"; fields + 1].join(", ");
        let columns = self.data.columns().join(", ");
        let text = |operation: Operation, sql| StatementText { sql, kind_index: operation as u16 };
        let reads = selections.iter().map(|what| {
            let sql = format!("SELECT {what} FROM {TABLE} WHERE ycsb_key = ?");
            text(Operation::Read, sql)
        });
        let updates = sets.iter().map(|what| {
            text(Operation::Update, format!("UPDATE {TABLE} SET {what} WHERE ycsb_key = ?"))
        });
        let scans = selections.iter().map(|what| {
            let sql =
                format!("SELECT {what} FROM {TABLE} WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT ?");
            text(Operation::Scan, sql)
        });
        let insert = format!("INSERT INTO {TABLE} ({columns}) VALUES ({parameters})");
        let insert = std::iter::once(text(Operation::Insert, insert));
        reads.chain(updates).chain(scans).chain(insert).collect()
    }

    fn data(&self) -> &dyn DataSet {
        &self.data
    }

    fn client(&self, id: ClientId) -> YcsbClient {
        YcsbClient {
            turn: 0,
            id,
            pending: None,
            records: Arc::clone(&self.records),
            key: String::new(),
            values: vec![String::new(); self.data.fields],
        }
    }

    fn transactions(&self) -> Vec<&'static str> {
        self.mix.iter().map(|(operation, _)| operation.name()).collect()
    }

    fn transaction_name(
        &self,
        _client: &mut YcsbClient,
        _sequence: u64,
        random: &mut Random,
    ) -> u16 {
        self.choose(random) as u16
    }

    async fn transaction(
        &self,
        client: &mut YcsbClient,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<()> {
        client.turn = sequence * self.clients + u64::from(client.id.0);
        let operation = self.mix[self.choose(random)].0;
        let result = self.perform(operation, client, session, random).await;
        match result {
            Err(failure) if failure.kind != FailureKind::DuplicateKey => return Err(failure),
            _ => {}
        }
        if operation == Operation::Insert
            && let Some(record) = client.pending.take()
        {
            self.records.acknowledge(record);
        }
        // No other client has the number: an earlier attempt whose answer was lost has inserted it.
        result.map_err(|failure| FailureKind::Conflict.failure(failure.message))
    }

    fn set_subset(&self, subset: ClientSubset) {
        self.records.set_subset(subset);
    }

    fn export_counts(&self) -> Vec<u64> {
        let (acknowledged, open) = self.records.inserted();
        vec![acknowledged, open]
    }

    fn import_counts(&self, exported: &[u64]) {
        if let [acknowledged, open] = *exported {
            self.records.add(acknowledged, open);
        }
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<()> {
        let (found, expected) = (count_rows(connection, TABLE).await?, self.data.records);
        match found == expected {
            true => Ok(()),
            false => Err(FailureKind::BadStatement.failure(format!(
                "{TABLE} has {found} records, but the option `recordcount` is {expected}: set the \
                 option to the size of the table, or load a table of this size"
            ))),
        }
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>> {
        let (acknowledged, open) = self.records.inserted();
        let mut checked = Checked::default();
        let sql = format!("SELECT {} FROM {TABLE}", self.data.columns().join(", "));
        connection.query(&sql, &mut checked).await?;
        let expected = self.data.records + acknowledged;
        let values = |what: &str, found| AuditCheck::Value {
            expression: format!("values in {TABLE} {what}"),
            expected_min: 0,
            expected_max: 0,
            found,
        };
        Ok(vec![
            row_count(TABLE, expected..=expected + open, checked.rows),
            values("whose checksum is wrong", checked.damaged),
            values("that were written to another key or field", checked.misplaced),
        ])
    }
}

impl Usertable {
    fn columns(&self) -> Vec<&'static str> {
        let fields = (0..self.fields).map(|field| intern(&format!("field{field}")));
        std::iter::once("ycsb_key").chain(fields).collect()
    }
}

impl DataSet for Usertable {
    fn fingerprint(&self) -> String {
        let Self { storage, seed, records, fields, field_length, keys, has_ledger, .. } = self;
        format!(
            "ycsb records={records} fields={fields} length={field_length} {keys:?} seed={seed} \
             storage={storage} ledger={has_ledger}"
        )
    }

    fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let kind = match self.fields * self.field_length {
            ..=VARCHAR_MAX => format!("VARCHAR({})", self.field_length),
            _ => "TEXT".to_owned(),
        };
        let fields: String =
            self.columns()[1..].iter().map(|name| format!(", {name} {kind} NOT NULL")).collect();
        let key = format!("ycsb_key VARCHAR({}) NOT NULL", self.keys.length_max());
        let (inline, indexes) = match self.dialect.orders_by_key {
            true => (", PRIMARY KEY (ycsb_key)", Vec::new()),
            false => ("", vec![format!("ALTER TABLE {TABLE} ADD PRIMARY KEY (ycsb_key)")]),
        };
        let create = format!("CREATE TABLE {TABLE} ({key}{fields}{inline}){}", self.storage);
        let table = TableDefinition {
            indexes,
            ..TableDefinition::new(TABLE, create, self.columns(), self.records)
        };
        std::iter::once(table).chain(self.has_ledger.then(commit_ledger::table)).collect()
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        let mut random = Random::new(self.seed, Stream::Data, 0, row);
        let (mut key, mut value) = (String::new(), String::new());
        self.keys.write(row, &mut key);
        out.text(&key);
        for field in 0..self.fields {
            values::write(&mut value, (&key, field), self.field_length, &mut random);
            out.text(&value);
        }
    }
}

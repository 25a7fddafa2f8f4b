//! `history`: transactions on a few registers or lists; a history records every operation with its
//! times.
//!
//! Every value is written once, so that a read identifies the write that it saw. Afterwards dyno
//! looks for anomalies in the history, and Elle can analyse it further. Registers stay the same all
//! the time. A list with [`LIST_MAX`] values is no longer used, and the next row replaces it, so
//! that reads stay short. When the history is full, clients continue with rows outside it: the load
//! stays the same, and the history stays complete.

use super::contract::{AuditFacts, Workload, WorkloadContext};
use super::isolation::{isolation_in_force, isolation_option, isolation_setup};
use super::sbtest::{choice, integer, ledger};
use crate::client_id::ClientId;
use crate::commit_ledger;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Row, RowSink, RowWriter, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::engine::Dialect;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::history::anomalies::find;
use dyno_model::history::{Attempt, AttemptOutcome, History, Objects, Operation};
use dyno_model::isolation::IsolationLevel;
use dyno_model::sync::lock;
use std::sync::{Arc, Mutex, OnceLock};

const OBJECTS: &[&str] = &["registers", "lists"];
/// The table.
const TABLE: &str = "history_objects";
/// Number of values at which a list is full; clients already working on it may still append.
const LIST_MAX: usize = 32;
/// Longest text of a value in a list, comma included.
const VALUE_TEXT_MAX: u64 = 12;
/// Longest column of the MySQL family in characters of four bytes, of which a row has 65,535.
const COLUMN_CHARACTERS_MAX: u64 = 16_000;
/// Percentage of transactions that write their first object twice, so that another transaction
/// might read the intermediate value.
const WRITES_TWICE_PERCENT: u64 = 10;
/// Maximum number of values that a transaction appends to a list: each client that saw it one short
/// of full may append this many.
const APPENDED_MAX: u64 = 2;

const SELECT: usize = 0;
const WRITE: usize = 1;
/// Resets a list outside the history to a single value.
const RESET_LIST: usize = 2;

pub(super) fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: "history",
        summary: "Each transaction reads a few registers or lists, writes some of them, and reads \
                  the others again. A history in Elle's format records every operation with its \
                  times.",
        audit: "The history must not contain anomalies that the isolation level forbids: dirty \
                reads, intermediate reads, non-repeatable reads, lost updates, write skew on two \
                objects. Anomalies that the level allows are counted, but are not errors.",
        options: vec![
            choice(
                "objects",
                OBJECTS,
                "registers: a write replaces the value; lists: a write appends a value (to a text \
                 column), so that reads show the order of all writes",
            ),
            integer(
                "keys",
                1,
                10_000,
                10,
                "number of objects in use at a time; fewer objects cause more conflicts",
            ),
            integer("reads", 1, 16, 2, "objects that a transaction reads"),
            integer(
                "writes",
                0,
                16,
                1,
                "how many of these it writes; it reads the others again before it ends",
            ),
            integer(
                "rollbacks",
                0,
                100,
                5,
                "percentage of transactions that are rolled back once before they run, so that \
                 others might read their uncommitted writes",
            ),
            isolation_option(),
            integer(
                "history_max",
                1,
                2_000_000,
                100_000,
                "maximum number of attempts in the history, about half a kilobyte of memory each; \
                 later ones use other rows and are not recorded",
            ),
            ledger(),
        ],
    }
}

/// The workload `history`.
pub struct Histories {
    reads: usize,
    writes: usize,
    rollbacks: u64,
    /// Number of attempts that each client may record.
    attempts_max: usize,
    isolation: Option<String>,
    table: HistoryTable,
    recorded: Arc<Mutex<Vec<Attempt>>>,
    history: OnceLock<Arc<History>>,
}

/// One row per object: sets of rows that are used one after the other, and one set outside the
/// history. Each trial uses a fresh table, so that no history contains values of an earlier trial.
struct HistoryTable {
    objects: Objects,
    keys: u64,
    sets: u64,
    clients: u32,
    has_ledger: bool,
    dialect: &'static Dialect,
}

/// State of one client: its part of the history, handed over whenever the client ends.
pub struct HistoryClient {
    id: ClientId,
    attempts: Vec<Attempt>,
    recorded: Arc<Mutex<Vec<Attempt>>>,
    attempts_max: usize,
    /// Current set of rows of each key.
    sets: Vec<u64>,
    /// Number of values that it has written or tried to write.
    written: u64,
    /// End of its last attempt.
    last: u64,
}

impl Drop for HistoryClient {
    fn drop(&mut self) {
        lock(&self.recorded).append(&mut self.attempts);
    }
}

impl HistoryClient {
    /// Whether the history includes the attempt in progress.
    fn is_recorded(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.ended.is_none())
    }

    fn begin(&mut self, sequence: u64, now: u64) {
        if self.attempts.len() < self.attempts_max {
            let (client, started) = (self.id.0, now.max(self.last + 1));
            let (outcome, ended, operations) = (AttemptOutcome::InDoubt, None, Vec::new());
            self.attempts.push(Attempt { client, sequence, started, ended, outcome, operations });
        }
    }

    /// The attempt in progress, if the history includes it.
    fn current(&mut self) -> Option<&mut Attempt> {
        self.attempts.last_mut().filter(|attempt| attempt.ended.is_none())
    }

    fn end(&mut self, outcome: AttemptOutcome, now: u64) {
        if let Some(attempt) = self.current() {
            let ended = now.max(attempt.started + 1);
            (attempt.outcome, attempt.ended) = (outcome, Some(ended));
            self.last = ended;
        }
    }

    fn record_operation(&mut self, operation: Operation) {
        if let Some(attempt) = self.current() {
            attempt.operations.push(operation);
        }
    }

    /// Records the answer to the last read.
    fn record_values(&mut self, values: &[u64]) {
        let operations = self.current().map(|attempt| &mut attempt.operations);
        if let Some(Operation::Read { seen, .. }) =
            operations.and_then(|operations| operations.last_mut())
        {
            *seen = Some(values.to_vec());
        }
    }
}

/// Operations of a transaction, the same in every attempt.
struct DrawnOperations {
    keys: Vec<usize>,
    writes_twice: bool,
    is_rolled_back_first: bool,
}

/// The values in a row; for a register at most one.
#[derive(Default)]
struct ReadValues(Option<Vec<u64>>);

impl RowSink for ReadValues {
    fn row(&mut self, row: &dyn Row) {
        let of_text = |text: &str| text.split(',').filter_map(|value| value.parse().ok()).collect();
        let values: Vec<u64> = match row.get(0) {
            Value::Integer(value) => u64::try_from(value).into_iter().collect(),
            Value::Text(text) => of_text(text),
            Value::Bytes(bytes) => of_text(&String::from_utf8_lossy(bytes)),
            Value::Null | Value::Float(_) => Vec::new(),
        };
        // A register holds 0 before the first write.
        self.0 = Some(values.into_iter().filter(|value| *value > 0).collect());
    }
}

impl Histories {
    pub(super) fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Result<Self, String> {
        let dialect = setting.engine.dialect();
        let [keys, reads, writes, history_max] =
            ["keys", "reads", "writes", "history_max"].map(|it| options.count(it));
        if reads > keys {
            return Err(format!("reads = {reads} are more objects than keys = {keys}"));
        }
        if writes > reads {
            return Err(format!("writes = {writes} are more objects than reads = {reads}"));
        }
        let objects = Objects::named(options.text("objects")).unwrap_or(Objects::Registers);
        let sets = match objects {
            Objects::Registers => 1,
            // Twice what the history can fill, because keys are not chosen equally often.
            Objects::Lists => 2 + 2 * history_max * writes / (keys * LIST_MAX as u64),
        };
        let clients = setting.clients;
        let table = HistoryTable {
            objects,
            keys,
            sets,
            clients,
            has_ledger: options.boolean("ledger"),
            dialect,
        };
        if objects == Objects::Lists
            && dialect.has_storage_engines
            && table.width() > COLUMN_CHARACTERS_MAX
        {
            let most = (COLUMN_CHARACTERS_MAX / VALUE_TEXT_MAX - LIST_MAX as u64) / APPENDED_MAX;
            return Err(format!(
                "lists support at most {most} clients here, because each may append two values to \
                 a nearly full list"
            ));
        }
        Ok(Self {
            reads: reads as usize,
            writes: writes as usize,
            rollbacks: options.count("rollbacks"),
            attempts_max: history_max.div_ceil(u64::from(clients).max(1)) as usize,
            isolation: isolation_setup(options, setting.engine)?,
            table,
            recorded: Arc::default(),
            history: OnceLock::new(),
        })
    }

    fn draw(&self, random: &mut Random) -> DrawnOperations {
        let mut keys = Vec::with_capacity(self.reads);
        while keys.len() < self.reads {
            let key = random.below(self.table.keys) as usize;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let writes_twice = random.below(100) < WRITES_TWICE_PERCENT;
        DrawnOperations {
            keys,
            writes_twice,
            is_rolled_back_first: random.below(100) < self.rollbacks,
        }
    }

    async fn attempt(
        &self,
        client: &mut HistoryClient,
        (sequence, draw, is_rolled_back): (u64, &DrawnOperations, bool),
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        client.begin(sequence, session.now());
        let result = match self.operations(client, draw, session).await {
            Ok(()) if is_rolled_back => session.roll_back().await,
            Ok(()) => session.commit().await,
            Err(failure) => Err(failure),
        };
        let outcome = match &result {
            Ok(()) if !is_rolled_back => AttemptOutcome::Committed,
            Err(_) if session.is_in_doubt() => AttemptOutcome::InDoubt,
            _ => AttemptOutcome::Failed,
        };
        client.end(outcome, session.now());
        result
    }

    /// All operations of a transaction except its end.
    async fn operations(
        &self,
        client: &mut HistoryClient,
        drawn: &DrawnOperations,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        session.begin().await?;
        let mut read = Vec::with_capacity(self.reads);
        for key in &drawn.keys {
            read.push(self.read_key(client, *key, session).await?);
        }
        let (written, others) = read.split_at(self.writes);
        for (row, is_full) in
            written.iter().chain(written.iter().take(usize::from(drawn.writes_twice)))
        {
            self.write(client, *row, *is_full, session).await?;
        }
        for (row, _) in others {
            self.read(client, *row, session).await?;
        }
        Ok(())
    }

    /// Reads an object; if a list is full, reads the next one that is not. Returns its row, and
    /// whether it is full.
    async fn read_key(
        &self,
        client: &mut HistoryClient,
        key: usize,
        session: &mut Session,
    ) -> Result<(u64, bool), OperationFailure> {
        loop {
            let is_recorded = client.is_recorded();
            let set = if is_recorded { client.sets[key] } else { self.table.sets };
            let row = set * self.table.keys + key as u64;
            let is_full = self.read(client, row, session).await? >= LIST_MAX;
            if !is_full || !is_recorded {
                return Ok((row, is_full));
            }
            if set + 1 == self.table.sets {
                // This was the last list; the client records no more attempts.
                client.attempts_max = 0;
                return Ok((row, is_full));
            }
            client.sets[key] += 1;
        }
    }

    /// Reads a row. Returns the number of its values.
    async fn read(
        &self,
        client: &mut HistoryClient,
        row: u64,
        session: &mut Session,
    ) -> Result<usize, OperationFailure> {
        client.record_operation(Operation::Read { object: row as u32, seen: None });
        let mut seen = ReadValues::default();
        session.execute(SELECT, &[Value::Integer(row as i64)], &mut seen).await?;
        let values = seen.0.ok_or_else(|| {
            FailureKind::BadStatement.failure(format!("table {TABLE} has no row with id = {row}"))
        })?;
        client.record_values(&values);
        Ok(values.len())
    }

    async fn write(
        &self,
        client: &mut HistoryClient,
        row: u64,
        is_full: bool,
        session: &mut Session,
    ) -> Result<(), OperationFailure> {
        client.written += 1;
        let value = client.written * u64::from(self.table.clients) + u64::from(client.id.0);
        client.record_operation(Operation::Write { object: row as u32, value });
        let id = Value::Integer(row as i64);
        if self.table.objects == Objects::Registers {
            session.run(WRITE, &[Value::Integer(value as i64), id]).await?;
            return Ok(());
        }
        let statement = if is_full && !client.is_recorded() { RESET_LIST } else { WRITE };
        session.run(statement, &[Value::Text(&format!("{value},")), id]).await?;
        Ok(())
    }

    fn recorded_history(&self) -> &Arc<History> {
        self.history.get_or_init(|| {
            let attempts = std::mem::take(&mut *lock(&self.recorded));
            Arc::new(History { objects: self.table.objects, clients: self.table.clients, attempts })
        })
    }
}

impl Workload for Histories {
    type Client = HistoryClient;
    type Baseline = Option<IsolationLevel>;

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select", "update"]
    }

    fn session_setup(&self) -> Vec<String> {
        self.isolation.iter().cloned().collect()
    }

    fn keeps_ledger(&self) -> bool {
        self.table.has_ledger
    }

    fn statements(&self) -> Vec<StatementText> {
        let set = format!("UPDATE {TABLE} SET value = ? WHERE id = ?");
        let append = format!(
            "UPDATE {TABLE} SET value = {} WHERE id = ?",
            self.table.dialect.appended("value")
        );
        let select =
            StatementText { sql: format!("SELECT value FROM {TABLE} WHERE id = ?"), kind_index: 0 };
        let writes = match self.table.objects {
            Objects::Registers => vec![set],
            Objects::Lists => vec![append, set],
        };
        std::iter::once(select)
            .chain(writes.into_iter().map(|sql| StatementText { sql, kind_index: 1 }))
            .collect()
    }

    fn data(&self) -> &dyn DataSet {
        &self.table
    }

    fn client(&self, id: ClientId) -> HistoryClient {
        HistoryClient {
            id,
            attempts: Vec::new(),
            recorded: Arc::clone(&self.recorded),
            attempts_max: self.attempts_max,
            sets: vec![0; self.table.keys as usize],
            written: 0,
            last: 0,
        }
    }

    async fn transaction(
        &self,
        client: &mut HistoryClient,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let draw = self.draw(random);
        if draw.is_rolled_back_first {
            self.attempt(client, (sequence, &draw, true), session).await?;
        }
        self.attempt(client, (sequence, &draw, false), session).await
    }

    async fn baseline(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<IsolationLevel>, OperationFailure> {
        let setup = self.isolation.as_deref();
        isolation_in_force(setup, TABLE, self.table.dialect, connection).await
    }

    fn reason_not_distributable(&self) -> Option<&'static str> {
        Some("its history is recorded in one process")
    }

    async fn audit(
        &self,
        _connection: &mut Connection,
        facts: &AuditFacts<'_, Option<IsolationLevel>>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let history = self.recorded_history();
        let committed = history.count(AttemptOutcome::Committed);
        Ok(vec![AuditCheck::Anomalies {
            level: facts.baseline,
            committed,
            failed: history.count(AttemptOutcome::Failed),
            in_doubt: history.count(AttemptOutcome::InDoubt),
            outside: facts.totals.committed.saturating_sub(committed),
            found: find(history),
        }])
    }

    fn history(&self) -> Option<Arc<History>> {
        Some(Arc::clone(self.recorded_history()))
    }
}

impl HistoryTable {
    /// Width of a list column in characters.
    fn width(&self) -> u64 {
        (LIST_MAX as u64 + APPENDED_MAX * u64::from(self.clients)) * VALUE_TEXT_MAX
    }
}

impl DataSet for HistoryTable {
    fn fingerprint(&self) -> String {
        let Self { objects, keys, sets, clients, has_ledger, .. } = self;
        format!("history {objects} keys={keys} sets={sets} clients={clients} ledger={has_ledger}")
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let column = match self.objects {
            Objects::Registers => "BIGINT NOT NULL".to_owned(),
            Objects::Lists => format!("VARCHAR({}) NOT NULL", self.width()),
        };
        let create =
            format!("CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY, value {column})");
        let objects =
            TableDefinition::new(TABLE, create, ["id", "value"], (self.sets + 1) * self.keys);
        std::iter::once(objects).chain(self.has_ledger.then(commit_ledger::table)).collect()
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(row as i64);
        match self.objects {
            Objects::Registers => out.integer(0),
            Objects::Lists => out.text(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::native::Native;
    use dyno_model::catalog::OptionValue;
    use dyno_model::engine::Engine;
    use dyno_model::plan::WorkloadPlan;

    fn build(
        options: &[(&str, i64)],
        objects: &str,
        engine: Engine,
        clients: u32,
    ) -> Result<Native, String> {
        let mut all = description().defaults();
        all.0.insert("objects".to_owned(), OptionValue::Text(objects.to_owned()));
        all.0.extend(
            options.iter().map(|(name, value)| ((*name).to_owned(), OptionValue::Integer(*value))),
        );
        Native::build(
            &WorkloadPlan::new("history", all),
            WorkloadContext { engine, clients, seed: 1 },
        )
    }

    #[test]
    fn options_that_do_not_go_together_are_refused() {
        let reported =
            |options: &[(&str, i64)]| build(options, "registers", Engine::Sqlite, 2).err();
        let refused = |text: &str| Some(text.to_owned());
        assert_eq!(reported(&[("keys", 3), ("reads", 3), ("writes", 3)]), None);
        assert_eq!(
            reported(&[("keys", 2), ("reads", 3)]),
            refused("reads = 3 are more objects than keys = 2")
        );
        assert_eq!(
            reported(&[("keys", 9), ("reads", 3), ("writes", 4)]),
            refused("writes = 4 are more objects than reads = 3")
        );
    }

    #[test]
    fn lists_reject_more_clients_than_a_mysql_column_can_hold() {
        let reported = |objects, engine, clients| build(&[], objects, engine, clients).err();
        assert_eq!(reported("lists", Engine::Mysql, 650), None);
        let refused = reported("lists", Engine::Mysql, 651).expect("too many");
        assert!(refused.starts_with("lists support at most 650 clients here"), "{refused}");
        assert_eq!(reported("registers", Engine::Mysql, 651), None);
        assert_eq!(reported("lists", Engine::Postgres, 651), None);
    }

    #[test]
    fn list_column_has_room_for_concurrent_appends_of_all_clients() {
        let table = |clients| {
            let native = build(&[], "lists", Engine::Mysql, clients).expect("they go together");
            native.data().tables().remove(0).create
        };
        // Each of them writes its first object twice now and then.
        for clients in [1, 8, 650] {
            let most = (LIST_MAX as u64 - 1 + 2 * u64::from(clients)) * VALUE_TEXT_MAX;
            let create = table(clients);
            let (_, width) = create.split_once("VARCHAR(").expect("a text");
            let width: u64 = width.split_once(')').expect("its width").0.parse().expect("a number");
            assert!(
                (most..=COLUMN_CHARACTERS_MAX).contains(&width),
                "{clients}: {width} of {most}"
            );
        }
    }
}

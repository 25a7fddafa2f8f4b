//! The OLTP family: sysbench's statements, options and data.
//!
//! A table is drawn once per group of statements (all point selects of a transaction use the same
//! one), a key per statement.

use super::contract::{AuditFacts, Workload, WorkloadContext, row_count};
use super::sbtest::{
    C_LENGTH, PAD_LENGTH, Sbtest, ascii, digit_groups, distribution_options, flag, flag_on,
    integer, ledger, row_counts, table_options,
};
use crate::client_id::ClientId;
use crate::data_set::DataSet;
use crate::random::{Random, Stream};
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::engine::Numbering;
use dyno_model::failure::OperationFailure;
use std::sync::atomic::{AtomicU64, Ordering};

dyno_model::named! {
    /// Kinds of statements, in the order of a transaction. Each is prepared once per table.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u16)]
    enum Kind {
        PointSelect = "point-select",
        SimpleRange = "simple-range",
        SumRange = "sum-range",
        OrderRange = "order-range",
        DistinctRange = "distinct-range",
        IndexUpdate = "index-update",
        NonIndexUpdate = "non-index-update",
        Delete = "delete",
        Insert = "insert",
    }
}

impl Kind {
    fn sql(self, table: u64) -> String {
        match self {
            Self::PointSelect => format!("SELECT c FROM sbtest{table} WHERE id=?"),
            Self::SimpleRange => format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Self::SumRange => format!("SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Self::OrderRange => {
                format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::DistinctRange => {
                format!("SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::IndexUpdate => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE FROM sbtest{table} WHERE id=?"),
            Self::Insert => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
        }
    }
}

dyno_model::named! {
    /// The workloads of the family.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Preset {
        ReadWrite = "oltp_read_write",
        ReadOnly = "oltp_read_only",
        WriteOnly = "oltp_write_only",
        PointSelect = "oltp_point_select",
        UpdateIndex = "oltp_update_index",
        UpdateNonIndex = "oltp_update_non_index",
        Insert = "oltp_insert",
        Delete = "oltp_delete",
    }
}

impl Preset {
    fn summary(self) -> &'static str {
        match self {
            Self::ReadWrite => {
                "Ten point selects, four range selects, two updates, a delete and an insert of the \
                 same row, in a transaction."
            }
            Self::ReadOnly => "Ten point selects and four range selects in a transaction.",
            Self::WriteOnly => {
                "Two updates, a delete and an insert of the same row, in a transaction."
            }
            Self::PointSelect => "One row by primary key, without a transaction.",
            Self::UpdateIndex => {
                "One update of the indexed column k by primary key, without a transaction."
            }
            Self::UpdateNonIndex => "One update of column c by primary key, without a transaction.",
            Self::Insert => "One insert of a new row, sent as text, without a transaction.",
            Self::Delete => {
                "One delete by primary key, without a transaction; the number of rows decreases."
            }
        }
    }

    fn audit(self) -> &'static str {
        match self {
            Self::Insert => {
                "The number of rows in all tables must have increased by one per committed \
                 transaction."
            }
            Self::Delete => {
                "The number of rows in all tables must have decreased by the number that the \
                 server reported as deleted."
            }
            _ => "Every table must still have table_size rows.",
        }
    }

    fn is_transactional(self) -> bool {
        matches!(self, Self::ReadWrite | Self::ReadOnly | Self::WriteOnly)
    }

    fn reads(self) -> bool {
        matches!(self, Self::ReadWrite | Self::ReadOnly)
    }

    fn writes(self) -> bool {
        matches!(self, Self::ReadWrite | Self::WriteOnly)
    }
}

pub(super) fn descriptions() -> Vec<WorkloadDescription> {
    let several = |name, default, help| integer(name, 0, 1_000_000, default, help);
    let index_updates = "updates of the indexed column per transaction";
    let non_index_updates = "updates of a column without index per transaction";
    let options = |preset: Preset| {
        let mut options = table_options();
        if preset.reads() {
            options.extend([
                several("point_selects", 10, "point selects per transaction"),
                flag_on("range_selects", "whether range selects are sent"),
                integer("range_size", 1, 1_000_000, 100, "rows per range select"),
                several("simple_ranges", 1, "simple range selects per transaction"),
                several("sum_ranges", 1, "SELECT SUM() per transaction"),
                several("order_ranges", 1, "SELECT ... ORDER BY per transaction"),
                several("distinct_ranges", 1, "SELECT DISTINCT ... ORDER BY per transaction"),
            ]);
        }
        if preset.writes() {
            options.extend([
                several("index_updates", 1, index_updates),
                several("non_index_updates", 1, non_index_updates),
                several("delete_inserts", 1, "pairs of delete and insert per transaction"),
            ]);
        }
        if preset == Preset::UpdateIndex {
            options.push(integer("index_updates", 1, 1_000_000, 1, index_updates));
        }
        if preset == Preset::UpdateNonIndex {
            options.push(integer("non_index_updates", 1, 1_000_000, 1, non_index_updates));
        }
        if preset.is_transactional() {
            options
                .push(flag("skip_trx", "no BEGIN and COMMIT: every statement commits by itself"));
        }
        options.extend(distribution_options());
        options.push(ledger());
        options
    };
    let description = |preset: Preset| WorkloadDescription {
        name: preset.name(),
        summary: preset.summary(),
        audit: preset.audit(),
        options: options(preset),
    };
    Preset::ALL.into_iter().map(description).collect()
}

/// Number of statements of each kind in a transaction, by [`Kind`].
type Mix = [u64; Kind::ALL.len()];

fn mix(preset: Preset, options: &WorkloadOptions) -> Mix {
    let mut mix = Mix::default();
    if preset.reads() {
        mix[Kind::PointSelect as usize] = options.count("point_selects");
        if options.boolean("range_selects") {
            mix[Kind::SimpleRange as usize] = options.count("simple_ranges");
            mix[Kind::SumRange as usize] = options.count("sum_ranges");
            mix[Kind::OrderRange as usize] = options.count("order_ranges");
            mix[Kind::DistinctRange as usize] = options.count("distinct_ranges");
        }
    }
    if preset.writes() {
        mix[Kind::IndexUpdate as usize] = options.count("index_updates");
        mix[Kind::NonIndexUpdate as usize] = options.count("non_index_updates");
        mix[Kind::Delete as usize] = options.count("delete_inserts");
        mix[Kind::Insert as usize] = options.count("delete_inserts");
    }
    match preset {
        Preset::PointSelect => mix[Kind::PointSelect as usize] = 1,
        Preset::UpdateIndex => mix[Kind::IndexUpdate as usize] = options.count("index_updates"),
        Preset::UpdateNonIndex => {
            mix[Kind::NonIndexUpdate as usize] = options.count("non_index_updates");
        }
        Preset::Insert => mix[Kind::Insert as usize] = 1,
        Preset::Delete => mix[Kind::Delete as usize] = 1,
        Preset::ReadWrite | Preset::ReadOnly | Preset::WriteOnly => {}
    }
    mix
}

/// Groups of statements on one table, and the number of statements in each. A delete before an
/// insert uses the same row, and is in its group.
fn groups(mix: &Mix) -> Vec<(Kind, u64)> {
    let has_inserts = mix[Kind::Insert as usize] > 0;
    let count =
        |kind: Kind| if has_inserts && kind == Kind::Delete { 0 } else { mix[kind as usize] };
    Kind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
}

/// Any workload of the family.
pub struct Oltp {
    preset: Preset,
    mix: Mix,
    /// Statements of a transaction, in order.
    groups: Vec<(Kind, u64)>,
    /// Index of the first statement of each kind among the prepared ones.
    first: [usize; Kind::ALL.len()],
    range_size: i64,
    has_transaction: bool,
    clients: u64,
    data: Sbtest,
    /// Number of rows deleted according to the server; `oltp_delete` only.
    deleted: AtomicU64,
}

impl Oltp {
    pub(super) fn build(
        preset: Preset,
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Self {
        let mix = mix(preset, options);
        let has_transaction = preset.is_transactional() && !options.boolean("skip_trx");
        // Reads and updates keep every row; deletes and inserts do so only inside a transaction.
        let keeps_rows =
            mix[Kind::Delete as usize] + mix[Kind::Insert as usize] == 0 || has_transaction;
        let mut data = Sbtest::build(options, setting.engine, setting.seed);
        data.is_reusable &= keeps_rows;
        if preset == Preset::Insert && !data.server_assigns_ids() {
            // The workload draws ids from the whole range.
            data.leave_empty();
        }
        let mut first = [0; Kind::ALL.len()];
        let mut next = 0;
        for (kind, first) in first.iter_mut().enumerate() {
            *first = next;
            if mix[kind] > 0 {
                next += data.tables as usize;
            }
        }
        let range_size = if preset.reads() { options.integer("range_size") } else { 1 };
        let clients = u64::from(setting.clients.max(1));
        let groups = groups(&mix);
        Self {
            preset,
            mix,
            groups,
            first,
            range_size,
            has_transaction,
            clients,
            data,
            deleted: AtomicU64::new(0),
        }
    }

    /// Draws a table; returns the index of the prepared statement of a kind for it.
    fn draw(&self, kind: Kind, random: &mut Random) -> usize {
        self.first[kind as usize] + random.below(self.data.tables) as usize
    }

    fn key(&self, random: &mut Random) -> i64 {
        self.data.distribution.draw(random, 1, self.data.table_size as i64)
    }

    /// A number unique within the trial, from all that fit the column. The next trial draws others,
    /// so it can work on the same tables.
    fn unique_id(&self, seed: u64, client: ClientId, sequence: u64) -> i32 {
        let index = sequence.wrapping_mul(self.clients).wrapping_add(client.0.into()) as u32;
        let start = Random::new(seed, Stream::Data, u64::MAX, 0).next_u64() as u32;
        // The finalizer of MurmurHash3 (Appleby, public domain) maps 32 bits onto themselves one to
        // one.
        let mut id = index.wrapping_add(start);
        id = (id ^ (id >> 16)).wrapping_mul(0x85eb_ca6b);
        id = (id ^ (id >> 13)).wrapping_mul(0xc2b2_ae35);
        (id ^ (id >> 16)).cast_signed()
    }

    /// Sends one new row as text, like sysbench.
    async fn insert(
        &self,
        client: ClientId,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let table = random.below(self.data.tables) + 1;
        let k = self.key(random);
        let (c, pad) = (digit_groups::<C_LENGTH>(random), digit_groups::<PAD_LENGTH>(random));
        let (c, pad) = (ascii(&c), ascii(&pad));
        let sql = match (self.data.dialect.numbering, self.data.server_assigns_ids()) {
            (Numbering::AutoIncrement, true) => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (0, {k}, '{c}', '{pad}')")
            }
            (_, true) => {
                format!("INSERT INTO sbtest{table} (k, c, pad) VALUES ({k}, '{c}', '{pad}')")
            }
            (_, false) => {
                let id = self.unique_id(session.seed(), client, sequence);
                format!(
                    "INSERT INTO sbtest{table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')"
                )
            }
        };
        session.text(Kind::Insert as u16, &sql).await?;
        Ok(())
    }
}

impl Workload for Oltp {
    type Client = ClientId;
    type Baseline = Vec<u64>;

    fn kinds(&self) -> Vec<&'static str> {
        Kind::ALL.map(Kind::name).to_vec()
    }

    fn statements(&self) -> Vec<StatementText> {
        let tables = 1..=self.data.tables;
        let prepared = Kind::ALL.into_iter().filter(|kind| self.mix[*kind as usize] > 0);
        prepared
            .flat_map(|kind| {
                tables.clone().map(move |table| StatementText {
                    sql: kind.sql(table),
                    kind_index: kind as u16,
                })
            })
            .collect()
    }

    fn reconnect_every(&self) -> u64 {
        self.data.reconnect
    }

    fn keeps_ledger(&self) -> bool {
        self.data.has_ledger
    }

    fn only_reads(&self) -> bool {
        matches!(self.preset, Preset::PointSelect | Preset::ReadOnly) && !self.keeps_ledger()
    }

    fn begin(&self) -> Option<&'static str> {
        self.has_transaction.then_some("BEGIN")
    }

    fn data(&self) -> &dyn DataSet {
        &self.data
    }

    fn client(&self, id: ClientId) -> ClientId {
        id
    }

    async fn transaction(
        &self,
        client: &mut ClientId,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        if self.preset == Preset::Insert {
            return self.insert(*client, sequence, session, random).await;
        }
        if self.has_transaction {
            session.begin().await?;
        }
        // One function for all kinds: nested async functions cost more per call (4 % of the
        // instructions of a point select).
        for &(kind, count) in &self.groups {
            let statement = self.draw(kind, random);
            for _ in 0..count {
                let id = self.key(random);
                match kind {
                    Kind::PointSelect | Kind::IndexUpdate => {
                        session.run(statement, &[Value::Integer(id)]).await?;
                    }
                    Kind::SimpleRange | Kind::SumRange | Kind::OrderRange | Kind::DistinctRange => {
                        let range = [Value::Integer(id), Value::Integer(id + self.range_size - 1)];
                        session.run(statement, &range).await?;
                    }
                    Kind::NonIndexUpdate => {
                        let c = digit_groups::<C_LENGTH>(random);
                        session
                            .run(statement, &[Value::Text(ascii(&c)), Value::Integer(id)])
                            .await?;
                    }
                    Kind::Delete => {
                        let outcome = session.run(statement, &[Value::Integer(id)]).await?;
                        self.deleted.fetch_add(outcome.affected, Ordering::Relaxed);
                    }
                    Kind::Insert => {
                        let k = self.key(random);
                        let (c, pad) =
                            (digit_groups::<C_LENGTH>(random), digit_groups::<PAD_LENGTH>(random));
                        let delete = statement - self.first[Kind::Insert as usize]
                            + self.first[Kind::Delete as usize];
                        session.run(delete, &[Value::Integer(id)]).await?;
                        let (c, pad) = (Value::Text(ascii(&c)), Value::Text(ascii(&pad)));
                        session
                            .run(statement, &[Value::Integer(id), Value::Integer(k), c, pad])
                            .await?;
                    }
                }
            }
        }
        if self.has_transaction {
            session.commit().await?;
        }
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<Vec<u64>, OperationFailure> {
        if !matches!(self.preset, Preset::Insert | Preset::Delete) {
            return Ok(Vec::new());
        }
        row_counts(connection, self.data.tables).await
    }

    fn export_counts(&self) -> Vec<u64> {
        vec![self.deleted.load(Ordering::Relaxed)]
    }

    fn import_counts(&self, exported: &[u64]) {
        self.deleted.fetch_add(exported.iter().sum(), Ordering::Relaxed);
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Vec<u64>>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let found = row_counts(connection, self.data.tables).await?;
        let (before, after) = (facts.baseline.iter().sum::<u64>(), found.iter().sum::<u64>());
        let open = facts.uncertain();
        let table = if self.data.tables == 1 {
            "sbtest1".to_owned()
        } else {
            format!("sbtest1..{}", self.data.tables)
        };
        let expected = match self.preset {
            Preset::Insert => {
                before + facts.totals.committed..=before + facts.totals.committed + open
            }
            Preset::Delete => {
                let left = before.saturating_sub(self.deleted.load(Ordering::Relaxed));
                left.saturating_sub(open)..=left
            }
            _ => {
                // Without a transaction, an operation that ended between DELETE and INSERT leaves a
                // row missing. A retry may fail at another row than the attempt before.
                let rows = self.mix[Kind::Delete as usize].min(self.mix[Kind::Insert as usize]);
                let missing = match self.has_transaction {
                    true => 0,
                    false => rows * (facts.totals.failed + facts.totals.unfinished()),
                };
                let expected = self.data.table_size.saturating_sub(missing)..=self.data.table_size;
                let check =
                    |(number, found)| row_count(format!("sbtest{number}"), expected.clone(), found);
                return Ok((1..).zip(found).map(check).collect());
            }
        };
        Ok(vec![row_count(table, expected, after)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::catalog::OptionValue;
    use dyno_model::engine::Engine;
    use std::collections::BTreeSet;

    fn oltp(name: &str, engine: Engine, seed: u64, changes: &[(&str, OptionValue)]) -> Oltp {
        let description =
            descriptions().into_iter().find(|known| known.name == name).expect("a known preset");
        let mut options = description.defaults();
        for (option, value) in changes {
            options.0.insert((*option).to_owned(), value.clone());
        }
        let preset = Preset::named(name).expect("a known preset");
        Oltp::build(preset, &options, WorkloadContext { engine, clients: 4, seed })
    }

    #[test]
    fn inserted_ids_are_unique_across_clients_and_differ_by_seed() {
        let off = [("auto_inc", OptionValue::Boolean(false))];
        let ids = |seed| -> BTreeSet<i32> {
            let oltp = oltp("oltp_insert", Engine::Mysql, 1, &off);
            (0..4)
                .flat_map(|client| (0..2_000).map(move |sequence| (ClientId(client), sequence)))
                .map(|(client, sequence)| oltp.unique_id(seed, client, sequence))
                .collect()
        };
        let (first, second) = (ids(1), ids(2));
        assert_eq!((first.len(), second.len()), (8_000, 8_000));
        assert!(first.intersection(&second).count() < 100, "trials one after another hardly meet");
        assert_eq!(oltp("oltp_insert", Engine::Mysql, 1, &off).data.tables()[0].rows, 0);
    }

    #[test]
    fn updates_without_transaction_may_be_several() {
        let oltp = oltp(
            "oltp_update_index",
            Engine::Mysql,
            1,
            &[("index_updates", OptionValue::Integer(3))],
        );
        assert_eq!(oltp.mix[Kind::IndexUpdate as usize], 3);
        assert_eq!(oltp.mix.iter().sum::<u64>(), 3);
    }

    #[test]
    fn an_index_that_is_not_unique_takes_the_place_of_the_primary_key() {
        let on = [("secondary", OptionValue::Boolean(true))];
        let table = |engine| oltp("oltp_read_only", engine, 1, &on).data.tables().remove(0);
        let mysql = table(Engine::Mysql);
        assert!(
            mysql.create.contains("KEY xid (id)") && !mysql.create.contains("PRIMARY"),
            "{}",
            mysql.create
        );
        let postgres = table(Engine::Postgres);
        assert!(!postgres.create.contains("KEY"), "{}", postgres.create);
        assert_eq!(postgres.indexes[0], "CREATE INDEX xid_1 ON sbtest1(id)");
    }

    #[test]
    fn postgresql_numbers_new_rows_after_those_that_were_loaded() {
        let table = oltp("oltp_insert", Engine::Postgres, 1, &[]).data.tables().remove(0);
        assert!(
            table.create.ends_with("; ALTER SEQUENCE sbtest1_id_seq RESTART WITH 10001"),
            "{}",
            table.create
        );
    }
}

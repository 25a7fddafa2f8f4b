//! `tpcc`: a workload derived from TPC-C, for comparisons with results that dyno has measured. Its
//! results are no TPC-C results: the standard also demands a price, an audit by people and more.
//!
//! * [`transaction`]: which transaction comes next, and how long users wait before it;
//! * [`inputs`]: what users enter;
//! * [`terminal`]: the transactions, made of the [`statements`], or calls of [`procedures`];
//! * [`schema`], [`rows`], [`size`]: the tables, what they are loaded with, and how much of it;
//! * [`progress`]: what the clients did, for audit and report;
//! * [`conditions`]: the consistency conditions that the audit checks.
//!
//! docs/decisions/036-tpcc.md names what differs from the standard (revision 5.11), and why.

mod conditions;
mod decimal;
mod inputs;
mod procedures;
mod progress;
mod rows;
mod schema;
mod size;
mod statements;
mod terminal;
mod transaction;

#[cfg(test)]
mod tests;

use terminal::Terminal;

use super::contract::{AuditFacts, Workload, WorkloadContext, row_count, scalar};
use super::isolation::{isolation_in_force, isolation_option, isolation_setup};
use super::sbtest::{choice, flag, flag_on, integer, ledger, storage_clause, storage_engine};
use crate::client_id::ClientId;
use crate::commit_ledger;
use crate::data_set::{DataSet, TableDefinition};
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Discard, Driver, Io, RowWriter, TimeoutPolicy, block_on};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{MIX, PACED, PACING, STANDARD_MIX, WorkloadDescription, WorkloadOptions};
use dyno_model::engine::ProcedureLanguage;
use dyno_model::failure::OperationFailure;
use dyno_model::isolation::IsolationLevel;
use dyno_model::record::BenchmarkFacts;
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use inputs::{Constants, Input, Inputs};
use procedures::Call;
use progress::WorkCounts;
use rows::TableRows;
use schema::Schema;
use size::{DISTRICTS, Size};
use statements::Kind;
use std::sync::atomic::AtomicUsize;
use transaction::{Mix, Transaction, WEIGHTS, new_deck};

/// Option.
const PROCEDURES: &str = "procedures";

pub(super) fn description() -> WorkloadDescription {
    let weight = |(name, default)| integer(name, 0, 1_000_000, default, "share with mix = weights");
    let mut options = size::options();
    options.extend([
        choice(
            PACING,
            &["none", PACED],
            "none: terminals do not wait; standard: keying and think times of TPC-C",
        ),
        choice(
            "terminals",
            &["bound", "free"],
            "bound: each client keeps to its warehouse (client n: warehouse n modulo warehouses), \
             as in TPC-C; free: it draws one for each transaction",
        ),
        choice(
            MIX,
            &[STANDARD_MIX, "weights"],
            "deck: each client shuffles 10 new orders, 10 payments and one of each other \
             transaction; weights: each transaction is drawn by the weights below",
        ),
    ]);
    options.extend(WEIGHTS.map(weight));
    options.extend([
        flag_on(
            "row_locks",
            "SELECT ... FOR UPDATE of rows that the transaction changes; false: only the isolation \
             level protects them",
        ),
        flag(
            PROCEDURES,
            "stored procedures: one round trip per transaction instead of about thirty; not on \
             SQLite, and not on an NDB Cluster of several SQL nodes, each of which has its own",
        ),
        flag("foreign_keys", "the foreign keys of TPC-C"),
        isolation_option(),
        storage_engine(),
        ledger(),
    ]);
    WorkloadDescription {
        name: "tpcc",
        summary: "TPC-C-like: new orders, payments, order status, deliveries and stock levels of a \
                  wholesaler, on nine tables. Derived from TPC-C and not comparable with published \
                  TPC-C results.",
        audit: "The consistency conditions 1 to 12 of TPC-C (clause 3.3.2), and as many new \
                orders, payments and deliveries as were acknowledged.",
        options,
    }
}

/// The workload `tpcc`.
pub struct Tpcc {
    inputs: Inputs,
    mix: Mix,
    is_paced: bool,
    is_bound: bool,
    isolation: Option<String>,
    data: Tables,
    progress: WorkCounts,
}

/// The tables with their rows.
struct Tables {
    schema: Schema,
    rows: TableRows,
    /// Follows each SELECT whose row the transaction changes.
    row_lock: &'static str,
    procedures: ProcedureLanguage,
    has_ledger: bool,
}

/// What the tables held before the trial.
#[derive(Debug, Default)]
pub struct Contents {
    /// The sum of `d_next_o_id`.
    order_numbers: i64,
    /// Rows of `history` and `new_order`.
    payments: u64,
    open_orders: u64,
    isolation: Option<IsolationLevel>,
}

impl Tpcc {
    pub(super) fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
    ) -> Result<Self, String> {
        let WorkloadContext { engine, clients, seed } = setting;
        let size = Size::build(options);
        let is_paced = options.text(PACING) == PACED;
        if is_paced && i64::from(clients) > size.districts() {
            let (warehouses, most) = (size.warehouses, size.districts());
            return Err(format!(
                "{clients} clients are more than ten terminals per warehouse, which `pacing = \
                 \"standard\"` allows: with warehouses = {warehouses}, at most {most}"
            ));
        }
        let dialect = engine.dialect();
        let has_foreign_keys = options.boolean("foreign_keys");
        if has_foreign_keys && !dialect.adds_foreign_keys {
            let products = engine.traits().products;
            return Err(format!("{products} cannot add foreign keys to tables that are loaded"));
        }
        let has_ledger = options.boolean("ledger");
        let procedures = match options.boolean(PROCEDURES) {
            true => dialect.procedures,
            false => ProcedureLanguage::None,
        };
        if options.boolean(PROCEDURES) && procedures == ProcedureLanguage::None {
            let products = engine.traits().products;
            return Err(format!("{products} has no stored procedures: remove `{PROCEDURES}`"));
        }
        if options.boolean(PROCEDURES) && has_ledger {
            return Err(format!(
                "a stored procedure ends its transaction before the ledger's row could be added: \
                 remove `{PROCEDURES}` or `ledger`"
            ));
        }
        let row_lock = if options.boolean("row_locks") { dialect.row_lock } else { "" };
        let storage = storage_clause(dialect, options.text("mysql_storage_engine"));
        let schema = Schema { dialect, storage, has_foreign_keys };
        let inputs = Inputs::new(size, Constants::new(seed));
        Ok(Self {
            inputs,
            mix: Mix::build(options)?,
            is_paced,
            is_bound: options.text("terminals") == "bound",
            isolation: isolation_setup(options, engine)?,
            data: Tables {
                schema,
                rows: TableRows { size, inputs, seed },
                row_lock,
                procedures,
                has_ledger,
            },
            progress: WorkCounts::new(&size),
        })
    }

    fn size(&self) -> &Size {
        &self.data.rows.size
    }

    /// The contents that the audit will compare with.
    async fn contents(connection: &mut Connection) -> Result<Contents, OperationFailure> {
        let count = |found: i64| found.unsigned_abs();
        Ok(Contents {
            order_numbers: scalar(connection, "SELECT SUM(d_next_o_id) FROM district").await?,
            payments: count(scalar(connection, "SELECT COUNT(*) FROM history").await?),
            open_orders: count(scalar(connection, "SELECT COUNT(*) FROM new_order").await?),
            isolation: None,
        })
    }

    fn has_procedures(&self) -> bool {
        self.data.procedures != ProcedureLanguage::None
    }

    /// What the user of a terminal enters.
    fn draw(&self, client: &mut Terminal, sequence: u64, random: &mut Random) -> Input {
        let transaction = self.mix.choose(&mut client.deck, sequence, random);
        let warehouse = client.home.unwrap_or_else(|| random.between(1, self.size().warehouses));
        match transaction {
            Transaction::NewOrder | Transaction::RolledBack => {
                let is_mistyped = transaction == Transaction::RolledBack;
                Input::NewOrder(self.inputs.new_order(random, warehouse, is_mistyped))
            }
            Transaction::Payment => Input::Payment(self.inputs.payment(random, warehouse)),
            Transaction::OrderStatus => {
                Input::OrderStatus(warehouse, self.inputs.order_status(random))
            }
            Transaction::Delivery => Input::Delivery(warehouse, random.between(1, 10)),
            Transaction::StockLevel => {
                Input::StockLevel(warehouse, client.district, random.between(10, 20))
            }
        }
    }

    /// Ends a new order whose item does not exist.
    async fn roll_back(&self, session: &mut Session) -> Result<(), OperationFailure> {
        session.roll_back().await?;
        if self.data.has_ledger {
            // The transaction is complete, and leaves its row like any other.
            session.begin().await?;
            session.commit().await?;
        }
        Ok(())
    }
}

impl Workload for Tpcc {
    type Client = Terminal;
    type Baseline = Contents;

    fn kinds(&self) -> Vec<&'static str> {
        match self.has_procedures() {
            true => Call::ALL.map(Call::name).to_vec(),
            false => Kind::ALL.map(Kind::name).to_vec(),
        }
    }

    fn commit_kinds(&self) -> Vec<usize> {
        let calls = Call::ALL.into_iter().filter(|call| self.has_procedures() && call.commits());
        calls.map(|call| call as usize).collect()
    }

    fn session_setup(&self) -> Vec<String> {
        self.isolation.iter().cloned().collect()
    }

    fn keeps_ledger(&self) -> bool {
        self.data.has_ledger
    }

    fn begin(&self) -> Option<&'static str> {
        (!self.has_procedures()).then_some(self.data.schema.dialect.begin_to_write)
    }

    fn statements(&self) -> Vec<StatementText> {
        match self.has_procedures() {
            true => procedures::calls(self.data.procedures),
            false => statements::all(self.data.row_lock),
        }
    }

    fn data(&self) -> &dyn DataSet {
        &self.data
    }

    fn client(&self, id: ClientId) -> Terminal {
        let (number, warehouses) = (i64::from(id.0), self.size().warehouses);
        Terminal {
            home: self.is_bound.then_some(number % warehouses + 1),
            district: number / warehouses % DISTRICTS + 1,
            deck: new_deck(),
            text: String::new(),
        }
    }

    fn transactions(&self) -> Vec<&'static str> {
        Transaction::ALL.map(Transaction::name).to_vec()
    }

    fn transaction_name(&self, client: &mut Terminal, sequence: u64, random: &mut Random) -> u16 {
        self.mix.choose(&mut client.deck, sequence, random) as u16
    }

    fn think(&self, name_index: u16) -> Option<Nanos> {
        self.is_paced.then(|| Transaction::ALL[usize::from(name_index)].think())
    }

    fn keying(&self, name_index: u16) -> Nanos {
        match self.is_paced {
            true => Transaction::ALL[usize::from(name_index)].keying(),
            false => Nanos(0),
        }
    }

    fn benchmark(&self, baseline: &Contents) -> Option<BenchmarkFacts> {
        let most = self.mix.new_orders_max() * self.size().warehouses as f64;
        let (warehouses, districts) = self.progress.touched();
        Some(BenchmarkFacts {
            transaction: Transaction::NewOrder.name().to_owned(),
            rolled_back: Transaction::RolledBack.name().to_owned(),
            per_minute_max: self.is_paced.then_some(most),
            warehouses,
            districts,
            isolation: baseline.isolation,
        })
    }

    async fn transaction(
        &self,
        client: &mut Terminal,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let input = self.draw(client, sequence, random);
        let done = if self.has_procedures() {
            client.call(session, &input, self.size()).await?
        } else {
            session.begin().await?;
            let Some(done) = client.execute(session, &input).await? else {
                return self.roll_back(session).await;
            };
            session.commit().await?;
            done
        };
        self.progress.add(done);
        Ok(())
    }

    async fn baseline(&self, connection: &mut Connection) -> Result<Contents, OperationFailure> {
        conditions::check_size(connection, self.size()).await?;
        let contents = Self::contents(connection).await?;
        let (setup, dialect) = (self.isolation.as_deref(), self.data.schema.dialect);
        let isolation = isolation_in_force(setup, "district", dialect, connection).await?;
        Ok(Contents { isolation, ..contents })
    }

    fn export_counts(&self) -> Vec<u64> {
        self.progress.export_counts()
    }

    fn import_counts(&self, exported: &[u64]) {
        self.progress.import_counts(exported);
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Contents>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let (before, after) = (&facts.baseline, Self::contents(connection).await?);
        let (done, open) = (self.progress.counts(), facts.uncertain());
        let expected = before.order_numbers + done.new_orders as i64;
        let payments = before.payments + done.payments;
        let open_orders = (before.open_orders + done.new_orders).saturating_sub(done.delivered);
        // A delivery in doubt may have taken an order of each district.
        let taken = open * DISTRICTS.unsigned_abs();
        let mut checks = conditions::check(connection, self.size()).await?;
        checks.extend([
            AuditCheck::ColumnSum {
                table: "district".to_owned(),
                column: "d_next_o_id".to_owned(),
                expected_min: expected,
                expected_max: expected + open as i64,
                found: after.order_numbers,
            },
            row_count("history", payments..=payments + open, after.payments),
            row_count(
                "new_order",
                open_orders.saturating_sub(taken)..=open_orders + open,
                after.open_orders,
            ),
        ]);
        Ok(checks)
    }
}

impl DataSet for Tables {
    fn fingerprint(&self) -> String {
        let Self { schema, rows, row_lock, procedures, has_ledger } = self;
        let procedures = match procedures {
            ProcedureLanguage::None => String::new(),
            _ => format!(" procedures{row_lock}"),
        };
        format!(
            "tpcc {:?} seed={} foreign_keys={} storage={} ledger={has_ledger}{procedures}",
            rows.size, rows.seed, schema.has_foreign_keys, schema.storage
        )
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let ledger = self.has_ledger.then(commit_ledger::table);
        self.schema.tables(&self.rows.size).into_iter().chain(ledger).collect()
    }

    fn create(&self, target: &Target, _interrupts: &AtomicUsize) -> Result<(), OperationFailure> {
        let procedures = procedures::remove(self.procedures).into_iter();
        let procedures = procedures.chain(procedures::create(self.procedures, self.row_lock));
        send(target, procedures.chain(self.schema.foreign_keys()))
    }

    fn remove(&self, target: &Target, _interrupts: &AtomicUsize) {
        // What cannot be removed has no effect on tables or on other runs.
        let _ = send(target, procedures::remove(self.procedures));
    }

    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        self.rows.write(table, row, out);
    }
}

/// Sends statements on a connection of their own.
fn send(
    target: &Target,
    statements: impl IntoIterator<Item = String>,
) -> Result<(), OperationFailure> {
    let mut statements = statements.into_iter().peekable();
    if statements.peek().is_none() {
        return Ok(());
    }
    let io = Io::WithTimeout(TimeoutPolicy::for_work(target).hasty());
    block_on(async {
        let mut connection = Connection::connect(target, &io).await?;
        for sql in statements {
            connection.query(&sql, &mut Discard).await?;
        }
        connection.close().await;
        Ok(())
    })
}

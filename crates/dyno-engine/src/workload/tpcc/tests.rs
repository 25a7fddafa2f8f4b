//! The audit on SQLite: a violation of each condition is planted, and found.

use super::*;
use crate::loading::{Loading, load_data};
use crate::workload::Native;
use crate::workload::native::catalog;
use dyno_model::catalog::OptionValue;
use dyno_model::engine::Engine;
use dyno_model::plan::WorkloadPlan;
use dyno_model::target::Endpoint;

fn options(changes: &[(&str, OptionValue)]) -> WorkloadOptions {
    let mut options = description().defaults();
    let small = [("warehouses", 2), ("items", 100), ("customers", 30)];
    let small = small.map(|(name, value)| (name, OptionValue::Integer(value)));
    for (name, value) in small.iter().chain(changes) {
        assert!(options.0.insert((*name).to_owned(), value.clone()).is_some(), "no option {name}");
    }
    options
}

fn build(changes: &[(&str, OptionValue)], clients: u32) -> Result<Tpcc, String> {
    build_on(Engine::Sqlite, changes, clients)
}

fn build_on(engine: Engine, changes: &[(&str, OptionValue)], clients: u32) -> Result<Tpcc, String> {
    Tpcc::build(&options(changes), WorkloadContext { engine, clients, seed: 1 })
}

/// Loaded tables, in a file that is removed with its folder.
struct Loaded {
    folder: std::path::PathBuf,
    connection: Connection,
}

impl Loaded {
    fn new(name: &str, tpcc: &Tpcc) -> Self {
        let folder = std::env::temp_dir().join(format!("dyno-tpcc-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let target = Target::new(Engine::Sqlite, Endpoint::File(folder.join("tpcc.db")));
        let interrupts = AtomicUsize::new(0);
        let loading = Loading {
            trial: "b01-001",
            target: &target,
            data: tpcc.data(),
            interrupts: &interrupts,
        };
        load_data(&loading, &mut ()).expect("it is loaded");
        let connection = block_on(Connection::connect(&target, &Io::Blocking));
        Self { folder, connection: connection.expect("the file is there") }
    }

    fn send(&mut self, sql: &str) {
        block_on(self.connection.query(sql, &mut Discard)).expect("it is sent");
    }

    /// The numbers of the conditions that are violated.
    fn violated(&mut self, tpcc: &Tpcc) -> Vec<u32> {
        let checks = block_on(conditions::check(&mut self.connection, tpcc.size()));
        let checks = checks.expect("the conditions can be checked");
        assert_eq!(checks.len(), 12);
        let violated = (1..).zip(checks).filter(|(number, check)| {
            let AuditCheck::Value { expression, found, .. } = check else { unreachable!() };
            assert!(expression.starts_with(&format!("condition {number}: ")), "{expression}");
            *found != 0
        });
        violated.map(|(number, _)| number).collect()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_violation_of_each_condition_is_found() {
    let tpcc = build(&[], 1).expect("the options fit");
    let mut loaded = Loaded::new("conditions", &tpcc);
    assert!(loaded.violated(&tpcc).is_empty(), "tables are loaded as the conditions demand");
    // What is changed, and the conditions that it violates: those that say so, and all others that
    // follow from the same column.
    let plants: [(&str, &[u32]); 13] = [
        ("UPDATE district SET d_ytd = d_ytd + 0.01 WHERE d_w_id = 2 AND d_id = 10", &[1, 9]),
        ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1", &[2]),
        // The greatest number without its order, and in the middle.
        ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 30", &[2, 5, 11]),
        ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 25", &[3, 5, 11]),
        ("UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_id = 7 AND o_d_id = 1", &[4, 6]),
        ("UPDATE orders SET o_carrier_id = NULL WHERE o_id = 1", &[5, 7]),
        ("UPDATE orders SET o_carrier_id = 5 WHERE o_id = 30", &[5, 7]),
        ("UPDATE order_line SET ol_amount = 1 WHERE ol_o_id = 1 AND ol_number = 3", &[10, 12]),
        ("UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1 AND ol_number = 3", &[7]),
        ("UPDATE warehouse SET w_ytd = w_ytd - 1 WHERE w_id = 1", &[1, 8]),
        ("DELETE FROM history WHERE h_c_id = 3 AND h_c_d_id = 4 AND h_c_w_id = 2", &[8, 9, 10]),
        ("UPDATE customer SET c_balance = c_balance + 0.01 WHERE c_id = 9", &[10, 12]),
        ("UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_id = 9", &[12]),
    ];
    for (change, expected) in plants {
        loaded.send("BEGIN");
        loaded.send(change);
        assert_eq!(loaded.violated(&tpcc), expected, "{change}");
        loaded.send("ROLLBACK");
    }
    // Tables of others may permit NULL, which equals nothing.
    for (table, column, expected) in [
        ("warehouse", "w_ytd", &[1, 8][..]),
        ("district", "d_ytd", &[1, 9]),
        ("district", "d_next_o_id", &[2]),
        ("orders", "o_ol_cnt", &[4, 6]),
        ("customer", "c_balance", &[10, 12]),
        ("customer", "c_ytd_payment", &[12]),
    ] {
        loaded.send("BEGIN");
        loaded.send(&format!("CREATE TABLE theirs AS SELECT * FROM {table}"));
        loaded.send(&format!("DROP TABLE {table}"));
        loaded.send(&format!("ALTER TABLE theirs RENAME TO {table}"));
        loaded.send(&format!("UPDATE {table} SET {column} = NULL WHERE rowid = 1"));
        assert_eq!(loaded.violated(&tpcc), expected, "{column}");
        loaded.send("ROLLBACK");
    }
    loaded.send("UPDATE customer SET c_delivery_cnt = 1 WHERE c_id = 9");
    assert_eq!(loaded.violated(&tpcc), [11]);
}

#[test]
fn tables_of_another_size_are_refused_before_anything_is_written() {
    let tpcc = build(&[], 1).expect("the options fit");
    let mut loaded = Loaded::new("size", &tpcc);
    let found = block_on(tpcc.baseline(&mut loaded.connection)).expect("the size is right");
    assert_eq!((found.order_numbers, found.payments, found.open_orders), (620, 600, 180));
    for (name, value, message) in [
        ("warehouses", 3, "the tables have 2 warehouses, and the workload's options say 3"),
        ("items", 200, "the tables have 100 items, and"),
        ("customers", 20, "the tables have 30 customers in the first district, and"),
    ] {
        let other = build(&[(name, OptionValue::Integer(value))], 1).expect("the options fit");
        let refused = block_on(other.baseline(&mut loaded.connection)).expect_err("it is refused");
        assert!(refused.message.starts_with(message), "{}", refused.message);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let standard = ("pacing", OptionValue::Text("standard".to_owned()));
    let refused = |changes: &[(&str, OptionValue)], clients| build(changes, clients).err();
    assert_eq!(refused(std::slice::from_ref(&standard), 20), None);
    let message = refused(std::slice::from_ref(&standard), 21).expect("it is refused");
    assert!(message.contains("with warehouses = 2, at most 20"), "{message}");
    assert_eq!(refused(&[], 1_000), None, "terminals that do not wait may be as many as wanted");
    let message = refused(&[("foreign_keys", OptionValue::Boolean(true))], 1);
    assert!(message.is_some_and(|message| message.starts_with("SQLite cannot add foreign keys")));
    let procedures = ("procedures", OptionValue::Boolean(true));
    let message = refused(std::slice::from_ref(&procedures), 1);
    assert!(message.is_some_and(|message| message.starts_with("SQLite has no stored procedures")));
    let message = build_on(
        Engine::Postgres,
        &[procedures.clone(), ("ledger", OptionValue::Boolean(true))],
        1,
    );
    assert!(message.is_err_and(|it| it.ends_with("remove `procedures` or `ledger`")));
    let called = build_on(Engine::Postgres, &[procedures], 1).expect("the options fit");
    assert_eq!((called.begin(), called.commit_kinds().len()), (None, 5));
    let mut changes = WEIGHTS.map(|(name, _)| (name, OptionValue::Integer(0))).to_vec();
    changes.push(("mix", OptionValue::Text("weights".to_owned())));
    assert!(refused(&changes, 1).is_some_and(|message| message.starts_with("all weights are 0")));
}

#[test]
fn terminals_of_all_warehouses_come_before_a_second_terminal_of_one() {
    let tpcc = build(&[], 40).expect("the options fit");
    let home = |id| {
        let terminal = tpcc.client(ClientId(id));
        (terminal.home, terminal.district)
    };
    assert_eq!([0, 1, 2, 19, 20].map(home).map(|it| it.1), [1, 1, 2, 10, 1]);
    assert_eq!([0, 1, 2, 3].map(home).map(|it| it.0), [Some(1), Some(2), Some(1), Some(2)]);
    let free = build(&[("terminals", OptionValue::Text("free".to_owned()))], 1);
    assert_eq!(free.expect("the options fit").client(ClientId(0)).home, None);
}

#[test]
fn it_is_in_the_catalogue() {
    let known = catalog().into_iter().find(|it| it.name == "tpcc").expect("it is known");
    let plan = WorkloadPlan::new("tpcc", known.defaults());
    let setting = WorkloadContext { engine: Engine::Postgres, clients: 1, seed: 1 };
    let native = Native::build(&plan, setting).expect("its defaults fit");
    assert_eq!(native.transactions().len(), 6);
    assert!(native.statement_kinds().ends_with(&["stock", "begin", "commit", "rollback"]));
}

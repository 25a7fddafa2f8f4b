//! The workload `tpcc` on real servers: the consistency conditions hold after every trial, and each
//! engine's own SQL finds what is planted against them.

use super::harmed;
use crate::audits::{Work, session};
use crate::program::{Bench, flaws, records};
use dyno_drivers::{Driver, Table, block_on};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{ServerKind, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use dyno_testkit::running_server;
use std::sync::atomic::AtomicUsize;

/// None of them waits for its disk.
const ENGINES: [(ServerKind, &[(&str, &str)]); 3] = [
    (ServerKind::Sqlite, &[("synchronous", "OFF")]),
    (ServerKind::Mariadb, &[("innodb_flush_log_at_trx_commit", "2")]),
    (ServerKind::Postgres, &[("synchronous_commit", "off")]),
];

/// A small database.
fn work(clients: u32, transactions: u64, more: &[(&'static str, OptionValue)]) -> Work {
    let small = [("warehouses", 2), ("items", 2_000), ("customers", 30)];
    let mut options = small.map(|(name, value)| (name, OptionValue::Integer(value))).to_vec();
    options.extend_from_slice(more);
    let mut work = Work::new("tpcc", &options, clients, StopRule::Transactions(transactions));
    work.load.attempts_max = 1_000;
    work
}

/// The conditions that do not hold.
fn violated(record: &TrialRecord) -> Vec<String> {
    let conditions = record.audit.checks.iter().filter_map(|check| match check {
        AuditCheck::Value { expression, found: 1.., .. } => {
            expression.split(':').next().map(|name| name.replace("condition ", ""))
        }
        _ => None,
    });
    conditions.collect()
}

#[test]
fn all_conditions_hold_after_every_transaction_of_the_mix() {
    let nobody = AtomicUsize::new(0);
    for (kind, settings) in ENGINES {
        let Some(server) = running_server(kind, settings) else { continue };
        let more = [
            ("ledger", OptionValue::Boolean(true)),
            ("foreign_keys", OptionValue::Boolean(kind != ServerKind::Sqlite)),
        ];
        let work = work(4, 600, &more);
        // Twice, because foreign keys must not keep the tables from being dropped.
        (0..2).for_each(|_| assert_eq!(work.prepare(&server.target()), 14_002, "{kind}"));
        let record = work.run(&server.target(), &nobody, &mut ());
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{kind}: {:?}", record.audit);
        assert_eq!(record.audit.checks.len(), 16, "{kind}: {:?}", record.audit);
        let counts = (record.counters.committed, record.counters.failed);
        assert_eq!(counts, (600, 0), "{kind}: {:?}", record.warnings);
        let count = |name: &str| {
            let named = record.transactions.iter().find(|it| it.name == name);
            named
                .unwrap_or_else(|| panic!("{kind}: no {name}"))
                .response
                .as_ref()
                .map_or(0, |it| it.count)
        };
        let rolled_back = count("new-order-rollback");
        assert!((0..20).contains(&rolled_back), "{kind}: {rolled_back} are rolled back");
        // Each deck has ten of each; four clients have begun their last one.
        assert!(count("new-order").abs_diff(261 - rolled_back) < 40, "{kind}");
        assert!(count("payment").abs_diff(261) < 40, "{kind}");
        for name in ["order-status", "delivery", "stock-level"] {
            assert!(count(name).abs_diff(26) < 6, "{kind}: {name}");
        }
    }
}

#[test]
fn procedures_do_the_work_of_the_statements_and_keep_all_conditions() {
    let nobody = AtomicUsize::new(0);
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let run = |clients, transactions, has_procedures| {
            let procedures = ("procedures", OptionValue::Boolean(has_procedures));
            let work = work(clients, transactions, &[procedures]);
            work.prepare(&server.target());
            let record = work.run(&server.target(), &nobody, &mut ());
            assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{kind}: {:?}", record.audit);
            let counts = (record.counters.committed, record.counters.failed);
            assert_eq!(counts, (transactions, 0), "{kind}: {:?}", record.failures);
            assert!(flaws(&record).is_empty(), "{kind}: {:?}", record.warnings);
            record
        };
        // One client draws the same transactions: they leave the same sums and rows.
        let [statements, calls] = [false, true].map(|has_procedures| run(1, 300, has_procedures));
        assert_eq!(calls.audit.checks, statements.audit.checks, "{kind}");
        let sent = |record: &TrialRecord| -> u64 {
            record.counters.statements.iter().map(|it| it.sent).sum()
        };
        assert_eq!(sent(&calls), 300, "{kind}: one round trip each");
        assert!(sent(&statements) > 300 * 20, "{kind}: {}", sent(&statements));
        let rolled_back = |record: &TrialRecord| {
            let mut all = record.counters.transactions.iter();
            all.find(|it| it.name == "new-order-rollback").map(|it| it.committed)
        };
        assert_eq!(rolled_back(&calls), rolled_back(&statements), "{kind}");
        run(4, 600, true);
    }
}

#[test]
fn planted_violations_of_all_twelve_conditions_are_found() {
    let nobody = AtomicUsize::new(0);
    // For each condition a district, or a customer, of its own.
    let plants = [
        "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2",
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1",
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 25",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_id = 7 AND o_d_id = 1",
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1 AND ol_number = 3",
        "DELETE FROM history WHERE h_c_id = 3 AND h_c_d_id = 4 AND h_c_w_id = 2",
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 0.01 WHERE c_id = 9",
    ];
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let work = work(1, 1, &[]);
        work.prepare(&server.target());
        plants.iter().for_each(|change| drop(session(&server.target(), change)));
        let record = work.run(&server.target(), &nobody, &mut ());
        let all: Vec<String> = (1..=12).map(|number| number.to_string()).collect();
        assert_eq!(violated(&record), all, "{kind}: {:?} {:?}", record.audit, record.warnings);
        assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
    }
}

#[test]
fn one_line_runs_it_and_says_what_it_is_not() {
    let bench = Bench::new();
    let line = |more: &[&'static str]| {
        let first = ["run", "sqlite:a.db", "--workload", "tpcc", "--warehouses", "1"];
        let small = ["--set", "workload.items=200", "--set", "workload.customers=30"];
        bench.dyno(&[&first[..], &small, &["--blocks", "1", "--warmup", "0s"], more].concat())
    };
    let work = ["--clients", "1", "--set", "load.transactions=150"];
    let more = [&work[..], &["--limit", "p50 of new-order < 5s"]].concat();
    let ended = line(&[&more[..], &["--out", "r"]].concat());
    assert!(ended.is_done(), "{ended}");
    bench.forget_the_machine("r");
    let ended = bench.dyno(&["report", "r", "--format", "text"]);
    let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("Rates of new orders are not comparable with tpmC."), "{ended}");
    assert!(reported.contains("new-order-rollback") && reported.contains("(new-order)"), "{ended}");
    assert!(reported.contains("unpaced: not comparable with tpmC 1/1 10/10"), "{ended}");
    assert!(reported.contains("% SERIALIZABLE"), "the level that SQLite has: {ended}");
    let before = bench.names();
    let paced = ["--set", "workload.pacing=\"standard\""];
    for (more, message) in [
        (["--clients", "11"], "11 clients are more than ten terminals per warehouse"),
        (["--rate", "5/s"], "`workload.pacing` and a rate in `load.rate` cannot both be given"),
        (["--set", "workload.warehouses=0"], "`workload.warehouses` must be between 1 and"),
    ] {
        let ended = line(&[&paced[..], &more].concat());
        assert!(!ended.is_done() && ended.stderr.contains(message), "{ended}");
        assert_eq!(bench.names(), before, "nothing is written");
    }
    let short = ["--clients", "1", "--duration", "1s", "--out", "paced"];
    let ended = line(&[&paced[..], &short].concat());
    let records = records(&bench.path().join("paced"));
    assert_eq!(records.len(), 1, "{ended}");
    let new_order =
        records[0].transactions.iter().find(|it| it.name == "new-order").expect("a name");
    assert_eq!(new_order.think, Some(Nanos(30_000_000_000)), "18 s of keying, 12 s of thinking");
}

#[test]
fn an_existing_database_of_another_size_is_refused_and_not_changed() {
    let bench = Bench::new();
    let target = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join("a.db")));
    work(1, 1, &[]).prepare(&target);
    let own = "warehouses = 2\nitems = 2_000\ncustomers = 30";
    for (change, size, message) in [
        ("", "warehouses = 3\nitems = 2_000\ncustomers = 30", "the tables have 2 warehouses"),
        ("", "warehouses = 2\nitems = 1_000\ncustomers = 30", "the tables have 2000 items"),
        ("", "warehouses = 2\nitems = 2_000\ncustomers = 40", "the tables have 30 customers"),
        ("DELETE FROM stock WHERE s_i_id = 1", own, "the tables have 1999 stocks"),
        ("DROP TABLE warehouse", own, "existing data need the tables of TPC-C"),
    ] {
        session(&target, if change.is_empty() { "SELECT 1" } else { change });
        let spec = format!(
            "title = \"E\"\n[[system]]\nname = \"S\"\nurl = \"sqlite:a.db\"\n\
             data = \"existing\"\n[workload]\nkind = \"tpcc\"\n{size}\n[load]\n\
             clients = 1\nwarmup = \"0s\"\nduration = \"1s\"\n[design]\nblocks = 1\n"
        );
        bench.file("e.toml", spec);
        let ended = bench.dyno(&["run", "e.toml", "--yes-write-to", "a.db"]);
        assert!(!ended.is_done() && ended.stderr.contains(message), "{ended}");
        let (mut orders, mut connection) = (Table::default(), session(&target, "SELECT 1"));
        block_on(connection.query("SELECT COUNT(*) FROM orders", &mut orders)).expect("it answers");
        assert_eq!(orders.number::<u64>(0), 600, "{ended}");
    }
}

#[test]
fn conditions_and_acknowledged_orders_survive_faults() {
    let workload =
        "kind = \"tpcc\"\nwarehouses = 2\nitems = 2_000\ncustomers = 30\nledger = true\n";
    let kinds = [ServerKind::Mariadb, ServerKind::Postgres, ServerKind::Galera, ServerKind::Ndb];
    for (kind, record) in harmed(&kinds, workload) {
        assert_eq!(violated(&record), Vec::<String>::new(), "{kind}");
        let lost = record.audit.losses().commits.map(|commits| commits.lost_min);
        assert_eq!(lost, Some(0), "{kind}: {:?}", record.audit);
    }
}

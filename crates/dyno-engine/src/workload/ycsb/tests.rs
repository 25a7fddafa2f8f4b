//! Options, and the audit on SQLite: a violation of each check is planted, and found.

use super::*;
use crate::loading::{Loading, load_data};
use crate::recording::Totals;
use dyno_drivers::{Discard, Io, block_on};
use dyno_model::audit::AuditVerdict;
use dyno_model::catalog::OptionValue;
use dyno_model::engine::Engine;
use dyno_model::target::{Endpoint, Target};
use std::sync::atomic::AtomicUsize;

fn build(kind: &str, changes: &[(&str, OptionValue)]) -> std::result::Result<Ycsb, String> {
    let description = descriptions().into_iter().find(|it| it.name == kind).expect("it is known");
    let mut options = description.defaults();
    for (name, value) in changes {
        assert!(options.0.insert((*name).to_owned(), value.clone()).is_some(), "no option {name}");
    }
    Ycsb::build(&options, WorkloadContext { engine: Engine::Sqlite, clients: 1, seed: 1 })
}

#[test]
fn each_workload_has_the_operations_of_ycsb() {
    let shares = |kind| {
        let mut before = 0.0;
        let mix = build(kind, &[]).expect("its defaults fit").mix;
        let each = mix.into_iter().map(|(operation, upto)| {
            let share = (100.0 * (upto - before)).round();
            before = upto;
            format!("{operation} {share}")
        });
        each.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(shares("ycsb"), "read 95, update 5");
    assert_eq!(shares("ycsb-a"), "read 50, update 50");
    assert_eq!(shares("ycsb-b"), "read 95, update 5");
    assert_eq!(shares("ycsb-c"), "read 100");
    assert_eq!(shares("ycsb-d"), "read 95, insert 5");
    assert_eq!(shares("ycsb-e"), "scan 95, insert 5");
    assert_eq!(shares("ycsb-f"), "read 50, read-modify-write 50");
}

#[test]
fn operations_are_drawn_by_their_shares_whatever_these_add_up_to() {
    let number = |name, value| (name, OptionValue::Number(value));
    let mix = [number("readproportion", 0.1), number("updateproportion", 0.3)];
    let ycsb = build("ycsb", &mix).expect("the options fit");
    let mut random = Random::new(1, Stream::Transaction, 0, 0);
    let reads = (0..100_000).filter(|_| ycsb.choose(&mut random) == 0).count();
    // Four standard deviations.
    assert!(reads.abs_diff(25_000) < 550, "{reads}");
}

#[test]
fn statements_are_at_their_indexes() {
    for (reads_all, writes_all, count) in
        [(true, true, 4), (true, false, 13), (false, true, 22), (false, false, 31)]
    {
        let flag = |name, is_on| (name, OptionValue::Boolean(is_on));
        let changes = [flag("readallfields", reads_all), flag("writeallfields", writes_all)];
        let ycsb = build("ycsb", &changes).expect("the options fit");
        let statements = ycsb.statements();
        assert_eq!(statements.len(), count);
        for (kind, first) in ycsb.statements.first.into_iter().enumerate() {
            assert_eq!(usize::from(statements[first].kind_index), kind);
            assert!(first == 0 || usize::from(statements[first - 1].kind_index) == kind - 1);
        }
        let mut random = Random::new(1, Stream::Transaction, 0, 0);
        let (at, fields) = ycsb.statements.of(Operation::Update, 10, &mut random);
        let set = format!("field{} = ?", fields.end - 1);
        assert!(statements[at].sql.contains(&set), "{} writes {fields:?}", statements[at].sql);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let integer = |name, value| (name, OptionValue::Integer(value));
    let none = ["readproportion", "updateproportion"].map(|it| (it, OptionValue::Number(0.0)));
    for (changes, message) in [
        (&none[..], "all proportions are 0"),
        (
            &[integer("minscanlength", 20), integer("maxscanlength", 10)],
            "minscanlength = 20 is greater than maxscanlength = 10",
        ),
        (&[integer("fieldlength", 41)], "fieldlength = 41 is too short for the key"),
    ] {
        let refused = build("ycsb", changes).err().expect("it is refused");
        assert!(refused.starts_with(message), "{refused}");
    }
    assert_eq!(build("ycsb", &[integer("fieldlength", 42)]).err(), None);
}

#[test]
fn each_audit_check_detects_its_kind_of_corruption() {
    let folder = std::env::temp_dir().join(format!("dyno-ycsb-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let target = Target::new(Engine::Sqlite, Endpoint::File(folder.join("ycsb.db")));
    let ycsb = build("ycsb-d", &[]).expect("the options fit");
    let interrupts = AtomicUsize::new(0);
    let data = ycsb.data();
    let loading = Loading { trial: "b01-001", target: &target, data, interrupts: &interrupts };
    assert_eq!(load_data(&loading, &mut ()).expect("it is loaded"), 1_000);
    let mut connection = block_on(Connection::connect(&target, &Io::Blocking)).expect("it exists");
    block_on(ycsb.baseline(&mut connection)).expect("the size is right");
    let (mut key, mut other) = (String::new(), String::new());
    ycsb.data.keys.write(7, &mut key);
    ycsb.data.keys.write(8, &mut other);
    let mut violated = |change: &str| {
        let totals = Totals::default();
        let facts = AuditFacts { baseline: (), totals: &totals, opens: 0 };
        let mut send = |sql: &str| {
            block_on(connection.query(sql, &mut Discard)).expect("it is sent");
        };
        send("BEGIN");
        send(change);
        let checks = block_on(ycsb.audit(&mut connection, &facts)).expect("it can be checked");
        block_on(connection.query("ROLLBACK", &mut Discard)).expect("it is sent");
        let is_violated = |check: &AuditCheck| check.verdict() == AuditVerdict::Violated;
        checks.iter().map(is_violated).collect::<Vec<bool>>()
    };
    let [none, rows, checksum, misplaced] =
        [[false; 3], [true, false, false], [false, true, false], [false, false, true]];
    for (change, expected) in [
        ("SELECT 1".to_owned(), none),
        (format!("DELETE FROM usertable WHERE ycsb_key = '{key}'"), rows),
        (format!("UPDATE usertable SET field3 = 'x' || field3 WHERE ycsb_key = '{key}'"), checksum),
        (format!("UPDATE usertable SET field3 = '' WHERE ycsb_key = '{key}'"), checksum),
        (format!("UPDATE usertable SET field3 = field4 WHERE ycsb_key = '{key}'"), misplaced),
        (
            format!(
                "UPDATE usertable SET field3 = (SELECT field3 FROM usertable WHERE ycsb_key = \
                 '{other}') WHERE ycsb_key = '{key}'"
            ),
            misplaced,
        ),
    ] {
        assert_eq!(violated(&change), expected, "{change}");
    }
    // An acknowledged insert that is not there, and one whose outcome nobody knows.
    let mut client = ycsb.client(ClientId(0));
    client.pending = Some(ycsb.records.reserve());
    drop(client);
    assert_eq!(violated("SELECT 1"), none, "it may be missing");
    ycsb.records.acknowledge(ycsb.records.reserve());
    assert_eq!(violated("SELECT 1"), rows, "it must be there");
    drop(std::fs::remove_dir_all(&folder));
}

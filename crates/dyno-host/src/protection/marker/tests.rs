//! Tests of the marker on SQLite.

use super::*;
use crate::ownership::act_as_running;

const OPTIONS: ClaimOptions<'static> = ClaimOptions {
    experiment: "rush's",
    created_at: "2026-01-02T03:04:05Z",
    yes_write_to: None,
    is_shared: true,
};

fn database(folder: &tempfile::TempDir) -> Target {
    Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("shop.db")))
}

fn run(target: &Target, statements: &[&str]) {
    let mut session = ControlConnection::open(target).unwrap();
    for sql in statements {
        session.run(sql).unwrap();
    }
}

#[test]
fn an_empty_database_is_marked_and_recognised_again() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    let mut earlier = claim(&target, &OPTIONS).unwrap();
    assert_eq!(earlier.database, "shop.db");
    earlier.record_tables(&target, &["rush"], &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE rush (id INTEGER)"]);
    let again = claim(&target, &OPTIONS).unwrap();
    assert_eq!(again.tables, BTreeSet::from(["rush".to_owned()]));
    assert!(!again.is_forced());
}

#[test]
fn database_with_foreign_tables_is_rejected_naming_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    run(
        &target,
        &["CREATE TABLE customers (id INTEGER)", "CREATE VIEW good AS SELECT * FROM customers"],
    );
    let error = claim(&target, &OPTIONS).unwrap_err().to_string();
    assert_eq!(
        error,
        "the database \"shop.db\" is not empty and was not created by dyno; it contains customers, good\n\
         hint: use an empty database; to permit writing to it and replacing tables of the same names, \
         add --yes-write-to shop.db"
    );
    let wrong = ClaimOptions { yes_write_to: Some("other.db"), ..OPTIONS };
    let error = claim(&target, &wrong).unwrap_err().to_string();
    assert!(error.contains("--yes-write-to names \"other.db\" instead"), "{error}");
    let tables = ControlConnection::open(&target)
        .unwrap()
        .count("SELECT count(*) FROM sqlite_master")
        .unwrap();
    assert_eq!(tables, 2, "nothing was written");
}

#[test]
fn the_flag_permits_exactly_the_named_database() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    run(&target, &["CREATE TABLE customers (id INTEGER)"]);
    let yes = ClaimOptions { yes_write_to: Some("shop.db"), ..OPTIONS };
    assert!(claim(&target, &yes).unwrap().is_forced());
}

#[test]
fn a_table_that_dyno_did_not_create_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    let mut earlier = claim(&target, &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE customers (id INTEGER)"]);
    let error = earlier.record_tables(&target, &["customers"], &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("\"customers\"") && error.contains("--yes-write-to shop.db"), "{error}");
}

#[test]
fn unrecorded_tables_of_a_killed_run_belong_to_dyno() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    let mut earlier = claim(&target, &OPTIONS).unwrap();
    earlier.record_tables(&target, &[EVERYTHING], &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE half (id INTEGER)"]);
    let mut again = claim(&target, &OPTIONS).unwrap();
    assert!(again.tables.contains("half") && !again.is_forced(), "{again:?}");
    again.adopt_all(&target, &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE theirs (id INTEGER)"]);
    let error = claim(&target, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("it contains theirs\n"), "{error}");
    assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), ["half"]);
    // Tables of others must not be claimed.
    let yes = ClaimOptions { yes_write_to: Some("shop.db"), ..OPTIONS };
    let mut forced = claim(&target, &yes).unwrap();
    let error = forced.record_tables(&target, &[EVERYTHING], &yes).unwrap_err().to_string();
    assert!(error.contains("\"shop.db\" is not empty"), "{error}");
    run(&target, &["DROP TABLE theirs"]);
    let mut late = claim(&target, &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE theirs (id INTEGER)"]);
    late.record_tables(&target, &[EVERYTHING], &OPTIONS).unwrap_err();
    assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), Vec::<String>::new());
}

#[test]
fn cleanup_drops_what_dyno_created_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    let mut earlier = claim(&target, &OPTIONS).unwrap();
    earlier.record_tables(&target, &["rush", "never made"], &OPTIONS).unwrap();
    run(&target, &["CREATE TABLE rush (id INTEGER)", "CREATE TABLE theirs (id INTEGER)"]);
    assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), ["rush"]);
    let left =
        ControlConnection::open(&target).unwrap().rows("SELECT name FROM sqlite_master").unwrap();
    assert_eq!(left, [[Some("theirs".to_owned())]]);
    assert_eq!(
        cleanup(&target, &BTreeSet::new()).unwrap(),
        Vec::<String>::new(),
        "without a marker nothing is dropped"
    );
}

/// As through another node of a cluster: the lock is free, and the marker names the other run.
#[test]
fn database_marked_by_a_running_run_is_rejected_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let target = database(&folder);
    let mut earlier = claim(&target, &OPTIONS).unwrap();
    earlier.check(&target, true).unwrap();
    let name = format!("another-{}", this_run());
    let other = act_as_running(&name);
    let signed = signature(&["shop.db", "", &name]);
    let taken = format!(
        "UPDATE dyno_marker SET run = '{name}', signature = '{signed}' WHERE table_name = ''"
    );
    run(&target, &[&taken]);
    let in_use = "another run of dyno uses the database \"shop.db\"";
    let refused = [
        claim(&target, &OPTIONS).map(drop),
        cleanup(&target, &BTreeSet::new()).map(drop),
        check_owner(&target),
    ];
    for refused in refused {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.starts_with(in_use), "{refused}");
    }
    let lost = earlier.check(&target, true).unwrap_err().to_string();
    assert!(lost.contains("claimed the database \"shop.db\" in the meantime"), "{lost}");
    let own = ClaimOptions { is_shared: false, ..OPTIONS };
    claim(&target, &own).unwrap();
    run(&target, &[&taken]);
    drop(other);
    claim(&target, &OPTIONS).unwrap();
    earlier.check(&target, true).unwrap();
    run(&target, &["DROP TABLE dyno_marker"]);
    earlier.check(&target, true).expect_err("the marker is gone, and another run may have come");
}

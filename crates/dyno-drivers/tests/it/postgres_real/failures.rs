//! Errors of the server, after which the connection continues or reports that it cannot.

use super::server::{connect, first, run_all, server, table};
use dyno_drivers::postgres::Connection;
use dyno_drivers::postgres::protocol::backend::TransactionStatus;
use dyno_drivers::{Discard, Driver, Value, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::QueryMode;
use std::sync::Barrier;
use std::thread;

const MODES: [QueryMode; 3] = [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple];

fn refused(connection: &mut Connection, sql: &str) -> OperationFailure {
    match block_on(connection.query(sql, &mut Discard)) {
        Ok(outcome) => panic!("{sql}: {outcome:?}"),
        Err(failure) => failure,
    }
}

#[test]
fn failures_are_classified_and_the_connection_stays_usable() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Simple, "kinds");
    run_all(
        &mut connection,
        &["CREATE TEMP TABLE k (id int PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
    );
    let cases = [
        ("INSERT INTO k VALUES (1)", FailureKind::DuplicateKey, "23505"),
        ("SELECT * FROM nothing", FailureKind::BadStatement, "42P01"),
        ("SELEC 1", FailureKind::BadStatement, "42601"),
        ("SET statement_timeout = 20; SELECT pg_sleep(60)", FailureKind::Cancelled, "57014"),
        ("BEGIN READ ONLY; CREATE TABLE no (a int)", FailureKind::ReadOnly, "25006"),
        ("SET ROLE trusted; SELECT * FROM pg_authid", FailureKind::Permission, "42501"),
        ("SELECT 1/0", FailureKind::Other, "22012"),
        ("COPY k FROM STDIN", FailureKind::Unsupported, ""),
        ("COPY k FROM STDIN; COPY k FROM STDIN", FailureKind::Unsupported, ""),
    ];
    for (sql, kind, sqlstate) in cases {
        let failure = refused(&mut connection, sql);
        assert_eq!((failure.kind, failure.sqlstate.as_str()), (kind, sqlstate), "{sql}: {failure}");
        run_all(&mut connection, &["ROLLBACK", "RESET ALL", "RESET ROLE"]);
    }
    let failure = refused(&mut connection, "SET search_path = pg_temp; INSERT INTO k VALUES (1)");
    assert!(failure.message.contains("Key (id)=(1) already exists."), "{failure}");
    let rows = block_on(connection.query("COPY k TO STDOUT", &mut Discard)).unwrap();
    assert_eq!(rows.affected, 1);
}

#[test]
fn an_error_in_any_mode_ends_at_ready_for_query() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "step");
        let divide = block_on(connection.prepare("SELECT 100/?::int")).unwrap();
        for _ in 0..3 {
            let failure = block_on(connection.execute(divide, &[Value::Integer(0)], &mut Discard))
                .unwrap_err();
            assert_eq!(failure.sqlstate, "22012", "{mode:?}");
            let outcome =
                block_on(connection.execute(divide, &[Value::Integer(5)], &mut Discard)).unwrap();
            assert_eq!(outcome.rows, 1, "{mode:?}");
        }
        // An error in the middle of the rows.
        let late =
            block_on(connection.prepare("SELECT 1/(1000-n) FROM generate_series(1, ?::int) n"))
                .unwrap();
        assert_eq!(
            block_on(connection.execute(late, &[Value::Integer(2000)], &mut Discard))
                .unwrap_err()
                .sqlstate,
            "22012"
        );
        run_all(&mut connection, &["CREATE TEMP TABLE x (a int)"]);
        let copy = block_on(connection.prepare("COPY x FROM STDIN")).unwrap();
        let failure = block_on(connection.execute(copy, &[], &mut Discard)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsupported, "{mode:?}: {failure}");
        assert_eq!(first(&mut connection, "SELECT 1"), "1");
    }
}

#[test]
fn a_failed_transaction_must_be_rolled_back_by_the_caller() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "failed");
        let one = block_on(connection.prepare("SELECT 1")).unwrap();
        run_all(&mut connection, &["BEGIN"]);
        refused(&mut connection, "SELECT nothing");
        assert_eq!(connection.transaction_status(), TransactionStatus::Failed);
        let failure = block_on(connection.execute(one, &[], &mut Discard)).unwrap_err();
        assert_eq!(failure.sqlstate, "25P02");
        run_all(&mut connection, &["ROLLBACK"]);
        block_on(connection.execute(one, &[], &mut Discard)).unwrap();
    }
}

#[test]
fn a_row_changed_since_the_snapshot_is_a_serialization_failure() {
    let Some(server) = server() else { return };
    let mut first = server.session(QueryMode::Prepared, "snapshots");
    let mut second = server.session(QueryMode::Prepared, "snapshots");
    run_all(
        &mut first,
        &[
            "DROP TABLE IF EXISTS s",
            "CREATE TABLE s (id int, k int)",
            "INSERT INTO s VALUES (1, 0)",
        ],
    );
    run_all(&mut first, &["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT * FROM s"]);
    run_all(&mut second, &["UPDATE s SET k = 1"]);
    let failure = refused(&mut first, "UPDATE s SET k = 2");
    assert_eq!((failure.kind, failure.sqlstate.as_str()), (FailureKind::Serialization, "40001"));
    run_all(&mut first, &["ROLLBACK"]);
    run_all(&mut first, &["BEGIN", "SELECT * FROM s FOR UPDATE"]);
    let failure = refused(&mut second, "SELECT * FROM s FOR UPDATE NOWAIT");
    assert_eq!((failure.kind, failure.sqlstate.as_str()), (FailureKind::LockWait, "55P03"));
    let failure = refused(&mut second, "SET lock_timeout = 20; SELECT * FROM s FOR UPDATE");
    assert_eq!((failure.kind, failure.sqlstate.as_str()), (FailureKind::LockWait, "55P03"));
}

#[test]
fn one_of_two_transactions_that_wait_for_each_other_gets_a_deadlock() {
    let Some(server) = server() else { return };
    let mut setup = server.session(QueryMode::Prepared, "deadlocks");
    run_all(
        &mut setup,
        &[
            "DROP TABLE IF EXISTS d",
            "CREATE TABLE d (id int PRIMARY KEY, k int)",
            "INSERT INTO d VALUES (1, 0), (2, 0)",
        ],
    );
    let both_hold = Barrier::new(2);
    let results = thread::scope(|scope| {
        let clients = [[1, 2], [2, 1]].map(|order| {
            let both_hold = &both_hold;
            scope.spawn(move || {
                let mut connection = server.session(QueryMode::Prepared, "deadlocks");
                let update = block_on(connection.prepare("UPDATE d SET k=k+1 WHERE id=?")).unwrap();
                run_all(&mut connection, &["BEGIN"]);
                block_on(connection.execute(update, &[Value::Integer(order[0])], &mut Discard))
                    .unwrap();
                both_hold.wait();
                let result =
                    block_on(connection.execute(update, &[Value::Integer(order[1])], &mut Discard));
                run_all(&mut connection, &[if result.is_ok() { "COMMIT" } else { "ROLLBACK" }]);
                result
            })
        });
        clients.map(|client| client.join().unwrap())
    });
    let failures: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].kind, failures[0].sqlstate.as_str()), (FailureKind::Deadlock, "40P01"));
    assert_eq!(table(&mut setup, "SELECT k FROM d"), vec![vec![Some("1".to_owned())]; 2]);
}

#[test]
fn a_session_ended_by_the_server_reports_the_reason_and_stays_lost() {
    let Some(server) = server() else { return };
    let mut admin = server.admin();
    // Ended while idle, and by itself in the middle of a statement.
    let mut idle = server.session(QueryMode::Prepared, "ended");
    let statement = block_on(idle.prepare("SELECT 1")).unwrap();
    let kill = format!("SELECT pg_terminate_backend({}, 60000)", idle.backend_process());
    assert_eq!(first(&mut admin, &kill), "t");
    let failure = block_on(idle.execute(statement, &[], &mut Discard)).unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::NotReady | FailureKind::ConnectionLost),
        "{failure}"
    );
    let mut busy = server.session(QueryMode::Prepared, "ended");
    let failure = refused(&mut busy, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)");
    assert_eq!((failure.kind, failure.sqlstate.as_str()), (FailureKind::NotReady, "57P01"));
    for connection in [&mut idle, &mut busy] {
        assert!(!connection.is_usable());
        assert_eq!(refused(connection, "SELECT 1").kind, FailureKind::ConnectionLost);
        block_on(connection.close());
    }
}

#[test]
fn a_closed_connection_leaves_the_server_at_once() {
    let Some(server) = server() else { return };
    let mut connection = connect(&server.target("trusted")).unwrap();
    let process = connection.backend_process();
    block_on(connection.close());
    assert_eq!(refused(&mut connection, "SELECT 1").kind, FailureKind::ConnectionLost);
    drop(connection);
    // Waits in the server until the session has disappeared from its list.
    let waited = format!(
        "DO $$ BEGIN FOR i IN 1..1000 LOOP PERFORM pg_stat_clear_snapshot();
         EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = {process}); PERFORM pg_sleep(0.01); END LOOP; END $$"
    );
    let mut admin = server.admin();
    run_all(&mut admin, &[&waited]);
    assert_eq!(
        first(&mut admin, &format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {process}")),
        "0"
    );
}

//! Statements and their outcomes, with all negotiated capabilities, in pieces of any size, one or
//! several at a time.

use super::proxy::{Proxy, Tampering};
use super::server::{Server, first, run, servers, table};
use dyno_drivers::mysql::Connection;
use dyno_drivers::mysql::protocol::handshake::capability;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Discard, Driver, Executor, FirstInteger, Io, Outcome, Table, Value, block_on};
use dyno_model::target::{QueryMode, Target};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

#[test]
fn an_endless_answer_is_an_error_for_a_sink_that_keeps_rows() {
    for server in servers() {
        let mut connection = server.connect(&server.database("endless"));
        run(&mut connection, "CREATE TABLE t (v INT)");
        run(&mut connection, &format!("INSERT INTO t VALUES (1){}", ", (1)".repeat(3999)));
        // With more tables MySQL would first join all but one.
        let endless = "SELECT a.v FROM t a, t b";
        let failure = block_on(connection.query(endless, &mut Table::default())).unwrap_err();
        assert!(failure.message.contains("more than 64 MiB of rows"), "{failure}");
        let after = block_on(connection.query("SELECT 1", &mut Discard)).unwrap_err();
        assert!(after.is_lost(), "the rest of the answer was not read: {after}");
    }
}

#[test]
fn affected_rows_are_rows_whose_value_changed() {
    for server in servers() {
        let mut connection = server.connect(&server.database("affected"));
        run(&mut connection, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
        let affected = |connection: &mut Connection, sql: &str| {
            let outcome = block_on(connection.query(sql, &mut Discard)).unwrap();
            assert_eq!((outcome.has_rows, outcome.rows), (false, 0));
            outcome.affected
        };
        assert_eq!(affected(&mut connection, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"), 3);
        assert_eq!(affected(&mut connection, "UPDATE t SET v = 2"), 2);
        assert_eq!(affected(&mut connection, "UPDATE t SET v = 2"), 0);
        assert_eq!(affected(&mut connection, "DELETE FROM t WHERE id > 1"), 2);
        let empty =
            block_on(connection.query("SELECT * FROM t WHERE id = 9", &mut Discard)).unwrap();
        assert_eq!(empty, Outcome { has_rows: true, rows: 0, affected: 0 });
    }
}

#[test]
fn statements_that_cannot_be_prepared_are_sent_as_text() {
    for server in servers() {
        let mut connection = server.connect(&server.database("unprepared"));
        block_on(async {
            // MariaDB prepares nearly everything, MySQL rejects these with error 1295.
            let begin = connection.prepare("BEGIN").await.unwrap();
            let start = connection.prepare("START TRANSACTION READ ONLY").await.unwrap();
            let lock = connection.prepare("UNLOCK TABLES").await.unwrap();
            let commit = connection.prepare("COMMIT").await.unwrap();
            connection.execute(begin, &[], &mut Discard).await.unwrap();
            assert!(connection.is_in_transaction());
            connection.execute(commit, &[], &mut Discard).await.unwrap();
            assert!(!connection.is_in_transaction());
            connection.execute(start, &[], &mut Discard).await.unwrap();
            assert!(connection.is_in_transaction());
            connection.execute(commit, &[], &mut Discard).await.unwrap();
            connection.execute(lock, &[], &mut Discard).await.unwrap();
        });
    }
}

#[test]
fn results_of_several_statements_can_be_read_one_by_one() {
    for server in servers() {
        let mut connection = server.connect(&server.database("several"));
        run(&mut connection, "CREATE TABLE t (id INT PRIMARY KEY)");
        let sql = "SELECT 1; INSERT INTO t VALUES (1), (2); SELECT id FROM t";
        let sum = block_on(connection.query(sql, &mut Discard)).unwrap();
        assert_eq!(sum, Outcome { has_rows: true, rows: 3, affected: 2 });
        run(&mut connection, "DELETE FROM t");
        block_on(async {
            let mut table = Table::default();
            assert_eq!(connection.query_first(sql, &mut table).await.unwrap().rows, 1);
            assert_eq!(connection.next_result(&mut table).await.unwrap().unwrap().affected, 2);
            assert_eq!(connection.next_result(&mut table).await.unwrap().unwrap().rows, 2);
            assert_eq!(connection.next_result(&mut table).await.unwrap(), None);
            assert_eq!(table.0.len(), 3);
            // Unread results do not affect the next statement, even when one of them is an error.
            connection
                .query_first("SELECT 1; SELECT 2; SELECT * FROM nowhere", &mut Discard)
                .await
                .unwrap();
            let mut integer = FirstInteger::default();
            connection.query("SELECT 42", &mut integer).await.unwrap();
            assert_eq!(integer.0, Some(42));
            assert!(
                connection.query("SELECT 1; SELECT * FROM nowhere", &mut Discard).await.is_err()
            );
            connection.query("SELECT 1", &mut Discard).await.unwrap();
        });
    }
}

#[test]
fn a_procedure_returns_several_results_in_both_modes() {
    for server in servers() {
        let target = server.database("procedures");
        run(
            &mut server.connect(&target),
            "CREATE PROCEDURE p(n INT) BEGIN SELECT n; SELECT n + 1, 'x'; SELECT 1 WHERE FALSE; END",
        );
        for mode in [QueryMode::Prepared, QueryMode::Simple] {
            let mut connection = server.connect(&Target { query_mode: mode, ..target.clone() });
            block_on(async {
                let call = connection.prepare("CALL p(?)").await.unwrap();
                for n in [5, 6] {
                    let mut table = Table::default();
                    let outcome =
                        connection.execute(call, &[Value::Integer(n)], &mut table).await.unwrap();
                    assert_eq!(outcome.rows, 2);
                    assert_eq!(table.0[1], [Some((n + 1).to_string()), Some("x".to_owned())]);
                }
            });
        }
    }
}

#[test]
fn columns_may_change_under_a_prepared_statement() {
    for server in servers() {
        let mut connection = server.connect(&server.database("changing"));
        run(&mut connection, "CREATE TABLE t (a INT)");
        run(&mut connection, "INSERT INTO t VALUES (1)");
        block_on(async {
            let statement = connection.prepare("SELECT * FROM t").await.unwrap();
            for (change, expected) in [
                ("DO 0", vec!["1"]),
                ("ALTER TABLE t ADD b VARCHAR(9) DEFAULT 'two'", vec!["1", "two"]),
                ("ALTER TABLE t MODIFY a VARCHAR(9)", vec!["1", "two"]),
                ("ALTER TABLE t DROP b", vec!["1"]),
            ] {
                connection.query(change, &mut Discard).await.unwrap();
                for _ in 0..2 {
                    let mut table = Table::default();
                    connection.execute(statement, &[], &mut table).await.unwrap();
                    let row: Vec<_> =
                        table.0[0].iter().map(|field| field.as_deref().unwrap()).collect();
                    assert_eq!(row, expected, "after {change}");
                    connection.execute(statement, &[], &mut Discard).await.unwrap();
                }
            }
        });
    }
}

#[test]
fn a_deallocated_statement_is_unknown_afterwards() {
    for server in servers() {
        let mut connection = server.connect(&server.root());
        block_on(async {
            let kept = connection.prepare("SELECT ?").await.unwrap();
            let forgotten = connection.prepare("SELECT ?, 2").await.unwrap();
            connection.forget(forgotten).await.unwrap();
            let failure =
                connection.execute(forgotten, &[Value::Null], &mut Discard).await.unwrap_err();
            assert_eq!(failure.code, 1243, "{failure}");
            connection.execute(kept, &[Value::Null], &mut Discard).await.unwrap();
            let failure = connection.execute(kept, &[], &mut Discard).await.unwrap_err();
            assert!(failure.message.contains("has 1 parameters, but 0 were given"), "{failure}");
            connection.execute(kept, &[Value::Integer(1)], &mut Discard).await.unwrap();
        });
    }
}

/// Various statements whose results must not depend on the proxy in between.
fn exercise(connection: &mut Connection) -> Vec<Vec<Option<String>>> {
    let mut all = Table::default();
    block_on(async {
        connection
            .query("CREATE TEMPORARY TABLE x (id INT, t TEXT, d DATETIME(6))", &mut Discard)
            .await?;
        let insert =
            connection.prepare("INSERT INTO x VALUES (?, ?, '2026-01-02 03:04:05.678')").await?;
        for i in 0..50 {
            let text = "t".repeat(i * 20);
            connection
                .execute(insert, &[Value::Integer(i as i64), Value::Text(&text)], &mut Discard)
                .await?;
        }
        let select = connection.prepare("SELECT * FROM x WHERE id >= ? ORDER BY id").await?;
        for from in [0, 45, 100] {
            connection.execute(select, &[Value::Integer(from)], &mut all).await?;
            assert_eq!(
                connection.execute(select, &[Value::Integer(from)], &mut Discard).await?.rows,
                50_u64.saturating_sub(from as u64)
            );
        }
        connection
            .query("SELECT * FROM x ORDER BY id; SELECT COUNT(*), NULL FROM x", &mut all)
            .await?;
        assert!(connection.query("SELECT * FROM x, nowhere", &mut Discard).await.is_err());
        connection.query("DROP TEMPORARY TABLE x", &mut Discard).await
    })
    .unwrap();
    all.0
}

#[test]
fn answers_are_the_same_in_pieces_and_with_fewer_capabilities() {
    for server in servers() {
        let target = server.database("exercise");
        let expected = exercise(&mut server.connect(&target));
        assert_eq!(expected.len(), 50 + 5 + 50 + 1);
        for (hide, hide_mariadb) in [
            (0, 0),
            (capability::DEPRECATE_EOF, 0),
            (0, capability::MARIADB_CACHE_METADATA),
            (capability::DEPRECATE_EOF, u32::MAX),
        ] {
            for piece in [1, 7, 1000] {
                let proxy = Proxy::start(server, Tampering { hide, hide_mariadb, piece });
                let through = Target { endpoint: proxy.endpoint(), ..target.clone() };
                let mut connection = server.connect(&through);
                assert_eq!(
                    exercise(&mut connection),
                    expected,
                    "hide {hide:#x}, {hide_mariadb:#x}, pieces of {piece}"
                );
            }
        }
    }
}

/// Two hundred clients on one thread, each of which increments a counter 20 times.
fn two_hundred_clients(server: &Server, target: &Target) {
    const CLIENTS: usize = 200;
    let mut connection = server.connect(target);
    run(&mut connection, "DROP TABLE IF EXISTS counters");
    run(
        &mut connection,
        "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL, pad CHAR(100) NOT NULL DEFAULT 'p')",
    );
    for id in 0..CLIENTS {
        run(&mut connection, &format!("INSERT INTO counters (id, n) VALUES ({id}, 0)"));
    }
    let reactor = Reactor::new().unwrap();
    let io = Io::Reactor(reactor.clone());
    let mut executor = Executor::new(reactor);
    let finished = Rc::new(Cell::new(0));
    let bytes = Rc::new(Cell::new(0));
    for id in 0..CLIENTS {
        let (io, target, finished, bytes) =
            (io.clone(), target.clone(), Rc::clone(&finished), Rc::clone(&bytes));
        executor.spawn(async move {
            let mut connection = Connection::connect(&target, &io).await.unwrap();
            let select =
                connection.prepare("SELECT n, pad FROM counters WHERE id = ?").await.unwrap();
            let update =
                connection.prepare("UPDATE counters SET n = ? WHERE id = ?").await.unwrap();
            let id = Value::Integer(id as i64);
            for _ in 0..20 {
                let mut n = FirstInteger::default();
                connection.execute(select, &[id], &mut n).await.unwrap();
                let next = Value::Integer(n.0.unwrap() + 1);
                let outcome = connection.execute(update, &[next, id], &mut Discard).await.unwrap();
                assert_eq!(outcome.affected, 1);
            }
            bytes.set(bytes.get().max(connection.buffer_bytes()));
            connection.close().await;
            finished.set(finished.get() + 1);
        });
    }
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(5)).unwrap();
    }
    assert_eq!(finished.get(), CLIENTS);
    assert!(bytes.get() <= 6 * 1024, "{} bytes of buffers in one connection", bytes.get());
    assert_eq!(first(&mut connection, "SELECT SUM(n) FROM counters"), (CLIENTS * 20).to_string());
}

#[test]
fn two_hundred_clients_share_a_thread() {
    for server in servers() {
        let mut target = server.database("shared_thread");
        for mode in [QueryMode::Prepared, QueryMode::Simple] {
            target.query_mode = mode;
            two_hundred_clients(server, &target);
        }
        let mut over_tls = target.clone();
        over_tls.endpoint = server.tcp();
        over_tls.tls = dyno_model::target::Tls::Required;
        two_hundred_clients(server, &over_tls);
    }
}

/// A server may send more at once than a TLS session buffers.
#[test]
fn rows_of_any_length_are_the_same_with_and_without_encryption() {
    for server in servers() {
        let mut target = server.database("long_rows");
        target.endpoint = server.tcp();
        target.tls = dyno_model::target::Tls::Required;
        let mut connection = server.connect(&target);
        for length in [17_000, 20_000, 32_768, 50_000, 100_000] {
            let rows = table(
                &mut connection,
                &format!(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT REPEAT('x', {length}) FROM n"
                ),
            );
            let right =
                rows.iter().filter(|row| row[0].as_ref().is_some_and(|text| text.len() == length));
            assert_eq!((rows.len(), right.count()), (400, 400), "rows of {length} bytes");
        }
    }
}

#[test]
fn non_ascii_names_are_preserved() {
    for server in servers() {
        let mut connection = server.connect(&server.database("scripts"));
        run(&mut connection, "CREATE TABLE `표` (`列` VARCHAR(20))");
        run(&mut connection, "INSERT INTO `표` VALUES ('값')");
        assert_eq!(table(&mut connection, "SELECT `列` FROM `표`"), [[Some("값".to_owned())]]);
    }
}

//! Errors of servers and their classification.

use super::fake::{fake, greeting, packet, skip_packet};
use super::server::{Kind, first, run, servers};
use dyno_drivers::mysql::Connection;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Discard, Driver, Executor, Io, Value, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use std::future::{Future, poll_fn};
use std::io::Write;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::Poll;
use std::time::Duration;

fn refused(connection: &mut Connection, sql: &str) -> OperationFailure {
    block_on(connection.query(sql, &mut Discard)).expect_err(sql)
}

#[test]
fn errors_are_classified_and_the_connection_stays_usable() {
    for server in servers() {
        let mut connection = server.connect(&server.database("refused"));
        run(&mut connection, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(3) NOT NULL)");
        run(&mut connection, "INSERT INTO t VALUES (1, 'a')");
        let cases = [
            ("SELEC 1", FailureKind::BadStatement, 1064),
            ("SELECT * FROM nowhere", FailureKind::BadStatement, 1146),
            ("SELECT nothing FROM t", FailureKind::BadStatement, 1054),
            ("USE nowhere", FailureKind::BadStatement, 1049),
            ("INSERT INTO t VALUES (1, 'b')", FailureKind::DuplicateKey, 1062),
            ("INSERT INTO t VALUES (2, 'too long')", FailureKind::Other, 1406),
            ("INSERT INTO t VALUES (2)", FailureKind::BadStatement, 1136),
            ("SELECT 1 FROM t WHERE id = (SELECT 1 UNION SELECT 2)", FailureKind::Other, 1242),
        ];
        for (sql, kind, code) in cases {
            let failure = refused(&mut connection, sql);
            assert_eq!((failure.kind, failure.code), (kind, code), "{sql}: {failure}");
            assert_eq!(failure.sqlstate.len(), 5, "{failure:?}");
        }
        let failure = block_on(connection.prepare("SELECT * FROM nowhere")).unwrap_err();
        assert_eq!(failure.code, 1146);
        let insert = block_on(connection.prepare("INSERT INTO t VALUES (?, ?)")).unwrap();
        let duplicate = [Value::Integer(1), Value::Text("c")];
        let failure = block_on(connection.execute(insert, &duplicate, &mut Discard)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::DuplicateKey);
        assert_eq!(first(&mut connection, "SELECT COUNT(*) FROM t"), "1");
    }
}

#[test]
fn missing_privileges_are_permission_failures() {
    for server in servers() {
        let target = server.database("guarded");
        let mut root = server.connect(&target);
        run(&mut root, "CREATE TABLE t (id INT)");
        run(&mut root, "DROP USER IF EXISTS poor");
        run(&mut root, "CREATE USER poor");
        run(&mut root, "GRANT INSERT ON guarded.t TO poor");
        let mut target = target.clone();
        target.user = "poor".to_owned();
        let mut poor = server.connect(&target);
        assert_eq!(refused(&mut poor, "SELECT * FROM t").kind, FailureKind::Permission);
        assert_eq!(
            refused(&mut poor, "SET GLOBAL max_connections = 1").kind,
            FailureKind::Permission
        );
        target.database = "mysql".to_owned();
        let failure = block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap();
        assert_eq!(failure.kind, FailureKind::Permission, "{failure}");
    }
}

#[test]
fn a_lock_timeout_is_a_lock_wait() {
    for server in servers() {
        let target = server.database("lock_wait");
        let mut one = server.connect(&target);
        run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB");
        run(&mut one, "INSERT INTO t VALUES (1, 0)");
        run(&mut one, "BEGIN");
        run(&mut one, "UPDATE t SET v = 1 WHERE id = 1");
        // `innodb_lock_wait_timeout` of these servers is 2 seconds.
        let mut two = server.connect(&target);
        let failure = refused(&mut two, "UPDATE t SET v = 2 WHERE id = 1");
        assert_eq!((failure.kind, failure.code), (FailureKind::LockWait, 1205), "{failure}");
    }
}

/// Longer than a busy machine delays one of two clients.
const PATIENT: &str = "SET innodb_lock_wait_timeout = 100";

#[test]
fn one_of_two_transactions_that_wait_for_each_other_gets_a_deadlock() {
    for server in servers() {
        let target = server.database("deadlock");
        let mut one = server.connect(&target);
        run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB");
        run(&mut one, "INSERT INTO t VALUES (1, 0), (2, 0)");
        run(&mut one, PATIENT);
        run(&mut one, "BEGIN");
        run(&mut one, "UPDATE t SET v = 1 WHERE id = 1");
        let (sender, locked) = channel();
        let other = std::thread::spawn(move || {
            let mut two = server.connect(&target);
            run(&mut two, PATIENT);
            run(&mut two, "BEGIN");
            run(&mut two, "UPDATE t SET v = 2 WHERE id = 2");
            sender.send(()).unwrap();
            block_on(two.query("UPDATE t SET v = 2 WHERE id = 1", &mut Discard)).map(|_| ())
        });
        // The second one completes the cycle.
        locked.recv().unwrap();
        let own = block_on(one.query("UPDATE t SET v = 1 WHERE id = 2", &mut Discard)).map(|_| ());
        run(&mut one, "ROLLBACK");
        let failures: Vec<OperationFailure> =
            [own, other.join().unwrap()].into_iter().filter_map(Result::err).collect();
        let [failure] = failures.as_slice() else { panic!("one deadlock: {failures:?}") };
        assert_eq!((failure.kind, failure.code), (FailureKind::Deadlock, 1213));
        assert_eq!(failure.sqlstate, "40001");
    }
}

#[test]
fn interrupted_statements_report_the_reason() {
    for server in servers() {
        let mut connection = server.connect(&server.root());
        match server.kind {
            Kind::Mariadb => {
                let failure = refused(
                    &mut connection,
                    "SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(9)",
                );
                assert_eq!((failure.kind, failure.code), (FailureKind::Timeout, 1969), "{failure}");
            }
            Kind::Mysql => {
                let slow = "SELECT /*+ MAX_EXECUTION_TIME(50) */ COUNT(*) FROM information_schema.columns a, \
                            information_schema.columns b, information_schema.columns c";
                let failure = refused(&mut connection, slow);
                assert_eq!((failure.kind, failure.code), (FailureKind::Timeout, 3024), "{failure}");
            }
        }
        let thread = connection.thread();
        for (kill, kind) in
            [("KILL QUERY", FailureKind::Cancelled), ("KILL", FailureKind::ConnectionLost)]
        {
            let killer = std::thread::spawn(move || {
                let mut root = server.connect(&server.root());
                let sql = format!(
                    "SELECT COUNT(*) FROM information_schema.processlist \
                     WHERE id = {thread} AND state = 'User sleep'"
                );
                while first(&mut root, &sql) == "0" {
                    std::thread::yield_now();
                }
                run(&mut root, &format!("{kill} {thread}"));
            });
            let result = block_on(
                connection.query("SELECT SLEEP(60) FROM (SELECT 1 UNION SELECT 2) x", &mut Discard),
            );
            killer.join().unwrap();
            match result {
                Err(failure) => {
                    let is_expected =
                        failure.kind == kind || failure.kind == FailureKind::Cancelled;
                    assert!(is_expected, "{kill}: {failure}");
                }
                // SLEEP itself returns 1 when it is interrupted.
                Ok(outcome) => assert!(outcome.has_rows, "{kill}"),
            }
        }
        // The killed session is lost.
        let failure = refused(&mut connection, "SELECT 1");
        assert_eq!(failure.kind, FailureKind::ConnectionLost, "{failure}");
        let failure = refused(&mut connection, "SELECT 1");
        assert_eq!(failure.kind, FailureKind::ConnectionLost, "{failure}");
    }
}

#[test]
fn too_many_prepared_statements_are_reported_with_the_remedy() {
    // The limit is global, so reaching it on a real server would disturb other tests.
    let target = fake(|mut socket| {
        socket.write_all(&greeting(0x01FF, "mysql_native_password")).unwrap();
        for answer in [&b"\0\0\0\x02\0\0\0"[..], b"\xff\xb5\x05#42000Can't create more than"] {
            skip_packet(&mut socket);
            let sequence = if answer[0] == 0 { 2 } else { 1 };
            socket.write_all(&packet(sequence, answer)).unwrap();
        }
        skip_packet(&mut socket);
    });
    let mut connection = block_on(Connection::connect(&target, &Io::Blocking)).unwrap();
    let failure = block_on(connection.prepare("SELECT 1")).unwrap_err();
    assert_eq!((failure.kind, failure.code), (FailureKind::OutOfResources, 1461), "{failure}");
    assert!(failure.message.contains("this connection holds 0 prepared statements"), "{failure}");
    assert!(failure.message.contains("use query mode simple"), "{failure}");
    block_on(connection.close());
}

#[test]
fn a_read_only_session_accepts_no_writes() {
    for server in servers() {
        let mut connection = server.connect(&server.database("read_only"));
        run(&mut connection, "CREATE TABLE t (id INT) ENGINE = InnoDB");
        run(&mut connection, "START TRANSACTION READ ONLY");
        assert_eq!(
            refused(&mut connection, "INSERT INTO t VALUES (1)").kind,
            FailureKind::ReadOnly
        );
    }
}

#[test]
fn a_file_is_never_sent_on_request_of_a_server() {
    for server in servers() {
        let mut connection = server.connect(&server.database("asking"));
        run(&mut connection, "CREATE TABLE t (line TEXT)");
        let failure = refused(&mut connection, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t");
        assert_eq!(failure.kind, FailureKind::Unsupported, "{failure}");
        assert_eq!(first(&mut connection, "SELECT COUNT(*) FROM t"), "0");
    }
}

#[test]
fn a_connection_broken_in_the_middle_of_an_answer_stays_broken() {
    // The server closes at once, in the middle of a packet, or between rows; or sends invalid data.
    let cases: [(&'static [u8], FailureKind); 5] = [
        (b"", FailureKind::ConnectionLost),
        (b"\x07\0\0\x01\0\0", FailureKind::ConnectionLost),
        (b"\x01\0\0\x01\x01", FailureKind::ConnectionLost),
        (b"\x01\0\0\x09\x01", FailureKind::Protocol),
        (b"\x05\0\0\x01\xfd\xff\xff\xff\xff", FailureKind::Protocol),
    ];
    for (answer, kind) in cases {
        let target = fake(move |mut socket| {
            socket.write_all(&greeting(0x01FF, "mysql_native_password")).unwrap();
            skip_packet(&mut socket);
            socket.write_all(&packet(2, b"\0\0\0\x02\0\0\0")).unwrap();
            skip_packet(&mut socket);
            socket.write_all(answer).unwrap();
        });
        let mut connection = block_on(Connection::connect(&target, &Io::Blocking)).unwrap();
        assert_eq!(refused(&mut connection, "SELECT 1").kind, kind, "{answer:?}");
        let failure = refused(&mut connection, "SELECT 1");
        assert_eq!(failure.kind, FailureKind::ConnectionLost, "{answer:?}");
        assert!(failure.message.contains("; reconnect"), "{failure}");
    }
}

#[test]
fn a_dropped_statement_leaves_no_connection_that_mixes_up_answers() {
    for server in servers() {
        let reactor = Reactor::new().unwrap();
        let io = Io::Reactor(reactor.clone());
        let mut executor = Executor::new(reactor);
        let target = server.root();
        executor.spawn(async move {
            let mut connection = Connection::connect(&target, &io).await.unwrap();
            {
                let mut sink = Discard;
                let mut sleep = pin!(connection.query("SELECT SLEEP(9)", &mut sink));
                // Polled once, so that the statement is sent, and dropped.
                let is_pending =
                    poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context).is_pending())).await;
                assert!(is_pending);
            }
            let failure = connection.query("SELECT 1", &mut Discard).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::ConnectionLost);
        });
        while executor.alive() > 0 {
            executor.turn(Duration::from_secs(1)).unwrap();
        }
    }
}

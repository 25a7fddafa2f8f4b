//! Another thread can end the statement of a blocking connection.

use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_drivers::{Connection, Discard, Driver, Io, Table, block_on};
use dyno_model::failure::FailureKind;
use dyno_model::target::{Endpoint, Engine, Target};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interrupts a client until it ends; fails when it does not.
fn interrupt_until_ended<T>(client: &JoinHandle<T>, interrupt: impl Fn()) {
    let until = Instant::now() + Duration::from_secs(60);
    while !client.is_finished() {
        assert!(Instant::now() < until, "the client does not end");
        interrupt();
        std::thread::yield_now();
    }
}

#[test]
fn a_hanging_statement_is_ended_by_breaking_its_connection() {
    let rows = [(Protocol::Mysql, Engine::Mysql), (Protocol::Postgres, Engine::Postgres)];
    for (protocol, engine) in rows {
        let options = Options { hang_after: Some(20), ..Options::default() };
        let server = serve(protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port");
        let address = server.local_addr;
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let mut target = Target::new(engine, endpoint);
        "bench".clone_into(&mut target.user);
        let (give, take) = channel();
        let client = std::thread::spawn(move || {
            let mut connection =
                block_on(Connection::connect(&target, &Io::Blocking)).expect("it answers");
            give.send(connection.interrupter().expect("a blocking connection has one"))
                .expect("heard");
            let mut query = || block_on(connection.query("SELECT 1", &mut Discard));
            let failure = (0..=20).find_map(|_| query().err());
            (failure, connection.interrupter())
        });
        let interrupt = take.recv().expect("the client connects");
        // All answers but the last were sent; the next statement hangs.
        while server.counters().statements_total() < 20 && !client.is_finished() {
            std::thread::yield_now();
        }
        interrupt_until_ended(&client, &interrupt);
        let (failure, later) = client.join().expect("no panic");
        assert_eq!(
            failure.expect("nobody answers the last").kind,
            FailureKind::ConnectionLost,
            "{engine}"
        );
        // Calling an interrupter after its connection has ended is harmless.
        later.expect("the connection knows no better")();
        interrupt();
        server.stop().expect("it ends");
    }
}

#[test]
fn sqlite_lock_wait_is_interrupted_and_busy_timeout_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = Target {
        session_setup: vec!["PRAGMA busy_timeout = 86400000".to_owned()],
        ..Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("shop.db")))
    };
    let mut holder = block_on(Connection::connect(&target, &Io::Blocking)).expect("it opens");
    block_on(holder.query("BEGIN EXCLUSIVE", &mut Discard)).expect("nobody else is there");
    let (give, take) = channel();
    let client = std::thread::spawn({
        let target = target.clone();
        move || {
            let mut connection =
                block_on(Connection::connect(&target, &Io::Blocking)).expect("it opens");
            give.send(connection.interrupter().expect("a blocking connection has one"))
                .expect("heard");
            block_on(connection.query("BEGIN IMMEDIATE", &mut Discard))
                .expect_err("the lock is held")
        }
    });
    let interrupt = take.recv().expect("the client connects");
    interrupt_until_ended(&client, interrupt);
    let failure = client.join().expect("no panic");
    assert_eq!(failure.kind, FailureKind::Cancelled, "{failure}");
    assert_eq!(failure.message, "interrupted before the server answered");
    block_on(holder.query("COMMIT", &mut Discard)).expect("it holds the lock");
    let ask = |connection: &mut Connection, sql: &str| {
        let mut table = Table::default();
        block_on(connection.query(sql, &mut table)).expect("it is answered");
        table.first().map(str::to_owned)
    };
    let long = Some("86400000".to_owned());
    assert_eq!(ask(&mut holder, "PRAGMA busy_timeout"), long);
    assert_eq!(ask(&mut holder, "PRAGMA busy_timeout = 7"), Some("7".to_owned()));
    assert_eq!(
        ask(&mut holder, "PRAGMA busy_timeout"),
        Some("7".to_owned()),
        "it stays as it was told"
    );
}

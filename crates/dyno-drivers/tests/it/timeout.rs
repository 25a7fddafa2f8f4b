//! Queries with a timeout end at the limit, when the server is found dead, and on an interrupt by
//! the user.

use dyno_drivers::null::server::{Options, Protocol, RunningServer, serve};
use dyno_drivers::{Connection, Discard, Driver, Io, TimeoutPolicy, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Longer than any test may take.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

/// Maximum duration of anything that ends.
const LONG: Duration = Duration::from_secs(60);

/// Runs a function in a separate thread, and fails when it does not end.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (give, take) = channel();
    std::thread::spawn(move || give.send(work()));
    take.recv_timeout(LONG).expect("it ends in time")
}

const SERVERS: [(Protocol, Engine); 2] =
    [(Protocol::Mysql, Engine::Mysql), (Protocol::Postgres, Engine::Postgres)];

fn at(engine: Engine, address: std::net::SocketAddr) -> Target {
    let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
    Target { user: "bench".to_owned(), connect_timeout: FOR_EVER, ..Target::new(engine, endpoint) }
}

/// A server that accepts logins and never answers afterwards.
fn mute(protocol: Protocol, engine: Engine) -> (RunningServer, Target) {
    let options = Options { hang_after: Some(0), ..Options::default() };
    let server = serve(protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port");
    let target = at(engine, server.local_addr);
    (server, target)
}

fn ask(target: &Target, timeout: TimeoutPolicy, sql: &'static str) -> OperationFailure {
    ask_once_connected(target, timeout, sql, || ())
}

/// Sends a query; `then` runs once the connection is open.
fn ask_once_connected(
    target: &Target,
    timeout: TimeoutPolicy,
    sql: &'static str,
    begin: impl FnOnce() + Send + 'static,
) -> OperationFailure {
    let target = target.clone();
    in_time(move || {
        let io = Io::WithTimeout(timeout);
        let mut connection = block_on(Connection::connect(&target, &io)).expect("it logs in");
        std::thread::spawn(begin);
        block_on(connection.query(sql, &mut Discard)).expect_err("nobody answers")
    })
}

/// Sends a query without a limit; an interrupt comes once the connection is open, before or after
/// the query is sent.
fn ask_until_requested(target: &Target, sql: &'static str) {
    let interrupts = Arc::new(AtomicUsize::new(0));
    let timeout = TimeoutPolicy::new(FOR_EVER).counting(Arc::clone(&interrupts)).hasty();
    let failure =
        ask_once_connected(target, timeout, sql, move || interrupts.store(1, Ordering::Relaxed));
    let said = ["the server did not answer within 500ms", "interrupted before the server answered"];
    assert!(said.contains(&failure.message.as_str()), "{}: {failure}", target.engine);
}

#[test]
fn an_unanswered_query_ends_at_its_limit_and_reports_it() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let failure = ask(&target, TimeoutPolicy::new(Duration::from_millis(300)), "SELECT 1");
        assert_eq!(failure.kind, FailureKind::Timeout, "{engine}: {failure}");
        assert_eq!(failure.message, "the server did not answer within 300ms", "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn an_interrupt_ends_a_query_and_a_login() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        ask_until_requested(&target, "SELECT 1");
        server.stop().expect("it ends");

        // The kernel accepts the connection, but there is no greeting.
        let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let target = at(engine, silent.local_addr().expect("it is bound"));
        let interrupts = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::new(FOR_EVER).counting(Arc::clone(&interrupts));
        std::thread::spawn(move || {
            let connection = silent.accept();
            interrupts.store(1, Ordering::Relaxed);
            // Stays open during the test.
            std::mem::forget((silent, connection));
        });
        let failed = in_time(move || {
            block_on(Connection::connect(&target, &Io::WithTimeout(timeout))).err()
        });
        let failure = failed.expect("nobody greets");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
    }
}

#[test]
fn a_query_after_an_interrupt_is_answered_by_a_healthy_server() {
    for (protocol, engine) in SERVERS {
        let server =
            serve(protocol, ([127, 0, 0, 1], 0).into(), Options::default()).expect("a free port");
        let interrupts = Arc::new(AtomicUsize::new(1));
        let io = Io::WithTimeout(TimeoutPolicy::new(FOR_EVER).counting(interrupts).unhurried());
        let mut connection =
            block_on(Connection::connect(&at(engine, server.local_addr), &io)).expect("it is well");
        block_on(connection.query("SELECT 1", &mut Discard)).expect("it answers");
        block_on(connection.close());
        server.stop().expect("it ends");
    }
}

#[test]
fn cleaning_up_is_not_interrupted() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let interrupts = Arc::new(AtomicUsize::new(0));
        // Longer than an interrupt leaves to other queries.
        let limit = Duration::from_millis(700);
        let timeout = TimeoutPolicy::new(limit).counting(Arc::clone(&interrupts)).unhurried();
        let failure = ask_once_connected(&target, timeout, "DROP TABLE t", move || {
            interrupts.store(1, Ordering::Relaxed);
        });
        assert_eq!(failure.message, "the server did not answer within 700ms", "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn work_is_waited_for_as_long_as_the_server_answers_others() {
    for (protocol, engine) in SERVERS {
        // Every connection is answered once.
        let options = Options { hang_after: Some(1), ..Options::default() };
        let server = serve(protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port");
        let target = at(engine, server.local_addr);
        let target = Target { connect_timeout: Duration::from_millis(200), ..target };
        let interrupts = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::for_work(&target).counting(Arc::clone(&interrupts));
        let asking = std::thread::spawn({
            let target = Target { connect_timeout: FOR_EVER, ..target };
            move || {
                let io = Io::WithTimeout(timeout);
                let mut connection =
                    block_on(Connection::connect(&target, &io)).expect("it logs in");
                block_on(connection.query("SELECT 1", &mut Discard))
                    .expect("the first is answered");
                block_on(connection.query("CREATE INDEX i ON t (c)", &mut Discard))
                    .expect_err("nobody answers")
            }
        });
        // Its own connection, and two health checks of the server.
        let until = Instant::now() + LONG;
        while server.counters().connections() < 3 {
            assert!(Instant::now() < until, "{engine}: nobody looked whether the server is well");
            assert!(!asking.is_finished(), "{engine}: it did not wait on");
            std::thread::yield_now();
        }
        interrupts.store(1, Ordering::Relaxed);
        let failure = in_time(|| asking.join()).expect("no panic");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
        server.stop().expect("it ends");
    }
}

#[test]
fn work_ends_when_the_server_does_not_answer_another_connection() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let short = Target { connect_timeout: Duration::from_secs(1), ..target.clone() };
        let failure = ask(&target, TimeoutPolicy::for_work(&short), "CREATE INDEX i ON t (c)");
        let silent = "the server has been silent for 3s, and another connection failed: timeout: \
                      the server did not answer within 3s";
        assert_eq!(failure.message, silent, "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn work_on_canned_replies_has_the_timeout_of_a_query() {
    let null = Target {
        database: "hang_after=1".to_owned(),
        ..Target::new(Engine::Null, Endpoint::InProcess)
    };
    let target = Target { connect_timeout: Duration::from_millis(50), ..null };
    let failure = in_time(move || {
        let io = Io::WithTimeout(TimeoutPolicy::for_work(&target));
        let mut connection = block_on(Connection::connect(&target, &io)).expect("it connects");
        block_on(connection.query("SELECT 1", &mut Discard)).expect("the first is answered");
        block_on(connection.query("DROP TABLE IF EXISTS t", &mut Discard))
            .expect_err("nobody answers")
    });
    assert_eq!(failure.message, "the server did not answer within 150ms");
}

#[test]
fn work_ends_when_the_server_accepts_no_connection() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        // Health checks go to an address where the kernel accepts connections without a greeting.
        let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let elsewhere = Target {
            connect_timeout: Duration::from_millis(200),
            ..at(engine, silent.local_addr().expect("it is bound"))
        };
        let failure = ask(&target, TimeoutPolicy::for_work(&elsewhere), "CREATE INDEX i ON t (c)");
        assert_eq!(failure.kind, FailureKind::Timeout, "{engine}: {failure}");
        let begin = "the server has been silent for 600ms, and another connection failed: timeout: 127.0.0.1:";
        assert!(failure.message.starts_with(begin), "{engine}: {failure}");
        server.stop().expect("it ends");
    }
}

#[test]
fn sqlite_statements_and_lock_waits_are_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = Target {
        connect_timeout: FOR_EVER,
        ..Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("shop.db")))
    };
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let failure = ask(&target, TimeoutPolicy::new(Duration::from_millis(300)), endless);
    assert_eq!(failure.message, "the server did not answer within 300ms");

    ask_until_requested(&target, endless);

    let mut holder = block_on(Connection::connect(&target, &Io::Blocking)).expect("it opens");
    block_on(holder.query("BEGIN EXCLUSIVE", &mut Discard)).expect("nobody else is there");
    ask_until_requested(&target, "CREATE TABLE t (i INT)");
}

#[test]
fn work_after_an_interrupt_ends_as_soon_as_the_server_is_found_silent() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let work = TimeoutPolicy::for_work(&target).counting(Arc::new(AtomicUsize::new(1)));
        for timeout in [work.clone(), work.unhurried()] {
            let failure = ask(&target, timeout, "SELECT sum(c2) FROM rush");
            assert_eq!(failure.message, "interrupted before the server answered", "{engine}");
        }
        let quick = TimeoutPolicy::for_questions(&target).counting(Arc::new(AtomicUsize::new(1)));
        let failure = ask(&target, quick, "SHOW GLOBAL STATUS");
        assert_eq!(failure.message, "interrupted before the server answered", "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn user_statements_have_no_timeout_but_can_be_interrupted() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let interrupts = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::endless().counting(Arc::clone(&interrupts));
        let ordered = std::thread::spawn({
            let target = target.clone();
            move || ask(&target, timeout, "CREATE INDEX i ON t (c)")
        });
        // Its own connection; then the maximum time for a list of settings.
        while server.counters().connections() < 1 {
            std::thread::yield_now();
        }
        let short = Target { connect_timeout: Duration::from_millis(200), ..target.clone() };
        let failure = ask(&target, TimeoutPolicy::for_questions(&short), "SHOW VARIABLES");
        assert_eq!(failure.message, "the server did not answer within 600ms", "{engine}");
        assert!(!ordered.is_finished(), "{engine}: nobody has asked for its end");
        interrupts.store(1, Ordering::Relaxed);
        let failure = ordered.join().expect("no panic");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
        server.stop().expect("it ends");
    }
}

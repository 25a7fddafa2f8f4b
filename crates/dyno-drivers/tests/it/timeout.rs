//! Whoever asks with patience gets an end: at the limit, when the server is found to be gone, and
//! when the user asks for it.

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

/// How long anything may take that ends.
const LONG: Duration = Duration::from_secs(60);

/// Does it on a thread of its own, and fails where it does not end.
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

/// A server that logs in and answers nothing after that.
fn mute(protocol: Protocol, engine: Engine) -> (RunningServer, Target) {
    let options = Options { hang_after: Some(0), ..Options::default() };
    let server = serve(protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port");
    let target = at(engine, server.local_addr);
    (server, target)
}

fn ask(target: &Target, timeout: TimeoutPolicy, sql: &'static str) -> OperationFailure {
    ask_once_connected(target, timeout, sql, || ())
}

/// The same, with something that begins once the connection is there.
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

/// The same for ever, but for a request for the end that comes once the connection is there: before
/// or after the question is under way.
fn ask_until_requested(target: &Target, sql: &'static str) {
    let requests = Arc::new(AtomicUsize::new(0));
    let timeout = TimeoutPolicy::new(FOR_EVER).hearing(Arc::clone(&requests)).hasty();
    let failure =
        ask_once_connected(target, timeout, sql, move || requests.store(1, Ordering::Relaxed));
    let said = ["the server did not answer within 500ms", "interrupted before the server answered"];
    assert!(said.contains(&failure.message.as_str()), "{}: {failure}", target.engine);
}

#[test]
fn a_question_that_is_not_answered_ends_at_its_limit_and_names_it() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let failure = ask(&target, TimeoutPolicy::new(Duration::from_millis(300)), "SELECT 1");
        assert_eq!(failure.kind, FailureKind::Timeout, "{engine}: {failure}");
        assert_eq!(failure.message, "the server did not answer within 300ms", "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn a_request_for_the_end_is_heard_while_a_question_waits_and_while_a_login_does() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        ask_until_requested(&target, "SELECT 1");
        server.stop().expect("it ends");

        // The kernel takes the connection, and nobody greets.
        let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let target = at(engine, silent.local_addr().expect("it is bound"));
        let requests = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::new(FOR_EVER).hearing(Arc::clone(&requests));
        std::thread::spawn(move || {
            let connection = silent.accept();
            requests.store(1, Ordering::Relaxed);
            // It stays open for as long as the test goes on.
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
fn a_question_asked_after_the_request_for_the_end_is_answered_by_a_server_that_is_well() {
    for (protocol, engine) in SERVERS {
        let server =
            serve(protocol, ([127, 0, 0, 1], 0).into(), Options::default()).expect("a free port");
        let requests = Arc::new(AtomicUsize::new(1));
        let io = Io::WithTimeout(TimeoutPolicy::new(FOR_EVER).hearing(requests).unhurried());
        let mut connection =
            block_on(Connection::connect(&at(engine, server.local_addr), &io)).expect("it is well");
        block_on(connection.query("SELECT 1", &mut Discard)).expect("it answers");
        block_on(connection.close());
        server.stop().expect("it ends");
    }
}

#[test]
fn cleaning_up_is_not_cut_short_by_a_request_for_the_end() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let requests = Arc::new(AtomicUsize::new(0));
        // Longer than what a request leaves to others.
        let limit = Duration::from_millis(700);
        let timeout = TimeoutPolicy::new(limit).hearing(Arc::clone(&requests)).unhurried();
        let failure = ask_once_connected(&target, timeout, "DROP TABLE t", move || {
            requests.store(1, Ordering::Relaxed);
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
        let requests = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::for_work(&target).hearing(Arc::clone(&requests));
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
        // Its own connection, and two looks whether the server is well.
        let until = Instant::now() + LONG;
        while server.counts().connections() < 3 {
            assert!(Instant::now() < until, "{engine}: nobody looked whether the server is well");
            assert!(!asking.is_finished(), "{engine}: it did not wait on");
            std::thread::yield_now();
        }
        requests.store(1, Ordering::Relaxed);
        let failure = in_time(|| asking.join()).expect("no panic");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
        server.stop().expect("it ends");
    }
}

#[test]
fn work_ends_when_the_server_is_silent_on_another_connection_too() {
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
fn work_on_canned_replies_has_the_limit_of_a_question() {
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
fn work_ends_when_the_server_takes_no_connection_either() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        // Looks go to a place where the kernel takes connections and nobody greets.
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
fn sqlite_hears_it_in_the_middle_of_a_statement_and_while_it_waits_for_a_lock() {
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
fn work_begun_after_the_request_ends_as_soon_as_the_server_is_found_silent() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let work = TimeoutPolicy::for_work(&target).hearing(Arc::new(AtomicUsize::new(1)));
        for timeout in [work.clone(), work.unhurried()] {
            let failure = ask(&target, timeout, "SELECT sum(c2) FROM rush");
            assert_eq!(failure.message, "interrupted before the server answered", "{engine}");
        }
        let quick = TimeoutPolicy::for_questions(&target).hearing(Arc::new(AtomicUsize::new(1)));
        let failure = ask(&target, quick, "SHOW GLOBAL STATUS");
        assert_eq!(failure.message, "interrupted before the server answered", "{engine}");
        server.stop().expect("it ends");
    }
}

#[test]
fn what_the_user_has_ordered_is_waited_for_after_any_limit_and_ends_when_the_user_asks() {
    for (protocol, engine) in SERVERS {
        let (server, target) = mute(protocol, engine);
        let requests = Arc::new(AtomicUsize::new(0));
        let timeout = TimeoutPolicy::endless().hearing(Arc::clone(&requests));
        let ordered = std::thread::spawn({
            let target = target.clone();
            move || ask(&target, timeout, "CREATE INDEX i ON t (c)")
        });
        // Its own connection; then the longest that dyno waits for a list of settings.
        while server.counts().connections() < 1 {
            std::thread::yield_now();
        }
        let short = Target { connect_timeout: Duration::from_millis(200), ..target.clone() };
        let failure = ask(&target, TimeoutPolicy::for_questions(&short), "SHOW VARIABLES");
        assert_eq!(failure.message, "the server did not answer within 600ms", "{engine}");
        assert!(!ordered.is_finished(), "{engine}: nobody has asked for its end");
        requests.store(1, Ordering::Relaxed);
        let failure = ordered.join().expect("no panic");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
        server.stop().expect("it ends");
    }
}

//! The in-process null driver follows its script, with both kinds of waiting.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that calls it")]

use dyno_drivers::transport::Reactor;
use dyno_drivers::{
    Connection, Discard, Driver, Executor, FirstInteger, Io, Table, Value, block_on,
};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

fn target(options: &str) -> Target {
    let mut target = Target::new(Engine::Null, Endpoint::InProcess);
    target.database = options.to_owned();
    target
}

fn connect(options: &str) -> Connection {
    block_on(Connection::connect(&target(options), &Io::Blocking)).unwrap()
}

/// The failures of the first `count` statements: number and kind.
fn failures_of(connection: &mut Connection, count: u64) -> Vec<(u64, FailureKind)> {
    let mut failures = Vec::new();
    for i in 0..count {
        if let Err(failure) = block_on(connection.query("SELECT 1", &mut Discard)) {
            failures.push((i, failure.kind));
        }
    }
    failures
}

#[test]
fn the_text_of_the_statement_determines_the_shape_of_the_answer() {
    let mut connection = connect("rows=2,columns=3,value=42,affected=5");
    let mut table = Table::default();
    let outcome = block_on(connection.query("SELECT a, b, c FROM t", &mut table)).unwrap();
    assert_eq!((outcome.has_rows, outcome.rows, outcome.affected), (true, 2, 0));
    assert_eq!(table.0, vec![vec![Some("42".to_owned()); 3]; 2]);
    let update = block_on(connection.prepare("UPDATE t SET a=? WHERE b=?")).unwrap();
    let outcome =
        block_on(connection.execute(update, &[Value::Integer(1), Value::Null], &mut Discard))
            .unwrap();
    assert_eq!((outcome.has_rows, outcome.rows, outcome.affected), (false, 0, 5));
    let outcome = block_on(connection.query("COMMIT", &mut Discard)).unwrap();
    assert_eq!((outcome.has_rows, outcome.rows, outcome.affected), (false, 0, 0));
}

#[test]
fn failures_follow_from_the_seed_and_the_number_of_the_connection() {
    let options = "fail=deadlock:0.2,fail=busy:0.1,seed=71";
    let of_two = |options: &str| {
        let (mut a, mut b) = (connect(options), connect(options));
        (failures_of(&mut a, 1000), failures_of(&mut b, 1000))
    };
    let first_run = of_two(options);
    assert_ne!(first_run.0, first_run.1);
    let later = of_two(options);
    assert_ne!(later, first_run, "connections are counted on when all before them are closed");
    // The same script under another name is another server.
    let same = "seed=71,fail=deadlock:0.2,fail=busy:0.1";
    assert_eq!((of_two(same), of_two(same)), (first_run.clone(), later));
    let deadlocks = first_run.0.iter().filter(|(_, kind)| *kind == FailureKind::Deadlock).count();
    assert!((140..260).contains(&deadlocks), "{deadlocks} of 1000 at a probability of 0.2");
    assert!(first_run.0.len() > deadlocks, "busy is drawn as well");
}

#[test]
fn a_rule_for_commit_does_not_affect_other_statements() {
    let mut connection = connect("commit.fail=serialization:1,seed=72");
    assert!(block_on(connection.query("UPDATE t SET a=1", &mut Discard)).is_ok());
    let failure = block_on(connection.query("COMMIT", &mut Discard)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Serialization);
    assert!(failure.message.contains("statement 1 of connection 0"), "{failure}");
}

#[test]
fn a_lost_connection_stays_lost() {
    let mut connection = connect("disconnect_after=3,seed=73");
    assert_eq!(
        failures_of(&mut connection, 5),
        [(3, FailureKind::ConnectionLost), (4, FailureKind::ConnectionLost)]
    );
    let mut connection = connect("fail=connection-lost:1,seed=74");
    assert_eq!(failures_of(&mut connection, 2).len(), 2);
}

#[test]
fn connecting_can_fail_or_time_out() {
    let refused = |options: &str, limit: Duration| -> OperationFailure {
        let mut target = target(options);
        target.connect_timeout = limit;
        block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap()
    };
    let failure = refused("connect.fail=out-of-connections:1", Duration::from_secs(1));
    assert_eq!(failure.kind, FailureKind::OutOfConnections);
    let failure = refused("connect.latency_us=60000000", Duration::from_millis(1));
    assert_eq!(failure.kind, FailureKind::Timeout);
    let failure = refused("latencyus=5", Duration::from_secs(1));
    assert!(failure.message.contains("unknown option"), "{failure}");
}

#[test]
fn latency_passes_before_the_answer_on_a_blocking_connection() {
    let mut connection = connect("latency_us=3000,select.latency_us=0");
    let begun = Instant::now();
    block_on(connection.query("COMMIT", &mut Discard)).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(3));
}

#[test]
fn a_stall_by_statements_delays_exactly_that_statement() {
    let mut connection = connect("stall=after:2/for:300ms,seed=75");
    let times: Vec<Duration> = (0..4)
        .map(|_| {
            let begun = Instant::now();
            block_on(connection.query("SELECT 1", &mut Discard)).unwrap();
            begun.elapsed()
        })
        .collect();
    assert!(times[2] >= Duration::from_millis(300), "{times:?}");
    // The machine may delay one of the others, but hardly all of them.
    let least = times[0].min(times[1]).min(times[3]);
    assert!(least < Duration::from_millis(300), "{times:?}");
}

#[test]
fn a_stall_by_time_delays_all_answers_until_its_end() {
    let begun = Instant::now();
    let (mut a, mut b) =
        (connect("stall=at:0ms/for:40ms,seed=76"), connect("stall=at:0ms/for:40ms,seed=76"));
    for connection in [&mut a, &mut b] {
        block_on(connection.query("SELECT 1", &mut Discard)).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(40));
    }
}

#[test]
fn clients_of_one_thread_wait_at_the_same_time() {
    const CLIENTS: usize = 200;
    let reactor = Reactor::new().unwrap();
    let io = Io::Reactor(reactor.clone());
    let mut executor = Executor::new(reactor);
    let values = Rc::new(RefCell::new(Vec::new()));
    let (waiting, most) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for _ in 0..CLIENTS {
        let (io, values) = (io.clone(), Rc::clone(&values));
        let (waiting, most) = (Rc::clone(&waiting), Rc::clone(&most));
        executor.spawn(async move {
            let mut connection =
                Connection::connect(&target("latency_us=20000,value=7,seed=77"), &io)
                    .await
                    .unwrap();
            let mut sink = FirstInteger::default();
            waiting.set(waiting.get() + 1);
            most.set(most.get().max(waiting.get()));
            connection.query("SELECT 1", &mut sink).await.unwrap();
            waiting.set(waiting.get() - 1);
            values.borrow_mut().push(sink.0);
        });
    }
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(1)).unwrap();
    }
    assert_eq!(*values.borrow(), vec![Some(7); CLIENTS]);
    assert!(most.get() > CLIENTS / 2, "{} at the same time", most.get());
}

#[test]
fn a_hang_pends_in_the_reactor_and_can_be_abandoned() {
    let reactor = Reactor::new().unwrap();
    let io = Io::Reactor(reactor.clone());
    let mut executor = Executor::new(reactor);
    let answered = Rc::new(RefCell::new(0));
    let count = Rc::clone(&answered);
    executor.spawn(async move {
        let mut connection =
            Connection::connect(&target("hang_after=2,seed=78"), &io).await.unwrap();
        while connection.query("SELECT 1", &mut Discard).await.is_ok() {
            *count.borrow_mut() += 1;
        }
    });
    for _ in 0..3 {
        executor.turn(Duration::from_millis(1)).unwrap();
    }
    assert_eq!((*answered.borrow(), executor.alive()), (2, 1));
    assert_eq!(executor.abandon(), 1);
}

#[test]
fn a_blocking_hang_ends_when_it_is_interrupted() {
    let mut connection = connect("hang_after=0,seed=79");
    let interrupt = connection.interrupter().unwrap();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let interrupting = std::thread::spawn(move || {
        // An interrupt before the statement waits has no effect, so it is repeated until the
        // statement ends.
        while is_done.recv_timeout(Duration::from_millis(1))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            interrupt();
        }
    });
    let failure = block_on(connection.query("SELECT 1", &mut Discard)).unwrap_err();
    drop(done);
    interrupting.join().unwrap();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}

#[test]
fn a_statement_of_another_connection_is_rejected() {
    let mut connection = connect("seed=80");
    let failure =
        block_on(connection.execute(dyno_drivers::Statement(5), &[], &mut Discard)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement);
}

/// CPU time of this thread so far in nanoseconds; unlike wall-clock time it does not depend on
/// other programs.
fn cpu_nanos() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// Prints the cost of a statement: `cargo test --release -p dyno-drivers --test it -- --ignored
/// --nocapture null_driver::`.
#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_statement() {
    const STATEMENTS: u32 = 5_000_000;
    for options in ["seed=81", "fail=deadlock:0.000001,seed=82"] {
        let mut connection = connect(options);
        let select = block_on(connection.prepare("SELECT c FROM t WHERE id=?")).unwrap();
        let begun = cpu_nanos();
        for i in 0..STATEMENTS {
            let mut sink = FirstInteger::default();
            let _ =
                block_on(connection.execute(select, &[Value::Integer(i64::from(i))], &mut sink));
            std::hint::black_box(sink);
        }
        println!(
            "{options}: {:.1} ns of CPU per statement",
            (cpu_nanos() - begun) / f64::from(STATEMENTS)
        );
    }
}

//! Many connections on one thread.

use super::server::{first, run_all, server};
use dyno_drivers::postgres::Connection;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{
    BulkLoad, Discard, Driver, Executor, FirstInteger, Io, RowSource, RowWriter, Value,
};
use dyno_model::target::{QueryMode, Target, Tls};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const CLIENTS: usize = 100;
const TRANSACTIONS: i64 = 20;

/// A client that increments a row, transaction by transaction.
async fn count_up(target: Rc<Target>, io: Io, done: Rc<Cell<usize>>) {
    let mut connection = Connection::connect(&target, &io).await.unwrap();
    let select = connection.prepare("SELECT k FROM r WHERE id=? FOR UPDATE").await.unwrap();
    let update = connection.prepare("UPDATE r SET k=? WHERE id=?").await.unwrap();
    for turn in 0..TRANSACTIONS {
        let id = Value::Integer(turn % 10);
        connection.query("BEGIN", &mut Discard).await.unwrap();
        let mut k = FirstInteger::default();
        connection.execute(select, &[id], &mut k).await.unwrap();
        let k = k.0.unwrap() + 1;
        let outcome =
            connection.execute(update, &[Value::Integer(k), id], &mut Discard).await.unwrap();
        assert_eq!(outcome.affected, 1);
        connection.query("COMMIT", &mut Discard).await.unwrap();
    }
    connection.close().await;
    done.set(done.get() + 1);
}

fn run_clients(target: Target, clients: usize) {
    let reactor = Reactor::new().unwrap();
    let mut executor = Executor::new(reactor.clone());
    let target = Rc::new(target);
    let done = Rc::new(Cell::new(0));
    for _ in 0..clients {
        executor.spawn(count_up(
            Rc::clone(&target),
            Io::Reactor(reactor.clone()),
            Rc::clone(&done),
        ));
    }
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(1)).unwrap();
    }
    assert_eq!(done.get(), clients);
}

#[test]
fn a_hundred_clients_of_one_thread_lose_no_update() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "clients");
    run_all(
        &mut connection,
        &[
            "DROP TABLE IF EXISTS r",
            "CREATE TABLE r (id int PRIMARY KEY, k int)",
            "GRANT USAGE ON SCHEMA clients TO PUBLIC",
            "GRANT ALL ON r TO PUBLIC",
        ],
    );
    let mut targets = Vec::new();
    for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
        let mut target = server.target("scram");
        target.query_mode = mode;
        target.session_setup = vec!["SET search_path = clients".to_owned()];
        targets.push((target, CLIENTS));
    }
    let mut encrypted = targets[0].0.clone();
    encrypted.tls = Tls::Required;
    targets.push((encrypted, 20));
    let mut local = targets[0].0.clone();
    local.endpoint = server.socket();
    targets.push((local, CLIENTS));
    for (target, clients) in targets {
        run_all(
            &mut connection,
            &["TRUNCATE r", "INSERT INTO r SELECT n, 0 FROM generate_series(0, 9) n"],
        );
        run_clients(target, clients);
        let sum = first(&mut connection, "SELECT sum(k) FROM r");
        assert_eq!(sum, (clients * TRANSACTIONS as usize).to_string());
    }
}

struct Countdown(i64);

impl RowSource for Countdown {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        self.0 -= 1;
        row.integer(self.0);
        row.text("some text that is long enough to fill a few messages after a while");
        self.0 >= 0
    }
}

#[test]
fn clients_of_an_event_loop_load_at_the_same_time() {
    let Some(server) = server() else { return };
    let reactor = Reactor::new().unwrap();
    let mut executor = Executor::new(reactor.clone());
    let target = Rc::new(server.target("admin"));
    let loaded = Rc::new(Cell::new(0));
    for client in 0..4 {
        let (target, io, total) =
            (Rc::clone(&target), Io::Reactor(reactor.clone()), Rc::clone(&loaded));
        executor.spawn(async move {
            let mut connection = Connection::connect(&target, &io).await.unwrap();
            connection
                .query("CREATE TEMP TABLE l (id int PRIMARY KEY, c text)", &mut Discard)
                .await
                .unwrap();
            let load = BulkLoad { table: "l", columns: &["id", "c"] };
            let rows = connection.bulk_load(&load, &mut Countdown(20_000 + client)).await.unwrap();
            total.set(total.get() + rows);
            // Every key twice, which is rejected.
            let failure = connection.bulk_load(&load, &mut Countdown(20_000)).await.unwrap_err();
            assert_eq!(failure.sqlstate, "23505");
            let mut count = FirstInteger::default();
            connection.query("SELECT count(*) FROM l", &mut count).await.unwrap();
            assert_eq!(count.0, Some(20_000 + client));
        });
    }
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(1)).unwrap();
    }
    assert_eq!(loaded.get(), 80_006);
}

//! The SQLite driver with real database files.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that calls it")]

use dyno_drivers::{
    BulkLoad, Connection, Discard, Driver, FirstInteger, Io, Outcome, RowSource, RowWriter,
    Statement, Table, Value, block_on,
};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir) -> Target {
    Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("test.db")))
}

fn in_memory() -> Target {
    Target::new(Engine::Sqlite, Endpoint::InProcess)
}

fn try_connect(target: &Target) -> Result<Connection, OperationFailure> {
    block_on(Connection::connect(target, &Io::Blocking))
}

fn connect(target: &Target) -> Connection {
    try_connect(target).unwrap()
}

fn connect_with(target: &Target, pragmas: &[&str]) -> Connection {
    let mut target = target.clone();
    target.session_setup = pragmas.iter().map(ToString::to_string).collect();
    connect(&target)
}

fn say(connection: &mut Connection, sql: &str) -> Result<Outcome, OperationFailure> {
    block_on(connection.query(sql, &mut Discard))
}

fn integer(connection: &mut Connection, sql: &str) -> i64 {
    let mut sink = FirstInteger::default();
    block_on(connection.query(sql, &mut sink)).unwrap();
    sink.0.unwrap()
}

/// Two connections to a file with one row, in a journal mode, without waiting for locks.
fn two_on_one_row(folder: &TempDir, journal_mode: &str) -> (Connection, Connection) {
    let mode = format!("PRAGMA journal_mode={journal_mode}");
    let pragmas = [mode.as_str(), "PRAGMA busy_timeout=0"];
    let mut first = connect_with(&file(folder), &pragmas);
    say(
        &mut first,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t VALUES (1, 0)",
    )
    .unwrap();
    (first, connect_with(&file(folder), &pragmas))
}

#[test]
fn an_endless_answer_is_an_error_for_a_sink_that_keeps_rows() {
    let mut connection = connect(&in_memory());
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let failure = block_on(connection.query(endless, &mut Table::default())).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement, "{failure}");
    assert!(failure.message.contains("more than 64 MiB of rows"), "{failure}");
    assert_eq!(integer(&mut connection, "SELECT 1"), 1, "there is nothing left to read");
}

#[test]
fn every_value_is_returned_unchanged_in_both_query_modes() {
    for query_mode in [QueryMode::Prepared, QueryMode::Simple] {
        let mut connection = connect(&Target { query_mode, ..in_memory() });
        say(&mut connection, "CREATE TABLE t (a, b, c, d, e)").unwrap();
        let insert = block_on(connection.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)")).unwrap();
        let values = [
            Value::Integer(i64::MIN),
            Value::Float(-1.5),
            Value::Text("it's 한국어 \0 -- ?"),
            Value::Bytes(&[0, 255, 39]),
            Value::Null,
        ];
        let outcome = block_on(connection.execute(insert, &values, &mut Discard)).unwrap();
        assert_eq!(outcome, Outcome { has_rows: false, rows: 0, affected: 1 });

        struct Compare<'a>(&'a [Value<'a>], u64);
        impl dyno_drivers::RowSink for Compare<'_> {
            fn row(&mut self, row: &dyn dyno_drivers::Row) {
                let found: Vec<Value<'_>> = (0..row.len()).map(|column| row.get(column)).collect();
                assert_eq!(found, self.0);
                assert_eq!(row.get(99), Value::Null, "beyond the last column");
                self.1 += 1;
            }
        }
        let select = block_on(connection.prepare("SELECT * FROM t WHERE a=?")).unwrap();
        let mut sink = Compare(&values, 0);
        let outcome = block_on(connection.execute(select, &[values[0]], &mut sink)).unwrap();
        assert_eq!((outcome, sink.1), (Outcome { has_rows: true, rows: 1, affected: 0 }, 1));
    }
}

#[test]
fn affected_counts_only_rows_of_this_statement() {
    let mut connection = connect(&in_memory());
    say(&mut connection, "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)").unwrap();
    assert_eq!(say(&mut connection, "INSERT INTO t VALUES (1,0),(2,0),(3,0)").unwrap().affected, 3);
    // SQLite counts rows that matched, even when the value stays the same.
    let update = block_on(connection.prepare("UPDATE t SET v=? WHERE id<=?")).unwrap();
    let values = [Value::Integer(0), Value::Integer(2)];
    assert_eq!(block_on(connection.execute(update, &values, &mut Discard)).unwrap().affected, 2);
    for sql in [
        "BEGIN IMMEDIATE",
        "SELECT 1",
        "COMMIT",
        "CREATE TABLE u (a)",
        "UPDATE t SET v=1 WHERE id=9",
    ] {
        assert_eq!(say(&mut connection, sql).unwrap().affected, 0, "{sql}");
    }
    let outcome = say(&mut connection, "DELETE FROM t WHERE id=1 RETURNING id").unwrap();
    assert_eq!(outcome, Outcome { has_rows: true, rows: 1, affected: 1 });
    assert_eq!(
        say(&mut connection, "SELECT * FROM u").unwrap(),
        Outcome { has_rows: true, ..Outcome::default() }
    );
}

#[test]
fn conflicting_write_is_busy_then_snapshot_after_other_commit() {
    let folder = folder();
    let (mut first, mut second) = two_on_one_row(&folder, "WAL");
    for connection in [&mut first, &mut second] {
        say(connection, "BEGIN").unwrap();
        say(connection, "SELECT v FROM t WHERE id=1").unwrap();
    }
    say(&mut first, "UPDATE t SET v=1 WHERE id=1").unwrap();
    let failure = say(&mut second, "UPDATE t SET v=1 WHERE id=1").unwrap_err();
    assert_eq!((failure.kind, failure.code), (FailureKind::Busy, 5));
    say(&mut first, "COMMIT").unwrap();
    let failure = say(&mut second, "UPDATE t SET v=1 WHERE id=1").unwrap_err();
    assert_eq!((failure.kind, failure.code), (FailureKind::Serialization, 517));
    say(&mut second, "ROLLBACK").unwrap();
    say(&mut second, "UPDATE t SET v=v+1 WHERE id=1").unwrap();
    assert_eq!(integer(&mut first, "SELECT v FROM t"), 2);
}

#[test]
fn a_busy_commit_leaves_the_transaction_open() {
    let folder = folder();
    let (mut writer, mut reader) = two_on_one_row(&folder, "DELETE");
    say(&mut reader, "BEGIN").unwrap();
    say(&mut reader, "SELECT v FROM t").unwrap();
    say(&mut writer, "BEGIN").unwrap();
    say(&mut writer, "UPDATE t SET v=7 WHERE id=1").unwrap();
    let failure = say(&mut writer, "COMMIT").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Busy);
    say(&mut reader, "COMMIT").unwrap();
    say(&mut writer, "COMMIT").expect("the transaction was still open");
    assert_eq!(integer(&mut reader, "SELECT v FROM t"), 7);
}

#[test]
fn a_lock_is_waited_for_as_long_as_the_pragma_says() {
    let folder = folder();
    let (mut first, _) = two_on_one_row(&folder, "WAL");
    let mut second = connect_with(&file(&folder), &["PRAGMA busy_timeout=60"]);
    say(&mut first, "BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let failure = say(&mut second, "BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Busy);
    assert!(begun.elapsed() >= Duration::from_millis(50), "{:?}", begun.elapsed());
    assert_eq!(integer(&mut connect(&file(&folder)), "PRAGMA busy_timeout"), 5000, "unless given");
}

#[test]
fn failures_have_the_extended_code_and_its_kind() {
    let mut connection =
        connect_with(&in_memory(), &["PRAGMA page_size=512", "PRAGMA max_page_count=4"]);
    say(&mut connection, "CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE NOT NULL)").unwrap();
    say(&mut connection, "INSERT INTO t VALUES (1, 1)").unwrap();
    let rows = [
        ("INSERT INTO t VALUES (1, 2)", FailureKind::DuplicateKey, 1555),
        ("INSERT INTO t VALUES (2, 1)", FailureKind::DuplicateKey, 2067),
        ("INSERT INTO t VALUES (3, NULL)", FailureKind::Other, 1299),
        ("INSERT INTO t VALUES (4, zeroblob(9999))", FailureKind::OutOfResources, 13),
        ("SELEC 1", FailureKind::BadStatement, 1),
        ("SELECT * FROM missing", FailureKind::BadStatement, 1),
    ];
    for (sql, kind, code) in rows {
        let failure = say(&mut connection, sql).unwrap_err();
        assert_eq!((failure.kind, failure.code), (kind, code), "{sql}: {failure}");
        assert!(!failure.message.is_empty());
    }
    say(&mut connection, "PRAGMA query_only=1").unwrap();
    assert_eq!(say(&mut connection, "DELETE FROM t").unwrap_err().kind, FailureKind::ReadOnly);
}

#[test]
fn a_file_that_cannot_be_opened_is_rejected_with_the_reason() {
    let folder = folder();
    std::fs::write(
        folder.path().join("test.db"),
        "this is not a database, it only is long enough".repeat(40),
    )
    .unwrap();
    let endpoint = |endpoint| Target { endpoint, ..file(&folder) };
    let missing_folder = folder.path().join("missing/test.db");
    let rows = [
        (endpoint(Endpoint::File(missing_folder)), FailureKind::ConnectRefused, "unable to open"),
        (
            endpoint(Endpoint::Tcp { host: "db".to_owned(), port: 1 }),
            FailureKind::Unsupported,
            "SQLite needs the path of a database file, not the address db:1",
        ),
        (
            Target { query_mode: QueryMode::Extended, ..in_memory() },
            FailureKind::Unsupported,
            "no query mode `extended`",
        ),
        (
            Target { session_setup: vec!["PRAGMA journal_mode=WAL".to_owned()], ..file(&folder) },
            FailureKind::Unsupported,
            "session set-up `PRAGMA journal_mode=WAL`: file is not a database",
        ),
    ];
    for (target, kind, words) in rows {
        let failure = try_connect(&target).err().unwrap();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[test]
fn many_clients_can_set_the_journal_mode_at_the_same_time() {
    let folder = folder();
    let target = file(&folder);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut connection = connect_with(&target, &["PRAGMA journal_mode=WAL"]);
                let mut table = Table::default();
                block_on(connection.query("PRAGMA journal_mode", &mut table)).unwrap();
                assert_eq!(table.first(), Some("wal"));
            });
        }
    });
}

#[test]
fn another_thread_can_end_a_statement() {
    let mut connection = connect(&in_memory());
    let interrupt = connection.interrupter().unwrap();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let interrupting = std::thread::spawn(move || {
        // An interrupt before the statement has begun has no effect, so it is repeated until the
        // statement ends.
        while is_done.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {
            interrupt();
        }
    });
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n";
    let failure = say(&mut connection, endless).unwrap_err();
    drop(done);
    interrupting.join().unwrap();
    assert_eq!((failure.kind, failure.code), (FailureKind::Cancelled, 9));
    assert_eq!(integer(&mut connection, "SELECT 5"), 5, "the connection goes on");
}

/// Rows (i, text or NULL) up to a count; one of them may have an extra field.
struct Rows {
    next: i64,
    count: i64,
    bad: Option<i64>,
}

impl RowSource for Rows {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        if self.next == self.count {
            return false;
        }
        self.next += 1;
        row.integer(self.next);
        if self.next % 2 == 0 {
            row.text("even");
        } else {
            row.null();
        }
        if self.bad == Some(self.next) {
            row.null();
        }
        true
    }
}

const LOAD: BulkLoad<'_> = BulkLoad { table: "odd \"name", columns: &["id", "select"] };

fn loading(folder: &TempDir) -> Connection {
    let mut connection = connect(&file(folder));
    say(&mut connection, "CREATE TABLE \"odd \"\"name\" (id INTEGER PRIMARY KEY, \"select\" TEXT)")
        .unwrap();
    connection
}

#[test]
fn a_bulk_load_inserts_all_rows() {
    let folder = folder();
    let mut connection = loading(&folder);
    let count =
        block_on(connection.bulk_load(&LOAD, &mut Rows { next: 0, count: 1000, bad: None }))
            .unwrap();
    assert_eq!(count, 1000);
    assert_eq!(integer(&mut connection, "SELECT count(*) FROM \"odd \"\"name\""), 1000);
    assert_eq!(integer(&mut connection, "SELECT count(\"select\") FROM \"odd \"\"name\""), 500);
}

#[test]
fn a_failed_bulk_load_leaves_nothing() {
    let folder = folder();
    let mut connection = loading(&folder);
    let failure =
        block_on(connection.bulk_load(&LOAD, &mut Rows { next: 0, count: 10, bad: Some(7) }))
            .unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement);
    assert!(failure.message.contains("2 parameters, but 3 were given"), "{failure}");
    say(&mut connection, "INSERT INTO \"odd \"\"name\" VALUES (900, NULL)").unwrap();
    let failure =
        block_on(connection.bulk_load(&LOAD, &mut Rows { next: 0, count: 1000, bad: None }))
            .unwrap_err();
    assert_eq!(failure.kind, FailureKind::DuplicateKey);
    assert_eq!(integer(&mut connection, "SELECT count(*) FROM \"odd \"\"name\""), 1);
    let load = BulkLoad { table: "missing", ..LOAD };
    assert!(
        block_on(connection.bulk_load(&load, &mut Rows { next: 0, count: 1, bad: None })).is_err()
    );
    say(&mut connection, "BEGIN").expect("no transaction was left open");
}

#[test]
fn a_bulk_load_joins_an_open_transaction() {
    let folder = folder();
    let mut connection = loading(&folder);
    say(&mut connection, "BEGIN").unwrap();
    block_on(connection.bulk_load(&LOAD, &mut Rows { next: 0, count: 5, bad: None })).unwrap();
    say(&mut connection, "ROLLBACK").unwrap();
    assert_eq!(integer(&mut connection, "SELECT count(*) FROM \"odd \"\"name\""), 0);
}

#[test]
fn misuse_is_rejected_with_a_message() {
    for query_mode in [QueryMode::Prepared, QueryMode::Simple] {
        let mut connection = connect(&Target { query_mode, ..in_memory() });
        let statement = block_on(connection.prepare("SELECT ?")).unwrap();
        let failure = block_on(connection.execute(statement, &[], &mut Discard)).unwrap_err();
        assert!(failure.message.contains("1 parameters, but 0 were given"), "{failure}");
        let failure = block_on(connection.execute(Statement(9), &[], &mut Discard)).unwrap_err();
        assert!(failure.message.contains("statement 9 was not prepared"), "{failure}");
    }
    let mut connection = connect(&in_memory());
    for (sql, words) in
        [("SELECT 1; SELECT 2", "only one statement"), (" -- nothing", "no statement")]
    {
        let failure = block_on(connection.prepare(sql)).unwrap_err();
        assert!(failure.message.contains(words), "{failure}");
    }
    block_on(connection.close());
    assert_eq!(say(&mut connection, "SELECT 1").unwrap_err().kind, FailureKind::ConnectionLost);
}

#[test]
fn prepared_statements_survive_a_schema_change() {
    let mut connection = connect(&in_memory());
    say(&mut connection, "CREATE TABLE t (a)").unwrap();
    let select = block_on(connection.prepare("SELECT * FROM t")).unwrap();
    say(&mut connection, "ALTER TABLE t ADD COLUMN b; INSERT INTO t VALUES (1, 2)").unwrap();
    let mut table = Table::default();
    block_on(connection.execute(select, &[], &mut table)).unwrap();
    assert_eq!(table.0, [[Some("1".to_owned()), Some("2".to_owned())]]);
}

#[test]
fn the_version_is_the_one_sqlite_reports() {
    let mut connection = connect(&in_memory());
    let mut table = Table::default();
    block_on(connection.query("SELECT sqlite_version()", &mut table)).unwrap();
    assert_eq!(table.first(), Some(connection.identity().version.as_str()));
}

/// Prints costs: `cargo test --release -p dyno-drivers --test it -- --ignored --nocapture
/// sqlite_driver::`.
#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_point_select() {
    const STATEMENTS: i64 = 1_000_000;
    let fill = format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, c TEXT); \
         INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{COST_ROWS}) \
         SELECT i, i, hex(randomblob(60)) FROM n"
    );
    let raw = rusqlite::Connection::open_in_memory().unwrap();
    raw.execute_batch(&fill).unwrap();
    let mut memory = connect(&in_memory());
    let mut text = connect(&Target { query_mode: QueryMode::Simple, ..in_memory() });
    let folder = folder();
    let mut disk = connect_with(&file(&folder), &["PRAGMA journal_mode=WAL"]);
    for connection in [&mut memory, &mut text, &mut disk] {
        say(connection, &fill).unwrap();
    }
    for round in 1..=5 {
        println!(
            "ns of CPU per select, round {round}: raw rusqlite in memory {:.0}, driver {:.0}, as text {:.0}, \
             from a file in WAL mode {:.0}",
            raw_nanos(&raw, STATEMENTS),
            driver_nanos(&mut memory, STATEMENTS),
            driver_nanos(&mut text, STATEMENTS / 4),
            driver_nanos(&mut disk, STATEMENTS / 4),
        );
    }
}

const COST_ROWS: i64 = 50_000;
const COST_SQL: &str = "SELECT c FROM t WHERE id=?";

/// CPU time of this thread so far in nanoseconds; unlike wall-clock time it does not depend on
/// other programs.
fn cpu_nanos() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

fn driver_nanos(connection: &mut Connection, statements: i64) -> f64 {
    let select = block_on(connection.prepare(COST_SQL)).unwrap();
    let begun = cpu_nanos();
    for i in 0..statements {
        let parameters = [Value::Integer(1 + i * 7919 % COST_ROWS)];
        let outcome = block_on(connection.execute(select, &parameters, &mut Discard)).unwrap();
        assert_eq!(outcome.rows, 1);
    }
    (cpu_nanos() - begun) / statements as f64
}

fn raw_nanos(connection: &rusqlite::Connection, statements: i64) -> f64 {
    let mut select = connection.prepare(COST_SQL).unwrap();
    let begun = cpu_nanos();
    for i in 0..statements {
        select.raw_bind_parameter(1, 1 + i * 7919 % COST_ROWS).unwrap();
        let mut found = select.raw_query();
        while found.next().unwrap().is_some() {}
    }
    (cpu_nanos() - begun) / statements as f64
}

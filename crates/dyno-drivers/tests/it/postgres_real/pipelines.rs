//! Several executions before the first answer, and column names.

use super::server::{first, run_all, server};
use dyno_drivers::{Driver, Row, RowSink, Value, block_on};
use dyno_model::failure::FailureKind;
use dyno_model::target::QueryMode;

const MODES: [QueryMode; 2] = [QueryMode::Extended, QueryMode::Prepared];

#[test]
fn a_pipeline_is_executed_in_order_and_is_one_transaction() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, &format!("pipelines_{mode:?}").to_lowercase());
        run_all(
            &mut connection,
            &["DROP TABLE IF EXISTS p", "CREATE TABLE p (id int PRIMARY KEY, k int)"],
        );
        let insert = block_on(connection.prepare("INSERT INTO p VALUES (?, ?)")).unwrap();
        let update = block_on(connection.prepare("UPDATE p SET k = k + ?")).unwrap();
        connection.begin_pipeline().unwrap();
        assert!(connection.is_in_pipeline());
        for id in 0..3 {
            block_on(connection.queue(insert, &[Value::Integer(id), Value::Integer(id * 10)]))
                .unwrap();
        }
        block_on(connection.queue(update, &[Value::Integer(5)])).unwrap();
        let outcome = block_on(connection.end_pipeline()).unwrap();
        assert_eq!(outcome.affected, 6);
        assert_eq!(first(&mut connection, "SELECT sum(k) FROM p"), "45");

        // The second Sync begins another transaction: an earlier failure only affects its own.
        connection.begin_pipeline().unwrap();
        block_on(connection.queue(update, &[Value::Integer(1)])).unwrap();
        block_on(connection.queue(insert, &[Value::Integer(0), Value::Integer(0)])).unwrap();
        block_on(connection.queue(update, &[Value::Integer(100)])).unwrap();
        connection.queue_sync().unwrap();
        block_on(connection.queue(insert, &[Value::Integer(9), Value::Integer(7)])).unwrap();
        let failure = block_on(connection.end_pipeline()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::DuplicateKey);
        assert_eq!(first(&mut connection, "SELECT sum(k) FROM p"), "52");
    }
}

#[test]
fn a_pipeline_larger_than_all_buffers_does_not_block() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "pipelines");
        let echo = block_on(connection.prepare("SELECT ?::text, repeat('y', 10000)")).unwrap();
        let word = "x".repeat(10_000);
        connection.begin_pipeline().unwrap();
        for _ in 0..2_000 {
            block_on(connection.queue(echo, &[Value::Text(&word)])).unwrap();
        }
        assert_eq!(block_on(connection.end_pipeline()).unwrap().rows, 2_000);

        // An error in the middle is read early; the rest is skipped.
        let divide = block_on(connection.prepare("SELECT 1 / ?::int")).unwrap();
        connection.begin_pipeline().unwrap();
        for turn in 0..50 {
            block_on(connection.queue(divide, &[Value::Integer(turn - 3)])).unwrap();
            block_on(connection.queue(echo, &[Value::Text(&word)])).unwrap();
        }
        let failure = block_on(connection.end_pipeline()).unwrap_err();
        assert_eq!(failure.sqlstate, "22012");
        assert_eq!(first(&mut connection, "SELECT 1"), "1");
    }
}

#[test]
fn nothing_else_may_be_sent_while_a_pipeline_is_open() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "pipelines");
    assert!(connection.queue_sync().is_err());
    connection.begin_pipeline().unwrap();
    let failure = block_on(connection.query("SELECT 1", &mut dyno_drivers::Discard)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement);
    block_on(connection.end_pipeline()).unwrap();
    assert_eq!(first(&mut connection, "SELECT 1"), "1");
}

/// Keeps names and values.
#[derive(Default)]
struct Named(Vec<String>);

impl RowSink for Named {
    const WANTS_NAMES: bool = true;

    fn begin(&mut self, columns: usize) {
        self.0.push(format!("begin {columns}"));
    }

    fn name(&mut self, column: usize, name: &str) {
        self.0.push(format!("{column} {name}"));
    }

    fn row(&mut self, row: &dyn Row) {
        let fields = (0..row.len()).map(|column| row.get(column).to_text().unwrap_or_default());
        self.0.push(fields.collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn column_names_are_returned_in_every_query_mode() {
    let Some(server) = server() else { return };
    for mode in [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared] {
        let mut connection = server.session(mode, "pipelines");
        let statement =
            block_on(connection.prepare("SELECT ?::int AS one, 'b' AS \"Two\"")).unwrap();
        for turn in ["1", "2"] {
            let mut named = Named::default();
            let value = Value::Integer(turn.parse().unwrap());
            block_on(connection.execute(statement, &[value], &mut named)).unwrap();
            assert_eq!(named.0, ["begin 2", "0 one", "1 Two", &format!("{turn} b")], "{mode:?}");
        }
    }
}

//! Bulk loading by COPY.

use super::server::{first, run_all, server, table};
use dyno_drivers::{BulkLoad, Driver, RowSource, RowWriter, block_on};
use dyno_model::failure::FailureKind;
use dyno_model::target::QueryMode;

/// Rows from a function of their number, starting with 1.
struct Rows<F>(u64, u64, F);

impl<F: FnMut(u64, &mut dyn RowWriter)> RowSource for Rows<F> {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        if self.0 == self.1 {
            return false;
        }
        self.0 += 1;
        (self.2)(self.0, row);
        true
    }
}

const LOAD: BulkLoad<'_> = BulkLoad { table: "Loaded \"t\"", columns: &["id", "c"] };
const CREATE: &str = "CREATE TEMP TABLE \"Loaded \"\"t\"\"\" (id int PRIMARY KEY, c text)";

#[test]
fn loaded_rows_equal_the_generated_rows() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let texts =
        ["plain", "tab\tnewline\nreturn\rbackslash\\", "\\N", "\\.", "", "글 'quoted' \"too\""];
    let mut rows = Rows(0, 7, |number, row: &mut dyn RowWriter| {
        row.integer(-(number as i64));
        match texts.get(number as usize - 1) {
            Some(text) => row.text(text),
            None => row.null(),
        }
    });
    assert_eq!(block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap(), 7);
    let loaded = table(&mut connection, "SELECT c FROM \"Loaded \"\"t\"\"\" ORDER BY id DESC");
    let loaded: Vec<_> = loaded.iter().map(|row| row[0].as_deref()).collect();
    let expected: Vec<_> = texts.iter().map(|text| Some(*text)).chain([None]).collect();
    assert_eq!(loaded, expected);
    assert_eq!(
        block_on(connection.bulk_load(&LOAD, &mut Rows(0, 0, |_, _: &mut dyn RowWriter| {})))
            .unwrap(),
        0
    );
}

#[test]
fn many_rows_are_loaded_in_bounded_memory() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let text = "x".repeat(100);
    let mut rows = Rows(0, 50_000, |number, row: &mut dyn RowWriter| {
        row.integer(number as i64);
        row.text(&text);
    });
    assert_eq!(block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap(), 50_000);
    assert_eq!(first(&mut connection, "SELECT sum(id) FROM \"Loaded \"\"t\"\"\""), "1250025000");
    assert!(connection.memory() <= 16 * 1024, "{}", connection.memory());
}

#[test]
fn a_row_rejected_by_the_server_undoes_the_load_and_ends_it_early() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let text = "x".repeat(1000);
    // The second row has the key of the first one; all rows would be 10 GB.
    let mut rows = Rows(0, 10_000_000, |number, row: &mut dyn RowWriter| {
        row.integer((number / 2) as i64);
        row.text(&text);
    });
    let failure = block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap_err();
    assert_eq!(
        (failure.kind, failure.sqlstate.as_str()),
        (FailureKind::DuplicateKey, "23505"),
        "{failure}"
    );
    assert!(rows.0 < 1_000_000, "{} rows were made in vain", rows.0);
    assert_eq!(first(&mut connection, "SELECT count(*) FROM \"Loaded \"\"t\"\"\""), "0");
}

#[test]
fn an_invalid_row_is_reported_and_undoes_the_load() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let mut rows = Rows(0, 100, |number, row: &mut dyn RowWriter| {
        row.integer(number as i64);
        if number != 42 {
            row.text("c");
        }
    });
    let failure = block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement);
    assert_eq!(
        failure.message,
        "row 42 for table Loaded \"t\" has 1 fields, but there are 2 columns"
    );
    // Only the server finds a zero byte.
    let mut rows = Rows(0, 1, |_, row: &mut dyn RowWriter| {
        row.integer(1);
        row.text("a\0b");
    });
    let failure = block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadStatement, "{failure}");
    assert_eq!(first(&mut connection, "SELECT count(*) FROM \"Loaded \"\"t\"\"\""), "0");
}

#[test]
fn a_missing_table_is_reported_before_any_row_is_generated() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    let mut rows = Rows(0, 10, |_, _: &mut dyn RowWriter| {});
    let load = BulkLoad { table: "missing", columns: &[] };
    let failure = block_on(connection.bulk_load(&load, &mut rows)).unwrap_err();
    assert_eq!(failure.sqlstate, "42P01");
    assert_eq!(rows.0, 0);
    assert_eq!(first(&mut connection, "SELECT 1"), "1");
}

#[test]
fn a_generator_that_panics_leaves_a_connection_that_is_marked_lost() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let mut rows = Rows(0, 10, |number, _: &mut dyn RowWriter| assert!(number < 5, "out of ideas"));
    let load = std::panic::AssertUnwindSafe(|| {
        block_on(connection.bulk_load(&BulkLoad { columns: &[], ..LOAD }, &mut rows))
    });
    assert!(std::panic::catch_unwind(load).is_err());
    let failure = block_on(connection.query("SELECT 1", &mut dyno_drivers::Discard)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ConnectionLost);
}

#[test]
fn a_server_that_ends_during_a_load_is_a_lost_connection() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "loads");
    run_all(&mut connection, &[CREATE]);
    let mut admin = server.admin();
    let kill = format!("SELECT pg_terminate_backend({}, 60000)", connection.backend_process());
    let text = "x".repeat(1000);
    let mut rows = Rows(0, 1_000_000, |number, row: &mut dyn RowWriter| {
        if number == 1000 {
            assert_eq!(first(&mut admin, &kill), "t");
        }
        row.integer(number as i64);
        row.text(&text);
    });
    let failure = block_on(connection.bulk_load(&LOAD, &mut rows)).unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::NotReady | FailureKind::ConnectionLost),
        "{failure}"
    );
    assert!(!connection.is_usable());
}

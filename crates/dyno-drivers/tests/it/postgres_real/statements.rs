//! Values in both directions in every mode, and results of every size and number.

use super::server::{first, run_all, server, table};
use dyno_drivers::postgres::protocol::backend::TransactionStatus;
use dyno_drivers::{Discard, Driver, FirstInteger, Row, RowSink, Table, Value, block_on};
use dyno_model::failure::FailureKind;
use dyno_model::target::QueryMode;
use proptest::prelude::*;

const MODES: [QueryMode; 3] = [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple];

/// Keeps the debug form of every field, which distinguishes numbers from texts.
#[derive(Default)]
struct Shown(Vec<String>);

impl RowSink for Shown {
    fn row(&mut self, row: &dyn Row) {
        self.0.extend((0..row.len()).map(|column| format!("{:?}", row.get(column))));
    }
}

#[test]
fn an_endless_answer_is_an_error_for_a_sink_that_keeps_rows() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "endless");
        let endless = "SELECT generate_series(1, 2000000000)";
        let failure = if mode == QueryMode::Simple {
            block_on(connection.query(endless, &mut Table::default())).unwrap_err()
        } else {
            let statement = block_on(connection.prepare(endless)).unwrap();
            block_on(connection.execute(statement, &[], &mut Table::default())).unwrap_err()
        };
        assert_eq!(failure.kind, FailureKind::BadStatement, "{failure}");
        assert!(failure.message.contains("more than 64 MiB of rows"), "{failure}");
        let after = block_on(connection.query("SELECT 1", &mut Discard)).unwrap_err();
        assert!(after.is_lost(), "the rest of the answer was not read: {after}");
    }
}

#[test]
fn every_common_type_is_sent_and_returned_in_every_mode() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "types");
        run_all(
            &mut connection,
            &[
                "DROP TABLE IF EXISTS t",
                "CREATE TABLE t (a int2, b int4, c int8, d float4, e float8, f numeric(12,3), g text,
               h varchar(20), i char(5), j bool, k timestamp, l date, m bytea, n uuid, o json)",
            ],
        );
        let insert =
            block_on(connection.prepare("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"))
                .unwrap();
        let values = [
            Value::Integer(-32768),
            Value::Integer(-2_147_483_648),
            Value::Integer(i64::MIN),
            Value::Float(0.1),
            Value::Float(1e-300),
            Value::Text("123456789.125"),
            Value::Text("it's a \\ 'quoted' ? $1 글\n"),
            Value::Text(""),
            Value::Text("abc"),
            Value::Text("true"),
            Value::Text("2026-11-21 09:30:00.25"),
            Value::Text("2026-11-21"),
            Value::Bytes(&[0, 1, 0xff, b'\\', b'\'']),
            Value::Text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
            Value::Text("{\"a\": 1}"),
        ];
        let outcome = block_on(connection.execute(insert, &values, &mut Discard)).unwrap();
        assert_eq!((outcome.has_rows, outcome.rows, outcome.affected), (false, 0, 1), "{mode:?}");
        block_on(connection.execute(insert, &[Value::Null; 15], &mut Discard)).unwrap();
        let bytea = if mode == QueryMode::Prepared {
            r"Bytes([0, 1, 255, 92, 39])"
        } else {
            r#"Text("\\x0001ff5c27")"#
        };
        let expected = [
            "Integer(-32768)",
            "Integer(-2147483648)",
            "Integer(-9223372036854775808)",
            "Float(0.1)",
            "Float(1e-300)",
            r#"Text("123456789.125")"#,
            r#"Text("it's a \\ 'quoted' ? $1 글\n")"#,
            r#"Text("")"#,
            r#"Text("abc  ")"#,
            r#"Text("t")"#,
            r#"Text("2026-11-21 09:30:00.25")"#,
            r#"Text("2026-11-21")"#,
            bytea,
            r#"Text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")"#,
            r#"Text("{\"a\": 1}")"#,
        ];
        let select = block_on(connection.prepare("SELECT * FROM t ORDER BY a")).unwrap();
        // Twice: in extended mode the columns are only described the first time.
        for _ in 0..2 {
            let mut shown = Shown::default();
            let outcome = block_on(connection.execute(select, &[], &mut shown)).unwrap();
            assert_eq!(
                (outcome.has_rows, outcome.rows, outcome.affected),
                (true, 2, 0),
                "{mode:?}"
            );
            assert_eq!(shown.0[..15], expected, "{mode:?}");
            assert!(shown.0[15..].iter().all(|field| field == "Null"), "{mode:?}");
        }
        let outcome = block_on(connection.execute(select, &[], &mut Discard)).unwrap();
        assert_eq!((outcome.has_rows, outcome.rows), (true, 2), "{mode:?}");
    }
}

#[test]
fn integers_are_accepted_by_parameters_of_any_number_type() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "numbers");
        run_all(
            &mut connection,
            &["CREATE TEMP TABLE n (a int2, b int4, c int8, d float8, e numeric, f text)"],
        );
        let insert = block_on(connection.prepare("INSERT INTO n VALUES (?,?,?,?,?,?)")).unwrap();
        block_on(connection.execute(insert, &[Value::Integer(-7); 6], &mut Discard)).unwrap();
        let row = table(&mut connection, "SELECT * FROM n");
        assert!(row[0].iter().all(|field| field.as_deref() == Some("-7")), "{mode:?}: {row:?}");
        let too_big = [
            Value::Integer(1 << 40),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        let failure = block_on(connection.execute(insert, &too_big, &mut Discard)).unwrap_err();
        assert_eq!(failure.sqlstate, "22003", "{mode:?}: {failure}");
        let select =
            block_on(connection.prepare("SELECT count(*) FROM n WHERE b-? = -6 AND d = ?"))
                .unwrap();
        let mut count = FirstInteger::default();
        block_on(connection.execute(select, &[Value::Integer(-1), Value::Float(-7.0)], &mut count))
            .unwrap();
        assert_eq!(count.0, Some(1), "{mode:?}");
    }
}

#[test]
fn changes_and_rows_are_counted_as_by_the_server() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "counts");
        run_all(
            &mut connection,
            &[
                "CREATE TEMP TABLE c (id int PRIMARY KEY, k int)",
                "INSERT INTO c SELECT n, 0 FROM generate_series(1, 10) n",
            ],
        );
        let cases = [
            ("UPDATE c SET k=k+1 WHERE id<=?", 4, (false, 0, 4)),
            ("UPDATE c SET k=0 WHERE id=?", 99, (false, 0, 0)),
            ("DELETE FROM c WHERE id=?", 10, (false, 0, 1)),
            ("INSERT INTO c VALUES (?, 5) RETURNING id", 11, (true, 1, 1)),
            ("DELETE FROM c WHERE id=? RETURNING id", 99, (true, 0, 0)),
            ("SELECT k FROM c WHERE id<?", 4, (true, 3, 0)),
            ("SELECT k FROM c WHERE id=?", 99, (true, 0, 0)),
            ("SELECT FROM c WHERE id=?", 1, (true, 1, 0)),
        ];
        for (sql, parameter, expected) in cases {
            let statement = block_on(connection.prepare(sql)).unwrap();
            let outcome =
                block_on(connection.execute(statement, &[Value::Integer(parameter)], &mut Discard))
                    .unwrap();
            assert_eq!(
                (outcome.has_rows, outcome.rows, outcome.affected),
                expected,
                "{mode:?} {sql}"
            );
        }
        let begin = block_on(connection.prepare("BEGIN")).unwrap();
        let commit = block_on(connection.prepare("COMMIT")).unwrap();
        block_on(connection.execute(begin, &[], &mut Discard)).unwrap();
        assert_eq!(connection.transaction_status(), TransactionStatus::Open);
        block_on(connection.execute(commit, &[], &mut Discard)).unwrap();
        assert_eq!(connection.transaction_status(), TransactionStatus::Idle);
    }
}

#[test]
fn a_text_with_many_statements_returns_all_their_rows() {
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "many");
    let sql = "CREATE TEMP TABLE m (a int); INSERT INTO m VALUES (1), (2); SELECT a FROM m; SELECT 'x' AS b, 3; UPDATE m SET a=a; ;";
    let mut table = Table::default();
    let outcome = block_on(connection.query(sql, &mut table)).unwrap();
    assert_eq!((outcome.has_rows, outcome.rows, outcome.affected), (true, 3, 4));
    assert_eq!(table.0.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 2]);
    let nothing = block_on(connection.query("", &mut Discard)).unwrap();
    assert_eq!(nothing, dyno_drivers::Outcome::default());
    // The first error ends the text; earlier statements of the text are rolled back.
    let failure =
        block_on(connection.query("SELECT 1; SELECT nothing; SELECT 2", &mut Discard)).unwrap_err();
    assert_eq!(failure.sqlstate, "42703");
    assert_eq!(first(&mut connection, "SELECT 3"), "3");
}

#[test]
fn big_results_and_parameters_leave_no_memory_behind() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "big");
        let idle = connection.memory();
        assert!(idle <= 8 * 1024, "{mode:?}: {idle} bytes");
        let rows = block_on(
            connection.prepare("SELECT n, repeat('x', 100) FROM generate_series(1, ?::int) n"),
        )
        .unwrap();
        let mut shown = Table::default();
        block_on(connection.execute(rows, &[Value::Integer(20_000)], &mut shown)).unwrap();
        assert_eq!(shown.0.len(), 20_000);
        assert_eq!(shown.0[19_999][0].as_deref(), Some("20000"));
        let outcome =
            block_on(connection.execute(rows, &[Value::Integer(200_000)], &mut Discard)).unwrap();
        assert_eq!(outcome.rows, 200_000);
        let text = "글".repeat(1_000_000);
        let echo = block_on(connection.prepare("SELECT ?::text, length(?)")).unwrap();
        let mut shown = Table::default();
        block_on(connection.execute(echo, &[Value::Text(&text), Value::Text(&text)], &mut shown))
            .unwrap();
        assert_eq!(shown.0[0][0].as_deref(), Some(text.as_str()));
        assert_eq!(shown.0[0][1].as_deref(), Some("1000000"));
        let kept = connection.memory();
        assert!(kept <= 40 * 1024, "{mode:?}: {kept} bytes");
    }
}

#[test]
fn errors_of_the_caller_are_reported_without_a_round_trip() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "mistakes");
        let statement = block_on(connection.prepare("SELECT ?::int")).unwrap();
        let failure = block_on(connection.execute(statement, &[], &mut Discard)).unwrap_err();
        assert_eq!(failure.message, "the statement has 1 parameters, but 0 were given");
        let failure = block_on(connection.execute(dyno_drivers::Statement(9), &[], &mut Discard))
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::BadStatement);
        for sql in ["SELECT '\0'", "\0"] {
            assert_eq!(
                block_on(connection.query(sql, &mut Discard)).unwrap_err().kind,
                FailureKind::BadStatement
            );
            assert_eq!(
                block_on(connection.prepare(sql)).unwrap_err().kind,
                FailureKind::BadStatement
            );
        }
        let text = block_on(connection.prepare("SELECT ?::text")).unwrap();
        let failure =
            block_on(connection.execute(text, &[Value::Text("a\0b")], &mut Discard)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::BadStatement, "{mode:?}: {failure}");
        let many = format!("SELECT {}1", "?::int+".repeat(70_000));
        assert_eq!(
            block_on(connection.prepare(&many)).unwrap_err().kind,
            FailureKind::BadStatement
        );
        assert_eq!(first(&mut connection, "SELECT 1"), "1");
    }
}

#[test]
fn notices_notifications_and_changed_settings_do_not_disturb() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "noise");
        run_all(
            &mut connection,
            &[
                "LISTEN news",
                "DO $$ BEGIN RAISE NOTICE 'hello ?'; END $$",
                "NOTIFY news, 'x'",
                "SET application_name = 'other'",
            ],
        );
        run_all(&mut connection, &["SET standard_conforming_strings = off"]);
        // From now on a backslash also escapes in ordinary strings, and the question mark is inside
        // one.
        let statement = block_on(connection.prepare(r"SELECT '\'?' || ?")).unwrap();
        let mut table = Table::default();
        block_on(connection.execute(statement, &[Value::Text("\\")], &mut table)).unwrap();
        assert_eq!(table.first(), Some("'?\\"), "{mode:?}");
    }
}

#[test]
fn question_marks_that_are_not_placeholders_reach_the_server() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "marks");
        let statement = block_on(
            connection.prepare("SELECT '?', $$?$$, ('{\"a\":1}'::jsonb ?? ?)::text /* ? */ -- ?"),
        )
        .unwrap();
        let mut table = Table::default();
        block_on(connection.execute(statement, &[Value::Text("a")], &mut table)).unwrap();
        let row: Vec<_> = table.0[0].iter().map(Option::as_deref).collect();
        assert_eq!(row, [Some("?"), Some("?"), Some("true")], "{mode:?}");
    }
}

#[test]
fn any_text_is_returned_unchanged_in_every_mode() {
    let Some(server) = server() else { return };
    let settings = ["on", "off"];
    let sessions: Vec<_> = MODES
        .iter()
        .flat_map(|mode| settings.map(|setting| (*mode, setting)))
        .map(|(mode, setting)| {
            let mut connection = server.session(mode, "texts");
            run_all(&mut connection, &["SET escape_string_warning = off"]);
            run_all(&mut connection, &[&format!("SET standard_conforming_strings = {setting}")]);
            let echo = block_on(
                connection.prepare("SELECT ?::text,encode(?::bytea,'hex'),?::float8,?::int8"),
            )
            .unwrap();
            (connection, echo)
        })
        .collect();
    let sessions = std::cell::RefCell::new(sessions);
    let config =
        ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in "([^\0]|['\\\\\"?$E-]){0,30}", bytes: Vec<u8>, float: f64, integer: i64)| {
        for (connection, echo) in sessions.borrow_mut().iter_mut() {
            let mut table = Table::default();
            let values = [Value::Text(&text), Value::Bytes(&bytes), Value::Float(float), Value::Integer(integer)];
            block_on(connection.execute(*echo, &values, &mut table)).unwrap();
            prop_assert_eq!(table.0[0][0].as_deref(), Some(text.as_str()));
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(table.0[0][1].as_deref(), Some(hex.as_str()));
            let back: f64 = table.0[0][2].as_ref().unwrap().parse().unwrap();
            prop_assert!(back.to_bits() == float.to_bits() || (back.is_nan() && float.is_nan()));
            prop_assert_eq!(table.0[0][3].as_ref().unwrap(), &integer.to_string());
        }
    });
}

#[test]
fn a_client_with_ten_statements_fits_in_eight_kilobytes() {
    let Some(server) = server() else { return };
    for mode in MODES {
        let mut connection = server.session(mode, "memory");
        run_all(
            &mut connection,
            &["CREATE TEMP TABLE sbtest1 (id int, k int, c char(120), pad char(60))"],
        );
        let mut selects = Vec::new();
        for number in 0..10 {
            let sql =
                format!("SELECT c, {number} FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c");
            selects.push(block_on(connection.prepare(&sql)).unwrap());
        }
        for select in selects {
            let between = [Value::Integer(1), Value::Integer(100)];
            block_on(connection.execute(select, &between, &mut Discard)).unwrap();
        }
        assert!(connection.memory() <= 8 * 1024, "{mode:?}: {} bytes", connection.memory());
    }
}

#[test]
fn statements_with_equal_descriptions_share_them() {
    const STATEMENTS: usize = 2_000;
    let Some(server) = server() else { return };
    let mut connection = server.session(QueryMode::Prepared, "statements");
    let before = connection.memory();
    let prepared: Vec<_> = (0..STATEMENTS)
        .map(|number| block_on(connection.prepare(&format!("SELECT {number}, ?::text"))).unwrap())
        .collect();
    let grown = (connection.memory() - before) / STATEMENTS;
    assert!(grown <= 32, "{grown} bytes per statement");
    let other = block_on(connection.prepare("SELECT 'a', 1.5::float8, ?::int")).unwrap();
    for (number, statement) in prepared.into_iter().enumerate().step_by(333) {
        let mut table = Table::default();
        block_on(connection.execute(other, &[Value::Integer(7)], &mut table)).unwrap();
        block_on(connection.execute(statement, &[Value::Text("x")], &mut table)).unwrap();
        let rows: Vec<Vec<_>> = table
            .0
            .iter()
            .map(|row| row.iter().map(|field| field.as_deref().unwrap_or_default()).collect())
            .collect();
        assert_eq!(rows, [vec!["a", "1.5", "7"], vec![&number.to_string(), "x"]]);
    }
}

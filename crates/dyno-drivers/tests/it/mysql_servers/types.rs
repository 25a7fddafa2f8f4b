//! Values of all types, in both directions and in both protocols.

use super::server::{Kind, Server, run, servers, table};
use dyno_drivers::mysql::Connection;
use dyno_drivers::{Discard, Driver, Row, RowSink, Table, Value, block_on};
use dyno_model::target::QueryMode;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Type, literal, and expected text.
const VALUES: &[(&str, &str, &str)] = &[
    ("TINYINT", "-128", "-128"),
    ("TINYINT UNSIGNED", "255", "255"),
    ("BOOLEAN", "TRUE", "1"),
    ("SMALLINT", "-32768", "-32768"),
    ("SMALLINT UNSIGNED", "65535", "65535"),
    ("MEDIUMINT", "-8388608", "-8388608"),
    ("MEDIUMINT UNSIGNED", "16777215", "16777215"),
    ("INT", "-2147483648", "-2147483648"),
    ("INT UNSIGNED", "4294967295", "4294967295"),
    ("BIGINT", "-9223372036854775808", "-9223372036854775808"),
    ("BIGINT UNSIGNED", "9223372036854775807", "9223372036854775807"),
    ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551615"),
    ("FLOAT", "1.1", "1.1"),
    (
        "DOUBLE",
        "-2.5e-300",
        "-0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000025",
    ),
    ("DOUBLE", "0.1", "0.1"),
    ("DECIMAL(30,10)", "-12345678901234567890.0123456789", "-12345678901234567890.0123456789"),
    ("BIT(1)", "b'1'", "1"),
    ("BIT(12)", "b'101010101010'", "2730"),
    ("BIT(64)", "18446744073709551615", "18446744073709551615"),
    ("YEAR", "2026", "2026"),
    ("DATE", "'2026-02-28'", "2026-02-28"),
    ("DATETIME", "'2026-02-28 23:59:59'", "2026-02-28 23:59:59"),
    ("DATETIME", "'2026-02-28'", "2026-02-28 00:00:00"),
    ("DATETIME(6)", "'2026-02-28 23:59:59.000001'", "2026-02-28 23:59:59.000001"),
    ("DATETIME(3)", "'2026-02-28'", "2026-02-28 00:00:00.000"),
    ("TIMESTAMP", "'2026-02-28 12:00:00'", "2026-02-28 12:00:00"),
    ("TIMESTAMP(2)", "'2026-02-28 12:00:00.5'", "2026-02-28 12:00:00.50"),
    ("TIME", "'-838:59:59'", "-838:59:59"),
    ("TIME", "'0:0:0'", "00:00:00"),
    ("TIME(6)", "'100:00:00.123456'", "100:00:00.123456"),
    ("CHAR(10)", "'abc'", "abc"),
    ("VARCHAR(20)", "''", ""),
    ("VARCHAR(20)", "'한국어 日本 🔑'", "한국어 日本 🔑"),
    ("TEXT", "REPEAT('x', 300)", ""),
    ("MEDIUMTEXT", "REPEAT('y', 70000)", ""),
    ("ENUM('a','b')", "'b'", "b"),
    ("SET('a','b','c')", "'a,c'", "a,c"),
    ("JSON", "'{\"a\": [1, 2]}'", "{\"a\": [1, 2]}"),
    ("VARBINARY(10)", "'bytes'", "bytes"),
    ("BLOB", "'blob'", "blob"),
    ("INT", "NULL", "NULL"),
    ("TEXT", "NULL", "NULL"),
    ("DATETIME(6)", "NULL", "NULL"),
];

fn expected(literal: &str, text: &str) -> Option<String> {
    match literal {
        "NULL" => None,
        "REPEAT('x', 300)" => Some("x".repeat(300)),
        "REPEAT('y', 70000)" => Some("y".repeat(70_000)),
        _ => Some(text.to_owned()),
    }
}

fn execute(
    connection: &mut Connection,
    sql: &str,
    parameters: &[Value<'_>],
) -> Vec<Vec<Option<String>>> {
    let mut table = Table::default();
    block_on(async {
        let statement = connection.prepare(sql).await?;
        connection.execute(statement, parameters, &mut table).await
    })
    .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table.0
}

#[test]
fn every_type_reads_the_same_as_text_and_as_binary() {
    for server in servers() {
        let mut connection = server.connect(&server.database("all_types"));
        let columns: Vec<String> =
            VALUES.iter().enumerate().map(|(i, (kind, ..))| format!("c{i} {kind} NULL")).collect();
        let literals: Vec<&str> = VALUES.iter().map(|(_, literal, _)| *literal).collect();
        run(&mut connection, &format!("CREATE TABLE t ({})", columns.join(", ")));
        run(&mut connection, &format!("INSERT INTO t VALUES ({})", literals.join(", ")));
        let text = table(&mut connection, "SELECT * FROM t");
        let binary = execute(&mut connection, "SELECT * FROM t", &[]);
        // Again, when the server may omit the column definitions.
        let again = execute(&mut connection, "SELECT * FROM t", &[]);
        for (i, (kind, literal, reads)) in VALUES.iter().enumerate() {
            let expected = expected(literal, reads);
            assert_eq!(text[0][i], expected, "{:?} text {kind} {literal}", server.kind);
            assert_eq!(binary[0][i], expected, "{:?} binary {kind} {literal}", server.kind);
        }
        assert_eq!(binary, again);
    }
}

#[test]
fn zero_dates_read_as_the_server_writes_them() {
    for server in servers() {
        let mut connection = server.connect(&server.database("zero_dates"));
        run(&mut connection, "SET sql_mode = ''");
        run(&mut connection, "CREATE TABLE t (a DATE, b DATETIME, c DATETIME(2), d YEAR)");
        run(&mut connection, "INSERT INTO t VALUES ('0000-00-00', '0000-00-00', '0000-00-00', 0)");
        let text = table(&mut connection, "SELECT * FROM t");
        assert_eq!(execute(&mut connection, "SELECT * FROM t", &[]), text);
        assert_eq!(text[0][2].as_deref(), Some("0000-00-00 00:00:00.00"));
    }
}

/// Distinguishes integers and floats from text.
#[derive(Default)]
struct Kinds(Vec<String>);

impl RowSink for Kinds {
    fn row(&mut self, row: &dyn Row) {
        self.0.extend((0..row.len()).map(|i| format!("{:?}", row.get(i))));
    }
}

#[test]
fn numbers_are_decoded_to_numbers_in_both_modes() {
    for server in servers() {
        for mode in [QueryMode::Prepared, QueryMode::Simple] {
            let mut target = server.root();
            target.query_mode = mode;
            let mut connection = server.connect(&target);
            let sql = "SELECT CAST(? AS SIGNED), 2.5e0, NULL, 'x', CAST(1.50 AS DECIMAL(5,2)), _binary X'FF'";
            let mut kinds = Kinds::default();
            block_on(async {
                let statement = connection.prepare(sql).await?;
                connection.execute(statement, &[Value::Integer(-7)], &mut kinds).await
            })
            .unwrap();
            assert_eq!(
                kinds.0,
                [
                    "Integer(-7)",
                    "Float(2.5)",
                    "Null",
                    "Text(\"x\")",
                    "Text(\"1.50\")",
                    "Bytes([255])"
                ],
                "{mode:?}"
            );
        }
    }
}

/// Sends a text, bytes, an integer and a float to the server and back as parameters.
fn echo(
    connection: &mut Connection,
    statement: dyno_drivers::Statement,
    value: &Echo,
) -> Vec<Vec<Option<String>>> {
    let mut table = Table::default();
    let parameters = [
        Value::Text(&value.text),
        Value::Bytes(&value.bytes),
        Value::Integer(value.integer),
        Value::Float(value.float),
        if value.is_null { Value::Null } else { Value::Text("not null") },
    ];
    block_on(connection.execute(statement, &parameters, &mut table))
        .unwrap_or_else(|failure| panic!("{value:?}: {failure}"));
    table.0
}

#[derive(Debug)]
struct Echo {
    text: String,
    bytes: Vec<u8>,
    integer: i64,
    float: f64,
    is_null: bool,
}

fn echoes() -> impl Strategy<Value = Echo> {
    // Quotes, backslashes, control and wide characters are much more frequent than by chance.
    let text = prop_oneof![
        proptest::collection::vec(
            prop_oneof![
                Just('\''),
                Just('\\'),
                Just('"'),
                Just('\0'),
                Just('\n'),
                Just('\u{1a}'),
                Just('?'),
                any::<char>()
            ],
            0..60
        )
        .prop_map(|characters| characters.into_iter().collect::<String>()),
        any::<String>()
    ];
    let bytes = proptest::collection::vec(any::<u8>(), 0..60);
    (text, bytes, any::<i64>(), proptest::num::f64::NORMAL, any::<bool>()).prop_map(
        |(text, bytes, integer, float, is_null)| Echo { text, bytes, integer, float, is_null },
    )
}

fn parameters_come_back(server: &Server, mode: QueryMode, sql_mode: &str) {
    let mut target = server.root();
    target.query_mode = mode;
    target.session_setup = vec![format!("SET sql_mode = '{sql_mode}'")];
    let mut connection = server.connect(&target);
    let sql = "SELECT HEX(?), HEX(?), CAST(? AS SIGNED), ? + 0e0, ? IS NULL";
    let statement = block_on(connection.prepare(sql)).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let connection = std::cell::RefCell::new(connection);
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&echoes(), |value| {
            let rows = echo(&mut connection.borrow_mut(), statement, &value);
            let [text, bytes, integer, float, is_null] = rows[0].as_slice() else {
                panic!("five columns")
            };
            prop_assert_eq!(text, &Some(hex(value.text.as_bytes())));
            prop_assert_eq!(bytes, &Some(hex(&value.bytes)));
            prop_assert_eq!(integer, &Some(value.integer.to_string()));
            prop_assert_eq!(
                float.as_deref().map(|text| text.parse::<f64>().unwrap()),
                Some(value.float)
            );
            prop_assert_eq!(is_null.as_deref(), Some(if value.is_null { "1" } else { "0" }));
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_parameter_is_returned_unchanged() {
    for server in servers() {
        for mode in [QueryMode::Prepared, QueryMode::Simple] {
            for sql_mode in ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"] {
                parameters_come_back(server, mode, sql_mode);
            }
        }
    }
}

#[test]
fn a_parameter_may_be_larger_than_a_packet() {
    for server in servers() {
        for mode in [QueryMode::Prepared, QueryMode::Simple] {
            let mut target = server.root();
            target.query_mode = mode;
            let mut connection = server.connect(&target);
            let long = "ab'c\\".repeat(4_000_000);
            let rows = execute(&mut connection, "SELECT LENGTH(?)", &[Value::Text(&long)]);
            assert_eq!(rows[0][0].as_deref(), Some("20000000"));
            run(&mut connection, "SELECT 1");
            assert!(connection.buffer_bytes() < 70_000, "{} bytes kept", connection.buffer_bytes());
        }
    }
}

#[test]
fn results_beyond_16_mib_are_read_or_skipped() {
    for server in servers() {
        let mut connection = server.connect(&server.database("large_results"));
        // One field of more than a packet, of exactly one packet, and many rows of this total size.
        for bytes in [16_777_211, 16_777_215, 40_000_000] {
            let sql = format!("SELECT REPEAT('x', {bytes}), 7");
            let rows = table(&mut connection, &sql);
            assert!(
                rows[0][0]
                    .as_ref()
                    .is_some_and(|text| text.len() == bytes && text.bytes().all(|b| b == b'x'))
            );
            assert_eq!(rows[0][1].as_deref(), Some("7"));
            assert_eq!(execute(&mut connection, &sql, &[]), rows);
            run(&mut connection, "SELECT 1");
            let outcome = block_on(connection.query(&sql, &mut Discard)).unwrap();
            assert_eq!((outcome.rows, outcome.has_rows), (1, true));
            assert!(connection.buffer_bytes() < 70_000, "{} bytes kept", connection.buffer_bytes());
        }
        let sequence = match server.kind {
            Kind::Mariadb => "SELECT seq, REPEAT('y', 200) FROM seq_1_to_100000",
            Kind::Mysql => {
                run(&mut connection, "SET cte_max_recursion_depth = 100000");
                "WITH RECURSIVE s AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM s WHERE seq < 100000) \
                 SELECT seq, REPEAT('y', 200) FROM s"
            }
        };
        assert_eq!(block_on(connection.query(sequence, &mut Discard)).unwrap().rows, 100_000);
        let rows = execute(&mut connection, sequence, &[]);
        assert_eq!(rows.len(), 100_000);
        assert_eq!(rows[99_999][0].as_deref(), Some("100000"));
    }
}

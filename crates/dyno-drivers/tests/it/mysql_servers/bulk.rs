//! Bulk loading.

use super::server::{Kind, first, run, servers, table};
use dyno_drivers::mysql::Connection;
use dyno_drivers::{BulkLoad, Driver, RowSource, RowWriter, block_on};
use dyno_model::failure::FailureKind;
use std::sync::Mutex;
use std::time::Instant;

/// Held by tests that change or exhaust global settings of a server.
pub(crate) static GLOBAL_SETTINGS: Mutex<()> = Mutex::new(());

const COLUMNS: &[&str] = &["id", "k", "c", "pad"];

/// The first `count` rows of a table similar to sysbench's.
struct Sbtest {
    id: i64,
    count: i64,
    c: String,
}

impl Sbtest {
    fn new(count: i64) -> Self {
        Self { id: 0, count, c: "0123456789-".repeat(11)[..119].to_owned() }
    }
}

impl RowSource for Sbtest {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        if self.id == self.count {
            return false;
        }
        self.id += 1;
        row.integer(self.id);
        row.integer(self.id * 7919 % 250_000);
        row.text(&self.c);
        row.text(&self.c[..59]);
        true
    }
}

const SBTEST: &str = "CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', \
                      pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k))";

/// Runs the test with and without `LOAD DATA`.
fn both_ways(name: &str, test: impl Fn(&mut Connection, bool)) {
    let _alone = GLOBAL_SETTINGS.lock().unwrap();
    for server in servers() {
        let target = server.database(name);
        let mut root = server.connect(&server.root());
        for is_allowed in [true, false] {
            run(&mut root, &format!("SET GLOBAL local_infile = {}", u8::from(is_allowed)));
            test(&mut server.connect(&target), is_allowed);
        }
        run(&mut root, "SET GLOBAL local_infile = 1");
    }
}

#[test]
fn rows_of_sysbench_are_loaded_with_both_methods() {
    both_ways("bulk_sbtest", |connection, is_allowed| {
        run(connection, "DROP TABLE IF EXISTS sbtest1");
        run(connection, SBTEST);
        let load = BulkLoad { table: "sbtest1", columns: COLUMNS };
        let start = Instant::now();
        let loaded = block_on(connection.bulk_load(&load, &mut Sbtest::new(250_000))).unwrap();
        let way = if is_allowed { "LOAD DATA" } else { "INSERT" };
        println!(
            "{}: {way} of 250,000 rows in {:.2?}",
            connection.identity().version,
            start.elapsed()
        );
        assert_eq!(loaded, 250_000);
        let sums = table(
            connection,
            "SELECT COUNT(*), SUM(id), SUM(k), MIN(LENGTH(c)), MAX(LENGTH(pad)) FROM sbtest1",
        );
        let sums: Vec<_> = sums[0].iter().map(|field| field.clone().unwrap()).collect();
        let k: i64 = (1..=250_000_i64).map(|id| id * 7919 % 250_000).sum();
        assert_eq!(sums, ["250000", "31250125000", &k.to_string(), "119", "59"]);
        assert!(!connection.is_in_transaction());
        assert!(connection.buffer_bytes() < 40_000, "{} bytes kept", connection.buffer_bytes());
    });
}

/// Rows of one text and one number; `None` is NULL.
struct Texts<'a>(std::slice::Iter<'a, Option<String>>, i64);

impl RowSource for Texts<'_> {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        let Some(text) = self.0.next() else { return false };
        match text {
            Some(text) => row.text(text),
            None => row.null(),
        }
        row.integer(self.1);
        self.1 += 1;
        true
    }
}

fn difficult_texts() -> Vec<Option<String>> {
    let mut texts: Vec<Option<String>> = [
        "",
        "\\N",
        "\\",
        "\t",
        "\n",
        "a\tb\nc\\d",
        "'",
        "\"",
        "\0\u{1a}\r\n",
        "NULL",
        "비밀 🔑",
        "\\'",
    ]
    .iter()
    .map(|text| Some((*text).to_owned()))
    .collect();
    texts.push(None);
    // Rows that cross packets, and one longer than a packet.
    texts.extend((0..50).map(|i| Some("\\\t\n'x".repeat(2_000 + i * 531))));
    texts.push(Some("long'\\".repeat(3_000_000)));
    texts
}

#[test]
fn any_text_is_loaded_unchanged_with_both_methods_and_sql_modes() {
    both_ways("bulk_texts", |connection, _| {
        for sql_mode in ["", "NO_BACKSLASH_ESCAPES"] {
            run(connection, &format!("SET sql_mode = '{sql_mode}'"));
            run(connection, "DROP TABLE IF EXISTS `a ``table`");
            run(connection, "CREATE TABLE `a ``table` (`a text` LONGTEXT, n INT)");
            let texts = difficult_texts();
            let load = BulkLoad { table: "a `table", columns: &["a text", "n"] };
            let loaded =
                block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 0))).unwrap();
            assert_eq!(loaded, texts.len() as u64);
            let rows = table(connection, "SELECT `a text` FROM `a ``table` ORDER BY n");
            for (row, text) in rows.iter().zip(&texts) {
                assert!(
                    row[0] == *text,
                    "{:?}",
                    text.as_ref().map(|text| text.chars().take(20).collect::<String>())
                );
            }
        }
    });
}

#[test]
fn non_ascii_characters_may_come_late_and_into_any_character_set() {
    both_ways("bulk_character_sets", |connection, _| {
        for set in ["utf8mb4", "latin1", "utf16", "ucs2"] {
            run(connection, "DROP TABLE IF EXISTS t");
            run(connection, &format!("CREATE TABLE t (a VARCHAR(200) CHARACTER SET {set}, n INT)"));
            // More than one packet of ASCII, then other characters, then ASCII again.
            let mut texts = vec![Some("plain ".repeat(30)); 3_000];
            texts.push(Some("déjà vu".to_owned()));
            texts.extend(vec![Some("afterwards".to_owned()); 2_000]);
            let load = BulkLoad { table: "t", columns: &["a", "n"] };
            let loaded =
                block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 0))).unwrap();
            assert_eq!(loaded, texts.len() as u64);
            let rows = table(connection, "SELECT a FROM t ORDER BY n");
            assert!(rows.iter().zip(&texts).all(|(row, text)| row[0] == *text), "{set}");
        }
    });
}

#[test]
fn a_row_of_exactly_a_full_packet_does_not_end_the_load() {
    both_ways("bulk_full_packet", |connection, _| {
        run(connection, "DROP TABLE IF EXISTS t");
        run(connection, "CREATE TABLE t (a LONGTEXT, n INT)");
        // 16 MiB - 1 with tab, number and newline.
        let texts = [Some("x".repeat(16_777_212)), Some("last".to_owned())];
        let load = BulkLoad { table: "t", columns: &["a", "n"] };
        assert_eq!(block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 0))), Ok(2));
        let rows = table(connection, "SELECT LENGTH(a) FROM t ORDER BY n");
        assert_eq!(rows, [[Some("16777212".to_owned())], [Some("4".to_owned())]]);
    });
}

#[test]
fn an_empty_load_succeeds() {
    both_ways("bulk_none", |connection, _| {
        run(connection, "CREATE TABLE IF NOT EXISTS t (a TEXT, n INT)");
        let load = BulkLoad { table: "t", columns: &["a", "n"] };
        assert_eq!(block_on(connection.bulk_load(&load, &mut Texts([].iter(), 0))), Ok(0));
        assert_eq!(first(connection, "SELECT COUNT(*) FROM t"), "0");
    });
}

#[test]
fn a_failed_load_leaves_nothing() {
    both_ways("bulk_failing", |connection, is_allowed| {
        run(connection, "CREATE TABLE IF NOT EXISTS t (a VARCHAR(5) NOT NULL, n INT PRIMARY KEY)");
        let load = BulkLoad { table: "t", columns: &["a", "n"] };
        run(connection, "INSERT IGNORE INTO t VALUES ('first', 3)");
        let texts = vec![Some("x".to_owned()); 10];
        let failure =
            block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 0))).unwrap_err();
        assert_eq!((failure.kind, failure.code), (FailureKind::DuplicateKey, 1062), "{failure}");
        let texts = [Some("fits".to_owned()), Some("does not fit".to_owned())];
        let failure =
            block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 10))).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Other, "{failure} {is_allowed}");
        assert_eq!(first(connection, "SELECT COUNT(*) FROM t"), "1");
        let nowhere = BulkLoad { table: "nowhere", columns: &["a", "n"] };
        let failure =
            block_on(connection.bulk_load(&nowhere, &mut Texts(texts.iter(), 10))).unwrap_err();
        assert_eq!((failure.kind, failure.code), (FailureKind::BadStatement, 1146), "{failure}");
        assert!(!connection.is_in_transaction());
    });
}

#[test]
fn the_method_depends_on_what_the_server_allows() {
    // With MySQL's default, the variable off and no file privilege, loading works as well.
    let _alone = GLOBAL_SETTINGS.lock().unwrap();
    for server in servers().filter(|server| server.kind == Kind::Mysql) {
        let mut connection = server.connect(&server.database("bulk_way"));
        run(&mut connection, "CREATE TABLE t (a TEXT, n INT)");
        let load = BulkLoad { table: "t", columns: &["a", "n"] };
        let texts = vec![Some("x".to_owned()); 3];
        for (variable, inserts) in [("0", "1"), ("1", "0")] {
            run(&mut connection, &format!("SET GLOBAL local_infile = {variable}"));
            run(&mut connection, "FLUSH STATUS");
            block_on(connection.bulk_load(&load, &mut Texts(texts.iter(), 0))).unwrap();
            let counted = table(&mut connection, "SHOW SESSION STATUS LIKE 'Com_insert'");
            assert_eq!(counted[0][1].as_deref(), Some(inserts));
        }
    }
}

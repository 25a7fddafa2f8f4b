//! Writes the captures that `mysql_captures.rs` decodes: answers of real servers as hexadecimal
//! text.

use super::proxy::{Proxy, Tampering};
use super::server::{Kind, Server, run, servers};
use dyno_drivers::mysql::protocol::handshake::capability;
use dyno_drivers::{Discard, Driver, Value, block_on};
use dyno_model::target::Target;
use std::fmt::Write as _;
use std::path::Path;

#[test]
#[ignore = "writes the captures anew; run by hand after a change of what is captured"]
fn record_captures() {
    for server in servers() {
        record(server, "ok-terminated", 0);
        record(server, "eof-terminated", capability::DEPRECATE_EOF);
    }
}

fn record(server: &Server, name: &str, hide: u32) {
    let proxy = Proxy::start(server, Tampering { hide, hide_mariadb: u32::MAX, piece: usize::MAX });
    let mut target = server.database("captures");
    target.endpoint = proxy.endpoint();
    let mut connection = server.connect(&Target { database: "captures".to_owned(), ..target });
    run(
        &mut connection,
        "CREATE TABLE t (id INT UNSIGNED, s VARCHAR(20), d DATETIME(6), f DOUBLE, n INT, b BIT(9))",
    );
    run(
        &mut connection,
        "INSERT INTO t VALUES (7, 'seven', '2026-01-02 03:04:05.000006', 0.5, NULL, 257), (8, '', NULL, -1, 5, 0)",
    );
    let kind = match server.kind {
        Kind::Mariadb => "mariadb",
        Kind::Mysql => "mysql",
    };
    let mut text = format!("# {kind} {}, {name}\n", connection.identity().version);
    let mut keep = |what: &str, bytes: &[u8]| {
        let _ = write!(text, "{what}: ");
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    };
    proxy.take();
    for (what, sql) in [
        ("text-rows", "SELECT * FROM t ORDER BY id"),
        ("text-empty", "SELECT id FROM t WHERE id = 99"),
        ("text-ok", "UPDATE t SET n = 6"),
        ("text-error", "SELECT * FROM nowhere"),
        ("text-several", "SELECT 1; UPDATE t SET n = 7; SELECT 2"),
    ] {
        let _ = block_on(connection.query(sql, &mut Discard));
        keep(what, &proxy.take());
    }
    block_on(async {
        let statement = connection
            .prepare("SELECT * FROM t WHERE id >= ? AND s <> ? ORDER BY id")
            .await
            .unwrap();
        keep("prepare", &proxy.take());
        connection
            .execute(statement, &[Value::Integer(7), Value::Text("x")], &mut Discard)
            .await
            .unwrap();
        keep("binary-rows", &proxy.take());
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mysql_captures");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{kind}-{name}.hex")), text).unwrap();
}

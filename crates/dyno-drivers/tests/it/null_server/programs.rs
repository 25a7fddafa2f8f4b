//! Common client programs with the null servers.

use super::{counted, server};
use dyno_drivers::null::StatementKind;
use dyno_drivers::null::server::{Protocol, RunningServer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program from PATH or Debian's folders of PostgreSQL; prints why the test is skipped when there
/// is none.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/lib/postgresql/15/bin".into()]);
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        println!(
            "skipped: {name} is not installed (neither on PATH nor in /usr/lib/postgresql/15/bin)"
        );
    }
    found
}

/// Runs a client to its end and returns its output; a failure shows everything.
fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).env("PGPASSWORD", "any").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{} {arguments:?}:\n{text}", program.display());
    text
}

pub(super) fn sysbench(
    server: &RunningServer,
    program: &Path,
    script: &str,
    more: &[&str],
) -> String {
    let port = format!("--mysql-port={}", server.local_addr.port());
    let fixed = [
        script,
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &port,
        "--mysql-user=anybody",
        "--mysql-password=anything",
        "--tables=4",
        "--table-size=50000",
        "--time=0",
    ];
    run(program, &[&fixed, more, &["run"]].concat())
}

pub(super) fn pgbench(server: &RunningServer, program: &Path, more: &[&str]) -> String {
    let port = server.local_addr.port().to_string();
    run(program, &[&["-h", "127.0.0.1", "-p", &port, "-U", "anybody"], more, &["bench"]].concat())
}

#[test]
fn sysbench_runs_point_selects_prepared_and_as_text() {
    let Some(program) = program("sysbench") else { return };
    for mode in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
        let server = server(Protocol::Mysql);
        let text = sysbench(
            &server,
            &program,
            "oltp_point_select",
            &["--events=2000", "--threads=8", mode],
        );
        assert_eq!(counted(server.counters()), [("select", 2000)], "{mode}: {text}");
        let is_prepared = server.counters().prepared() > 0;
        assert_eq!(is_prepared, mode == "--db-ps-mode=auto");
        server.stop().unwrap();
    }
}

#[test]
fn sysbench_runs_read_write_and_every_statement_is_counted() {
    let Some(program) = program("sysbench") else { return };
    let server = server(Protocol::Mysql);
    let text = sysbench(&server, &program, "oltp_read_write", &["--events=300", "--threads=4"]);
    let expected = [
        ("select", 4200),
        ("insert", 300),
        ("update", 600),
        ("delete", 300),
        ("begin", 300),
        ("commit", 300),
    ];
    assert_eq!(counted(server.counters()), expected, "{text}");
    assert!(text.contains("ignored errors:                      0"), "{text}");
}

#[test]
fn sysbench_runs_every_oltp_script() {
    let Some(program) = program("sysbench") else { return };
    let server = server(Protocol::Mysql);
    for script in [
        "oltp_read_only",
        "oltp_write_only",
        "oltp_update_index",
        "oltp_update_non_index",
        "oltp_insert",
        "oltp_delete",
        "select_random_points",
        "select_random_ranges",
        "bulk_insert",
    ] {
        let before = server.counters().statements_total();
        sysbench(&server, &program, script, &["--events=100", "--threads=2"]);
        assert!(server.counters().statements_total() > before, "{script}");
    }
}

#[test]
fn pgbench_runs_selects_in_all_query_modes_with_its_default_start() {
    let Some(program) = program("pgbench") else { return };
    for mode in ["simple", "extended", "prepared"] {
        let server = server(Protocol::Postgres);
        let text = pgbench(&server, &program, &["-n", "-S", "-M", mode, "-c", "8", "-t", "200"]);
        assert!(text.contains("number of transactions actually processed: 1600/1600"), "{text}");
        // Two further queries are for the scale and the partitions.
        assert_eq!(counted(server.counters()), [("select", 1602)], "{mode}: {text}");
    }
}

#[test]
fn pgbench_runs_its_default_transaction() {
    let Some(program) = program("pgbench") else { return };
    for mode in ["simple", "extended", "prepared"] {
        let server = server(Protocol::Postgres);
        let text = pgbench(&server, &program, &["-M", mode, "-c", "4", "-t", "50"]);
        assert!(text.contains("number of failed transactions: 0"), "{text}");
        let counts = server.counters();
        let kinds = [
            (StatementKind::Begin, 200),
            (StatementKind::Update, 600),
            (StatementKind::Insert, 200),
            (StatementKind::Commit, 200),
        ];
        for (kind, count) in kinds {
            assert_eq!(counts.statements(kind), count, "{mode} {}", kind.name());
        }
    }
}

#[test]
fn pgbench_initialises_through_copy() {
    let Some(program) = program("pgbench") else { return };
    let server = server(Protocol::Postgres);
    pgbench(&server, &program, &["-i", "-s", "1"]);
    assert_eq!(server.counters().rows_loaded(), 100_000);
}

#[test]
fn command_line_clients_connect() {
    if let Some(program) = program("psql") {
        let server = server(Protocol::Postgres);
        let address =
            format!("host=127.0.0.1 port={} user=anybody dbname=any", server.local_addr.port());
        let text = run(
            &program,
            &["-X", "-At", "-c", "SELECT 1; SELECT version(); UPDATE t SET a=1", &address],
        );
        assert_eq!(text, "1\ndyno null server\nUPDATE 1\n");
    }
    if let Some(program) = program("mysql") {
        let server = server(Protocol::Mysql);
        let port = server.local_addr.port().to_string();
        let to = ["-h", "127.0.0.1", "-P", &port, "-u", "anybody", "-pany"];
        let sql = "SELECT 1; SELECT c, k FROM sbtest1; UPDATE t SET a=1; SHOW TABLES";
        let text = run(&program, &[&to, ["-N", "-B", "-e", sql, "any"].as_slice()].concat());
        assert!(text.starts_with("1\n68487932199-"), "{text}");
        assert!(text.ends_with("-19503783441\t1\n"), "{text}");
    }
}

#[test]
fn the_mysql_client_sends_a_file() {
    let Some(program) = program("mysql") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.txt");
    std::fs::write(&file, "1\tone\n".repeat(50_000)).unwrap();
    let server = server(Protocol::Mysql);
    let port = server.local_addr.port().to_string();
    let sql = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE t; UPDATE t SET a=1", file.display());
    run(
        &program,
        &["-h", "127.0.0.1", "-P", &port, "-u", "anybody", "--local-infile=1", "-e", &sql, "any"],
    );
    assert_eq!(server.counters().rows_loaded(), 50_000);
    assert_eq!(
        server.counters().statements(StatementKind::Update),
        1,
        "the connection goes on after the file"
    );
}

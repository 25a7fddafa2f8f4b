//! What sysbench 1.0.20 cannot run, and dyno does: the functions of 1.1, rows of prepared
//! statements, reconnecting, SQLite.

use crate::program::{Ended, Program};
use crate::script::{self, SERVERS};
use crate::server;
use dyno_model::plan::ServerKind;
use std::path::Path;
use tempfile::TempDir;

/// Runs a script of `scripts/extensions` without the headings of a run.
fn run(folder: &Path, script: &str, arguments: &[&str]) -> Ended {
    let path = script::folder().join(format!("extensions/{script}.lua"));
    let path = path.to_str().expect("a path of text");
    let all = [&[path, "--verbosity=2", "--threads=1"], arguments].concat();
    Program::Dyno.run(folder, &all, b"")
}

/// Runs a script on one server, and gives what it prints.
fn on_server(kind: ServerKind, script: &str) -> Option<String> {
    let server = server::take(kind)?;
    server.clear();
    let folder = TempDir::new().expect("a temporary folder can be made");
    let driver = format!("--db-driver={}", server::driver(kind));
    let connection = server::options(kind)?;
    let mut arguments = vec![driver.as_str(), "--events=3", "run"];
    arguments.extend(connection.iter().map(String::as_str));
    let ended = run(folder.path(), script, &arguments);
    assert_eq!(
        (ended.status.as_str(), ended.stderr.as_str()),
        ("0", ""),
        "{script} on {}\n{ended}",
        kind.name()
    );
    Some(ended.stdout)
}

#[test]
fn a_server_stall_is_reported_in_dyno_sysbench_results() {
    let kind = ServerKind::Postgres;
    let Some(server) = server::take(kind) else { return };
    server.clear();
    let folder = TempDir::new().expect("a temporary folder can be made");
    let script = "function thread_init() con = sysbench.sql.driver():connect(); n = 0 end\n\
                  function event() n = n + 1; con:query(n == 300 and 'SELECT pg_sleep(2)' or 'SELECT 1') end\n";
    std::fs::write(folder.path().join("still.lua"), script).expect("the folder takes files");
    let connection = server::options(kind).expect("it runs");
    let mut arguments = vec![
        "still.lua",
        "--db-driver=pgsql",
        "--events=600",
        "--time=0",
        "--results=still",
        "run",
    ];
    arguments.extend(connection.iter().map(String::as_str));
    let ended = Program::Dyno.run(folder.path(), &arguments, b"");
    assert_eq!(ended.status, "0", "{ended}");
    let experiment = folder.path().join("still/still");
    let results = std::fs::read_dir(experiment).unwrap().next().unwrap().unwrap().path();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dyno"));
    let output = command.args(["report", "--format", "json"]).arg(results).output().unwrap();
    let json = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && json.contains("\"warning\": \"stall\""), "{json}");
}

const SQLITE: [&str; 4] =
    ["oltp_read_only", "--db-driver=sqlite", "--sqlite-db=t.db", "--table-size=100"];

fn on_sqlite(folder: &TempDir, arguments: &[&str]) -> Ended {
    Program::Dyno.run(folder.path(), &[&SQLITE[..], arguments].concat(), b"")
}

/// A folder with a table.
fn prepared() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let ended = on_sqlite(&folder, &["prepare"]);
    assert_eq!(ended.status, "0", "{ended}");
    folder
}

#[test]
fn thread_counts_run_in_random_order_per_block_in_one_report() {
    let folder = prepared();
    let arguments =
        ["--threads=1,2,4", "--blocks=3", "--events=20", "--time=0", "--results=r", "run"];
    let ended = on_sqlite(&folder, &arguments);
    assert_eq!(ended.status, "0", "{ended}");
    let reported: Vec<&str> =
        ended.stderr.lines().filter(|line| line.starts_with("run ")).collect();
    assert_eq!(reported.len(), 9, "{ended}");
    for block in 1..=3 {
        let of_block = reported.iter().filter(|line| line.contains(&format!("block {block} of 3")));
        let mut clients: Vec<&str> = of_block.filter_map(|line| line.rsplit(": ").next()).collect();
        clients.sort_unstable();
        assert_eq!(
            clients,
            ["1 client", "2 clients", "4 clients"],
            "each number once in each block"
        );
    }
    assert!(
        reported.chunks(3).any(|block| !block[0].ends_with(": 1 client")),
        "the order is drawn: {reported:?}"
    );
    // Nine reports of sysbench, and one of all.
    assert_eq!(ended.stdout.matches("SQL statistics:").count(), 9, "{ended}");
    let has_row = |clients| dyno_testkit::has_row_of_trials(&ended.stdout, clients, 3);
    assert!([1, 2, 4].into_iter().all(has_row), "three trials each: {ended}");
    let page =
        ended.stdout.lines().find_map(|line| line.strip_prefix("Report: ")).expect("it says where");
    assert!(page.starts_with("r/sysbench/") && folder.path().join(page).is_file(), "{page}");
}

#[test]
fn blocks_repeat_a_thread_count_and_results_can_be_compared() {
    let folder = prepared();
    for root in ["base", "new"] {
        let results = format!("--results={root}");
        let arguments =
            ["--threads=2", "--blocks=3", "--events=20", "--time=0", results.as_str(), "run"];
        let ended = on_sqlite(&folder, &arguments);
        assert_eq!(ended.status, "0", "{ended}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dyno"));
    let output =
        command.current_dir(folder.path()).args(["compare", "base", "new"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    // How many of trials so short are valid is this machine's doing.
    let has_three = |line: &str| {
        line.starts_with("base  base: runs 3, valid trials ") && line.contains(" of 3, ")
    };
    assert!(text.lines().any(has_three), "{text}");
}

#[test]
fn the_first_run_that_fails_ends_the_rest_with_sysbenchs_exit_code() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let ended = on_sqlite(&folder, &["--threads=1,2", "--blocks=2", "--events=20", "run"]);
    assert_eq!(ended.status, "1", "there is no table: {ended}");
    assert!(ended.stderr.contains("ended in run 1 of 4"), "{ended}");
    let refused = on_sqlite(&folder, &["--threads=1,x", "run"]);
    assert_eq!(refused.status, "1");
    assert!(
        refused.stderr.contains("--threads=1,x: `x` is not a number of 1 or more"),
        "{refused}"
    );
}

#[test]
fn rows_of_prepared_statements_can_be_fetched() {
    for kind in SERVERS {
        let Some(output) = on_server(kind, "fetch_prepared") else { return };
        insta::allow_duplicates! {
            insta::assert_snapshot!(output, @"
            rows	2	2
            1	one
            2	nil
            rows	3	2
            1	one
            2	nil
            3	three
            rows	0	2
            ");
        }
    }
}

#[test]
fn a_connection_can_be_made_again() {
    for kind in SERVERS {
        let Some(output) = on_server(kind, "reconnect") else { return };
        insta::allow_duplicates! {
            insta::assert_snapshot!(output, @"rows	3");
        }
    }
}

#[test]
fn statements_may_have_several_results() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql] {
        let Some(output) = on_server(kind, "several_results") else { return };
        insta::allow_duplicates! {
            insta::assert_snapshot!(output, @"
            1
            2	3
            4
            ");
        }
    }
}

#[test]
fn random_numbers_of_the_next_version_are_there() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let ended = run(folder.path(), "random", &["--rand-seed=1", "run"]);
    insta::assert_snapshot!(ended.stdout, @"
    zipfian: 0.6 of the draws in the lowest fifth, most often the first: true
    5
    ");
}

#[test]
fn events_beyond_max_retries_are_dropped_and_threads_continue() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let ended =
        run(folder.path(), "gives_up", &["--max-retries=3", "--events=5", "--verbosity=3", "run"]);
    assert_eq!(ended.status, "0", "{ended}");
    assert!(ended.stdout.contains("Number of events given up after --max-retries: 2"), "{ended}");
    assert!(ended.stdout.contains("given up\t2\ngiven up\t4\n"), "{ended}");
    let count = "total number of events:              3";
    assert!(ended.stdout.contains(count), "{ended}");
}

#[test]
fn scripts_run_on_sqlite_as_well() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let database = ["--db-driver=sqlite", "--sqlite-db=file.db", "--table-size=50"];
    let run = |arguments: &[&str]| {
        run(folder.path(), "sqlite", &[&database[..], arguments].concat()).to_string()
    };
    insta::assert_snapshot!(run(&["prepare"]), @"
    Creating table 'sbtest1'...
    Inserting 50 records into 'sbtest1'
    Creating a secondary index on 'sbtest1'...
    --- exit 0
    ");
    insta::assert_snapshot!(run(&["--events=20", "run"]), @"
    sqlite	50	1	50	119	59
    --- exit 0
    ");
    insta::assert_snapshot!(run(&["cleanup"]), @"
    Dropping table 'sbtest1'...
    --- exit 0
    ");
}

#[test]
fn threads_aborted_by_a_failed_thread_init_report_no_sql_error() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let database = ["--db-driver=sqlite", "--sqlite-db=file.db", "--threads=4"];
    let ended = run(folder.path(), "thread_init_fails", &[&database[..], &["run"]].concat());
    assert_eq!(ended.status, "1", "{ended}");
    let output = ended.to_string();
    assert!(output.contains("the first thread cannot begin"), "{ended}");
    assert!(!output.contains("SQL error"), "{ended}");
}

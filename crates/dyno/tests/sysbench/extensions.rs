//! What sysbench 1.0.20 cannot run, and dyno does: the functions of 1.1, rows of prepared statements, reconnecting, SQLite.

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
fn a_server_that_stands_still_is_a_stall_in_the_results_of_dyno_sysbench() {
    let kind = ServerKind::Postgres;
    let Some(server) = server::take(kind) else { return };
    server.clear();
    let folder = TempDir::new().expect("a temporary folder can be made");
    let script = "function thread_init() con = sysbench.sql.driver():connect(); n = 0 end\n\
                  function event() n = n + 1; con:query(n == 300 and 'SELECT pg_sleep(2)' or 'SELECT 1') end\n";
    std::fs::write(folder.path().join("still.lua"), script).expect("the folder takes files");
    let connection = server::options(kind).expect("it runs");
    let mut arguments =
        vec!["still.lua", "--db-driver=pgsql", "--events=600", "--time=0", "--results=still", "run"];
    arguments.extend(connection.iter().map(String::as_str));
    let ended = Program::Dyno.run(folder.path(), &arguments, b"");
    assert_eq!(ended.status, "0", "{ended}");
    let experiment = folder.path().join("still/still");
    let results = std::fs::read_dir(experiment).unwrap().next().unwrap().unwrap().path();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dyno"));
    let output = command.args(["report", "--format", "json"]).arg(results).output().unwrap();
    let json = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && json.contains("\"finding\": \"stall\""), "{json}");
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
fn an_event_that_is_tried_too_often_is_given_up_and_its_thread_goes_on() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let ended = run(folder.path(), "gives_up", &["--max-retries=3", "--events=5", "--verbosity=3", "run"]);
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
    let run =
        |arguments: &[&str]| run(folder.path(), "sqlite", &[&database[..], arguments].concat()).to_string();
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
fn what_is_cut_off_because_another_thread_cannot_begin_is_not_told_as_a_failure() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let database = ["--db-driver=sqlite", "--sqlite-db=file.db", "--threads=4"];
    let ended = run(folder.path(), "thread_init_fails", &[&database[..], &["run"]].concat());
    assert_eq!(ended.status, "1", "{ended}");
    let output = ended.to_string();
    assert!(output.contains("the first thread cannot begin"), "{ended}");
    assert!(!output.contains("SQL error"), "{ended}");
}

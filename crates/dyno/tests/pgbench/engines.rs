//! The scripts that come with the program, and one of a user, on engines that pgbench does not
//! know.

use crate::program::{Bench, Program, first};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::TempDir;
use std::process::{Command, Stdio};

const SCRIPT: &str = "\\set aid random(1, 100000 * :scale)\nSELECT abalance, bid AS branch FROM pgbench_accounts WHERE aid = :aid \\gset\n\
                      \\if :branch <> 1\nSELECT no_such_column;\n\\endif\nSELECT 'a;b' AS x; -- ; no end\n";

/// Sums that must agree after any run.
fn assert_balanced(target: &Target, rows: u64) {
    assert_eq!(first(target, "SELECT count(*) FROM pgbench_history"), rows.to_string());
    let delta = first(target, "SELECT sum(delta) FROM pgbench_history");
    for (column, table) in
        [("abalance", "accounts"), ("tbalance", "tellers"), ("bbalance", "branches")]
    {
        assert_eq!(
            first(target, &format!("SELECT sum({column}) FROM pgbench_{table}")),
            delta,
            "{table}"
        );
    }
}

/// Initialises, runs everything in every query mode, and checks the balances. `run` runs dyno with
/// arguments.
fn exercise(target: &Target, url: &str, run: impl Fn(&[&str]) -> crate::program::Ended) {
    let succeed = |arguments: &[&str]| {
        let mut all = vec!["--url", url];
        all.extend(arguments);
        let ended = run(&all);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        ended
    };
    let made = succeed(&["-i"]);
    assert!(made.stderr.contains("100000 of 100000 tuples (100%) done"), "{}", made.stderr);
    assert_eq!(
        first(target, "SELECT count(*) FROM pgbench_accounts WHERE bid = 1 AND abalance = 0"),
        "100000"
    );
    assert_eq!(first(target, "SELECT count(*) FROM pgbench_tellers"), "10");
    let mut rows = 0;
    for mode in ["simple", "prepared", "extended"] {
        let ended = succeed(&["-n", "-c", "2", "-t", "15", "-M", mode, "--max-tries=50", "-r"]);
        assert!(
            ended.stdout.contains("number of transactions actually processed: 30/30"),
            "{}",
            ended.stdout
        );
        rows += 30;
        assert_balanced(target, rows);
        succeed(&["-n", "-c", "2", "-t", "20", "-M", mode, "-S", "-f", "script.sql"]);
    }
    let ended = succeed(&["-c", "2", "-t", "5", "-N", "-C", "--max-tries=50"]);
    assert!(ended.stdout.contains("average connection time"), "{}", ended.stdout);
    assert_eq!(
        first(target, "SELECT count(*) FROM pgbench_history"),
        "10",
        "the history is emptied before a run"
    );
    let refused = run(&["--url", url, "-i", "--partitions=2"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--partitions is not possible on"), "{}", refused.stderr);
}

fn on_server(kind: ServerKind) {
    let Some(bench) = Bench::start(kind) else { return };
    let target = bench.target();
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("servers of tests listen to TCP")
    };
    let url = format!("mysql://{}@{host}:{port}/{}", target.user, target.database);
    bench.script("script.sql", SCRIPT);
    exercise(&target, &url, |arguments| bench.run(Program::Dyno, arguments));
}

#[test]
fn mariadb_runs_the_scripts() {
    on_server(ServerKind::Mariadb);
}

#[test]
fn mysql_runs_the_scripts() {
    on_server(ServerKind::Mysql);
}

#[test]
fn sqlite_runs_the_scripts() {
    let folder = TempDir::new().expect("a scratch folder can be made");
    let file = folder.path().join("bench.db");
    std::fs::write(folder.path().join("script.sql"), SCRIPT)
        .expect("the scratch folder takes files");
    let target = Target::new(Engine::Sqlite, Endpoint::File(file.clone()));
    let url = format!("sqlite:{}", file.display());
    exercise(&target, &url, |arguments| {
        let script = folder.path().join("script.sql").display().to_string();
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|argument| if *argument == "script.sql" { script.as_str() } else { argument })
            .collect();
        Program::Dyno.run_alone(&arguments)
    });
}

#[test]
fn pipelines_are_refused_where_there_are_none() {
    let folder = TempDir::new().expect("a scratch folder can be made");
    let script = folder.path().join("pipeline.sql");
    std::fs::write(&script, "\\startpipeline\nselect 1;\n\\endpipeline\n")
        .expect("the scratch folder takes files");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let ended = Program::Dyno.run_alone(&[
        "--url",
        &url,
        "-n",
        "-t",
        "1",
        "-M",
        "prepared",
        "-f",
        &script.display().to_string(),
    ]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("only PostgreSQL has pipelines"), "{}", ended.stderr);
}

#[test]
fn an_unwritable_output_is_reported_once_and_fails_the_command() {
    let folder = TempDir::new().expect("a scratch folder can be made");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let dyno = |arguments: &[&str], output: Stdio| {
        Command::new(env!("CARGO_BIN_EXE_dyno"))
            .args(["pgbench", "--url", &url])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .output()
            .expect("dyno can be started")
    };
    assert_eq!(dyno(&["-i", "-q"], Stdio::null()).status.code(), Some(0));
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let ended = dyno(&["-n", "-S", "-t", "5", "-P", "1"], full.into());
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(
        reported.matches("cannot write to standard output: No space left on device").count(),
        1,
        "{reported}"
    );
    assert_eq!(ended.status.code(), Some(1));
}

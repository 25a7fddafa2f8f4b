//! `dyno init`: a spec to begin with, which runs as it is and touches nothing.

use crate::program::{Bench, Ended, records};
use crate::shop::Shop;
use dyno_model::exit_code::{SERVER_FAILED, SPEC_INVALID, USAGE};

/// A spec of a line that was given, for a moment, with the URL where it is read when the spec has
/// none.
fn run(shop: &Shop, spec: &str, results: &str) -> Ended {
    let short = ["--clients", "2", "--blocks", "1", "--duration", "300ms", "--warmup", "0s"];
    let line = [&["run", spec, "--out", results], &short[..]].concat();
    let mut command = shop.bench.command(&line);
    command.env("PGPASSWORD", shop.password()).env("MYSQL_PWD", shop.password());
    let output = command.output().expect("dyno can be started");
    Ended::from(output)
}

pub(crate) fn a_spec_to_begin_with_is_written_after_a_look_at_the_database(shop: &Shop) {
    let held = shop.ask("SELECT sum(n), count(*) FROM things");
    shop.ask("CREATE TABLE pairs (a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b))");
    // The larger of the two, and no single column of it draws a row.
    let rows: Vec<String> = (0..2_000).map(|number| format!("({number}, 7)")).collect();
    shop.ask(&format!("INSERT INTO pairs VALUES {}", rows.join(", ")));
    let ended = shop.bench.dyno(&["init", &shop.url, "--out", "own.toml"]);
    assert!(ended.is_done(), "{ended}");
    let read =
        |name: &str| std::fs::read_to_string(shop.bench.path().join(name)).expect("it was written");
    let (spec, script) = (read("own.toml"), read("own.sql"));
    let line = |table: &str| {
        spec.lines().find(|line| line.starts_with('#') && line.contains(table)).unwrap_or_default()
    };
    assert!(line("things").ends_with("indexes: id"), "{spec}");
    assert!(line("pairs").ends_with("indexes: a, b"), "{spec}");
    assert!(spec.contains("so all of it fits into memory"), "{spec}");
    assert!(
        script.contains("\\set id random(1, 100)\nSELECT * FROM ") && script.contains(" = :id;\n"),
        "{script}"
    );
    let password = shop.password();
    assert!(password.is_empty() || !spec.contains(password) && !spec.contains("**"), "{spec}");
    let variable = shop.target.engine.traits().password_variable.unwrap_or("-");
    assert_eq!(
        spec.contains(&format!("\npassword_env = \"{variable}\"")),
        !password.is_empty(),
        "{spec}"
    );
    assert_eq!(
        ended.stdout.contains(&format!("Next: export {variable}='...'")),
        !password.is_empty(),
        "{ended}"
    );

    let ended = run(shop, "own.toml", "own");
    assert!(ended.is_done(), "{ended}");
    let [record] = &records(&shop.bench.path().join("own"))[..] else {
        panic!("one trial: {ended}")
    };
    assert!(record.counters.committed > 0 && record.counters.failed == 0, "{:?}", record.counters);
    assert_eq!(shop.ask("SELECT sum(n), count(*) FROM things"), held);
    assert!(!shop.has_table("dyno_marker"), "the database is not dyno's and is not marked");

    // Neither of two files is written over.
    for (spec, kept) in [("own.toml", "own.toml"), ("read.toml", "read.sql")] {
        let before = read(kept);
        let ended = shop.bench.dyno(&["init", &shop.url, "--out", spec]);
        assert_eq!(ended.code, i32::from(USAGE), "{ended}");
        assert!(ended.stderr.contains(&format!("{kept} exists already")), "{ended}");
        assert_eq!(read(kept), before);
    }
    assert!(!shop.bench.path().join("read.toml").exists(), "nothing is half-written");
    shop.ask("DROP TABLE pairs");
    std::fs::remove_file(shop.bench.path().join("own.toml")).expect("it is there");
}

#[test]
fn a_spec_without_a_database_is_for_a_server_that_dyno_starts() {
    let bench = Bench::new();
    let ended = bench.dyno(&["init", "--out", "first.toml"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(bench.names(), ["first.toml"]);
    let plan = bench.dyno(&["plan", "first.toml"]);
    assert!(plan.is_done(), "{plan}");
    assert!(plan.stdout.contains("oltp_read_write"), "{plan}");
}

#[test]
fn an_empty_database_gets_tables_of_a_workload_of_dynos_own() {
    let bench = Bench::new();
    let ended = bench.dyno(&["init", "sqlite:empty.db"]);
    assert!(ended.is_done(), "{ended}");
    let small = [
        "--set",
        "workload.table_size=1000",
        "--clients",
        "1",
        "--blocks",
        "1",
        "--duration",
        "200ms",
    ];
    let ended = bench.dyno(&[&["run", "empty.toml", "--out", "r"], &small[..]].concat());
    assert!(ended.is_done(), "{ended}");
    assert_eq!(records(&bench.path().join("r")).len(), 1);
}

#[test]
fn init_reports_databases_it_cannot_examine_and_writes_nothing() {
    let bench = Bench::new();
    let rows = [
        (
            "mysql://me@127.0.0.1:1/shop",
            SERVER_FAILED,
            "cannot connect to mysql://me@127.0.0.1:1/shop",
        ),
        ("postgers://me@localhost/shop", SPEC_INVALID, "did you mean `postgres`?"),
        ("shop.db", SPEC_INVALID, "write `sqlite:shop.db`"),
        ("PostgreSQL", SPEC_INVALID, "write `postgres://USER@HOST:PORT/DATABASE`"),
        ("shop.toml", SPEC_INVALID, "the scheme is missing"),
        ("null:", USAGE, "has no tables to examine"),
    ];
    for (url, code, words) in rows {
        let ended = bench.dyno(&["init", url]);
        assert_eq!(ended.code, i32::from(code), "{url}: {ended}");
        assert!(ended.stderr.contains(words), "{url}: {ended}");
    }
    // A script of that name would be the same file.
    let ended = bench.dyno(&["init", "--out", "own.sql"]);
    assert!(
        ended.code == i32::from(USAGE) && ended.stderr.contains("a spec ends in .toml"),
        "{ended}"
    );
    assert_eq!(bench.names(), Vec::<String>::new());
}

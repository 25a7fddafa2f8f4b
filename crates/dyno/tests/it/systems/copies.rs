//! A system's database is measured in copies of it: with an index and without, by scripts that
//! write, and the original stays as it was.

use crate::ends::{INTERRUPTED, PREFLIGHT_FAILED, SERVER_FAILED};
use crate::program::Ended;
use crate::running::Running;
use crate::shop::Shop;
use dyno_host::copies;
use dyno_model::event::Phase;
use dyno_model::target::{Endpoint, Engine};
use dyno_testkit::{BlackholeProxy, wait_until};
use std::process::{Command, Stdio};

/// With an index and without, and scripts that write.
fn spec(shop: &Shop, more: &str) -> String {
    format!(
        r#"title = "does this index help?"
[[system]]
name = "shop"
url = "{}"
data = "copy"
[workload]
kind = "sql"
scripts = ["write.sql"]
[factors]
index = [
    {{ name = "without" }},
    {{ name = "with", "workload.setup" = [{{ name = "index", sql = "CREATE INDEX things_n ON things (n);" }}] }},
]
[load]
clients = [1, 2]
transactions = 5
warmup = "0s"
[design]
blocks = 2
{more}"#,
        shop.url
    )
}

fn run(shop: &Shop, more: &str) -> Ended {
    shop.bench.file("index.toml", spec(shop, more));
    shop.bench.dyno(&["run", "index.toml", "--out", "copied"])
}

fn all_of_it(engine: Engine) {
    let Some(shop) = Shop::open(engine) else { return };
    an_account_that_may_not_create_the_copy_is_refused_before_the_run(&shop);
    a_session_on_the_original_is_named_before_the_run(&shop);
    what_is_no_copy_of_dyno_s_is_left_alone(&shop);
    each_level_has_a_fresh_copy_and_the_original_stays_as_it_was(&shop);
    others_are_kept_out_of_a_copy(&shop);
    a_copy_that_a_run_left_is_cleaned_away(&shop);
    runs_before_and_after_an_index_are_no_repeats(&shop);
}

#[test]
fn an_index_is_tried_in_copies_of_a_database_on_sqlite() {
    all_of_it(Engine::Sqlite);
}

#[test]
fn an_index_is_tried_in_copies_of_a_database_on_postgresql() {
    all_of_it(Engine::Postgres);
}

#[test]
fn an_index_is_tried_in_copies_of_a_database_on_mariadb() {
    all_of_it(Engine::Mysql);
}

/// The first run keeps the second, and cleanup, from dropping its copy.
fn others_are_kept_out_of_a_copy(shop: &Shop) {
    let endless = spec(shop, "").replace("transactions = 5", "duration = \"10m\"");
    shop.bench.file("endless.toml", endless);
    let first = Running::start(&shop.bench, "endless.toml");
    first.await_phase(Phase::Measure);
    let second = shop.bench.dyno(&["run", "index.toml", "--out", "second"]);
    assert_eq!(second.code, PREFLIGHT_FAILED, "{second}");
    let cleaned = shop.bench.dyno(&["cleanup", "index.toml"]);
    assert_eq!(cleaned.code, SERVER_FAILED, "{cleaned}");
    for refused in [second, cleaned] {
        assert!(refused.stderr.contains("another run of dyno uses the database"), "{refused}");
    }
    assert!(is_there(shop));
    first.interrupt();
    let ended = first.ended();
    assert!(ended.code == INTERRUPTED && !is_there(shop), "{ended}");
}

/// Killed between making the copy and marking it.
#[test]
fn cleanup_finds_an_unmarked_copy_of_a_killed_run() {
    for (engine, lock) in [(Engine::Postgres, "try_advisory_lock"), (Engine::Mysql, "GET_LOCK")] {
        let Some(mut shop) = Shop::open(engine) else { continue };
        let Endpoint::Tcp { host, port } = &shop.target.endpoint else {
            panic!("it listens to TCP")
        };
        let silencer = BlackholeProxy::new(host, *port);
        // The lock comes before the mark.
        silencer.listen_for(lock);
        shop.url = shop.url.replace(&format!("{host}:{port}"), &silencer.address().to_string());
        shop.bench.file("index.toml", spec(&shop, ""));
        let run =
            Running::of(&shop.bench, shop.bench.command(&["run", "index.toml", "--out", "copied"]));
        wait_until("the copy is to be locked", || silencer.is_silent());
        crate::program::signal("-KILL", run.pid());
        run.ended();
        silencer.speak();
        assert!(is_there(&shop), "{engine}");
        let ended = shop.bench.dyno(&["cleanup", "index.toml"]);
        assert!(ended.is_done() && ended.stdout.contains("_dyno_copy"), "{engine}: {ended}");
        assert!(!is_there(&shop), "{engine}: {ended}");
    }
}

fn each_level_has_a_fresh_copy_and_the_original_stays_as_it_was(shop: &Shop) {
    // What a trial finds was never written to: the sum of all is that of its own commits.
    let ended =
        run(shop, "[workload.audit]\n\"sum(n) - 0 * count(*) from things\" = \"+1 per write\"\n");
    assert!(ended.is_done(), "{ended}");
    let records = shop.records("copied");
    assert_eq!(records.len(), 8, "two levels, two numbers of clients, two blocks");
    for record in &records {
        let schema = record.schema.as_ref().expect("every engine tells it");
        let (table, things) =
            schema.tables.iter().find(|(name, _)| name.ends_with("things")).expect("it was copied");
        assert_eq!(schema.tables.len(), 1, "{table} alone, without dyno's marker: {schema:?}");
        assert_eq!(
            things.indexes.contains_key("things_n"),
            record.trial.configuration >= 2,
            "{schema:?}"
        );
        let sum = record.audit.checks.iter().find_map(|check| match check {
            dyno_model::audit::AuditCheck::Value { found, .. } => Some(*found),
            _ => None,
        });
        assert_eq!(sum, Some(5), "the copy is fresh");
    }
    assert_eq!(
        shop.ask("SELECT sum(n), count(*) FROM things"),
        "0 100",
        "the original is only read"
    );
    assert!(!shop.has_table("dyno_marker"));
    assert!(!is_there(shop), "the copy is gone");
}

fn is_there(shop: &Shop) -> bool {
    let copy = copies::copy_of(&shop.target);
    match &copy.endpoint {
        Endpoint::File(path) => path.exists(),
        _ => {
            dyno_host::databases::are_there(&shop.target, &[copy.database]).expect("it answers")
                == [true]
        }
    }
}

fn an_account_that_may_not_create_the_copy_is_refused_before_the_run(shop: &Shop) {
    let statements: &[&str] = match shop.target.engine {
        Engine::Sqlite => return,
        Engine::Postgres => &[
            "CREATE ROLE weak LOGIN PASSWORD 'weak'",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO weak",
        ],
        _ => &[
            "CREATE USER weak IDENTIFIED BY 'weak'",
            &format!("GRANT ALL ON `{}`.* TO weak", shop.target.database),
        ],
    };
    statements.iter().for_each(|sql| drop(shop.ask(sql)));
    let own = format!("{}:{}@", shop.target.user, shop.password());
    let refused = |reason: &str| {
        shop.bench.file("weak.toml", spec(shop, "").replacen(&own, "weak:weak@", 1));
        let ended = shop.bench.dyno(&["run", "weak.toml", "--out", "copied"]);
        assert!(ended.code == PREFLIGHT_FAILED && ended.stderr.contains(reason), "{ended}");
        assert!(!shop.bench.path().join("copied").exists(), "{ended}");
    };
    match shop.target.engine {
        Engine::Postgres => {
            refused("permission denied to create database");
            shop.ask("ALTER ROLE weak CREATEDB");
            refused("must be owner of the original");
        }
        _ => refused("Access denied for user"),
    }
}

/// PostgreSQL copies only a database without sessions.
fn a_session_on_the_original_is_named_before_the_run(shop: &Shop) {
    if shop.target.engine != Engine::Postgres {
        return;
    }
    // A separate process: dyno does not count sessions of its own process.
    let Endpoint::Tcp { host, port } = &shop.target.endpoint else { panic!("it listens to TCP") };
    let address = format!(
        "host={host} port={port} user={} dbname={}",
        shop.target.user, shop.target.database
    );
    let mut session = Command::new("psql")
        .args(["--quiet", "--no-psqlrc", &address])
        .env("PGPASSWORD", shop.password())
        .stdin(Stdio::piped())
        .spawn()
        .expect("psql is installed with PostgreSQL");
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql'";
    wait_until("psql is connected", || shop.ask(sessions) == "1");
    let ended = run(shop, "");
    assert_eq!(ended.code, PREFLIGHT_FAILED, "{ended}");
    assert!(ended.stderr.contains("is connected to it (psql)"), "{ended}");
    drop(session.stdin.take());
    session.wait().expect("it is our child");
    wait_until("psql is gone", || shop.ask(sessions) == "0");
}

fn what_is_no_copy_of_dyno_s_is_left_alone(shop: &Shop) {
    let copy = copies::copy_of(&shop.target);
    match &copy.endpoint {
        Endpoint::File(path) => {
            std::fs::copy(shop.bench.path().join("shop.db"), path).expect("it can be copied");
        }
        _ => drop(shop.ask(&format!("CREATE DATABASE {}", copy.database))),
    }
    let ended = run(shop, "");
    let is_reported = ended.to_string().contains("was not created by dyno");
    assert!(ended.code == 6 && is_reported && is_there(shop), "{ended}");
    std::fs::remove_dir_all(shop.bench.path().join("copied")).expect("it was made");
    match &copy.endpoint {
        Endpoint::File(path) => std::fs::remove_file(path).expect("it is there"),
        _ => drop(shop.ask(&format!("DROP DATABASE {}", copy.database))),
    }
}

/// Whatever measured them, and at whatever number of clients.
fn runs_before_and_after_an_index_are_no_repeats(shop: &Shop) {
    let measure = |results: &str| {
        assert!(shop.run(&["read.sql"], &["--out", &format!("spec/{results}")]).is_done());
        let (Endpoint::Tcp { host, port }, user) = (&shop.target.endpoint, &shop.target.user)
        else {
            return;
        };
        let (port, database) = (port.to_string(), shop.target.database.clone());
        let clients = if results == "before" { "1" } else { "2" };
        let ended = if shop.target.engine == Engine::Postgres {
            let line = [
                "pgbench",
                "-h",
                host,
                "-p",
                &port,
                "-U",
                user,
                "-n",
                "-f",
                "read.sql",
                "-c",
                clients,
                "-t",
                "5",
                "--results",
                "alone",
                &database,
            ];
            shop.bench.command(&line).env("PGPASSWORD", shop.password()).output()
        } else {
            let script = "function thread_init() con = sysbench.sql.driver():connect() end\n\
                          function event() con:query('SELECT n FROM things WHERE id = 1') end\n";
            shop.bench.file("one.lua", script);
            let options = [
                ("host", host),
                ("port", &port),
                ("user", user),
                ("db", &database),
                ("password", &shop.password().to_owned()),
            ];
            let mut line: Vec<String> = [
                "sysbench",
                "one.lua",
                "--db-driver=mysql",
                "--events=5",
                "--time=0",
                "--results=alone",
            ]
            .map(str::to_owned)
            .into();
            line.extend(options.map(|(name, value)| format!("--mysql-{name}={value}")));
            line.extend([format!("--threads={clients}"), "run".to_owned()]);
            shop.bench.command(&line.iter().map(String::as_str).collect::<Vec<_>>()).output()
        };
        assert!(ended.as_ref().is_ok_and(|output| output.status.success()), "{ended:?}");
    };
    measure("before");
    shop.ask("CREATE INDEX things_n ON things (n)");
    measure("after");
    for folder in
        ["spec", "alone"].into_iter().filter(|folder| shop.bench.path().join(folder).exists())
    {
        let ended = shop.bench.dyno(&["report", folder, "--out", "none"]);
        let is_reported =
            ended.stderr.contains("are no repeats of the same thing: INDEX things_n ON");
        assert!(ended.code == 2 && is_reported, "{folder}: {ended}");
    }
    let ended = shop.bench.dyno(&["compare", "spec/before", "spec/after"]);
    assert!(ended.stdout.contains("Different schemas: INDEX things_n ON"), "{ended}");
}

fn a_copy_that_a_run_left_is_cleaned_away(shop: &Shop) {
    Running::killed(&shop.bench, &["index.toml", "--set", "load.transactions=1_000_000_000"]);
    assert!(is_there(shop));
    let ended = shop.bench.dyno(&["cleanup", "index.toml"]);
    let name = copies::copy_of(&shop.target).database_name();
    assert!(ended.is_done() && ended.stdout.contains(&format!("dropped {name}")), "{ended}");
    assert!(!is_there(shop));
    let ended = shop.bench.dyno(&["cleanup", "index.toml"]);
    assert!(ended.is_done() && ended.stdout.contains("no copy is there"), "{ended}");
    assert_eq!(shop.ask("SELECT count(*) FROM things"), "100");
}

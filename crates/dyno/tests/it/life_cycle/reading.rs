//! Databases that were not named for writing: read-only workloads run, and disguised writes are
//! rejected before the run or end it.

use crate::ends::{PREFLIGHT_FAILED, RUN_INCOMPLETE};
use crate::program::{Bench, Ended};
use crate::shop::{Shop, ask};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{Pooler, running_server};

/// Of each script, that it is refused before anything is measured.
fn are_refused(shop: &Shop, scripts: &[&str]) {
    for (number, text) in scripts.iter().enumerate() {
        let (file, out) = (format!("sly{number}.sql"), format!("sly{number}"));
        shop.bench.file(&file, text);
        let ended = shop.run(&[&file], &["--out", &out]);
        assert_eq!(ended.code, PREFLIGHT_FAILED, "{text}: {ended}");
        assert!(ended.stderr.contains("--yes-write-to"), "{text}: {ended}");
    }
    assert_eq!(shop.ask("SELECT sum(n) FROM things"), "0");
}

#[test]
fn undoing_a_read_only_session_is_refused_on_postgresql() {
    let Some(shop) = Shop::open(Engine::Postgres) else { return };
    let undo = "SELECT set_config('default_transaction_read_only', 'off', false)";
    shop.ask(&format!("CREATE FUNCTION loosen() RETURNS text LANGUAGE sql AS $${undo}$$"));
    shop.ask("CREATE FUNCTION touch() RETURNS integer LANGUAGE sql AS 'UPDATE things SET n = 7 RETURNING n'");
    are_refused(
        &shop,
        &[
            "BEGIN READ WRITE;\nSELECT touch();\nCOMMIT;",
            "SET \"default_transaction_read_only\" TO off;\nSELECT touch();",
            &format!("{undo};\nSELECT touch();"),
            "SELECT loosen();\nSELECT touch();",
            "/* commit */ SELECT loosen();\nBEGIN \\; SELECT touch() \\; COMMIT;",
            "SELECT touch();",
            "SELECT lo_create(0);",
        ],
    );
    assert_eq!(shop.ask("SELECT count(*) FROM pg_largeobject_metadata"), "0");
}

#[test]
fn undoing_a_read_only_session_is_refused_on_mysql_family() {
    let Some(shop) = Shop::open(Engine::Mysql) else { return };
    shop.ask(LOOSEN);
    shop.ask(TOUCH);
    are_refused(
        &shop,
        &[
            "START TRANSACTION READ WRITE;\nSELECT touch();\nCOMMIT;",
            "SET `tx_read_only`=0;\nSELECT touch();",
            "SET @@tx_read_only = 0;\nSELECT touch();",
            "SELECT loosen();\nSELECT touch();",
            "/* commit */ SELECT loosen();\nBEGIN \\; SELECT touch() \\; COMMIT;",
            "SELECT touch();",
        ],
    );
}

const LOOSEN: &str =
    "CREATE FUNCTION loosen() RETURNS INTEGER BEGIN SET SESSION tx_read_only = 0; RETURN 1; END";
const TOUCH: &str = "CREATE FUNCTION touch() RETURNS INTEGER MODIFIES SQL DATA BEGIN UPDATE things SET n = 7; RETURN 7; END";

/// Behind a pooler, what makes a session read-only holds for whoever has it next.
#[test]
fn behind_a_pooler_a_database_that_is_not_named_is_refused() {
    let Some(mut shop) = Shop::open(Engine::Postgres) else { return };
    let Endpoint::Tcp { host, port } = &shop.target.endpoint else { panic!("it listens to TCP") };
    let pooler = Pooler::new(host, *port);
    shop.url = shop.url.replace(&format!("{host}:{port}"), &pooler.address().to_string());
    let refused = shop.run(&["read.sql"], &["--out", "no"]);
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    assert!(refused.stderr.contains("pooler"), "{refused}");
    let database = shop.target.database.clone();
    let ended = shop.run(&["read.sql"], &["--out", "yes", "--yes-write-to", &database]);
    assert!(ended.is_done(), "{ended}");
}

/// The first client does nothing of it, so nothing is seen before the run.
#[test]
fn a_session_of_postgresql_that_would_write_ends_its_trial_at_once() {
    let Some(shop) = Shop::open(Engine::Postgres) else { return };
    shop.ask("CREATE FUNCTION touch() RETURNS integer LANGUAGE sql AS 'UPDATE things SET n = 7 RETURNING n'");
    let text = "SELECT CASE WHEN :client_id = 1 THEN set_config('default_transaction_read_only', 'off', false) END;\n\
                SELECT CASE WHEN :client_id = 1 THEN touch() END;";
    shop.bench.file("late.sql", text);
    let ended = shop.run(&["late.sql"], &["--out", "late"]);
    let records = shop.records("late");
    let cut = records.iter().filter(|record| record.is_cut_short()).count();
    assert_eq!((records.len(), cut), (2, 1), "the trial with one client is whole: {ended}");
    assert!(ended.to_string().contains("default_transaction_read_only was set to off"), "{ended}");
    assert_eq!(shop.ask("SELECT sum(n) FROM things"), "0");
}

fn of_lua(shop: &Shop, name: &str, statements: &[&str]) -> Ended {
    let sent: String = statements.iter().map(|sql| format!("con:query([[{sql}]]) ")).collect();
    shop.bench.file(
        &format!("{name}.lua"),
        format!(
            "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() {sent}end\n"
        ),
    );
    shop.run(&[&format!("{name}.lua")], &["--out", name])
}

#[test]
fn a_script_of_lua_cannot_undo_that_its_session_only_reads() {
    for engine in [Engine::Postgres, Engine::Mysql, Engine::Sqlite] {
        let Some(shop) = Shop::open(engine) else { continue };
        let write = "UPDATE things SET n = 7";
        let (one, other) = match engine {
            Engine::Postgres => ("BEGIN READ WRITE", "SET TRANSACTION READ WRITE"),
            Engine::Mysql => ("START TRANSACTION READ WRITE", "SET SESSION tx_read_only = 0"),
            _ => ("PRAGMA query_only = OFF", "BEGIN"),
        };
        for (name, undo) in [("one", one), ("other", other)] {
            let ended = of_lua(&shop, name, &[undo, write, "COMMIT"]);
            assert_eq!(ended.code, RUN_INCOMPLETE, "{engine}: {ended}");
            assert_eq!(shop.ask("SELECT sum(n) FROM things"), "0", "{engine}: {ended}");
        }
    }
}

/// What a function does to its session is not seen before the trial has ended.
#[test]
fn a_trial_that_changes_data_ends_the_run_on_mysql_family() {
    let Some(shop) = Shop::open(Engine::Mysql) else { return };
    shop.ask(LOOSEN);
    shop.ask(TOUCH);
    let ended = of_lua(&shop, "late", &["SELECT loosen()", "SELECT touch()"]);
    assert_eq!(ended.code, RUN_INCOMPLETE, "{ended}");
    let reported = format!("the trial changed the database \"{}\"", shop.target.database);
    assert_eq!(
        ended.stderr.matches(&reported).count(),
        2,
        "the second trial is not begun: {ended}"
    );
    assert_eq!(shop.records("late").len(), 0, "{ended}");
}

/// Tables as `sysbench prepare` makes them, beside one of somebody's.
fn prepared(bench: &Bench, target: &Target, url: &str) {
    ask(target, "CREATE TABLE customers (id INTEGER)");
    ask(
        target,
        "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)",
    );
    let rows: Vec<String> = (1..=50).map(|id| format!("({id}, {id}, 'c', 'p')")).collect();
    ask(target, &format!("INSERT INTO sbtest1 VALUES {}", rows.join(", ")));
    for (file, kind) in [("reads.toml", "oltp_point_select"), ("writes.toml", "oltp_read_write")] {
        bench.file(
            file,
            format!(
                "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"{url}\"\ndata = \"existing\"\n[workload]\nkind = \"{kind}\"\n\
                 tables = 1\ntable_size = 50\n[load]\nclients = 2\ntransactions = 20\n[design]\nblocks = 1\n"
            ),
        );
    }
}

#[test]
fn workloads_of_dyno_s_own_that_only_read_need_no_word() {
    for kind in [ServerKind::Postgres, ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Sqlite] {
        let bench = Bench::new();
        let (_server, target) = match kind {
            ServerKind::Sqlite => {
                (None, Target::new(Engine::Sqlite, Endpoint::File(bench.path().join("shop.db"))))
            }
            _ => {
                let Some(server) = running_server(kind, &[]) else { continue };
                let target = server.target();
                (Some(server), target)
            }
        };
        let url = match &target.endpoint {
            Endpoint::Tcp { host, port } => {
                let (engine, user, password) =
                    (target.engine, &target.user, target.password.reveal());
                format!("{engine}://{user}:{password}@{host}:{port}/{}", target.database)
            }
            other => format!("sqlite:{other}"),
        };
        prepared(&bench, &target, &url);
        let ended = bench.dyno(&["run", "reads.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        // Keys beyond the table would find nothing, and its size would look like a loss.
        let sized = ["run", "reads.toml", "--out", "s", "--set", "workload.table_size=150"];
        let ended = bench.dyno(&sized);
        assert_eq!(ended.code, RUN_INCOMPLETE, "{kind}: {ended}");
        let reported = "sbtest1 has 50 rows, but the workload expects 150";
        assert!(ended.stderr.contains(reported), "{kind}: {ended}");
        let ended = bench.dyno(&["run", "writes.toml", "--out", "w"]);
        assert_eq!(ended.code, PREFLIGHT_FAILED, "{kind}: {ended}");
        assert!(ended.stderr.contains("it contains customers, sbtest1"), "{kind}: {ended}");
    }
}

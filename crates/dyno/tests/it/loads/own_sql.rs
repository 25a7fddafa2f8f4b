//! SQL of the user's own: one line on a database that is there, and the same in a spec.

use crate::init::a_spec_to_begin_with_is_written_after_a_look_at_the_database;
use crate::program::{Bench, Ended, flaws, records};
use crate::running::Running;
use crate::shop::Shop;
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::Engine;
use dyno_testkit::running_server;

/// Statements of a kind that were answered, over all trials.
fn answered(records: &[TrialRecord], kind: &str) -> u64 {
    let statements = records.iter().flat_map(|record| &record.counters.statements);
    statements.filter(|statement| statement.name == kind).map(|statement| statement.ok).sum()
}

/// Everything on one server, whose start takes longest.
fn all_of_it(engine: Engine) {
    let Some(shop) = Shop::open(engine) else { return };
    one_line_measures_scripts_of_one_s_own_and_leaves_no_trace(&shop);
    mistakes_in_scripts_are_reported_before_the_run(&shop);
    a_typing_error_is_the_servers_error_before_a_possible_write(&shop);
    a_missing_privilege_is_reported_before_the_run(&shop);
    a_statement_that_writes_in_disguise_is_refused(&shop);
    scripts_write_only_where_the_line_says_that_they_may(&shop);
    a_broken_limit_is_reported_by_the_exit_code_and_may_end_the_run(&shop);
    each_script_has_figures_of_its_own_and_may_have_a_limit(&shop);
    what_the_data_must_come_to_is_asked_before_and_after_each_trial(&shop);
    a_spec_to_begin_with_is_written_after_a_look_at_the_database(&shop);
}

#[test]
fn user_sql_measures_an_existing_database_on_sqlite() {
    all_of_it(Engine::Sqlite);
}

#[test]
fn user_sql_measures_an_existing_database_on_postgresql() {
    all_of_it(Engine::Postgres);
}

#[test]
fn user_sql_measures_an_existing_database_on_mariadb() {
    all_of_it(Engine::Mysql);
}

fn one_line_measures_scripts_of_one_s_own_and_leaves_no_trace(shop: &Shop) {
    let ended = shop.run(&["read.sql@8", "list.sql@4"], &["--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = shop.records("r");
    assert_eq!(records.len(), 2, "1 and 3 clients");
    let kinds = ["read", "list 1 SELECT max(id) AS", "list 2 SELECT n FROM"];
    let [read, newest, listed] = kinds.map(|kind| answered(&records, kind));
    assert!(
        read > listed && listed > 0 && newest.abs_diff(listed) <= 4,
        "{read} {newest} {listed}"
    );
    assert_eq!(shop.ask("SELECT sum(n), count(*) FROM things"), "0 100");
    // A table of dyno's own would be the first to be found.
    assert!(!shop.has_table("dyno_marker"), "the database is not dyno's and is not marked");
    assert!(ended.stdout.contains("read"), "{ended}");
}

fn scripts_write_only_where_the_line_says_that_they_may(shop: &Shop) {
    let refused = shop.run(&["write.sql"], &["--out", "no"]);
    assert_eq!(refused.code, 4, "{refused}");
    let database = &shop.target.database_name();
    for word in ["the script write", "UPDATE things", &format!("--yes-write-to {database}")] {
        assert!(refused.stderr.contains(word), "{word}: {refused}");
    }
    assert_eq!(shop.ask("SELECT sum(n) FROM things"), "0");
    let ended = shop.run(&["write.sql"], &["--out", "yes", "--yes-write-to", database]);
    assert!(ended.is_done(), "{ended}");
    let records = shop.records("yes");
    let commits = answered(&records, "write 4 COMMIT");
    assert!(commits > 0, "{ended}");
    assert_eq!(shop.ask("SELECT sum(n) FROM things"), commits.to_string());
}

fn a_typing_error_is_the_servers_error_before_a_possible_write(shop: &Shop) {
    shop.bench.file("typo.sql", "SELEC n FROM things;");
    let ended = shop.run(&["typo.sql"], &["--out", "typo"]);
    assert_eq!(ended.code, 4, "{ended}");
    let errors = |text: &str| text.split("error: ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    let reported = errors(&ended.stderr);
    let [first] = reported.as_slice() else { panic!("{ended}") };
    assert!(first.contains("yntax") && first.contains("SELEC"), "{ended}");
    // A statement that certainly writes is reported in addition.
    shop.bench.file("typos.sql", "SELEC n FROM things;\nDELETE FROM things;\n");
    let ended = shop.run(&["typos.sql"], &["--out", "typo"]);
    let reported = errors(&ended.stderr);
    let [_, second] = reported.as_slice() else { panic!("{ended}") };
    assert!(second.contains("may change data (DELETE FROM things"), "{ended}");
}

fn a_missing_privilege_is_reported_before_the_run(shop: &Shop) {
    // SQLite has no privileges.
    if shop.target.engine == Engine::Sqlite {
        return;
    }
    let create = match shop.target.engine {
        Engine::Postgres => "CREATE ROLE poor LOGIN PASSWORD 'poor'",
        _ => "CREATE USER poor IDENTIFIED BY 'poor'",
    };
    shop.ask(create);
    shop.bench.file("poor.sql", "SELECT n FROM things WHERE id = 1;\n");
    let (_, place) = shop.url.split_once('@').expect("an account");
    let url = format!("{}://poor:poor@{place}", shop.target.engine);
    let ended = shop.bench.dyno(&["run", &url, "--script", "poor.sql", "--out", "none"]);
    assert!(ended.code == 4 && ended.stderr.contains("permission"), "{ended}");
}

/// What its words show is told before the run, and what a function does is known to the server
/// alone.
fn a_statement_that_writes_in_disguise_is_refused(shop: &Shop) {
    shop.bench.file("with.sql", "WITH x AS (SELECT 1)\nDELETE FROM things;");
    let ended = shop.run(&["with.sql"], &["--out", "with"]);
    assert!(ended.code == 4 && ended.stderr.contains("--yes-write-to"), "{ended}");
    let function = match shop.target.engine {
        Engine::Postgres => {
            "CREATE FUNCTION touch() RETURNS integer LANGUAGE sql AS 'UPDATE things SET n = 7 RETURNING n'"
        }
        Engine::Mysql => {
            "CREATE FUNCTION touch() RETURNS INTEGER MODIFIES SQL DATA BEGIN UPDATE things SET n = 7; RETURN 7; END"
        }
        // It has no functions in SQL.
        _ => return,
    };
    shop.ask(function);
    shop.bench.file("sly.sql", "SELECT touch();");
    let ended = shop.run(&["sly.sql"], &["--out", "sly"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.to_lowercase().contains("read"), "read-only is the reason: {ended}");
    assert_eq!(shop.ask("SELECT sum(n) FROM things"), "0");
}

fn mistakes_in_scripts_are_reported_before_the_run(shop: &Shop) {
    shop.bench.file("wrong.sql", "SELECT colour FROM things;\n");
    let ended = shop.run(&["wrong.sql"], &["--out", "none"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(
        ended.stderr.contains("the script wrong") && ended.stderr.contains("colour"),
        "{ended}"
    );
    shop.bench.file("unset.sql", "SELECT n FROM things WHERE id = :idd;\n");
    let ended = shop.run(&["unset.sql"], &["--out", "none"]);
    assert!(ended.code == 4 && ended.stderr.contains("nothing sets `:idd`"), "{ended}");
    let ended = shop.run(&["none.sql"], &["--out", "none"]);
    assert!(
        ended.code == 3 && ended.stderr.contains("cannot read the script `none.sql`"),
        "{ended}"
    );
    assert!(
        ended.stderr.contains("relative to the folder in which dyno runs"),
        "there is no spec: {ended}"
    );
    let ended = shop.run(&[], &["--out", "none"]);
    assert!(ended.code == 2 && ended.stderr.contains("--script FILE"), "{ended}");
    assert!(!shop.bench.path().join("none").exists(), "nothing was begun");
    // What is wrong is the script, and not the database that holds its tables.
    shop.bench.file("draws.sql", "\\set id foo(1)\nSELECT :id;\n");
    let ended = shop.run(&["draws.sql"], &[]);
    assert!(ended.code == 4 && ended.stderr.contains("unexpected function name (foo)"), "{ended}");
    assert!(!ended.stderr.contains("is not empty"), "{ended}");
    // Each of two things that are in the way is an error.
    shop.bench.file("both.sql", "UPDATE things SET colour = 1;\n");
    let ended = shop.run(&["both.sql"], &[]);
    assert!(ended.code == 4 && ended.stderr.contains("the script both may change data"), "{ended}");
    assert_eq!(ended.stderr.matches("error: ").count(), 2, "{ended}");
}

#[test]
fn a_printed_spec_hides_passwords_and_runs_from_a_file() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    let printed = shop.run(&["read.sql@8", "list.sql"], &["--print-spec"]);
    assert_eq!(printed.code, 0, "{printed}");
    shop.bench.file("shop.toml", &printed.stdout);
    let ended = shop.bench.dyno(&["run", "shop.toml", "--out", "again"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(shop.records("again").len(), 2);
    let secret = "postgres://me:hunter2@127.0.0.1:1/shop";
    let printed = shop.bench.dyno(&["run", secret, "--script", "read.sql", "--print-spec"]);
    assert!(printed.code == 0 && !printed.to_string().contains("hunter2"), "{printed}");
    let set = "system.shop.url=postgres://me:hunter2@h/d";
    let printed =
        shop.bench.dyno(&["run", secret, "--script", "read.sql", "--set", set, "--print-spec"]);
    let is_reported = printed.stdout.contains("# Changed by --set: system.shop.url=");
    assert!(is_reported && !printed.to_string().contains("hunter2"), "{printed}");
    // What is set may have several lines, and the spec is TOML all the same.
    let printed = shop.run(
        &["read.sql"],
        &["--set", "load.clients=[1,\n2]", "--set", "title=\"\"\"a\nb\"\"\"", "--print-spec"],
    );
    shop.bench.file("lines.toml", &printed.stdout);
    let plan = shop.bench.dyno(&["plan", "lines.toml"]);
    assert!(
        printed.code == 0 && printed.stdout.contains("Changed by --set") && plan.is_done(),
        "{printed}{plan}"
    );
    let mixed = shop.run(&["read.sql", "look.lua@3"], &["--print-spec"]);
    assert!(
        mixed.code == 2
            && mixed.stderr.contains("read.sql is SQL")
            && mixed.stderr.contains("[[background]]"),
        "{mixed}"
    );
}

#[test]
fn a_spec_holds_scripts_in_its_own_text_and_varies_them() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    let spec = r#"
title = "own SQL"
[[system]]
name = "shop"
url = "sqlite:shop.db"
data = "existing"
[workload]
kind = "sql"
[[workload.scripts]]
name = "newest"
sql = "SELECT max(id) FROM things;"
[[workload.scripts]]
file = "read.sql"
weight = 3
[load]
clients = 2
transactions = 200
[design]
blocks = 1
"#;
    shop.bench.file("own.toml", spec);
    let ended = shop.bench.dyno(&["run", "own.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = shop.records("r");
    let (newest, read) = (answered(&records, "newest"), answered(&records, "read"));
    assert_eq!(newest + read, 200);
    assert!(read > newest, "three of four are read: {read} of 200");
    // The texts are in the results, so that a run can be resumed and compared without the files.
    std::fs::remove_file(shop.bench.path().join("read.sql")).expect("it was there");
    assert!(shop.bench.dyno(&["run", "--resume", "r"]).is_done());
}

fn what_the_data_must_come_to_is_asked_before_and_after_each_trial(shop: &Shop) {
    // Three added and one taken away, in one transaction; and one that fails in the middle and
    // leaves nothing.
    let order = "\\set id random(1, 100)\nBEGIN;\nUPDATE things SET n = n + 3 WHERE id = :id;\n\
                 UPDATE things SET n = n - 1 WHERE id = :id;\nCOMMIT;\n";
    shop.bench.file("order.sql", order);
    shop.bench.file(
        "fails.sql",
        "BEGIN;\nUPDATE things SET n = n + 1000;\nINSERT INTO things VALUES (1, 0);\nCOMMIT;\n",
    );
    let name = if shop.target.database.is_empty() { "shop.db" } else { &shop.target.database };
    let run = |results: &str, rules: &str| {
        let audit = format!("workload.audit={{ {rules} }}");
        // So many that some fail, however slow the machine is.
        let settings = ["--set", &audit, "--set", "load.transactions=100"];
        let options = [&["--yes-write-to", name, "--out", results], &settings[..]].concat();
        shop.run(&["order.sql@9", "fails.sql"], &options)
    };
    let verdicts = |results: &str| {
        shop.records(results).iter().map(|record| record.audit.verdict()).collect::<Vec<_>>()
    };
    let rules = "'sum(n) from things' = '+2 per order', 'SELECT count(*) FROM things' = 'unchanged', \
                 'sum(id) FROM things WHERE id < 0' = 'unchanged'";
    let ended = run("kept", rules);
    assert_eq!(
        verdicts("kept"),
        [AuditVerdict::Intact; 2],
        "{ended}\n{:?}",
        shop.records("kept")[0].audit
    );
    let failed: u64 = shop.records("kept").iter().map(|record| record.counters.failed).sum();
    assert!(failed > 0, "some failed, which is no reason for doubt: {ended}");
    let ended =
        run("wrong", "'sum(n) from things' = '+3 per order', 'count(*) from things' = 'unchanged'");
    assert_eq!(verdicts("wrong"), [AuditVerdict::Violated; 2], "{ended}");
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("has values at 1 and 3 clients that do not match"), "{ended}");
    assert!(
        words.contains("sum(n) from things.") && !words.contains("count(*) from things."),
        "{ended}"
    );
    for (rules, why) in [
        (
            "'sum(n) from things' = '+1 per orders'",
            "no script is called `orders`; scripts: order, fails",
        ),
        ("'sum(n) from nothing' = 'unchanged'", "the audit `sum(n) from nothing`: "),
        ("'0.5' = 'unchanged'", "its value 0.5 is not an integer; multiply or round it"),
    ] {
        let refused = run("none", rules);
        assert!(refused.code == 4 && refused.stderr.contains(why), "{rules}: {refused}");
    }
}

fn a_broken_limit_is_reported_by_the_exit_code_and_may_end_the_run(shop: &Shop) {
    // The key is taken, so that every other transaction fails: more than a valid trial has.
    shop.bench.file("taken.sql", "INSERT INTO things VALUES (1, 0);\n");
    let name = if shop.target.database.is_empty() { "shop.db" } else { &shop.target.database };
    let run = |options: &[&str]| {
        let scripts = ["read.sql", "taken.sql"];
        shop.run(&scripts, &[&["--yes-write-to", name], options].concat())
    };
    let ended = run(&["--out", "limits", "--limit", "throughput > 1/s"]);
    assert_eq!(ended.code, 8, "{ended}");
    assert!(
        ended.stdout.contains("Limit throughput > 1/s: failed in 2 of 2 configurations"),
        "{ended}"
    );
    let abort = "limit=[{ throughput = '> 1/s', abort = true }]";
    let ended = run(&["--out", "ended", "--set", abort, "--set", "design.blocks=3"]);
    assert_eq!((ended.code, shop.records("ended").len()), (8, 2), "{ended}");
    assert!(ended.stdout.contains("The run stopped after 1 of at most 3 blocks"), "{ended}");
    let ended = run(&["--out", "invalid", "--quiet"]);
    assert!(ended.code == 6 && ended.stderr.contains("no trial is valid"), "{ended}");
    let refused = run(&["--out", "none", "--limit", "speed > 1"]);
    assert!(refused.code == 2 && refused.stderr.contains("one of throughput, mean"), "{refused}");
}

/// 400 transactions of a workload, on the shop: `workload` and `more` are lines of the spec.
fn counted(shop: &Shop, results: &str, workload: &str, more: &str, options: &[&str]) -> Ended {
    let spec = format!(
        "title = \"counted\"\n[[system]]\nname = \"shop\"\nurl = \"{}\"\ndata = \"existing\"\n[workload]\nkind = \"sql\"\n{workload}\n\
         [load]\nclients = 3\ntransactions = 400\nwarmup = \"0s\"\nattempts_max = 1\n[design]\nblocks = 1\n{more}",
        shop.url
    );
    shop.bench.file("counted.toml", spec);
    shop.bench.dyno(&[&["run", "counted.toml", "--out", results], options].concat())
}

fn each_script_has_figures_of_its_own_and_may_have_a_limit(shop: &Shop) {
    // Of the transactions of one script none commits.
    shop.bench.file("taken.sql", "SELECT 1;\nINSERT INTO things VALUES (1, 0);\n");
    let name = if shop.target.database.is_empty() { "shop.db" } else { &shop.target.database };
    let limit = |name: &str| format!("[[limit]]\ntransaction = \"{name}\"\nfailed = \"< 99 %\"\n");
    let limits = format!("{}{}", limit("read"), limit("taken"));
    let scripts = "scripts = [\"read.sql@3\", \"list.sql\", \"taken.sql\"]";
    let ended = counted(shop, "named", scripts, &limits, &["--yes-write-to", name]);
    // More fails than a valid trial has, and is still told by name.
    assert!(ended.code == 8 && ended.stdout.contains("failed < 99 % (taken)"), "{ended}");
    for record in shop.records("named") {
        assert_eq!(record.counters.check(), Vec::<String>::new());
        let [read, list, taken] = record.counters.transactions.as_slice() else {
            panic!("{:?}", record.counters)
        };
        assert_eq!([read, list, taken].map(|it| it.name.as_str()), ["read", "list", "taken"]);
        assert!(
            read.committed > list.committed && list.committed > 0 && taken.failed > 0,
            "{:?}",
            record.counters
        );
        assert_eq!((read.failed, list.failed, taken.committed), (0, 0, 0));
        let statement = |name: &str| {
            record.counters.statements.iter().find(|it| it.name == name).expect("it is there")
        };
        assert_eq!(read.committed, statement("read").ok, "a transaction is one statement");
        let counts =
            record.transactions.iter().map(|it| it.response.map_or(0, |response| response.count));
        assert_eq!(counts.collect::<Vec<_>>(), [read.committed, list.committed, 0]);
    }
    for (limit, why) in [
        ("p99 of reads < 1ms", "no transaction is called `reads`"),
        ("p99 of reads < 1ms", "did you mean `read`?"),
        ("lost of read = 0", "`limit.lost` applies to whole trials, not to a transaction"),
    ] {
        let refused = shop.run(&["read.sql"], &["--limit", limit, "--out", "none"]);
        assert!(refused.code == 3 && refused.stderr.contains(why), "{limit}: {refused}");
    }
    let statement = "limit=[{ statement = 'list 1 SELECT', p99 = '< 1s' }]";
    let refused = shop.run(&["list.sql"], &["--set", statement, "--out", "none"]);
    assert!(refused.code == 3 && refused.stderr.contains("list 1 SELECT max(id) AS"), "{refused}");
}

#[test]
fn a_script_s_own_think_time_takes_the_place_of_the_load_s() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    // Nobody gets as far as the second transaction of a script that is thought about for a year.
    let spec = r#"
title = "thinking"
system = [{ name = "shop", url = "sqlite:shop.db", data = "existing" }]
workload = { kind = "sql", scripts = [{ file = "read.sql" }, { file = "list.sql", think = "1000h" }] }
load = { clients = 8, duration = "500ms", warmup = "0s", grace = "1s" }
design = { blocks = 1 }
"#;
    shop.bench.file("think.toml", spec);
    let planned = shop.bench.dyno(&["plan", "think.toml"]);
    assert!(planned.code == 0 && planned.stdout.contains("list (think 3600000 s)"), "{planned}");
    let ended = shop.bench.dyno(&["run", "think.toml", "--out", "think"]);
    let records = shop.records("think");
    let [read, list] = records[0].counters.transactions.as_slice() else { panic!("{ended}") };
    assert!(read.committed > 0 && list.started == 0, "{read:?} {list:?}: {ended}");
}

#[test]
fn the_isolation_level_of_scripts_is_that_of_their_sessions() {
    let Some(shop) = Shop::open(Engine::Postgres) else { return };
    shop.bench.file(
        "level.sql",
        "SELECT 1 / (current_setting('transaction_isolation') = 'serializable')::int;\n",
    );
    let failed = |results: &str| {
        shop.records(results).iter().map(|record| record.counters.failed).sum::<u64>()
    };
    let scripts = "scripts = [\"level.sql\"]";
    let ended = counted(&shop, "set", &format!("{scripts}\nisolation = \"serializable\""), "", &[]);
    assert!(ended.is_done() && failed("set") == 0, "{ended}");
    let ended = counted(&shop, "usual", scripts, "", &[]);
    assert!(failed("usual") > 0, "PostgreSQL's own is read committed: {ended}");
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    let refused =
        shop.run(&["read.sql"], &["--out", "no", "--set", "workload.isolation='read-committed'"]);
    assert!(refused.code == 4 && refused.stderr.contains("always serializable"), "{refused}");
}

/// On a server that dyno starts; `more` are further lines of the spec.
fn set_up(bench: &Bench, kind: &str, setup: &str, script: &str, more: &str) -> Ended {
    bench.file("schema.sql", setup);
    bench.file("script.sql", script);
    let spec = format!(
        "title = \"set up\"\nsystem = [{{ name = \"S\", server = {{ kind = \"{kind}\" }} }}]\n\
         workload = {{ kind = \"sql\", scripts = [\"script.sql\"], setup = [\"schema.sql\"] }}\n\
         load = {{ clients = 1, transactions = 1, warmup = \"0s\", attempts_max = 1 }}\ndesign = {{ blocks = 2 }}\n{more}"
    );
    bench.file("setup.toml", spec);
    bench.dyno(&["run", "setup.toml", "--out", kind])
}

/// A key that only the first of several trials could write, were they to find what the one before
/// left.
const TAKEN_ONCE: &str = "INSERT INTO things SELECT 7, count(*) FROM things;\n";
const SCHEMA: &str = "-- twice the first row\nCREATE TABLE things (id INTEGER PRIMARY KEY, n BIGINT);\n\
                      INSERT INTO things VALUES (1, 2);\nINSERT INTO things SELECT id + 1, n FROM things;\n";

#[test]
fn every_trial_on_a_managed_server_has_fresh_tables_from_setup() {
    let bench = Bench::new();
    let ended = set_up(&bench, "sqlite", SCHEMA, TAKEN_ONCE, "");
    let commits = |kind: &str| {
        let of = records(&bench.path().join(kind)).into_iter();
        of.map(|record| (record.counters.committed, record.counters.failed)).collect::<Vec<_>>()
    };
    assert_eq!((ended.is_done(), commits("sqlite")), (true, vec![(1, 0); 2]), "{ended}");
    if running_server(ServerKind::Postgres, &[]).is_some() {
        let factors = "[factors]\n\"server.settings.work_mem\" = [\"4MB\", \"8MB\"]\n";
        let ended = set_up(&bench, "postgres", SCHEMA, TAKEN_ONCE, factors);
        assert_eq!((ended.is_done(), commits("postgres")), (true, vec![(1, 0); 4]), "{ended}");
    }
}

#[test]
fn failures_that_a_limit_permits_leave_trials_valid() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    shop.bench.file("twice.sql", "INSERT INTO things VALUES (1, 0);\n");
    let database = &shop.target.database_name();
    for (limit, is_valid) in [("failed < 60%", true), ("failed < 1%", false)] {
        let options = ["--yes-write-to", database, "--limit", limit, "--out", limit];
        let ended = shop.run(&["read.sql@4", "twice.sql@1"], &options);
        let records = shop.records(limit);
        assert!(records.iter().all(|it| it.counters.failed > 0), "{ended}");
        assert!(records.iter().all(|it| flaws(it).is_empty() == is_valid), "{limit}: {ended}");
        assert_eq!(ended.is_done(), is_valid, "{limit}: {ended}");
        let reported = ended.stdout.replace("\n  ", " ").contains("a limit permits 60.0 %");
        assert_eq!(reported, is_valid, "{limit}: {ended}");
    }
}

/// Prepared statements of SQLite are part of the process. A report that is written afterwards is
/// not part of the figure.
#[test]
fn a_script_takes_at_most_4_kb_of_memory_for_each_of_its_statements() {
    let bench = Bench::new();
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER);";
    let peak = |statements: u64| {
        let sql = |i| format!("SELECT v + {i} FROM t WHERE id = {};\n", i % 100);
        let script = (0..statements).map(sql).collect::<String>();
        let ended = set_up(&bench, "sqlite", setup, &script, "");
        assert!(ended.is_done(), "{ended}");
        let record = records(&bench.path().join("sqlite")).pop().expect("two trials");
        assert_eq!(record.counters.statements.iter().map(|it| it.ok).sum::<u64>(), statements);
        std::fs::remove_dir_all(bench.path().join("sqlite")).expect("results of ours");
        record.generator.memory_peak
    };
    let each = (peak(10_000) - peak(100)) / 9_900;
    assert!(each <= 4_096, "{each} bytes for each statement");
}

#[test]
fn a_setup_with_a_mistake_is_reported_with_its_place() {
    let bench = Bench::new();
    let variable = set_up(
        &bench,
        "sqlite",
        "CREATE TABLE t (a INT);\nINSERT INTO t VALUES (:x);\n",
        "SELECT 1;",
        "",
    );
    assert!(
        variable.code != 0
            && variable.stderr.contains("the setup schema, \"INSERT INTO t VALUES (:x)"),
        "{variable}"
    );
    let refused = set_up(
        &bench,
        "sqlite",
        "CREATE TABLE t (a INT);\nINSERT INTO nowhere VALUES (1);\n",
        "SELECT 1;",
        "",
    );
    assert!(refused.code == 6 && refused.stderr.contains("nowhere"), "{refused}");
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    shop.bench.file("schema.sql", SCHEMA);
    let existing =
        shop.run(&["read.sql"], &["--set", "workload.setup=['schema.sql']", "--out", "none"]);
    assert!(
        existing.code == 4 && existing.stderr.contains("requires a server started by dyno"),
        "{existing}"
    );
}

#[test]
fn missing_databases_are_not_created_and_http_urls_get_no_sql() {
    let bench = Bench::new();
    bench.file("one.sql", "SELECT 1;\n");
    let ended = bench.dyno(&["run", "sqlite:absent.db", "--script", "one.sql"]);
    assert!(
        ended.code == 4 && ended.stderr.contains("the database file absent.db does not exist"),
        "{ended}"
    );
    let ended = bench.dyno(&["run", "http://127.0.0.1:1/shop", "--script", "one.sql"]);
    assert!(ended.code == 2 && ended.stderr.contains("`dyno workloads http`"), "{ended}");
    let ended = bench.dyno(&["run", "localhost/shop", "--script", "one.sql"]);
    assert!(ended.code == 2 && ended.stderr.contains("a URL starts with postgres://"), "{ended}");
    assert_eq!(bench.names(), ["one.sql"]);
    // A name with a slash is no folder in which scripts are looked for.
    let ended = bench.dyno(&["run", "postgres://me@127.0.0.1:1/a%2Fb", "--script", "one.sql"]);
    assert!(ended.code == 4 && ended.stderr.contains("connect-refused"), "{ended}");
}

#[test]
fn a_database_is_cleaned_by_its_url_alone() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    let line = [&shop.url, "--workload", "rush", "--clients", "1", "--duration", "1h"];
    let yes = shop.target.database_name();
    Running::killed(&shop.bench, &[&line[..], &["--yes-write-to", &yes]].concat());
    assert!(shop.has_table("rush") && shop.has_table("dyno_marker"));
    let ended = shop.bench.dyno(&["cleanup", &shop.url]);
    assert!(ended.is_done() && ended.stdout.contains("dropped rush"), "{ended}");
    assert!(!shop.has_table("rush") && !shop.has_table("dyno_marker"));
    assert_eq!(shop.ask("SELECT count(*) FROM things"), "100", "what others made stays");
    let ended = shop.bench.dyno(&["cleanup", &shop.url]);
    assert!(ended.is_done() && ended.stdout.contains("dyno left nothing there"), "{ended}");
    assert_eq!(shop.bench.dyno(&["cleanup"]).code, 2);
}

#[test]
fn a_file_that_is_not_there_is_not_made_by_who_only_looks() {
    let bench = Bench::new();
    let ended = bench.dyno(&["cleanup", "sqlite:typo.db"]);
    assert!(ended.code == 5 && ended.stderr.contains("no such file: typo.db"), "{ended}");
    bench.file(
        "s.toml",
        "title = \"t\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:own.db\"\n[load]\nclients = 1\nduration = \"100ms\"\n\
         [workload]\nkind = \"rush\"\n[design]\nblocks = 1\n",
    );
    let ended = bench.dyno(&["cleanup", "s.toml"]);
    assert!(ended.code == 5 && ended.stderr.contains("A: no such file: own.db"), "{ended}");
    let ended = bench.dyno(&["plan", "s.toml"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(bench.names(), ["s.toml"]);
    let ended = bench.dyno(&["plan", "s.toml", "--set", "system.A.url=\"sqlite:nowhere/own.db\""]);
    assert!(ended.code == 4 && ended.to_string().contains("nowhere/own.db"), "{ended}");
    let ended = bench.dyno(&["init", "sqlite:new.db"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(bench.names(), ["new.toml", "s.toml"]);
    std::fs::create_dir(bench.path().join("specs")).expect("a folder");
    let ended = bench.dyno(&["init", "sqlite:new.db", "--out", "specs/new.toml"]);
    assert!(ended.is_done(), "{ended}");
    let spec =
        std::fs::read_to_string(bench.path().join("specs/new.toml")).expect("it was written");
    assert!(
        spec.contains(&format!("sqlite://{}", bench.path().join("new.db").display())),
        "{spec}"
    );
    let ended = bench.dyno(&["run", "s.toml", "--out", "r"]);
    assert!(ended.is_done() && !bench.path().join("own.db").exists(), "dyno made it: {ended}");
    bench.file("own.db", "");
    let ended = bench.dyno(&["run", "s.toml", "--out", "again"]);
    assert!(ended.is_done() && bench.path().join("own.db").exists(), "it was there: {ended}");
    std::fs::remove_file(bench.path().join("own.db")).expect("it was there");
    Running::killed(&bench, &["s.toml", "--set", "load.duration=\"1h\""]);
    assert!(bench.path().join("own.db").exists());
    let ended = bench.dyno(&["cleanup", "s.toml"]);
    assert!(ended.is_done() && ended.stdout.contains("dropped rush, own.db"), "{ended}");
    assert!(!bench.path().join("own.db").exists());
    let ended = bench.dyno(&["cleanup", "http://127.0.0.1:1/shop"]);
    assert!(
        ended.code == 2
            && ended.stderr.contains("no tables")
            && !ended.stderr.contains("workloads http"),
        "{ended}"
    );
}

//! Scripts of sysbench's world as workloads of a spec: on servers that dyno starts, and on
//! databases that are there.

use crate::ends::RUN_INCOMPLETE;
use crate::program::{Bench, Ended, flaws, records};
use crate::shop::Shop;
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::Engine;
use dyno_testkit::{require_server, wait_until};
use std::process::Stdio;

/// Makes a table with `rows` rows, reads one of them or changes it. What it needs besides is in a
/// module.
const ACCOUNTS: &str = r#"
sysbench.cmdline.options = {
  rows = {"Rows of the table", 50},
  add = {"What each event adds", 1},
}
local keys = require("keys")
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE accounts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)")
  con:query("CREATE VIEW rich AS SELECT id FROM accounts WHERE n > 0")
  for id = 1, sysbench.opt.rows do con:query("INSERT INTO accounts VALUES (" .. id .. ", 0)") end
  print("made")
  io.write("made")
  io.stdout:write("made")
end
function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP VIEW rich")
  con:query("DROP TABLE accounts")
end
function thread_init() connection = sysbench.sql.driver():connect() end
function event()
  local id = keys.any(sysbench.opt.rows)
  connection:query("UPDATE accounts SET n = n + " .. sysbench.opt.add .. " WHERE id = " .. id)
end
"#;
const KEYS: &str = "return { any = function(rows) return sysbench.rand.uniform(1, rows) end }\n";
const CHECK_INTERVAL: &str = r#"
function thread_init() connection = sysbench.sql.driver():connect() end
function event() connection:query("SELECT count(*) FROM accounts") end
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("accounts.lua", ACCOUNTS);
    bench.file("keys.lua", KEYS);
    bench.file("look.lua", CHECK_INTERVAL);
    bench
}

/// A spec of both scripts.
fn spec(system: &str, workload: &str, more: &str) -> String {
    format!(
        "title = \"Lua\"\n[[system]]\nname = \"s\"\n{system}\n[workload]\nkind = \"lua\"\n{workload}\n[load]\nclients = [1, 3]\n\
         transactions = 120\n[design]\nblocks = 1\n{more}"
    )
}

const BOTH: &str = "scripts = [\"accounts.lua@3\", \"look.lua\"]\nmodules = [\"keys.lua\"]\nrows = 20\n\
                    [workload.audit]\n\"sum(n) from accounts\" = \"+2 per accounts\"\n\"count(*) from accounts\" = \"unchanged\"\n\
                    \"count(*) - 20 from accounts\" = \"unchanged\"";

fn run(bench: &Bench, text: &str, results: &str) -> Ended {
    bench.file("lua.toml", text);
    bench.dyno(&["run", "lua.toml", "--out", results])
}

/// Events of both scripts happened, in about their shares, and the data are what they have to be.
fn are_right(records: &[TrialRecord]) {
    for record in records {
        let sent = |name: &str| {
            record.counters.statements.iter().find(|it| it.name == name).map_or(0, |it| it.ok)
        };
        let (updates, looks) = (sent("accounts update"), sent("look select"));
        assert_eq!(record.counters.committed, 120);
        assert_eq!(updates + looks, 120, "{:?}", record.counters.statements);
        assert!(looks > 0 && updates > looks, "three of four are updates: {updates} and {looks}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
        assert!(flaws(record).is_empty(), "{:?}", flaws(record));
    }
}

fn a_server_of_dyno_s_own(kind: ServerKind) {
    if require_server(kind).is_none() {
        return;
    }
    let bench = bench();
    let system = format!("server = {{ kind = \"{kind}\" }}");
    let workload = BOTH.replace("rows = 20", "rows = 20\nadd = 2");
    let ended = run(
        &bench,
        &spec(
            &system,
            &workload,
            "[factors]\n\"workload.rand_type\" = [\"uniform\", \"pareto\"]\n",
        ),
        "r",
    );
    assert!(ended.is_done(), "{ended}");
    assert!(!ended.stdout.contains("made"), "what scripts print is not shown: {ended}");
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 4, "two levels and two numbers of clients");
    are_right(&records);
}

/// Runs a script whose event does this, in two trials of half a second.
fn runs(event: &str) -> (Bench, Ended) {
    let bench = Bench::new();
    bench.file("wild.lua", format!("function prepare() end function event() {event} end\n"));
    let text = "title = \"Lua\"\n[[system]]\nname = \"s\"\nserver = { kind = \"sqlite\" }\n[workload]\nkind = \"lua\"\n\
                scripts = [\"wild.lua\"]\n[load]\nclients = [1, 2]\nwarmup = \"100ms\"\nduration = \"500ms\"\ngrace = \"500ms\"\n\
                [design]\nblocks = 1\n";
    let ended = run(&bench, text, "r");
    (bench, ended)
}

/// The first of two trials was given up because a script does not end, in this group if any, and
/// the other was not measured beside its threads.
fn is_over(bench: &Bench, ended: &Ended, group: &str) {
    assert_eq!(ended.code, RUN_INCOMPLETE, "{ended}");
    assert!(ended.stderr.contains("a script does not end"), "{ended}");
    assert!(ended.stderr.contains(group), "{ended}");
    let folder = bench.path().join("r");
    let events = std::fs::read_to_string(folder.join("events.jsonl")).expect("it is written");
    let count = |kind: &str| events.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((count("\"trial-started\""), count("\"trial-failed\"")), (1, 1), "{events}");
    let report = std::fs::read_to_string(folder.join("report.html")).expect("it is written");
    assert!(report.contains("a script does not end"), "the report has no reason");
}

#[test]
fn a_script_in_an_endless_loop_ends_its_trial_and_the_run() {
    let (bench, ended) = runs("while true do end");
    is_over(&bench, &ended, "");
    // In the background of one that ends.
    bench.file("own.sql", "SELECT 1;\n");
    let text = "title = \"Lua\"\n[[system]]\nname = \"s\"\nserver = { kind = \"sqlite\" }\n[workload]\nkind = \"sql\"\n\
                scripts = [\"own.sql\"]\n[[background]]\nname = \"wild\"\n\
                workload = { kind = \"lua\", script = \"wild.lua\" }\n[load]\nclients = [1, 2]\nwarmup = \"100ms\"\n\
                duration = \"500ms\"\ngrace = \"500ms\"\n[design]\nblocks = 1\n";
    std::fs::remove_dir_all(bench.path().join("r")).expect("results of ours");
    let ended = run(&bench, text, "r");
    is_over(&bench, &ended, "the background workload \"wild\"");
}

#[test]
fn errors_caught_by_a_script_keep_the_database_message() {
    let (bench, ended) = runs(
        "con = con or sysbench.sql.driver():connect() \
         pcall(function() con:query('SELECT abs(-9223372036854775807 - 1)') end)",
    );
    assert!(ended.is_done(), "{ended}");
    for record in records(&bench.path().join("r")) {
        let [detail] = &record.failures.0[..] else { panic!("{:?}", record.failures) };
        assert_eq!(detail.failure.message, "integer overflow");
        assert_eq!(detail.count, record.counters.committed, "one for each event of the window");
    }
}

#[test]
fn a_script_that_asks_for_the_end_of_the_program_fails_its_trial() {
    for (exit, reported) in [
        ("os.exit(0)", "the script called os.exit(0)"),
        ("os.exit()", "the script called os.exit(nil)"),
        ("require('ffi').C._exit(0)", "the script asked for ffi.C._exit"),
    ] {
        let (bench, ended) = runs(exit);
        assert!(!ended.is_done(), "{exit}: {ended}");
        let events =
            std::fs::read_to_string(bench.path().join("r/events.jsonl")).expect("it is written");
        assert!(events.contains(reported), "{exit}: {events}");
    }
}

#[test]
fn lua_scripts_prepare_the_data_of_every_trial_on_sqlite() {
    a_server_of_dyno_s_own(ServerKind::Sqlite);
}

#[test]
fn lua_scripts_prepare_the_data_of_every_trial_on_postgresql() {
    a_server_of_dyno_s_own(ServerKind::Postgres);
}

#[test]
fn lua_scripts_prepare_the_data_of_every_trial_on_mysql() {
    a_server_of_dyno_s_own(ServerKind::Mysql);
}

#[test]
fn lua_scripts_prepare_the_data_of_every_trial_on_mariadb() {
    a_server_of_dyno_s_own(ServerKind::Mariadb);
}

/// In an empty database they make their data and leave nothing; in one with tables of others they
/// make none.
fn a_database_that_is_there(engine: Engine) {
    let Some(shop) = Shop::open(engine) else { return };
    for (name, text) in
        [("accounts.lua", ACCOUNTS), ("keys.lua", KEYS), ("look.lua", CHECK_INTERVAL)]
    {
        shop.bench.file(name, text);
    }
    let workload = BOTH.replace("rows = 20", "rows = 20\nadd = 2");
    let system = format!("url = \"{}\"", shop.url);
    let refused = run(&shop.bench, &spec(&system, &workload, ""), "none");
    assert!(refused.code == 4 && refused.stderr.contains("it contains things"), "{refused}");
    let database = shop.target.database_name();
    let ended = shop.bench.dyno(&["run", "lua.toml", "--out", "none", "--yes-write-to", &database]);
    assert!(
        ended.code == 4 && ended.stderr.contains("could not tell existing tables from those"),
        "{ended}"
    );
    shop.ask("DROP TABLE things");
    let ended = run(&shop.bench, &spec(&system, &workload, ""), "own");
    assert!(ended.is_done(), "{ended}");
    are_right(&shop.records("own"));
    assert!(!shop.has_table("accounts") && !shop.has_table("dyno_marker"), "nothing is left");

    shop.ask("CREATE TABLE accounts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)");
    shop.ask("INSERT INTO accounts VALUES (1, 0)");
    let existing = format!("{system}\ndata = \"existing\"");
    let looking = spec(&existing, "script = \"look.lua\"", "");
    let ended = run(&shop.bench, &looking, "looks");
    assert!(ended.is_done(), "{ended}");
    assert!(ended.stderr.contains("was not permitted"), "what is to come is told: {ended}");
    assert_eq!(shop.records("looks")[0].counters.statements[0].name, "select");
    let writing =
        spec(&existing, "script = \"accounts.lua\"\nmodules = [\"keys.lua\"]\nrows = 1", "");
    let ended = run(&shop.bench, &writing, "refused");
    assert_eq!(ended.code, 6, "{ended}");
    assert!(ended.to_string().to_lowercase().contains("read"), "read-only is the reason: {ended}");
    assert_eq!(shop.ask("SELECT n FROM accounts"), "0");
    let ended =
        shop.bench.dyno(&["run", "lua.toml", "--out", "written", "--yes-write-to", &database]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(shop.ask("SELECT n FROM accounts"), "240", "two trials of 120 events");
}

#[test]
fn scripts_write_only_where_dyno_may_on_sqlite() {
    a_database_that_is_there(Engine::Sqlite);
}

#[test]
fn scripts_write_only_where_dyno_may_on_postgresql() {
    a_database_that_is_there(Engine::Postgres);
}

#[test]
fn scripts_write_only_where_dyno_may_on_mariadb() {
    a_database_that_is_there(Engine::Mysql);
}

#[test]
fn audit_queries_of_all_configurations_are_tried_before_the_run() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    let connect = "function thread_init() c = sysbench.sql.driver():connect() end";
    shop.bench.file(
        "look.lua",
        format!("{connect}\nfunction event() c:query(\"SELECT count(*) FROM things\") end"),
    );
    let background = |name: &str, more: &str| {
        format!(
            "[[background]]\nname = \"{name}\"\n[background.workload]\nkind = \"lua\"\nscript = \"look.lua\"\n{more}"
        )
    };
    let text = format!(
        "title = \"t\"\n[[system]]\nname = \"s\"\nurl = \"{}\"\ndata = \"existing\"\n[load]\nclients = 1\nduration = \"1s\"\n\
         [workload]\nkind = \"sql\"\nscripts = [\"read.sql\"]\n{}{}[factors]\nof = [\n\
         {{ name = \"a\", \"background.b.clients\" = 0 }}, {{ name = \"b\", \"background.a.clients\" = 0 }} ]\n",
        shop.url,
        background("a", ""),
        background("b", "[background.workload.audit]\n\"count(*) from nowhere\" = \"unchanged\"\n"),
    );
    let ended = run(&shop.bench, &text, "none");
    assert!(ended.code == 4 && ended.stderr.contains("no such table: nowhere"), "{ended}");
    assert_eq!(ended.stderr.matches("was not permitted").count(), 1, "each is told once: {ended}");
}

#[test]
fn tables_of_a_killed_prepare_are_replaced_or_cleaned_up() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    shop.ask("DROP TABLE things");
    let made =
        "con = sysbench.sql.driver():connect() con:query(\"CREATE TABLE half (id INTEGER)\")";
    let look = "function event() con = con or sysbench.sql.driver():connect() con:query(\"SELECT count(*) FROM half\") end";
    shop.bench.file("whole.lua", format!("function prepare() {made} end {look}"));
    shop.bench
        .file("endless.lua", format!("function prepare() {made} while true do end end {look}"));
    let text = |script: &str| {
        format!(
            "title = \"t\"\n[[system]]\nname = \"s\"\nurl = \"{}\"\n[workload]\nkind = \"lua\"\nscript = \"{script}\"\n[load]\n\
                 clients = 1\ntransactions = 5\n[design]\nblocks = 1\n",
            shop.url
        )
    };
    shop.bench.file("endless.toml", text("endless.lua"));
    let kill = || {
        let mut command = shop.bench.command(&["run", "endless.toml", "--out", "none"]);
        let mut run = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("dyno can be started");
        wait_until("half of the data is there", || shop.has_table("half"));
        run.kill().expect("it runs");
        run.wait().expect("it was killed");
        std::fs::remove_dir_all(shop.bench.path().join("none")).expect("it was begun");
    };
    kill();
    let ended = run(&shop.bench, &text("whole.lua"), "r");
    assert!(ended.is_done(), "{ended}");
    assert_eq!(shop.records("r")[0].counters.committed, 5);
    assert!(!shop.has_table("half") && !shop.has_table("dyno_marker"), "nothing is left");
    kill();
    let ended = shop.bench.dyno(&["cleanup", &shop.url]);
    assert!(ended.is_done() && ended.stdout.contains("dropped half"), "{ended}");
    assert!(!shop.has_table("half") && !shop.has_table("dyno_marker"), "nothing is left");
}

#[test]
fn scripts_that_share_a_prepare_have_it_run_once() {
    let bench = Bench::new();
    let query = |sql: &str| format!("sysbench.sql.driver():connect():query(\"{sql}\")");
    let event = |table: &str| {
        format!("function event() {} end\n", query(&format!("SELECT count(*) FROM {table}")))
    };
    let make = |table: &str| {
        format!("function prepare() {} end\n", query(&format!("CREATE TABLE {table} (id INTEGER)")))
    };
    bench.file("function.lua", make("shared"));
    let command = make("shared").replace("prepare()", "make()");
    bench.file(
        "command.lua",
        format!("{command}sysbench.cmdline.commands = {{ prepare = {{ make }} }}\n"),
    );
    for module in ["function", "command"] {
        for (name, more) in [("one", ""), ("two", "-- the other\n")] {
            bench.file(
                &format!("{name}_{module}.lua"),
                format!("require(\"{module}\")\n{more}{}", event("shared")),
            );
        }
    }
    for name in ["a", "b"] {
        bench.file(&format!("{name}.lua"), format!("{}{}", make(name), event(name)));
    }
    for (name, workload) in [
        (
            "function",
            "scripts = [\"one_function.lua\", \"two_function.lua\"]\nmodules = [\"function.lua\"]",
        ),
        (
            "command",
            "scripts = [\"one_command.lua\", \"two_command.lua\"]\nmodules = [\"command.lua\"]",
        ),
        ("each", "scripts = [\"a.lua\", \"b.lua\"]"),
    ] {
        let ended = run(&bench, &spec("server = { kind = \"sqlite\" }", workload, ""), name);
        assert!(ended.is_done(), "{name}: {ended}");
        let records = records(&bench.path().join(name));
        assert!(records.iter().all(|record| record.counters.committed == 120), "{name}: {ended}");
    }
}

#[test]
fn script_errors_are_reported_before_the_run_with_location() {
    let bench = bench();
    bench.file("syntax.lua", "function event()\n  if\nend\n");
    bench.file("raises.lua", "\n\nerror('out of luck')\n");
    bench.file("idle.lua", "function prepare() end\n");
    bench.file("loop.lua", "function event() end\nfunction thread_run() end\n");
    let system = "server = { kind = \"sqlite\" }";
    for (workload, reported) in [
        ("script = \"none.lua\"", "cannot read the script `none.lua`"),
        ("script = \"syntax.lua\"", "syntax.lua:3:"),
        ("script = \"raises.lua\"", "raises.lua:3: out of luck"),
        ("script = \"idle.lua\"", "the script idle has no function `event`"),
        ("scripts = [\"look.lua\", \"loop.lua\"]", "the script loop defines its own event loop"),
        ("script = \"accounts.lua\"", "name its file: `modules = [\"keys.lua\"]`"),
        ("script = \"accounts.lua\"\nmodules = [\"keys.lua\"]\nrow = 7", "did you mean `rows`?"),
        (
            "script = \"accounts.lua\"\nmodules = [\"keys.lua\"]\nrows = true",
            "`workload.rows` must be a number",
        ),
        ("script = \"accounts.lua\"\nmodules = [\"keys.lua\"]\nthreads = 7", "no option `threads`"),
        ("rows = 7", "missing key `scripts`"),
        (
            "script = \"look.lua\"\nscripts = [\"look.lua\"]",
            "`script` and `scripts` cannot both be given",
        ),
    ] {
        let ended = run(&bench, &spec(system, workload, ""), "none");
        assert!(ended.code == 3 && ended.stderr.contains(reported), "{reported}: {ended}");
        assert!(ended.stderr.contains("--> lua.toml:"), "the place in the spec: {ended}");
    }
    let ended = run(&bench, &spec(system, "script = \"look.lua\"", ""), "none");
    assert!(
        ended.code == 4 && ended.stderr.contains("no script has a `prepare` function"),
        "{ended}"
    );
    bench.file("broken.lua", "function prepare() error('no room') end\nfunction event() end\n");
    let ended = run(&bench, &spec(system, "script = \"broken.lua\"", ""), "r");
    assert!(ended.to_string().contains("broken.lua:1: no room"), "{ended}");
}

//! Background workloads: their figures, their audits, and what the server counted of all.

use crate::program::{Bench, Ended, flaws, postgres_commits, questions_max, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::client_group::GroupRecord;
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use dyno_model::record::TrialRecord;
use dyno_model::warning::Warning;
use dyno_testkit::require_server;

/// The rest of a spec whose own workload stands behind it.
fn spec(system: &str, workload: &str, more: &str) -> String {
    format!(
        "title = \"Night\"\n[[system]]\nname = \"s\"\n{system}\n[load]\nclients = 2\nduration = \"700ms\"\nwarmup = \"200ms\"\n\
         [design]\nblocks = 1\n[workload]\n{workload}\n{more}"
    )
}

const REPORT: &str = "[[background]]\nname = \"report\"\n[background.workload]\nkind = \"sql\"\n[[background.workload.scripts]]\nname = \"totals\"\n\
                      sql = \"SELECT count(*), sum(k) FROM sbtest1;\"\n";

fn run(bench: &Bench, text: &str, results: &str) -> Ended {
    bench.file("night.toml", text);
    bench.dyno(&["run", "night.toml", "--out", results])
}

fn background(record: &TrialRecord) -> &GroupRecord {
    let [background] = record.background.as_slice() else { panic!("{:?}", record.background) };
    background
}

/// Times that a kind of statements was answered.
fn answered(record: &TrialRecord, kind: &str) -> u64 {
    let statements = record.counters.statements.iter().filter(|statement| statement.name == kind);
    statements.map(|statement| statement.ok).sum()
}

#[test]
fn a_background_workload_has_its_own_figures_and_client_factor() {
    let bench = Bench::new();
    let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 500";
    let more = format!(
        "{REPORT}[factors]\n\"background.report.clients\" = [0, 2]\n[[limit]]\np99 = \"< 60s\"\nfailed = \"< 50 %\"\nbackground = \"report\"\n"
    );
    let ended = run(&bench, &spec("server = { kind = \"sqlite\" }", mix, &more), "r");
    // With one block nothing is decided.
    assert!(ended.code == 9 || ended.is_done(), "{ended}");
    assert!(ended.stdout.contains("Background workloads"), "{ended}");
    let folder = bench.path().join("r");
    let (alone, with): (Vec<_>, Vec<_>) =
        records(&folder).into_iter().partition(|it| it.background.is_empty());
    assert_eq!((alone.len(), with.len()), (1, 1), "{ended}");
    let (own, report) = (&with[0], background(&with[0]));
    assert_eq!((report.name.as_str(), report.clients), ("report", 2));
    let counters = &report.record.counters;
    assert!(own.counters.committed > 0 && counters.committed > 0, "{ended}");
    assert_eq!(
        answered(&report.record, "totals"),
        counters.committed,
        "its statements are its own"
    );
    assert_eq!(answered(own, "totals"), 0);
    assert_eq!(report.record.window_length, own.window_length, "it lasts as long");
    assert!(
        report.record.facts.as_ref().is_some_and(|it| it.committed_total > counters.committed),
        "its warm-up is that of the trial"
    );
    assert!(flaws(own).is_empty(), "{:?}", flaws(own));
    bench.forget_the_machine("r");
    let sheet = bench.dyno(&["report", "r", "--format", "csv"]).stdout;
    let line = sheet
        .lines()
        .find(|line| line.starts_with("background,") && line.contains(",committed@report,"));
    assert!(
        line.is_some_and(|line| line.contains(&format!(",{},", counters.committed))),
        "{sheet}"
    );
    let summary = std::fs::read_to_string(folder.join("summary.json")).expect("it is written");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let all = summary["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .filter_map(|it| it["background"][0]["committed"].as_u64());
    assert_eq!(all.collect::<Vec<_>>(), [counters.committed]);
}

#[test]
fn think_time_at_window_edges_is_excluded_from_background_work() {
    // 50 clients that think a second on average: most are thinking when the window opens and when
    // it closes.
    let bench = Bench::new();
    let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 500";
    let more = REPORT.replacen('\n', "\nclients = 50\nthink = \"1s\"\n", 1);
    let ended = run(&bench, &spec("server = { kind = \"sqlite\" }", mix, &more), "r");
    let all = records(&bench.path().join("r"));
    let report = &background(all.first().unwrap_or_else(|| panic!("{ended}"))).record;
    let (work, committed) =
        (report.weighted_commits.expect("of a duration"), report.counters.committed);
    assert!(committed > 10 && (work - committed as f64).abs() <= 4.0, "{work} of {committed}");
}

#[test]
fn workloads_changing_the_same_table_are_refused_before_the_run() {
    let bench = Bench::new();
    let writing = REPORT
        .replace("SELECT count(*), sum(k) FROM sbtest1;", "DELETE FROM sbtest1 WHERE id = 1;");
    let text = spec("server = { kind = \"sqlite\" }", "kind = \"oltp_read_write\"", &writing);
    let refused = run(&bench, &text, "no");
    assert_eq!(refused.code, 4, "{refused}");
    for words in [
        "[[background]] \"report\" changes sbtest1",
        "the audit of [workload]",
        "make one of them read-only",
    ] {
        assert!(refused.stderr.contains(words), "{words}: {refused}");
    }
    assert!(!bench.path().join("no").exists());
    let reported = bench.dyno(&["plan", "night.toml"]);
    assert!(reported.code == 4 && reported.stdout.contains("[[background]]"), "{reported}");
}

#[test]
fn a_background_workload_that_cannot_go_on_ends_the_trial_and_says_so() {
    let bench = Bench::new();
    let wrong = REPORT.replace("sum(k)", "sum(colour)");
    let text = spec(
        "server = { kind = \"sqlite\" }",
        "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 100",
        &wrong,
    );
    // So long that it is cut short however busy the machine is.
    let text = text.replace("duration = \"700ms\"", "duration = \"60s\"");
    let ended = run(&bench, &text, "r");
    let records = records(&bench.path().join("r"));
    let reported = |record: &TrialRecord| {
        record.warnings.iter().any(|warning| matches!(warning, Warning::CutShort { reason: Reason::BackgroundStopped { name, reason } } if name == "report" && reason.to_string().contains("colour")))
    };
    assert!(
        records.len() == 1 && reported(&records[0]),
        "{ended}\n{:?}",
        records.first().map(|it| &it.warnings)
    );
}

/// Counters in a table of dyno's own, and payments in one of the user's: both commit, and each is
/// audited by what its own clients did.
const PAYING: &str = "[[background]]\nname = \"till\"\nclients = 2\n[background.workload]\nkind = \"sql\"\n[background.workload.audit]\n\
                      \"count(*) from payments\" = \"+1 per pay\"\n[[background.workload.setup]]\nname = \"schema\"\n\
                      sql = \"CREATE TABLE payments (id INTEGER, n INTEGER);\"\n[[background.workload.scripts]]\nname = \"pay\"\n\
                      sql = '''\nBEGIN;\nINSERT INTO payments VALUES (1, 1);\nCOMMIT;\n'''\n";

/// Runs both on a server that dyno starts.
fn both_on(kind: ServerKind) -> Option<(Bench, TrialRecord)> {
    require_server(kind)?;
    let bench = Bench::new();
    let text = spec(
        &format!("server = {{ kind = \"{kind}\" }}"),
        "kind = \"rush\"\nvariant = \"for-update\"\nrows = 10",
        PAYING,
    );
    let ended = run(&bench, &text, "r");
    assert!(ended.is_done(), "{kind}: {ended}");
    let record = records(&bench.path().join("r")).remove(0);
    let till = &background(&record).record;
    assert!(record.counters.committed > 0 && till.counters.committed > 0, "{kind}: {ended}");
    for audit in [&record.audit, &till.audit] {
        assert_eq!(audit.verdict(), AuditVerdict::Intact, "{kind}: {audit:?}");
    }
    assert!(flaws(&record).is_empty(), "{kind}: {:?}", flaws(&record));
    Some((bench, record))
}

/// COMMITs that a workload has sent in all, warm-up included.
fn commits(record: &TrialRecord) -> i64 {
    i64::try_from(record.facts.as_ref().expect("written").commits_sent_total).expect("few")
}

fn the_server_counts_the_commits_of_both(kind: ServerKind) {
    let Some((_bench, record)) = both_on(kind) else { return };
    let (own, till) = (commits(&record), commits(&background(&record).record));
    assert!(own > 0 && till > 0);
    assert_eq!(
        record.server_counters["Com_commit"],
        own + till,
        "{kind}: SHOW GLOBAL STATUS, before and after"
    );
    let differs = |warning: &&Warning| matches!(warning, Warning::CountersDiffer { .. });
    assert_eq!(record.warnings.iter().find(differs), None, "{kind}");
}

#[test]
fn the_server_counts_the_commits_of_both_on_mariadb() {
    the_server_counts_the_commits_of_both(ServerKind::Mariadb);
}

#[test]
fn the_server_counts_the_commits_of_both_on_mysql() {
    the_server_counts_the_commits_of_both(ServerKind::Mysql);
}

#[test]
fn postgresql_counts_the_transactions_of_both() {
    let Some((bench, record)) = both_on(ServerKind::Postgres) else { return };
    let till = &background(&record).record;
    let total = |record: &TrialRecord| {
        i64::try_from(record.facts.as_ref().expect("written").committed_total).expect("few")
    };
    let ours = total(&record) + total(till);
    let Some(theirs) = postgres_commits(&record) else { return };
    // dyno's own questions commit too: those of the monitor, and those of both observers.
    let questions = 4 * questions_max(&bench.path().join("r"), &record) + 200;
    assert!(
        (ours..=ours + questions).contains(&theirs),
        "pg_stat_database says {theirs}, not {ours}"
    );
    assert!(total(till) > questions / 100, "{ours} and {questions}");
}

/// Whatever a set-up reads is there: rows of the built-in tables, and what those make that stand
/// before it.
#[test]
fn the_data_of_all_are_made_one_after_another_and_once() {
    let bench = Bench::new();
    let counting = |table: &str, rows: u32| {
        format!(
            "CREATE TABLE seen (n INTEGER NOT NULL CHECK (n = {rows}));\nINSERT INTO seen SELECT count(*) FROM {table};\n"
        )
    };
    bench.file("of_mix.sql", counting("sbtest1", 100));
    bench.file("of_lua.sql", counting("made", 3));
    bench.file(
        "made.lua",
        "function prepare()\n  local c = sysbench.sql.driver():connect()\n  c:query(\"CREATE TABLE made (id INTEGER)\")\n\
         c:query(\"INSERT INTO made VALUES (1), (2), (3)\")\nend\n\
         function thread_init() c = sysbench.sql.driver():connect() end\nfunction event() c:query(\"SELECT count(*) FROM made\") end\n",
    );
    let sql = |setup: &str| {
        format!(
            "kind = \"sql\"\nsetup = [\"{setup}\"]\nscripts = [{{ name = \"look\", sql = \"SELECT count(*) FROM seen;\" }}]"
        )
    };
    let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 100";
    let lua = "kind = \"lua\"\nscript = \"made.lua\"";
    let of_mix = sql("of_mix.sql");
    for (name, own, other) in [
        ("rows", mix, of_mix.as_str()),
        ("prepared", lua, &sql("of_lua.sql")),
        ("same set-up", &of_mix.replace("of_mix", "of_none"), &of_mix.replace("of_mix", "of_none")),
        ("same prepare", lua, lua),
    ] {
        bench.file("of_none.sql", "CREATE TABLE seen (n INTEGER);\n");
        let more = format!(
            "[[background]]\nname = \"other\"\nclients = 2\n[background.workload]\n{other}\n"
        );
        let ended = run(&bench, &spec("server = { kind = \"sqlite\" }", own, &more), name);
        assert!(ended.is_done(), "{name}: {ended}");
        let record = records(&bench.path().join(name)).remove(0);
        assert!(
            record.counters.committed > 0 && background(&record).record.counters.committed > 0,
            "{name}: {ended}"
        );
    }
}

/// Both have a `prepare` in a module, which makes a table for each thread, and each has one of its
/// own, with an option that the other does not know.
#[test]
fn a_prepare_that_only_some_scripts_of_two_workloads_share_runs_once() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "tables.lua",
        "sysbench.cmdline.options = { rows = {\"rows\", 3} }\n\
         function ask(sql) sysbench.sql.driver():connect():query(sql) end\n\
         function prepare() for n = 1, sysbench.opt.threads do ask(\"CREATE TABLE shared\" .. n .. \" (id INTEGER)\") end end\n\
         function event() ask(\"SELECT count(*) FROM shared\" .. sysbench.tid + 1) end\n",
    );
    for name in ["one", "two"] {
        bench.file(&format!("{name}.lua"), format!("require(\"tables\") -- {name}\n"));
        bench.file(
            &format!("own_{name}.lua"),
            format!(
                "require(\"tables\")\nsysbench.cmdline.options.{name} = {{\"only here\", 1}}\n\
                 function prepare() ask(\"CREATE TABLE own_{name} (id INTEGER)\") end\n\
                 function event() ask(\"SELECT count(*) FROM own_{name}\") end\n"
            ),
        );
    }
    let scripts = |name: &str| {
        format!(
            "kind = \"lua\"\nscripts = [\"{name}.lua\", \"own_{name}.lua\"]\nmodules = [\"tables.lua\"]\n"
        )
    };
    let more = format!(
        "[[background]]\nname = \"other\"\nclients = 5\n[background.workload]\n{}",
        scripts("two")
    );
    let text = spec("server = { kind = \"postgres\" }", &scripts("one"), &more);
    let ended = run(&bench, &text, "r");
    assert!(ended.is_done(), "{ended}");
    let record = records(&bench.path().join("r")).remove(0);
    assert!(
        record.counters.committed > 0 && background(&record).record.counters.committed > 0,
        "{ended}"
    );
    // Another value of an option that `prepare` does not read changes nothing of what it makes.
    let other = text.replace("[background.workload]", "[background.workload]\nrows = 4");
    let ended = run(&bench, &other, "unread");
    assert!(ended.is_done(), "{ended}");
    // One that it reads, in whatever thread, makes it another, whose tables are in the way of the
    // first.
    let tables = std::fs::read_to_string(bench.path().join("tables.lua")).expect("it is ours");
    let parallel = "sysbench.cmdline.commands = { prepare = { function() local _ = sysbench.tid == 1 and sysbench.opt.rows \
                    if sysbench.tid == 0 then prepare() end end, sysbench.cmdline.PARALLEL_COMMAND } }\n";
    let all =
        "local all = 0 for _, value in pairs(sysbench.opt) do all = all + 1 end assert(all > 1)\n";
    for (name, reading) in [
        ("read", tables.replace("prepare()", "prepare() local rows = sysbench.opt.rows")),
        ("parallel", format!("{tables}{parallel}")),
        ("all", tables.replace("prepare()", &format!("prepare() {all}"))),
    ] {
        bench.file("tables.lua", reading);
        let ended = run(&bench, &other, name);
        for words in
            ["relation \"shared1\" already exists", "another value of rows, which it reads"]
        {
            assert!(ended.stderr.contains(words), "{name}: {words}: {ended}");
        }
    }
}

#[test]
fn scripts_of_lua_run_in_the_background_on_sqlite() {
    let bench = Bench::new();
    bench.file("look.lua", "function thread_init() c = sysbench.sql.driver():connect() end\nfunction event() c:query(\"SELECT count(*) FROM sbtest1\") end\n");
    let lua = "[[background]]\nname = \"look\"\nrate = \"40/s\"\nworkload = { kind = \"lua\", script = \"look.lua\" }\n";
    let text = spec(
        "server = { kind = \"sqlite\" }",
        "kind = \"oltp_point_select\"\ntables = 1\ntable_size = 100",
        lua,
    );
    let ended = run(&bench, &text, "r");
    assert!(ended.is_done(), "{ended}");
    let record = records(&bench.path().join("r")).remove(0);
    let look = &background(&record).record;
    assert!(look.open_loop.is_some_and(|it| it.arrived > 0), "{look:?}");
    assert_eq!(answered(look, "select"), look.counters.committed);
}

#[test]
fn read_only_groups_cannot_write_or_audit_tables_others_change() {
    let bench = Bench::new();
    let mix = "kind = \"oltp_read_only\"\ntables = 1\ntable_size = 100";
    let records_of = |results: &str| records(&bench.path().join(results));
    if require_server(ServerKind::Postgres).is_some() {
        // What a function does is known to the server alone.
        bench.file(
            "purge.sql",
            "CREATE FUNCTION purge() RETURNS integer LANGUAGE sql AS 'DELETE FROM sbtest1; SELECT 1';",
        );
        let sly = REPORT.replace("SELECT count(*), sum(k) FROM sbtest1;", "SELECT purge();");
        let sly = sly.replace("kind = \"sql\"\n", "kind = \"sql\"\nsetup = [\"purge.sql\"]\n");
        let ended = run(&bench, &spec("server = { kind = \"postgres\" }", mix, &sly), "sly");
        let [record] = &records_of("sly")[..] else { panic!("{ended}") };
        let refused = &background(record).record;
        assert_eq!(refused.counters.committed, 0, "the server refuses it: {ended}");
        assert!(format!("{refused:?}").contains("read-only"), "{refused:?}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
    }
    let writing = "[[background]]\nname = \"mix\"\nworkload = { kind = \"oltp_read_write\", tables = 1, table_size = 100 }\n";
    let system = "server = { kind = \"sqlite\", settings = { journal_mode = \"WAL\" } }";
    let ended = run(&bench, &spec(system, mix, writing), "mixed");
    assert_eq!(records_of("mixed").len(), 1, "{ended}");
    for record in records_of("mixed") {
        assert_eq!(record.audit.checks, [], "it changed nothing");
        assert_eq!(background(&record).record.audit.verdict(), AuditVerdict::Intact);
    }
}

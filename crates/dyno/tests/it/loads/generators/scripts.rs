//! Scripts in SQL and Lua as workloads of a spec, with generators.

use crate::program::{Bench, flaws, records};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::plan::ServerKind;
use dyno_testkit::require_server;

/// Makes its table, and counts in it whatever a thread is told about itself.
const TALLY: &str = r#"
sysbench.cmdline.options = { add = {"What each event adds", 1} }
local names = require("names")
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE threads (tid INTEGER, threads INTEGER, step VARCHAR(20), k INTEGER)")
  con:query("CREATE TABLE seen (n BIGINT PRIMARY KEY)")
end
function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE threads")
  con:query("DROP TABLE seen")
end
local function note(step, k)
  con:query(("INSERT INTO threads VALUES (%d, %d, '%s', %d)"):format(sysbench.tid, sysbench.opt.threads, step, k))
end
function init() init_con = sysbench.sql.driver():connect() init_con:query("INSERT INTO threads VALUES (-1, 0, 'init', 0)") end
function done() init_con:query("INSERT INTO threads VALUES (-1, 0, 'done', 0)") end
function thread_init(tid)
  assert(tid == sysbench.tid)
  con = sysbench.sql.driver():connect()
  note(names.begun, sysbench.rand.uniform(1, 1000000000))
end
function event()
  con:query("INSERT INTO seen VALUES (" .. sysbench.rand.unique() .. ")")
end
function thread_done() note(names.ended, sysbench.opt.add) end
"#;

fn spec(kind: &str, workload: &str, load: &str) -> String {
    format!(
        "title = \"Scripts\"\nsystem = [{{ name = \"S\", {kind} }}]\nload = {load}\n\
         design = {{ blocks = 1 }}\n{workload}"
    )
}

#[test]
fn divided_lua_scripts_are_audited_over_all_generators() {
    for kind in [ServerKind::Sqlite, ServerKind::Postgres, ServerKind::Mariadb] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        bench.file("tally.lua", TALLY);
        bench.file("names.lua", "return { begun = 'begun', ended = 'ended' }\n");
        let workload = "[workload]\nkind = \"lua\"\nscripts = [\"tally.lua\"]\n\
                        modules = [\"names.lua\"]\nadd = 3\n[workload.audit]\n\
                        \"count(*) from seen\" = \"+1 per tally\"\n\
                        \"count(distinct k) from threads where step = 'begun'\" = \"unchanged\"\n\
                        \"count(*) from threads where step = 'ended' and k = 3\" = \"unchanged\"\n\
                        \"sum(threads) from threads where step = 'begun'\" = \"unchanged\"\n\
                        \"sum(tid) from threads where step = 'begun'\" = \"unchanged\"\n\
                        \"count(*) from threads where step = 'init'\" = \"unchanged\"\n";
        let mut found = Vec::new();
        for generators in [1, 3] {
            let load = format!("{{ clients = 5, transactions = 301, generators = {generators} }}");
            bench.file(
                "lua.toml",
                spec(&format!("server = {{ kind = \"{kind}\" }}"), workload, &load),
            );
            let results = format!("r{generators}");
            let ended = bench.dyno(&["run", "lua.toml", "--out", &results]);
            let record = records(&bench.path().join(&results)).remove(0);
            assert_eq!(record.counters.committed, 301, "{ended}");
            let parts = record.generators.as_ref().map_or(0, |all| all.summaries.len());
            assert_eq!(parts, generators, "{ended}");
            let values = record.audit.checks.iter().map(|check| match check {
                AuditCheck::Value { expected_min, found, .. } => (*expected_min, *found),
                other => panic!("{other:?}: {ended}"),
            });
            found.push(values.collect::<Vec<_>>());
        }
        // The number of commits is known to the coordinator; threads are told about all of them,
        // draw different numbers, and `init` has run once.
        let expected = [(301, 301), (0, 5), (1, 1), (0, 5), (0, 25), (0, 10)].to_vec();
        assert_eq!(found, [expected.clone(), expected], "{kind}");
    }
}

#[test]
fn own_sql_is_audited_by_the_commits_of_all_generators() {
    let bench = Bench::new();
    let workload = "[workload]\nkind = \"sql\"\nsetup = [\"setup.sql\"]\n\
                    scripts = [\"add.sql@3\", \"look.sql\"]\n[workload.audit]\n\
                    \"sum(n) from sums\" = \"+2 per add\"\n";
    bench.file("setup.sql", "CREATE TABLE sums (n INTEGER);\nINSERT INTO sums VALUES (0);\n");
    bench.file("add.sql", "UPDATE sums SET n = n + 2;\n");
    bench.file("look.sql", "SELECT n FROM sums;\n");
    let load = "{ clients = 4, transactions = 200, generators = 3, attempts_max = 1000 }";
    bench.file("sql.toml", spec("server = { kind = \"sqlite\" }", workload, load));
    let ended = bench.dyno(&["run", "sql.toml", "--out", "r"]);
    let record = records(&bench.path().join("r")).remove(0);
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?} {ended}", record.audit);
    assert!(flaws(&record).is_empty(), "{:?}", flaws(&record));
    assert_eq!(record.counters.committed, 200);
}

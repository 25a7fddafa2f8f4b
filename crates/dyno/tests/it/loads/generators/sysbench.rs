//! `dyno sysbench` with generators.

use super::services::elsewhere;
use crate::program::{Bench, Ended, records};
use crate::shop::Shop;
use dyno_model::target::{Endpoint, Engine};
use std::collections::BTreeMap;
use std::path::PathBuf;

const DATABASE: [&str; 4] =
    ["oltp_point_select", "--db-driver=sqlite", "--sqlite-db=t.db", "--table-size=100"];

fn sysbench(bench: &Bench, arguments: &[&str]) -> Ended {
    bench.dyno(&[&["sysbench"], arguments].concat())
}

#[test]
fn bundled_scripts_are_divided_and_report_the_events_of_all_threads() {
    let bench = Bench::new();
    let ended = sysbench(&bench, &[&DATABASE[..], &["prepare"]].concat());
    assert_eq!(ended.code, 0, "{ended}");
    let rest = ["--threads=4", "--events=202", "--time=0", "--results=r", "--rand-seed=3"];
    for generators in [None, Some("--generators=3")] {
        let line = [&DATABASE[..], &rest[..], generators.as_slice(), &["run"]].concat();
        let ended = sysbench(&bench, &line);
        assert_eq!(ended.code, 0, "{ended}");
        let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(reported.contains("total number of events: 202"), "{ended}");
        let is_divided = generators.is_some();
        assert!(
            reported.contains("events (avg/stddev): 50.5000/"),
            "those of all threads: {ended}"
        );
        let folder = reported.rsplit_once("Results: ").expect("the last line names the folder").1;
        let record = records(&bench.path().join(PathBuf::from(folder.trim()))).remove(0);
        let parts = record.generators.map(|all| all.summaries).unwrap_or_default();
        let clients: Vec<u32> = parts.iter().map(|it| it.clients).collect();
        assert_eq!(clients, if is_divided { vec![2, 1, 1] } else { Vec::new() });
        assert_eq!(record.counters.committed, 202);
    }
}

/// Notes what each thread draws. What it needs is in other files.
const OWN: &str = r#"
sysbench.cmdline.options = { table = {"Where to write", "drawn"} }
local keys = require("keys")
dofile("more.lua")
function thread_init()
  con = sysbench.sql.driver():connect()
  number = 0
end
function event()
  number = number + 1
  con:query(("INSERT INTO %s VALUES (%d, %d, %d, %d, %d)"):format(sysbench.opt.table,
    sysbench.tid, sysbench.opt.threads, number, keys.any(), sysbench.rand.unique()))
  if number == 1 then log_it() end
end
function done() print("all done") end
"#;

#[test]
fn divided_scripts_draw_the_same_values_as_a_single_process() {
    for engine in [Engine::Sqlite, Engine::Postgres, Engine::Mysql] {
        let Some(shop) = Shop::open(engine) else { continue };
        let bench = &shop.bench;
        bench.file("own.lua", OWN);
        bench.file(
            "keys.lua",
            "return { any = function() return sysbench.rand.uniform(1, 1e9) end }\n",
        );
        bench.file("more.lua", "function log_it() io.write('') end\n");
        let mut draws: Vec<BTreeMap<String, String>> = Vec::new();
        for generators in [&[][..], &["--generators=1"], &["--generators=3", "--launcher=slurm"]] {
            shop.ask("CREATE TABLE drawn (tid INTEGER, threads INTEGER, number INTEGER, k BIGINT, u BIGINT)");
            let ours = database(&shop);
            let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
            let fixed = [
                "own.lua",
                "--threads=4",
                "--events=202",
                "--time=0",
                "--rand-seed=3",
                "--results=r",
            ];
            let ended = elsewhere(
                bench,
                &[&["sysbench"], &fixed[..], &ours, generators, &["run"]].concat(),
            );
            assert_eq!(ended.code, 0, "{ended}");
            let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            for line in ["total number of events: 202", "other: 0", "write: 202", "all done"] {
                assert!(reported.contains(line), "{line}: {ended}");
            }
            assert_eq!(reported.matches("Threads started!").count(), 1, "{ended}");
            let of_all =
                "SELECT COUNT(*), COUNT(DISTINCT u), MIN(threads), MAX(threads) FROM drawn";
            assert_eq!(shop.ask(of_all), "202 202 4 4", "{ended}");
            let rows = shop.ask("SELECT tid, number, k FROM drawn ORDER BY tid, number");
            let rows: Vec<&str> = rows.split(' ').collect();
            let row = |row: &[&str]| (format!("{} {}", row[0], row[1]), row[2].to_owned());
            draws.push(rows.chunks(3).map(row).collect());
            shop.ask("DROP TABLE drawn");
        }
        // How many events a thread gets depends on its speed.
        let [one, divided @ ..] = &draws[..] else { panic!("there are three") };
        for draws in divided {
            let both: Vec<_> =
                one.iter().filter(|(position, _)| draws.contains_key(*position)).collect();
            assert!(!both.is_empty(), "{one:?} {draws:?}");
            assert!(
                both.iter().all(|(position, key)| draws[*position] == **key),
                "{one:?} {draws:?}"
            );
        }
    }
}

/// The options with which a script finds the server.
fn database(shop: &Shop) -> Vec<String> {
    let Endpoint::Tcp { host, port } = &shop.target.endpoint else {
        let file = shop.bench.path().join("shop.db");
        return vec!["--db-driver=sqlite".to_owned(), format!("--sqlite-db={}", file.display())];
    };
    let driver = if shop.target.engine == Engine::Postgres { "pgsql" } else { "mysql" };
    let (user, database) = (&shop.target.user, &shop.target.database);
    [
        format!("--db-driver={driver}"),
        format!("--{driver}-host={host}"),
        format!("--{driver}-port={port}"),
        format!("--{driver}-user={user}"),
        format!("--{driver}-password={}", shop.password()),
        format!("--{driver}-db={database}"),
    ]
    .to_vec()
}

#[test]
fn errors_of_scripts_in_generators_are_shown_and_end_the_run() {
    let bench = Bench::new();
    let run = |script: &str| {
        bench.file("own.lua", script);
        let line = ["own.lua", "--threads=2", "--events=4", "--generators=2"];
        sysbench(&bench, &[&line[..], &DATABASE[1..3], &["run"]].concat())
    };
    let late = run("function event() if sysbench.tid == 1 then error('here') end end\n");
    assert_eq!(late.code, 1, "{late}");
    assert!(late.stdout.contains("FATAL: `thread_run' function failed: own.lua:1: here"), "{late}");
    let early = run(
        "function thread_init() if sysbench.tid == 1 then error('early') end end\nfunction event() end\n",
    );
    assert_eq!(early.code, 1, "{early}");
    for reported in ["`thread_init' function failed: own.lua:1: early", "FATAL: generator 1 ("] {
        assert!(early.stdout.contains(reported), "{reported}: {early}");
    }
}

#[test]
fn sysbench_options_incompatible_with_generators_are_refused() {
    let bench = Bench::new();
    for (line, reported) in [
        (
            &["oltp_read_only", "--generators=2", "run"][..],
            "--generators=2 is more than --threads=1",
        ),
        (
            &["oltp_read_only", "--generators=1", "--launcher=ssh", "run"],
            "--launcher=ssh: it is local, slurm or mpi",
        ),
        (
            &["oltp_read_only", "--generators=1", "--report-checkpoints=1", "run"],
            "--report-checkpoints cannot be used with --generators",
        ),
    ] {
        let ended = sysbench(&bench, line);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == 1 && all.contains(reported), "{reported}: {ended}");
    }
}

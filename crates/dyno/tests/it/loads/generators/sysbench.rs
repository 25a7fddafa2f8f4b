//! `dyno sysbench` with generators.

use crate::program::{Bench, Ended, records};
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
        let told = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("total number of events: 202"), "{ended}");
        let is_divided = generators.is_some();
        assert!(told.contains("events (avg/stddev): 50.5000/"), "those of all threads: {ended}");
        let folder = told.rsplit_once("Results: ").expect("the last line names the folder").1;
        let record = records(&bench.path().join(PathBuf::from(folder.trim()))).remove(0);
        let parts = record.generators.map(|all| all.parts).unwrap_or_default();
        let clients: Vec<u32> = parts.iter().map(|it| it.clients).collect();
        assert_eq!(clients, if is_divided { vec![2, 1, 1] } else { Vec::new() });
        assert_eq!(record.counters.committed, 202);
    }
}

#[test]
fn what_sysbench_cannot_divide_is_refused() {
    let bench = Bench::new();
    bench.file("own.lua", "function event() end\n");
    for (line, told) in [
        (&["own.lua", "--threads=2", "--generators=2", "run"][..], "a script in Lua counts its"),
        (&["oltp_read_only", "--generators=2", "run"], "--generators=2 is more than --threads=1"),
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
        assert!(ended.code == 1 && all.contains(told), "{told}: {ended}");
    }
}

//! What programs really printed, and what is read from it.

use super::reading::{Course, Reading, parts};
use super::{Hints, histogram_log, read, sysbench, table, transaction_log};
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::failure::FailureKind;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::path::Path;

const SYSBENCH: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Report intermediate results every 1 second(s)
Threads started!

[ 1s ] thds: 4 tps: 24115.28 qps: 24115.28 (r/w/o: 24115.28/0.00/0.00) lat (ms,95%): 0.24 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 41658.57 qps: 41658.57 (r/w/o: 41658.57/0.00/0.00) lat (ms,95%): 0.12 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            95303
    transactions:                        95303  (31721.90 per sec.)
    ignored errors:                      7      (0.00 per sec.)
    reconnects:                          2      (0.00 per sec.)

General statistics:
    total time:                          3.0040s
    total number of events:              95303

Latency (ms):
         min:                                    0.02
         avg:                                    0.13
         max:                                   27.37
         95th percentile:                        0.15
         sum:                                11970.15
";

const PGBENCH: &str = "\
pgbench (15.18 (Debian 15.18-0+deb12u1), server 15.4)
progress: 1.0 s, 24251.5 tps, lat 0.124 ms stddev 0.401, 0 failed
progress: 2.0 s, 24050.6 tps, lat 0.132 ms stddev 0.522, 0 failed
transaction type: <builtin: select only>
number of clients: 4
duration: 3 s
number of transactions actually processed: 67672
number of failed transactions: 5 (0.007%)
latency average = 0.140 ms
latency stddev = 0.490 ms
initial connection time = 0.951 ms
tps = 22562.184203 (without initial connection time)
";

/// What is read of files with these contents.
fn of_files(name: &str, texts: &[&str]) -> Vec<Reading> {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> =
        (0..texts.len()).map(|number| folder.path().join(format!("{number}{name}"))).collect();
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(path, text).expect("it has room");
    }
    let files: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let readings = read(&files, &Hints::default()).expect("it is read");
    for reading in &readings {
        assert_eq!(reading.ledger.check(), Vec::<String>::new());
    }
    readings
}

fn of_file(text: &str) -> Reading {
    let mut readings = of_files(".log", &[text]);
    assert_eq!(readings.len(), 1);
    readings.remove(0)
}

fn rates(reading: &Reading) -> Vec<(f64, u64)> {
    match &reading.course {
        Course::Rates(lines) => lines.iter().map(|line| (line.start_s, line.committed)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_of_sysbench_is_read_and_what_it_does_not_say_stays_unknown() {
    let reading = of_file(SYSBENCH);
    assert_eq!((reading.clients, reading.program.as_str()), (Some(4), "sysbench 1.0.20"));
    assert_eq!(reading.measured, Nanos(3_004_000_000));
    let ledger = &reading.ledger;
    assert_eq!((ledger.committed, ledger.retries, ledger.reconnects), (95_303, 7, 2));
    let latency = reading.latency;
    assert_eq!((latency.min, latency.mean, latency.max), (20_000, 130_000.0, 27_370_000));
    assert_eq!((latency.p95, latency.p50, latency.p99), (150_000, 0, 0), "only one percentile is there");
    assert_eq!(rates(&reading), [(0.0, 24_115), (1.0, 41_659)]);
}

#[test]
fn version_1_1_of_sysbench_and_runs_one_after_another_are_read() {
    let newer =
        SYSBENCH.replace("total time:", "time elapsed:").replace("sysbench 1.0.20 (", "sysbench 1.1.0 (");
    let both = format!("{newer}{}", SYSBENCH.replace("threads: 4", "threads: 8"));
    let readings = of_files("", &[&both]);
    let clients: Vec<_> = readings.iter().map(|reading| (reading.clients, reading.measured)).collect();
    assert_eq!(clients, [(Some(4), Nanos(3_004_000_000)), (Some(8), Nanos(3_004_000_000))]);
    let cut = SYSBENCH.split("General").next().unwrap_or_default();
    assert_eq!(
        sysbench::read(cut).map(|_| ()),
        Err("a run of sysbench without `total time:`; was it cut off?".to_owned())
    );
}

#[test]
fn a_run_of_pgbench_is_read_with_its_failures() {
    let reading = of_file(PGBENCH);
    assert_eq!(
        (reading.clients, reading.program.as_str(), reading.server_version.as_str()),
        (Some(4), "pgbench 15.18", "15.4")
    );
    let ledger = &reading.ledger;
    assert_eq!((ledger.committed, ledger.failed, ledger.started), (67_672, 5, 67_677));
    assert_eq!(ledger.failed_by_kind[&FailureKind::Other], 5);
    let rate = ledger.committed as f64 / reading.measured.as_secs_f64();
    assert!((rate - 22_562.184_203).abs() < 1e-3, "{rate}");
    assert_eq!((reading.latency.mean, reading.latency.p95), (140_000.0, 0));
    assert_eq!(rates(&reading), [(0.0, 24_252), (1.0, 24_051)]);
}

#[test]
fn logs_of_pgbenchs_threads_are_one_run_with_all_response_times() {
    let logs =
        ["0 1 1000 0 100 500000\n0 2 3000 0 101 200000\n", "1 1 2000 0 100 900000\n1 2 failed 0 101 1\n"];
    assert!(transaction_log::is_one(logs[0]) && !transaction_log::is_one("a line of prose, as it happens\n"));
    let reading = of_files("", &logs).remove(0);
    assert_eq!(reading.clients, Some(2));
    assert_eq!(reading.started_at, "1970-01-01T00:01:40.499Z");
    // From the first transaction's beginning to the last one's end.
    assert_eq!(reading.measured, Nanos(701_000_000));
    assert_eq!((reading.ledger.committed, reading.ledger.failed), (3, 1));
    assert!(reading.latency.p50.abs_diff(2_000_000) < 2_000, "{:?}", reading.latency);
    let Course::Times(intervals) = reading.course else { panic!("all times are known") };
    let committed: Vec<u64> = intervals.iter().map(|interval| interval.transaction.len()).collect();
    assert_eq!(committed, [3]);
    let broken = transaction_log::read(&["0 1 1000 0 100 500000\n0 2 30".to_owned()]).map(|_| ());
    assert_eq!(broken, Err("line 2: not a transaction of pgbench: `0 2 30`".to_owned()));
}

#[test]
fn columns_of_a_table_may_be_called_otherwise_and_bad_cells_are_named() {
    let names = BTreeMap::from(
        [("throughput", "tps"), ("clients", "threads")].map(|(a, b)| (a.to_owned(), b.to_owned())),
    );
    let text = "system,threads,tps,seconds,p95_ms\nA,8,1200.5,60,3.5\nA,16,1300,60,\n";
    let readings = table::read(text, &names).expect("it is read");
    let found: Vec<_> = readings.iter().map(|it| (it.clients, it.rate, it.latency.p95)).collect();
    assert_eq!(found, [(Some(8), Some(1200.5), 3_500_000), (Some(16), Some(1300.0), 0)]);
    assert_eq!(readings[0].ledger.committed, 72_030);
    let refused = |text: &str, names| table::read(text, names).map(|_| ()).unwrap_err();
    assert_eq!(refused("threads,tps\n8,fast\n", &names), "line 2: `fast` in `throughput` is not a number");
    assert_eq!(refused("a,b\n", &names), "no column is called `threads`; there are a, b");
    assert!(refused("clients,seconds\n8,60\n", &BTreeMap::new()).contains("--column throughput=NAME"));
}

#[test]
fn a_histogram_log_is_read_in_its_unit_and_without_what_is_tagged() {
    // Two intervals as dyno writes them, one of them of something else.
    let folder = tempfile::tempdir().expect("a folder");
    let mut interval = dyno_model::record::Interval::empty("t", false, Nanos(0), Nanos(1_000_000_000), &[]);
    for value in [1_000, 2_000, 3_000] {
        dyno_model::latency::record(&mut interval.transaction, value);
    }
    let mut times = CompactHistogram::default();
    times.add_histogram(&interval.transaction);
    interval.statements = vec![("select".to_owned(), times)];
    let plan = dyno_model::single::SingleTrial {
        name: "x".to_owned(),
        title: String::new(),
        description: String::new(),
        seed: 1,
        system: "S".to_owned(),
        target: dyno_model::single::SingleTrial::no_server(),
        clients: 1,
        options: Default::default(),
        load: dyno_model::plan::LoadPlan::new(dyno_model::plan::StopRule::Transactions(3)),
    };
    let out = folder.path().join("r");
    let mut writer =
        dyno_store::RunWriter::create_at(&out, &plan.plan(), "", &Default::default()).expect("it is made");
    dyno_model::event::Listener::interval(&mut writer, &interval);
    writer.finish().expect("it is written");
    let log = out.join("trials/t/latency.hlog");
    let text = std::fs::read_to_string(&log).expect("it is there");
    assert!(histogram_log::is_one(&text));
    let reading = histogram_log::read(&text, Nanos(1_000)).expect("it is read");
    assert_eq!((reading.ledger.committed, reading.measured), (3, Nanos(1_000_000_000)));
    assert!(reading.latency.p50.abs_diff(2_000_000) < 2_000, "{:?}", reading.latency);
    let hints = Hints { unit: Nanos(1), ..Hints::default() };
    let refused = read(&[&log], &hints).unwrap_err().render(false, dyno_report::EN);
    assert!(refused.contains("with how many clients") && refused.contains("--clients N"), "{refused}");
}

#[test]
fn a_file_of_no_known_format_is_named_with_what_could_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("poem.txt");
    std::fs::write(&path, "Shall I compare thee\n").expect("it has room");
    let refused = read(&[&path], &Hints::default()).unwrap_err().render(false, dyno_report::EN);
    assert!(
        refused.contains("poem.txt: in no format that is known") && refused.contains("sysbench"),
        "{refused}"
    );
    assert!(read(&[Path::new("/nowhere/at-all")], &Hints::default()).is_err());
}

#[test]
fn a_text_is_cut_where_its_runs_begin() {
    assert_eq!(parts("before\nX 1\nmore X\nX 2\n", "X"), ["before\nX 1\nmore X\n", "X 2\n"]);
    assert_eq!(parts("nothing", "X"), Vec::<&str>::new());
}

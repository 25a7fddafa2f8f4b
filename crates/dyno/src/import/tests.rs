//! Tests that parse real output of other programs.

use super::reading::{Reading, TimeSeries};
use super::{Hints, histogram_log, read, sample, table, transaction_log};
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::failure::FailureKind;
use dyno_model::reason::Reason;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
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

/// The readings of files with these contents.
fn of_files(name: &str, texts: &[&str]) -> Vec<Reading> {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> =
        (0..texts.len()).map(|number| folder.path().join(format!("{number}{name}"))).collect();
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(path, text).expect("it has room");
    }
    let files: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let readings =
        read(&files, &Hints { clients: Some(4), ..Hints::default() }).expect("it is read");
    for reading in &readings {
        assert_eq!(reading.counters.check(), Vec::<String>::new());
    }
    readings
}

/// The error for a file with this content, as one line.
fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, text).expect("it has room");
    let failure = read(&[&path], &Hints::default()).expect_err("it is refused");
    assert_eq!(failure.code, 2, "{text}");
    failure.render(false, dyno_report::EN).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_file(text: &str) -> Reading {
    let mut readings = of_files(".log", &[text]);
    assert_eq!(readings.len(), 1);
    readings.remove(0)
}

fn rates(reading: &Reading) -> Vec<(f64, u64)> {
    match &reading.time_series {
        TimeSeries::Rates(lines) => {
            lines.iter().map(|line| (line.start_s, line.committed)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_of_sysbench_is_read_and_what_it_does_not_say_stays_unknown() {
    let reading = of_file(SYSBENCH);
    assert_eq!((reading.clients, reading.program.as_str()), (Some(4), "sysbench 1.0.20"));
    assert_eq!(reading.window_length, Nanos(3_004_000_000));
    let counters = &reading.counters;
    assert_eq!((counters.committed, counters.retries, counters.reconnects), (95_303, 7, 2));
    let latency = reading.latency;
    assert_eq!((latency.min, latency.mean, latency.max), (20_000, 130_000.0, 27_370_000));
    assert_eq!(
        (latency.p95, latency.p50, latency.p99),
        (150_000, 0, 0),
        "only one percentile is there"
    );
    assert_eq!(rates(&reading), [(0.0, 24_115), (1.0, 41_659)]);
}

#[test]
fn version_1_1_of_sysbench_and_runs_one_after_another_are_read() {
    let newer = SYSBENCH
        .replace("total time:", "time elapsed:")
        .replace("sysbench 1.0.20 (", "sysbench 1.1.0 (");
    let both = format!("{newer}{}", SYSBENCH.replace("threads: 4", "threads: 8"));
    let readings = of_files("", &[&both]);
    let clients: Vec<_> =
        readings.iter().map(|reading| (reading.clients, reading.window_length)).collect();
    assert_eq!(clients, [(Some(4), Nanos(3_004_000_000)), (Some(8), Nanos(3_004_000_000))]);
    let cut = SYSBENCH.split("General").next().unwrap_or_default();
    assert!(
        refused(cut).contains("line 3: a run of sysbench without `total time:`; was it cut off?"),
        "{cut}"
    );
}

#[test]
fn a_run_of_pgbench_is_read_with_its_failures() {
    let reading = of_file(PGBENCH);
    assert_eq!(
        (reading.clients, reading.program.as_str(), reading.server_version.as_str()),
        (Some(4), "pgbench 15.18", "15.4")
    );
    let counters = &reading.counters;
    assert_eq!((counters.committed, counters.failed, counters.started), (67_672, 5, 67_677));
    assert_eq!(counters.failed_by_kind[&FailureKind::Other], 5);
    let rate = counters.committed as f64 / reading.window_length.as_secs_f64();
    assert!((rate - 22_562.184_203).abs() < 1e-3, "{rate}");
    assert_eq!((reading.latency.mean, reading.latency.p95), (140_000.0, 0));
    assert_eq!(rates(&reading), [(0.0, 24_252), (1.0, 24_051)]);
}

#[test]
fn logs_of_pgbenchs_threads_are_one_run_with_all_response_times() {
    let logs = [
        "0 1 1000 0 1700000100 500000\n0 2 3000 0 1700000101 200000\n",
        "1 1 2000 0 1700000100 900000\n1 2 failed 0 1700000101 1\n",
    ];
    assert!(
        transaction_log::is_format(logs[0])
            && !transaction_log::is_format("a line of prose, as it happens\n")
    );
    let reading = of_files("", &logs).remove(0);
    assert_eq!(reading.clients, Some(2));
    assert_eq!(reading.started_at, "2023-11-14T22:15:00.499Z");
    // From the start of the first transaction to the end of the last one.
    assert_eq!(reading.window_length, Nanos(701_000_000));
    assert_eq!((reading.counters.committed, reading.counters.failed), (3, 1));
    assert!(reading.latency.p50.abs_diff(2_000_000) < 2_000, "{:?}", reading.latency);
    assert_eq!(
        (reading.latency.min, reading.latency.mean, reading.latency.max),
        (1_000_000, 2_000_000.0, 3_000_000)
    );
    let TimeSeries::Samples(samples) = reading.time_series else { panic!("all times are known") };
    let committed: Vec<u64> =
        sample::intervals(&samples).map(|it| it.response_times.len()).collect();
    assert_eq!(committed, [3]);
    let broken =
        transaction_log::read(&["0 1 1000 0 1700000100 500000\n0 2 30".to_owned()]).map(|_| ());
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
    assert_eq!(readings[0].counters.committed, 72_030);
    let refused = |text: &str, names| table::read(text, names).map(|_| ()).unwrap_err();
    assert!(
        refused("threads,tps\n8,fast\n", &names)
            .starts_with("line 2: `fast` in `throughput` is not a valid number")
    );
    assert_eq!(refused("a,b\n", &names), "no column is called `threads`; columns: a, b");
    assert!(
        refused("clients,seconds\n8,60\n", &BTreeMap::new()).contains("--column throughput=NAME")
    );
}

#[test]
fn a_histogram_log_is_read_in_its_unit_and_without_what_is_tagged() {
    // Two intervals in dyno's format, and a tagged one.
    let folder = tempfile::tempdir().expect("a folder");
    let mut interval =
        dyno_model::record::IntervalRecord::empty("t", Nanos(0), Nanos(1_000_000_000), &[]);
    for value in [1_000, 2_000, 3_000] {
        dyno_model::latency::record(&mut interval.response_times, value);
    }
    let mut times = CompactHistogram::default();
    times.add_histogram(&interval.response_times);
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
    let mut writer = dyno_store::RunWriter::create_at(&out, &plan.plan(), "", &Default::default())
        .expect("it is made");
    dyno_model::event::Listener::interval(&mut writer, &interval);
    writer.finish().expect("it is written");
    let log = out.join("trials/t/latency.hlog");
    let text = std::fs::read_to_string(&log).expect("it is there");
    assert!(histogram_log::is_format(&text));
    let reading = histogram_log::read(&text, Nanos(1_000)).expect("it is read");
    assert_eq!((reading.counters.committed, reading.window_length), (3, Nanos(1_000_000_000)));
    assert!(reading.latency.p50.abs_diff(2_000_000) < 2_000, "{:?}", reading.latency);
    let hints = Hints { unit: Nanos(1), ..Hints::default() };
    let refused = read(&[&log], &hints).unwrap_err().render(false, dyno_report::EN);
    assert!(
        refused.contains("the number of clients is missing") && refused.contains("--clients N"),
        "{refused}"
    );
}

#[test]
fn a_file_of_no_known_format_is_named_with_what_could_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("poem.txt");
    std::fs::write(&path, "Shall I compare thee\n").expect("it has room");
    let refused = read(&[&path], &Hints::default()).unwrap_err().render(false, dyno_report::EN);
    assert!(
        refused.contains("poem.txt: unknown format") && refused.contains("sysbench"),
        "{refused}"
    );
    assert!(read(&[Path::new("/nowhere/at-all")], &Hints::default()).is_err());
}

/// Lines of a pgbench result with the given rate.
fn pgbench(rate: &str) -> String {
    PGBENCH.replace("22562.184203", rate)
}

#[test]
fn numbers_that_are_none_are_refused_in_every_format() {
    let log = |row: &str| format!("0 1 1000 0 1700000100 500000\n{row}\n");
    let mut cases = Vec::new();
    for value in ["nan", "-nan", "inf", "-inf", "-1.5"] {
        cases.extend([
            SYSBENCH.replace("0.13\n", &format!("{value}\n")),
            SYSBENCH.replace("3.0040s", value),
            SYSBENCH.replace("95303  (", &format!("{value}  (")),
            SYSBENCH.replace("(31721.90", &format!("({value}")),
            SYSBENCH.replace("                        0.15", value),
            SYSBENCH.replace("24115.28 qps", &format!("{value} qps")),
            pgbench(value),
            PGBENCH.replace("0.140 ms", &format!("{value} ms")),
            PGBENCH.replace("67672", value),
            PGBENCH.replace("24251.5 tps", &format!("{value} tps")),
            format!("clients,seconds,throughput\n4,60,{value}\n"),
            format!("clients,seconds,throughput,mean_ms\n4,{value},100,3\n"),
            log(&format!("0 2 {value} 0 1700000101 200000")),
            log(&format!("0 2 1000 0 {value} 200000")),
            format!("1700000100 10 1000 200000 50 300\n1700000101 {value} 1000 200000 50 300\n"),
            format!("#[Histogram log format version 1.3]\n{value},1.0,0.1,HISTFAAAAB142pNpmSzMwMDAxAABzFCaEUrz2X+AsQA/awKK\n"),
            format!("#[Histogram log format version 1.3]\n0.0,{value},0.1,HISTFAAAAB142pNpmSzMwMDAxAABzFCaEUrz2X+AsQA/awKK\n"),
        ]);
    }
    for text in &cases {
        let refused = refused(text);
        assert!(refused.contains("line "), "{refused}\n{text}");
    }
}

#[test]
fn figures_that_contradict_each_other_are_of_several_runs_and_refused() {
    let block = SYSBENCH.split("SQL statistics:").nth(1).unwrap_or_default();
    for (text, said) in [
        (
            format!("{SYSBENCH}SQL statistics:{block}"),
            "line 27: `SQL statistics:` occurs again, after line 10",
        ),
        (
            SYSBENCH.replace("threads: 4", "threads: 2"),
            "keep 4.0 clients busy, but the file says 2",
        ),
        (
            SYSBENCH.replace("3.0040s", "6.0040s"),
            "are 15873.25 per second, but the file says 31721.9",
        ),
        (SYSBENCH.replace("27.37", "0.05"), "contradict each other"),
        (
            PGBENCH.replace("latency stddev", "latency average = 0.2 ms\nlatency stddev"),
            "line 10: `latency average =` occurs again",
        ),
        (
            "0 1 1000 0 1700000100 500000\n0 2 1000 0 1900000100 500000\n".to_owned(),
            "2314 days between its first and its last",
        ),
        (
            "clients,seconds,throughput,p95_ms,p99_ms\n4,60,9,8,7\n".to_owned(),
            "line 2: `7` in `p99_ms` is less than a smaller percentile",
        ),
        (
            "clients,seconds,throughput\n4,60,\n".to_owned(),
            "line 2: neither `committed` nor `throughput` has a value",
        ),
        (
            "clients,seconds,throughput\n4.5,60,1\n".to_owned(),
            "line 2: `4.5` in `clients` is not an integer",
        ),
        (
            "clients,seconds,throughput,seconds\n4,60,1,60\n".to_owned(),
            "two columns are called `seconds`",
        ),
        (
            format!("FATAL: cannot connect\n{}", SYSBENCH.split("SQL").next().unwrap_or_default()),
            "it said: FATAL: cannot connect",
        ),
    ] {
        let refused = refused(&text);
        assert!(refused.contains(said), "{said}: {refused}");
    }
}

#[test]
fn values_missing_from_a_file_are_unknown_and_not_zero() {
    let old = "transaction type: Custom query\nnumber of clients: 16\nnumber of transactions actually processed: 15660\n\
               latency average: 30.651 ms\ntps = 521.868802 (including connections establishing)\n";
    let reading = of_file(old);
    assert_eq!(
        (reading.latency.mean, reading.counters.known_failed(), reading.counters.known_retries()),
        (30_651_000.0, None, None)
    );
    // Later versions print the rate without connecting.
    let both = format!("{old}tps = 530.5 (excluding connections establishing)\n");
    assert!((of_file(&both).window_length.as_secs_f64() - 15_660.0 / 530.5).abs() < 1e-6);
    let sysbench =
        SYSBENCH.replace("    ignored errors:                      7      (0.00 per sec.)\n", "");
    assert_eq!(
        (of_file(&sysbench).counters.known_failed(), of_file(&sysbench).counters.known_retries()),
        (None, None)
    );
    // An additional column may be a delay or retries; the second of two is retries.
    let row = "0 1 2364 0 1795701182 621145";
    for (more, retries) in [("", Some(0)), (" 69", None), (" 69 3", Some(3))] {
        assert_eq!(of_file(&format!("{row}{more}\n")).counters.known_retries(), retries, "{more}");
    }
    let rows = "1777879493 8610 75754786 934526774720 2759 190722\n1777879503 9812 80000484 707690716928 2985 56061\n";
    let reading = of_file(rows);
    assert_eq!((reading.counters.committed, reading.window_length), (9_812, Nanos(10_000_000_000)));
    assert_eq!(
        (reading.counters.known_failed(), reading.latency.max, reading.latency.p95),
        (None, 56_061_000, 0)
    );
    let table = of_file("clients;seconds;throughput\n8;60;100\n");
    assert_eq!(
        (table.clients, table.counters.known_failed(), table.latency.mean),
        (Some(8), None, 0.0)
    );
}

#[test]
fn events_are_counted_where_an_old_sysbench_counts_no_transactions() {
    let old = "sysbench 0.5:  multi-threaded system evaluation benchmark\nRunning the test with following options:\nNumber of threads: 128\n\
               [  10s] threads: 128, tps: 0.00, reads/s: 12196.00\n    transactions:                        0      (0.00 per sec.)\n    \
               total time:                          51.0038s\n    total number of events:              622041\n         avg:                 \
               10.49ms\n         approx.  95 percentile:              17.45ms\n";
    let reading = of_file(old);
    assert_eq!(
        (reading.program.as_str(), reading.clients, reading.counters.committed),
        ("sysbench 0.5", Some(128), 622_041)
    );
    assert_eq!(
        (reading.latency.mean, reading.latency.p95, reading.latency.max),
        (10_490_000.0, 17_450_000, 0)
    );
    assert_eq!(reading.warnings, [Warning::EventsCounted { transactions: 0, events: 622_041 }]);
}

#[test]
fn quoted_container_and_ci_logs_are_read_like_plain_output() {
    let before = |prefix: &str, text: &str| {
        text.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>()
    };
    let stamp = "2026-11-26T16:00:00.1234567Z ";
    for prefix in [
        "> ",
        "    ",
        stamp,
        "bench-1  | ",
        "2026-11-26T16:00:00.123456Z 00O ",
        "load\tsysbench\t2026-11-26T16:00:00.1234567Z ",
    ] {
        for text in [SYSBENCH, PGBENCH] {
            let (reading, plain) = (of_file(&before(prefix, text)), of_file(text));
            let figures = |it: &Reading| {
                (it.clients, it.window_length, it.counters.clone(), it.program.clone(), rates(it))
            };
            assert_eq!(figures(&reading), figures(&plain), "{prefix:?}");
        }
    }
    // Two services that write at the same time.
    let lines = SYSBENCH.lines().zip(PGBENCH.lines().chain(std::iter::repeat("")));
    let mixed: String = lines.map(|(a, b)| format!("a-1  | {a}\nb-1  | {b}\n")).collect();
    let readings = of_files("", &[&mixed]);
    let programs: Vec<_> = readings.iter().map(|it| it.program.as_str()).collect();
    assert_eq!(programs, ["sysbench 1.0.20", "pgbench 15.18"]);
    let utf16: Vec<u8> =
        format!("\u{feff}{PGBENCH}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("windows.txt");
    std::fs::write(&path, utf16).expect("it has room");
    assert_eq!(
        read(&[&path], &Hints::default()).expect("it is read")[0].counters.committed,
        67_672
    );
}

/// Lines of pgbench's log of intervals with these start times: 10 transactions each, of 100
/// microseconds.
fn interval_log(starts: &[u64]) -> String {
    starts.iter().map(|start| format!("{start} 10 1000 100000 100 100\n")).collect()
}

#[test]
fn logs_of_another_kind_and_parts_of_logs_are_refused() {
    let unknown = "unknown format";
    let sample = "this is a sample (--sampling-rate)";
    let mixed = "logs of several runs are mixed";
    for (text, said) in [
        // Seconds that are not a Unix timestamp, and microseconds beyond a second.
        ("0 1 1000 0 1700 500000\n".to_owned(), unknown),
        ("0 1 1000 0 1700000100 5000000\n".to_owned(), unknown),
        (interval_log(&[1_700, 1_701]), unknown),
        // The minimum is above the maximum.
        ("1700000100 10 1000 100000 200 100\n".to_owned(), unknown),
        // A transaction is missing after the first one; transactions are missing before the first
        // one.
        ("0 1 1000 0 1700000100 500000\n0 3 1000 0 1700000101 500000\n".to_owned(), sample),
        ("0 5 1000 0 1700000100 500000\n0 6 1000 0 1700000101 500000\n".to_owned(), sample),
        (
            "0 1 1000 0 1700000100 500000\n0 2 1000 0 1900000100 500000\n".to_owned(),
            "2314 days between its first and its last transaction are too long for one run",
        ),
        (interval_log(&[1_700_000_110, 1_700_000_100]), mixed),
        (
            format!(
                "{}1700000110 10 1000 100000 100 100 0 0 0 0 0\n",
                interval_log(&[1_700_000_100])
            ),
            mixed,
        ),
        (interval_log(&[1_700_000_100, 1_700_000_110, 1_700_000_125]), "differ in length"),
    ] {
        let refused = refused(&text);
        assert!(refused.contains(said), "{text}: {refused}");
    }
    // With eleven columns, skipped transactions are included in the count.
    let row = |start| format!("{start} 10 600 60000 100 100 0 0 0 0 4\n");
    let counters = of_file(&[row(1_700_000_100), row(1_700_000_110)].concat()).counters;
    assert_eq!((counters.committed, counters.skipped), (6, 4));
    // Times above an hour are recorded as an hour.
    let long = of_file("0 1 5000000000 0 1700000100 500000\n");
    assert_eq!(
        (long.latency.max, long.window_length),
        (3_600_000_000_000, Nanos(3_600_000_000_000))
    );
}

#[test]
fn invalid_table_cells_and_runs_without_duration_are_refused() {
    for (text, said) in [
        ("clients,seconds,throughput\n4,60,10000000000000\n", "not a valid number"),
        ("clients,seconds,throughput\n5000000000,60,1\n", "`5000000000` in `clients` is too large"),
        ("clients,seconds,throughput\n", "the table has no line below its heading"),
        (&SYSBENCH.replace("3.0040s", "0.0000s"), "the duration of the run is missing or 0"),
    ] {
        let refused = refused(text);
        assert!(refused.contains(said), "{text}: {refused}");
    }
}

#[test]
fn arrivals_at_a_rate_keep_more_clients_busy_than_there_are() {
    let two =
        [SYSBENCH.replace("threads: 4", "threads: 2"), PGBENCH.replace("clients: 4", "clients: 1")];
    for (text, rate) in two.iter().zip([
        "Target transaction rate: 32000/sec\nThreads started!",
        "rate limit schedule lag: avg 0.142 (max 0.500) ms\ntps",
    ]) {
        assert!(refused(text).contains("clients busy, but the file says"), "{text}");
        let word = rate.lines().last().expect("a word");
        assert!(
            of_file(&text.replace(&format!("\n{word}"), &format!("\n{rate}")))
                .rate
                .is_none_or(|it| it > 1.0)
        );
    }
}

#[test]
fn a_run_of_pgbench_that_did_not_do_all_of_it_is_cut_short() {
    let warnings = |done: &str| of_file(&PGBENCH.replace("67672", done)).warnings;
    let reason = Reason::TransactionsMissing { done: 67_677, planned: 70_000 };
    assert_eq!(warnings("67672/70000"), [Warning::CutShort { reason }]);
    // Failed and skipped transactions were processed, too.
    assert_eq!(warnings("67672/67677"), []);
    assert_eq!(warnings("67672/67687\nnumber of transactions skipped: 10 (0.01%)"), []);
    let nothing = PGBENCH.replace("67672", "0").replace("22562.184203", "0.000000");
    assert_eq!(
        of_file(&nothing).window_length,
        Nanos(3_000_000_000),
        "of nothing there is no rate"
    );
}

#[test]
fn messages_after_a_run_belong_to_the_next_or_the_last_run() {
    let warned = |text: &str| Warning::ProgramWarned { text: text.to_owned(), lines: 1 };
    let readings = of_files("", &[&format!("{SYSBENCH}FATAL: a\n{SYSBENCH}FATAL: b\n")]);
    assert_eq!(readings[0].warnings, []);
    assert_eq!(
        readings[1].warnings,
        [Warning::ProgramWarned { text: "FATAL: a".to_owned(), lines: 2 }]
    );
    assert_eq!(
        of_file(&format!("{PGBENCH}pgbench: error: c\n")).warnings,
        [warned("pgbench: error: c")]
    );
}

#[test]
fn output_of_dyno_pgbench_and_sysbench_is_recognised_as_such() {
    let heading = |text: &str, heading: &str| {
        let (_, rest) = text.split_once('\n').expect("several lines");
        of_file(&format!("{heading}\n{rest}"))
    };
    let pgbench = heading(PGBENCH, "pgbench (15, dyno 0.1.0)");
    let reported = (pgbench.program.as_str(), pgbench.server_version.as_str());
    assert_eq!(reported, ("dyno pgbench 0.1.0", ""));
    let sysbench = heading(SYSBENCH, "sysbench 1.0.20 (dyno 0.1.0, using bundled LuaJIT 2.1)");
    assert_eq!(sysbench.program, "dyno sysbench 0.1.0");
}

#[test]
fn figures_that_only_some_versions_of_sysbench_print_are_read() {
    let old = SYSBENCH
        .replace("ignored errors: ", "deadlocks: ")
        .replace("Running the test", "sysbench --threads=4 oltp_point_select run\nRunning the test")
        .replace("Threads started!", "Number of unfinished transactions on forced shutdown: 3");
    let reading = of_file(&old);
    assert_eq!((reading.counters.known_retries(), reading.counters.unfinished), (Some(7), 3));
    assert_eq!(reading.program, "sysbench 1.0.20", "the command line is no version");
    // Without transactions, minimum and maximum are meaningless, and a rate with two digits is less
    // exact than count and time.
    let nothing = of_file(&SYSBENCH.replace("95303", "0").replace("31721.90", "0.00"));
    assert_eq!((nothing.latency.min, nothing.latency.max), (0, 0));
    assert_eq!(of_file(&SYSBENCH.replace("95303", "1").replace("31721.90", "0.33")).rate, None);
}

#[test]
fn runs_of_several_containers_come_in_the_order_in_which_they_began() {
    let before = |prefix: &str, text: &str| {
        text.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>()
    };
    let text =
        ["a-1  | it waits\n", &before("b-1  | ", PGBENCH), &before("a-1  | ", SYSBENCH)].concat();
    let readings = of_files("", &[&text]);
    let programs: Vec<_> = readings.iter().map(|it| it.program.as_str()).collect();
    assert_eq!(programs, ["pgbench 15.18", "sysbench 1.0.20"]);
}

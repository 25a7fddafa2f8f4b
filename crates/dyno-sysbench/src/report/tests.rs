use super::*;
use crate::logger::Level;
use crate::options::Options;
use crate::options::general::General;
use dyno_engine::recording::client_statistics::ClientStatistics;
use dyno_model::counters::Outcomes;
use dyno_model::latency::{self, ExactLatency};
use dyno_model::units::Nanos;
use std::ffi::OsString;
use std::time::Duration;

fn general(line: &str) -> General {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    Options::parse(&arguments).unwrap().general
}

/// The figures of sysbench 1.0.20 when it printed the texts below.
fn snapshot() -> Snapshot {
    let mut histogram = latency::histogram();
    for nanos in [10_000, 60_000, 260_000, 330_000] {
        latency::record(&mut histogram, nanos);
    }
    Snapshot {
        elapsed: Duration::from_secs_f64(1.0008),
        length: Duration::from_secs_f64(1.0008),
        threads: 2,
        counts: Counts {
            events: 106,
            outcomes: Outcomes { others: 1696, ..Outcomes::default() },
            ..Counts::default()
        },
        latency: Latency {
            exact: ExactLatency { count: 106, sum: 7_460_000, min: 10_000, max: 330_000 },
            histogram,
        },
        client_statistics: vec![
            ClientStatistics {
                events: 54,
                busy: Nanos(3_700_000),
                min: Nanos(10_000),
                max: Nanos(330_000)
            };
            2
        ],
        ..Snapshot::default()
    }
}

fn text(line: &str, snapshot: &Snapshot, uses_sql: bool) -> String {
    cumulative::messages(snapshot, &general(line), uses_sql)
        .into_iter()
        .map(|(level, text)| {
            format!("{}{text}\n", if level == Level::Debug { "DEBUG: " } else { "" })
        })
        .collect()
}

#[test]
fn the_final_report_of_1_0_is_identical_byte_for_byte() {
    let expected = "SQL statistics:
    queries performed:
        read:                            0
        write:                           0
        other:                           1696
        total:                           1696
    transactions:                        106    (105.92 per sec.)
    queries:                             1696   (1694.64 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          1.0008s
    total number of events:              106

Latency (ms):
         min:                                    0.01
         avg:                                    0.07
         max:                                    0.33
         75th percentile:                        0.26
         sum:                                    7.46

Threads fairness:
    events (avg/stddev):           54.0000/0.00
    execution time (avg/stddev):   0.0037/0.00

";
    assert_eq!(text("--percentile=75", &snapshot(), true), expected);
}

#[test]
fn the_final_report_of_1_1_names_throughput() {
    let report = text("--report-format=1.1", &snapshot(), true);
    let block = "    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      105.9153
    time elapsed:                        1.0008s
    total number of events:              106

Latency (ms):
";
    assert!(report.contains(block), "{report}");
}

#[test]
fn without_sql_the_report_begins_with_a_blank_line() {
    let report = text("", &snapshot(), false);
    assert!(report.starts_with("\nGeneral statistics:\n"), "{report}");
    assert!(!report.contains("SQL"));
}

#[test]
fn percentiles_have_a_line_each_or_are_disabled() {
    let report = text("--percentile=5,50,99.9,100", &snapshot(), false);
    let lines = "          5th percentile:                        0.01
         50th percentile:                        0.06
        99.9th percentile:                       0.33
        100th percentile:                        0.33
";
    assert!(report.contains(lines), "{report}");
    let report = text("--percentile=0", &snapshot(), false);
    assert!(report.contains("\n         percentile stats:               disabled\n"), "{report}");
}

#[test]
fn debug_adds_every_thread() {
    let report = text("--debug", &snapshot(), false);
    let end = "
DEBUG: Verbose per-thread statistics:

DEBUG:     thread #  0: min: 0.0000s  avg: 0.0001s  max: 0.0003s  events: 54
DEBUG:                  total time taken by event execution: 0.0037s
DEBUG:     thread #  1: min: 0.0000s  avg: 0.0001s  max: 0.0003s  events: 54
DEBUG:                  total time taken by event execution: 0.0037s

";
    assert!(report.ends_with(end), "{report}");
}

#[test]
fn unfinished_events_are_reported_between_statistics_and_summary() {
    let cut = Snapshot { unfinished: Some(3), ..snapshot() };
    let report = text("", &cut, true);
    let block = "(0.00 per sec.)\n\nNumber of unfinished transactions on forced shutdown: 3\n\nGeneral statistics:\n";
    assert!(report.contains(block), "{report}");
}

#[test]
fn interval_lines_have_the_fields_that_parsers_expect() {
    let mut interval = snapshot();
    assert_eq!(
        interval::line(&interval, &[75.0], true),
        "thds: 2 tps: 105.92 qps: 1694.64 (r/w/o: 0.00/0.00/1694.64) lat (ms,75%): 0.26 err/s: 0.00 reconn/s: 0.00"
    );
    assert_eq!(interval::line(&interval, &[75.0], false), "thds: 2 eps: 105.92 lat (ms,75%): 0.26");
    assert_eq!(interval::line(&interval, &[], false), "thds: 2 eps: 105.92 lat (ms,0%): 0.00");
    assert_eq!(
        interval::line(&interval, &[50.0, 75.0, 99.9], false),
        "thds: 2 eps: 105.92 lat (ms,50%): 0.06 p75: 0.26 p99.9: 0.33"
    );
    assert_eq!(interval::queue(&interval, true), None);
    interval.queue = Some(Queue { length: 4, concurrency: 2 });
    assert_eq!(interval::queue(&interval, true).unwrap(), "queue length: 4, concurrency: 2");
    assert_eq!(interval::queue(&interval, false).unwrap(), "queue length: 4 concurrency: 2");
}

#[test]
fn a_run_without_events_is_all_zeros() {
    let nothing = Snapshot {
        threads: 1,
        client_statistics: vec![ClientStatistics::default()],
        ..Snapshot::default()
    };
    let report = text("--histogram", &nothing, true);
    assert!(report.contains("         95th percentile:                        0.00\n"), "{report}");
    assert!(!report.contains("NaN") && !report.contains("inf"), "{report}");
}

#[test]
fn a_percentile_is_never_beyond_the_largest_value() {
    let mut latency = Latency::default();
    for nanos in [1_000_003, 1_000_007] {
        latency::record(&mut latency.histogram, nanos);
    }
    (latency.exact.min, latency.exact.max) = (1_000_003, 1_000_007);
    assert_eq!(latency.percentile(100.0), 1_000_007);
    assert!(latency.percentile(1.0) >= 1_000_003);
}

#[test]
fn the_lines_before_a_run_show_its_options() {
    let lines = |line: &str| header::options(&general(line), None, false);
    assert_eq!(
        lines(
            "--threads=2 --rate=100 --report-interval=1 --report-checkpoints=2,1 --time=1 --forced-shutdown"
        ),
        [
            "Running the test with following options:",
            "Number of threads: 2",
            "Target transaction rate: 100/sec",
            "Report intermediate results every 1 second(s)",
            "Report checkpoint(s) at 1, 2 seconds",
            "Initializing random number generator from current time\n",
            "Forcing shutdown in 1 seconds",
            "",
        ]
    );
    assert_eq!(
        header::options(&general("--warmup-time=3 --debug"), Some(7), false)[2..],
        [
            "Warmup time: 3s",
            "Debug mode enabled.\n",
            "Initializing random number generator from seed (7).\n",
            "",
        ]
    );
}

#[test]
fn the_document_contains_all_figures() {
    let description = json::Description {
        script: "oltp_read_write".into(),
        runner: "native",
        driver: Some("mysql".into()),
        options: vec![("threads".into(), "2".into())],
        percentiles: vec![50.0, 99.9],
    };
    let text = json::document(&description, &[snapshot()], &[], &snapshot(), None);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["total"]["counts"]["queries"], 1696);
    assert_eq!(document["intervals"][0]["counts"]["events"], 106);
    assert_eq!(document["total"]["latency_ms"]["max"], 0.33);
    assert!(document["total"]["latency_ms"]["percentiles"]["99.9"].is_number());
    assert_eq!(document["options"]["threads"], "2");
    assert_eq!(document["total"]["threads_fairness"][1]["events"], 54);
}

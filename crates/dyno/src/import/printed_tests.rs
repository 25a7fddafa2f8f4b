//! Tests on the output of sysbench 1.0.20 and pgbench 15 (crates/dyno/tests/imported), value by
//! value, and on input that must be refused.

use super::reading::{Reading, TimeSeries};
use super::{Hints, read, sample};
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imported").join(name)
}

fn found(names: &[&str]) -> Result<Vec<Reading>, String> {
    let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
    let files: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let hints = Hints { clients: Some(2), unit: Nanos(1), ..Hints::default() };
    let reported = |failure: crate::failure::Failure| {
        assert_eq!(failure.code, 2);
        failure.render(false, dyno_report::EN).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    read(&files, &hints).map_err(reported)
}

/// Clients; transactions per second; committed, failed, skipped, retries; mean and maximum time in
/// microseconds. Unknown values are `None`.
type Figures = (u32, f64, (u64, Option<u64>, u64, Option<u64>), Option<u64>, Option<u64>);

fn figures(reading: &Reading) -> Figures {
    let counters = &reading.counters;
    assert_eq!(counters.check(), Vec::<String>::new());
    let rate =
        reading.rate.unwrap_or(counters.committed as f64 / reading.window_length.as_secs_f64());
    let known = |nanos: u64| (nanos > 0).then_some((nanos + 500) / 1_000);
    let counts =
        (counters.committed, counters.known_failed(), counters.skipped, counters.known_retries());
    let latency = &reading.latency;
    (
        reading.clients.unwrap_or_default(),
        (rate * 100.0).round() / 100.0,
        counts,
        known(latency.mean as u64),
        known(latency.max),
    )
}

#[test]
fn every_figure_is_the_one_that_the_program_printed() {
    let sysbench = |committed, retries| (committed, None, 0, Some(retries));
    let cases: [(&[&str], Figures); 15] = [
        // Three reports of 557, 685 and 609 transactions; 3.58, 2.92 and 3.29 ms.
        (&["sysbench-checkpoints.log"], (2, 616.51, sysbench(1_851, 7), Some(3_240), Some(17_810))),
        (&["sysbench-interval.log"], (2, 447.41, sysbench(1_346, 1), Some(4_460), Some(14_340))),
        (&["sysbench-rate.log"], (2, 46.89, sysbench(143, 0), Some(4_900), Some(11_580))),
        (
            &["sysbench-deadlocks.log"],
            (8, 1_221.5, sysbench(2_453, 1_966), Some(6_530), Some(44_580)),
        ),
        (&["pgbench-progress.log"], (4, 2_893.08, (8_657, Some(0), 0, Some(0)), Some(1_378), None)),
        // Its mean includes failures.
        (&["pgbench-serial.log"], (4, 3_556.72, (10_638, Some(2_172), 0, Some(8_786)), None, None)),
        (&["pgbench-rate.log"], (2, 93.54, (185, Some(0), 0, Some(0)), Some(628), None)),
        (&["pgbench-reconnect.log"], (2, 196.17, (394, Some(0), 0, Some(0)), Some(10_195), None)),
        (&["pgbench-scripts.log"], (2, 7_416.16, (14_795, Some(0), 0, Some(0)), Some(270), None)),
        // The file that ends in `.out` contains the output that pgbench printed in addition to its
        // logs.
        (
            &["threads.log", "threads.log.1"],
            (4, 1_676.31, (20, Some(0), 0, Some(0)), Some(1_222), Some(4_749)),
        ),
        (&["tries.log"], (4, 2_514.0, (57, Some(3), 0, Some(19)), Some(11_316), Some(20_045))),
        (&["retries.log"], (4, 1_570.82, (36, Some(4), 0, None), Some(1_299), Some(6_302))),
        (&["late.log"], (2, 470.15, (12, Some(0), 28, None), Some(3_001), Some(10_323))),
        // Without the first of three intervals, and without the last, which pgbench does not write.
        (
            &["intervals.log"],
            (2, 1_671.0, (3_342, Some(769), 1_839, Some(1_499)), Some(1_369), Some(18_339)),
        ),
        (
            &["intervals-threads.log", "intervals-threads.log.1"],
            (2, 189.0, (567, None, 0, Some(0)), Some(10_594), Some(22_985)),
        ),
    ];
    let mut wrong = Vec::new();
    for (names, expected) in cases {
        let readings = found(names).unwrap_or_else(|error| panic!("{names:?}: {error}"));
        let [reading] = readings.as_slice() else { panic!("{names:?}: {readings:?}") };
        if figures(reading) != expected {
            wrong.push(format!("{names:?}: {:?}, not {expected:?}", figures(reading)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_run_in_a_file_is_imported_with_its_own_time_series() {
    for (name, rates) in
        [("sysbench-two.log", [50_757.35, 50_103.12]), ("pgbench-two.log", [24_565.51, 26_542.71])]
    {
        let readings = found(&[name]).expect(name);
        let seen: Vec<(u32, f64)> = readings.iter().map(figures).map(|it| (it.0, it.1)).collect();
        assert_eq!(seen, [(1, rates[0]), (2, rates[1])], "{name}");
    }
    let [checkpoints] = found(&["sysbench-checkpoints.log"]).unwrap().try_into().expect("one run");
    assert_eq!(checkpoints.latency.p95, 0, "that of a part is not that of the run");
    let [first, second] = found(&["sysbench-two.log"]).unwrap().try_into().expect("two runs");
    assert!(matches!(first.time_series, TimeSeries::Unknown), "{first:?}");
    assert!(
        matches!(&second.time_series, TimeSeries::Rates(lines) if lines.len() == 1),
        "{second:?}"
    );
    // A Unix timestamp is the end of an interval, so the length of the first one is unknown.
    let stamped = found(&["pgbench-ptime.log"]).unwrap().remove(0);
    assert!(matches!(stamped.time_series, TimeSeries::Unknown), "{stamped:?}");
}

#[test]
fn an_aborted_run_is_not_valid_and_what_the_program_said_is_kept() {
    let reading = found(&["pgbench-aborted-some.log"]).unwrap().remove(0);
    assert!(!reading.is_valid());
    let [Warning::CutShort { reason }, Warning::ProgramWarned { text, lines: 4 }] =
        reading.warnings.as_slice()
    else {
        panic!("{:?}", reading.warnings)
    };
    assert_eq!(
        reason.to_string(),
        "pgbench: error: Run was aborted; the above results are incomplete."
    );
    assert!(text.ends_with("ERROR:  division by zero"), "{text}");
    let refused = found(&["pgbench-aborted-all.log"]).unwrap_err();
    assert!(refused.contains("line 4: a run of pgbench without transactions"), "{refused}");
    assert!(refused.contains("division by zero"), "{refused}");
}

#[test]
fn partial_or_nondatabase_results_are_refused_with_the_reason() {
    for (name, said) in [
        ("sysbench-cpu.log", "line 3: a run of `sysbench cpu`, which does not use a database"),
        ("sysbench-memory.log", "`sysbench memory`"),
        ("sysbench-fileio.log", "`sysbench fileio`"),
        ("sysbench-threads.log", "`sysbench threads` or `sysbench mutex`"),
        ("sysbench-mutex.log", "`sysbench threads` or `sysbench mutex`"),
        ("sampled.log", "this is a sample (--sampling-rate)"),
        (
            "threads.log.1",
            "it has no transaction of client 0; each thread of pgbench writes a separate log",
        ),
    ] {
        let refused = found(&[name]).unwrap_err();
        assert!(refused.contains(said), "{name}: {refused}");
    }
    let twice = found(&["retries.log", "tries.log"]).unwrap_err();
    assert!(twice.contains("columns") && twice.contains("several runs are mixed"), "{twice}");
    let twice = found(&["tries.log", "tries.log"]).unwrap_err();
    assert!(
        twice.contains("transaction 1 of client") && twice.contains("several runs are mixed"),
        "{twice}"
    );
    let twice = found(&["intervals-threads.log", "intervals.log"]).unwrap_err();
    assert!(twice.contains("no interval has a known length"), "{twice}");
}

#[test]
fn intervals_of_a_log_hold_each_transaction_once() {
    let reading = found(&["late.log"]).unwrap().remove(0);
    let TimeSeries::Samples(samples) = &reading.time_series else { panic!("{reading:?}") };
    let intervals: Vec<_> = sample::intervals(samples).collect();
    assert_eq!(intervals.iter().map(|it| it.response_times.len()).sum::<u64>(), 12);
    assert_eq!(intervals.iter().map(|it| it.length.0).sum::<u64>(), reading.window_length.0);
}

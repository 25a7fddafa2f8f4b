//! Whole trials against the null driver: stop rules, retries, hanging and vanishing servers,
//! counters.

use crate::bench::{SECOND, native, null, trial_input};
use dyno_engine::{TrialError, TrialInput};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::OptionValue;
use dyno_model::event::Listener;
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::reason::Reason;
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

struct Bench {
    script: String,
    workload: &'static str,
    options: Vec<(&'static str, OptionValue)>,
    clients: u32,
    load: LoadPlan,
    interrupts: AtomicUsize,
    is_interrupted: bool,
    death: Option<Reason>,
    /// The server's counters at the first reading, the second and so on.
    counters: RefCell<VecDeque<BTreeMap<String, i64>>>,
}

/// Keeps the intervals, and checks their order.
struct Intervals<'a> {
    all: Vec<IntervalRecord>,
    /// Counts an interrupt once clients have worked.
    interrupts: Option<&'a AtomicUsize>,
}

impl Listener for Intervals<'_> {
    fn interval(&mut self, interval: &IntervalRecord) {
        if let Some(last) = self.all.last() {
            assert!(
                interval.start.0 >= last.start.0 + last.length.0,
                "intervals overlap or go back"
            );
        }
        self.all.push(interval.clone());
        if let Some(interrupts) = self.interrupts
            && !interval.response_times.is_empty()
        {
            interrupts.store(1, Ordering::Relaxed);
        }
    }
}

impl Bench {
    fn new(script: &str, workload: &'static str, clients: u32, stop: StopRule) -> Self {
        Self {
            script: script.to_owned(),
            workload,
            options: Vec::new(),
            clients,
            load: LoadPlan {
                grace: Nanos(60 * SECOND),
                time_limit: Nanos(600 * SECOND),
                workers: Some(2),
                ..LoadPlan::new(stop)
            },
            interrupts: AtomicUsize::new(0),
            is_interrupted: false,
            death: None,
            counters: RefCell::default(),
        }
    }

    fn run(&self) -> (Result<TrialRecord, TrialError>, Vec<IntervalRecord>) {
        let native = native(self.workload, &self.options, self.clients);
        let is_dead = || self.death.clone();
        let mut input = trial_input(null(&self.script), self.clients, &self.load);
        (input.load.interrupts, input.load.is_dead) = (&self.interrupts, &is_dead);
        let counters = || self.counters.borrow_mut().pop_front().unwrap_or_default();
        let input = TrialInput { counters: &counters, ..input };
        let interrupts = self.is_interrupted.then_some(&self.interrupts);
        let mut intervals = Intervals { all: Vec::new(), interrupts };
        let outcome = native.run_trial(&input, &mut intervals);
        (outcome, intervals.all)
    }

    fn record(&self) -> TrialRecord {
        let record = self.run().0.expect("the trial can be measured");
        assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
        record
    }
}

fn sent(record: &TrialRecord, kind: &str) -> u64 {
    record
        .counters
        .statements
        .iter()
        .find(|statement| statement.name == kind)
        .map_or(0, |statement| statement.sent)
}

#[test]
fn a_common_budget_is_kept_to_exactly_whatever_the_number_of_clients() {
    for clients in [1, 3, 16, 100] {
        let record =
            Bench::new("", "oltp_read_write", clients, StopRule::Transactions(500)).record();
        assert_eq!(record.counters.committed, 500, "{clients} clients");
        assert_eq!(record.transaction_latency.count, 500);
        let expected = [
            ("begin", 1),
            ("point-select", 10),
            ("simple-range", 1),
            ("delete", 1),
            ("insert", 1),
            ("commit", 1),
        ];
        for (kind, per_transaction) in expected {
            assert_eq!(sent(&record, kind), 500 * per_transaction, "{kind} of {clients} clients");
        }
        assert_eq!(sent(&record, "rollback"), 0);
    }
}

#[test]
fn each_client_runs_its_own_number_of_transactions() {
    let record =
        Bench::new("", "oltp_point_select", 7, StopRule::TransactionsPerClient(30)).record();
    assert_eq!(record.counters.committed, 210);
    assert_eq!(record.generator.workers.iter().map(|worker| worker.clients).sum::<u32>(), 7);
}

#[test]
fn intervals_add_up_to_the_whole() {
    let bench = Bench::new("latency_us=500", "oltp_point_select", 4, StopRule::Transactions(3_000));
    let (outcome, intervals) = bench.run();
    let record = outcome.expect("the trial can be measured");
    let committed: u64 = intervals.iter().map(|interval| interval.response_times.len()).sum();
    assert_eq!(committed, record.counters.committed);
    let mut merged = dyno_model::latency::histogram();
    for interval in &intervals {
        merged.add(&interval.response_times).expect("the same bounds");
    }
    assert_eq!(merged.value_at_quantile(0.99).min(merged.max()), record.transaction_latency.p99);
}

#[test]
fn warm_up_is_recorded_apart_and_does_not_count() {
    let mut bench =
        Bench::new("latency_us=1000", "oltp_point_select", 2, StopRule::Transactions(100));
    bench.load.warmup = Nanos(SECOND / 2);
    let (outcome, intervals) = bench.run();
    let record = outcome.expect("the trial can be measured");
    assert_eq!(record.counters.committed, 100);
    let warmup: u64 =
        intervals.iter().filter(|i| i.is_warmup).map(|i| i.response_times.len()).sum();
    let measured: u64 =
        intervals.iter().filter(|i| !i.is_warmup).map(|i| i.response_times.len()).sum();
    assert!(warmup > 0, "clients work during warm-up");
    // The first measured interval may include transactions that started in warm-up, which do not
    // count towards the 100.
    assert!((100..=102).contains(&measured), "{measured}");
}

#[test]
fn conflicts_are_retried_and_the_retries_are_counted_by_kind() {
    let record = Bench::new(
        "commit.fail=serialization:0.5",
        "oltp_write_only",
        8,
        StopRule::Transactions(400),
    )
    .record();
    assert_eq!(record.counters.committed + record.counters.failed, 400);
    assert_eq!(
        record.counters.retries_by_kind[&FailureKind::Serialization],
        record.counters.retries
    );
    assert!(
        record.counters.retries > 200,
        "half of all attempts fail: {}",
        record.counters.retries
    );
    assert_eq!(sent(&record, "begin"), record.counters.attempts, "every attempt begins anew");
}

#[test]
fn without_retries_every_conflict_is_a_failure() {
    let mut bench =
        Bench::new("commit.fail=deadlock:1", "oltp_write_only", 4, StopRule::Transactions(50));
    bench.load.attempts_max = 1;
    let record = bench.record();
    assert_eq!((record.counters.committed, record.counters.failed), (0, 50));
    assert_eq!(record.counters.failed_by_kind[&FailureKind::Deadlock], 50);
    assert_eq!(sent(&record, "rollback"), 50);
    assert!(!record.is_valid(), "a trial in which everything failed is not valid");
}

#[test]
fn a_server_that_hangs_holds_nobody_longer_than_the_grace_period() {
    let mut bench =
        Bench::new("hang_after=20", "oltp_point_select", 6, StopRule::Duration(Nanos(SECOND / 2)));
    bench.load.grace = Nanos(SECOND / 5);
    let began = Instant::now();
    let record = bench.record();
    assert_eq!(record.counters.unfinished, 6, "every client hangs in a transaction");
    // 0.7 s according to the rules, ten minutes according to the time limit.
    assert!(began.elapsed() < Duration::from_secs(60), "took {:?}", began.elapsed());
    assert!(
        record
            .warnings
            .iter()
            .any(|warning| matches!(warning, Warning::Unfinished { unfinished: 6 }))
    );
}

#[test]
fn broken_connections_are_opened_again_and_the_work_goes_on() {
    let record =
        Bench::new("disconnect_after=50", "oltp_read_only", 4, StopRule::Transactions(100))
            .record();
    assert_eq!(record.counters.committed + record.counters.failed, 100);
    assert!(record.counters.reconnects >= 4, "{} reconnects", record.counters.reconnects);
    assert!(record.counters.committed > 80, "{} committed", record.counters.committed);
}

#[test]
fn a_commit_whose_answer_was_lost_is_in_doubt_and_not_repeated() {
    let record = Bench::new(
        "commit.fail=connection-lost:1",
        "oltp_write_only",
        2,
        StopRule::Transactions(10),
    )
    .record();
    assert_eq!(
        (record.counters.committed, record.counters.failed, record.counters.in_doubt),
        (0, 10, 10)
    );
    assert_eq!(sent(&record, "commit"), 10, "each was sent once");
}

#[test]
fn unanswered_commit_is_in_doubt_for_every_failure_kind() {
    for kind in ["connection-lost", "timeout", "protocol", "other"] {
        let script = format!("commit.fail={kind}:1");
        let record = Bench::new(&script, "oltp_write_only", 2, StopRule::Transactions(10)).record();
        let counters = &record.counters;
        assert_eq!((counters.committed, counters.failed, counters.in_doubt), (0, 10, 10), "{kind}");
        assert_eq!(sent(&record, "commit"), 10, "{kind}: each was sent once");
        assert_eq!(
            counters.reconnects, 10,
            "{kind}: a late answer must not be taken for the next one's"
        );
        // The same applies to a statement that commits by itself.
        let script = format!("update.fail={kind}:1");
        let record =
            Bench::new(&script, "oltp_update_index", 2, StopRule::Transactions(10)).record();
        assert_eq!(
            (record.counters.failed, record.counters.in_doubt),
            (10, 10),
            "{kind} by itself"
        );
    }
}

#[test]
fn final_insert_in_doubt_only_widens_the_audit_range() {
    for kind in ["connection-lost", "timeout", "protocol", "permission"] {
        let script = format!("insert.fail={kind}:1");
        let mut bench = Bench::new(&script, "bulk_insert", 1, StopRule::Transactions(10));
        // Rows are buffered up to 512 KiB: the only INSERT is sent when no transactions are left.
        bench.options.push(("rows_per_insert", OptionValue::Integer(0)));
        let record = bench.record();
        assert_eq!((record.counters.committed, sent(&record, "insert")), (10, 1), "{kind}");
        let [AuditCheck::RowCount { expected_min: 0, expected_max, .. }] = record.audit.checks[..]
        else {
            panic!("unexpected audit {:?}", record.audit);
        };
        let is_refused = kind == "permission";
        assert_eq!(expected_max, if is_refused { 0 } else { 10 }, "{kind}");
        let is_cut_short =
            record.warnings.iter().any(|warning| matches!(warning, Warning::CutShort { .. }));
        assert_eq!(is_cut_short, is_refused, "{kind}: {:?}", record.warnings);
    }
}

#[test]
fn commit_cancelled_by_the_server_is_retried() {
    let record =
        Bench::new("commit.fail=cancelled:0.3", "oltp_write_only", 2, StopRule::Transactions(100))
            .record();
    assert_eq!((record.counters.committed, record.counters.in_doubt), (100, 0));
    assert!(record.counters.retries_by_kind[&FailureKind::Cancelled] > 0);
}

#[test]
fn a_failure_within_a_transaction_leaves_no_doubt() {
    for kind in ["connection-lost", "protocol"] {
        let script = format!("update.fail={kind}:0.2");
        let record =
            Bench::new(&script, "oltp_write_only", 2, StopRule::Transactions(100)).record();
        assert_eq!(record.counters.in_doubt, 0, "{kind}");
        assert!(record.counters.committed > 0, "{kind}");
    }
}

#[test]
fn broken_sql_ends_the_trial_and_says_why() {
    let record = Bench::new(
        "select.fail=bad-statement:1",
        "oltp_point_select",
        2,
        StopRule::Transactions(1_000),
    )
    .record();
    assert!(record.counters.started < 1_000);
    let reason = record.warnings.iter().find_map(|warning| match warning {
        Warning::CutShort { reason } => Some(reason.to_string()),
        _ => None,
    });
    assert!(reason.expect("the trial was cut short").contains("bad-statement"));
}

#[test]
fn clients_that_cannot_connect_fail_the_trial_before_it_begins() {
    let (outcome, _) = Bench::new(
        "connect.fail=out-of-connections:1",
        "oltp_point_select",
        4,
        StopRule::Transactions(10),
    )
    .run();
    match outcome {
        Err(TrialError::NotConnected(failure)) => {
            assert_eq!(failure.kind, FailureKind::OutOfConnections);
        }
        other => panic!("expected failed connections, got {other:?}"),
    }
}

#[test]
fn an_interrupt_ends_the_trial_cleanly_with_what_was_measured() {
    let mut bench = Bench::new(
        "latency_us=200",
        "oltp_point_select",
        2,
        StopRule::Duration(Nanos(500 * SECOND)),
    );
    bench.is_interrupted = true;
    let record = bench.record();
    assert!(record.counters.committed > 0);
    assert!(record.window_length.0 < 400 * SECOND, "{}", record.window_length);
    assert!(record.warnings.iter().any(|warning| matches!(warning, Warning::CutShort { .. })));
}

#[test]
fn a_dead_system_marks_the_trial() {
    let mut bench = Bench::new(
        "latency_us=200",
        "oltp_point_select",
        2,
        StopRule::Duration(Nanos(30 * SECOND)),
    );
    bench.death = Some(Reason::Killed);
    match bench.run().0 {
        // Detected while connecting or while measuring.
        Err(TrialError::SystemDied(reason)) => assert_eq!(reason, Reason::Killed),
        Ok(record) => {
            assert!(
                record
                    .warnings
                    .iter()
                    .any(|warning| matches!(warning, Warning::SystemFailed { .. }))
            );
        }
        Err(other) => panic!("unexpected {other}"),
    }
}

#[test]
fn a_silent_second_is_found_as_a_stall() {
    let record = Bench::new(
        "latency_us=100,stall=after:100/for:1500ms",
        "oltp_point_select",
        2,
        StopRule::Transactions(2_000),
    )
    .record();
    let stall = record.warnings.iter().find_map(|warning| match warning {
        Warning::Stall { longest_gap, .. } => Some(*longest_gap),
        _ => None,
    });
    assert!(stall.expect("a stall is found") >= 1.4);
    let gap = record.longest_gap.expect("known since this version").length.as_secs_f64();
    assert_eq!(stall, Some(gap), "the figure and the finding are one");
}

#[test]
fn a_system_that_does_not_keep_up_with_what_arrives_is_a_warning() {
    let mut bench = Bench::new(
        "latency_us=10000",
        "oltp_point_select",
        2,
        StopRule::Duration(Nanos(SECOND / 2)),
    );
    bench.load.rate = Some(1_000.0);
    let record = bench.record();
    let open_loop = record.open_loop.expect("an open loop");
    assert_eq!(open_loop.arrived, record.counters.started + open_loop.unstarted);
    let behind = record.warnings.iter().find_map(|warning| match warning {
        Warning::FellBehind { share, unstarted } => Some((*share, *unstarted)),
        _ => None,
    });
    let (share, unstarted) = behind.expect("200 a second are done, 1,000 arrive");
    assert!(share < 0.5 && unstarted == open_loop.unstarted, "{share} {unstarted}");
    bench.load.is_overload = true;
    let warnings = bench.record().warnings;
    assert!(
        warnings.iter().any(|warning| matches!(warning, Warning::Overload { .. })),
        "{warnings:?}"
    );
    assert!(
        !warnings.iter().any(|warning| matches!(warning, Warning::FellBehind { .. })),
        "{warnings:?}"
    );
}

#[test]
fn the_rush_audit_compares_commits_with_the_counters() {
    // The null server answers every sum with 1, before and after: all commits are lost.
    let record = Bench::new("", "rush", 3, StopRule::Transactions(60)).record();
    match &record.audit.checks[..] {
        [check @ AuditCheck::LostUpdates { committed: 60, witnessed, examples, .. }] => {
            let balance = check.balance().expect("it was run");
            assert_eq!((balance.lost_min, balance.lost_max), (60, 60));
            assert!(*witnessed > 0, "every transaction of a row read the same value");
            assert!(!examples.is_empty());
        }
        other => panic!("unexpected audit {other:?}"),
    }
    assert!(record.warnings.contains(&Warning::AuditViolated));
}

#[test]
fn temp_table_takes_four_statements_and_row_by_row_one_each() {
    let temporary = ["drop-temporary-table", "create-temporary-table", "fill"];
    for (workload, kinds) in [
        ("temp-table-select", [&temporary[..], &["select"]].concat()),
        ("in-list-select", vec!["select"]),
        ("temp-table-update", [&temporary[..], &["update"]].concat()),
    ] {
        let record = Bench::new("", workload, 4, StopRule::Transactions(100)).record();
        assert_eq!(record.counters.committed, 100, "{workload}");
        for kind in kinds {
            assert_eq!(sent(&record, kind), 100, "{kind} of {workload}");
        }
        assert_eq!(
            sent(&record, "commit"),
            0,
            "on the MySQL family {workload} has one statement that commits by itself"
        );
    }
    let mut bench = Bench::new("", "row-by-row-update", 4, StopRule::Transactions(100));
    bench.options.push(("ids", OptionValue::Integer(7)));
    let record = bench.record();
    let counts = ["begin", "update", "commit"].map(|kind| sent(&record, kind));
    assert_eq!(counts, [100, 700, 100]);
}

#[test]
fn a_server_that_was_started_anew_within_a_trial_is_named() {
    let readings = |before: i64, after: i64| {
        let bench = Bench::new("", "oltp_read_write", 4, StopRule::Transactions(500));
        let reading = |up| BTreeMap::from([("Uptime".to_owned(), up)]);
        bench.counters.borrow_mut().extend([reading(before), reading(after)]);
        bench.record()
    };
    let restarted = Warning::ServerRestarted { up: 2 };
    let record = readings(100, 2);
    assert!(record.warnings.contains(&restarted) && !record.is_valid(), "{:?}", record.warnings);
    let found = readings(100, 1_000_000).warnings;
    assert!(
        !found.iter().any(|warning| matches!(warning, Warning::ServerRestarted { .. })),
        "{found:?}"
    );
}

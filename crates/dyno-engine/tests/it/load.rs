//! The measuring core without a trial: scripts that report through a meter, and native workloads on
//! foreign tables.

use crate::bench::{self, Closure, NOBODY, SEED, native, null, trial_input};
use dyno_drivers::Outcome;
use dyno_engine::measure::interrupt::InterrupterGuard;
use dyno_engine::recording::client_statistics::StatisticsByClient;
use dyno_engine::workload::ClientId;
use dyno_engine::{
    CustomAudit, FatalCause, LoadInput, LoadRecord, Meter, ScriptFailure, ScriptThreads,
    TrialError, run_script, run_script_trial,
};
use dyno_model::counters::{Outcomes, ScriptCounter};
use dyno_model::event::Listener;
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Generous time limit for operations that are always fast.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Keeps the intervals, and reads the clients' counters while they work.
struct Heard {
    intervals: Vec<IntervalRecord>,
    statistics: Arc<StatisticsByClient>,
    events_seen: u64,
}

impl Listener for Heard {
    fn interval(&mut self, interval: &IntervalRecord) {
        self.intervals.push(interval.clone());
        self.events_seen = self.statistics.iter().map(|it| it.events).sum();
    }
}

impl Heard {
    fn new(input: &LoadInput<'_>) -> Self {
        Self {
            intervals: Vec::new(),
            statistics: Arc::clone(&input.client_statistics),
            events_seen: 0,
        }
    }
}

fn input(clients: u32, load: &LoadPlan) -> LoadInput<'_> {
    LoadInput::new("load", clients, load, SEED, &NOBODY)
}

fn seconds(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

fn plan(stop: StopRule) -> LoadPlan {
    LoadPlan { grace: seconds(60.0), ..LoadPlan::new(stop) }
}

/// For clients that never end on their own.
fn plan_with_little_grace(stop: StopRule) -> LoadPlan {
    LoadPlan { grace: seconds(0.2), ..LoadPlan::new(stop) }
}

fn run<F>(clients: u32, load: &LoadPlan, script: F) -> (Result<LoadRecord, TrialError>, Heard)
where
    F: Fn(ClientId, Meter) -> Result<(), ScriptFailure> + Send + Sync + 'static,
{
    let input = input(clients, load);
    let mut heard = Heard::new(&input);
    let outcome = run_script(Closure(script), &ScriptThreads::default(), &input, &mut heard);
    (outcome, heard)
}

fn record<F>(clients: u32, load: &LoadPlan, script: F) -> (LoadRecord, Vec<IntervalRecord>)
where
    F: Fn(ClientId, Meter) -> Result<(), ScriptFailure> + Send + Sync + 'static,
{
    let (outcome, heard) = run(clients, load, script);
    let record = outcome.expect("the run can be measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    (record, heard.intervals)
}

fn rows(rows: u64) -> Outcome {
    Outcome { has_rows: true, rows, affected: 0 }
}

fn affected(affected: u64) -> Outcome {
    Outcome { has_rows: false, rows: 0, affected }
}

/// One event with a read, a write that hits nothing, and a write.
fn three_statements(meter: &mut Meter) {
    for outcome in [rows(0), affected(0), affected(2)] {
        let start = meter.now();
        meter.statement(u16::from(!outcome.has_rows), start, meter.now(), outcome.class());
    }
}

#[test]
fn a_budget_is_a_number_of_attempts_to_start() {
    let attempts = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&attempts);
    let (record, intervals) =
        record(8, &plan(StopRule::Transactions(1_000)), move |_, mut meter| {
            meter.await_start();
            while meter.begin_event() {
                // Every tenth event is given up.
                if seen.fetch_add(1, Ordering::Relaxed) % 10 == 9 {
                    meter.abandon_event();
                } else {
                    meter.end_event();
                }
            }
            Ok(())
        });
    assert_eq!(attempts.load(Ordering::Relaxed), 1_000);
    assert_eq!((record.counters.started, record.counters.committed), (900, 900));
    assert_eq!(intervals.iter().map(|interval| interval.latency.count).sum::<u64>(), 900);
    assert_eq!(record.client_statistics.iter().map(|it| it.events).sum::<u64>(), 900);
    assert_eq!(record.response_times.len(), 900);
}

#[test]
fn an_event_that_is_given_up_has_failed_and_the_next_one_begins() {
    let (record, _) = record(1, &plan(StopRule::Transactions(10)), |_, mut meter| {
        meter.await_start();
        while meter.begin_event() {
            meter.give_up_event();
            // Has no effect without an event.
            meter.give_up_event();
            if meter.begin_event() {
                meter.end_event();
            }
        }
        Ok(())
    });
    assert_eq!(
        (record.counters.started, record.counters.committed, record.counters.failed),
        (10, 5, 5)
    );
    assert_eq!(record.client_statistics[0].events, 5);
}

#[test]
fn intervals_add_up_to_the_counters_exactly() {
    let mut load = plan(StopRule::Transactions(400));
    load.warmup = seconds(0.1);
    let mut input = input(4, &load);
    input.interval = seconds(0.05);
    let mut heard = Heard::new(&input);
    let script = Closure(|_, mut meter: Meter| {
        meter.await_start();
        while meter.begin_event() {
            three_statements(&mut meter);
            meter.statement_failed(1);
            meter.restarted(FailureKind::Deadlock);
            meter.reconnected();
            meter.add_to_counter(ScriptCounter::Errors, 2);
            // Ensures that the window has several intervals on any machine.
            std::thread::sleep(Duration::from_millis(2));
            meter.end_event();
        }
        Ok(())
    });
    let record =
        run_script(script, &ScriptThreads::default(), &input, &mut heard).expect("measured");
    assert_eq!(record.counters.check(), Vec::<String>::new());
    let counters = &record.counters;
    let measured: Vec<&IntervalRecord> =
        heard.intervals.iter().filter(|interval| !interval.is_warmup).collect();
    let sum = |pick: fn(&IntervalRecord) -> u64| {
        measured.iter().map(|interval| pick(interval)).sum::<u64>()
    };
    assert!(
        counters.committed == 400 && measured.len() >= 3,
        "{counters:?}, {} intervals",
        measured.len()
    );
    assert_eq!(sum(|interval| interval.latency.count), counters.committed);
    assert_eq!(sum(|interval| interval.latency.sum), record.exact_latency.sum);
    assert_eq!(sum(|interval| interval.outcomes.reads), counters.outcomes.reads);
    assert_eq!(sum(|interval| interval.outcomes.writes), counters.outcomes.writes);
    assert_eq!(sum(|interval| interval.outcomes.others), counters.outcomes.others);
    assert_eq!(sum(|interval| interval.statement_errors), counters.statement_errors());
    assert_eq!(sum(|interval| interval.retries), counters.retries);
    assert_eq!(sum(|interval| interval.reconnects), counters.reconnects);
    assert_eq!(sum(|interval| interval.script_counters.errors), record.script_counters.errors);
    assert_eq!(sum(|interval| interval.statements[0].1.len()), counters.statements[0].ok);
    let events = counters.committed;
    assert_eq!(counters.outcomes, Outcomes { reads: events, writes: events, others: events });
    assert_eq!(
        record.client_statistics.iter().map(|it| it.busy.0).sum::<u64>(),
        record.exact_latency.sum
    );
    assert_eq!(record.exact_latency.count, events);
    assert!(
        measured.iter().any(|interval| interval.concurrency > 0),
        "clients are in transactions"
    );
}

/// Releases a stuck client after the first interval.
struct HeardFirst {
    heard: Heard,
    first: Option<Sender<()>>,
}

impl Listener for HeardFirst {
    fn interval(&mut self, interval: &IntervalRecord) {
        self.heard.interval(interval);
        self.first = None;
    }
}

#[test]
fn interval_completes_although_a_client_is_stuck_in_a_statement() {
    let load = plan(StopRule::Duration(seconds(0.5)));
    let mut input = input(2, &load);
    input.interval = seconds(0.1);
    let heard = Heard::new(&input);
    let (first, has_come) = channel();
    let mut heard = HeardFirst { heard, first: Some(first) };
    let has_come = Mutex::new(has_come);
    let script = Closure(move |client: ClientId, mut meter: Meter| {
        meter.await_start();
        while meter.begin_event() {
            if client.0 == 0 {
                // If the interval waited for this client, both would wait forever.
                let waited = has_come.lock().unwrap().recv_timeout(TIMEOUT);
                assert_eq!(waited, Err(RecvTimeoutError::Disconnected), "the interval came");
            }
            meter.end_event();
        }
        Ok(())
    });
    run_script(script, &ScriptThreads::default(), &input, &mut heard).expect("measured");
    let Heard { intervals, events_seen, .. } = heard.heard;
    let first = &intervals[0];
    assert!(first.latency.count > 0 && first.concurrency >= 1);
    assert!(events_seen > 0, "statistics can be read while clients work");
}

#[test]
fn script_statements_before_start_and_after_end_are_counted() {
    let (record, intervals) = record(2, &plan(StopRule::Transactions(4)), |_, mut meter| {
        three_statements(&mut meter);
        meter.await_start();
        while meter.begin_event() {
            meter.end_event();
        }
        three_statements(&mut meter);
        Ok(())
    });
    assert_eq!(record.counters.outcomes, Outcomes { reads: 4, writes: 4, others: 4 });
    assert_eq!(intervals.iter().map(|interval| interval.outcomes.total()).sum::<u64>(), 12);
}

#[test]
fn a_script_may_have_its_own_loop_and_its_own_counters() {
    let (record, _) = record(1, &plan(StopRule::Transactions(5)), |_, mut meter| {
        meter.await_start();
        while meter.more_events() {
            meter.start_event();
            meter.start_event();
            meter.add_to_counter(ScriptCounter::Reads, 3);
            meter.end_event();
            meter.end_event();
        }
        assert_eq!(meter.counter(ScriptCounter::Events), 5);
        assert_eq!(meter.counter(ScriptCounter::Reads), 15);
        Ok(())
    });
    assert_eq!((record.counters.committed, record.script_counters.outcomes.reads), (5, 15));
    assert_eq!(record.counters.outcomes.total(), 0, "what a script counts is in no other count");
}

#[test]
fn script_failure_before_ready_ends_the_run_with_its_message() {
    let (outcome, _) = run(3, &plan(StopRule::Transactions(5)), |client, mut meter| {
        if client.0 == 1 {
            return Err(ScriptFailure("thread_init failed: no such table".to_owned()));
        }
        assert!(!meter.await_start(), "nobody may start");
        assert!(!meter.begin_event());
        Ok(())
    });
    match outcome {
        Err(TrialError::Script { client: ClientId(1), message }) => {
            assert!(message.contains("no such table"));
        }
        other => panic!("expected a failed script, got {other:?}"),
    }
}

/// The trials after it would be measured beside its thread.
#[test]
fn a_script_that_is_never_ready_ends_its_trial_and_says_how_many_were() {
    let load = plan(StopRule::Transactions(5));
    let input = input(3, &load);
    let mut heard = Heard::new(&input);
    let script = || {
        Closure(|client: ClientId, mut meter: Meter| {
            if client.0 == 2 {
                loop {
                    std::thread::park();
                }
            }
            meter.await_start();
            Ok(())
        })
    };
    let threads = ScriptThreads { ready_limit: Duration::from_secs(2), ..ScriptThreads::default() };
    let outcome = run_script(script(), &threads, &input, &mut heard);
    let not_ready = TrialError::NotReady { ready: 2, clients: 3 };
    assert_eq!(outcome.expect_err("one is not ready"), not_ready);
    let input = trial_input(null(""), 3, &load);
    let audit = CustomAudit::default();
    let outcome = run_script_trial(script(), &audit, &threads, &input, &mut ());
    let Err(TrialError::ThreadsStillRunning(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(
        reason.to_string().starts_with(&format!("{not_ready}: a script does not end")),
        "{reason}"
    );
}

#[test]
fn a_fatal_error_in_an_event_stops_everybody_at_their_next_event() {
    // A day: the test does not wait for its end.
    let (record, _) =
        record(4, &plan(StopRule::Duration(seconds(86_400.0))), |client, mut meter| {
            meter.await_start();
            let mut events = 0;
            while meter.begin_event() {
                events += 1;
                if client.0 == 3 && events == 10 {
                    meter.statement_failed(1);
                    return Err(ScriptFailure("SQL error, errno = 1146".to_owned()));
                }
                meter.end_event();
            }
            Ok(())
        });
    let fatal = record.fatal.expect("it is kept");
    assert_eq!(fatal.client, ClientId(3));
    assert_eq!(fatal.cause, FatalCause::Script("SQL error, errno = 1146".to_owned()));
    assert_eq!((record.counters.failed, record.counters.statement_errors()), (1, 1));
    assert!(!record.is_cut_off && record.left_behind.is_empty());
}

#[test]
fn a_stop_makes_the_window_neither_longer_nor_after_its_end_shorter() {
    let (duration, early, late) = (seconds(0.5), seconds(0.1), seconds(0.7));
    // One client fails within the window, and the other ends in the grace period; or the reverse.
    for (fails_at, ends_at) in [(seconds(0.0), late), (late, early)] {
        let load = plan(StopRule::Duration(duration));
        let others_begun = Arc::new(AtomicU64::new(0));
        let (record, _) = record(2, &load, move |client, mut meter| {
            meter.await_start();
            let has_begun = meter.begin_event();
            others_begun.fetch_add(client.0.into(), Ordering::Relaxed);
            // On a busy machine the window may have passed.
            if !has_begun {
                return Ok(());
            }
            let until = if client.0 == 0 { fails_at } else { ends_at };
            while meter.now() < until.0 || others_begun.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            if client.0 == 0 {
                meter.statement_failed(1);
                return Err(ScriptFailure("the server is gone".to_owned()));
            }
            meter.end_event();
            Ok(())
        });
        assert!(record.elapsed > duration, "{}", record.elapsed);
        assert_eq!(record.window_length, duration, "failed at {fails_at}: {:?}", record.fatal);
        assert!(
            fails_at != late || record.weighted_commits.is_some(),
            "the whole window was measured"
        );
    }
}

#[test]
fn a_script_whose_event_never_ends_is_left_behind_and_named() {
    let (record, intervals) = record(
        3,
        &plan_with_little_grace(StopRule::Duration(seconds(1.0))),
        |client, mut meter| {
            meter.await_start();
            while meter.begin_event() {
                if client.0 == 1 && meter.counter(ScriptCounter::Events) == 7 {
                    loop {
                        std::thread::park();
                    }
                }
                meter.end_event();
            }
            Ok(())
        },
    );
    assert_eq!(record.left_behind, [ClientId(1)]);
    assert!(record.is_cut_off);
    assert_eq!(record.counters.unfinished, 1);
    assert_eq!(record.client_statistics[1].events, 7, "its books are closed without it");
    assert_eq!(
        intervals.iter().map(|interval| interval.latency.count).sum::<u64>(),
        record.counters.committed
    );
}

/// A thread waits on this until it is interrupted.
#[derive(Default)]
struct Wait(Mutex<bool>, Condvar);

impl Wait {
    fn guard(self: &Arc<Self>, meter: &Meter) -> InterrupterGuard {
        let wait = Arc::clone(self);
        meter.interrupters().add(Box::new(move || {
            *wait.0.lock().expect("nobody panics") = true;
            wait.1.notify_all();
        }))
    }
}

#[test]
fn blocked_script_is_interrupted_after_the_grace_period() {
    let (record, _) =
        record(2, &plan_with_little_grace(StopRule::Duration(seconds(0.2))), |_, mut meter| {
            let wait = Arc::new(Wait::default());
            let _guard = wait.guard(&meter);
            meter.await_start();
            assert!(meter.begin_event());
            let waiting = wait.0.lock().expect("nobody panics");
            let woken = wait.1.wait_while(waiting, |is_interrupted| !*is_interrupted);
            drop(woken.expect("nobody panics"));
            Err(ScriptFailure("interrupted".to_owned()))
        });
    assert!(record.is_cut_off && record.left_behind.is_empty());
    assert_eq!(record.fatal, None, "being cut off is no failure of the script");
    assert_eq!((record.counters.unfinished, record.counters.failed), (2, 0));
}

#[test]
fn a_native_workload_runs_without_observer_and_audit() {
    let load = plan(StopRule::Transactions(300));
    let input = input(6, &load);
    let mut heard = Heard::new(&input);
    let record = bench::load(native("oltp_read_write", &[], 6), null(""), &input, &mut heard);
    assert_eq!(record.counters.committed, 300);
    // sysbench's own accounting of oltp_read_write: 14 reads, 4 writes, BEGIN and COMMIT.
    assert_eq!(
        record.counters.outcomes,
        Outcomes { reads: 300 * 14, writes: 300 * 4, others: 300 * 2 }
    );
    assert_eq!(record.client_statistics.iter().map(|it| it.events).sum::<u64>(), 300);

    let targets = [null(""), null("connect.fail=out-of-connections:1")];
    let native = native("oltp_read_write", &[], 6);
    let failed = native.run_load(&targets, &input, &mut heard);
    assert!(
        matches!(failed, Err(TrialError::NotConnected(_))),
        "every other client goes to the second target"
    );
}

#[test]
fn first_fatal_failure_is_kept_with_its_statement() {
    let load = plan(StopRule::Transactions(300));
    let input = input(2, &load);
    let native = native("oltp_point_select", &[], 2);
    let record =
        bench::load(native, null("select.fail=bad-statement:1"), &input, &mut Heard::new(&input));
    match record.fatal.expect("it is kept").cause {
        FatalCause::Failure { failure, statement, sql } => {
            assert_eq!(
                (failure.kind, statement.as_str()),
                (FailureKind::BadStatement, "point-select")
            );
            assert_eq!(sql.as_deref(), Some("SELECT c FROM sbtest1 WHERE id=?"));
        }
        other @ FatalCause::Script(_) => panic!("unexpected {other:?}"),
    }
}

/// Whether clients stall, and the events that the listener received.
#[derive(Default)]
struct Stalling {
    is_over: Mutex<bool>,
    ends: Condvar,
}

struct HeardStall {
    stalling: Arc<Stalling>,
    reported: Vec<Option<Nanos>>,
    intervals: usize,
}

impl Listener for HeardStall {
    fn interval(&mut self, _interval: &IntervalRecord) {
        self.intervals += 1;
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        assert_eq!(self.intervals, 0, "the interval of the stall is not over yet");
        self.reported.push(since);
        *self.stalling.is_over.lock().expect("nobody panicked") = true;
        self.stalling.ends.notify_all();
    }
}

#[test]
fn a_stall_is_reported_while_it_lasts_and_its_length_is_exact() {
    let stalling = Arc::new(Stalling::default());
    let held = Arc::clone(&stalling);
    let last_and_next = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&last_and_next);
    let load = plan(StopRule::Transactions(2_000));
    let mut input = input(1, &load);
    // Intervals reveal nothing.
    input.interval = seconds(3_600.0);
    let script = Closure(move |_, mut meter: Meter| {
        meter.await_start();
        let mut events = 0;
        while meter.begin_event() {
            events += 1;
            if events == 1_000 {
                // No client commits until the stall is detected.
                noted.lock().unwrap().push(meter.now());
                let over = held.is_over.lock().unwrap();
                drop(held.ends.wait_while(over, |is_over| !*is_over).unwrap());
                noted.lock().unwrap().push(meter.now());
            }
            meter.end_event();
        }
        Ok(())
    });
    let mut heard = HeardStall { stalling, reported: Vec::new(), intervals: 0 };
    let record =
        run_script(script, &ScriptThreads::default(), &input, &mut heard).expect("measured");
    assert!(matches!(heard.reported[..], [Some(_), None] | [Some(_)]), "{:?}", heard.reported);
    let (gap, times) = (record.longest_gap, last_and_next.lock().unwrap().clone());
    let [from, to] = times[..] else { panic!("{times:?}") };
    assert!(gap.length.0 >= 500_000_000, "{gap:?}");
    assert!(gap.at.0 <= from && gap.at.0 + gap.length.0 >= to, "{gap:?} {times:?}");
    assert_eq!(heard.reported[0], Some(gap.at), "told since when");
}

/// Number of ready clients at each reported start.
struct Starts {
    ready: Arc<AtomicU64>,
    reported: Vec<u64>,
}

impl Listener for Starts {
    fn clients_begin(&mut self, _from_now: Nanos) {
        self.reported.push(self.ready.load(Ordering::SeqCst));
    }
}

#[test]
fn the_common_start_is_reported_once_when_all_clients_are_ready() {
    let ready = Arc::new(AtomicU64::new(0));
    let mut starts = Starts { ready: Arc::clone(&ready), reported: Vec::new() };
    let script = Closure(move |_: ClientId, mut meter: Meter| {
        ready.fetch_add(1, Ordering::SeqCst);
        meter.await_start();
        while meter.begin_event() {
            meter.end_event();
        }
        Ok(())
    });
    let load = plan(StopRule::TransactionsPerClient(10));
    run_script(script, &ScriptThreads::default(), &input(3, &load), &mut starts).expect("measured");
    assert_eq!(starts.reported, [3]);
}

//! Transactions that arrive at a rate, whether or not the system keeps up.

use crate::bench::{self, Intervals, MILLISECOND, NOBODY, SEED, doing, null, send, takes};
use dyno_engine::random::Random;
use dyno_engine::{LoadInput, LoadRecord, ScriptThreads, Session, run_load, run_script};
use dyno_model::event::Listener;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn plan(rate: f64, milliseconds: u64) -> LoadPlan {
    let stop = StopRule::Duration(Nanos(milliseconds * MILLISECOND));
    LoadPlan { rate: Some(rate), grace: Nanos(60_000 * MILLISECOND), ..LoadPlan::new(stop) }
}

fn input<'a>(clients: u32, load: &'a LoadPlan, interrupts: &'a AtomicUsize) -> LoadInput<'a> {
    let interval = Nanos(100 * MILLISECOND);
    LoadInput { interval, ..LoadInput::new("open", clients, load, SEED, interrupts) }
}

fn script(clients: u32, load: &LoadPlan, time: Duration) -> (LoadRecord, Vec<IntervalRecord>) {
    let mut heard = Intervals::default();
    let record = script_heard_by(&mut heard, &NOBODY, clients, load, time);
    (record, heard.0)
}

fn script_heard_by(
    listener: &mut dyn Listener,
    interrupts: &AtomicUsize,
    clients: u32,
    load: &LoadPlan,
    time: Duration,
) -> LoadRecord {
    let input = input(clients, load, interrupts);
    let record = run_script(takes(time), &ScriptThreads::default(), &input, listener)
        .expect("it can be measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    record
}

fn native(script: &str, clients: u32, load: &LoadPlan) -> (LoadRecord, Vec<IntervalRecord>) {
    let mut heard = Intervals::default();
    let record = native_heard_by(&mut heard, &NOBODY, script, clients, load);
    (record, heard.0)
}

fn native_heard_by(
    listener: &mut dyn Listener,
    interrupts: &AtomicUsize,
    script: &str,
    clients: u32,
    load: &LoadPlan,
) -> LoadRecord {
    let native = bench::native("oltp_point_select", &[], clients);
    bench::load(native, null(script), &input(clients, load, interrupts), listener)
}

/// A user who interrupts as soon as the clients start.
struct Impatient<'a>(&'a AtomicUsize);

impl Listener for Impatient<'_> {
    fn clients_begin(&mut self, _from_now: Nanos) {
        self.0.store(1, Ordering::Relaxed);
    }
}

/// Every arrival of the window was started, or counted as unstarted.
fn assert_arrivals_add_up(record: &LoadRecord) {
    let open_loop = record.open_loop.expect("an open loop");
    assert_eq!(open_loop.arrived, record.counters.started + open_loop.unstarted, "{record:?}");
    if let Some(response) = open_loop.response {
        assert_eq!(response.count, open_loop.arrived, "every arrival has a time or an age");
        assert_eq!(response.censored, open_loop.arrived - record.counters.committed);
    }
}

#[test]
fn a_system_that_keeps_up_does_what_arrives_and_no_more_in_the_time() {
    let load = LoadPlan { rate: Some(2_000.0), ..LoadPlan::new(StopRule::Transactions(1_000)) };
    for (record, _) in [script(8, &load, Duration::ZERO), native("", 8, &load)] {
        assert_arrivals_add_up(&record);
        assert_eq!(record.counters.committed, 1_000);
        // 500 ms are expected; five standard deviations. Even on a busy machine no transaction
        // starts early.
        assert!(record.elapsed.0 > 420 * MILLISECOND, "{}", record.elapsed);
    }
    let window = plan(2_000.0, 500);
    for (record, _) in [script(8, &window, Duration::ZERO), native("", 8, &window)] {
        assert_arrivals_add_up(&record);
        let open_loop = record.open_loop.expect("an open loop");
        // 1,000 are expected; five standard deviations.
        assert!((840..1_160).contains(&open_loop.arrived), "{open_loop:?}");
        assert!(record.counters.started > 0, "{open_loop:?}");
    }
}

#[test]
fn both_kinds_of_clients_have_the_same_arrivals() {
    let (first, _) = script(4, &plan(1_000.0, 300), Duration::ZERO);
    let (second, _) = native("", 6, &plan(1_000.0, 300));
    let arrived = |record: &LoadRecord| record.open_loop.expect("an open loop").arrived;
    assert_eq!(arrived(&first), arrived(&second));
}

#[test]
fn overload_is_measured_and_waiting_is_part_of_the_response_time() {
    // 1,000 transactions arrive per second; one client can complete at most 100.
    let overload = plan(1_000.0, 600);
    let runs =
        [script(1, &overload, Duration::from_millis(10)), native("latency_us=10000", 1, &overload)];
    for (record, intervals) in runs {
        assert_arrivals_add_up(&record);
        let open_loop = record.open_loop.expect("an open loop");
        assert!(open_loop.unstarted > open_loop.arrived / 2, "{open_loop:?}");
        // The last one was due long before it started.
        assert!(record.exact_latency.max > 300 * MILLISECOND, "{:?}", record.exact_latency);
        let queues: Vec<u64> = intervals.iter().take(5).map(|interval| interval.queue).collect();
        // On a busy machine, single intervals may deviate.
        assert!(queues.first() < queues.last(), "the backlog grows: {queues:?}");
        let busy = intervals.iter().filter(|interval| interval.latency.count > 0);
        let means: Vec<f64> = busy.map(|interval| interval.latency.mean()).collect();
        assert!(means.first() < means.last(), "and with it the response time: {means:?}");
    }
}

#[test]
fn response_time_and_busy_time_start_when_transaction_is_due() {
    let (record, _) = script(2, &plan(50.0, 500), Duration::from_millis(5));
    assert!(record.exact_latency.min >= 5 * MILLISECOND, "{:?}", record.exact_latency);
    assert_eq!(
        record.client_statistics.iter().map(|it| it.busy.0).sum::<u64>(),
        record.exact_latency.sum
    );
}

#[test]
fn a_stop_is_noticed_by_clients_that_wait_for_an_arrival() {
    // The first arrival is hours away.
    let rare = plan(0.000_01, 86_400_000);
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let script = script_heard_by(&mut Impatient(&first), &first, 3, &rare, Duration::ZERO);
    let native = native_heard_by(&mut Impatient(&second), &second, "", 3, &rare);
    for record in [script, native] {
        assert!(record.facts.stopped.is_some());
        assert_arrivals_add_up(&record);
    }
}

#[test]
fn a_budget_ends_the_run_with_its_last_transaction() {
    // Clients that took an arrival beyond the transaction budget would wait for it, each for
    // another 125 ms, the last for 12.5 s.
    let load = LoadPlan { rate: Some(8.0), ..LoadPlan::new(StopRule::Transactions(5)) };
    for (record, _) in [script(100, &load, Duration::ZERO), native("", 100, &load)] {
        assert_eq!(record.counters.committed, 5);
        assert_arrivals_add_up(&record);
        assert!(record.elapsed.0 < 10_000 * MILLISECOND, "{}", record.elapsed);
    }
    let each = LoadPlan { rate: Some(500.0), ..LoadPlan::new(StopRule::TransactionsPerClient(3)) };
    for (record, _) in [script(10, &each, Duration::ZERO), native("", 10, &each)] {
        assert_eq!(record.counters.committed, 30);
        assert_arrivals_add_up(&record);
    }
}

#[test]
fn a_window_in_which_nothing_arrives_any_more_lasts_to_its_end() {
    let (record, intervals) = script(2, &plan(0.001, 400), Duration::ZERO);
    assert!(record.elapsed.0 >= 400 * MILLISECOND, "{}", record.elapsed);
    assert!(intervals.len() >= 4, "intervals in which nothing happens are there too");
}

#[test]
fn an_offer_slightly_above_the_capacity_is_reported() {
    // Two clients that take 10 ms each start at most 802 transactions in 4 s. The seed yields more
    // arrivals than that.
    let load = plan(210.0, 4_000);
    for (record, _) in
        [script(2, &load, Duration::from_millis(10)), native("latency_us=10000", 2, &load)]
    {
        assert_arrivals_add_up(&record);
        let open_loop = record.open_loop.expect("an open loop");
        assert_eq!(open_loop.arrived, 835);
        let warnings =
            record.open_loop.expect("there is a rate").warnings(record.counters.committed);
        let behind = warnings.iter().find(|warning| matches!(warning, Warning::FellBehind { .. }));
        assert!(behind.expect("at least 33 were never started").severity() >= Severity::Warning);
    }
}

#[test]
fn a_stall_at_the_end_of_a_window_makes_high_percentiles_lower_bounds() {
    // From 1.5 s on the server answers nothing until long after the window: two transactions are in
    // flight, and all others never start.
    let load = plan(200.0, 3_000);
    let (record, intervals) = native("latency_us=1000,stall=at:1500ms/for:4s", 2, &load);
    assert_arrivals_add_up(&record);
    let open_loop = record.open_loop.expect("an open loop");
    let response = open_loop.response.expect("there are arrivals");
    assert!(open_loop.unstarted > 200, "{open_loop:?}");
    assert!(response.p99.is_bound && response.p99.nanos > 1e9, "{response:?}");
    let ages = intervals
        .last()
        .and_then(|interval| interval.censored.as_ref())
        .expect("ages are handed out");
    assert_eq!(ages.len(), response.censored);
}

#[test]
fn transactions_that_fail_or_are_cut_off_are_as_old_as_they_were_then() {
    let failing = native("latency_us=2000,fail=duplicate-key:0.2", 4, &plan(200.0, 500)).0;
    assert_arrivals_add_up(&failing);
    let response = failing.open_loop.expect("an open loop").response.expect("there are arrivals");
    assert!(failing.counters.failed > 0 && response.censored >= failing.counters.failed);
    assert!(response.max.is_bound && response.mean.is_bound, "{response:?}");

    let cut = LoadPlan { grace: Nanos(200 * MILLISECOND), ..plan(200.0, 500) };
    let (record, intervals) = native("hang_after=5", 2, &cut);
    assert_arrivals_add_up(&record);
    assert_eq!(record.counters.unfinished, 2, "both connections hang");
    let ages = intervals
        .last()
        .and_then(|interval| interval.censored.as_ref())
        .expect("ages are handed out");
    assert!(ages.max() > 200 * MILLISECOND, "until the end of the grace period");
}

#[test]
fn a_generator_that_is_held_up_is_reported() {
    let load = LoadPlan { workers: Some(1), ..plan(100.0, 3_000) };
    let input = LoadInput::new("open", 8, &load, SEED, &NOBODY);
    // Every tenth transaction blocks the thread that all clients share.
    let holds_up = doing(async |_, sequence, session: &mut Session, _: &mut Random| {
        if sequence % 10 == 9 {
            std::thread::park_timeout(Duration::from_millis(60));
        }
        send(session, "SELECT 1").await?;
        session.extend_to_now();
        Ok(())
    });
    let record = run_load(holds_up, &[null("latency_us=1000")], &input, &mut ())
        .expect("it can be measured");
    assert_arrivals_add_up(&record);
    let warnings = record.open_loop.expect("there is a rate").warnings(record.counters.committed);
    let late = warnings.iter().find(|warning| matches!(warning, Warning::GeneratorLate { .. }));
    let late = late.unwrap_or_else(|| panic!("{:?}", record.open_loop));
    assert_eq!(late.severity(), Severity::Invalid, "{late:?}");
}

#[test]
fn waiting_for_a_stalled_system_is_not_generator_lateness() {
    let (record, _) = native("latency_us=1000,stall=at:100ms/for:3500ms", 2, &plan(200.0, 5_000));
    let open_loop = record.open_loop.expect("an open loop");
    assert!(
        record.counters.started > open_loop.arrived / 2,
        "what was due in the stall begins after it: {record:?}"
    );
    let (lag, response) = (
        open_loop.lag.expect("some were awaited"),
        open_loop.response.expect("there are arrivals"),
    );
    assert!(
        lag.awaited < open_loop.arrived / 2,
        "those of the stall found no free client: {open_loop:?}"
    );
    assert!((lag.p50 as f64) < response.p50.nanos / 4.0, "{open_loop:?}");
    let warnings = record.open_loop.expect("there is a rate").warnings(record.counters.committed);
    assert!(
        !warnings.iter().any(|warning| matches!(warning, Warning::GeneratorLate { .. })),
        "{open_loop:?}"
    );
}

/// Coordinated omission: measuring from the time of sending counts one slow request per client for
/// each freeze instead of all that would have been sent meanwhile. A tenth of the arrivals in ten
/// seconds falls into the second in which the system is frozen and waits for the rest of it, so one
/// arrival in a hundred waits for 0.9 s and more.
#[test]
fn one_second_freeze_in_ten_shows_in_p99_even_with_busy_clients() {
    const FROZEN: &str = "latency_us=1000,stall=at:5s/for:1s/every:10s";
    let p99 = |clients, load: &LoadPlan| {
        let (record, intervals) = native(FROZEN, clients, load);
        let mut commits = dyno_model::latency::histogram();
        for interval in &intervals {
            commits.add(&interval.response_times).expect("the same bounds");
        }
        // In an open loop all arrivals, in a closed one all commits.
        let all = record.open_loop.and_then(|open_loop| open_loop.response);
        all.map_or(commits.value_at_quantile(0.99) as f64, |it| it.p99.nanos)
    };
    let open = plan(200.0, 10_000);
    let closed = LoadPlan { rate: None, ..open.clone() };
    let [free, busy, closed] = std::thread::scope(|scope| {
        // More clients than arrivals during the freeze; two, which hang while all others wait for
        // them; two that wait only for their answers.
        let runs = [(400, &open), (2, &open), (2, &closed)]
            .map(|(clients, load)| scope.spawn(move || p99(clients, load)));
        runs.map(|run| run.join().expect("it can be measured") / 1e9)
    });
    for p99 in [free, busy] {
        // No answer arrives before the end of the freeze, even on a fast machine; a slow one adds
        // to it.
        assert!((0.85..4.0).contains(&p99), "{p99} s");
    }
    assert!(closed < 0.5, "a closed loop has few slow ones, whatever happens: {closed} s");
}

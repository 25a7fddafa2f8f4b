use super::evidence::{Evidence, slow};
use super::simulation::{Disturbance, Queue, Ran, run, steps_text};
use super::*;
use crate::counters::{TransactionCounters, TrialCounters};
use crate::latency::record;
use crate::limit::LimitMetric;
use crate::plan::LoadBy;
use crate::random::SplitMix64;
use crate::record::{NamedTransactions, TrialRecord};
use crate::response::{BoundedLatency, ResponseSummary};
use crate::search_question::NEIGHBOUR;

const P99: Search = Search {
    most: LoadBy::Rate,
    metric: LimitMetric::P99,
    below: 20.0,
    transaction: None,
    from: None,
};
const MEAN: Search = Search { metric: LimitMetric::Mean, below: 110.0, ..P99 };

const fn lengths(warmup: f64, seconds: f64) -> Lengths {
    Lengths { full: StepLengths { warmup, seconds } }
}

/// The lengths of a command line without `--duration`.
const USUAL: Lengths = lengths(2.0, 10.0);

const fn queue(servers: usize, mean_ms: f64) -> Queue {
    Queue { servers, mean_ms, slow: None }
}

/// Number of simulated searches of each kind; for the figures of decision 022 `DYNO_SEARCHES=1000`.
fn searches(usual: u64) -> std::ops::Range<u64> {
    0..std::env::var("DYNO_SEARCHES").map_or(usual, |number| number.parse().expect("a number"))
}

fn simulated(
    search: &Search,
    lengths: Lengths,
    queue: Queue,
    seed: u64,
    disturbance: Disturbance,
) -> Ran {
    let state = SaturationSearch::new(search.clone(), queue.servers as u32, lengths);
    run(state, queue, seed, disturbance)
}

#[test]
fn search_error_exceeds_five_percent_at_most_once_in_twenty() {
    // Searches, queues, the load at which the figure of the M/M/c queue equals the limit (Erlang's
    // C), and the maximum median duration in seconds.
    let rows = [
        (P99, USUAL, queue(8, 2.0), 3_745.18, 60.0),
        (P99, USUAL, queue(4, 1.0), 3_763.08, 60.0),
        (P99, USUAL, queue(16, 4.0), 3_492.12, 60.0),
        (MEAN, USUAL, queue(64, 100.0), 594.5, 60.0),
        (MEAN, lengths(0.2, 2.0), queue(64, 100.0), 594.5, 60.0),
    ];
    for (search, lengths, queue, truth, usual) in rows {
        let (mut off, mut times, mut undecided) = (Vec::new(), Vec::new(), 0);
        for seed in searches(40) {
            let Ran { record, seconds } =
                simulated(&search, lengths, queue, seed, Disturbance::Quiet);
            times.push(seconds);
            match record.found() {
                Some(found) => off.push(found / truth - 1.0),
                None => undecided += 1,
            }
        }
        off.sort_by(f64::total_cmp);
        times.sort_by(f64::total_cmp);
        let (count, middle, steps) = (off.len(), off.len() / 2, times.len());
        let bad = off.iter().filter(|off| off.abs() > 0.05).count();
        println!(
            "{queue:?} {search:?}: off by {:+.3} to {:+.3}, median {:+.3}, {bad} of {steps} by more than 5 %, {undecided} undecided; {:.0} s, at most {:.0} s",
            off[0],
            off[count - 1],
            off[middle],
            times[middle],
            times[steps - 1]
        );
        assert!(20 * (bad + undecided) <= steps, "{queue:?}: {undecided} {off:?}");
        assert!(times[middle] <= usual, "{queue:?}: {times:?}");
    }
}

#[test]
fn a_search_that_begins_with_single_transactions_finds_nothing_wrong() {
    for seed in searches(10) {
        let search = Search { from: Some(2.0), ..MEAN };
        let record =
            simulated(&search, lengths(0.2, 2.0), queue(64, 100.0), seed, Disturbance::Quiet)
                .record;
        let is_near = |found: f64| (found / 594.5 - 1.0).abs() < 0.1;
        assert!(
            record.found().map_or(record.is_undecided(), is_near),
            "seed {seed}: {}",
            steps_text(&record)
        );
    }
}

/// A twentieth of the transactions takes 30 ms at any load.
const WITH_SLOW: Queue = Queue { servers: 16, mean_ms: 0.2, slow: Some((0.05, 30.0)) };

#[test]
fn a_transaction_that_exceeds_the_limit_by_itself_fails_at_every_load() {
    for (seed, from) in
        searches(4).flat_map(|seed| [(seed, None), (seed, Some(100.0)), (seed, Some(2.0))])
    {
        let Ran { record, seconds } =
            simulated(&Search { from, ..P99 }, USUAL, WITH_SLOW, seed, Disturbance::Quiet);
        let slow = Slow { transaction: Some("slow".to_owned()), alone_ms: 30.0 };
        let expected = SearchEnd::FailsEverywhere { slow: Some(slow), failing: None };
        assert_eq!(
            (record.end.clone(), record.found()),
            (expected, None),
            "{}",
            steps_text(&record)
        );
        assert!(seconds < 60.0 && !record.is_undecided(), "{seconds}");
    }
}

#[test]
fn a_late_generator_ends_a_search_undecided_or_with_a_lower_bound() {
    let mut bounds = 0;
    for seed in searches(4) {
        let of = |below, late| {
            let search = Search { below, ..P99 };
            simulated(&search, USUAL, queue(8, 2.0), seed, Disturbance::Late(late)).record
        };
        // Every step fails because of the generator. Lower loads do not help.
        let record = of(20.0, 25.0);
        assert_eq!(
            (record.end.clone(), record.found()),
            (SearchEnd::Generator, None),
            "{}",
            steps_text(&record)
        );
        assert!(record.is_undecided() && record.steps.len() <= 6, "{}", steps_text(&record));
        // Steps that pass nevertheless give a lower bound of the capacity.
        let record = of(60.0, 25.0);
        assert!(record.is_undecided() || record.is_bound(), "{}", steps_text(&record));
        assert!(record.found().is_none_or(|found| found < 4_000.0), "{}", steps_text(&record));
        bounds += usize::from(record.found().is_some());
    }
    assert!(bounds > 0);
}

#[test]
fn a_figure_that_other_processes_moved_is_marked() {
    let mut moved = 0;
    for seed in searches(20) {
        for (most, search) in [(1.3, P99), (3.0, P99), (1.5, MEAN)] {
            let (queue, truth) =
                if search == P99 { (queue(8, 2.0), 3_745.18) } else { (queue(64, 100.0), 594.5) };
            let record = simulated(&search, USUAL, queue, seed, Disturbance::Others(most)).record;
            let is_off = record.found().is_some_and(|found| (found / truth - 1.0).abs() > 0.1);
            moved += usize::from(is_off);
            assert!(
                !is_off || record.is_bound() || record.disturbance().0 > 0.0,
                "{}",
                steps_text(&record)
            );
        }
    }
    assert!(moved > 0, "the machine was busy enough to matter");
}

/// A step with this known 99th percentile, in milliseconds.
fn observed(figure: f64, window: StepLengths) -> Observed {
    let mut evidence = Evidence {
        seconds: window.seconds,
        arrived: 20_000,
        committed: 20_000,
        is_open_loop: true,
        ..Evidence::default()
    };
    evidence.responses.committed.record_n(1_000_000, 19_700).unwrap();
    evidence.responses.committed.record_n((figure * 1e6) as u64, 300).unwrap();
    Observed { evidence, throughput: 2_000.0, ..Observed::default() }
}

/// Runs a search on a system whose response is a function of the load and of the number of the
/// step.
fn synthetic(mut state: SaturationSearch, system: impl Fn(f64, usize) -> f64) -> SearchRecord {
    for number in 0.. {
        match state.next() {
            Next::Capacity(_) => state.take_capacity(2_000.0),
            Next::Alone(window) => state.take_alone(&observed(system(0.0, number), window)),
            Next::Load(load, window) | Next::Keep(load, window) => {
                if state.take(&observed(system(load, number), window)) {
                    break;
                }
            }
            Next::Over => break,
        }
    }
    state.into_record()
}

/// The 99th percentile of an M/M/1 queue: exponential with rate `capacity - load`.
fn ideal(capacity: f64) -> impl Fn(f64, usize) -> f64 {
    move |load, _| if load < capacity { 1e3 * 100_f64.ln() / (capacity - load) } else { 1e6 }
}

fn state(search: Search) -> SaturationSearch {
    SaturationSearch::new(search, 64, USUAL)
}

#[test]
fn both_ends_are_measured_twice_and_the_lower_one_is_kept() {
    for capacity in [300.0, 1_234.0, 56_789.0] {
        let truth = capacity - 1e3 * 100_f64.ln() / P99.below;
        let record = synthetic(state(P99), ideal(capacity));
        let (passed, failed) = (record.passed.unwrap(), record.failed.unwrap());
        assert!(
            (passed..=failed).contains(&truth) && failed / passed <= PRECISION * 1.01,
            "{}",
            steps_text(&record)
        );
        assert!((record.found().unwrap() / truth - 1.0).abs() < 0.031 && !record.is_bound());
        let fine = |load: f64| {
            record.steps.iter().filter(move |step| step.load >= load && step.seconds >= 5.0)
        };
        assert!(
            fine(failed).filter(|step| step.outcome == Outcome::Failed).count() >= 2,
            "{}",
            steps_text(&record)
        );
        let last = record.steps.last().unwrap();
        assert!(
            (last.load, last.outcome) == (passed, Outcome::Passed) && last.seconds >= 10.0,
            "{last:?}"
        );
        assert!(record.steps.len() <= 20, "{}", steps_text(&record));
    }
}

#[test]
fn the_last_load_between_the_ends_is_kept_if_the_upper_end_is_sure() {
    let is_new = |capacity: f64| {
        let record = synthetic(state(P99), ideal(capacity));
        let (last, others) = record.steps.split_last().unwrap();
        let failed = record.failed.unwrap();
        others.iter().all(|step| step.load != last.load) && last.load < failed
    };
    let new = (0..20).filter(|at| is_new(300.0 * 1.1_f64.powi(*at))).count();
    assert!((1..20).contains(&new), "{new}");
}

#[test]
fn a_second_search_begins_near_the_first_and_takes_few_steps() {
    let record = synthetic(state(P99).near(1_000.0), ideal(1_234.0));
    assert!(record.steps.len() <= 6, "{}", steps_text(&record));
    let far = synthetic(state(P99).near(1_000.0), ideal(5_000.0));
    assert!((far.found().unwrap() / 4_770.0 - 1.0).abs() < 0.02, "{}", steps_text(&far));
}

#[test]
fn a_step_that_met_a_checkpoint_does_not_end_the_search_below() {
    let calm = synthetic(state(P99), ideal(1_234.0)).found().unwrap();
    for odd in 0..12 {
        let unlucky =
            synthetic(
                state(P99),
                |load, number| if number == odd { 1e3 } else { ideal(1_234.0)(load, number) },
            );
        let lucky =
            synthetic(
                state(P99),
                |load, number| if number == odd { 2.0 } else { ideal(1_234.0)(load, number) },
            );
        for record in [unlucky, lucky] {
            let found =
                record.found().unwrap_or_else(|| panic!("step {odd}: {}", steps_text(&record)));
            assert!((found / calm - 1.0).abs() < 0.04, "step {odd}: {}", steps_text(&record));
        }
    }
}

#[test]
fn whole_clients_are_tried_up_to_the_most_there_may_be() {
    let search = Search { most: LoadBy::Clients, ..P99 };
    let of = |most, system: fn(f64, usize) -> f64| {
        synthetic(SaturationSearch::new(search.clone(), most, USUAL), system)
    };
    let record = of(64, |clients, _| clients + 0.5);
    assert_eq!(
        (record.passed, record.failed, &record.end),
        (Some(19.0), Some(20.0), &SearchEnd::Found)
    );
    let open = of(10, |clients, _| clients);
    assert_eq!(
        (open.found(), open.failed, open.is_bound()),
        (Some(10.0), None, true),
        "{}",
        steps_text(&open)
    );
    assert!(matches!(of(64, |_, _| 1e4).end, SearchEnd::FailsEverywhere { .. }));
}

#[test]
fn no_search_takes_more_steps_than_the_documents_say() {
    let (mut longest, mut at_last) = (0, 0);
    for seed in 0..200 {
        let mut random = SplitMix64(seed);
        let figures: Vec<f64> =
            (0..100).map(|_| if random.bits().is_multiple_of(2) { 1.0 } else { 100.0 }).collect();
        let record = synthetic(state(P99), |_, number| figures[number]);
        assert!(record.steps.len() <= STEPS_MAX, "{}", steps_text(&record));
        let is_kept = record.steps.last().is_some_and(|step| step.outcome == Outcome::Passed);
        assert!(record.found().is_none() || is_kept, "{}", steps_text(&record));
        let is_near = |passed: f64, failed: f64| failed / passed <= NEIGHBOUR;
        let is_found = record
            .passed
            .zip(record.failed)
            .is_some_and(|(passed, failed)| is_near(passed, failed));
        assert!(record.end != SearchEnd::Found || is_found, "{}", steps_text(&record));
        longest = longest.max(record.steps.len());
        at_last += usize::from(record.steps.len() == STEPS_MAX && record.found().is_some());
    }
    assert_eq!(longest, STEPS_MAX);
    assert!(at_last > 0, "the last step confirms the highest load that passed");
}

fn evidence(count: u64, beyond: u64) -> Evidence {
    let mut evidence =
        Evidence { seconds: 1.0, arrived: count, committed: count, ..Evidence::default() };
    (0..count).for_each(|at| {
        record(&mut evidence.responses.committed, if at < beyond { 30_000_000 } else { 1_000_000 });
    });
    evidence
}

#[test]
fn small_samples_decide_a_step_only_if_more_cannot_change_it() {
    let of = |search: &Search, count, beyond| evidence(count, beyond).judge(search).outcome;
    let p95 = Search { metric: LimitMetric::P95, ..P99 };
    let mean = Search { metric: LimitMetric::Mean, ..P99 };
    let rows = [
        // The 18 transactions of a step that once decided "1.24 transactions per second", and the
        // number that a percentile needs.
        (&P99, 18, 0, Outcome::Open),
        (&P99, 0, 0, Outcome::Open),
        (&P99, 999, 0, Outcome::Open),
        (&P99, 1_000, 0, Outcome::Passed),
        (&P99, 1_000, 11, Outcome::Failed),
        // Eleven of a thousand are too many, whatever the others take.
        (&P99, 300, 11, Outcome::Failed),
        (&P99, 300, 10, Outcome::Open),
        (&p95, 199, 0, Outcome::Open),
        (&p95, 200, 0, Outcome::Passed),
        (&mean, 1, 1, Outcome::Open),
        (&mean, 99, 0, Outcome::Open),
        (&mean, 200, 0, Outcome::Passed),
        (&mean, 200, 200, Outcome::Failed),
    ];
    for (search, count, beyond, expected) in rows {
        assert_eq!(of(search, count, beyond), expected, "{:?} {count} {beyond}", search.metric);
    }
}

#[test]
fn a_result_is_clear_when_chance_does_not_explain_it() {
    for (count, beyond, outcome, is_clear) in [
        (1_000, 9, Outcome::Passed, false),
        // Ten were expected.
        (1_000, 3, Outcome::Passed, true),
        (2_000, 25, Outcome::Failed, false),
        (1_000, 60, Outcome::Failed, true),
    ] {
        let judged = evidence(count, beyond).judge(&P99);
        assert_eq!((judged.outcome, judged.is_clear), (outcome, is_clear), "{count} {beyond}");
    }
    assert_eq!(evidence(300, 10).judge(&P99).figure, None, "there is no percentile of so few");
    // In a short step only a clear result counts.
    let mut state = state(P99);
    state.take_capacity(2_000.0);
    for (count, beyond, expected) in [(2_000, 19, Outcome::Open), (10_000, 0, Outcome::Passed)] {
        let Next::Load(load, window) = state.next() else { panic!("a load") };
        let evidence = Evidence { seconds: window.seconds, ..evidence(count, beyond) };
        state.take(&Observed { evidence, ..Observed::default() });
        let step = state.last().expect("it was just taken");
        assert_eq!((step.load, step.outcome), (load, expected));
    }
}

#[test]
fn late_generator_never_fails_a_load_but_can_end_the_search() {
    let late = |figure, window| Observed { is_by_generator: true, ..observed(figure, window) };
    let mut failing = state(P99);
    for _ in 0..8 {
        match failing.next() {
            Next::Capacity(_) => failing.take_capacity(2_000.0),
            Next::Load(_, window) | Next::Keep(_, window) => {
                failing.take(&observed(1e3, window));
            }
            Next::Alone(window) => failing.take_alone(&late(1e3, window)),
            Next::Over => panic!("a late generator says nothing about a client alone"),
        }
    }
    // The generator is late when the load that passed is measured once more.
    let mut state = state(P99);
    let mut is_late = false;
    loop {
        let next = state.next();
        is_late |= matches!(next, Next::Keep(..));
        match next {
            Next::Capacity(_) => state.take_capacity(2_000.0),
            Next::Load(load, window) | Next::Keep(load, window) => {
                let figure = if is_late { 1e3 } else { ideal(1_234.0)(load, 0) };
                state.take(&Observed { is_by_generator: is_late, ..observed(figure, window) });
            }
            Next::Alone(window) => state.take_alone(&observed(1.0, window)),
            Next::Over => break,
        }
    }
    let record = state.into_record();
    let is_spoiled = |step: &&LoadStep| step.outcome == Outcome::Generator;
    assert_eq!(
        (&record.end, record.found()),
        (&SearchEnd::Generator, None),
        "{}",
        steps_text(&record)
    );
    assert_eq!(record.steps.iter().filter(is_spoiled).count(), 3, "{}", steps_text(&record));
}

/// Runs a search in which some steps, selected by their number and whether they are to be kept,
/// lose too much CPU time to other guests. Response times grow by a factor in these.
fn under_steal(is_stolen: impl Fn(usize, bool) -> bool, slowed: f64) -> SearchRecord {
    let mut state = state(P99);
    for number in 0.. {
        let next = state.next();
        let (steal, factor) = match is_stolen(number, matches!(next, Next::Keep(..))) {
            true => (0.06, slowed),
            false => (0.04, 1.0),
        };
        let of =
            |load, window| Observed { steal, ..observed(ideal(1_234.0)(load, 0) * factor, window) };
        match next {
            Next::Capacity(_) => state.take_capacity(2_000.0),
            Next::Alone(window) => state.take_alone(&of(0.0, window)),
            Next::Load(load, window) | Next::Keep(load, window)
                if state.take(&of(load, window)) =>
            {
                break;
            }
            Next::Load(..) | Next::Keep(..) => {}
            Next::Over => break,
        }
    }
    state.into_record()
}

#[test]
fn steps_with_high_steal_are_repeated_a_limited_number_of_times() {
    let stolen =
        |record: &SearchRecord| record.steps.iter().filter(|step| step.steal > 0.05).count();
    let calm = under_steal(|_, _| false, 1.0);
    let first_kept = calm.steps.len();
    // They would have failed.
    let record = under_steal(|number, _| (2..6).contains(&number), 100.0);
    assert_eq!((record.passed, stolen(&record)), (calm.passed, 4), "{}", steps_text(&record));
    assert_eq!(
        record.disturbance().1,
        0.04,
        "no load failed because of it: {}",
        steps_text(&record)
    );
    assert!(
        record.steps.iter().all(|step| step.transactions == 20_000),
        "each for itself: {}",
        steps_text(&record)
    );
    // The step to keep would have failed, or passed nevertheless.
    for (times, slowed, expected) in [(3, 100.0, 0.04), (3, 1.0, 0.04), (usize::MAX, 1.0, 0.06)] {
        let record = under_steal(|number, is_kept| is_kept && number - first_kept < times, slowed);
        let last = record.steps.last().unwrap();
        assert_eq!(
            (record.passed, last.outcome, last.steal),
            (calm.passed, Outcome::Passed, expected)
        );
        assert!(record.found().is_some() && stolen(&record) <= 6, "{}", steps_text(&record));
    }
    let record = under_steal(|_, _| true, 100.0);
    assert!(record.steps.len() <= STEPS_MAX, "{}", steps_text(&record));
}

#[test]
fn slow_transaction_is_sought_only_among_those_of_the_limit() {
    let times = ResponseSummary {
        count: 9,
        p50: BoundedLatency::value(30e6),
        ..ResponseSummary::default()
    };
    let response = Some(times);
    let named =
        NamedTransactions { name: "slow".to_owned(), response, ..NamedTransactions::default() };
    let counts = TransactionCounters {
        name: "slow".to_owned(),
        started: 9,
        ..TransactionCounters::default()
    };
    let counters =
        TrialCounters { started: 9, transactions: vec![counts], ..TrialCounters::default() };
    let record = TrialRecord { counters, transactions: vec![named], ..TrialRecord::default() };
    let of = |name: &str| slow(&Search { transaction: Some(name.to_owned()), ..P99 }, &record);
    assert_eq!(of("slow").and_then(|it| it.transaction).as_deref(), Some("slow"));
    assert_eq!(of("fast"), None);
}

#[test]
fn step_with_backlog_or_failures_does_not_pass() {
    let with = |change: fn(&mut Evidence)| {
        let mut evidence = Evidence { is_open_loop: true, ..evidence(2_000, 0) };
        change(&mut evidence);
        evidence.judge(&P99).outcome
    };
    assert_eq!(with(|_| {}), Outcome::Passed);
    assert_eq!(with(|it| it.arrived = 2_100), Outcome::Failed, "4 % are no keeping up");
    assert_eq!(
        with(|it| (it.arrived, it.lost) = (2_010, 10)),
        Outcome::Failed,
        "who fails quickly is not fast"
    );
    assert_eq!(
        with(|it| (it.arrived, it.lost) = (2_000, 2)),
        Outcome::Open,
        "two failures may be an accident"
    );
    assert_eq!(with(|it| (it.arrived, it.lost) = (2_001, 1)), Outcome::Passed);
    // One of four arrivals is unanswered: the system did not fall behind.
    let mut few = Evidence { is_open_loop: true, ..evidence(3, 0) };
    few.arrived = 4;
    assert_eq!(few.judge(&P99).outcome, Outcome::Open);
    let failed = Search { metric: LimitMetric::Failed, below: 1.0, ..P99 };
    let mut failing = evidence(980, 0);
    (failing.arrived, failing.lost) = (1_000, 20);
    let judged = failing.judge(&failed);
    assert_eq!((judged.outcome, judged.figure), (Outcome::Failed, Some(2.0)));
}

#[test]
fn a_load_with_too_few_transactions_ends_the_search_undecided() {
    // One transaction a second, never slow.
    let mut state = SaturationSearch::new(Search { most: LoadBy::Clients, ..P99 }, 8, USUAL);
    let mut seconds = 0.0;
    while let Next::Load(_, window) = state.next() {
        seconds += window.seconds;
        let mut evidence = evidence(window.seconds as u64, 0);
        evidence.seconds = window.seconds;
        state.take(&Observed { evidence, ..Observed::default() });
    }
    let record = state.into_record();
    assert!(
        matches!(record.end, SearchEnd::TooFew { load: 1.0, needed: 1_000, .. }),
        "{}",
        steps_text(&record)
    );
    assert!(record.is_undecided() && seconds <= 101.0, "{seconds}");
    assert!(record.steps.iter().all(|step| step.outcome == Outcome::Open));
}

use super::*;
use dyno_model::counters::{TransactionCounters, TrialCounters};
use dyno_model::event::Phase;
use dyno_model::latency::histogram;
use dyno_model::limit::LimitMetric;
use dyno_model::plan::{LoadPlan, Variation, WorkloadPlan};
use dyno_model::record::{NamedTransactions, OpenLoop};
use dyno_model::response::{BoundedLatency, ResponseSummary};
use std::collections::BTreeSet;

fn search() -> Search {
    Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P95,
        below: 20.0,
        transaction: None,
        from: None,
    }
}

#[derive(Default)]
struct Listening(Vec<String>);

impl Listener for Listening {
    fn event(&mut self, event: &Event) {
        self.0.push(match event {
            Event::TrialStarted { trial } => format!("started {trial}"),
            Event::Stepped { step_number: number, .. } => format!("stepped {number}"),
            other => format!("{other:?}"),
        });
    }

    fn interval(&mut self, _interval: &IntervalRecord) {
        self.0.push("interval".to_owned());
    }
}

/// A server with a capacity of 1,000 transactions per second, a tenth of which take `slow_ms`.
struct Server {
    slow_ms: u64,
    /// True when a checkpoint disturbs the first step that is to be kept.
    is_unlucky: bool,
    /// Number of candidate steps during which other guests take CPU time.
    stolen: usize,
    /// True when the warnings belong to no kept step.
    is_calm_at_last: bool,
    /// The measurement that ends early, and who ends it.
    cut: (usize, TrialEnd),
    warnings: Vec<Warning>,
    measured: Vec<(String, Option<f64>)>,
}

impl Server {
    fn new() -> Self {
        let (warnings, measured) = (Vec::new(), Vec::new());
        Self {
            slow_ms: 1,
            is_unlucky: false,
            stolen: 0,
            is_calm_at_last: false,
            cut: (0, TrialEnd::Trial),
            warnings,
            measured,
        }
    }

    fn measure(
        &mut self,
        trial: &Trial,
        under: &Configuration,
        listener: &mut dyn Listener,
    ) -> TrialRecord {
        self.measured.push((trial.id.clone(), under.load.rate));
        listener.event(&Event::PhaseStarted { trial: trial.id.clone(), phase: Phase::Connecting });
        let StopRule::Duration(window_length) = under.load.stop else { panic!("a duration") };
        let seconds = window_length.as_secs_f64();
        let arrived = (under.load.rate.unwrap_or(1_000.0) * seconds) as u64;
        let is_kept = !trial.id.contains("-s");
        let is_unlucky = is_kept && std::mem::take(&mut self.is_unlucky);
        let is_passing = under.load.rate.is_none_or(|rate| rate <= 1_000.0) && !is_unlucky;
        let committed = if is_passing { arrived } else { arrived / 2 };
        let slow = committed / 10;
        let mut interval = IntervalRecord::empty(&trial.id, Nanos(0), window_length, &[]);
        let (mut fast, mut late) = (histogram(), histogram());
        fast.record_n(1_000_000, committed - slow).unwrap();
        late.record_n(self.slow_ms * 1_000_000, slow).unwrap();
        interval.response_times.add(&fast).unwrap();
        interval.response_times.add(&late).unwrap();
        interval.transactions = vec![("fast".to_owned(), fast), ("slow".to_owned(), late)];
        listener.interval(&interval);
        let named = |name: &str, ms: u64| NamedTransactions {
            name: name.to_owned(),
            response: Some(ResponseSummary {
                count: 1,
                p50: BoundedLatency::value(ms as f64 * 1e6),
                ..ResponseSummary::default()
            }),
            ..NamedTransactions::default()
        };
        let count = |name: &str, started: u64| TransactionCounters {
            name: name.to_owned(),
            started,
            committed: started,
            ..TransactionCounters::default()
        };
        let mut warnings =
            if is_kept && self.is_calm_at_last { Vec::new() } else { self.warnings.clone() };
        if is_kept && self.stolen > 0 {
            self.stolen -= 1;
            warnings.push(Warning::Steal { share: 0.08 });
        }
        let is_cut = self.measured.len() == self.cut.0;
        if is_cut {
            warnings.push(Warning::CutShort { reason: "interrupted".into() });
        }
        TrialRecord {
            trial: trial.clone(),
            window_length,
            counters: TrialCounters {
                started: committed,
                committed,
                transactions: vec![count("fast", committed - slow), count("slow", slow)],
                ..TrialCounters::default()
            },
            transactions: vec![named("fast", 1), named("slow", self.slow_ms)],
            open_loop: under.load.rate.map(|_| OpenLoop {
                arrived,
                unstarted: arrived - committed,
                ..OpenLoop::default()
            }),
            warnings,
            end: if is_cut { self.cut.1 } else { TrialEnd::Trial },
            ..TrialRecord::default()
        }
    }
}

fn run(
    searches: &mut Searches,
    search: &Search,
    block: u32,
    server: &mut Server,
) -> (Result<TrialRecord, Missing>, Vec<String>) {
    let seconds = |seconds: u64| Nanos(seconds * 1_000_000_000);
    let configuration = Configuration {
        system: 0,
        clients: 8,
        workload: WorkloadPlan::new("idle", dyno_model::catalog::WorkloadOptions::default()),
        load: LoadPlan {
            find: Some(search.clone()),
            warmup: seconds(2),
            ..LoadPlan::new(StopRule::Duration(seconds(10)))
        },
        levels: Vec::new(),
        variation: Variation::default(),
        background: Vec::new(),
    };
    let trial = Trial { id: format!("b0{block}-001"), block, configuration: 0 };
    let mut heard = Listening::default();
    let result =
        searches.run(search, &trial, &configuration, &mut heard, &mut |trial, under, listener| {
            Ok(server.measure(trial, under, listener))
        });
    (result, heard.0)
}

fn found(outcome: Result<TrialRecord, Missing>) -> TrialRecord {
    outcome.unwrap_or_else(|_| panic!("it finds something"))
}

#[test]
fn each_step_has_a_name_of_its_own_and_the_last_is_the_trial() {
    let mut searches = Searches::default();
    let mut server = Server::new();
    let (first, heard) = run(&mut searches, &search(), 1, &mut server);
    let record = found(first);
    let result = record.search.as_ref().unwrap();
    assert!((result.passed.unwrap()..=result.failed.unwrap()).contains(&1_000.0), "{result:?}");
    let names: Vec<&str> = server.measured.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("b01-001-s01", "b01-001"));
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert_eq!(server.measured[0].1, None, "it begins with a closed loop");
    let of = |heard: &[String], what: &str| heard.iter().filter(|it| it.starts_with(what)).count();
    assert_eq!(of(&heard, "stepped"), result.steps.len());
    assert_eq!(
        (of(&heard, "PhaseStarted"), of(&heard, "interval")),
        (1, 1),
        "of the kept step alone: {heard:?}"
    );

    let mut again = Server::new();
    let near = found(run(&mut searches, &search(), 2, &mut again).0).search.unwrap();
    assert!(again.measured.len() < server.measured.len(), "{near:?}");
    let at = again.measured[0].1.unwrap();
    assert!((at / result.found().unwrap() - 1.0).abs() < 0.01, "{at}");

    // A checkpoint disturbs the step that is to be kept.
    let mut unlucky = Server { is_unlucky: true, ..Server::new() };
    let (third, heard) = run(&mut searches, &search(), 3, &mut unlucky);
    let passed = found(third).search.unwrap().passed.unwrap();
    assert!((passed / result.passed.unwrap() - 1.0).abs() < 0.07, "{passed}");
    assert_eq!(
        of(&heard, "started b03-001"),
        1,
        "what was written of the attempt does not count: {heard:?}"
    );
}

#[test]
fn a_step_to_keep_that_would_be_invalid_for_steal_is_measured_again() {
    let mut server = Server { stolen: 2, ..Server::new() };
    let (outcome, heard) = run(&mut Searches::default(), &search(), 1, &mut server);
    let record = found(outcome);
    assert!(record.is_valid() && record.search.as_ref().unwrap().found().is_some(), "{record:?}");
    let kept = server.measured.iter().filter(|(id, _)| id == "b01-001").count();
    let discarded = heard.iter().filter(|it| *it == "started b01-001").count();
    assert_eq!((kept, discarded), (3, 2), "{heard:?}");

    // If steal does not end, the trial reports it.
    let mut server = Server { stolen: usize::MAX, ..Server::new() };
    let record = found(run(&mut Searches::default(), &search(), 1, &mut server).0);
    assert!(!record.is_valid() && record.search.as_ref().unwrap().found().is_some());
    assert_eq!(server.measured.iter().filter(|(id, _)| id == "b01-001").count(), 6);
}

#[test]
fn a_search_that_finds_nothing_says_what_takes_too_long() {
    let mut server = Server { slow_ms: 30, ..Server::new() };
    let (outcome, heard) = run(&mut Searches::default(), &search(), 1, &mut server);
    let Err(Missing::Search(result)) = outcome else { panic!("no load passes") };
    let SearchEnd::FailsEverywhere { slow: Some(slow), .. } = &result.end else {
        panic!("{result:?}")
    };
    assert_eq!((slow.transaction.as_deref(), slow.alone_ms), (Some("slow"), 30.0));
    assert_eq!(heard.iter().filter(|it| it.starts_with("stepped")).count(), result.steps.len());
    let reported =
        dyno_report::no_load(&result.search, &result.end, result.steps.len(), dyno_report::EN);
    assert_eq!(
        reported,
        "the limit p95 < 20 ms fails at every load; a single transaction `slow` takes 30.0 ms"
    );

    // The others pass.
    let of_fast = Search { transaction: Some("fast".to_owned()), ..search() };
    let mut server = Server { slow_ms: 30, ..Server::new() };
    found(run(&mut Searches::default(), &of_fast, 1, &mut server).0);
}

#[test]
fn a_search_that_is_interrupted_keeps_its_steps() {
    let mut whole = Server::new();
    found(run(&mut Searches::default(), &search(), 1, &mut whole).0);
    for (i, (id, _)) in whole.measured.iter().enumerate() {
        let mut server = Server { cut: (i + 1, TrialEnd::User), ..Server::new() };
        let (outcome, heard) = run(&mut Searches::default(), &search(), 1, &mut server);
        // The first measurement is that of the capacity.
        let stepped = heard.iter().filter(|it| it.starts_with("stepped")).count();
        assert_eq!(stepped, i.saturating_sub(1));
        match outcome {
            // Only the trial itself has files that a record describes.
            Ok(record) => {
                assert_eq!((&*record.trial.id, &**id), ("b01-001", "b01-001"));
                assert_eq!(record.search.unwrap().end, SearchEnd::Interrupted);
            }
            Err(Missing::Interrupted) => assert_ne!(id, "b01-001"),
            Err(_) => panic!("measurement {i}"),
        }
    }
}

#[test]
fn a_step_that_fails_ends_the_search_with_its_reason() {
    let outcome = |end| {
        let mut server = Server { cut: (3, end), ..Server::new() };
        run(&mut Searches::default(), &search(), 1, &mut server).0
    };
    let reason = Reason::from("interrupted");
    assert!(matches!(outcome(TrialEnd::System), Err(Missing::System(it)) if it == reason));
    assert!(matches!(outcome(TrialEnd::Trial), Err(Missing::Trial(it)) if it == reason));
}

#[test]
fn machine_overload_ends_a_search_or_is_noted_in_its_result() {
    let busy = Warning::GeneratorBusy { share: 0.95 };
    let mut server = Server { slow_ms: 30, warnings: vec![busy.clone()], ..Server::new() };
    let (outcome, _) = run(&mut Searches::default(), &search(), 1, &mut server);
    let Err(Missing::Search(result)) = outcome else { panic!("nothing is known") };
    assert_eq!((&result.end, result.is_undecided()), (&SearchEnd::Generator, true));

    let mut server = Server { warnings: vec![busy], ..Server::new() };
    let record = found(run(&mut Searches::default(), &search(), 1, &mut server).0);
    assert!(record.search.as_ref().unwrap().is_bound() && record.is_valid(), "{:?}", record.search);

    // A mere warning does not invalidate a step.
    let warned = Warning::GeneratorBusy { share: 0.75 };
    let mut server = Server { slow_ms: 30, warnings: vec![warned], ..Server::new() };
    let (outcome, _) = run(&mut Searches::default(), &search(), 1, &mut server);
    let Err(Missing::Search(result)) = outcome else { panic!("no load passes") };
    assert!(matches!(result.end, SearchEnd::FailsEverywhere { .. }), "{result:?}");

    let others = Warning::OtherProcessesCpu { share: 0.4, processes: Vec::new() };
    for is_calm_at_last in [false, true] {
        let mut server =
            Server { warnings: vec![others.clone()], is_calm_at_last, ..Server::new() };
        let record = found(run(&mut Searches::default(), &search(), 1, &mut server).0);
        assert_eq!(record.warnings, std::slice::from_ref(&others), "once");
    }
}

#[test]
fn a_step_takes_the_response_times_that_its_limit_is_about() {
    let taken = |is_warmup, name: Option<&str>| {
        let mut interval = IntervalRecord::empty("t", Nanos(0), Nanos(1_000), &[]);
        interval.is_warmup = is_warmup;
        let times = |number| {
            let mut times = histogram();
            times.record_n(1_000, number).unwrap();
            times
        };
        interval.response_times = times(5);
        interval.transactions = vec![("fast".to_owned(), times(3)), ("slow".to_owned(), times(2))];
        interval.censored = Some(times(4));
        let mut listening = Listening::default();
        let responses = Responses::default();
        let mut heard = StepListener { listener: &mut listening, is_kept: false, name, responses };
        heard.interval(&interval);
        (heard.responses.committed.len(), heard.responses.censored.len())
    };
    assert_eq!(taken(false, None), (5, 4));
    // Transactions that did not commit have no name.
    assert_eq!(taken(false, Some("fast")), (3, 0));
    assert_eq!(taken(true, None), (0, 0));
}

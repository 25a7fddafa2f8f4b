//! Trials whose clients are divided among several generators, here threads that exchange messages
//! as processes do.

use crate::bench::{NOBODY, doing, null, send};
use crate::stages::plan;
use dyno_engine::random::Random;
use dyno_engine::workload::ClientId;
use dyno_engine::{
    GeneratorReport, Generators, LoadInput, Node, Session, Start, TrialError, TrialInput,
    run_subset, run_trial,
};
use dyno_model::catalog::Growth;
use dyno_model::event::{CommitActivity, Listener};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadBy, LoadPlan, StopRule, Trial};
use dyno_model::reason::Reason;
use dyno_model::record::{GeneratorSummary, IntervalRecord, TrialRecord};
use dyno_model::units::Nanos;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const SEED: u64 = 7;
const CLIENTS: u32 = 5;

/// Statements by client and number of the transaction.
type Sent = BTreeSet<(u32, u64, String)>;

/// A stall: clients of the first of two generators stop at once, those of the second one later, and
/// all wait until it was reported.
#[derive(Default)]
struct Stall {
    is_over: Mutex<bool>,
    ends: Condvar,
}

impl Stall {
    /// What a client waits for before a transaction.
    fn hold_up(&self, client: ClientId, sequence: u64) {
        let pause = match (client.0 % 2, sequence) {
            (0, 50..) | (1, 80..) => Duration::from_secs(60),
            (1, _) => Duration::from_millis(5),
            _ => return,
        };
        let over = self.is_over.lock().expect("nobody panics");
        drop(self.ends.wait_timeout_while(over, pause, |is_over| !*is_over));
    }
}

/// What a client does: a statement with a key; client 3 cannot go on after so many.
fn keys(
    sent: &Arc<Mutex<Sent>>,
    fails_at: u64,
    stall: Option<Arc<Stall>>,
) -> crate::bench::Doing<impl AsyncFn(ClientId, u64, &mut Session, &mut Random) -> Outcome + use<>>
{
    let sent = Arc::clone(sent);
    doing(async move |client: ClientId, sequence, session: &mut Session, random: &mut Random| {
        if client.0 == 3 && sequence == fails_at {
            return Err(FailureKind::BadStatement.failure("no such table"));
        }
        stall.iter().for_each(|it| it.hold_up(client, sequence));
        let sql = format!("SELECT {}", random.below(1_000_000_000_000));
        send(session, &sql).await?;
        sent.lock().expect("no client panics").insert((client.0, sequence, sql));
        Ok(())
    })
}

type Outcome = Result<(), dyno_model::failure::OperationFailure>;

/// Threads in the place of processes.
struct Threads {
    reports: Receiver<(usize, String)>,
    sender: Sender<(usize, String)>,
    starts: Mutex<Vec<Sender<Start>>>,
    /// The start of each, and whether its stop was reported.
    reported: Mutex<Vec<(Start, bool)>>,
    load: LoadPlan,
    number: u32,
    sent: Arc<Mutex<Sent>>,
    fails_at: u64,
    /// Script of the null server.
    server: &'static str,
    stall: Option<Arc<Stall>>,
}

struct Reports(usize, Sender<(usize, String)>);

impl Reports {
    fn report(&self, report: &GeneratorReport) {
        let _ = self.1.send((self.0, serde_json::to_string(report).expect("it is data")));
    }
}

impl Listener for Reports {
    fn commit_activity(&mut self, activity: CommitActivity) {
        self.report(&GeneratorReport::Activity(activity));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.report(&GeneratorReport::interval(interval));
    }
}

impl Threads {
    fn new(number: u32, load: &LoadPlan, fails_at: u64) -> Self {
        let (sender, reports) = channel();
        let (starts, reported, sent) = Default::default();
        Self {
            reports,
            sender,
            starts,
            reported,
            load: load.clone(),
            number,
            sent,
            fails_at,
            server: "",
            stall: None,
        }
    }
}

impl Generators for Threads {
    fn assign(&self, _growth: Option<Growth>) -> Result<(), TrialError> {
        for generator in 0..self.number {
            let (go, starts) = channel();
            self.starts.lock().expect("nobody panics").push(go);
            let mut reports = Reports(generator as usize, self.sender.clone());
            let (load, number) = (self.load.clone(), self.number);
            let keys = keys(&self.sent, self.fails_at, self.stall.clone());
            let server = null(self.server);
            std::thread::spawn(move || {
                let seed = dyno_engine::random::trial_seed(SEED, "b01-001");
                let input = LoadInput::new("b01-001", CLIENTS, &load, seed, &NOBODY);
                let input = LoadInput { interval: Nanos(100_000_000), ..input };
                let link = Reports(reports.0, reports.1.clone());
                let ready = || {
                    link.report(&GeneratorReport::Ready);
                    starts.recv().map_err(|_| TrialError::Interrupted)
                };
                let input = input.of_generator(generator, number);
                let result = run_subset(vec![keys], (&[server], 0), &input, ready, &mut reports);
                reports.report(&match result {
                    Ok(result) => GeneratorReport::Done(Box::new(result)),
                    Err(error) => GeneratorReport::Failed(error.into()),
                });
            });
        }
        Ok(())
    }

    fn summaries(&self) -> Vec<GeneratorSummary> {
        let host = "here".to_owned();
        let named =
            |number| GeneratorSummary { number, host: host.clone(), ..GeneratorSummary::default() };
        (0..self.number).map(named).collect()
    }

    fn start(&self) -> Result<Instant, TrialError> {
        let epoch = Instant::now() + Duration::from_millis(20);
        for go in self.starts.lock().expect("nobody panics").iter() {
            let start = Start::at(epoch);
            self.reported.lock().expect("nobody panics").push((start.clone(), false));
            go.send(start).expect("it waits");
        }
        Ok(epoch)
    }

    fn next(&self, wait: Duration) -> Result<Option<(usize, GeneratorReport)>, TrialError> {
        let mut reported = self.reported.lock().expect("nobody panics");
        for (generator, (start, is_reported)) in reported.iter_mut().enumerate() {
            if let (Some(cause), false) = (start.stopped(), *is_reported) {
                *is_reported = true;
                return Ok(Some((generator, GeneratorReport::Stopped(cause.clone()))));
            }
        }
        drop(reported);
        match self.reports.recv_timeout(wait) {
            Ok((from, text)) => {
                Ok(Some((from, serde_json::from_str(&text).expect("what was written can be read"))))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(TrialError::Failed("gone".into())),
        }
    }

    fn stop(&self, cause: &Reason) {
        self.reported
            .lock()
            .expect("nobody panics")
            .iter()
            .for_each(|(it, _)| it.stop(cause.clone()));
    }
}

fn trial(load: &LoadPlan, generators: Option<&Threads>) -> (Sent, TrialRecord) {
    heard(load, generators, &mut ())
}

fn heard(
    load: &LoadPlan,
    generators: Option<&Threads>,
    listener: &mut dyn Listener,
) -> (Sent, TrialRecord) {
    let own = Arc::default();
    let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
    let server = null(generators.map_or("", |it| it.server));
    let mut input = TrialInput::new(trial, Node::alone(server), CLIENTS, load, SEED, &NOBODY);
    input.load.interval = Nanos(100_000_000);
    input.generators = generators.map(|it| it as &dyn Generators);
    let record =
        run_trial(keys(&own, u64::MAX, None), &input, listener).expect("it can be measured");
    let sent = generators.map_or(own, |it| Arc::clone(&it.sent));
    let sent = std::mem::take(&mut *sent.lock().expect("no client panics"));
    (sent, record)
}

#[test]
fn several_generators_do_the_work_of_one_and_their_counters_add_up() {
    let load = LoadPlan::new(StopRule::TransactionsPerClient(40));
    let (keys, alone) = trial(&load, None);
    for number in [1, 2, 4, 5] {
        let (sent, record) = trial(&load, Some(&Threads::new(number, &load, u64::MAX)));
        assert_eq!(sent, keys, "{number} generators");
        assert_eq!(record.counters, alone.counters);
        assert_eq!(record.transaction_latency.count, 200);
        assert_eq!(record.counters.check(), Vec::<String>::new());
        let parts = record.generators.expect("there are several").summaries;
        let each = |of: fn(&GeneratorSummary) -> u64| parts.iter().map(of).sum::<u64>();
        assert_eq!(parts.len(), number as usize);
        assert_eq!((each(|it| it.clients.into()), each(|it| it.committed)), (5, 200));
        assert!(parts.iter().all(|it| it.lag.is_none() && it.busiest_worker > 0.0));
    }
}

#[test]
fn budget_and_open_loop_arrivals_are_divided_among_generators() {
    let budget = LoadPlan::new(StopRule::Transactions(1_003));
    let open =
        LoadPlan { rate: Some(2_000.0), ..LoadPlan::new(StopRule::Duration(Nanos(400_000_000))) };
    let arrived = trial(&open, None).1.open_loop.expect("an open loop").arrived;
    for number in [2, 3] {
        let record = trial(&budget, Some(&Threads::new(number, &budget, u64::MAX))).1;
        assert_eq!(record.counters.committed, 1_003);
        let record = trial(&open, Some(&Threads::new(number, &open, u64::MAX))).1;
        assert_eq!(record.open_loop.expect("an open loop").arrived, arrived, "{number}");
    }
}

#[test]
fn stages_have_the_arrivals_and_the_active_clients_of_all_generators() {
    let load = plan(LoadBy::Rate, &[(200, 500.0, 500.0), (200, 1_500.0, 1_500.0)]);
    let due = |generators: Option<&Threads>| {
        let stages = trial(&load, generators).1.stages;
        stages.iter().map(|it| it.response.map_or(0, |all| all.count)).collect::<Vec<_>>()
    };
    let alone = due(None);
    let load_by_clients = plan(LoadBy::Clients, &[(400, 1.0, 1.0), (200, 5.0, 5.0)]);
    for number in [2, 3] {
        assert_eq!(due(Some(&Threads::new(number, &load, u64::MAX))), alone, "{number}");
        let threads = Threads::new(number, &load_by_clients, u64::MAX);
        let slow = Threads { server: "latency_us=20000", ..threads };
        let stages = trial(&load_by_clients, Some(&slow)).1.stages;
        // One client of all, which waits 20 ms for each answer.
        assert!(stages[0].committed <= 21 && stages[1].committed > 0, "{number}: {stages:?}");
    }
}

#[test]
fn several_generators_report_unstarted_arrivals_and_lags() {
    let load =
        LoadPlan { rate: Some(2_000.0), ..LoadPlan::new(StopRule::Duration(Nanos(400_000_000))) };
    let arrived = trial(&load, None).1.open_loop.expect("an open loop").arrived;
    for number in [2, 3] {
        // Five clients answer 250 times a second.
        let slow = Threads { server: "latency_us=20000", ..Threads::new(number, &load, u64::MAX) };
        let record = trial(&load, Some(&slow)).1;
        let open = record.open_loop.expect("an open loop");
        assert_eq!(open.arrived, arrived, "{number}");
        assert!(open.unstarted > arrived / 2, "{open:?}");
        let parts = record.generators.expect("there are several").summaries;
        let lags = parts.iter().map(|it| it.lag.expect("an open loop").count);
        assert_eq!(lags.sum::<u64>(), record.counters.started);
    }
}

#[test]
fn a_generator_that_cannot_go_on_stops_the_others_and_is_named() {
    let load = LoadPlan::new(StopRule::Duration(Nanos::from_secs(60)));
    let began = Instant::now();
    let record = trial(&load, Some(&Threads::new(2, &load, 50))).1;
    assert!(began.elapsed() < Duration::from_secs(30), "the others were stopped");
    let stopped = record.facts.and_then(|facts| facts.stopped).expect("it was stopped").to_string();
    assert!(
        stopped.starts_with("generator 1 (here): ") && stopped.contains("no such table"),
        "{stopped}"
    );
    assert!(record.counters.failed >= 1 && record.counters.check().is_empty());
}

/// Ends a stall when it is reported.
struct StallReports(Arc<Stall>, Vec<Option<Nanos>>);

impl Listener for StallReports {
    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.1.push(since);
        *self.0.is_over.lock().expect("nobody panics") = true;
        self.0.ends.notify_all();
    }
}

#[test]
fn commits_have_stopped_when_those_of_all_generators_have() {
    let load = LoadPlan::new(StopRule::TransactionsPerClient(100));
    let stall = Arc::new(Stall::default());
    let threads = Threads { stall: Some(Arc::clone(&stall)), ..Threads::new(2, &load, u64::MAX) };
    let mut reports = StallReports(stall, Vec::new());
    let (sent, record) = heard(&load, Some(&threads), &mut reports);
    assert!(matches!(reports.1[..], [Some(_), None] | [Some(_)]), "{:?}", reports.1);
    // Clients of the second generator wait 5 ms before each of 80 transactions.
    let since = reports.1[0].expect("it was seen");
    assert!(since.0 >= 390_000_000, "the first generator alone: {since:?}");
    let gap = record.longest_gap.expect("it was measured");
    assert_eq!(gap.at, since);
    assert_eq!(sent.len(), 500);
}

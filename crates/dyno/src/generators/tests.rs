//! A measurement: what a coordinator costs with up to a thousand generators. They are connections
//! of one other process, which sends what generators send: each second an interval with three kinds
//! of statements, four times a second the commits so far.

use super::fleet::{Fleet, FleetSize, listen};
use super::generator::{self, ReportSender, Shared, clock, run_assignment};
use super::launch::{COORDINATOR, JoinCredentials, KEY, TOKEN};
use super::message::{CoordinatorMessage, GeneratorAssignment, GeneratorMessage};
use super::secure;
use super::trial::DistributedTrial;
use crate::interrupt::Interrupts;
use crate::workload::{AnyWorkload, catalog};
use crate::workload_set::WorkloadSet;
use dyno_engine::{GeneratorReport, Node, TrialInput};
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::event::{CommitActivity, Listener};
use dyno_model::latency;
use dyno_model::launcher::LauncherPlan;
use dyno_model::plan::{LoadPlan, Plan, StopRule};
use dyno_model::record::{CommitSpan, IntervalRecord};
use dyno_model::spec::{Input, parse};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const CLIENTS_OF_EACH: u32 = 1_000;
const SECONDS: u64 = 10;
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
/// Commits of a generator in a second.
const COMMITS: u64 = 10_000;
/// The variable that tells the other process how many generators it is.
const NUMBER: &str = "DYNO_SIMULATED_GENERATORS";

fn plan(generators: u32) -> Plan {
    let clients = generators * CLIENTS_OF_EACH;
    let text = format!(
        "title = \"t\"\nsystem = [{{ name = \"S\", url = \"null:\", data = \"existing\" }}]\n\
         load = {{ clients = {clients}, duration = \"{SECONDS}s\", warmup = \"0s\", \
         generators = {generators} }}\n[workload]\nkind = \"sql\"\n[[workload.scripts]]\n\
         name = \"q\"\nsql = \"SELECT 1;\\nSELECT 2;\\nSELECT 3;\\n\"\n"
    );
    let input = Input { file_name: "t.toml", text: &text, ..Input::default() };
    parse(input, &catalog()).unwrap_or_else(|errors| panic!("{errors}")).1
}

/// Notes how long after its end an interval of all generators is complete.
#[derive(Default)]
struct Delays {
    epoch: Option<Instant>,
    delays: Vec<Duration>,
}

impl Listener for Delays {
    fn clients_begin(&mut self, from_now: Nanos) {
        self.epoch = Some(Instant::now() + Duration::from(from_now));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        let end = Duration::from(interval.start) + Duration::from(interval.length);
        let since = self.epoch.expect("clients have begun").elapsed();
        self.delays.push(since.saturating_sub(end));
    }
}

struct OtherProcess(Child);

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn row(generators: u32) -> String {
    let (secured, key) = secure::coordinator().expect("a key can be made");
    let (listener, address) = listen(&LauncherPlan::default()).expect("there is a port");
    let JoinCredentials { coordinator, key, token } = JoinCredentials::new(address, key);
    let program = std::env::current_exe().expect("this test has a file");
    let child = Command::new(program)
        .args(["--ignored", "--exact", "generators::tests::simulated_generators"])
        .envs([(COORDINATOR, &coordinator), (KEY, &key), (TOKEN, &token)])
        .env(NUMBER, generators.to_string())
        .spawn();
    let _child = OtherProcess(child.expect("it can be started"));
    let expected = FleetSize { generators, groups: 1 };
    let fleet =
        Fleet::gather(&listener, secured, &token, expected, Vec::new(), &Interrupts::default())
            .expect("all join");
    let plan = plan(generators);
    let (trial, configuration) = (&plan.trials[0], &plan.configurations[0]);
    let own = WorkloadSet::new(&plan, configuration).expect("it is one").into_members().next();
    let count = AtomicUsize::new(0);
    let nodes = Node::alone(Target::new(Engine::Null, Endpoint::InProcess));
    let (clients, load) = (configuration.clients, &configuration.load);
    let mut input = TrialInput::new(trial.clone(), nodes, clients, load, 1, &count);
    input.is_audited = false;
    let distributed = DistributedTrial::new(&fleet, &plan, configuration);
    let trial = distributed.of_measured_groups(&input);
    input.generators = Some(&trial);
    let mut delays = Delays::default();
    let workload = own.expect("the measured group").workload;
    let record = AnyWorkload::run(vec![workload], &input, &mut delays).expect("it is measured");
    let all = record.generators.expect("there are several");
    assert_eq!(record.transaction_latency.count, u64::from(generators) * COMMITS * SECONDS);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let longest = delays.delays.iter().max().map_or(0, Duration::as_millis);
    let last = delays.delays.last().map_or(0, Duration::as_millis);
    format!(
        "| {generators} | {clients} | {:.3} | {} | {longest} | {last} |",
        all.coordinator_cpu.as_secs_f64() / record.window_length.as_secs_f64(),
        peak.trim(),
    )
}

#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_coordinator() {
    println!(
        "| generators | clients | CPUs | memory peak | longest delay of an interval, ms | of the \
         last, ms |\n|---:|---:|---:|---:|---:|---:|"
    );
    for generators in [10, 100, 1_000] {
        println!("{}", row(generators));
    }
}

/// What a generator sends: an interval, and what it leaves behind.
struct Sent {
    interval: IntervalRecord,
    done: GeneratorReport,
}

impl Sent {
    /// As a generator with four clients would for two seconds, with times between 1 and 100 ms.
    fn new(assignment: &GeneratorAssignment) -> Self {
        let stop = StopRule::Duration(Nanos(2 * SECOND));
        let load = LoadPlan { stop, ..assignment.load.clone() };
        let few = GeneratorAssignment {
            clients: 4,
            generator: 0,
            generators: 1,
            load,
            ..assignment.clone()
        };
        let ((go, orders), (reports, sent)) = (channel(), channel());
        go.send(clock() + SECOND).expect("it is held");
        let reports = ReportSender(0, reports);
        let done =
            run_assignment(&few, &orders, &reports, &Shared::default()).expect("it is measured");
        let is_interval = |(_, report)| match report {
            GeneratorReport::Interval(interval) => Some(*interval),
            _ => None,
        };
        let mut interval = sent.try_iter().find_map(is_interval).expect("there were two");
        let (mut transaction, mut statement) = (latency::histogram(), CompactHistogram::default());
        interval.latency = latency::ExactLatency::default();
        for i in 0..COMMITS {
            let rank = (i * 7_919 % COMMITS) as f64 / COMMITS as f64;
            let nanos = (1e6 + 99e6 * rank.powi(3)) as u64;
            latency::record(&mut transaction, nanos);
            interval.latency.record(nanos);
            statement.record(nanos / 3);
        }
        interval.response_times = transaction.clone();
        interval.transactions.iter_mut().for_each(|(_, own)| *own = transaction.clone());
        interval.statements.iter_mut().for_each(|(_, own)| *own = statement.clone());
        Self { interval, done }
    }

    /// The interval of a second, as a message; the same of all generators.
    fn second(&self, second: u64) -> Vec<u8> {
        let start = second * SECOND;
        let span = |slot| CommitSpan(start + slot * MS + 1_000, start + slot * MS + 900_000);
        let commit_spans = (0..1_000).map(span).collect();
        let interval =
            IntervalRecord { start: Nanos(start), commit_spans, ..self.interval.clone() };
        let report = GeneratorReport::interval(&interval);
        serde_json::to_vec(&GeneratorMessage::Report(0, Box::new(report))).expect("it is data")
    }
}

/// What all generators send, each second of it as a message, and whether somebody makes it.
#[derive(Default)]
struct Shown(OnceLock<Sent>, [OnceLock<Vec<u8>>; SECONDS as usize], AtomicBool);

#[test]
#[ignore = "the other process of `cost_of_a_coordinator`"]
fn simulated_generators() {
    let variable = |name| std::env::var(name).ok();
    let Some(number) = variable(NUMBER) else { return };
    let of = |name| variable(name).expect("it is set with the number");
    let credentials =
        JoinCredentials { coordinator: of(COORDINATOR), key: of(KEY), token: of(TOKEN) };
    let shared: Arc<Shown> = Arc::default();
    let number: u32 = number.parse().expect("it is a number");
    let one = |_| {
        let (credentials, shared) = (credentials.clone(), Arc::clone(&shared));
        let work = move || simulate(&credentials, &shared);
        std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("threads are left")
    };
    let threads: Vec<_> = (0..number).map(one).collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

/// A connection of one generator, until the coordinator closes it.
fn simulate(credentials: &JoinCredentials, shared: &Arc<Shown>) {
    let Shown(sent, seconds, is_begun) = &**shared;
    let mut link = generator::connect(credentials).expect("the coordinator listens");
    link.trust();
    let (mut start, mut quarters, mut is_done) = (None, 0, false);
    let (mut is_assigned, mut is_ready) = (false, false);
    loop {
        let report = |report| GeneratorMessage::Report(0, Box::new(report));
        let outcome = match link.receive(Duration::from_millis(100)) {
            Ok(Some(CoordinatorMessage::Ping(number))) => {
                link.send(&GeneratorMessage::Pong(number, clock()))
            }
            Ok(Some(CoordinatorMessage::Assign(assignment))) => {
                is_assigned = true;
                // Others go on answering meanwhile.
                if !is_begun.swap(true, Ordering::Relaxed) {
                    let sent = Arc::clone(shared);
                    std::thread::spawn(move || sent.0.set(Sent::new(&assignment)).is_ok());
                }
                Ok(())
            }
            Ok(None) if is_assigned && !is_ready && sent.get().is_some() => {
                is_ready = true;
                link.send(&report(GeneratorReport::Ready))
            }
            Ok(Some(CoordinatorMessage::Start(at))) => {
                start = Some(at);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            return;
        }
        let (Some(start), Some(sent)) = (start, sent.get()) else { continue };
        while !is_done && clock() >= start + (quarters + 1) * SECOND / 4 {
            quarters += 1;
            let (at, committed) = (quarters * SECOND / 4, quarters * COMMITS / 4);
            let activity = CommitActivity { at, committed, last: at };
            let _ = link.send(&report(GeneratorReport::Activity(activity)));
            if quarters.is_multiple_of(4) {
                let second = quarters / 4 - 1;
                let text = seconds[second as usize].get_or_init(|| sent.second(second));
                let _ = link.send_text(text);
                is_done = second + 1 == SECONDS;
            }
        }
        if is_done && quarters == 4 * SECONDS {
            quarters += 1;
            let _ = link.send(&report(sent.done.clone()));
        }
    }
}

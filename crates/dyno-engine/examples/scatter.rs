//! Methods to reduce the variance of a ratio: measures two levels by three methods in turn on one
//! start of a server (docs/decisions/016).
//!
//! * `trials`: a trial of each level, in random order;
//! * `slices`: one window with clients of both levels, which work in alternating slices of a
//!   second, in random order within each pair of slices;
//! * `written`: trials that start after the server has written its dirty pages.
//!
//! Prints for each method and level: pair, method, level, commits per second, seconds of machine
//! time, commits of each second. scripts/bench-scatter reads this output. The tables must exist:
//! `against ... load` creates them.
//!
//! usage: scatter mysql|postgres USER PASSWORD DATABASE CLIENTS SECONDS PAIR HOST:PORT/WORKLOAD
//! HOST:PORT/WORKLOAD [KEY=VALUE...]
use dyno_drivers::{Connection, Driver, Io, Table, TimeoutPolicy, block_on};
use dyno_engine::random::{Random, Stream};
use dyno_engine::workload::{Native, WorkloadContext, catalog};
use dyno_engine::{BackgroundGroup, BarrierMember, Node, TrialInput, run_groups};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{LoadPlan, StopRule, Trial, WorkloadPlan};
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::secret::Secret;
use dyno_model::stages::{LoadBy, Segment, Stage, Stages};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

const SECOND: u64 = 1_000_000_000;
/// No transaction starts at the beginning of a slice, so that those of the other level can end.
const GUARD: u64 = 50_000_000;
static NOBODY: AtomicUsize = AtomicUsize::new(0);

struct Bench {
    levels: [(Target, WorkloadPlan); 2],
    clients: u32,
    seconds: usize,
    pair: u64,
}

impl Bench {
    /// Clients of a level work in the seconds that `turns` assigns to it.
    fn run(&self, level: usize, turns: &[usize], member: Option<&BarrierMember>) -> TrialRecord {
        let segment =
            |length, clients| Segment { length: Nanos(length), from: clients, to: clients };
        let stage = |second: usize| {
            let clients = if turns[second] == level { f64::from(self.clients) } else { 0.0 };
            let guard = if turns.iter().all(|it| *it == level) { clients } else { 0.0 };
            let segments = vec![segment(GUARD, guard), segment(SECOND - GUARD, clients)];
            Stage { name: second.to_string(), segments }
        };
        let stages = (0..turns.len()).map(stage).collect();
        let load = LoadPlan {
            stages: Some(Stages { by: LoadBy::Clients, stages }),
            ..LoadPlan::new(StopRule::Duration(Nanos(turns.len() as u64 * SECOND)))
        };
        let (target, workload) = &self.levels[level];
        let setting = WorkloadContext { engine: target.engine, clients: self.clients, seed: 1 };
        let native = Native::build(workload, setting).expect("options that fit");
        let trial = Trial {
            id: format!("{}-{}-{level}", self.pair, turns.len()),
            block: 1,
            configuration: 0,
        };
        let node = Node::alone(target.clone());
        let mut input = TrialInput::new(trial, node, self.clients, &load, 1, &NOBODY);
        (input.barrier, input.is_audited, input.load.shares_machine) = (member, false, true);
        let record = native.run_trial(&input, &mut ()).expect("a trial");
        assert_eq!(record.end, TrialEnd::Trial, "{:?}", record.facts);
        record
    }

    /// A second of warm-up, and the window.
    fn trials(&self, way: &str, first: usize) {
        for level in [first, 1 - first] {
            let began = Instant::now();
            if way == "written" {
                await_written(&self.levels[level].0);
            }
            let turns = vec![level; 1 + self.seconds];
            self.tell(way, level, &turns, &self.run(level, &turns, None), began.elapsed());
        }
    }

    fn slices(&self, random: &mut Random) {
        let began = Instant::now();
        let first = (0..=self.seconds).map(|_| (random.next_u64() & 1) as usize);
        let turns: Vec<usize> = first.flat_map(|first| [first, 1 - first]).collect();
        let second = BackgroundGroup {
            name: "second".to_owned(),
            clients: self.clients,
            run: Box::new(|member, _| Ok(self.run(1, &turns, Some(member)))),
            stack_size: 2 << 20,
        };
        let first =
            run_groups(
                "slices",
                vec![second],
                &mut (),
                |member, _| Ok(self.run(0, &turns, member)),
            );
        let first = first.expect("a trial");
        let took = began.elapsed() / 2;
        self.tell("slices", 0, &turns, &first, took);
        self.tell("slices", 1, &turns, &first.background[0].record, took);
    }

    #[expect(clippy::print_stdout, reason = "a measuring program for the command line")]
    fn tell(&self, way: &str, level: usize, turns: &[usize], record: &TrialRecord, took: Duration) {
        let mut commits_per_second: Vec<u64> = Vec::new();
        for (turn, stage) in turns.iter().zip(&record.stages) {
            if *turn == level {
                commits_per_second.push(0);
            }
            // Transactions that end in the guard time of the next slice belong to the previous one.
            if let Some(slice) = commits_per_second.last_mut() {
                *slice += stage.committed;
            }
        }
        let window: Vec<String> = commits_per_second[1..].iter().map(ToString::to_string).collect();
        let rate = commits_per_second[1..].iter().sum::<u64>() as f64 / self.seconds as f64;
        println!(
            "{},{way},{level},{rate:.3},{:.3},{}",
            self.pair,
            took.as_secs_f64(),
            window.join(" ")
        );
    }
}

/// Waits until the server has written its dirty pages.
fn await_written(target: &Target) {
    let patient = Io::WithTimeout(TimeoutPolicy::for_work(target));
    let mut observer = block_on(Connection::connect(target, &patient)).expect("it connects");
    let mut ask = |sql: &str| {
        let mut table = Table::default();
        block_on(observer.query(sql, &mut table)).expect(sql);
        table
    };
    if target.engine == Engine::Postgres {
        ask("CHECKPOINT");
        return;
    }
    let names = ["innodb_max_dirty_pages_pct", "innodb_io_capacity_max", "innodb_io_capacity"];
    let mut set = |name: &str, value: &str| {
        let before = ask(&format!("SELECT @@GLOBAL.{name}")).first().expect("a value").to_owned();
        ask(&format!("SET GLOBAL {name} = {value}"));
        before
    };
    let before: Vec<String> =
        names.iter().zip(["0", "20000", "20000"]).map(|(name, it)| set(name, it)).collect();
    let left = "SHOW GLOBAL STATUS WHERE Value > 50 AND \
                Variable_name IN ('Innodb_buffer_pool_pages_dirty', 'Innodb_history_list_length')";
    let began = Instant::now();
    while !ask(left).0.is_empty() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    for (name, value) in names.iter().zip(&before).rev() {
        ask(&format!("SET GLOBAL {name} = {value}"));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, user, password, database, clients, seconds, pair, first, second, options @ ..] =
        &arguments[..]
    else {
        panic!("usage: see the top of this file");
    };
    let engine = if engine == "mysql" { Engine::Mysql } else { Engine::Postgres };
    let level = |text: &String| {
        let (address, kind) = text.split_once('/').expect("HOST:PORT/WORKLOAD");
        let (host, port) = address.rsplit_once(':').expect("HOST:PORT");
        let endpoint = Endpoint::Tcp { host: host.to_owned(), port: port.parse().expect("a port") };
        let mut target = Target::new(engine, endpoint);
        (target.user, target.password) = (user.clone(), Secret::new(password.clone()));
        target.database.clone_from(database);
        let mut all =
            catalog().into_iter().find(|known| known.name == kind).expect("a workload").defaults();
        for (name, value) in options.iter().filter_map(|option| option.split_once('=')) {
            let value =
                value.parse().map_or(OptionValue::Text(value.to_owned()), OptionValue::Integer);
            all.0.insert(name.to_owned(), value);
        }
        (target, WorkloadPlan::new(kind, all))
    };
    let number = |text: &String| text.parse::<u32>().expect("a number");
    let bench = Bench {
        levels: [level(first), level(second)],
        clients: number(clients),
        seconds: number(seconds) as usize,
        pair: number(pair).into(),
    };
    let mut random = Random::new(bench.pair, Stream::Transaction, 0, 0);
    let mut ways = vec!["trials", "slices", "written"];
    while !ways.is_empty() {
        match ways.remove((random.next_u64() % ways.len() as u64) as usize) {
            "slices" => bench.slices(&mut random),
            way => bench.trials(way, (random.next_u64() & 1) as usize),
        }
    }
}

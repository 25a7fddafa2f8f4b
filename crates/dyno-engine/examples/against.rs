//! One closed-loop trial against a running server; prints rate and CPU time per statement, to
//! profile the generator alone.
//!
//! usage: against mysql|postgres HOST:PORT USER PASSWORD DATABASE WORKLOAD CLIENTS SECONDS
//! [WORKERS] [KEY=VALUE...]
use dyno_engine::loading::{self, Loading};
use dyno_engine::workload::{Native, WorkloadContext, catalog};
use dyno_engine::{Node, TrialInput};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{LoadPlan, StopRule, Trial, WorkloadPlan};
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use std::sync::atomic::AtomicUsize;

#[expect(clippy::print_stdout, reason = "a measuring program for the command line")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, address, user, password, database, kind, clients, seconds, rest @ ..] =
        &arguments[..]
    else {
        panic!("usage: see the top of this file");
    };
    let engine = if engine == "mysql" { Engine::Mysql } else { Engine::Postgres };
    let (host, port) = address.rsplit_once(':').expect("HOST:PORT");
    let mut target = Target::new(
        engine,
        Endpoint::Tcp { host: host.to_owned(), port: port.parse().expect("a port") },
    );
    target.user.clone_from(user);
    target.password = Secret::new(password.clone());
    target.database.clone_from(database);
    let mut workers = None;
    let mut does_load = false;
    let mut options =
        catalog().into_iter().find(|known| known.name == kind).expect("a workload").defaults();
    for argument in rest {
        match argument.split_once('=') {
            Some((name, value)) => {
                let value =
                    value.parse().map_or(OptionValue::Text(value.to_owned()), OptionValue::Integer);
                options.0.insert(name.to_owned(), value);
            }
            None if argument == "load" => does_load = true,
            None => workers = argument.parse().ok(),
        }
    }
    let clients: u32 = clients.parse().expect("a number of clients");
    let seconds: u64 = seconds.parse().expect("seconds");
    let setting = WorkloadContext { engine, clients, seed: 1 };
    let native =
        Native::build(&WorkloadPlan::new(kind, options), setting).expect("options that fit");
    let interrupts = AtomicUsize::new(0);
    if does_load {
        let began = std::time::Instant::now();
        let loading = Loading {
            trial: "load",
            target: &target,
            data: native.data(),
            interrupts: &interrupts,
        };
        let loaded = loading::load_data(&loading, &mut ());
        println!("{} rows loaded in {:?}", loaded.expect("loaded"), began.elapsed());
    }
    let load = LoadPlan {
        grace: Nanos::from_secs(1),
        workers,
        ..LoadPlan::new(StopRule::Duration(Nanos::from_secs(seconds)))
    };
    let trial = Trial { id: "against".to_owned(), block: 1, configuration: 0 };
    let mut input = TrialInput::new(trial, Node::alone(target), clients, &load, 1, &interrupts);
    input.load.shares_machine = std::env::var("ELSEWHERE").is_err();
    let record = native.run_trial(&input, &mut ()).expect("a trial");
    let statements: u64 = record.counters.statements.iter().map(|statement| statement.ok).sum();
    let per = |nanos: Nanos| nanos.as_micros_f64() / statements as f64;
    let wakeups: u64 = record.generator.workers.iter().map(|worker| worker.wakeups).sum();
    println!(
        "{clients} clients, {} workers: {:.0} statements/s, {:.0} transactions/s, CPU {:.2} us per statement (user {:.2}, system {:.2}), \
         {:.1} statements per wake-up, p50 {} p99 {}, {} MB, connecting {}, retries {}, failed {}",
        record.generator.workers.len(),
        statements as f64 / record.window_length.as_secs_f64(),
        record.throughput(),
        per(record.generator.cpu_user) + per(record.generator.cpu_system),
        per(record.generator.cpu_user),
        per(record.generator.cpu_system),
        statements as f64 / wakeups.max(1) as f64,
        Nanos(record.transaction_latency.p50),
        Nanos(record.transaction_latency.p99),
        record.generator.memory_peak >> 20,
        record.connecting,
        record.counters.retries,
        record.counters.failed,
    );
}

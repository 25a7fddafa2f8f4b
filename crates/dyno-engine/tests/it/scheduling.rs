//! Scheduling of generator threads that share processors with the server.

use crate::bench::{Closure, NOBODY, native, null, trial_input};
use dyno_engine::workload::ClientId;
use dyno_engine::{LoadInput, MeasuredWorkers, Meter, ScriptThreads, default_workers, run_script};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::target::Engine;
use std::sync::{Arc, Mutex};

/// Number of the scheduling policy of the calling thread: field 41 of `/proc/thread-self/stat`,
/// proc_pid_stat(5).
fn policy() -> String {
    let line = std::fs::read_to_string("/proc/thread-self/stat").expect("/proc");
    let (_, after_name) = line.rsplit_once(')').expect("a name");
    after_name.split_whitespace().nth(41 - 3).expect("a policy").to_owned()
}

/// The policies of the clients' threads.
fn policies(shares_machine: bool, rate: Option<f64>) -> Vec<String> {
    let load = LoadPlan { rate, ..LoadPlan::new(StopRule::Transactions(10)) };
    let input = LoadInput { shares_machine, ..LoadInput::new("load", 2, &load, 1, &NOBODY) };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let script = Closure(move |_: ClientId, mut meter: Meter| {
        meter.await_start();
        while meter.begin_event() {
            meter.end_event();
        }
        noted.lock().expect("nobody panics").push(policy());
        Ok(())
    });
    run_script(script, &ScriptThreads::default(), &input, &mut ()).expect("it can be measured");
    let seen = seen.lock().expect("nobody panics");
    seen.clone()
}

#[test]
fn clients_yield_to_a_local_server_except_in_open_loop() {
    let (usual, batch) = (policy(), "3".to_owned());
    assert_ne!(usual, batch, "these tests are run under the policy that they are about");
    assert_eq!(policies(true, None), [batch.clone(), batch]);
    assert_eq!(policies(false, None), [usual.clone(), usual.clone()]);
    assert_eq!(policies(true, Some(10_000.0)), [usual.clone(), usual]);
}

#[test]
fn default_workers_depend_on_cpus_clients_and_server_location() {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let many = 1000 * processors;
    for engine in [Engine::Mysql, Engine::Postgres] {
        assert_eq!(default_workers(engine, many, false), processors);
        assert_eq!(default_workers(engine, 1, false), 1);
        assert_eq!(default_workers(engine, 1, true), 1);
    }
    assert_eq!(default_workers(Engine::Mysql, many, true), processors.div_ceil(2));
    assert_eq!(default_workers(Engine::Postgres, 64 * processors, true), processors);
    assert_eq!(default_workers(Engine::Postgres, many, true), 2 * processors);
    assert_eq!(default_workers(Engine::Sqlite, 100, true), 100);
}

#[test]
fn worker_count_is_calibrated_once_for_read_only_clients() {
    let load = LoadPlan::new(StopRule::Transactions(1000));
    let measured_workers = Some(Arc::new(MeasuredWorkers::default()));
    let record = |workload: &str, clients: u32| {
        let native = native(workload, &[], clients);
        let mut input = trial_input(null(""), clients, &load);
        input.load.shares_machine = true;
        input.load.measured_workers.clone_from(&measured_workers);
        native.run_trial(&input, &mut ()).expect("it can be measured")
    };
    let (first, second) = (record("oltp_point_select", 8), record("oltp_point_select", 8));
    let tried = &first.generator.workers_tried;
    assert!(tried.len() > 1 && tried.iter().all(|it| it.per_second > 0.0), "{tried:?}");
    assert!(tried.iter().any(|it| it.workers as usize == first.generator.workers.len()));
    assert_eq!(first.counters.committed, 1000);
    assert_eq!(&second.generator.workers_tried, tried);
    assert_eq!(second.generator.workers.len(), first.generator.workers.len());
    for (workload, clients) in [("oltp_update_index", 8), ("oltp_point_select", 2)] {
        assert_eq!(record(workload, clients).generator.workers_tried, []);
    }
}

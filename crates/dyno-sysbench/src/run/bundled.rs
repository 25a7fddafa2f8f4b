//! Bundled scripts with dyno's own workloads, if these support the options.

use super::failures::{self, Action};
use super::load;
use super::measure::{Runner, measure};
use super::printing::Printing;
use super::reporter::Start;
use crate::job::{FAILED, INTERRUPTED, Job, OK};
use crate::logger::Level;
use crate::native::prepare::{Preparation, PrepareError, prepare};
use crate::native::{native, plan};
use crate::report::header;
use crate::sysbench_work::SysbenchWork;
use dyno_engine::workload::Native;
use dyno_engine::{DistributedLoad, LoadInput};
use dyno_model::target::{Engine, QueryMode};
use std::sync::Arc;
use std::time::Duration;

/// Executes a command natively; `None` when it is left to the script in Lua.
pub(crate) fn perform(job: &Job<'_>, name: &str) -> Option<u8> {
    let database = &job.options.database;
    let driver = database.driver()?;
    let target = database.targets(driver).first().filter(|_| !database.is_dry(driver))?;
    let native = |name| native(name, &job.options, target.engine, job.seed);
    match (job.command(), name) {
        // Nothing is loaded: its tables are empty, and may already exist.
        ("prepare", "bulk_insert") => None,
        // They read only the first table, but create as many as requested.
        ("prepare", "select_random_points" | "select_random_ranges") => {
            Some(prepare_tables(job, &native("oltp_read_only")?, driver))
        }
        ("prepare", name) => Some(prepare_tables(job, &native(name)?, driver)),
        ("run", name) => Some(run(job, name, native(name)?, driver)),
        // These send only a few statements, for which the script is sufficient.
        _ => None,
    }
}

fn prepare_tables(job: &Job<'_>, native: &Native, driver: Engine) -> u8 {
    let threads = job.options.general.threads;
    if threads > 1 {
        job.logger.notice(header::INITIALIZING);
    }
    let targets = job.options.database.targets(driver);
    let outcome = prepare(&Preparation {
        targets,
        data: native.data(),
        threads,
        say: &|line| job.logger.notice(line),
        interrupts: job.interrupts,
    });
    match outcome {
        Ok(()) if job.is_interrupted() => INTERRUPTED,
        Ok(()) => OK,
        Err(_) if job.is_interrupted() => INTERRUPTED,
        Err(PrepareError { failure, statement }) => {
            let action = Action::Command(statement.as_deref());
            failures::log(&job.logger, action, &failure, &targets[0]);
            FAILED
        }
    }
}

/// Runs of at least this length first try different numbers of workers, which takes two seconds.
const TIME_FOR_TRIES: Duration = Duration::from_secs(10);

/// Scripts whose statements are not prepared.
const AS_TEXT: [&str; 2] = ["bulk_insert", "oltp_insert"];

fn run(job: &Job<'_>, name: &str, native: Native, driver: Engine) -> u8 {
    let is_text = job.options.database.query_mode == QueryMode::Simple || AS_TEXT.contains(&name);
    let runner = Runner {
        runner: "native",
        printing: Printing {
            logger: Arc::clone(&job.logger),
            general: job.options.general.clone(),
            uses_sql: Arc::new(|| true),
            script: None,
        },
        start: Arc::new(Start::of_native(&job.logger, &job.options.general)),
        retry: load::retry_policy(&job.options.database, driver),
        targets: job.options.database.targets(driver).to_vec(),
        is_text,
    };
    let targets = &runner.targets;
    measure(job, &runner, None, |input, listener| {
        for thread in 0..job.options.general.threads {
            job.logger.log(Level::Debug, &format!("Worker thread (#{thread}) started"));
        }
        let is_long = job.options.general.time.is_some_and(|time| time >= TIME_FOR_TRIES);
        let input = LoadInput { measured_workers: is_long.then(Arc::default), ..input.clone() };
        match (job.options.general.generators, plan(name, &job.options)) {
            (Some(generators), Some(workload)) => {
                let launcher = job.options.general.launcher;
                let (client_work, input) = (SysbenchWork::Native(workload), &input);
                let load = DistributedLoad { generators, launcher, client_work, targets, input };
                load.measure(job.source, |generators| {
                    native.run_distributed_load(targets, generators, input, listener)
                })
            }
            _ => native.run_load(targets, &input, listener),
        }
    })
}

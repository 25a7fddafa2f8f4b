//! `run`: headings, the engine's clients, reports, exit code, for scripts and native workloads.

use super::commands::{failed, watched};
use super::failures::{self, Action};
use super::printing::Printing;
use super::reporter::{ReportTotals, Reporter, Start};
use super::scripts::{LuaScripts, WeightedScript, threads};
use super::{LoadedScript, load, results};
use crate::job::{CUT_OFF, FAILED, INTERRUPTED, Job, OK, UNREAD};
use crate::logger::Level;
use crate::options::general::JsonDestination;
use crate::report::{header, json};
use crate::sysbench_work::{ScriptWork, SysbenchWork};
use dyno_drivers::address::shares_machine;
use dyno_drivers::open_files;
use dyno_engine::{
    DistributedLoad, FatalCause, LoadInput, LoadRecord, TrialError, run_distributed_script,
    run_script, schema,
};
use dyno_lua::State;
use dyno_model::event::{Listener, Listeners};
use dyno_model::plan::LoadPlan;
use dyno_model::reason::Reason;
use dyno_model::record::TrialRecord;
use dyno_model::retry::RetryPolicy;
use dyno_model::single::TRIAL;
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::sync::Arc;

/// What is said when the threads have ended, before reports.
const DONE: &str = "Done.\n";

/// What is executed, for headings and records.
pub(crate) struct Runner {
    /// `native` or `lua`.
    pub(crate) runner: &'static str,
    pub(crate) printing: Printing,
    /// The announcement at the common start.
    pub(crate) start: Arc<Start>,
    /// The failures after which clients retry; scripts decide that themselves.
    pub(crate) retry: RetryPolicy,
    /// The targets of its clients, as far as known in advance.
    pub(crate) targets: Vec<Target>,
    /// Whether statements are sent as text; a script reports its failures itself.
    pub(crate) is_text: bool,
}

/// `run` of a Lua script.
pub(crate) fn script(job: &Job<'_>, script: &LoadedScript) -> u8 {
    if !script.main.has_function("event") {
        job.logger.fatal(&format!("cannot find the event() function in {}", job.script_name()));
        return FAILED;
    }
    // The hooks set at the top level count; those set in init() are too late, as in sysbench.
    let hooks = script.main.report_hooks();
    if script.main.has_global("init")
        && let Err(error) = watched(job, &script.main, || script.main.call("init", None))
    {
        job.logger.fatal(&failed("init", &error.message));
        return if job.is_interrupted() { INTERRUPTED } else { FAILED };
    }
    let environment = Arc::clone(&script.recipe.environment);
    let general = &job.options.general;
    let is_divided = general.generators.is_some();
    let runner = Runner {
        runner: "lua",
        printing: Printing {
            logger: Arc::clone(&job.logger),
            general: job.options.general.clone(),
            // States in other processes do not tell.
            uses_sql: Arc::new(move || is_divided || environment.uses_sql()),
            script: Some((hooks, Arc::clone(&script.recipe))),
        },
        start: Arc::new(Start::new(&job.logger, &job.options.general)),
        retry: RetryPolicy::Kind,
        targets: job
            .options
            .database
            .driver()
            .map_or_else(Vec::new, |driver| job.options.database.targets(driver).to_vec()),
        is_text: false,
    };
    let threads = threads(general);
    let name = job.script_name();
    let clients = LuaScripts {
        scripts: vec![WeightedScript { name, weight: 1, recipe: Arc::clone(&script.recipe) }],
        seed: job.seed,
        audit: Arc::default(),
        logger: Arc::clone(&job.logger),
        start: Arc::clone(&runner.start),
    };
    let mut has_ended = false;
    let code = measure(job, &runner, Some(&script.main), |input, listener| {
        let outcome = match general.generators {
            None => run_script(clients, &threads, input, listener),
            Some(generators) => {
                let (launcher, targets) = (general.launcher, &runner.targets[..]);
                let client_work = SysbenchWork::Script(ScriptWork::new(job, script));
                let load = DistributedLoad { generators, launcher, client_work, targets, input };
                load.measure(job.source, |generators| {
                    run_distributed_script(clients, &threads, generators, input, listener)
                })
            }
        };
        has_ended = outcome.as_ref().is_ok_and(|record| !record.is_cut_off);
        outcome
    });
    if has_ended
        && script.main.has_global("done")
        && let Err(error) = watched(job, &script.main, || script.main.call("done", None))
    {
        job.logger.fatal(&failed("done", &error.message));
        if job.is_interrupted() {
            return INTERRUPTED;
        }
    }
    code
}

/// Measures the load of `clients`, with all output around it; returns the exit code.
pub(crate) fn measure(
    job: &Job<'_>,
    runner: &Runner,
    main: Option<&State>,
    clients: impl FnOnce(&LoadInput<'_>, &mut dyn Listener) -> Result<LoadRecord, TrialError>,
) -> u8 {
    let general = &job.options.general;
    let engine = runner.targets.first().map(|target| target.engine);
    // Connections of generators are theirs.
    let engine = engine.filter(|_| general.generators.is_none());
    if let Some(short) =
        engine.and_then(|engine| open_files::make_room(engine, general.threads).err())
    {
        let text = format!("{short}; raise the limit with `{}`", short.remedy());
        if runner.printing.script.is_some() {
            // A script decides how many connections it opens.
            job.logger.warning(&text);
        } else {
            job.logger.fatal(&text);
            return FAILED;
        }
    }
    let is_validating = job.options.value("validate").is_on();
    for line in header::options(general, job.options.seed, is_validating) {
        job.logger.notice(&line);
    }
    job.logger.notice(header::INITIALIZING);
    let plan = LoadPlan { retry: runner.retry.clone(), ..load::plan(general) };
    let nobody_reads = || job.logger.is_closed().then(|| "the output is closed".into());
    let input = LoadInput {
        interval: Nanos::from(load::base_interval(general)),
        is_dead: &nobody_reads,
        shares_machine: runner.targets.iter().any(|target| shares_machine(&target.endpoint)),
        ..LoadInput::new(TRIAL, general.threads, &plan, job.seed, job.interrupts)
    };
    let impossible = |why: &str| {
        job.logger.fatal(why);
        FAILED
    };
    let (lines, printer) = match runner.printing.clone().start() {
        Ok(started) => started,
        Err(error) => return impossible(&format!("cannot create the reporting thread: {error}")),
    };
    let results = general.results.as_deref().map(|root| results::create(root, job));
    let mut results = match results.transpose() {
        Ok(results) => results,
        Err(error) => return impossible(&error.in_full()),
    };
    let schema = results.as_ref().and_then(|_| runner.targets.first()).and_then(schema::of);
    let mut reporter = Reporter::new(
        general,
        Arc::clone(&input.client_statistics),
        Arc::clone(&runner.start),
        lines,
    );
    let mut listeners = Listeners(vec![&mut reporter]);
    listeners.0.extend(results.as_mut().map(|results| results as &mut dyn Listener));
    let outcome = clients(&input, &mut listeners);
    let (code, failure) = match &outcome {
        Err(error) => {
            drop(reporter);
            printer.finish();
            (not_started(job, runner, error), Some(error.clone().into()))
        }
        Ok(record) => {
            let remains = reporter.finish(record);
            printer.finish();
            conclude(job, runner, main, record, &remains)
        }
    };
    let written = results.map(|results| {
        let record = outcome.as_ref().map_err(|error| error.clone().into());
        let record = record.and_then(|record| failure.map_or(Ok(record), Err));
        let record = record.map(|record| {
            |trial, at, version| TrialRecord { schema, ..record.trial_record(trial, at, version) }
        });
        results.finish(record, job.is_interrupted())
    });
    match written {
        Some(Err(error)) => code.max(impossible(&error.in_full())),
        Some(Ok(folder)) => {
            job.logger.notice(&format!("Results: {}", folder.display()));
            code
        }
        None => code,
    }
}

/// Reports why nothing was measured.
fn not_started(job: &Job<'_>, runner: &Runner, error: &TrialError) -> u8 {
    let logger = &job.logger;
    match error {
        // The script's own thread has reported the reason.
        TrialError::Script { .. } => {}
        TrialError::NotReady { .. } => {
            let limit = job.options.general.init_timeout.unwrap_or_default().as_secs_f64();
            logger.fatal(&format!("Worker threads failed to initialize within {limit} seconds!"));
            return CUT_OFF;
        }
        TrialError::Interrupted => return INTERRUPTED,
        TrialError::NotConnected(failure) => match runner.targets.first() {
            Some(target) => failures::log(logger, Action::Starting, failure, target),
            None => logger.fatal(&error.to_string()),
        },
        other => logger.fatal(&other.to_string()),
    }
    logger.fatal(match job.options.general.layout {
        crate::options::general::Layout::V1_0 => "Thread initialization failed!",
        crate::options::general::Layout::V1_1 => "Threads initialization failed!",
    });
    FAILED
}

/// Reports after a run; returns its exit code and the failure, if any.
fn conclude(
    job: &Job<'_>,
    runner: &Runner,
    main: Option<&State>,
    record: &LoadRecord,
    remains: &ReportTotals,
) -> (u8, Option<Reason>) {
    let failure = failure(job, runner, record);
    let code = match &failure {
        // A failed run has no report, as in sysbench: its figures cover an arbitrary part.
        Some(_) => {
            job.logger.log(Level::Info, DONE);
            FAILED
        }
        None => {
            let code = log_end(job, record);
            runner.printing.cumulative(&remains.last, main);
            code
        }
    };
    let reported = failure.as_ref().map(ToString::to_string);
    let document = write_document(job, runner, remains, reported.as_deref());
    (code.max(document), failure)
}

/// The failure that ended the run, reported unless a script's thread has done so.
fn failure(job: &Job<'_>, runner: &Runner, record: &LoadRecord) -> Option<Reason> {
    for problem in &record.facts.problems {
        job.logger.fatal(&problem.to_string());
    }
    if let Some(fatal) = &record.fatal {
        if let FatalCause::Failure { failure, statement, sql } = &fatal.cause {
            let query = sql.as_deref().unwrap_or(statement);
            match runner.targets.first() {
                Some(target) => {
                    let action = Action::Event { query, is_text: runner.is_text };
                    failures::log(&job.logger, action, failure, target);
                }
                None => job.logger.fatal(&fatal.to_string()),
            }
        }
        return Some(fatal.to_string().into());
    }
    record.facts.problems.first().cloned()
}

/// Logs why the run ended; returns the exit code.
fn log_end(job: &Job<'_>, record: &LoadRecord) -> u8 {
    let (general, logger) = (&job.options.general, &job.logger);
    // After an interrupt the user knows why events were cut off.
    if record.is_cut_off && !job.is_interrupted() {
        match general.forced_shutdown {
            Some(_) => logger.fatal("The --max-time limit has expired, forcing shutdown..."),
            None => logger.fatal(&format!(
                "Events were still running {} seconds after the time limit and were cut off \
                 (--hang-timeout)",
                general.hang_timeout.unwrap_or_default().as_secs_f64()
            )),
        }
        if !record.left_behind.is_empty() {
            let text = format!(
                "{} thread(s) are still busy and were left behind",
                record.left_behind.len()
            );
            logger.warning(&text);
        }
        return CUT_OFF;
    }
    if record.facts.stopped.is_some() && logger.is_closed() {
        return UNREAD;
    }
    if job.is_interrupted() {
        logger.warning("Interrupted: the report covers the time until then");
        return INTERRUPTED;
    }
    let is_full = general.events.is_some_and(|events| record.counters.started >= events);
    let reason = if is_full { Some("Event limit exceeded, exiting...") } else { None };
    let is_over = general.time.is_some_and(|time| record.elapsed >= Nanos::from(time));
    if let Some(reason) = reason.or(is_over.then_some("Time limit exceeded, exiting...")) {
        // Once per thread, as in sysbench.
        (0..general.threads).for_each(|_| logger.log(Level::Info, reason));
    }
    logger.log(Level::Info, DONE);
    OK
}

/// `--json`.
fn write_document(
    job: &Job<'_>,
    runner: &Runner,
    remains: &ReportTotals,
    failure: Option<&str>,
) -> u8 {
    let general = &job.options.general;
    let Some(destination) = &general.json else { return OK };
    let uses_sql = (runner.printing.uses_sql)();
    let description = json::Description {
        script: job.script.clone(),
        runner: runner.runner,
        driver: uses_sql.then(|| job.options.database.databases.driver.clone()),
        options: job.options.for_record(),
        percentiles: general.percentiles.clone(),
    };
    let text = json::document(
        &description,
        &remains.intervals,
        &remains.checkpoints,
        &remains.total,
        failure,
    );
    match destination {
        JsonDestination::Standard => job.logger.print(&text),
        JsonDestination::File(path) => {
            if let Err(error) = std::fs::write(path, text) {
                job.logger.fatal(&format!("cannot write '{}': {error}", path.display()));
                return FAILED;
            }
        }
    }
    OK
}

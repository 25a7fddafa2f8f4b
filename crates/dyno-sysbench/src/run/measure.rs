//! `run`: headings, the engine's clients, reports, exit code. The same for scripts and native workloads.

use super::commands::{failed, watched};
use super::failures::{self, Action};
use super::printing::Printing;
use super::reporter::{Remains, Reporter, Start};
use super::scripts::LuaScript;
use super::{LoadedScript, load, results};
use crate::logger::Level;
use crate::options::general::JsonPlace;
use crate::report::{header, json};
use crate::session::{CUT_OFF, FAILED, INTERRUPTED, OK, Session, UNREAD};
use dyno_drivers::address::shares_machine;
use dyno_drivers::open_files;
use dyno_engine::{FatalCause, LoadInput, LoadRecord, ScriptThreads, TrialError, run_script};
use dyno_lua::State;
use dyno_model::event::{Listener, Listeners};
use dyno_model::plan::LoadPlan;
use dyno_model::retry::RetryPolicy;
use dyno_model::single::TRIAL;
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::sync::Arc;
use std::time::Duration;

/// Least stack of a script's thread, bytes.
const STACK_MIN: u64 = 256 << 10;

/// What is said when the threads have ended, before reports.
const DONE: &str = "Done.\n";

/// Longest wait for threads to be ready when there is no limit.
const ENDLESS: Duration = Duration::from_secs(u32::MAX as u64);

/// What runs, for headings and records.
pub(crate) struct Subject {
    /// `native` or `lua`.
    pub(crate) runner: &'static str,
    /// How reports are printed.
    pub(crate) printing: Printing,
    /// What is said at the common start.
    pub(crate) start: Arc<Start>,
    /// Which failures its clients repeat; a script decides that itself.
    pub(crate) retry: RetryPolicy,
    /// Where its clients connect, as far as that is known before.
    pub(crate) targets: Vec<Target>,
    /// Whether statements travel as text; a script tells its failures itself.
    pub(crate) is_text: bool,
}

impl Subject {
    /// A script connects as often as it likes, and perhaps never.
    fn script_may_do_without_connections(&self) -> bool {
        self.printing.script.is_some()
    }
}

/// `run` of a Lua script.
pub(crate) fn script(session: &Session<'_>, script: &LoadedScript) -> u8 {
    if !script.main.has_function("event") {
        session.logger.fatal(&format!("cannot find the event() function in {}", session.script_name()));
        return FAILED;
    }
    // What the top level sets counts; init() comes too late for it, as in sysbench.
    let hooks = script.main.report_hooks();
    if script.main.has_global("init")
        && let Err(error) = watched(session, &script.main, || script.main.call("init", None))
    {
        session.logger.fatal(&failed("init", &error.message));
        return if session.is_interrupted() { INTERRUPTED } else { FAILED };
    }
    let environment = Arc::clone(&script.recipe.environment);
    let subject = Subject {
        runner: "lua",
        printing: Printing {
            logger: Arc::clone(&session.logger),
            general: session.options.general.clone(),
            uses_sql: Arc::new(move || environment.uses_sql()),
            script: Some((hooks, Arc::clone(&script.recipe))),
        },
        start: Arc::new(Start::new(&session.logger, &session.options.general)),
        retry: RetryPolicy::Kind,
        targets: session
            .options
            .database
            .driver()
            .map_or_else(Vec::new, |driver| session.options.database.targets(driver).to_vec()),
        is_text: false,
    };
    let general = &session.options.general;
    let threads = ScriptThreads {
        stack: general.stack_size.max(STACK_MIN) as usize,
        ready_limit: general.init_timeout.unwrap_or(ENDLESS),
    };
    let clients = LuaScript {
        recipe: Arc::clone(&script.recipe),
        logger: Arc::clone(&session.logger),
        start: Arc::clone(&subject.start),
    };
    let mut has_ended = false;
    let code = measure(session, &subject, Some(&script.main), |input, listener| {
        let outcome = run_script(clients, &threads, input, listener);
        has_ended = outcome.as_ref().is_ok_and(|record| !record.is_cut_off);
        outcome
    });
    if has_ended
        && script.main.has_global("done")
        && let Err(error) = watched(session, &script.main, || script.main.call("done", None))
    {
        session.logger.fatal(&failed("done", &error.message));
    }
    code
}

/// Measures whatever `clients` runs, with everything that is printed around it; the exit code.
pub(crate) fn measure(
    session: &Session<'_>,
    subject: &Subject,
    main: Option<&State>,
    clients: impl FnOnce(&LoadInput<'_>, &mut dyn Listener) -> Result<LoadRecord, TrialError>,
) -> u8 {
    let general = &session.options.general;
    let engine = subject.targets.first().map(|target| target.engine);
    if let Some(short) = engine.and_then(|engine| open_files::make_room(engine, general.threads).err()) {
        let text = format!("{short}; raise the limit with `{}`", short.remedy());
        if subject.script_may_do_without_connections() {
            session.logger.warning(&text);
        } else {
            session.logger.fatal(&text);
            return FAILED;
        }
    }
    let is_validating = session.options.value("validate").is_on();
    for line in header::options(general, session.options.seed, is_validating) {
        session.logger.notice(&line);
    }
    session.logger.notice(header::INITIALIZING);
    let plan = LoadPlan { retry: subject.retry.clone(), ..load::plan(general) };
    let nobody_reads = || session.logger.is_closed().then(|| "nobody reads the output any more".to_owned());
    let input = LoadInput {
        interval: Nanos::from(load::base_interval(general)),
        is_dead: &nobody_reads,
        shares_machine: subject.targets.iter().any(|target| shares_machine(&target.endpoint)),
        ..LoadInput::new(TRIAL, general.threads, &plan, session.seed, session.interrupts)
    };
    let impossible = |why: &str| {
        session.logger.fatal(why);
        FAILED
    };
    let (lines, printer) = match subject.printing.clone().start() {
        Ok(started) => started,
        Err(error) => return impossible(&format!("cannot create the reporting thread: {error}")),
    };
    let results = general.results.as_deref().map(|root| results::create(root, session));
    let mut results = match results.transpose() {
        Ok(results) => results,
        Err(error) => return impossible(&error.in_full()),
    };
    let mut reporter = Reporter::new(general, Arc::clone(&input.shares), Arc::clone(&subject.start), lines);
    let mut listeners = Listeners(vec![&mut reporter]);
    listeners.0.extend(results.as_mut().map(|results| results as &mut dyn Listener));
    let outcome = clients(&input, &mut listeners);
    let (code, failure) = match &outcome {
        Err(error) => {
            drop(reporter);
            printer.finish();
            (not_started(session, subject, error), Some(error.to_string()))
        }
        Ok(record) => {
            let remains = reporter.finish(record);
            printer.finish();
            conclude(session, subject, main, record, &remains)
        }
    };
    let written = results.map(|results| {
        let record = outcome.as_ref().map_err(ToString::to_string);
        let record = record.and_then(|record| failure.map_or(Ok(record), Err));
        let record = record.map(|record| |trial, at, version| record.trial_record(trial, at, version));
        results.finish(record, session.is_interrupted())
    });
    match written {
        Some(Err(error)) => code.max(impossible(&error.in_full())),
        Some(Ok(folder)) => {
            session.logger.notice(&format!("Results: {}", folder.display()));
            code
        }
        None => code,
    }
}

/// Nothing was measured.
fn not_started(session: &Session<'_>, subject: &Subject, error: &TrialError) -> u8 {
    let logger = &session.logger;
    match error {
        // The script's own thread has told why.
        TrialError::Script { .. } => {}
        TrialError::NotReady { .. } => {
            let limit = session.options.general.init_timeout.unwrap_or_default().as_secs_f64();
            logger.fatal(&format!("Worker threads failed to initialize within {limit} seconds!"));
            return CUT_OFF;
        }
        TrialError::Interrupted => return INTERRUPTED,
        TrialError::Ramp(failure) => match subject.targets.first() {
            Some(target) => failures::tell(logger, Action::Starting, failure, target),
            None => logger.fatal(&error.to_string()),
        },
        other => logger.fatal(&other.to_string()),
    }
    logger.fatal(match session.options.general.layout {
        crate::options::general::Layout::V1_0 => "Thread initialization failed!",
        crate::options::general::Layout::V1_1 => "Threads initialization failed!",
    });
    FAILED
}

/// Reports after a run; its exit code and what it failed of.
fn conclude(
    session: &Session<'_>,
    subject: &Subject,
    main: Option<&State>,
    record: &LoadRecord,
    remains: &Remains,
) -> (u8, Option<String>) {
    let failure = failure(session, subject, record);
    let code = match &failure {
        // A run that failed has no report, as in sysbench: its figures are of an arbitrary part.
        Some(_) => {
            session.logger.log(Level::Info, DONE);
            FAILED
        }
        None => {
            let code = ending(session, record);
            subject.printing.cumulative(&remains.last, main);
            code
        }
    };
    let document = write_document(session, subject, remains, failure.as_deref());
    (code.max(document), failure)
}

/// The failure that ended the run, told unless a script's thread has told it.
fn failure(session: &Session<'_>, subject: &Subject, record: &LoadRecord) -> Option<String> {
    for trouble in &record.facts.troubles {
        session.logger.fatal(trouble);
    }
    if let Some(fatal) = &record.fatal {
        if let FatalCause::Failure { failure, statement, sql } = &fatal.cause {
            let query = sql.as_deref().unwrap_or(statement);
            match subject.targets.first() {
                Some(target) => {
                    let action = Action::Event { query, is_text: subject.is_text };
                    failures::tell(&session.logger, action, failure, target);
                }
                None => session.logger.fatal(&fatal.to_string()),
            }
        }
        return Some(fatal.to_string());
    }
    record.facts.troubles.first().cloned()
}

/// Why the run ended, in the log, and the exit code that this means.
fn ending(session: &Session<'_>, record: &LoadRecord) -> u8 {
    let (general, logger) = (&session.options.general, &session.logger);
    // Whoever has asked for the end knows why events were cut off.
    if record.is_cut_off && !session.is_interrupted() {
        match general.forced_shutdown {
            Some(_) => logger.fatal("The --max-time limit has expired, forcing shutdown..."),
            None => logger.fatal(&format!(
                "Events were still running {} seconds after the time limit and were cut off (--hang-timeout)",
                general.hang_timeout.unwrap_or_default().as_secs_f64()
            )),
        }
        if !record.left_behind.is_empty() {
            let text = format!("{} thread(s) are still busy and were left behind", record.left_behind.len());
            logger.warning(&text);
        }
        return CUT_OFF;
    }
    if record.facts.stopped.is_some() && logger.is_closed() {
        return UNREAD;
    }
    if session.is_interrupted() {
        logger.warning("Interrupted: the report covers the time until then");
        return INTERRUPTED;
    }
    let is_full = general.events.is_some_and(|events| record.ledger.started >= events);
    let reason = if is_full { Some("Event limit exceeded, exiting...") } else { None };
    let is_over = general.time.is_some_and(|time| record.elapsed >= Nanos::from(time));
    if let Some(reason) = reason.or(is_over.then_some("Time limit exceeded, exiting...")) {
        // Each thread says so.
        (0..general.threads).for_each(|_| logger.log(Level::Info, reason));
    }
    logger.log(Level::Info, DONE);
    OK
}

/// `--json`.
fn write_document(session: &Session<'_>, subject: &Subject, remains: &Remains, failure: Option<&str>) -> u8 {
    let general = &session.options.general;
    let Some(place) = &general.json else { return OK };
    let uses_sql = (subject.printing.uses_sql)();
    let description = json::Description {
        script: session.script.clone(),
        runner: subject.runner,
        driver: uses_sql.then(|| session.options.database.databases.driver.clone()),
        options: session.options.for_record(),
        percentiles: general.percentiles.clone(),
    };
    let text =
        json::document(&description, &remains.intervals, &remains.checkpoints, &remains.total, failure);
    match place {
        JsonPlace::Standard => session.logger.print(&text),
        JsonPlace::File(path) => {
            if let Err(error) = std::fs::write(path, text) {
                session.logger.fatal(&format!("cannot write '{}': {error}", path.display()));
                return FAILED;
            }
        }
    }
    OK
}

//! Runs scripts, from reading them to the report.
//!
//! * this file: the sequence of steps; [`setup`]: queries about the tables; [`scene`]: state shared
//!   by clients;
//! * [`client`]: transactions and their tries; [`distributed`]: clients of generators;
//! * [`progress`], [`log_files`], [`results`]: output during the run.

mod client;
pub(crate) mod distributed;
mod log_files;
mod progress;
mod results;
mod scene;
mod setup;

use crate::exit_code;
use crate::expression::variables::Names;
use crate::failure;
use crate::options::{Length, Run, Seed, Source, help};
use crate::own::OWN;
use crate::perform::micros;
use crate::report::summary::{ScriptCounters, Summary, render};
use crate::script::{self, Script, builtin};
use crate::terminal::Terminal;
use client::Scripts;
use distributed::PgbenchWork;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on, open_files};
use dyno_engine::schema;
use dyno_engine::{
    DistributedLoad, GeneratorSource, LoadInput, LoadRecord, TrialError, run_distributed_load,
    run_load,
};
use dyno_files::{SCRIPT_MAX, reason};
use dyno_model::event::{Listener, Listeners};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::single::TRIAL;
use dyno_model::sync::lock;
use dyno_model::target::{Engine, Target};
use dyno_model::units::Nanos;
use log_files::LogFiles;
use progress::ProgressThread;
use scene::RunSetup;
use setup::{Impossible, Result};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longer than any run.
const FOREVER: Nanos = Nanos(u64::MAX / 4);

/// Runs scripts and prints the report. Returns the exit code.
pub(crate) fn run(
    options: &Run,
    target: &Target,
    terminal: &Arc<dyn Terminal>,
    interrupts: &AtomicUsize,
    source: Option<&dyn GeneratorSource<PgbenchWork>>,
) -> u8 {
    // Connections of generators are theirs.
    let own = if options.generators.is_some() { 0 } else { options.clients };
    if let Err(short) = open_files::make_room(target.engine, own) {
        let (needed, allowed) = (short.needed, short.allowed);
        terminal
            .error(&format!("need at least {needed} open files, but system limit is {allowed}"));
        terminal.message(
            "pgbench: hint: Reduce number of clients, or use limit/ulimit to increase the system \
             limit.\n",
        );
        return exit_code::FAILED;
    }
    prepare(options, target, terminal)
        .and_then(|scene| measure(&scene, target, interrupts, source))
        .unwrap_or(exit_code::FAILED)
}

/// Prepares everything that is needed before the clients start.
fn prepare(options: &Run, target: &Target, terminal: &Arc<dyn Terminal>) -> Result<Arc<RunSetup>> {
    let mut names = Names::default();
    let scripts = read_scripts(options, target.engine, &mut names, &**terminal)?;
    let has_builtin =
        options.scripts.iter().any(|(source, _)| matches!(source, Source::Builtin(_)));
    let seed = match options.seed {
        Seed::Any | Seed::Drawn => RandomState::new().build_hasher().finish(),
        Seed::Given(seed) => seed,
    };
    if options.seed != Seed::Any {
        terminal.note(&format!("setting random seed to {seed}"));
    }
    // pgbench sends the same queries, without a timeout.
    let io = Io::WithTimeout(TimeoutPolicy::endless());
    let mut connection = block_on(Connection::connect(target, &io)).map_err(|failure| {
        terminal.error(&failure::connecting(&failure, target));
        Impossible::report(&**terminal, "could not create connection for setup")
    })?;
    terminal.result(&format!("{}\n", help::banner()));
    let (scale, partitions) = if has_builtin {
        let scale = setup::scale(&mut connection, &target.database, &**terminal)?;
        if options.scale.is_some_and(|given| u64::from(given) != scale) {
            let message =
                format!("scale option ignored, using count from pgbench_branches table ({scale})");
            terminal.warning(&message);
        }
        (scale, setup::partitions(&mut connection, target.engine))
    } else {
        (options.scale.map_or(1, u64::from), None)
    };
    if !options.skips_vacuum && (has_builtin || target.engine == OWN) {
        setup::vacuum(&mut connection, target.engine, options.vacuums_all, &**terminal);
    }
    let server_version = connection.identity().version;
    block_on(connection.close());

    let log = options
        .log
        .as_ref()
        .map(|log| LogFiles::create(log, options.style, options.jobs))
        .transpose();
    let log = log.map_err(|(name, error)| {
        let why = format!("could not open logfile \"{name}\": {}", reason(&error));
        Impossible::report(&**terminal, &why)
    })?;
    let (sending, drawn) = ((target.engine, target.query_mode), (seed, scale));
    let scene = RunSetup::new((scripts, names), sending, options, drawn, Arc::clone(terminal));
    Ok(Arc::new(RunSetup { partitions, server_version, log, ..scene }))
}

/// Reads all scripts, then parses them.
fn read_scripts(
    options: &Run,
    engine: Engine,
    names: &mut Names,
    terminal: &dyn Terminal,
) -> Result<Vec<Script>> {
    let read = |(source, weight): &(Source, u32)| match source {
        Source::Builtin(name) => {
            let found = builtin::find(name).expect("options name scripts that are there");
            Ok((found.title.to_owned(), *weight, found.text(engine)))
        }
        Source::File(path) => {
            let read = if path == Path::new("-") {
                dyno_files::read_from(std::io::stdin(), SCRIPT_MAX)
            } else {
                dyno_files::read(path, SCRIPT_MAX)
            };
            let bytes = read.map_err(|error| {
                let why = format!("could not open file \"{}\": {}", path.display(), reason(&error));
                Impossible::report(terminal, &why)
            })?;
            Ok((path.display().to_string(), *weight, String::from_utf8_lossy(&bytes).into_owned()))
        }
    };
    let sources = options.scripts.iter().map(read).collect::<Result<Vec<_>>>()?;
    script::parse_all(&sources, engine.dialect().syntax, names)
        .map_err(|error| Impossible::report(terminal, &error.to_string()))
}

fn load_plan(options: &Run) -> LoadPlan {
    let stop = match options.style.length {
        Length::Transactions(each) => StopRule::TransactionsPerClient(each),
        Length::Seconds(seconds) => {
            StopRule::Duration(Nanos(seconds.saturating_mul(1_000_000_000)))
        }
    };
    LoadPlan {
        grace: options.hang_timeout.map_or(FOREVER, Nanos::from),
        time_limit: FOREVER,
        workers: Some(options.jobs),
        generators: options.generators,
        attempts_max: 1,
        rate: options.style.rate,
        ..LoadPlan::new(stop)
    }
}

fn measure(
    scene: &Arc<RunSetup>,
    target: &Target,
    interrupts: &AtomicUsize,
    source: Option<&dyn GeneratorSource<PgbenchWork>>,
) -> Result<u8> {
    let (options, terminal) = (&scene.options, &*scene.terminal);
    let load = load_plan(options);
    let folder = options.results.as_deref().map(|root| results::create(root, scene, &load, target));
    let schema = options.results.as_ref().and_then(|_| schema::of(target));
    let mut folder =
        folder.transpose().map_err(|error| Impossible::report(terminal, &error.in_full()))?;
    let progress = options.style.progress.map(|seconds| {
        ProgressThread::start(scene, seconds, options.has_progress_timestamp).map_err(|error| {
            let why = format!("could not start the thread that reports progress: {error}");
            Impossible::report(terminal, &why)
        })
    });
    let mut progress = progress.transpose()?;
    let progress_too = progress.iter_mut().map(|progress| progress as &mut dyn Listener);
    let folder_too = folder.iter_mut().map(|folder| folder as &mut dyn Listener);
    let mut messages = Messages(terminal);
    let others = progress_too.chain(folder_too);
    let mut listeners = Listeners(others.chain([&mut messages as &mut dyn Listener]).collect());
    let input = LoadInput {
        shares_machine: dyno_drivers::address::shares_machine(&target.endpoint),
        ..LoadInput::new(TRIAL, options.clients, &load, scene.seed, interrupts)
    };
    let (clients, targets) = (Scripts(Arc::clone(scene)), std::slice::from_ref(target));
    let outcome = match options.generators {
        None => run_load(clients, targets, &input, &mut listeners),
        Some(generators) => {
            let (launcher, client_work) = (options.launcher, PgbenchWork::new(scene));
            let load =
                DistributedLoad { generators, launcher, client_work, targets, input: &input };
            load.measure(source, |generators| {
                run_distributed_load(clients, targets, generators, &input, &mut listeners)
            })
        }
    };
    // The last line of progress precedes the report.
    drop(progress);
    let aborted = lock(&scene.counters).aborted;
    let is_interrupted = interrupts.load(Ordering::Relaxed) > 0;
    if let Some(folder) = folder {
        let outcome = outcome.as_ref().map_err(|error| error.clone().into());
        let outcome = outcome.map(|record| results::record(record, aborted, scene.tally(), schema));
        let finished = folder.finish(outcome, is_interrupted);
        finished.map_err(|error| Impossible::report(terminal, &error.in_full()))?;
    }
    let record = outcome.map_err(|error| match &error {
        TrialError::NotConnected(failure) => {
            terminal.error(&failure::connecting(failure, target));
            Impossible::report(terminal, "could not create connection for client")
        }
        other => Impossible::report(terminal, &other.to_string()),
    })?;
    let written = scene.log.as_ref().map_or(Ok(()), LogFiles::finish);
    if let Err((name, error)) = written {
        terminal.error(&format!("could not write to logfile \"{name}\": {}", reason(&error)));
    }
    terminal.result(&render(&summary(scene, &record)));
    if let Some(reason) = &record.facts.stopped {
        terminal.note(&format!("the run ended early: {reason}"));
    }
    if record.is_cut_off && !is_interrupted {
        terminal.error(&format!(
            "transactions were still running {} seconds after the time limit and were cut off \
             (--hang-timeout)",
            options.hang_timeout.unwrap_or_default().as_secs_f64()
        ));
    }
    if aborted > 0 || is_interrupted || record.is_cut_off {
        terminal.error("Run was aborted; the above results are incomplete.");
        return Ok(exit_code::INCOMPLETE);
    }
    Ok(exit_code::OK)
}

/// Shows what generators have to say.
struct Messages<'a>(&'a dyn Terminal);

impl Listener for Messages<'_> {
    fn message_of_generator(&mut self, text: &str) {
        self.0.message(text);
    }
}

fn summary<'a>(scene: &'a RunSetup, record: &LoadRecord) -> Summary<'a> {
    let counters = lock(&scene.counters);
    let total = scene.tally();
    let counters_of = |(index, script): (usize, &Script)| ScriptCounters {
        name: script.name.clone(),
        weight: script.weight,
        tally: if scene.program.scripts.len() > 1 { counters.tallies[index] } else { total },
        commands: script
            .commands
            .iter()
            .zip(&counters.commands[index])
            .map(|(command, tally)| (command.line.clone(), *tally))
            .collect(),
    };
    Summary {
        options: &scene.options,
        scale: scene.scale,
        partitions: scene.partitions,
        scripts: scene.program.scripts.iter().enumerate().map(counters_of).collect(),
        total,
        duration: micros(record.elapsed.0),
        connecting: if scene.options.style.connects_each_time {
            counters.connecting
        } else {
            micros(record.connecting.0)
        },
    }
}

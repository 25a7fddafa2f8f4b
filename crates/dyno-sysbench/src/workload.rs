//! sysbench scripts as a workload of a spec: `kind = "lua"`. They run as in `dyno sysbench`; the
//! spec determines clients, duration and repetitions.

use crate::job::{INTERRUPTED, Job, OK};
use crate::logger::{Logger, Terminal, Transcript};
use crate::options::definition::{Definition, Kind, recorded};
use crate::options::{OptionError, Options, registry};
use crate::preparation::{Before, Origin, Origins, Read, already, conflicting_options};
use crate::run::commands::{self, failed, watched};
use crate::run::reporter::Start;
use crate::run::scripts::{self, LuaScripts, WeightedScript, kinds};
use crate::run::{LoadedScript, Opened, Unusable, environment};
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_engine::workload::{ClientId, DataSet, TableDefinition, WorkloadContext};
use dyno_engine::{
    CustomAudit, LoadInput, PartialResult, ScriptThreads, Start as CommonStart, TrialError,
    TrialInput, run_script_subset, run_script_trial,
};
use dyno_lua::{Databases, ScriptSource, State};
use dyno_model::catalog::{
    DeclaredOption, LUA, OptionDescription, OptionKind, OptionValue, ScriptText,
    WorkloadDescription, WorkloadOptions,
};
use dyno_model::client_group::ClientSubset;
use dyno_model::event::Listener;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Engine, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Options of the workload itself.
const SCRIPTS: &str = "scripts";
const MODULES: &str = "modules";
const AUDIT: &str = "audit";
const OWN: [&str; 3] = [SCRIPTS, MODULES, AUDIT];

/// Options that exist without a script and are not about load, system or reports.
const TAKEN: [&str; 12] = [
    "rand_type",
    "rand_spec_iter",
    "rand_spec_pct",
    "rand_spec_res",
    "rand_pareto_h",
    "rand_zipfian_exp",
    "validate",
    "mysql_ignore_errors",
    "pgsql_ignore_errors",
    "max_retries",
    "thread_init_timeout",
    "thread_stack_size",
];

/// Maximum length of a log that is kept for an error.
const LOG_MAX: usize = 4096;

/// The description against which the spec is checked.
#[must_use]
pub fn description() -> WorkloadDescription {
    let texts = |name, kind, help| OptionDescription {
        name,
        kind,
        default: OptionValue::Scripts(Vec::new()),
        help,
    };
    WorkloadDescription {
        name: LUA,
        summary: "sysbench scripts in Lua: each transaction is an event of one of them, chosen by \
                  weight. Options that the scripts declare are keys beside these. Their `prepare` \
                  makes the data wherever dyno may write; with `data = \"existing\"` they find it \
                  there.",
        audit: "What `audit` names, as for `sql`. Without it none, since what your data must look \
                like is not known here.",
        options: vec![
            texts(
                SCRIPTS,
                OptionKind::Scripts { is_required: true },
                "the scripts, files with weights; `script = \"FILE\"` names one",
            ),
            texts(
                MODULES,
                OptionKind::Scripts { is_required: false },
                "Lua files that the scripts require by name and that do not come with sysbench: \
                 they lie in the plan, as the scripts do",
            ),
            OptionDescription {
                name: AUDIT,
                kind: OptionKind::Texts,
                default: OptionValue::Texts(BTreeMap::new()),
                help: "what the data must come to, for example \
                       `\"sum(k) from sbtest1\" = \"unchanged\"`, or what each event of a script \
                       adds; asked before and after each trial",
            },
        ],
    }
}

/// The options declared by the scripts, and those of sysbench's own that a workload accepts.
///
/// # Errors
/// A message with its line, when a script cannot be loaded, declares an invalid option, or has no
/// events.
pub fn declared_options(options: &WorkloadOptions) -> Result<Option<Vec<DeclaredOption>>, String> {
    // Options do not depend on the engine.
    let engine =
        Engine::of_sysbench(&Databases::default().driver).expect("the usual driver is one");
    let source = Source::new(options, engine);
    let mut all: Vec<DeclaredOption> = Vec::new();
    let mut is_any = false;
    for script in &source.scripts {
        if script.think.is_some() {
            return Err(format!(
                "the script {} has a think time, which Lua scripts implement themselves\nhint: \
                 remove `think`, or use `load.think` for all scripts",
                script.name
            ));
        }
        let opened = source.opened(script, &Usage::of_nothing(&silent().0))?.0;
        opened.check(&script.name, source.scripts.len())?;
        match &opened.definitions {
            None => is_any = true,
            Some(definitions) => {
                definitions.iter().for_each(|definition| add(&mut all, definition));
            }
        }
    }
    let general = registry::GROUPS.iter().flat_map(|group| group.definitions());
    for definition in general.filter(|definition| TAKEN.contains(&definition.name.as_str())) {
        if !all.iter().any(|option| option.name == definition.name) {
            add(&mut all, &definition);
        }
    }
    Ok((!is_any).then_some(all))
}

fn add(all: &mut Vec<DeclaredOption>, Definition { name, kind, default, .. }: &Definition) {
    // As in sysbench, a script never sees the value of such an option.
    let (Some(default), false) = (recorded(default), *kind == Kind::File) else { return };
    if let Some(known) = all.iter_mut().find(|option| option.name == *name) {
        known.default = known.default.take().filter(|known| *known == default);
        return;
    }
    let kind = match kind {
        Kind::Boolean => OptionKind::Boolean,
        Kind::Integer => OptionKind::Integer { min: i64::MIN, max: i64::MAX },
        Kind::Decimal | Kind::Size | Kind::Double => {
            OptionKind::Number { min: f64::MIN, max: f64::MAX }
        }
        Kind::Text | Kind::List | Kind::File | Kind::Switch => OptionKind::Text,
    };
    all.push(DeclaredOption { name: name.clone(), kind, default: Some(default) });
}

/// The scripts and their options.
#[derive(Clone)]
struct Source {
    scripts: Vec<ScriptText>,
    modules: BTreeMap<String, String>,
    /// Options of the spec, by name.
    given: BTreeMap<String, String>,
    engine: Engine,
}

/// The purpose for which a script is loaded.
struct Usage<'a> {
    command: &'static str,
    threads: u32,
    seed: u64,
    targets: Vec<Target>,
    /// The threads of this process, where generators run them.
    subset: Option<ClientSubset>,
    logger: &'a Arc<Logger>,
}

impl<'a> Usage<'a> {
    /// For inspection.
    fn of_nothing(logger: &'a Arc<Logger>) -> Self {
        Self { command: "run", threads: 1, seed: 0, targets: Vec::new(), subset: None, logger }
    }
}

impl Opened {
    fn check(&self, name: &str, scripts: usize) -> Result<(), String> {
        let main = &self.main;
        if !main.has_function("event") {
            return Err(format!(
                "the script {name} has no function `event`\nhint: name the script that `sysbench` \
                 would run, and what it requires as `{MODULES}`"
            ));
        }
        if scripts > 1 && main.has_own_loop() {
            return Err(format!(
                "the script {name} defines its own event loop (`thread_run`), so its events cannot \
                 alternate with those of other scripts\nhint: run it alone"
            ));
        }
        Ok(())
    }
}

fn origin(main: &State, command: &str, script: &ScriptText) -> Option<Origin> {
    let (chunk, line) = main.origin(command)?;
    let is_its_own = chunk == file(script);
    Some((if is_its_own { script.text.clone() } else { chunk }, line))
}

fn file(script: &ScriptText) -> String {
    format!("{}.lua", script.name)
}

const PREPARE: &str = "prepare";
const CLEANUP: &str = "cleanup";

impl Source {
    fn new(options: &WorkloadOptions, engine: Engine) -> Self {
        let modules = options
            .scripts(MODULES)
            .iter()
            .map(|module| (module.name.clone(), module.text.clone()));
        let given = options.0.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        Self {
            scripts: options.scripts(SCRIPTS).to_vec(),
            modules: modules.collect(),
            given: given.map(|(name, value)| (name.clone(), value.to_string())).collect(),
            engine,
        }
    }

    /// Loads a script and assigns the options that it declares.
    fn opened(&self, script: &ScriptText, usage: &Usage<'_>) -> Result<(Opened, Options), String> {
        let file = file(script);
        let driver = self.engine.sysbench().name;
        let mut line = vec![
            file.clone(),
            usage.command.to_owned(),
            format!("--threads={}", usage.threads),
            format!("--db-driver={driver}"),
        ];
        let (general, own): (Vec<_>, Vec<_>) =
            self.given.iter().partition(|(name, _)| TAKEN.contains(&name.as_str()));
        line.extend(general.iter().map(|(name, value)| format!("--{name}={value}")));
        let arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        let of_options =
            |error: &OptionError| format!("the script {}: {}", script.name, error.words());
        let mut options = Options::parse(&arguments).map_err(|error| of_options(&error))?;
        let text = ScriptSource::Text { name: file, text: script.text.clone().into_bytes() };
        let mut environment =
            environment::environment(text, &options, line, usage.seed, usage.logger);
        environment.modules.clone_from(&self.modules);
        environment.is_alone = false;
        environment.subset = usage.subset;
        if let Some(driver) = Engine::of_sysbench(driver) {
            environment.databases.access_mut(driver).targets.clone_from(&usage.targets);
        }
        let unusable = |why: Unusable| match why {
            Unusable::Script(error) => self.unloadable(script, &error.message),
            Unusable::Options(error) => of_options(&error),
        };
        let opened = Opened::new(environment).map_err(unusable)?;
        let is_its_own = |name: &str| match &opened.definitions {
            None => true,
            Some(definitions) => definitions.iter().any(|definition| definition.name == name),
        };
        for (name, value) in own.into_iter().filter(|(name, _)| is_its_own(name)) {
            options.give(&format!("{name}={value}"));
        }
        opened.take(&mut options).map_err(unusable)?;
        Ok((opened, options))
    }

    fn unloadable(&self, script: &ScriptText, message: &str) -> String {
        let text = format!(
            "the script {} cannot be loaded: {}",
            script.name,
            message.lines().next().unwrap_or_default()
        );
        match message.split_once("module '").and_then(|(_, rest)| rest.split_once("' not found")) {
            Some((module, _)) => {
                format!("{text}\nhint: name its file: `{MODULES} = [\"{module}.lua\"]`")
            }
            None => text,
        }
    }

    fn loaded(
        &self,
        script: &ScriptText,
        usage: &Usage<'_>,
    ) -> Result<(LoadedScript, Options), String> {
        let (opened, options) = self.opened(script, usage)?;
        let loaded =
            opened.loaded(&options).map_err(|error| self.unloadable(script, &error.message))?;
        Ok((loaded, options))
    }

    /// The given options that a script accepts.
    fn given_to(&self, opened: &Opened) -> BTreeMap<String, String> {
        let is_taken = |name: &str| {
            TAKEN.contains(&name)
                || opened
                    .definitions
                    .as_ref()
                    .is_none_or(|all| all.iter().any(|one| one.name == name))
        };
        let taken = self.given.iter().filter(|(name, _)| is_taken(name));
        taken.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Lets each script execute a custom command, unless a script before it or another workload has
    /// the same one. A `prepare` that has run with other options is skipped when it read none of
    /// these, because the result would be the same.
    fn command(
        &self,
        command: &'static str,
        data: &Data,
        target: &Target,
        interrupts: &AtomicUsize,
    ) -> Result<(), OperationFailure> {
        let (logger, log) = silent();
        let failed = |text: String| FailureKind::Other.failure(text);
        let mut left: BTreeSet<&Origin> = data.origins[command].keys().collect();
        for script in &self.scripts {
            if left.is_empty() {
                break;
            }
            let targets = vec![target.clone()];
            let (threads, seed) = (data.threads, data.seed);
            let usage = Usage { command, threads, seed, targets, subset: None, logger: &logger };
            let (mut loaded, options) = self.loaded(script, &usage).map_err(failed)?;
            let Some(origin) = origin(&loaded.main, command, script).filter(|it| left.remove(it))
            else {
                continue;
            };
            let is_prepare = |before: &&Before| command == PREPARE && before.origin == origin;
            let before: Vec<_> =
                data.before.iter().filter(is_prepare).map(Before::that_count).collect();
            if before.iter().any(BTreeSet::is_empty) {
                continue;
            }
            if data.read.is_some() {
                loaded.watch().map_err(|error| failed(self.unloadable(script, &error.message)))?;
            }
            let name = file(script);
            let job = Job {
                source: None,
                options,
                logger: Arc::clone(&logger),
                interrupts,
                script: name,
                seed: data.seed,
            };
            let code = match commands::custom(&job, &loaded, command) {
                Some(code) => code,
                None => commands::function(&job, &loaded, command),
            };
            if let Some(read) = &data.read {
                read.note(origin, loaded.read());
            }
            match code {
                OK => {}
                INTERRUPTED => {
                    return Err(
                        FailureKind::Cancelled.failure(format!("{command} was interrupted"))
                    );
                }
                _ => {
                    let text = format!("{command} of the script {}: {}", script.name, joined(&log));
                    return Err(failed(text + &already(&before)));
                }
            }
        }
        Ok(())
    }
}

/// A logger for fatal lines only, without output, and the beginning of what it writes.
fn silent() -> (Arc<Logger>, Transcript) {
    let log = Transcript::of_beginning(LOG_MAX);
    let logger = Logger::new(Terminal { out: Box::new(log.clone()), error: Box::new(log.clone()) });
    logger.set_verbosity(0);
    (Arc::new(logger), log)
}

/// The lines of a log joined to one, without prefixes.
fn joined(log: &Transcript) -> String {
    let text = log.text();
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("FATAL: ")).collect();
    lines.join("; ")
}

/// The workload.
pub struct Scripts {
    data: Data,
    audit: Arc<CustomAudit>,
}

/// The data created by the scripts' `prepare`.
struct Data {
    source: Source,
    /// Threads and seed of `prepare`.
    threads: u32,
    seed: u64,
    /// Commands that create and remove the data, by name, without those left to another workload.
    origins: BTreeMap<&'static str, Origins>,
    /// Those that another workload has run before with other options.
    before: Vec<Before>,
    /// The options read by its own commands, where others have the same commands.
    read: Option<Arc<Read>>,
}

impl Scripts {
    /// Builds the workload from options that were checked against [`description`] and
    /// [`declared_options`]. The data are created with as many threads as the system has clients at
    /// most, because some scripts create a table per thread.
    ///
    /// # Errors
    /// When a script cannot be loaded, or an audit is invalid.
    pub fn build(
        options: &WorkloadOptions,
        setting: WorkloadContext,
        clients_max: u32,
    ) -> Result<Self, String> {
        let source = Source::new(options, setting.engine);
        let mut origins =
            BTreeMap::from([PREPARE, CLEANUP].map(|command| (command, Origins::new())));
        for script in &source.scripts {
            let (opened, _) = source.opened(script, &Usage::of_nothing(&silent().0))?;
            opened.check(&script.name, source.scripts.len())?;
            for (command, origins) in &mut origins {
                let Some(origin) = origin(&opened.main, command, script) else { continue };
                origins.entry(origin).or_default().extend(source.given_to(&opened));
            }
        }
        // The work done by a script before its failure is unknown.
        let known: Vec<(&str, bool)> =
            source.scripts.iter().map(|script| (script.name.as_str(), false)).collect();
        let audit = Arc::new(CustomAudit::new(options.texts(AUDIT), &known)?);
        let threads = if setting.engine.traits().has_one_writer { 1 } else { clients_max };
        let data =
            Data { source, threads, seed: setting.seed, origins, before: Vec::new(), read: None };
        Ok(Self { data, audit })
    }

    /// The tables and rows.
    #[must_use]
    pub fn data(&self) -> &dyn DataSet {
        &self.data
    }

    /// Leaves commands to other workloads whose scripts have the same ones: the same `prepare` or
    /// `cleanup`, with the same modules and options. Commands that only one of both has are not
    /// affected. Whether other option values make a different `prepare` is decided when the others
    /// run.
    pub fn leave_to(&mut self, others: &mut Self) {
        let (own, others) = (&mut self.data, &mut others.data);
        if !conflicting_options(&own.source.modules, &others.source.modules).is_empty() {
            return;
        }
        for (command, origins) in &mut own.origins {
            origins.retain(|origin, given| {
                let Some(theirs) = others.origins[command].get(origin) else { return true };
                // Some create a table per thread.
                others.threads = others.threads.max(own.threads);
                let options = conflicting_options(given, theirs);
                let is_another = !options.is_empty();
                if is_another && *command == PREPARE {
                    let read = others.read.get_or_insert_default();
                    own.before.push(Before::new(origin.clone(), options, read));
                }
                is_another
            });
        }
    }

    /// The SQL of the audited values.
    pub fn audited(&self) -> impl Iterator<Item = &str> {
        self.audit.expressions()
    }

    /// Names of the kinds of statements.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        let names: Vec<&str> =
            self.data.source.scripts.iter().map(|script| script.name.as_str()).collect();
        kinds(&names)
    }

    /// Queries every value of the audit once, if the tables exist. Returns the server's errors.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn rehearse(&self, target: &Target) -> Result<Vec<String>, OperationFailure> {
        let io = Io::WithTimeout(TimeoutPolicy::for_questions(target));
        let mut connection = block_on(Connection::connect(target, &io))?;
        let refused = block_on(self.audit.rehearse(&mut connection))?;
        block_on(connection.close());
        Ok(refused)
    }

    /// Measures one trial.
    ///
    /// # Errors
    /// When nothing could be measured. Problems during measuring are warnings of the record.
    pub fn run(
        self,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        // A script cannot switch to another node when one is lost, so it does not get spare nodes.
        let nodes = input.nodes.iter().filter(|node| !node.is_spare);
        let nodes = nodes.map(|node| node.client_target.as_ref().unwrap_or(&node.target));
        let Loaded { mains, threads, clients } =
            self.loaded(nodes.cloned().collect(), &input.load, None)?;
        for (job, main) in mains.iter().filter(|(_, main)| main.has_global("init")) {
            let outcome = watched(job, main, || main.call("init", None));
            outcome.map_err(|error| problem(failed("init", &error.message)))?;
        }
        let record = run_script_trial(clients, &self.audit, &threads, input, listener)?;
        for (job, main) in mains.iter().filter(|(_, main)| main.has_global("done")) {
            // The figures have already been collected.
            let _ = watched(job, main, || main.call("done", None));
        }
        Ok(record)
    }

    /// Measures the clients of one of several generators. `init` and `done` run where the trial is
    /// coordinated.
    ///
    /// # Errors
    /// When they cannot begin.
    pub fn run_subset(
        self,
        (targets, spare): (&[Target], usize),
        input: &LoadInput<'_>,
        ready: impl FnOnce() -> Result<CommonStart, TrialError>,
        listener: &mut dyn Listener,
    ) -> Result<PartialResult, TrialError> {
        let targets = targets[..targets.len() - spare].to_vec();
        let loaded = self.loaded(targets, input, Some(input.clients))?;
        run_script_subset(loaded.clients, &self.audit, &loaded.threads, input, ready, listener)
    }

    fn loaded<'a>(
        &self,
        targets: Vec<Target>,
        input: &LoadInput<'a>,
        subset: Option<ClientSubset>,
    ) -> Result<Loaded<'a>, TrialError> {
        let ((logger, _), source, seed) = (silent(), &self.data.source, input.seed);
        let threads = input.clients.total;
        let usage = Usage { command: "run", threads, seed, targets, subset, logger: &logger };
        let (mut scripts, mut mains) = (Vec::new(), Vec::new());
        for script in &source.scripts {
            let (LoadedScript { main, recipe }, options) =
                source.loaded(script, &usage).map_err(problem)?;
            let job = Job {
                options,
                logger: Arc::clone(&logger),
                interrupts: input.interrupts,
                source: None,
                script: file(script),
                seed,
            };
            scripts.push(WeightedScript {
                name: script.name.clone(),
                weight: script.weight,
                recipe,
            });
            mains.push((job, main));
        }
        let general = &mains.first().expect("a workload has a script").0.options.general;
        let (created, start) = (scripts::threads(general), Arc::new(Start::new(&logger, general)));
        let clients = LuaScripts { scripts, seed, audit: Arc::clone(&self.audit), logger, start };
        Ok(Loaded { mains, threads: created, clients })
    }
}

/// The scripts of a trial: their main states, and their threads.
struct Loaded<'a> {
    mains: Vec<(Job<'a>, State)>,
    threads: ScriptThreads,
    clients: LuaScripts,
}

fn problem(message: String) -> TrialError {
    TrialError::Script { client: ClientId(0), message }
}

impl DataSet for Data {
    fn fingerprint(&self) -> String {
        let mut text = format!("lua {} {}\n", self.threads, self.seed);
        for (name, value) in &self.source.given {
            let _ = writeln!(text, "{name}={value}");
        }
        let modules = self.source.modules.values();
        self.source
            .scripts
            .iter()
            .map(|script| &script.text)
            .chain(modules)
            .for_each(|source| text.push_str(source));
        text
    }

    /// The effects of an event are unknown.
    fn is_reusable(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<TableDefinition> {
        Vec::new()
    }

    fn is_created_once(&self) -> bool {
        !self.origins[PREPARE].is_empty()
    }

    fn create(&self, target: &Target, interrupts: &AtomicUsize) -> Result<(), OperationFailure> {
        self.source.command(PREPARE, self, target, interrupts)
    }

    fn remove(&self, target: &Target, interrupts: &AtomicUsize) {
        // There may be nothing to clean up, which many scripts treat as an error.
        let _ = self.source.command(CLEANUP, self, target, interrupts);
    }
}

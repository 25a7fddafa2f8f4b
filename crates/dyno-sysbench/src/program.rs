//! The program from its command line to its exit code.

use crate::job::{FAILED, Job, OK};
use crate::legacy;
use crate::logger::{Logger, Terminal};
use crate::options::{OptionError, OptionWarning, Options, help};
use crate::report::header;
use crate::resolve::{self, Script};
use crate::run::{LoadedScript, Opened, Unusable, bundled, commands, environment, measure};
use crate::sysbench_work::SysbenchWork;
use dyno_engine::GeneratorSource;
use dyno_files::SCRIPT_MAX;
use dyno_lua::{ErrorKind, Role, ScriptError, ScriptSource, State};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the program. `arguments` is the command line without the program's name, `name` is what
/// scripts see as `sysbench.cmdline.argv[0]`. An interrupt by the user ends a run with its report;
/// the count may only increase. `source` starts the generators that a command line asks for.
#[must_use]
pub fn main(
    arguments: &[OsString],
    name: &str,
    terminal: Terminal,
    interrupts: &AtomicUsize,
    source: Option<&dyn GeneratorSource<SysbenchWork>>,
) -> u8 {
    let logger = Arc::new(Logger::new(terminal));
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(error) => return refuse(&logger, &error),
    };
    logger.set_verbosity(options.general.verbosity);
    tell(&logger, &options.warnings);
    if options.general.version {
        logger.print(&format!("sysbench {}\n", header::version(options.general.layout)));
        return OK;
    }
    if options.general.help {
        logger.print(&help::general());
        return OK;
    }
    if options.general.json == Some(crate::options::general::JsonDestination::Standard) {
        logger.divert_log();
    }
    let general = &options.general;
    if general.time.is_none() && general.events.is_none() {
        logger.warning("Both event and time limits are disabled, running an endless test");
    }
    options.database.notes.iter().for_each(|note| logger.warning(note));
    logger.notice(&header::banner(general.layout));
    let seed = options.seed.unwrap_or_else(seed_from_clock);
    let script = options.positionals.script.clone();
    let named = script.clone().unwrap_or_default();
    let job = Job { options, logger, interrupts, source, script: named, seed };
    let argv: Vec<String> =
        std::iter::once(name.to_owned()).chain(arguments.iter().map(shown)).collect();
    let logger = Arc::clone(&job.logger);
    let code = perform(job, resolve::resolve(script.as_deref(), is_script), argv);
    if logger.has_lost() { code.max(FAILED) } else { code }
}

/// Reports an error of the command line.
fn refuse(logger: &Logger, error: &OptionError) -> u8 {
    match error {
        OptionError::Argument(text) => logger.complain(text),
        OptionError::Fatal(text) => logger.fatal(text),
        OptionError::Plain(text) => logger.print(&format!("{text}\n")),
    }
    FAILED
}

fn tell(logger: &Logger, warnings: &[OptionWarning]) {
    for warning in warnings {
        match warning {
            OptionWarning::Log(text) => logger.warning(text),
            OptionWarning::Argument(text) => logger.complain(text),
        }
    }
}

/// An argument as scripts may see it: passwords are only passed to them as options.
fn shown(argument: &OsString) -> String {
    let text = argument.to_string_lossy();
    match text.split_once('=') {
        Some((name, _)) if name.starts_with("--") && name.contains("password") => {
            format!("{name}=***")
        }
        _ => text.into_owned(),
    }
}

/// Whether a path can be a script. A folder cannot: a folder with the name of a bundled script,
/// such as that of its results, does not hide the script.
fn is_script(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

fn seed_from_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64)
}

fn perform(job: Job<'_>, script: Script, argv: Vec<String>) -> u8 {
    match script {
        Script::BuiltIn(test) => {
            job.logger.complain(&format!(
                "The '{test}' test does not measure a database and is not part of dyno: use \
                 sysbench for it."
            ));
            FAILED
        }
        Script::Input => input(&job, argv),
        Script::File(path) => lua(job, ScriptSource::File(PathBuf::from(path)), argv, None),
        Script::Module(name) => lua(job, ScriptSource::Module(name), argv, None),
        Script::Legacy(script) => {
            let mut job = job;
            let name = legacy::translate(script, &mut job.options);
            substitute(&job, name);
            lua(job, ScriptSource::Module(name.to_owned()), argv, Some(name))
        }
        Script::Bundled { name, is_substitute } => {
            if is_substitute {
                substitute(&job, name);
            }
            lua(job, ScriptSource::Module(name.to_owned()), argv, Some(name))
        }
    }
}

/// Reports that a bundled script is used in place of a missing file.
fn substitute(job: &Job<'_>, name: &str) {
    job.logger.notice(&format!("There is no file '{}': using dyno's own {name}.", job.script));
}

/// A script on standard input is run once, without commands.
fn input(job: &Job<'_>, argv: Vec<String>) -> u8 {
    if std::io::stdin().is_terminal() {
        job.logger.notice(
            "Reading the script from standard input. See 'sysbench --help' for other ways to run a \
             script.",
        );
    }
    let text = match dyno_files::read_from(std::io::stdin(), SCRIPT_MAX) {
        Ok(text) => text,
        Err(error) => {
            job.logger.fatal(&format!("cannot read the script from standard input: {error}"));
            return FAILED;
        }
    };
    let source = ScriptSource::Text { name: "stdin".to_owned(), text };
    let environment = environment::environment(source, &job.options, argv, job.seed, &job.logger);
    match State::load(&Arc::new(environment), Role::Main) {
        Ok(_) => OK,
        Err(error) => unloadable(job, &error),
    }
}

/// Loads a script, which declares its options, and executes the command: natively if possible,
/// otherwise in Lua.
fn lua(
    mut job: Job<'_>,
    source: ScriptSource,
    argv: Vec<String>,
    bundled_name: Option<&str>,
) -> u8 {
    let environment = environment::environment(source, &job.options, argv, job.seed, &job.logger);
    let known = job.options.warnings.len();
    let opened = Opened::new(environment).and_then(|opened| {
        opened.take(&mut job.options)?;
        Ok(opened)
    });
    let opened = match opened {
        Ok(opened) => opened,
        Err(Unusable::Script(error)) => return unloadable(&job, &error),
        Err(Unusable::Options(error)) => return refuse(&job.logger, &error),
    };
    tell(&job.logger, &job.options.warnings[known..]);
    if let Some(code) = bundled_name.and_then(|name| bundled::perform(&job, name)) {
        return code;
    }
    match opened.loaded(&job.options) {
        Ok(script) => command(&job, &script),
        Err(error) => unloadable(&job, &error),
    }
}

/// Executes a command: those of the script are searched first, then the usual ones.
fn command(job: &Job<'_>, script: &LoadedScript) -> u8 {
    let Some(command) = job.options.positionals.command.as_deref() else { return OK };
    if let Some(code) = commands::custom(job, script, command) {
        return code;
    }
    match command {
        "help" => commands::help(job, script),
        "run" => measure::script(job, script),
        "prepare" | "cleanup" => commands::function(job, script, command),
        unknown => {
            job.logger.complain(&format!("Unknown command: {unknown}"));
            FAILED
        }
    }
}

/// Reports why a script could not be loaded.
fn unloadable(job: &Job<'_>, error: &ScriptError) -> u8 {
    match error.kind {
        ErrorKind::NotFound => job.logger.fatal(&format!(
            "Cannot find benchmark '{}': no such built-in test, file or module",
            job.script
        )),
        _ => job.logger.fatal(&error.message),
    }
    FAILED
}

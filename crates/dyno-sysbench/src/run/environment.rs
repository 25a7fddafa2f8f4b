//! Converts options to the environment of script states.

use crate::logger::Logger;
use crate::options::definition::{Definition, Kind, Value};
use crate::options::help::shown_default;
use crate::options::{OptionError, Options, invalid};
use crate::report::header;
use dyno_lua::{DeclaredOption, Environment, Log, LogLevel, ScriptSource};
use std::sync::Arc;

impl Log for Logger {
    fn log(&self, level: LogLevel, text: &str) {
        Self::log(self, level, text);
    }
}

/// The environment of all states of this program run. `argv` is the whole command line with its
/// passwords hidden.
pub(crate) fn environment(
    script: ScriptSource,
    options: &Options,
    argv: Vec<String>,
    seed: u64,
    logger: &Arc<Logger>,
) -> Environment {
    let mut environment = Environment::new(script);
    environment.command.clone_from(&options.positionals.command);
    environment.argv = argv;
    environment.threads = options.general.threads;
    environment.seed = seed;
    environment.random = options.random;
    environment.databases = options.database.databases.clone();
    let layout = options.general.layout;
    environment.version = header::version(layout).to_owned();
    environment.version_string = format!("sysbench {}", header::version(layout));
    let retries = options.general.retries_max.unwrap_or(0);
    environment.restarts_max = u32::try_from(retries).unwrap_or(u32::MAX);
    environment.log = Arc::clone(logger) as Arc<dyn Log>;
    environment
}

/// A script's own option as a definition.
///
/// # Errors
/// When its default does not have the declared type.
pub(crate) fn definition(declared: &DeclaredOption) -> Result<Definition, OptionError> {
    let (kind, given) = (declared.kind, &declared.default);
    // An option without a default has the empty value of its type, "" or 0; a switch is on, as in
    // sysbench.
    let default = match (given, kind) {
        // As in sysbench, a script never sees the value of such an option.
        (_, Kind::File) => Value::Nothing,
        (Value::Nothing, Kind::Boolean) => Value::Boolean(true),
        (Value::Nothing, kind) => kind.parse(Some("")).unwrap_or(Value::Nothing),
        // The declared type decides, whatever type the default has in Lua: "4K" as a size is 4096.
        _ => kind
            .parse(Some(&given.text()))
            .map_err(|_| OptionError::Argument(invalid(&declared.name, &given.text())))?,
    };
    Ok(Definition {
        name: declared.name.clone(),
        kind,
        shown_default: shown_default(given),
        default,
        help: declared.description.clone(),
    })
}

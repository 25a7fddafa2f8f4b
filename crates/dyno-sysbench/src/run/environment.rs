//! What script states need to know, from the options.

use crate::logger::Logger;
use crate::options::database::Ignored;
use crate::options::definition::{Definition, Kind, Value};
use crate::options::help::shown_default;
use crate::options::{OptionError, Options, invalid};
use crate::report::header;
use dyno_lua::{
    DeclaredOption, Environment, Log, LogLevel, OptionKind, OptionValue, RandomSettings, ScriptSource,
};
use dyno_model::target::Endpoint;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Log for Logger {
    fn log(&self, level: LogLevel, text: &str) {
        Self::log(self, level, text);
    }
}

/// The environment of all states of this program run. `argv` is the whole command line with its passwords hidden.
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
    let random = &options.random;
    environment.random = RandomSettings {
        default: random.kind,
        iterations: random.special_iterations,
        special_percent: random.special_percent,
        special_share: random.special_result,
        pareto_h: random.pareto_h,
        zipfian_exponent: random.zipfian_exponent,
    };
    let (from, to) = (&options.database, &mut environment.databases);
    to.driver.clone_from(&from.driver);
    to.mysql.clone_from(&from.mysql);
    to.postgres.clone_from(&from.postgres);
    to.mysql_ignored = ignored(&from.mysql_ignored);
    to.postgres_ignored = ignored(&from.postgres_ignored);
    to.sqlite = (from.sqlite.endpoint != Endpoint::InProcess).then(|| from.sqlite.clone());
    to.dry_run = from.mysql_dry_run;
    let layout = options.general.layout;
    environment.version = header::version(layout).to_owned();
    environment.version_string = format!("sysbench {}", header::version(layout));
    let retries = options.general.retries_max.unwrap_or(0);
    environment.restarts_max = u32::try_from(retries).unwrap_or(u32::MAX);
    environment.log = Arc::clone(logger) as Arc<dyn Log>;
    environment
}

fn ignored<T: ToString>(ignored: &Ignored<T>) -> dyno_lua::Ignored {
    match ignored {
        Ignored::All => dyno_lua::Ignored::All,
        Ignored::Codes(codes) => dyno_lua::Ignored::codes(codes.iter().map(ToString::to_string)),
    }
}

/// The script's own options as definitions.
///
/// # Errors
/// When a default is no value of the type that the script names for it.
pub(crate) fn definitions(declared: &[DeclaredOption]) -> Result<Vec<Definition>, OptionError> {
    declared.iter().map(definition).collect()
}

fn definition(declared: &DeclaredOption) -> Result<Definition, OptionError> {
    let kind = match declared.kind {
        OptionKind::Boolean => Kind::Boolean,
        OptionKind::Integer => Kind::Integer,
        OptionKind::Size => Kind::Size,
        OptionKind::Double => Kind::Double,
        OptionKind::Text => Kind::Text,
        OptionKind::List => Kind::List,
        OptionKind::File => Kind::File,
    };
    let given = match &declared.default {
        OptionValue::Boolean(is_on) => Value::Boolean(*is_on),
        OptionValue::Number(number) => Value::Number(*number),
        OptionValue::Text(text) => Value::Text(text.clone()),
        OptionValue::List(items) => Value::List(items.clone()),
        OptionValue::Nothing => Value::Nothing,
    };
    // An option without a default has its type's empty value, "" or 0; a switch is on, as in sysbench.
    let default = match (&given, kind) {
        // As in sysbench a script never sees the value of such an option.
        (_, Kind::File) => Value::Nothing,
        (Value::Nothing, Kind::Boolean) => Value::Boolean(true),
        (Value::Nothing, kind) => kind.parse(Some("")).unwrap_or(Value::Nothing),
        // A type that the script names decides, whatever the default is in Lua: "4K" as a size is 4096.
        _ => kind
            .parse(Some(&given.text()))
            .map_err(|_| OptionError::Argument(invalid(&declared.name, &given.text())))?,
    };
    Ok(Definition {
        name: declared.name.clone(),
        kind,
        shown_default: shown_default(&given),
        default,
        help: declared.description.clone(),
    })
}

/// Values of all options as scripts see them in `sysbench.opt`.
pub(crate) fn values(options: &Options) -> BTreeMap<String, OptionValue> {
    options
        .for_script()
        .into_iter()
        .map(|(name, value)| {
            let value = match value {
                Value::Boolean(is_on) => OptionValue::Boolean(is_on),
                Value::Number(number) => OptionValue::Number(number),
                Value::Text(text) => OptionValue::Text(text),
                Value::List(items) => OptionValue::List(items),
                Value::Nothing => OptionValue::Nothing,
            };
            (name, value)
        })
        .collect()
}

//! Options: definitions ([`registry`]), parsing ([`arguments`], [`config_file`]), and meaning
//! ([`general`], [`database`]); several runs in one command line ([`curve`]).
//!
//! There are two passes, because a script declares its own options: [`Options::parse`] processes
//! what is known without a script and keeps the rest; [`Options::declare`] then assigns the rest to
//! the script's options, and unknown options are errors. The last occurrence of an option wins.

pub(crate) mod arguments;
pub(crate) mod config_file;
mod curve;
pub(crate) mod database;
pub(crate) mod definition;
pub(crate) mod error;
pub(crate) mod general;
pub(crate) mod help;
pub(crate) mod registry;

use arguments::{Argument, Positionals};
use database::DatabaseOptions;
use definition::{BadValue, Definition, Kind, Value, dashed};
use dyno_drivers::address::Surroundings;
use dyno_lua::RandomSettings;
use general::General;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

pub use curve::curve;
pub(crate) use error::{OptionError, OptionWarning, invalid};

#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) positionals: Positionals,
    /// Amount and duration of the load, and its reports.
    pub(crate) general: General,
    pub(crate) random: RandomSettings,
    /// Seed of the random numbers; `None` for a seed from the clock.
    pub(crate) seed: Option<u64>,
    pub(crate) database: DatabaseOptions,
    /// Warnings to be shown before anything else: old names, a missing config file.
    pub(crate) warnings: Vec<OptionWarning>,
    values: BTreeMap<String, Value>,
    given: BTreeSet<String>,
    pending: Vec<Argument>,
}

impl fmt::Debug for Options {
    /// Values are left out because they include passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("positionals", &self.positionals)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

/// Old names, in the order of sysbench's warnings.
const RENAMED: [(&str, &str); 4] = [
    ("num_threads", "threads"),
    ("max_requests", "events"),
    ("max_time", "time"),
    ("tx_rate", "rate"),
];

impl Options {
    /// First pass over the command line, without the program's name.
    ///
    /// # Errors
    /// Errors of the command line, in sysbench's words where it has some.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, OptionError> {
        Self::parse_with(arguments, |file| {
            let bytes = dyno_files::read(Path::new(file), dyno_files::SCRIPT_MAX)?;
            String::from_utf8(bytes).map_err(std::io::Error::other)
        })
    }

    /// As [`Options::parse`], with another function for reading config files.
    ///
    /// # Errors
    /// As [`Options::parse`].
    pub(crate) fn parse_with(
        arguments: &[OsString],
        read: impl Fn(&str) -> std::io::Result<String>,
    ) -> Result<Self, OptionError> {
        let definitions: BTreeMap<String, Definition> = registry::GROUPS
            .iter()
            .flat_map(|group| group.definitions())
            .map(|definition| (definition.name.clone(), definition))
            .collect();
        let values =
            definitions.iter().map(|(name, it)| (name.clone(), it.default.clone())).collect();
        let mut pass = FirstPass { definitions, values, ..FirstPass::default() };
        for word in arguments {
            // Invalid UTF-8 is replaced, because no option accepts it.
            let word = word.to_string_lossy();
            match word.strip_prefix("--").map(Argument::new) {
                None => pass.positionals.take(word.into_owned())?,
                Some(argument) if argument.name == "config_file" => {
                    pass.config(&argument, &read)?;
                }
                Some(argument) => pass.option(argument)?,
            }
        }
        pass.rename();
        let FirstPass { positionals, values, given, pending, warnings, .. } = pass;
        let general = General::from_values(&values, &given)?;
        let random = general::random(&values)?;
        let seed = general::seed(&values);
        let database = DatabaseOptions::from_values(&values, &given, &Surroundings::of_process())?;
        Ok(Self { positionals, general, random, seed, database, warnings, values, given, pending })
    }

    /// Second pass: the script's options. Given ones get their values, the others their defaults.
    /// An option that the program also has keeps the user's value, if any.
    ///
    /// # Errors
    /// When a value does not have the option's type, or an unknown option was given.
    pub(crate) fn declare(&mut self, definitions: &[Definition]) -> Result<(), OptionError> {
        for definition in definitions {
            if !self.given.contains(&definition.name) {
                self.values.insert(definition.name.clone(), definition.default.clone());
            } else if let Some(text) = self.values.get(&definition.name).map(Value::text)
                && let Ok(value) = definition.kind.parse(Some(&text))
            {
                self.values.insert(definition.name.clone(), value);
            }
        }
        for argument in std::mem::take(&mut self.pending) {
            let Some(definition) =
                definitions.iter().find(|definition| definition.name == argument.name)
            else {
                match &argument.location {
                    // A file may be used with several scripts.
                    Some(place) => {
                        let text = format!("{place}: no such option: {}", argument.typed);
                        self.warnings.push(OptionWarning::Log(text));
                        continue;
                    }
                    None => return Err(unknown(&argument)),
                }
            };
            let mut value = parse(definition, &argument)?.ok_or_else(|| unknown(&argument))?;
            if definition.kind == Kind::File {
                // As in sysbench, a script never sees the value of such an option.
                value = Value::Nothing;
            }
            self.given.insert(argument.name.clone());
            self.values.insert(argument.name, value);
        }
        Ok(())
    }

    /// Replaces [`Options::declare`] for scripts for 0.5, which declare no options: every unknown
    /// option becomes a text.
    ///
    /// # Errors
    /// When an existing boolean has another value than on or off.
    pub(crate) fn accept_all(&mut self) -> Result<(), OptionError> {
        for argument in std::mem::take(&mut self.pending) {
            let is_known = self.values.contains_key(&argument.name);
            if is_known && !self.given.contains(&argument.name) {
                return Err(unknown(&argument));
            }
            self.given.insert(argument.name.clone());
            self.values.insert(argument.name, Value::Text(argument.value.unwrap_or_default()));
        }
        Ok(())
    }

    /// Adds an option before the second pass, as `name=value`.
    pub(crate) fn give(&mut self, text: &str) {
        self.pending.push(Argument::new(text));
    }

    /// Renames given options that are not yet known.
    pub(crate) fn rename(&mut self, names: &[(&str, &str)]) {
        for argument in &mut self.pending {
            if let Some((_, new)) = names.iter().find(|(old, _)| *old == argument.name) {
                (*new).clone_into(&mut argument.name);
            }
        }
    }

    /// Removes a given option that is not yet known; true when it was switched on.
    pub(crate) fn take_switch(&mut self, name: &str) -> bool {
        let (taken, rest) =
            std::mem::take(&mut self.pending).into_iter().partition(|it| it.name == name);
        self.pending = rest;
        let taken: Vec<Argument> = taken;
        let value = taken.last().map(|argument| Kind::Boolean.parse(argument.value.as_deref()));
        matches!(value, Some(Ok(Value::Boolean(true))))
    }

    /// Value of an option by its name with underscores; [`Value::Nothing`] when it does not exist.
    pub(crate) fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or(&Value::Nothing)
    }

    /// True when the option was given on the command line or in a config file.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// All options and values for a script. They include passwords, which scripts with several
    /// connections need and nothing else may use.
    pub(crate) fn for_script(&self) -> BTreeMap<String, Value> {
        let mut values = self.values.clone();
        // sysbench's own types where dyno's are wider.
        if let Some(percentile) = values.get_mut("percentile") {
            *percentile = Value::Number(self.general.percentiles.first().copied().unwrap_or(0.0));
        }
        for name in ["config_file", "test"] {
            values.remove(name);
        }
        values
    }

    /// Names of the options that a script for 0.5, which declares none, finds as global variables:
    /// those of sysbench 1.0.20, and those given. Others, such as `json` or `results`, may be names
    /// of the script's own.
    pub(crate) fn globals(&self) -> Vec<String> {
        let names = self.for_script().into_keys();
        names.filter(|name| self.given.contains(name) || !registry::is_newer(name)).collect()
    }

    /// The given options as arguments, for another process that runs the same script.
    pub(crate) fn as_arguments(&self) -> Vec<String> {
        let given = self.values.iter().filter(|(name, value)| {
            self.given.contains(*name) && *name != "test" && **value != Value::Nothing
        });
        given.map(|(name, value)| format!("--{name}={}", value.text())).collect()
    }

    /// All options and values as text for the record of a run, without passwords.
    pub(crate) fn for_record(&self) -> Vec<(String, String)> {
        self.for_script()
            .into_iter()
            .filter(|(name, _)| !name.contains("password"))
            .map(|(name, value)| (name, value.text()))
            .collect()
    }
}

#[derive(Default)]
struct FirstPass {
    definitions: BTreeMap<String, Definition>,
    positionals: Positionals,
    values: BTreeMap<String, Value>,
    given: BTreeSet<String>,
    pending: Vec<Argument>,
    warnings: Vec<OptionWarning>,
}

impl FirstPass {
    fn option(&mut self, argument: Argument) -> Result<(), OptionError> {
        let definition = self.definitions.get(&argument.name);
        let value = definition.map(|definition| parse(definition, &argument)).transpose()?;
        let Some(value) = value.flatten() else {
            self.pending.push(argument);
            return Ok(());
        };
        if argument.name == "test" {
            self.positionals.script = Some(value.text());
        }
        self.given.insert(argument.name.clone());
        self.values.insert(argument.name, value);
        Ok(())
    }

    /// The options of a file take the place of the file's option on the command line.
    fn config(
        &mut self,
        argument: &Argument,
        read: impl Fn(&str) -> std::io::Result<String>,
    ) -> Result<(), OptionError> {
        let Some(file) = argument.value.clone().filter(|file| !file.is_empty()) else {
            return Ok(());
        };
        match read(&file) {
            Ok(text) => {
                for argument in config_file::arguments(&text, &file) {
                    self.option(argument)?;
                }
            }
            Err(error) => {
                let reason = match error.kind() {
                    std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
                    _ => error.to_string(),
                };
                self.warnings.push(OptionWarning::Argument(format!("{file}: {reason}")));
            }
        }
        Ok(())
    }

    fn rename(&mut self) {
        if self.given.contains("test") {
            self.warnings.push(OptionWarning::Argument(
                "WARNING: the --test option is deprecated: name the script without any option."
                    .to_owned(),
            ));
        }
        for (old, new) in RENAMED {
            // As in sysbench, an old name without effect causes no warning.
            if self.values[old] == self.definitions[old].default {
                continue;
            }
            self.warnings.push(OptionWarning::Log(format!(
                "--{} is deprecated, use --{} instead",
                dashed(old),
                dashed(new)
            )));
            let value = self.values[old].clone();
            self.values.insert(new.to_owned(), value);
            self.given.insert(new.to_owned());
        }
    }
}

/// The value of an argument; `None` for a boolean with another word.
fn parse(definition: &Definition, argument: &Argument) -> Result<Option<Value>, OptionError> {
    match definition.kind.parse(argument.value.as_deref()) {
        Ok(value) => Ok(Some(value)),
        Err(BadValue::NoSuchSwitch) => Ok(None),
        Err(BadValue::NotOfType) => Err(OptionError::Argument(format!(
            "{}{}",
            argument.location.as_ref().map_or(String::new(), |place| format!("{place}: ")),
            invalid(&definition.name, argument.value.as_deref().unwrap_or_default())
        ))),
    }
}

fn unknown(argument: &Argument) -> OptionError {
    OptionError::Argument(format!("invalid option: {}", argument.typed))
}

#[cfg(test)]
mod tests;

//! Options: what can be given ([`registry`]), what was given ([`arguments`], [`config_file`]), and
//! what it means ([`general`], [`database`]); several runs in one command line ([`curve`]).
//!
//! There are two passes, because a script declares options of its own: [`Options::parse`] takes
//! what is known without a script and keeps the rest; [`Options::declare`] then gives the rest to
//! the script's options, and what nobody knows is an error. The last occurrence of an option wins.

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
    /// How long, how many, how often.
    pub(crate) general: General,
    pub(crate) random: RandomSettings,
    /// Their seed; `None`: from the clock.
    pub(crate) seed: Option<u64>,
    pub(crate) database: DatabaseOptions,
    /// What to tell the user before anything begins: old names, a config file that is not there.
    pub(crate) warnings: Vec<OptionWarning>,
    values: BTreeMap<String, Value>,
    given: BTreeSet<String>,
    pending: Vec<Argument>,
}

impl fmt::Debug for Options {
    /// Values are left out: passwords are among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("positionals", &self.positionals)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

/// Old names, in the order in which sysbench complains about them.
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
    /// What is wrong with it, in the words that sysbench uses where it has some.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, OptionError> {
        Self::parse_with(arguments, |file| {
            let bytes = dyno_files::read(Path::new(file), dyno_files::SCRIPT_MAX)?;
            String::from_utf8(bytes).map_err(std::io::Error::other)
        })
    }

    /// The same with another way to read config files.
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
            // Text that is not UTF-8 is replaced, as no option takes any.
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

    /// Second pass: the script's options. Those that were given get their values, the others their
    /// defaults. An option that exists already keeps the user's value, if there is one.
    ///
    /// # Errors
    /// When a value is none of the option's type, or an option was given that nobody declared.
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
                match &argument.place {
                    // A file may serve several scripts.
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
                // As in sysbench a script never sees the value of such an option.
                value = Value::Nothing;
            }
            self.given.insert(argument.name.clone());
            self.values.insert(argument.name, value);
        }
        Ok(())
    }

    /// Instead of [`Options::declare`], for scripts of the 0.5 era that declare nothing: every
    /// option that nobody knows becomes a text.
    ///
    /// # Errors
    /// When a switch that exists was given something else than on or off.
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

    /// Gives an option more before the second pass, as `name=value`.
    pub(crate) fn give(&mut self, text: &str) {
        self.pending.push(Argument::new(text));
    }

    /// Gives options that were given and are not known yet other names.
    pub(crate) fn rename(&mut self, names: &[(&str, &str)]) {
        for argument in &mut self.pending {
            if let Some((_, new)) = names.iter().find(|(old, _)| *old == argument.name) {
                (*new).clone_into(&mut argument.name);
            }
        }
    }

    /// Takes an option that is not known yet out of those that were given; true when it was
    /// switched on.
    pub(crate) fn take_switch(&mut self, name: &str) -> bool {
        let (taken, rest) =
            std::mem::take(&mut self.pending).into_iter().partition(|it| it.name == name);
        self.pending = rest;
        let taken: Vec<Argument> = taken;
        let value = taken.last().map(|argument| Kind::Boolean.parse(argument.value.as_deref()));
        matches!(value, Some(Ok(Value::Boolean(true))))
    }

    /// Value of an option by its name with underscores; [`Value::Nothing`] when there is no such
    /// option.
    pub(crate) fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or(&Value::Nothing)
    }

    /// True when the option was given on the command line or in a config file.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// All options and values, as a script sees them. Passwords are among them: scripts of several
    /// connections need them; nothing else may.
    pub(crate) fn for_script(&self) -> BTreeMap<String, Value> {
        let mut values = self.values.clone();
        // sysbench's own types where ours are wider.
        if let Some(percentile) = values.get_mut("percentile") {
            *percentile = Value::Number(self.general.percentiles.first().copied().unwrap_or(0.0));
        }
        for name in ["config_file", "test"] {
            values.remove(name);
        }
        values
    }

    /// Names of the options that a script of the 0.5 era, which declares none, finds as global
    /// variables: those that sysbench 1.0.20 has, and those that were given. Any other may be a
    /// name of the script's own, `json` or `results`.
    pub(crate) fn globals(&self) -> Vec<String> {
        let names = self.for_script().into_keys();
        names.filter(|name| self.given.contains(name) || !registry::is_newer(name)).collect()
    }

    /// All options and values as text, for records of a run: without passwords.
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

    /// A file's options count as if they stood in the file's place on the command line.
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
            // As in sysbench, an old name that changes nothing is not worth a word.
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

/// The value of an argument; `None` when it is not even of the option's shape (a boolean with a
/// strange word).
fn parse(definition: &Definition, argument: &Argument) -> Result<Option<Value>, OptionError> {
    match definition.kind.parse(argument.value.as_deref()) {
        Ok(value) => Ok(Some(value)),
        Err(BadValue::NoSuchSwitch) => Ok(None),
        Err(BadValue::NotOfType) => Err(OptionError::Argument(format!(
            "{}{}",
            argument.place.as_ref().map_or(String::new(), |place| format!("{place}: ")),
            invalid(&definition.name, argument.value.as_deref().unwrap_or_default())
        ))),
    }
}

fn unknown(argument: &Argument) -> OptionError {
    OptionError::Argument(format!("invalid option: {}", argument.typed))
}

#[cfg(test)]
mod tests;

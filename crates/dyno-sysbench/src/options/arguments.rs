//! Parses the words of a command line without knowing the options: `--name[=value]` and positionals
//! in any order.

use super::definition::underscored;
use super::error::OptionError;

/// An option as given.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Name with underscores.
    pub(crate) name: String,
    /// Text after `=`; `None` without `=`.
    pub(crate) value: Option<String>,
    /// As typed, with the value of a password hidden.
    pub(crate) typed: String,
    /// Position in a config file; `None` on the command line.
    pub(crate) location: Option<String>,
}

impl std::fmt::Debug for Argument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.typed)
    }
}

impl Argument {
    /// An option of the command line, without its leading dashes.
    pub(crate) fn new(text: &str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        Self {
            name: underscored(name),
            typed: match &value {
                // A misspelt password option must not write the password to a log.
                Some(_) if name.to_ascii_lowercase().contains("pas") => format!("--{name}=***"),
                _ => format!("--{text}"),
            },
            value,
            location: None,
        }
    }
}

/// Script and command: the first two positionals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Positionals {
    /// Script, as given.
    pub(crate) script: Option<String>,
    pub(crate) command: Option<String>,
}

impl Positionals {
    /// Adds the next positional.
    ///
    /// # Errors
    /// When it is the third.
    pub(crate) fn take(&mut self, word: String) -> Result<(), OptionError> {
        let operand = if self.script.is_none() { &mut self.script } else { &mut self.command };
        if operand.is_some() {
            return Err(OptionError::Argument(format!(
                "Unrecognized command line argument: {word}"
            )));
        }
        *operand = Some(word);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_and_underscores_in_names_are_equivalent() {
        assert_eq!(Argument::new("table-size=1").name, Argument::new("table_size=1").name);
    }

    #[test]
    fn the_value_of_a_misspelt_password_option_is_hidden() {
        let argument = Argument::new("mysql-pasword=secret");
        assert_eq!(argument.typed, "--mysql-pasword=***");
        assert!(!format!("{argument:?}").contains("secret"));
    }

    #[test]
    fn a_third_positional_is_an_error() {
        let mut positionals = Positionals::default();
        for word in ["a.lua", "run"] {
            positionals.take(word.into()).unwrap();
        }
        assert_eq!(
            positionals.take("-x".into()),
            Err(OptionError::Argument("Unrecognized command line argument: -x".into()))
        );
    }
}

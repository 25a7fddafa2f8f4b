//! Errors and warnings of a command line.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionError {
    /// Reported on standard error.
    Argument(String),
    /// Reported as a fatal log line.
    Fatal(String),
    /// Printed unchanged on standard output.
    Plain(String),
}

impl OptionError {
    /// The text.
    pub(crate) fn words(&self) -> &str {
        let (Self::Argument(text) | Self::Fatal(text) | Self::Plain(text)) = self;
        text.trim_end()
    }
}

/// A message that does not end the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionWarning {
    Log(String),
    /// A line on standard error.
    Argument(String),
}

/// The message for a text that is not a value of its option's type.
pub(crate) fn invalid(name: &str, text: &str) -> String {
    format!("Invalid value for the '{name}' option: '{text}'")
}

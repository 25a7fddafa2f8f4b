//! What is wrong with a command line, and what is only told.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionError {
    /// Said on standard error.
    Argument(String),
    /// Said as a fatal line of the log.
    Fatal(String),
    /// Said as it is on standard output.
    Plain(String),
}

/// Something to tell that does not end the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionWarning {
    Log(String),
    /// A line on standard error.
    Argument(String),
}

/// What is said about a text that is no value of its option's type.
pub(crate) fn invalid(name: &str, text: &str) -> String {
    format!("Invalid value for the '{name}' option: '{text}'")
}

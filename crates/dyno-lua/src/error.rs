//! Why a script could not go on.

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The script, or a module of it, cannot be found or read.
    NotFound,
    /// The script is no Lua.
    Syntax,
    /// The script has no function of that name.
    MissingFunction,
    /// The script raised an error, or misused the API.
    Runtime,
    /// A database refused a statement, and the refusal is not one to be ignored.
    FatalSql,
    /// No connection could be had.
    Database,
}

/// Why a script could not go on. The message is worded as sysbench words it: with file and line
/// where Lua knows them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// Its kind.
    pub kind: ErrorKind,
    /// For people. Never holds a password.
    pub message: String,
}

impl ScriptError {
    /// An error of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

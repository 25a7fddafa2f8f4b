//! Errors of scripts.

/// Kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The script, or a module of it, cannot be found or read.
    NotFound,
    /// The script has a syntax error.
    Syntax,
    /// The script has no function of that name.
    MissingFunction,
    /// The script raised an error, or misused the API.
    Runtime,
    /// A database rejected a statement with an error that is not ignored.
    FatalSql,
    /// No connection could be opened.
    Database,
}

/// An error of a script. The message equals sysbench's, with file and line where Lua knows them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// Its kind.
    pub kind: ErrorKind,
    /// For users. Never contains a password.
    pub message: String,
}

impl ScriptError {
    /// An error of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

//! Why something that has to do with servers could not be done. Nobody tells the reasons apart but the user who reads them, so each is
//! a text, made where it happens.

use crate::guard::GuardError;

/// What could not be done, the server's own last words, and the remedy: one line or several.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct HostError {
    pub(crate) text: String,
    /// True when files were being written, so that little room for them may be the reason.
    pub(crate) is_of_files: bool,
}

impl HostError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_of_files: false }
    }

    pub(crate) fn of_files(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_of_files: true }
    }
}

impl From<GuardError> for HostError {
    fn from(error: GuardError) -> Self {
        Self::new(error.to_string())
    }
}

/// Lines of a program, as they stand below what they explain.
pub(crate) fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  | {line}")).collect()
}

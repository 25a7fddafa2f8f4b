//! Why something that has to do with servers could not be done. Nobody tells the reasons apart but
//! the user who reads them, so each is a text, made where it happens.

use crate::supervisor::SupervisorError;

/// What could not be done, the server's own last words, and the remedy: one line or several.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct HostError {
    pub(crate) text: String,
    /// True when files were being written, so that little room for them may be the reason.
    pub(crate) is_of_files: bool,
    /// The setting that a server refuses, where it is that: with its value, unless the server knows
    /// no setting of the name.
    pub(crate) setting: Option<String>,
}

impl HostError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_of_files: false, setting: None }
    }

    pub(crate) fn of_files(text: impl Into<String>) -> Self {
        Self { is_of_files: true, ..Self::new(text) }
    }

    /// True when the other says the same, perhaps at another time: servers put the time in front of
    /// what they say.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        match (&self.setting, &other.setting) {
            (Some(one), Some(other)) => one == other,
            _ => self.text == other.text,
        }
    }
}

impl From<SupervisorError> for HostError {
    fn from(error: SupervisorError) -> Self {
        Self::new(error.to_string())
    }
}

/// Lines of a program, as they stand below what they explain.
pub(crate) fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  | {line}")).collect()
}

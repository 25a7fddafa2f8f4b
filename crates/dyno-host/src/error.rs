//! The error of operations on servers. Only the user tells the causes apart, so each is a text,
//! created where it occurs.

use crate::supervisor::SupervisorError;

/// What failed, the server's last messages, and the remedy, on one or more lines.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct HostError {
    pub(crate) text: String,
    /// True when files were being written, so that a full disk may be the cause.
    pub(crate) is_of_files: bool,
    /// The setting that a server rejects, with its value unless the server does not know the name.
    pub(crate) setting: Option<String>,
}

impl HostError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_of_files: false, setting: None }
    }

    pub(crate) fn of_files(text: impl Into<String>) -> Self {
        Self { is_of_files: true, ..Self::new(text) }
    }

    /// True when the other error has the same text, apart from the timestamps of servers.
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

/// A program's output, indented below the line that it explains.
pub(crate) fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  | {line}")).collect()
}

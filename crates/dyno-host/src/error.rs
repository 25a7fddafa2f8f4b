//! The error of operations on servers.

use crate::supervisor::SupervisorError;
use dyno_model::reason::Reason;

/// What failed, the server's last messages, and the remedy, on one or more lines.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct HostError {
    pub(crate) reason: Box<Reason>,
    /// True when files were being written, so that a full disk may be the cause.
    pub(crate) is_of_files: bool,
    /// The setting that a server rejects, with its value unless the server does not know the name.
    pub(crate) setting: Option<String>,
}

impl HostError {
    /// The error for this reason. Most reasons are texts, because only the user distinguishes them.
    pub fn new(reason: impl Into<Reason>) -> Self {
        Self { reason: Box::new(reason.into()), is_of_files: false, setting: None }
    }

    pub(crate) fn of_files(reason: impl Into<Reason>) -> Self {
        Self { is_of_files: true, ..Self::new(reason) }
    }

    /// The same error, of this node or program.
    #[must_use]
    pub fn of(mut self, what: String) -> Self {
        self.reason = Box::new(Reason::NotStarted { what, reason: self.reason });
        self
    }

    /// True when the other error has the same reason, apart from the timestamps of servers.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        match (&self.setting, &other.setting) {
            (Some(one), Some(other)) => one == other,
            _ => self.reason == other.reason,
        }
    }
}

impl From<HostError> for Reason {
    fn from(error: HostError) -> Self {
        *error.reason
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

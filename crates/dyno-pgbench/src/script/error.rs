//! Errors in scripts.

/// An invalid script: the message, and possibly the line with a mark below.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ScriptError(pub(super) String);

impl ScriptError {
    /// An error in a line of a file, in a command.
    pub(super) fn syntax(file: &str, line: usize, message: &str, command: Option<&str>) -> Self {
        let command = command.map_or(String::new(), |command| format!(" in command \"{command}\""));
        Self(format!("{file}:{line}: {message}{command}"))
    }

    /// Adds the text that caused it, and a mark under the character at `column`.
    pub(super) fn with_line(mut self, line: &str, column: Option<usize>) -> Self {
        self.0.push('\n');
        self.0.push_str(line);
        if let Some(column) = column {
            self.0.push_str(&format!("\n{:column$}^ error found here", ""));
        }
        self
    }
}

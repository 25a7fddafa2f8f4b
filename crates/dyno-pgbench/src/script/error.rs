//! What is wrong with a script.

/// A script that is none: the message, and perhaps the offending line with a mark below.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ScriptError(pub(super) String);

impl ScriptError {
    /// A mistake on a line of a file, in a command.
    pub(super) fn syntax(file: &str, line: usize, message: &str, command: Option<&str>) -> Self {
        let command = command.map_or(String::new(), |command| format!(" in command \"{command}\""));
        Self(format!("{file}:{line}: {message}{command}"))
    }

    /// The same with the text that it is about, and a mark under the character at `column`.
    pub(super) fn with_line(mut self, line: &str, column: Option<usize>) -> Self {
        self.0.push('\n');
        self.0.push_str(line);
        if let Some(column) = column {
            self.0.push_str(&format!("\n{:column$}^ error found here", ""));
        }
        self
    }
}

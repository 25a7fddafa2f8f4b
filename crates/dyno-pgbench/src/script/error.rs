//! Errors in scripts.

/// Remedy for a script without statements.
pub(crate) const NO_STATEMENT: &str = "add SQL statements, which end in semicolons; lines that \
                                       begin with `\\` are commands, and those with `--` comments";

/// An invalid script: the message, and possibly the line with a mark below. It is displayed as
/// pgbench does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct ScriptError {
    text: String,
    /// A remedy, which pgbench does not print.
    help: Option<String>,
}

impl ScriptError {
    pub(super) fn new(text: String) -> Self {
        Self { text, help: None }
    }

    /// Adds a remedy, if there is one.
    pub(super) fn with_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// The message and the remedy.
    pub(crate) fn with_remedy(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("\nhint: {help}"));
        format!("{}{}", self.text, help.unwrap_or_default())
    }

    /// An error in a line of a file, in a command.
    pub(super) fn syntax(file: &str, line: usize, message: &str, command: Option<&str>) -> Self {
        let command = command.map_or(String::new(), |command| format!(" in command \"{command}\""));
        Self::new(format!("{file}:{line}: {message}{command}"))
    }

    /// Adds the text that caused it, and a mark under the character at `column`.
    pub(super) fn with_line(mut self, line: &str, column: Option<usize>) -> Self {
        self.text.push('\n');
        self.text.push_str(line);
        if let Some(column) = column {
            self.text.push_str(&format!("\n{:column$}^ error found here", ""));
        }
        self
    }
}

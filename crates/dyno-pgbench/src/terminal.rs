//! The destination of output. This crate does not write to the terminal itself.

/// The two outputs of a program. Several threads write; each call is a unit.
pub trait Terminal: Send + Sync + 'static {
    /// Writes a result.
    fn result(&self, text: &str);

    /// Writes anything else.
    fn message(&self, text: &str);
}

/// Messages in pgbench's form.
impl dyn Terminal + '_ {
    /// What went wrong.
    pub(crate) fn error(&self, text: &str) {
        self.message(&format!("pgbench: error: {text}\n"));
    }

    /// A doubt.
    pub(crate) fn warning(&self, text: &str) {
        self.message(&format!("pgbench: warning: {text}\n"));
    }

    /// What happened.
    pub(crate) fn note(&self, text: &str) {
        self.message(&format!("pgbench: {text}\n"));
    }
}

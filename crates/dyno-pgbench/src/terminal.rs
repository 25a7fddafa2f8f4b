//! Where text goes. This crate writes nowhere by itself.

/// The two outputs of a program. Several threads write; each call is one piece.
pub trait Terminal: Send + Sync + 'static {
    /// Writes a result.
    fn result(&self, text: &str);

    /// Writes anything else.
    fn message(&self, text: &str);
}

/// Messages in pgbench's form.
pub(crate) trait Messages {
    /// What went wrong.
    fn error(&self, text: &str);
    /// A doubt.
    fn warning(&self, text: &str);
    /// What happened.
    fn note(&self, text: &str);
}

impl<T: Terminal + ?Sized> Messages for T {
    fn error(&self, text: &str) {
        self.message(&format!("pgbench: error: {text}\n"));
    }

    fn warning(&self, text: &str) {
        self.message(&format!("pgbench: warning: {text}\n"));
    }

    fn note(&self, text: &str) {
        self.message(&format!("pgbench: {text}\n"));
    }
}

//! What was done to a node on purpose, so that its end is not taken for an accident.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What was done to a node on purpose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Harm {
    /// It was ended, and not started since.
    pub(super) is_ended: bool,
    pub(super) is_halted: bool,
    /// When it was ended last.
    pub(super) ended_at: Option<Instant>,
}

/// What was done to a node on purpose, for whoever asks whether it still lives.
#[derive(Debug, Clone, Default)]
pub(super) struct Harmed(Arc<Mutex<Harm>>);

impl Harmed {
    /// True when it is not there because it was ended on purpose.
    pub(super) fn is_ended(&self) -> bool {
        self.read().is_ended
    }

    pub(super) fn read(&self) -> Harm {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut Harm)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

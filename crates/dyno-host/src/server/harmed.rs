//! What was done to a node on purpose, so that its end is not taken for an accident.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What was done to a node on purpose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Harm {
    /// It was ended, and not started since.
    pub(super) is_ended: bool,
    pub(super) is_halted: bool,
    /// Its disk was filled, and it was not started since: it may have ended for want of room.
    pub(super) is_starved: bool,
    /// When it was ended last.
    pub(super) ended_at: Option<Instant>,
}

/// What was done to a node on purpose, for whoever asks whether it still lives.
#[derive(Debug, Clone, Default)]
pub(super) struct Harmed(Arc<Mutex<Harm>>);

impl Harmed {
    /// True when its end, if it has ended, is what was wanted, or comes from it.
    pub(super) fn excuses_end(&self) -> bool {
        let harm = self.read();
        harm.is_ended || harm.is_starved
    }

    pub(super) fn read(&self) -> Harm {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut Harm)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

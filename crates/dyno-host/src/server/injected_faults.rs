//! Records the faults injected into a node, so that its end is not taken for an unexpected one.

use dyno_model::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Faults injected into a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InjectedFaults {
    /// It was ended on purpose, and not started since.
    pub(super) is_ended: bool,
    pub(super) is_halted: bool,
    /// Its disk was filled, and it was not started since: it may have ended because of that.
    pub(super) has_full_disk: bool,
    /// When it was last ended on purpose.
    pub(super) ended_at: Option<Instant>,
}

/// Shared record of the faults injected into a node, for checks whether it is alive.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedFaults(Arc<Mutex<InjectedFaults>>);

impl SharedFaults {
    /// True when its end, if it has ended, is intended or a consequence of a fault.
    pub(super) fn explains_exit(&self) -> bool {
        let faults = self.read();
        faults.is_ended || faults.has_full_disk
    }

    pub(super) fn read(&self) -> InjectedFaults {
        *lock(&self.0)
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut InjectedFaults)) {
        note(&mut lock(&self.0));
    }
}

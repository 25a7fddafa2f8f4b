//! Ways to interrupt a blocked thread from another thread.

use dyno_model::sync::lock;
use std::sync::{Arc, Mutex, MutexGuard};

type Interrupt = Box<dyn Fn() + Send>;

/// The interrupters of one thread. Connections come and go, so a guard holds each interrupter.
#[derive(Default)]
pub struct Interrupters(Mutex<Vec<Option<Interrupt>>>);

/// Keeps one interrupter registered; dropping the guard removes it.
#[must_use = "dropping the guard takes the interrupter out again"]
pub struct InterrupterGuard {
    interrupters: Arc<Interrupters>,
    slot: usize,
}

impl Interrupters {
    /// Registers an interrupter of a statement in progress for as long as the guard lives.
    pub fn add(self: &Arc<Self>, interrupt: Interrupt) -> InterrupterGuard {
        let mut slots = self.slots();
        let free = slots.iter().position(Option::is_none);
        let slot = free.unwrap_or(slots.len());
        match free {
            Some(slot) => slots[slot] = Some(interrupt),
            None => slots.push(Some(interrupt)),
        }
        InterrupterGuard { interrupters: Arc::clone(self), slot }
    }

    /// Interrupts whatever the thread waits for.
    pub(crate) fn interrupt(&self) {
        self.slots().iter().flatten().for_each(|interrupt| interrupt());
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Option<Interrupt>>> {
        lock(&self.0)
    }
}

impl Drop for InterrupterGuard {
    fn drop(&mut self) {
        self.interrupters.slots()[self.slot] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn only_what_is_still_held_is_interrupted() {
        let interrupters = Arc::new(Interrupters::default());
        let calls = Arc::new(AtomicU32::new(0));
        let count = |weight| {
            let calls = Arc::clone(&calls);
            Box::new(move || {
                calls.fetch_add(weight, Ordering::Relaxed);
            })
        };
        let first = interrupters.add(count(1));
        let _second = interrupters.add(count(10));
        drop(first);
        let _third = interrupters.add(count(100));
        interrupters.interrupt();
        assert_eq!(calls.load(Ordering::Relaxed), 110);
        assert_eq!(interrupters.slots().len(), 2, "the free place was used again");
    }
}

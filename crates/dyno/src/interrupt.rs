//! Ctrl-C and termination: the first signal asks for a clean end with results, the second ends the program at once.

use crate::failure::Failure;
use dyno_model::exit_code;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Number of interrupts so far: 0, or 1 once a clean end was asked for. A second one is not counted: it ends the
/// process with exit code 130, whatever it is doing; the guard process then stops the servers and removes the scratch
/// folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts {
    count: Arc<AtomicUsize>,
    is_requested: Arc<AtomicBool>,
}

impl Interrupts {
    /// Takes over SIGINT and SIGTERM for the rest of the process.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let interrupts = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of registration: the first signal finds the flag down and raises it.
            flag::register_conditional_shutdown(
                signal,
                i32::from(exit_code::INTERRUPTED),
                Arc::clone(&interrupts.is_requested),
            )
            .and_then(|_| flag::register(signal, Arc::clone(&interrupts.is_requested)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&interrupts.count), 1))
            .map_err(|error| Failure::new(exit_code::INTERNAL, "cannot listen to Ctrl-C").because(&error))?;
        }
        Ok(interrupts)
    }

    /// The number itself, as the engine watches it.
    pub(crate) fn count(&self) -> &AtomicUsize {
        &self.count
    }

    /// The same as a flag that is up once a clean end was asked for.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.is_requested
    }

    /// True once a clean end was asked for.
    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }
}

//! What every part of one program run shares.

use crate::logger::Logger;
use crate::options::Options;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Exit code when all went well.
pub(crate) const OK: u8 = 0;
/// Exit code of any failure.
pub(crate) const FAILED: u8 = 1;
/// Exit code when threads were not ready in time, or were cut off in the end.
pub(crate) const CUT_OFF: u8 = 2;
/// Exit code after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit code of a run that ended because nobody read its output any more (`| head -1`): what shells
/// give for a program that SIGPIPE ended, as it ends sysbench.
pub(crate) const UNREAD: u8 = 141;

pub(crate) struct Job<'a> {
    /// All options, those of the script included.
    pub(crate) options: Options,
    pub(crate) logger: Arc<Logger>,
    /// Number of interrupts by the user so far.
    pub(crate) interrupts: &'a AtomicUsize,
    /// The script's name as it was given.
    pub(crate) script: String,
    /// Seed of everything random: the user's, or from the clock.
    pub(crate) seed: u64,
}

impl Job<'_> {
    /// The script's name as messages have it: without its folder.
    pub(crate) fn script_name(&self) -> String {
        let name = Path::new(&self.script).file_name();
        name.map_or_else(|| self.script.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// True once the user has asked for an end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupts.load(Ordering::Relaxed) > 0
    }

    /// The command; empty when there is none.
    pub(crate) fn command(&self) -> &str {
        self.options.positionals.command.as_deref().unwrap_or_default()
    }
}

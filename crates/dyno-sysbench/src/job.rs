//! State shared by all parts of one program run.

use crate::logger::Logger;
use crate::options::Options;
use crate::sysbench_work::SysbenchWork;
use dyno_engine::GeneratorSource;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Exit code of success.
pub(crate) const OK: u8 = 0;
/// Exit code of any failure.
pub(crate) const FAILED: u8 = 1;
/// Exit code when threads were not ready in time, or were cut off at the end.
pub(crate) const CUT_OFF: u8 = 2;
/// Exit code after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit code of a run that ended because nothing reads its output any more (`| head -1`): the code
/// that shells report for a program ended by SIGPIPE, as sysbench is.
pub(crate) const UNREAD: u8 = 141;

pub(crate) struct Job<'a> {
    /// All options, including those of the script.
    pub(crate) options: Options,
    pub(crate) logger: Arc<Logger>,
    /// Number of interrupts by the user so far.
    pub(crate) interrupts: &'a AtomicUsize,
    /// The script's name as given.
    pub(crate) script: String,
    /// Starts generators, where the program can.
    pub(crate) source: Option<&'a dyn GeneratorSource<SysbenchWork>>,
    /// Seed of all random numbers: the user's, or from the clock.
    pub(crate) seed: u64,
}

impl Job<'_> {
    /// The script's name in messages: without its folder.
    pub(crate) fn script_name(&self) -> String {
        let name = Path::new(&self.script).file_name();
        name.map_or_else(|| self.script.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// True when the user has interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupts.load(Ordering::Relaxed) > 0
    }

    /// The command; empty when there is none.
    pub(crate) fn command(&self) -> &str {
        self.options.positionals.command.as_deref().unwrap_or_default()
    }
}

//! A node of a cluster that does not accept clients.

use super::error::{log_of, with_room};
use super::injected_faults::SharedFaults;
use super::instance::InstanceDirectories;
use super::log;
use crate::error::HostError;
use crate::supervisor::{Launch, Supervisor};
use crate::tail::tail;
use dyno_model::reason::Reason;
use std::fmt::Display;
use std::path::Path;

/// A node of a cluster that does not accept clients. Dropping it stops it.
pub(super) struct InnerNode {
    /// Its name in messages.
    pub(super) name: String,
    /// Id of its process; 0 before it is started.
    pub(super) pid: u32,
    pub(super) launch: Option<Launch>,
    pub(super) faults: SharedFaults,
    pub(super) supervisor: Supervisor,
    pub(super) directories: InstanceDirectories,
}

impl InnerNode {
    /// Starts it. Its data need not be preserved, so it is stopped by killing it.
    pub(super) fn launch(
        &mut self,
        program: &Path,
        arguments: Vec<String>,
    ) -> Result<(), HostError> {
        let path = self.directories.log();
        // Output of the previous attempt would be taken for its own.
        let _ = log::empty(&path);
        let launch = self.directories.launch(program.to_owned(), arguments, path);
        self.pid = self.supervisor.handle.launch(launch.clone())?;
        self.launch = Some(launch);
        Ok(())
    }

    /// The last lines of its output.
    pub(super) fn words(&self) -> Vec<String> {
        log::shown(tail(&self.directories.log(), log::SEARCHED))
    }

    /// How it ended, as the end of a sentence that begins with its name; `None` while it is
    /// running.
    pub(super) fn end_reason(&self) -> Option<Reason> {
        self.supervisor.end_reason().filter(|_| !self.faults.explains_exit())
    }

    /// The error of a node that ended before the cluster was ready.
    pub(super) fn lost(&self, reason: impl Display) -> HostError {
        let text = format!("{} {reason} before it was ready{}", self.name, log_of(&self.words()));
        with_room(HostError::of_files(text), &self.directories.folder)
    }

    /// Stops it and removes its folders; returns what failed.
    pub(super) fn stop(mut self) -> Vec<String> {
        self.supervisor.end(&[])
    }
}

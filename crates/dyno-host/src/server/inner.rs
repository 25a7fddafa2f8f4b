//! A node of a cluster that no client talks to.

use super::error::{log_of, scratch, with_room};
use super::harmed::Harmed;
use super::log;
use crate::error::HostError;
use crate::folder::write_private;
use crate::guard::{Guard, Launch, Owner};
use std::path::{Path, PathBuf};

/// A node of a cluster that no client talks to. Dropping it stops it.
pub(super) struct InnerNode {
    /// What it is called in messages.
    pub(super) name: String,
    /// Number of its process; 0 before it was started.
    pub(super) pid: u32,
    /// How it was started.
    pub(super) launch: Option<Launch>,
    /// What was done to it on purpose.
    pub(super) harmed: Harmed,
    pub(super) guard: Guard,
    pub(super) owner: Option<Owner>,
    /// Its scratch folder.
    pub(super) folder: PathBuf,
    /// The folder for files of dyno's own.
    pub(super) own: PathBuf,
}

impl InnerNode {
    /// The folder for what it stores.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A file that it can read and nobody else.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, HostError> {
        write_private(&self.own, name, text, self.owner).map_err(|error| scratch(&self.own, error))
    }

    /// Starts it.
    pub(super) fn launch(&mut self, program: &Path, arguments: Vec<String>) -> Result<(), HostError> {
        // What was said before a further attempt would be taken for its words.
        let _ = std::fs::write(self.log(), "");
        let launch = Launch {
            program: program.to_owned(),
            arguments,
            environment: vec![("TMPDIR".to_owned(), self.folder.join("tmp").display().to_string())],
            owner: self.owner,
            folder: self.folder.clone(),
            log: self.log(),
            input: None,
            leaves_running: false,
            // Nothing that it holds is kept.
            stop: Vec::new(),
        };
        self.pid = self.guard.launch(launch.clone())?;
        self.launch = Some(launch);
        Ok(())
    }

    pub(super) fn log(&self) -> PathBuf {
        self.own.join("server.log")
    }

    /// The last it said.
    pub(super) fn words(&self) -> Vec<String> {
        log::shown(log::tail(&self.log(), log::SEARCHED))
    }

    /// How it ended, as the end of a sentence that begins with its name; `None` while it runs.
    pub(super) fn ending(&self) -> Option<String> {
        self.guard.ending().filter(|_| !self.harmed.excuses_end())
    }

    /// It has ended before the cluster was ready.
    pub(super) fn lost(&self, ending: &str) -> HostError {
        let text = format!("{} {ending} before it was ready{}", self.name, log_of(&self.words()));
        with_room(HostError::of_files(text), &self.folder)
    }

    /// Stops it and removes its folders; returns what could not be undone.
    pub(super) fn stop(mut self) -> Vec<String> {
        let failed = match self.guard.exit() {
            Some(_) => None,
            None => self.guard.stop(&[]).err().map(|error| error.to_string()),
        };
        failed.into_iter().chain(self.guard.finish()).collect()
    }
}

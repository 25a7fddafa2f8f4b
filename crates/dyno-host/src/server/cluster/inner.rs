//! A node of a cluster that no client talks to.

use crate::error::HostError;
use crate::folder::write_private;
use crate::guard::{Guard, Launch, Owner};
use crate::server::error::{log_of, scratch, with_room};
use crate::server::process::{LOG_LINES, log_dir, make_folder, own_folder, place};
use crate::server::recipes::recipe;
use crate::server::{StartOptions, account, kept_log, log};
use dyno_model::plan::ManagedServer;
use std::path::{Path, PathBuf};

/// A node of a cluster that no client talks to. Dropping it stops it.
pub(in crate::server) struct InnerNode {
    /// What it is called in messages.
    pub(in crate::server) name: String,
    /// Number of its process; 0 before it was started.
    pub(in crate::server) pid: u32,
    guard: Guard,
    owner: Option<Owner>,
    /// Its scratch folder.
    folder: PathBuf,
    /// The folder for files of dyno's own.
    own: PathBuf,
}

impl InnerNode {
    /// Makes its folders.
    pub(super) fn prepare(
        server: &ManagedServer,
        options: &StartOptions,
        name: String,
    ) -> Result<Self, HostError> {
        let user = recipe(server.kind).expect("a cluster has a recipe").user;
        let owner = account::for_server(server.kind, user)?;
        let kept = log_dir(options)?;
        let (mut guard, parent) = place(server, options, owner, kept.as_deref())?;
        let prefix = format!("dyno-{}", server.kind);
        let folder = make_folder(&mut guard, &parent, &prefix, owner, &["data", "tmp"])?;
        let own =
            own_folder(&mut guard, &parent, "dyno-own", owner).map_err(|reason| scratch(&parent, reason))?;
        let mut node = Self { name, pid: 0, guard, owner, folder, own };
        if let Some(kept) = kept {
            let kept = kept_log(&kept, &format!("{}-{}", options.name, node.name));
            node.guard.keep(node.log(), kept)?;
        }
        Ok(node)
    }

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
        self.pid = self.guard.launch(Launch {
            program: program.to_owned(),
            arguments,
            environment: vec![("TMPDIR".to_owned(), self.folder.join("tmp").display().to_string())],
            owner: self.owner,
            folder: self.folder.clone(),
            log: self.log(),
            input: None,
            // Nothing that it holds is kept.
            stop: Vec::new(),
        })?;
        Ok(())
    }

    fn log(&self) -> PathBuf {
        self.own.join("server.log")
    }

    /// The last it said.
    pub(super) fn words(&self) -> Vec<String> {
        log::tail(&self.log(), LOG_LINES)
    }

    /// How it ended, as the end of a sentence that begins with its name; `None` while it runs.
    pub(in crate::server) fn ending(&self) -> Option<String> {
        self.guard.ending()
    }

    /// It has ended before the cluster was ready.
    pub(super) fn lost(&self, ending: &str) -> HostError {
        let text = format!("{} {ending} before it was ready{}", self.name, log_of(&self.words()));
        with_room(HostError::of_files(text), &self.folder)
    }

    /// Stops it and removes its folders; returns what could not be undone.
    pub(in crate::server) fn stop(mut self) -> Vec<String> {
        let failed = match self.guard.exit() {
            Some(_) => None,
            None => self.guard.stop(&[]).err().map(|error| error.to_string()),
        };
        failed.into_iter().chain(self.guard.finish()).collect()
    }
}

//! Errors of a results folder.

use std::path::{Path, PathBuf};

/// The results folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system reported an error.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// The operation, e.g. `write`.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file or folder being written no longer exists.
    #[error("{} was deleted or moved while dyno was writing to it", .path.display())]
    Gone {
        /// Which file or folder.
        path: PathBuf,
    },
    /// The requested folder is not empty.
    #[error("results folder {} exists and is not empty; results are never overwritten: name another folder with --out, or remove this one", .path.display())]
    NotEmpty {
        /// Which folder.
        path: PathBuf,
    },
    /// Another dyno process writes to the folder.
    #[error("{} is being written by another dyno process; wait for it to end or stop it", .path.display())]
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// There is no folder of this name.
    #[error("{} does not exist; results are in folders such as results/<experiment>/<time>-<id>", .path.display())]
    NoFolder {
        /// Which folder.
        path: PathBuf,
    },
    /// This is not a results folder.
    #[error("{} is not a results folder: {missing} is missing; name the folder of one run, e.g. results/<experiment>/<time>-<id>", .path.display())]
    NoResults {
        /// Where.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// There is no results folder here or below.
    #[error("no results folder found in {} or below it; name the folder of one run, e.g. results/<experiment>/<time>-<id>, or one that holds several", .path.display())]
    NoResultsBelow {
        /// Where.
        path: PathBuf,
    },
    /// The folder was written by a newer version of dyno.
    #[error("{} has results format {found}, but this version of dyno reads formats up to {known}; use the version that wrote it, or a newer one", .path.display())]
    NewerFormat {
        /// Which folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this version of dyno reads.
        known: u32,
    },
    /// A file has invalid content.
    #[error("{}, line {line}: {what}", .path.display())]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl StoreError {
    /// The error with its cause on one line.
    #[must_use]
    pub fn in_full(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

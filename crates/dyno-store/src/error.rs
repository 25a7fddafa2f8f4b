//! What goes wrong with a results folder.

use std::path::{Path, PathBuf};

/// The results folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// What was being done, e.g. `write`.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What dyno writes to is not there any more.
    #[error("{} was deleted or moved while dyno was writing to it", .path.display())]
    Gone {
        /// Which file or folder.
        path: PathBuf,
    },
    /// The folder asked for holds something already.
    #[error("results folder {} exists and is not empty; results are never overwritten: name another folder with --out, or remove this one", .path.display())]
    NotEmpty {
        /// Which folder.
        path: PathBuf,
    },
    /// Another dyno writes into the folder.
    #[error("{} is being written by another dyno; end that one first", .path.display())]
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// There is no results folder here.
    #[error("{} is no results folder: it has no {missing}; name the folder of one run, e.g. results/<experiment>/<time>-<id>", .path.display())]
    NoResults {
        /// Where.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// There is no results folder here, nor below.
    #[error("there is no results folder in {}, nor in the folders below it; name the folder of one run, e.g. results/<experiment>/<time>-<id>, or one that holds several", .path.display())]
    NoResultsBelow {
        /// Where.
        path: PathBuf,
    },
    /// The folder was written by a newer dyno.
    #[error("{} has results format {found}, and this dyno reads formats up to {known}; use the dyno that wrote it, or a newer one", .path.display())]
    NewerFormat {
        /// Which folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this dyno reads.
        known: u32,
    },
    /// A file holds what it must not.
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
    /// The error with what caused it, for programs that tell it in one line.
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

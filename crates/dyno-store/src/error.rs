//! What goes wrong with a results folder.

use std::fmt;
use std::path::{Path, PathBuf};

/// The results folder could not be written or read.
#[derive(Debug)]
pub enum StoreError {
    /// The system refused.
    Io {
        /// What was being done, e.g. `write`.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder asked for holds something already.
    NotEmpty {
        /// Which folder.
        path: PathBuf,
    },
    /// Another dyno writes into the folder.
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// There is no results folder here.
    NoResults {
        /// Where.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// There is no results folder here, nor below.
    NoResultsBelow {
        /// Where.
        path: PathBuf,
    },
    /// The folder was written by a newer dyno.
    NewerFormat {
        /// Which folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this dyno reads.
        known: u32,
    },
    /// A file holds what it must not.
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

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, .. } => write!(f, "cannot {doing} {}", path.display()),
            Self::NotEmpty { path } => write!(
                f,
                "results folder {} exists and is not empty; results are never overwritten: name another folder with --out, or remove this one",
                path.display()
            ),
            Self::InUse { path } => {
                write!(f, "{} is being written by another dyno; end that one first", path.display())
            }
            Self::NoResults { path, missing } => write!(
                f,
                "{} is no results folder: it has no {missing}; name the folder of one run, e.g. results/<experiment>/<time>-<id>",
                path.display()
            ),
            Self::NoResultsBelow { path } => write!(
                f,
                "there is no results folder in {}, nor in the folders below it; name the folder of one run, e.g. results/<experiment>/<time>-<id>, or one that holds several",
                path.display()
            ),
            Self::NewerFormat { path, found, known } => write!(
                f,
                "{} has results format {found}, and this dyno reads formats up to {known}; use the dyno that wrote it, or a newer one",
                path.display()
            ),
            Self::Corrupt { path, line, what } => {
                write!(f, "{}, line {line}: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

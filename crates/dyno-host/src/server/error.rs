//! Why a server could not be started.

use crate::guard::{Exit, GuardError};
use crate::probe::{DiskSpace, disk_space};
use crate::settings::SettingProblem;
use crate::storage::StorageError;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ServerKind;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a server could not be started. Texts name what was tried, the server's own last words, and the remedy.
#[derive(Debug)]
pub enum ServerError {
    /// There is no program to start.
    NotFound {
        /// What was asked for.
        kind: ServerKind,
        /// Files looked for, in order.
        looked_at: Vec<PathBuf>,
        /// Programs of that name which are something else, with what they are.
        others: Vec<String>,
    },
    /// A program that belongs to the server is missing.
    HelperNotFound {
        /// What was asked for.
        kind: ServerKind,
        /// The program.
        program: &'static str,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
    },
    /// dyno runs as root, servers refuse to, and the user for them does not exist.
    NoUser {
        /// What was asked for.
        kind: ServerKind,
        /// The user.
        user: &'static str,
    },
    /// The scratch folder cannot be used.
    Scratch {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The folder for logs cannot be used.
    LogFolder {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The operating system refused something that is always there.
    System {
        /// What dyno was doing.
        doing: &'static str,
        /// The system's words.
        error: io::Error,
    },
    /// A setting that dyno gives itself.
    ReservedSetting {
        /// The setting.
        name: String,
        /// Why it cannot be set.
        why: &'static str,
    },
    /// A setting whose name or value cannot be written.
    MalformedSetting {
        /// The setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// The server stopped at a setting.
    SettingRefused {
        /// What was asked for.
        kind: ServerKind,
        /// The setting.
        name: String,
        /// Its value.
        value: String,
        /// The server's words about it.
        words: Vec<String>,
    },
    /// Settings that the server took no notice of, or changed.
    SettingsDiffer {
        /// What was asked for.
        kind: ServerKind,
        /// One entry per setting.
        problems: Vec<SettingProblem>,
        /// The server's words about them, if it said any.
        words: Vec<String>,
    },
    /// The data folder could not be made.
    Initialise {
        /// What was asked for.
        kind: ServerKind,
        /// The program that failed.
        program: PathBuf,
        /// How it ended; `None`: not within its limit.
        exit: Option<Exit>,
        /// The last lines of its output.
        log: Vec<String>,
    },
    /// The server ended before it was ready.
    Ended {
        /// What was asked for.
        kind: ServerKind,
        /// How.
        exit: Exit,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// The server runs and does not answer.
    NotReady {
        /// What was asked for.
        kind: ServerKind,
        /// How long it was waited for, in seconds.
        seconds: u64,
        /// What the last attempt to connect met.
        last: Option<OperationFailure>,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// The server answers and refuses a question that dyno has to ask.
    Query {
        /// What was asked for.
        kind: ServerKind,
        /// What dyno was doing.
        doing: &'static str,
        /// What it said.
        failure: OperationFailure,
    },
    /// A data set could not be saved, or restored by copy.
    DataSet {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Something of these failed where there is little room for files, which may be the reason.
    LittleRoom {
        /// The folder.
        path: PathBuf,
        /// Free bytes when it failed.
        free: u64,
        /// Bytes in all.
        total: u64,
        /// What failed.
        error: Box<ServerError>,
    },
    /// The place for its data could not be prepared.
    Storage(StorageError),
    /// The guard process failed.
    Guard(GuardError),
}

/// With less free room than this, the room is told beside what failed: the files of an empty server take up to 200 MB.
const LITTLE_ROOM: u64 = 256 << 20;

impl ServerError {
    /// Says how little room there is for the server's files, where it is little. To be asked before they are removed.
    #[must_use]
    pub(super) fn with_room(self, folder: &Path) -> Self {
        let is_of_files = matches!(
            self,
            Self::Initialise { .. } | Self::Ended { .. } | Self::NotReady { .. } | Self::DataSet { .. }
        );
        match disk_space(folder) {
            Ok(DiskSpace { free, total }) if is_of_files && free < LITTLE_ROOM => {
                let path = folder.parent().unwrap_or(folder).to_owned();
                Self::LittleRoom { path, free, total, error: Box::new(self) }
            }
            _ => self,
        }
    }
}

impl From<StorageError> for ServerError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<GuardError> for ServerError {
    fn from(error: GuardError) -> Self {
        Self::Guard(error)
    }
}

/// The settings of a spec's server that have this in common.
const READ_THE_MANUAL: &str = "hint: names and values are the server's own, as its documentation has them";

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { kind, looked_at, others } => write_not_found(f, *kind, looked_at, others),
            Self::HelperNotFound { kind, program, folders } => {
                write_helper_not_found(f, *kind, program, folders)
            }
            Self::NoUser { kind, user } => write!(
                f,
                "dyno runs as root, {kind} refuses to, and there is no user {user:?} to run it as\n\
                 hint: make one (useradd --system {user}), or run dyno as an ordinary user"
            ),
            Self::Scratch { path, reason } => write!(
                f,
                "cannot use the scratch folder {}: {reason}\n\
                 hint: scratch = \"...\" in the spec's server, or the environment variable TMPDIR, names another one",
                path.display()
            ),
            Self::LogFolder { path, error } => {
                write!(f, "cannot keep the server's log in the folder {}: {error}", path.display())
            }
            Self::System { doing, error } => write!(f, "{doing} failed: {error}"),
            Self::ReservedSetting { name, why } => {
                write!(f, "setting {name:?} cannot be given: {why}")
            }
            Self::MalformedSetting { name, value } => write!(
                f,
                "setting {name:?} = {value:?} cannot be given: a name has letters, digits and the signs _ - . only, and a value \
                 is one line without a zero byte (for a pragma: a word, a number or a quoted text)"
            ),
            Self::SettingRefused { kind, name, value, words } => {
                write!(f, "{kind} refuses the setting {name:?} = {value:?}. It says:")?;
                write_lines(f, words)?;
                write!(f, "\n{READ_THE_MANUAL}")
            }
            Self::SettingsDiffer { kind, problems, words } => {
                write!(f, "{kind} runs, but not with the settings asked for:")?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))?;
                if !words.is_empty() {
                    f.write_str("\nIt says:")?;
                    write_lines(f, words)?;
                }
                write!(f, "\n{READ_THE_MANUAL}; a value out of its bounds becomes another one")
            }
            Self::Initialise { kind, program, exit, log } => {
                let ending = exit.map_or_else(|| "did not end in time".to_owned(), |exit| exit.to_string());
                write!(f, "cannot make {kind}'s data folder: {} {ending}", program.display())?;
                write_log(f, log)
            }
            Self::Ended { kind, exit, log } => {
                write!(f, "the {kind} server {exit} before it was ready").and_then(|()| write_log(f, log))
            }
            Self::NotReady { kind, seconds, last, log } => {
                write!(f, "the {kind} server did not answer within {seconds} s")?;
                last.iter().try_for_each(|last| write!(f, " (the last attempt: {last})"))?;
                write_log(f, log)
            }
            Self::LittleRoom { path, free, total, error } => {
                write!(f, "{error}").and_then(|()| write_room(f, path, *free, *total))
            }
            Self::Query { kind, doing, failure } => {
                write!(f, "the {kind} server answers, but {doing} failed: {failure}")
            }
            Self::DataSet { path, reason } => write!(
                f,
                "cannot copy the loaded data set {}: {reason}\n\
                 hint: make room, or name a larger disk as server.scratch, or load it each time with design.data_set = \"load\"",
                path.display()
            ),
            Self::Storage(error) => write!(f, "{error}"),
            Self::Guard(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ServerError {}

fn write_not_found(
    f: &mut fmt::Formatter<'_>,
    kind: ServerKind,
    looked_at: &[PathBuf],
    others: &[String],
) -> fmt::Result {
    write!(f, "no {kind} server found; looked for")?;
    looked_at.iter().try_for_each(|path| write!(f, "\n  {}", path.display()))?;
    others.iter().try_for_each(|other| write!(f, "\nfound instead: {other}"))?;
    let variable = kind.name().to_ascii_uppercase();
    write!(
        f,
        "\nhint: name its folder in the spec, server = {{ kind = \"{kind}\", bin_dir = \"...\" }}, or in the environment \
         variable DYNO_{variable}_BIN_DIR; on Debian, scripts/servers installs it"
    )
}

fn write_helper_not_found(
    f: &mut fmt::Formatter<'_>,
    kind: ServerKind,
    program: &str,
    folders: &[PathBuf],
) -> fmt::Result {
    write!(f, "{kind} needs {program} to make its data folder, and it is in none of these folders:")?;
    folders.iter().try_for_each(|folder| write!(f, "\n  {}", folder.display()))?;
    write!(f, "\nhint: install it with the server, or name a complete installation with bin_dir")
}

fn write_room(f: &mut fmt::Formatter<'_>, folder: &Path, free: u64, total: u64) -> fmt::Result {
    let (folder, free, total) = (folder.display(), free >> 20, total >> 20);
    write!(f, "\nnote: the disk of {folder} had {free} MB of {total} MB free then")
}

fn write_lines(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| write!(f, "\n  | {line}"))
}

fn write_log(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return f.write_str("; it wrote nothing to its log");
    }
    f.write_str("; the last lines of its log:")?;
    write_lines(f, lines)
}

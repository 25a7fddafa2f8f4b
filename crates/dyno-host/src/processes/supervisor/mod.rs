//! The supervisor: a separate small process that creates scratch folders and starts servers for
//! dyno, and outlives dyno just long enough to stop and remove them.
//!
//! dyno sends [`Order`]s and receives [`Reply`]s over two pipes, one JSON value per line. Only dyno
//! holds the writing end of the first pipe, so when dyno ends in any way, `kill -9` included, the
//! kernel closes it; the supervisor reads end of file, stops the server, removes the folders and
//! exits. A parent-death signal is not sufficient: it depends on a thread of dyno rather than on
//! dyno, is lost when the server changes its user, and removes no folder.
//!
//! * [`Supervisor`] is dyno's handle; [`main`] is the supervisor process, which the hidden
//!   subcommand `dyno supervise` runs.
//! * The supervisor leads its own process group (so Ctrl-C in the terminal does not reach it),
//!   holds none of dyno's files or its terminal, and is the child subreaper of what it starts, so
//!   helper processes of a dead server end too.

mod client;
mod handle;
mod last;
mod launch;
mod process;
mod shared_memory;

pub use crate::folder::Owner;
pub use client::Supervisor;
pub use handle::{SupervisorError, SupervisorHandle};
pub(crate) use process::is_scratch;
pub use process::main;
pub use shared_memory::SharedMemory;

use dyno_model::reason::Reason;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How dyno starts a supervisor: a program that calls [`main`] when it gets these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl SupervisorCommand {
    /// This program itself with the subcommand `supervisor`. `/proc/self/exe` is the running file
    /// even if it has been replaced on disk.
    #[must_use]
    pub fn this_program() -> Self {
        let proc = Path::new("/proc/self/exe");
        let program = if proc.exists() { Ok(proc.to_owned()) } else { std::env::current_exe() };
        Self {
            program: program.unwrap_or_else(|_| PathBuf::from("dyno")),
            arguments: vec!["supervise".into()],
        }
    }
}

/// A request to the supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// Create a folder that only its owner may enter, and remove it at the end.
    MakeFolder(FolderOrder),
    /// Start a process; only one at a time.
    Start(Launch),
    /// Stop the running process, first cleanly. It is killed when the timeout of the last step
    /// expires.
    Stop(Vec<StopStep>),
    /// Send a signal to the running process and its group.
    Signal(SupervisorSignal),
    /// Kill the process that is being stopped without waiting any longer.
    Hurry,
    /// Also remove these at the end: shared memory that a killed server leaves.
    Remove(SharedMemory),
    /// Run this last, after the server has stopped and the folders are removed.
    Last(Last),
    /// Copy a file of the scratch folder to a permanent place before the folder is removed.
    Keep { from: PathBuf, to: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FolderOrder {
    parent: PathBuf,
    /// Prefix of its name.
    prefix: String,
    access: Access,
    /// Its subfolders, with the same access.
    inside: Vec<String>,
}

/// Who may access a folder that the supervisor creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Only the owner may enter it; without an owner, only dyno.
    Owned(Option<Owner>),
    /// It belongs to dyno; this user may traverse it to files with known names, and change nothing
    /// in it.
    Passed(Option<Owner>),
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Launch {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments. Never a password: every user of the machine can read them.
    pub arguments: Vec<String>,
    /// Environment variables in addition to those of the supervisor.
    pub environment: Vec<(String, String)>,
    /// The user to run it as; `None` for dyno's own user.
    pub owner: Option<Owner>,
    /// Its working directory.
    pub folder: PathBuf,
    /// File to which its output and errors are appended.
    pub log: PathBuf,
    /// File that is its input; `None` for no input.
    pub input: Option<PathBuf>,
    /// How it is stopped when dyno has ended.
    pub stop: Vec<StopStep>,
    /// True for a command of the user's: only the beginning and the end of its output are kept.
    #[serde(default)]
    pub is_command: bool,
    /// True for a command whose processes stay when it has succeeded, such as one that starts a
    /// server of the user's. All other remaining processes are killed.
    #[serde(default)]
    pub leaves_running: bool,
}

/// A command to run last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// What is run.
    pub launch: Launch,
    /// Time limit after which it is killed.
    pub limit: Duration,
    /// Its description for messages.
    pub what: String,
}

/// One step of stopping a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopStep {
    /// Signal to send.
    pub signal: SupervisorSignal,
    /// Timeout for the process to end.
    pub timeout: Duration,
}

/// Signals that stop a server, inject a fault, or undo one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorSignal {
    /// SIGTERM: MySQL's clean shutdown. PostgreSQL would wait for clients, so it is not used there.
    Terminate,
    /// SIGINT: PostgreSQL's fast shutdown.
    Interrupt,
    /// SIGQUIT: PostgreSQL's immediate shutdown, which still releases its shared memory.
    Quit,
    /// SIGKILL: immediate end.
    Kill,
    /// SIGSTOP: suspended.
    Stop,
    /// SIGCONT: resumed.
    Continue,
}

impl SupervisorSignal {
    fn as_signal(self) -> Signal {
        match self {
            Self::Terminate => Signal::TERM,
            Self::Interrupt => Signal::INT,
            Self::Quit => Signal::QUIT,
            Self::Kill => Signal::KILL,
            Self::Stop => Signal::STOP,
            Self::Continue => Signal::CONT,
        }
    }
}

/// A reply of the supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    Folder(PathBuf),
    Started {
        pid: u32,
    },
    Ended(Exit),
    Signalled,
    /// The request failed.
    Refused(String),
    /// Everything is stopped and removed; with what failed in doing so.
    Finished(Vec<String>),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Exit code, when it exited by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// True for exit code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reason::from(*self).fmt(f)
    }
}

impl From<Exit> for Reason {
    fn from(exit: Exit) -> Self {
        match (exit.code, exit.signal) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(9)) => Self::Killed,
            (None, Some(signal)) => Self::Signalled(signal),
            (None, None) => Self::Ended,
        }
    }
}

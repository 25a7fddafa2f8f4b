//! The guard: a small process of its own that makes scratch folders and starts servers for dyno,
//! and outlives dyno just long enough to undo both.
//!
//! dyno speaks to it over two pipes, one JSON value per line: [`Order`]s go in, [`Reply`]s come
//! out. Nobody but dyno holds the writing end of the first pipe, so when dyno ends in whatever way,
//! `kill -9` included, the kernel closes it; the guard reads end of file, stops the server, removes
//! the folders and goes. A parent-death signal would not do: it is tied to a thread of dyno rather
//! than to dyno, is lost when the server changes its user, and removes no folder.
//!
//! * [`Supervisor`] is dyno's end; [`main`] is the guard process, which the hidden subcommand
//!   `dyno supervisor` runs.
//! * The guard leads a process group of its own (Ctrl-C in the terminal does not reach it), holds
//!   none of dyno's files or its terminal, and is the "child subreaper" of what it starts, so
//!   helpers of a dead server end too.

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

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How dyno starts a guard: a program that calls [`main`] when it gets these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl SupervisorCommand {
    /// This program itself with the subcommand `supervisor`. `/proc/self/exe` is the file that runs
    /// even if it was replaced on disk since.
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

/// What dyno asks of the guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// Make a folder that only its owner may enter, and remove it at the end.
    MakeFolder(FolderOrder),
    /// Start a process; one at a time.
    Start(Launch),
    /// End the running process, politely first. It is killed when the last step's patience is over.
    Stop(Vec<StopStep>),
    /// Send the running process and its group a signal.
    Signal(SupervisorSignal),
    /// Do not wait any longer for the process that was told to end: kill it.
    Hurry,
    /// Also remove these at the end: shared memory that a killed server leaves behind.
    Remove(SharedMemory),
    /// Run this at the very end, after the server has stopped and the folders are gone.
    Last(Last),
    /// Copy a file of the scratch folder to a lasting place before the folder goes.
    Keep { from: PathBuf, to: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FolderOrder {
    parent: PathBuf,
    /// Beginning of its name.
    prefix: String,
    access: Access,
    /// Folders in it, with the same access.
    inside: Vec<String>,
}

/// Who may do what in a folder that the guard makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It is the owner's, and nobody else may enter it. Without one, it is dyno's.
    Owned(Option<Owner>),
    /// It is dyno's; this user may pass through it to files whose names it knows, and change
    /// nothing in it.
    Passed(Option<Owner>),
}

/// A process to be started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Launch {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments. Never a password: every user of the machine can read them.
    pub arguments: Vec<String>,
    /// Environment variables besides the few that the guard has.
    pub environment: Vec<(String, String)>,
    /// As whom it runs; `None`: as dyno does.
    pub owner: Option<Owner>,
    /// Its working folder.
    pub folder: PathBuf,
    /// File that its output and its errors are appended to.
    pub log: PathBuf,
    /// File that it reads as its input; `None`: nothing.
    pub input: Option<PathBuf>,
    /// How it is stopped when dyno is gone.
    pub stop: Vec<StopStep>,
    /// True for a command of the user's, of whose output no more than its beginning and its end is
    /// kept.
    #[serde(default)]
    pub is_command: bool,
    /// True for a command that starts what is to stay when it has succeeded, such as a server of
    /// the user's. Everything else that it leaves is ended.
    #[serde(default)]
    pub leaves_running: bool,
}

/// A command that is run at the very end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// What is run.
    pub launch: Launch,
    /// How long it may take; then it is killed.
    pub limit: Duration,
    /// What it is, for messages.
    pub what: String,
}

/// One step of stopping a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopStep {
    /// What is sent.
    pub signal: SupervisorSignal,
    /// How long the process may then take.
    pub timeout: Duration,
}

/// Signals that ask a server to end, that do it harm on purpose, or undo that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorSignal {
    /// SIGTERM: MySQL's clean shutdown; PostgreSQL's waits for clients and is therefore not used.
    Terminate,
    /// SIGINT: PostgreSQL's fast shutdown.
    Interrupt,
    /// SIGQUIT: PostgreSQL's immediate shutdown, which still gives its shared memory back.
    Quit,
    /// SIGKILL: it ends at once.
    Kill,
    /// SIGSTOP: it hangs.
    Stop,
    /// SIGCONT: it goes on.
    Continue,
}

impl SupervisorSignal {
    fn number(self) -> Signal {
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

/// What the guard answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    Folder(PathBuf),
    Started {
        pid: u32,
    },
    Ended(Exit),
    Signalled,
    /// The order could not be carried out.
    Refused(String),
    /// Everything is stopped and removed; with what did not work in doing so.
    Finished(Vec<String>),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit code, when it ended by itself.
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
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with exit code {code}"),
            (None, Some(9)) => f.write_str("was killed (signal 9)"),
            (None, Some(signal)) => write!(f, "was terminated by signal {signal}"),
            (None, None) => f.write_str("ended"),
        }
    }
}

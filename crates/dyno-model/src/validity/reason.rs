//! Why something ended early or was not done: a value, which reports say in the language of their
//! reader. The text here is that of error messages and diagnoses.

use crate::engine::ServerKind;
use crate::failure::OperationFailure;
use crate::search::{Search, SearchEnd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// As reported by a server, the operating system, a script or another program.
    #[error("{0}")]
    Text(String),
    /// The user requested the end.
    #[error("interrupted by the user")]
    Interrupted,
    /// The time limit passed before a table had the required rows.
    #[error("time limit reached at {rows} of {target} rows")]
    RowsLeft {
        /// Rows at the end.
        rows: u64,
        /// Required rows.
        target: u64,
    },
    /// The time limit passed before the required transactions had started.
    #[error("time limit reached after {started} of {wanted} transactions")]
    TransactionsLeft {
        /// Transactions started.
        started: u64,
        /// Required transactions.
        wanted: u64,
    },
    /// An imported run did not process all its transactions.
    #[error("{done} of {planned} transactions were processed")]
    TransactionsMissing {
        /// Transactions processed.
        done: u64,
        /// Planned transactions.
        planned: u64,
    },
    /// A search for the highest load found none that passes.
    #[error("no load of the search passed")]
    NoLoad {
        /// What it searched for.
        search: Box<Search>,
        /// How it ended.
        end: SearchEnd,
        /// Number of its load steps.
        steps: usize,
    },
    /// Clients were not ready in time.
    #[error("only {ready} of {clients} clients were ready in time")]
    ClientsNotReady {
        /// Number of clients that were ready.
        ready: u32,
        /// Number of all clients.
        clients: u32,
    },
    /// A client, or the connection that observes the server, could not be opened or prepared.
    #[error("clients could not be started: {0}")]
    ClientsNotStarted(OperationFailure),
    /// The state that the audit needs could not be read.
    #[error("the state before the trial could not be read: {0}")]
    StateNotRead(OperationFailure),
    /// The data of a trial could not be loaded.
    #[error("the data could not be loaded: {0}")]
    DataNotLoaded(OperationFailure),
    /// Clients continued after the trial.
    #[error("{clients} clients continued after the trial, the first with number {first}")]
    ClientsContinued {
        /// Number of clients.
        clients: usize,
        /// The first.
        first: u32,
    },
    /// Threads of a script run a loop that only the end of the process can stop. Noticed by this.
    #[error(
        "{0}: a script does not end (does event, thread_init or thread_done contain a loop or a \
         sleep?), and its threads would disturb all later trials"
    )]
    ScriptDoesNotEnd(Box<Reason>),
    /// A worker of the generator panicked.
    #[error("a generator worker panicked; this is a bug of dyno")]
    WorkerPanicked,
    /// A client reported that the database or the service failed.
    #[error("{0}")]
    Failure(OperationFailure),
    /// The system failed.
    #[error("the system failed: {0}")]
    SystemFailed(Box<Reason>),
    /// The audit could not be run.
    #[error("audit: {0}")]
    NotAudited(Box<Reason>),
    /// The system no longer responds.
    #[error("stopped responding: {0}")]
    NoResponse(OperationFailure),
    /// A disk is almost full.
    #[error("the disk of {folder} is almost full: {free} MB of {total} MB are free")]
    DiskFull {
        /// A folder on it.
        folder: String,
        /// Free space, MB.
        free: u64,
        /// Its size, MB.
        total: u64,
    },
    /// Something failed while a disk was almost full, which may be why.
    #[error("{reason}\nnote: the disk of {folder} had {free} MB of {total} MB free at that time")]
    DiskScarce {
        /// What was reported.
        reason: Box<Reason>,
        /// A folder on the disk.
        folder: String,
        /// Free space, MB.
        free: u64,
        /// Its size, MB.
        total: u64,
    },
    /// A process ended by itself, with this exit code.
    #[error("ended with exit code {0}")]
    Exited(i32),
    /// A process was killed.
    #[error("was killed (signal 9)")]
    Killed,
    /// Another signal ended a process.
    #[error("was terminated by signal {0}")]
    Signalled(i32),
    /// A process ended in an unknown way.
    #[error("ended")]
    Ended,
    /// The supervisor of a server ended.
    #[error("lost its supervisor process (dyno supervise)")]
    SupervisorLost,
    /// A node of a cluster ended.
    #[error("lost {node}, which {reason}")]
    NodeLost {
        /// Its name.
        node: String,
        /// How it ended.
        reason: Box<Reason>,
    },
    /// A program on the network path ended.
    #[error("the {what} {name} {reason}")]
    PathEnded {
        /// Its kind.
        what: String,
        /// Its name.
        name: String,
        /// How it ended.
        reason: Box<Reason>,
    },
    /// A generator was lost.
    #[error("generator {name} was lost: {reason}")]
    GeneratorLost {
        /// Its number and machine.
        name: String,
        /// How.
        reason: Box<Reason>,
    },
    /// All generators were lost with their launcher, for this reason.
    #[error("all generators were lost: {0}")]
    AllGeneratorsLost(Box<Reason>),
    /// A generator could not begin or continue.
    #[error("generator {name}: {reason}")]
    GeneratorFailed {
        /// As of [`Self::GeneratorLost`].
        name: String,
        /// Why.
        reason: Box<Reason>,
    },
    /// The process of a generator ended.
    #[error("its process {reason}{output}")]
    ProcessEnded {
        /// How it ended.
        reason: Box<Reason>,
        /// The end of its output, after a colon; empty when there was none.
        output: String,
    },
    /// The launcher of all generators ended.
    #[error("the launcher {reason}{output}")]
    LauncherEnded {
        /// How it ended.
        reason: Box<Reason>,
        /// As of [`Self::ProcessEnded`].
        output: String,
    },
    /// The connection of a generator was closed.
    #[error("its connection was closed")]
    ConnectionClosed,
    /// A generator sent nothing for so many seconds.
    #[error("it sent nothing for {0} s")]
    SentNothing(u64),
    /// A background workload stopped, and with it the trial.
    #[error("the background workload {name:?} stopped: {reason}")]
    BackgroundStopped {
        /// Its name.
        name: String,
        /// Why.
        reason: Box<Reason>,
    },
    /// A background workload could not be measured.
    #[error("the background workload {name:?}: {reason}")]
    BackgroundFailed {
        /// Its name.
        name: String,
        /// Why.
        reason: Box<Reason>,
    },
    /// No program of a server was found.
    #[error(
        "no {kind} server found; searched{searched}\n\
         hint: name its folder in the spec (server.bin_dir) or in the environment variable {}; on \
         Debian, scripts/servers installs it",
        kind.bin_dir_variable()
    )]
    NoServer {
        /// Its kind.
        kind: ServerKind,
        /// The searched paths, and what was found instead of the program, each on a line of its
        /// own after a line break.
        searched: String,
    },
    /// A system cannot be connected to.
    #[error("cannot connect to {location}: {failure}{hint}")]
    NotConnected {
        /// Its address.
        location: String,
        /// The failure.
        failure: Box<OperationFailure>,
        /// The remedy on a line of its own, after a line break; empty when there is none.
        hint: String,
    },
    /// A database has tables that dyno did not create.
    #[error(
        "the database {database:?} is not empty and was not created by dyno; it contains {tables}\n\
         hint: use an empty database; to permit writing to it and replacing tables of the same \
         names, add --yes-write-to {database}"
    )]
    DatabaseNotEmpty {
        /// Its name.
        database: String,
        /// Its tables, and the database that `--yes-write-to` names instead.
        tables: String,
    },
    /// An environment variable that holds a password is not set.
    #[error(
        "the environment variable {0} for the password is not set\n\
         hint: run export {0}=... before starting dyno"
    )]
    NoPassword(String),
    /// A server cannot use the folder for its files.
    #[error(
        "cannot use the scratch folder {folder}: {reason}\n\
         hint: scratch = \"...\" in the spec's server, or the environment variable TMPDIR, names \
         another one"
    )]
    ScratchUnusable {
        /// The folder.
        folder: String,
        /// Why.
        reason: String,
    },
    /// A server that does not run as root has no user to run as.
    #[error(
        "dyno runs as root, but {kind} does not, and there is no user {user:?} to run it as\n\
         hint: create it (useradd --system {user}), or run dyno as an ordinary user"
    )]
    NoUser {
        /// Kind of the server.
        kind: ServerKind,
        /// The user that it would run as.
        user: String,
    },
    /// A node of a cluster, or a program on the network path, could not be started.
    #[error("{what}: {reason}")]
    NotStarted {
        /// The node with its number, or the program with its name.
        what: String,
        /// Why.
        reason: Box<Reason>,
    },
    /// A system is not started again.
    #[error("not tried again after {failures} failures: {reason}")]
    NotTriedAgain {
        /// Failed starts in a row.
        failures: u32,
        /// The last one.
        reason: Box<Reason>,
    },
    /// The reason of one of several databases.
    #[error("{database}: {reason}")]
    InDatabase {
        /// Its name.
        database: String,
        /// Its reason.
        reason: Box<Reason>,
    },
}

impl Reason {
    /// True when generators were lost or have failed.
    #[must_use]
    pub fn is_of_generators(&self) -> bool {
        match self {
            Self::GeneratorLost { .. }
            | Self::GeneratorFailed { .. }
            | Self::AllGeneratorsLost(_) => true,
            Self::InDatabase { reason, .. } | Self::BackgroundFailed { reason, .. } => {
                reason.is_of_generators()
            }
            _ => false,
        }
    }

    /// True when the load generator failed, so that the system cannot be blamed. A generator that
    /// could not go on because of the system names the system's failure as its reason.
    #[must_use]
    pub fn is_failure_of_generator(&self) -> bool {
        match self {
            Self::GeneratorLost { .. } | Self::AllGeneratorsLost(_) | Self::WorkerPanicked => true,
            Self::GeneratorFailed { reason, .. }
            | Self::InDatabase { reason, .. }
            | Self::BackgroundStopped { reason, .. }
            | Self::BackgroundFailed { reason, .. } => reason.is_failure_of_generator(),
            _ => false,
        }
    }

    /// The reason with its database, where there are several.
    #[must_use]
    pub fn in_database(self, database: Option<&str>) -> Self {
        match database {
            None => self,
            Some(name) => Self::InDatabase { database: name.to_owned(), reason: Box::new(self) },
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

//! What preflight finds before an experiment is begun, as values: what it is about, and what was
//! found.

use crate::observation::Observation;
use serde::Serialize;

/// How much a finding of preflight weighs; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Figures may suffer.
    Warning,
    /// The experiment cannot be run.
    Fatal,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A system, by its name.
    System(String),
    /// A storage, by its name.
    Storage(String),
    /// An endpoint, by its name.
    Endpoint(String),
    /// The load of the spec.
    Load,
    /// The folder for results.
    Results,
    /// The machine that dyno runs on.
    Machine,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct PreflightWarning {
    /// What it is about.
    pub place: Place,
    /// What was found.
    pub obstacle: Obstacle,
}

/// What speaks against an experiment, or should be known before it runs. Sizes are in MB.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// Warm-up, window and grace period of a trial together are longer than can be recorded.
    TrialTooLong,
    /// This process may not open as many files as the clients need.
    TooFewFiles {
        /// Clients of the largest configuration.
        clients: u32,
        /// Files that they need.
        needed: u64,
        /// Files that this process may open.
        allowed: u64,
    },
    /// A folder has less room than is needed.
    LittleRoom {
        /// The folder.
        folder: String,
        /// Room that it has.
        free: u64,
        /// Room that is needed, roughly.
        needed: u64,
    },
    /// Nobody can say how much room a folder has.
    RoomUnknown {
        /// The folder.
        folder: String,
        /// Why not, in the system's words.
        reason: String,
    },
    /// A program that a command of the spec runs is not on this machine.
    NoProgram {
        /// Key of the command.
        key: String,
        /// The program.
        program: String,
    },
    /// The program that looks at the server's machine is not on this one.
    NoMonitor {
        /// The program.
        program: String,
    },
    /// A folder of a storage does not exist, and no command makes it.
    NoFolder {
        /// The folder.
        folder: String,
    },
    /// Servers cannot get into a folder of a storage.
    ClosedFolder {
        /// The folder.
        folder: String,
        /// Which part of the way is closed, and to whom.
        reason: String,
    },
    /// Scripts of SQL have no tables on a server that is started empty.
    NoTables,
    /// Scripts of Lua have no function that makes their data where nobody else does.
    NoPrepare,
    /// What scripts of Lua make cannot be told from what is in the database.
    DatabaseNotEmpty {
        /// The database.
        database: String,
    },
    /// What scripts of Lua send is not known, and nobody said that they may write.
    WritesRefused {
        /// The database, as `--yes-write-to` would name it.
        database: String,
    },
    /// The spec sets fewer connections than the plan needs.
    FewConnectionsSet {
        /// What it sets.
        set: String,
        /// Connections that the plan needs.
        needed: u64,
    },
    /// A server has room for fewer connections than the plan needs.
    FewConnections {
        /// Clients of the largest configuration.
        clients: u32,
        /// Connections that they need, with dyno's own.
        needed: u64,
        /// Connections that are free.
        available: u64,
        /// The server's limit.
        max: u64,
        /// Connections in use.
        in_use: u64,
        /// The limit that would do.
        enough: u64,
    },
    /// Others are connected to the server.
    OtherSessions {
        /// How many.
        number: usize,
        /// Who the first is.
        user: String,
        /// Where the first comes from.
        from: String,
    },
    /// The server takes part in replication.
    Replicates,
    /// The server could not be asked for its state.
    StateUnknown {
        /// Why not, in the server's or driver's words.
        failure: String,
    },
    /// `workload.setup` is written for a system that runs already.
    SetupElsewhere,
    /// Scripts of SQL are to find their tables in a database of dyno's own.
    OwnDatabase,
    /// A script may change data that dyno did not make.
    ScriptWrites {
        /// The script.
        script: String,
        /// The first of its statements that may.
        statement: String,
        /// The database, as `--yes-write-to` would name it.
        database: String,
    },
    /// The server refused a statement of a script.
    ScriptRefused {
        /// Script, statement, and the server's words.
        reason: String,
    },
    /// Scripts could not be tried.
    ScriptsUntried {
        /// Why not.
        failure: String,
    },
    /// A doubt about this machine.
    Doubt(Observation),
    /// What somebody else has said: a server, a driver, the catalogue of workloads.
    Said {
        /// The words.
        text: String,
        /// What to do about it, if they say so.
        remedy: Option<String>,
    },
}

impl Obstacle {
    /// How much it weighs.
    #[must_use]
    pub fn weight(&self) -> Weight {
        match self {
            Self::RoomUnknown { .. }
            | Self::NoMonitor { .. }
            | Self::OtherSessions { .. }
            | Self::Replicates
            | Self::StateUnknown { .. }
            | Self::WritesRefused { .. }
            | Self::Doubt(_) => Weight::Warning,
            _ => Weight::Fatal,
        }
    }

    /// What somebody else has said; what stands behind `hint:` is the remedy.
    #[must_use]
    pub fn said(text: &str) -> Self {
        let (text, remedy) =
            text.split_once("\nhint: ").map_or((text, None), |(text, hint)| (text, Some(hint)));
        Self::Said { text: text.to_owned(), remedy: remedy.map(str::to_owned) }
    }
}

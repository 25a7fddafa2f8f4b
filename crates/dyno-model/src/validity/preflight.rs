//! Results of preflight, the checks before an experiment starts, as values: subject and problem.

use crate::observation::Observation;
use crate::reason::Reason;
use serde::Serialize;

/// Severity of a preflight result; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Figures may be affected.
    Warning,
    /// The experiment cannot be run.
    Fatal,
}

/// Subject of a preflight result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
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

/// One result of preflight.
#[derive(Debug, Clone, PartialEq)]
pub struct PreflightWarning {
    /// Subject.
    pub subject: Subject,
    /// Problem.
    pub obstacle: Obstacle,
}

/// A problem that prevents an experiment, or that the user should know before it runs. Sizes are in
/// MB.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// The sum of warm-up, window and grace period of a trial is longer than can be recorded.
    TrialTooLong,
    /// The limit on open files of this process is too low for the clients.
    TooFewFiles {
        /// Clients of the largest configuration.
        clients: u32,
        /// Files that they open.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// A folder has too little free space.
    LittleRoom {
        /// The folder.
        folder: String,
        /// Free space.
        free: u64,
        /// Required space, roughly.
        needed: u64,
    },
    /// The free space of a folder could not be determined.
    RoomUnknown {
        /// The folder.
        folder: String,
        /// The error, as reported by the system.
        reason: String,
    },
    /// The program of a command of the spec is not installed on this machine.
    NoProgram {
        /// Key of the command.
        key: String,
        /// The program.
        program: String,
    },
    /// The program of a launcher of generators is not installed on this machine.
    NoLauncher {
        /// The launcher.
        launcher: String,
        /// The program.
        program: String,
    },
    /// Generators are to be pods, and this process is none.
    NotInCluster,
    /// Generators could not connect to the coordinator's address.
    NoAddress {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The program that monitors the server's machine is not installed on this machine.
    NoMonitor {
        /// The program.
        program: String,
    },
    /// A folder of a storage does not exist, and no command creates it.
    NoFolder {
        /// The folder.
        folder: String,
    },
    /// Servers have no access to a folder of a storage.
    ClosedFolder {
        /// The folder.
        folder: String,
        /// The part of the path without access, and the account that lacks it.
        reason: Reason,
    },
    /// SQL scripts have no tables on a server that starts empty.
    NoTables,
    /// Lua scripts have no function that creates their data, and the server starts empty.
    NoPrepare,
    /// It is unknown which objects in the database Lua scripts would create.
    DatabaseNotEmpty {
        /// The database.
        database: String,
    },
    /// The statements of Lua scripts are unknown, and writing was not confirmed.
    WritesRefused {
        /// The database, as `--yes-write-to` names it.
        database: String,
    },
    /// The spec sets fewer connections than the plan needs.
    FewConnectionsSet {
        /// The number that it sets.
        set: String,
        /// Connections that the plan needs.
        needed: u64,
    },
    /// A server accepts fewer connections than the plan needs.
    FewConnections {
        /// Clients of the largest configuration.
        clients: u32,
        /// Connections that they need, including dyno's own.
        needed: u64,
        /// Free connections.
        available: u64,
        /// The server's limit.
        max: u64,
        /// Connections in use.
        in_use: u64,
        /// The limit that would be sufficient.
        enough: u64,
    },
    /// Other sessions are connected to the server.
    OtherSessions {
        /// Number of sessions.
        sessions: usize,
        /// Account of the first.
        user: String,
        /// Origin of the first.
        from: String,
    },
    /// The server takes part in replication.
    Replicates,
    /// The server could not be queried for its state.
    StateUnknown {
        /// The error, as reported by the server or driver.
        failure: String,
    },
    /// `workload.setup` is defined for a system that already runs.
    SetupElsewhere,
    /// SQL scripts expect existing tables in a database of dyno's own.
    OwnDatabase,
    /// A script may change data that dyno did not create.
    ScriptWrites {
        /// The script.
        script: String,
        /// Its first statement that may do so.
        statement: String,
        /// The database, as `--yes-write-to` names it.
        database: String,
    },
    /// `--yes-write-to` names a database with tables that the run replaces.
    TablesReplaced {
        /// The database.
        database: String,
        /// The tables, separated by commas.
        tables: String,
    },
    /// The server rejected a statement of a script.
    ScriptRefused {
        /// Script, statement, and the server's message.
        reason: String,
    },
    /// Scripts could not be tested.
    ScriptsUntried {
        /// The reason.
        failure: String,
    },
    /// A warning about this machine.
    Doubt(Observation),
    /// As reported by another component: a server, a driver, the catalog of workloads.
    Refused(Reason),
}

impl Obstacle {
    /// The severity.
    #[must_use]
    pub fn weight(&self) -> Weight {
        match self {
            Self::RoomUnknown { .. }
            | Self::NoMonitor { .. }
            | Self::OtherSessions { .. }
            | Self::Replicates
            | Self::StateUnknown { .. }
            | Self::WritesRefused { .. }
            | Self::TablesReplaced { .. }
            | Self::Doubt(_) => Weight::Warning,
            _ => Weight::Fatal,
        }
    }
}

//! Options for starting a server, or a process in front of one, besides its description.

use crate::data_set::SavedDataSet;
use crate::supervisor::SupervisorCommand;
use dyno_model::plan::Storage;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a start.
#[derive(Clone)]
pub struct StartOptions {
    /// Name of the system and of its log file.
    pub name: String,
    /// How to start the supervisor, which outlives dyno to clean up.
    pub supervisor: SupervisorCommand,
    /// Folder to which its log is copied when it stops; created if missing.
    pub log_dir: Option<PathBuf>,
    /// Number of simultaneous connections of the clients. Where the server's default allows fewer
    /// (with a few for dyno itself), dyno raises it, unless the settings have a value.
    pub connections: u32,
    /// Timeout for the server's first answer.
    pub ready_timeout: Duration,
    /// A loaded data folder; the server gets a copy of it instead of an empty one.
    pub data: Option<Arc<SavedDataSet>>,
    /// Location of its folders, with the commands that prepare it; otherwise
    /// [`scratch`](dyno_model::plan::ManagedServer::scratch).
    pub storage: Option<Storage>,
}

impl StartOptions {
    /// Options with a start timeout of 120 s, no kept log, and the server's default number of
    /// connections.
    #[must_use]
    pub fn new(name: impl Into<String>, supervisor: SupervisorCommand) -> Self {
        Self {
            name: name.into(),
            supervisor,
            log_dir: None,
            connections: 0,
            ready_timeout: Duration::from_secs(120),
            data: None,
            storage: None,
        }
    }
}

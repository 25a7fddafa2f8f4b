//! What the start of a server, or of what stands in front of one, needs besides its description.

use crate::data_set::SavedDataSet;
use crate::supervisor::SupervisorCommand;
use dyno_model::plan::Storage;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a start.
#[derive(Clone)]
pub struct StartOptions {
    /// Name of the system; names its log file.
    pub name: String,
    /// How the process is started that outlives dyno to clean up.
    pub supervisor: SupervisorCommand,
    /// Folder that its log is copied to when it stops; made if it is missing.
    pub log_dir: Option<PathBuf>,
    /// Connections that clients need at once. Where the server's default allows fewer (and a few
    /// for dyno itself), dyno raises it, unless the settings say how many.
    pub connections: u32,
    /// How long the server may take until it answers.
    pub ready_timeout: Duration,
    /// A loaded data folder, of which the server gets a copy instead of an empty one.
    pub data: Option<Arc<SavedDataSet>>,
    /// Where its folders are, with what prepares the place; else
    /// [`scratch`](dyno_model::plan::ManagedServer::scratch) is that place.
    pub storage: Option<Storage>,
}

impl StartOptions {
    /// Options with a limit of 120 s for getting ready, no kept log, and the server's own number of
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

//! The launcher: what starts the load generators of a run, when there are several.

use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How load generators are started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LauncherPlan {
    /// The program that starts them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: LauncherKind,
    /// Shell command that starts one of them, with `{generator}` for the command line of dyno and
    /// `{rank}` for its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Hosts for ssh; generators are dealt out to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Address at which the coordinator listens and generators reach it, perhaps with a port;
    /// `None`: the loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Path of dyno on the machines of the generators; `None`: `dyno` for ssh, else that of this
    /// program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

crate::named! {
    /// What starts load generators.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum LauncherKind {
        /// dyno, on this machine.
        #[default]
        Local = "local",
        /// A command of the user's.
        Command = "command",
        /// ssh, with a tunnel back to the coordinator.
        Ssh = "ssh",
        /// `srun` of Slurm.
        Slurm = "slurm",
        /// `mpirun` of Open MPI.
        Mpi = "mpi",
    }
}

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
    /// Processors that each generator's pod gets for itself; 0: it shares those of its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Memory of each generator's pod, as a quantity of Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Label selector of pods whose nodes get no generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anti_affinity: Option<String>,
}

/// The names and values of labels, such as `app=postgres,tier=database`; `None` when it is no such
/// list.
#[must_use]
pub fn label_pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let pairs = text.split(',').map(|pair| pair.trim().split_once('='));
    let is_plain = |word: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        !word.is_empty() && word.bytes().all(is_allowed)
    };
    pairs.map(|pair| pair.filter(|(name, value)| is_plain(name) && is_plain(value))).collect()
}

/// Whether Kubernetes reads the text as an amount of memory, such as `512Mi` or `1.5G`.
#[must_use]
pub fn is_quantity(text: &str) -> bool {
    let unit = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let units = ["", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    number.parse::<f64>().is_ok_and(|it| it > 0.0) && units.contains(&unit)
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
        /// An Indexed Job of Kubernetes, created from within the cluster.
        Kubernetes = "kubernetes",
    }
}

impl LauncherKind {
    /// The launcher of a command line that has no table `[launcher]`.
    ///
    /// # Errors
    /// Which ones it can be, as the end of a sentence.
    pub fn of_command_line(text: &str) -> Result<Self, &'static str> {
        let alone = [Self::Local, Self::Slurm, Self::Mpi];
        Self::named(text).filter(|kind| alone.contains(kind)).ok_or(
            "it is local, slurm or mpi; others need a table [launcher] in a spec of `dyno run`",
        )
    }
}

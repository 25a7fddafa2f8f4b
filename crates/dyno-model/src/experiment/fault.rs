//! Faults injected while a trial is measured: the planned faults (`[[fault]]`) and the injected
//! ones.

use crate::failure::{FailureKind, Remedy};
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// What a fault does to a node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum FaultAction {
        /// Its process is killed (SIGKILL), like a crash. Data already handed to the operating
        /// system survives.
        Kill = "kill",
        /// Its process is stopped (SIGSTOP): it hangs, and its connections stay open.
        Stop = "stop",
        /// Its process continues (SIGCONT).
        Continue = "continue",
        /// A killed node is started again on its existing data.
        Start = "start",
        /// It is shut down cleanly and started again.
        Restart = "restart",
        /// A replica is promoted to primary.
        Promote = "promote",
        /// The network path between clients and a node is cut silently: packets in both directions
        /// are dropped, without an error. The node keeps running.
        Disconnect = "disconnect",
        /// The network path is restored: data sent before arrives late.
        Reconnect = "reconnect",
        /// The storage of a node's data is filled up.
        FillDisk = "fill-disk",
        /// The storage has free space again.
        FreeDisk = "free-disk",
        /// A user command runs instead of a fault of dyno's.
        Run = "run",
    }
}

/// A fault as defined in the spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlan {
    /// Index into [`crate::plan::Plan::systems`] of the affected system.
    pub system: usize,
    /// Earliest time, since measuring started.
    pub at: Nanos,
    /// Maximum random delay after that time; it is drawn for each trial and is the same for all
    /// faults of the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub within: Nanos,
    /// The action.
    pub action: FaultAction,
    /// Name of the affected node (`crate::server::ManagedServer::node_names`); empty for a command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// The command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl FaultAction {
    /// What the action affects; faults with different targets do not conflict.
    #[must_use]
    pub fn target(self) -> FaultTarget {
        match self {
            Self::Kill
            | Self::Stop
            | Self::Continue
            | Self::Start
            | Self::Restart
            | Self::Promote => FaultTarget::Process,
            Self::Disconnect | Self::Reconnect => FaultTarget::NetworkPath,
            Self::FillDisk | Self::FreeDisk => FaultTarget::Disk,
            Self::Run => FaultTarget::Unknown,
        }
    }
}

/// What a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTarget {
    /// The process of the node.
    Process,
    /// The network path between it and the clients.
    NetworkPath,
    /// The storage of its data.
    Disk,
    /// Whatever a user command does.
    Unknown,
}

/// The expected effects on a system, given its scheduled faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ExpectedFaults {
    /// No faults.
    #[default]
    NoFaults,
    /// It may be unavailable for a while, or reject writes.
    Harm,
    /// The same, and it may run out of space for its writes.
    FullDisk,
}

impl ExpectedFaults {
    /// The effect of this action.
    pub fn of(actions: impl IntoIterator<Item = FaultAction>) -> Self {
        actions.into_iter().fold(Self::NoFaults, |expected, action| match action {
            FaultAction::FillDisk => Self::FullDisk,
            _ if expected == Self::FullDisk => expected,
            _ => Self::Harm,
        })
    }

    /// True when any fault is scheduled.
    #[must_use]
    pub fn has_faults(self) -> bool {
        self != Self::NoFaults
    }

    /// True for failures that follow from the faults: clients retry, and no warning is raised.
    #[must_use]
    pub fn explains(self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::OutOfResources => self == Self::FullDisk,
            FailureKind::ReadOnly | FailureKind::OutcomeUnknown => self.has_faults(),
            _ => {
                self.has_faults()
                    && matches!(kind.remedy(), Remedy::Reconnect | Remedy::RetryTransaction)
            }
        }
    }
}

impl FaultPlan {
    /// Time of the fault in a trial for which this share of `within` was drawn (0 to 1), since
    /// measuring started.
    #[must_use]
    pub fn moment(&self, share: f64) -> Nanos {
        Nanos(self.at.0 + (self.within.0 as f64 * share) as u64)
    }

    /// The target of the fault, for messages.
    #[must_use]
    pub fn object(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.node)
    }
}

/// A fault that was injected, or that failed to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRecord {
    /// The action.
    pub action: FaultAction,
    /// The node, or the command.
    pub node: String,
    /// Time since the window opened.
    pub at: Nanos,
    /// Why it could not be injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

//! Faults that are made on purpose while a trial is measured: what is to be done (`[[fault]]`), and
//! what was done.

use crate::failure::{FailureKind, Remedy};
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// What is done to a node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum FaultAction {
        /// Its process is killed (SIGKILL), as when it crashes. What the operating system was given
        /// stays.
        Kill = "kill",
        /// Its process is stopped (SIGSTOP): it hangs, and its connections stay open.
        Stop = "stop",
        /// Its process goes on (SIGCONT).
        Continue = "continue",
        /// A node that was killed is started again, on the data that it left.
        Start = "start",
        /// It is shut down in order and started again.
        Restart = "restart",
        /// A replica becomes a primary.
        Promote = "promote",
        /// The way between clients and a node is cut without a word: what is sent goes nowhere, and
        /// nothing comes back. The node lives on.
        Disconnect = "disconnect",
        /// The way is mended: what was sent before arrives late.
        Reconnect = "reconnect",
        /// The storage under a node's data runs full.
        FillDisk = "fill-disk",
        /// The storage has room again.
        FreeDisk = "free-disk",
        /// A command of the user's is run, in place of anything that dyno does.
        Run = "run",
    }
}

/// A fault as the spec asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlan {
    /// Index into [`crate::plan::Plan::systems`] of the system that it is made on.
    pub system: usize,
    /// Earliest moment, since measuring began.
    pub at: Nanos,
    /// It comes so much later at most; how much is drawn anew in each trial, the same for all
    /// faults of the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub within: Nanos,
    /// What is done.
    pub action: FaultAction,
    /// The node that it is done to, by its name (`crate::server::ManagedServer::node_names`); empty
    /// for a command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// The command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl FaultAction {
    /// The part of a node that it is done to: what was done to another part does not stand in its
    /// way.
    #[must_use]
    pub fn part(self) -> FaultPart {
        match self {
            Self::Kill
            | Self::Stop
            | Self::Continue
            | Self::Start
            | Self::Restart
            | Self::Promote => FaultPart::Process,
            Self::Disconnect | Self::Reconnect => FaultPart::Way,
            Self::FillDisk | Self::FreeDisk => FaultPart::Disk,
            Self::Run => FaultPart::Unknown,
        }
    }
}

/// A part of a node that harm is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPart {
    /// Its process.
    Process,
    /// The way between clients and it.
    Way,
    /// The storage under its data.
    Disk,
    /// Whatever a command of the user's does.
    Unknown,
}

/// What is to be expected of a system, by what is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expected {
    /// It is left in peace.
    #[default]
    Peace,
    /// It may be away for a while, or take no writes.
    Harm,
    /// The same, and it may have no room for what it writes.
    FullDisk,
}

impl Expected {
    /// Where this is done.
    pub fn of(actions: impl IntoIterator<Item = FaultAction>) -> Self {
        actions.into_iter().fold(Self::Peace, |expected, action| match action {
            FaultAction::FillDisk => Self::FullDisk,
            _ if expected == Self::FullDisk => expected,
            _ => Self::Harm,
        })
    }

    /// True when something is done at all.
    #[must_use]
    pub fn is_harm(self) -> bool {
        self != Self::Peace
    }

    /// True for failures that follow from what is done: clients try again, and it is no doubt.
    #[must_use]
    pub fn explains(self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::OutOfResources => self == Self::FullDisk,
            FailureKind::ReadOnly | FailureKind::OutcomeUnknown => self.is_harm(),
            _ => {
                self.is_harm()
                    && matches!(kind.remedy(), Remedy::Reconnect | Remedy::RetryTransaction)
            }
        }
    }
}

impl FaultPlan {
    /// When it is made in a trial for which this share of `within` was drawn (0 to 1), since
    /// measuring began.
    #[must_use]
    pub fn moment(&self, share: f64) -> Nanos {
        Nanos(self.at.0 + (self.within.0 as f64 * share) as u64)
    }

    /// What it is done to, for people.
    #[must_use]
    pub fn object(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.node)
    }
}

/// A fault that was made, or that could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRecord {
    /// What was done.
    pub action: FaultAction,
    /// The node, or the command.
    pub node: String,
    /// When, since the window opened.
    pub at: Nanos,
    /// Why it could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

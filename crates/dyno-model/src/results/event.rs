//! The event stream of a run. Listeners record events, display them or end the run; they cannot
//! change a measurement.

use crate::history::History;
use crate::monitor::MonitorSample;
use crate::reason::Reason;
use crate::record::{IntervalRecord, TrialRecord};
use crate::search::{LoadStep, SearchRecord};
use crate::units::Nanos;
use crate::version::ServerVersion;
use crate::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

crate::named! {
    /// Phases of a trial, in order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Phase {
        /// The schema is created.
        Schema = "schema",
        /// Rows are loaded.
        Load = "load",
        /// Clients connect and prepare their statements.
        Connecting = "connecting",
        /// Clients send transactions that do not count, except towards a target number of rows.
        /// Only progress reports this phase; no event marks its beginning.
        WarmUp = "warm-up",
        /// Clients send transactions that count.
        Measure = "measure",
        /// The data is checked.
        Audit = "audit",
        /// The trial's objects are removed, or kept for the next trial.
        Teardown = "teardown",
    }
}

/// One event; a line of `events.jsonl`, to which the store adds `at` (UTC time).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// Number of trials planned.
        trials: usize,
        /// Version of dyno.
        dyno_version: String,
        /// The kernel's identifier of the current boot; empty when it is unknown. A
        /// resumed run starts with this event again, perhaps after a reboot or on another machine.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        boot: String,
    },
    /// A system is being started or connected to.
    SystemStarting {
        /// Its name.
        system: String,
    },
    /// A system accepts connections.
    SystemReady {
        /// Its name.
        system: String,
        /// Version it reports.
        version: ServerVersion,
        /// Settings read back: those that were requested and those that affect the figures.
        settings: BTreeMap<String, String>,
        /// Names of requested settings that the server cannot report; their values are the
        /// requested ones.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        unread: BTreeSet<String>,
        /// Duration of its start; absent for a system that was already running.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<StartTimes>,
    },
    /// The values of a system's settings before dyno's commands change them for the first time.
    /// They are recorded before the change.
    SettingsNoted {
        /// Its name.
        system: String,
        /// The original values.
        settings: BTreeMap<String, String>,
    },
    /// The original settings of a system are restored.
    SettingsRestored {
        /// Its name.
        system: String,
        /// The original values.
        settings: BTreeMap<String, String>,
    },
    /// A system was stopped.
    SystemStopped {
        /// Its name.
        system: String,
    },
    /// A system could not be started, or it died. Its trials are marked and the run continues with
    /// the other systems.
    SystemFailed {
        /// Its name.
        system: String,
        /// The error, with the last lines of the server's log.
        reason: Reason,
    },
    /// A trial started. Records of an earlier attempt at it are void.
    TrialStarted {
        /// Its id.
        trial: String,
    },
    /// A trial entered a phase.
    PhaseStarted {
        /// Its id.
        trial: String,
        /// The phase.
        phase: Phase,
    },
    /// Progress of a long phase.
    Progress {
        /// Trial.
        trial: String,
        /// Phase.
        phase: Phase,
        /// Units done. Nanoseconds in `warm-up` and `measure` count from the common start.
        done: u64,
        /// Total units.
        total: u64,
        /// Unit: `rows`, `transactions`, `ns`, `connections`.
        unit: ProgressUnit,
    },
    /// A trial that searches for the highest load has completed a load step.
    Stepped {
        /// Its id.
        trial: String,
        /// Number of the load step in its trial, from 1.
        step_number: usize,
        /// The load and the result.
        step: LoadStep,
    },
    /// A trial ended; its record contains all figures.
    TrialFinished(Box<TrialRecord>),
    /// A trial could not be measured.
    TrialFailed {
        /// Its id.
        trial: String,
        /// The reason.
        reason: Reason,
        /// The search that found no passing load.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<Box<SearchRecord>>,
    },
    /// The interim analysis after a block, which decides whether more blocks are needed.
    InterimAnalysis(InterimAnalysis),
    /// A warning about the whole run.
    RunWarning(Warning),
    /// The run ended.
    RunFinished {
        /// True when every trial was measured.
        is_complete: bool,
        /// True when the user ended it.
        is_interrupted: bool,
    },
}

/// The result of the interim analysis after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalysis {
    /// The last measured block.
    pub block: u32,
    /// Questions about throughput that are decided.
    pub decided: u32,
    /// Number of questions.
    pub questions: u32,
    /// Why the run stops after it; absent when the run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
}

/// Why a run ends before its last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every question is decided.
    Decided,
    /// The remaining questions are unlikely to be decided within the budget.
    Hopeless,
    /// Another block does not fit into the budget.
    Budget,
    /// A limit that ends the run failed.
    Limit,
}

/// Duration of the start of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartTimes {
    /// From the start command to the first answer with settings read back: its folder, its system
    /// tables, its program, and the command that prepares its storage. Excludes copying and loading
    /// of data.
    pub starting: Nanos,
    /// Copying its data set; absent when it started empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoring: Option<Nanos>,
}

/// Unit of [`Event::Progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressUnit {
    /// Rows in the tables.
    Rows,
    /// Clients connected.
    Connections,
    /// Transactions committed.
    Transactions,
    /// Nanoseconds of the window.
    Nanoseconds,
}

/// Commits of clients, warm-up included. Times are nanoseconds since the common start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommitActivity {
    /// When it was read.
    pub at: u64,
    /// Commits since the common start.
    pub committed: u64,
    /// The last of them.
    pub last: u64,
}

impl CommitActivity {
    /// The activity of these clients together with that of others: known as far as both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            at: self.at.min(other.at),
            committed: self.committed + other.committed,
            last: self.last.max(other.last),
        }
    }
}

/// A listener that receives all events of a run. It must not block: measuring continues while it
/// runs.
pub trait Listener {
    /// An event happened.
    fn event(&mut self, _event: &Event) {}

    /// All clients are ready and start together after this delay.
    fn clients_begin(&mut self, _from_now: Nanos) {}

    /// An interval of a trial is complete.
    fn interval(&mut self, _interval: &IntervalRecord) {}

    /// `Some`: no transaction has committed since this time after the common start, although
    /// commits are usually frequent. `None`: transactions commit again. Each is reported once,
    /// while it happens, in warm-up and window.
    fn commits_stopped(&mut self, _since: Option<Nanos>) {}

    /// The commit activity of the clients of one of several generators, about four times a second;
    /// [`Self::commits_stopped`] is reported where that of all is known.
    fn commit_activity(&mut self, _activity: CommitActivity) {}

    /// The program of a generator has a message for the terminal.
    fn message_of_generator(&mut self, _text: &str) {}

    /// The monitor took a sample of machine and server.
    fn sample(&mut self, _sample: &MonitorSample) {}

    /// The clients of the measured groups (`None`) or of a background group have ended and recorded
    /// a history.
    fn history(&mut self, _trial: &str, _group: Option<&str>, _history: &Arc<History>) {}
}

/// Ignores all events.
impl Listener for () {}

/// Several listeners, which receive every event in order.
pub struct Listeners<'l>(pub Vec<&'l mut dyn Listener>);

impl Listener for Listeners<'_> {
    fn event(&mut self, event: &Event) {
        self.0.iter_mut().for_each(|listener| listener.event(event));
    }

    fn clients_begin(&mut self, from_now: Nanos) {
        self.0.iter_mut().for_each(|listener| listener.clients_begin(from_now));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.0.iter_mut().for_each(|listener| listener.interval(interval));
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.0.iter_mut().for_each(|listener| listener.commits_stopped(since));
    }

    fn message_of_generator(&mut self, text: &str) {
        self.0.iter_mut().for_each(|listener| listener.message_of_generator(text));
    }

    fn sample(&mut self, sample: &MonitorSample) {
        self.0.iter_mut().for_each(|listener| listener.sample(sample));
    }

    fn history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        self.0.iter_mut().for_each(|listener| listener.history(trial, group, history));
    }
}

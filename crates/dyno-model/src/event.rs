//! The one stream of events of a run. Listeners write it down, show it, or end the run; none can
//! change a measurement.

use crate::history::History;
use crate::monitor::Sample;
use crate::record::{Interval, TrialRecord};
use crate::search::{LoadStep, SearchRecord};
use crate::units::Nanos;
use crate::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

crate::named! {
    /// Phases of a trial, in order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Phase {
        /// Tables are made.
        Schema = "schema",
        /// Rows are loaded.
        Load = "load",
        /// Clients connect and prepare their statements.
        Ramp = "ramp",
        /// All clients work, nothing counts.
        WarmUp = "warm-up",
        /// All clients work and everything counts.
        Measure = "measure",
        /// The data is checked.
        Audit = "audit",
        /// What the trial made is removed, or kept for the next.
        Teardown = "teardown",
    }
}

/// One event; a line of `events.jsonl`, where the store adds `at` (UTC time).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// Number of trials planned.
        trials: usize,
        /// Version of dyno.
        dyno_version: String,
        /// What the kernel calls the time since the machine was started; empty when it does not
        /// tell, and in logs of older versions. A run that is gone on with begins again, perhaps
        /// after a restart or elsewhere.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        boot: String,
    },
    /// A system is being started or connected to.
    SystemStarting {
        /// Its name.
        system: String,
    },
    /// A system answers.
    SystemReady {
        /// Its name.
        system: String,
        /// Version it reports.
        version: String,
        /// Settings read back: those that were asked for and those that matter for the figures.
        settings: BTreeMap<String, String>,
        /// How long its start took; absent for a system that ran already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<StartTimes>,
    },
    /// Values that settings of a system have before dyno's commands change them for the first time.
    /// It is written down before they do.
    SettingsNoted {
        /// Its name.
        system: String,
        /// The original values.
        settings: BTreeMap<String, String>,
    },
    /// A system has its original settings back.
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
    /// A system could not be started or died. Its trials are marked and the run goes on with the
    /// others.
    SystemFailed {
        /// Its name.
        system: String,
        /// What happened, with the last lines of the server's log.
        reason: String,
    },
    /// A trial began. What was written down of an earlier attempt at it counts no more.
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
    /// How far a long phase is.
    Progress {
        /// Trial.
        trial: String,
        /// Phase.
        phase: Phase,
        /// Units done: rows in `load`, transactions or nanoseconds in `measure` (see `unit`).
        done: u64,
        /// Units in all.
        total: u64,
        /// Unit: `rows`, `transactions`, `ns`, `connections`.
        unit: ProgressUnit,
    },
    /// A trial that searches for the highest load has tried one.
    Stepped {
        /// Its id.
        trial: String,
        /// Number of the load step in its trial, from 1.
        number: usize,
        /// Which load, and how it went.
        step: LoadStep,
    },
    /// A trial ended; its record holds all figures.
    TrialFinished(Box<TrialRecord>),
    /// A trial could not be measured at all.
    TrialFailed {
        /// Its id.
        trial: String,
        /// Why.
        reason: String,
        /// The search for the highest load that found none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<Box<SearchRecord>>,
    },
    /// The data were looked at after a block, to see whether more are needed.
    InterimAnalysis(InterimAnalysis),
    /// A doubt about the whole run.
    RunWarning(Warning),
    /// The run ended.
    RunFinished {
        /// True when every trial was measured.
        is_complete: bool,
        /// True when it was ended by the user.
        is_interrupted: bool,
    },
}

/// What was found when the data were looked at after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalysis {
    /// The last block that was measured.
    pub block: u32,
    /// Questions about throughput that are decided.
    pub decided: u32,
    /// Of so many.
    pub questions: u32,
    /// Why nothing is measured after it; absent when the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
}

/// Why a run ends before its last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every question is decided.
    Decided,
    /// None of the others has a fair chance to be decided within the budget.
    Hopeless,
    /// Another block does not fit into the budget.
    Budget,
    /// A limit that ends the run is broken.
    Limit,
}

/// How long the start of a server took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartTimes {
    /// From the order to the first answer with settings read back: its folder, its system tables
    /// and its program, and the command that prepares its storage. Without copying data, and
    /// without loading.
    pub starting: Nanos,
    /// Copying its data set; absent when it began empty.
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

/// Something that hears all events of a run. It must not block: measuring goes on while it works.
pub trait Listener {
    /// An event happened.
    fn event(&mut self, _event: &Event) {}

    /// All clients are ready and begin together, so long from now.
    fn clients_begin(&mut self, _from_now: Nanos) {}

    /// An interval of a trial is complete.
    fn interval(&mut self, _interval: &Interval) {}

    /// Nothing has committed since so long after the first client began (`Some`), although it
    /// usually does; or something has committed again (`None`). Told while it is so, once each, of
    /// warm-up and window.
    fn commits_stopped(&mut self, _since: Option<Nanos>) {}

    /// The monitor looked at machine and server.
    fn sample(&mut self, _sample: &Sample) {}

    /// The clients of the measured groups (`None`) or of a background group have ended and kept a
    /// history.
    fn history(&mut self, _trial: &str, _group: Option<&str>, _history: &Arc<History>) {}
}

/// Several listeners, which hear everything one after another.
pub struct Listeners<'l>(pub Vec<&'l mut dyn Listener>);

impl Listener for Listeners<'_> {
    fn event(&mut self, event: &Event) {
        self.0.iter_mut().for_each(|listener| listener.event(event));
    }

    fn clients_begin(&mut self, from_now: Nanos) {
        self.0.iter_mut().for_each(|listener| listener.clients_begin(from_now));
    }

    fn interval(&mut self, interval: &Interval) {
        self.0.iter_mut().for_each(|listener| listener.interval(interval));
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.0.iter_mut().for_each(|listener| listener.commits_stopped(since));
    }

    fn sample(&mut self, sample: &Sample) {
        self.0.iter_mut().for_each(|listener| listener.sample(sample));
    }

    fn history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        self.0.iter_mut().for_each(|listener| listener.history(trial, group, history));
    }
}

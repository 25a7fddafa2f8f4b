//! Typed doubts about a number. Texts are made by the report's message table.

use crate::monitor::SessionGroup;
use crate::plan::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding weighs; ordered.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The figure is to be read with care.
    Warning,
    /// The figure must not be used.
    Invalid,
}

/// An open loop in which the system did less than this share of what arrived did not keep up.
pub const KEPT_UP: f64 = 0.995;
/// Below this share of what arrived, figures say how long the window was, not what the system does.
pub const KEPT_UP_ENOUGH: f64 = 0.97;
/// A generator that is late by less is not judged, in nanoseconds: a thread that wakes up on a busy
/// machine waits so long for a processor.
pub const LAG_JUDGED: u64 = 5_000_000;
/// A generator that is late by this share of the median response time is worth a warning.
pub const LAG_SHARE: f64 = 0.05;

/// A doubt about one trial or the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub enum Warning {
    /// A generator worker used this share of one core (0 to 1). Warned at 0.70, invalid at 0.90.
    GeneratorBusy {
        /// CPU time over wall time of the busiest worker.
        share: f64,
    },
    /// A generator worker stood still for this share of the window (0 to 1). Warned at 0.03,
    /// invalid at 0.10. Older versions judged clients' time between transactions in its place.
    #[serde(alias = "little-gap")]
    HeldUp {
        /// Time in which the worker neither waited, computed, nor queued for a processor, over its
        /// window.
        share: f64,
    },
    /// The generator shares its processors with the server, so each slows the other.
    SharedMachine,
    /// The generator is a debug build.
    DebugBuild,
    /// Open loop: the system did not do what arrived. Raised and warned below [`KEPT_UP`], invalid
    /// below [`KEPT_UP_ENOUGH`].
    KeptBehind {
        /// Committed transactions over those that arrived.
        share: f64,
        /// Arrivals that were never started.
        unstarted: u64,
    },
    /// Open loop in which more was to arrive than the system can do: it did not do what arrived.
    /// Raised below [`KEPT_UP`].
    Overload {
        /// Committed transactions over those that arrived.
        share: f64,
        /// Arrivals that were never started.
        unstarted: u64,
    },
    /// Open loop: transactions began late although a client was free, so their response times are
    /// partly the generator's. Raised from [`LAG_JUDGED`] and 0.05 on, invalid at 0.25.
    GeneratorLate {
        /// 99th percentile of how late they began, in milliseconds.
        lag_ms: f64,
        /// It over the median response time.
        share: f64,
    },
    /// Some transactions failed for good. Invalid from 0.001 on.
    Failures {
        /// Failed transactions.
        failed: u64,
        /// Share of all transactions.
        share: f64,
    },
    /// Transactions were cut off at the end of the grace period.
    Unfinished {
        /// How many.
        unfinished: u64,
    },
    /// Transactions were not begun because they were too late: pgbench's rate with a latency limit.
    Skipped {
        /// How many.
        skipped: u64,
        /// Share of all transactions.
        share: f64,
    },
    /// The measured window is shorter than this many seconds; figures are coarse.
    ShortWindow {
        /// Its length in seconds.
        seconds: f64,
    },
    /// The window holds few transactions of each client one after the other, so figures depend on
    /// single ones. Raised below 10.
    FewWaves {
        /// Length of the window over the mean response time.
        waves: f64,
    },
    /// Fewer transactions than a percentile needs.
    FewTransactions {
        /// How many there were.
        committed: u64,
    },
    /// Half a second or more without a single commit inside the window. The longest ones of a trial
    /// are told.
    Stall {
        /// Gap between two commits, in seconds.
        longest_gap: f64,
        /// When it began, seconds since the window opened.
        at: f64,
        /// What the server said its sessions were doing then, the look with most waiting sessions,
        /// most frequent first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sessions: Vec<SessionGroup>,
    },
    /// Throughput fell below a tenth of the median second before it, for a while.
    Collapse {
        /// When it began, seconds since the window opened.
        at: f64,
        /// How long it lasted, in seconds.
        seconds: f64,
        /// Transactions committed meanwhile.
        committed: u64,
        /// The median second before it, transactions per second.
        usual: f64,
        /// What the server said its sessions were doing then, the look with most waiting sessions,
        /// most frequent first.
        sessions: Vec<SessionGroup>,
    },
    /// The window began before the system had warmed up: its beginning stands apart from the rest
    /// and moves the trial's figure. Judged when a report is made, from the timeline.
    WarmUpLeft {
        /// Throughput or mean response time.
        metric: Metric,
        /// Length of this beginning, in seconds.
        seconds: f64,
        /// The figure over the figure without this beginning, minus 1. Raised from 0.02 on.
        share: f64,
    },
    /// The trial still changed in one direction to its end. Judged when a report is made, from the
    /// timeline.
    Drift {
        /// Throughput or mean response time.
        metric: Metric,
        /// Change from the beginning of the window, without its warm-up, to its end, over the mean.
        /// Raised from 0.02 on.
        share: f64,
    },
    /// Nearly all clients' sessions waited for the same, in at least half of all looks.
    SameWait {
        /// What for, in the server's words.
        wait: String,
        /// The statement that most of them were in, without its literals; perhaps empty.
        statement: String,
        /// Share of the looks, 0 to 1.
        share: f64,
        /// Sessions waiting in the look that had most.
        sessions: u32,
    },
    /// The monitor took this share of one processor (0 to 1), its questions to the server included.
    /// Warned at 0.01.
    MonitorCost {
        /// Processor time over the time of the window.
        share: f64,
    },
    /// The trial stopped before its stop rule was met.
    CutShort {
        /// Why.
        reason: String,
    },
    /// The system died or could not be used.
    SystemFailed {
        /// What happened.
        reason: String,
    },
    /// The server was started anew within the trial: what it had in memory was gone, and its
    /// counters began again.
    ServerRestarted {
        /// How long it had been up at the end, in seconds.
        up: u64,
    },
    /// A fault that the spec asks for could not be made.
    FaultNotMade {
        /// What was to be done, and to which node.
        what: String,
        /// Why it was not.
        reason: String,
    },
    /// The books do not balance: a bug of dyno.
    CountersUnbalanced {
        /// The identities that do not hold.
        identities: Vec<String>,
    },
    /// The audit found the data violated.
    AuditViolated,
    /// In which of the databases that clients were spread over it did.
    ViolatedIn {
        /// Their names.
        databases: Vec<String>,
    },
    /// The audit could not be run.
    AuditNotRun {
        /// Why.
        reason: String,
    },
    /// Sessions of clients were still at work on the server when the data was checked, although
    /// they were told to end.
    Unsettled {
        /// How many.
        sessions: u64,
    },
    /// Other sessions were connected to the server.
    ForeignSessions {
        /// How many.
        sessions: u64,
    },
    /// The host lost this share of CPU time to other guests during the window.
    Steal {
        /// 0 to 1. Warned at 0.01, invalid at 0.05.
        share: f64,
    },
    /// Processes that are neither dyno's nor the server's worked on the machine that the generator
    /// runs on.
    OtherProcessesCpu {
        /// Share of the processor time of all its processors, 0 to 1. Raised and warned from 0.03
        /// on.
        share: f64,
        /// The busiest of them.
        processes: Vec<BusyProcess>,
    },
    /// The server's own statement counters differ from ours by more than explained.
    CountersDiffer {
        /// Counter of the server.
        counter: String,
        /// Our count.
        ours: u64,
        /// The server's count.
        theirs: u64,
    },
    /// The trials of a block were not measured in one go: the machine was started anew between
    /// them, or they were measured on several machines.
    BlockRestarted {
        /// Which block, from 1.
        block: u32,
    },
    /// The trials of a block were not measured in one go: a long time passed between two that
    /// follow each other.
    BlockApart {
        /// Which block, from 1.
        block: u32,
        /// From the end of one to the beginning of the next. Raised from 1 on.
        hours: f64,
    },
    /// The server has a setting with the next value that it can have, not with the one that was
    /// asked for.
    SettingRounded {
        /// Name of the system.
        system: String,
        /// The setting.
        name: String,
        /// The value asked for.
        asked: String,
        /// The value in force.
        in_force: String,
    },
    /// Another program measured this; what it did not write down is not known.
    Imported {
        /// The program.
        source: String,
    },
    /// The program that measured this warned of something.
    ProgramWarned {
        /// The first line that it wrote, in its words.
        text: String,
        /// How many such lines it wrote.
        lines: u64,
    },
    /// The program that measured this counted other numbers of transactions and of events; the
    /// figures are of events.
    EventsCounted {
        /// What it calls transactions.
        transactions: u64,
        /// What it calls events.
        events: u64,
    },
    /// Results were written later than they came: the disk under the results folder is slow.
    RecordingBehind {
        /// The longest time from handing something over to its being written. Told from 5 on.
        seconds: f64,
        /// For how many seconds the generator had to wait, because too much was waiting. Warned
        /// when it had to.
        held_up: f64,
    },
    /// A warning about a background workload.
    Background {
        /// Its name.
        name: String,
        /// The doubt. What only makes its own figures coarse is a note here.
        inner: Box<Warning>,
    },
    /// Statements were sent as text, because with parameters they would be others or none. Their
    /// times hold parsing each time.
    SentAsText {
        /// Their names, at most a few.
        statements: String,
    },
    /// Something the run could not record.
    RecordingIncomplete {
        /// What.
        what: String,
    },
    /// A database could not be locked against other runs of dyno.
    DatabaseNotLocked {
        /// Its name.
        database: String,
        /// Why.
        reason: String,
    },
    /// A database that a trial was only to read was changed, and other sessions were there that may
    /// have done it.
    ChangedByOthers {
        /// Its name.
        database: String,
    },
    /// Something the run could not stop, remove or restore.
    CleanUpIncomplete {
        /// What.
        what: String,
    },
}

/// Processes of one name and what they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyProcess {
    /// As the kernel knows it, without arguments.
    pub name: String,
    /// Processor time per time: 1 is one processor all the time.
    pub processors: f64,
}

impl Warning {
    /// True for what follows from a fault that was made on purpose: it is what the trial is to
    /// show, and no doubt about its figures.
    #[must_use]
    pub fn is_effect_of_fault(&self) -> bool {
        matches!(
            self,
            Self::KeptBehind { .. }
                | Self::Unfinished { .. }
                | Self::Stall { .. }
                | Self::Collapse { .. }
                | Self::WarmUpLeft { .. }
                | Self::Drift { .. }
                | Self::SameWait { .. }
                | Self::ServerRestarted { .. }
                | Self::CountersDiffer { .. }
        )
    }

    /// True for what is a doubt only where the load is the same throughout a trial.
    #[must_use]
    pub fn is_of_even_load(&self) -> bool {
        matches!(self, Self::Collapse { .. })
    }

    /// True when the load generator was at its limit.
    #[must_use]
    pub fn is_of_generator(&self) -> bool {
        matches!(
            self,
            Self::GeneratorBusy { .. } | Self::HeldUp { .. } | Self::GeneratorLate { .. }
        )
    }

    /// True when a background workload with this warning was not the load that was asked for, or
    /// left data that are not right.
    fn spoils_as_background(&self) -> bool {
        matches!(
            self,
            Self::GeneratorBusy { .. }
                | Self::HeldUp { .. }
                | Self::GeneratorLate { .. }
                | Self::AuditViolated
                | Self::AuditNotRun { .. }
                | Self::Unsettled { .. }
                | Self::CutShort { .. }
                | Self::SystemFailed { .. }
                | Self::CountersUnbalanced { .. }
        )
    }

    /// How much it weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let graded = |value: f64, warn: f64, invalid: f64| match value {
            v if v >= invalid => Severity::Invalid,
            v if v >= warn => Severity::Warning,
            _ => Severity::Note,
        };
        match self {
            Self::GeneratorBusy { share } => graded(*share, 0.70, 0.90),
            Self::HeldUp { share } => graded(*share, 0.03, 0.10),
            Self::GeneratorLate { share, .. } => graded(*share, LAG_SHARE, 0.25),
            Self::KeptBehind { share, .. } if *share < KEPT_UP_ENOUGH => Severity::Invalid,
            // The trial may be meant to show that the background workload is slower or fails.
            Self::Background { inner, .. } if inner.spoils_as_background() => inner.severity(),
            Self::Background { inner, .. } => match **inner {
                Self::KeptBehind { .. } | Self::Failures { .. } => Severity::Warning,
                _ => Severity::Note,
            },
            Self::Steal { share } => graded(*share, 0.01, 0.05),
            Self::Failures { share, .. } => graded(*share, 0.0, 0.001),
            Self::OtherProcessesCpu { share, .. } => graded(*share, 0.03, f64::INFINITY),
            Self::RecordingBehind { held_up, .. } if *held_up > 0.0 => Severity::Warning,
            Self::MonitorCost { share } => graded(*share, 0.01, f64::INFINITY),
            Self::SharedMachine
            | Self::SentAsText { .. }
            | Self::SettingRounded { .. }
            | Self::Imported { .. }
            | Self::ShortWindow { .. }
            | Self::Skipped { .. }
            | Self::Overload { .. }
            | Self::FewTransactions { .. }
            | Self::RecordingBehind { .. }
            | Self::SameWait { .. } => Severity::Note,
            Self::DebugBuild
            | Self::KeptBehind { .. }
            | Self::Unfinished { .. }
            | Self::FewWaves { .. }
            | Self::Stall { .. }
            | Self::Collapse { .. }
            | Self::WarmUpLeft { .. }
            | Self::Drift { .. }
            | Self::AuditViolated
            | Self::ViolatedIn { .. }
            | Self::AuditNotRun { .. }
            | Self::Unsettled { .. }
            | Self::ForeignSessions { .. }
            | Self::CountersDiffer { .. }
            | Self::BlockRestarted { .. }
            | Self::BlockApart { .. }
            | Self::ProgramWarned { .. }
            | Self::EventsCounted { .. }
            | Self::RecordingIncomplete { .. }
            | Self::DatabaseNotLocked { .. }
            | Self::ChangedByOthers { .. }
            | Self::CleanUpIncomplete { .. } => Severity::Warning,
            Self::CutShort { .. }
            | Self::SystemFailed { .. }
            | Self::ServerRestarted { .. }
            | Self::FaultNotMade { .. }
            | Self::CountersUnbalanced { .. } => Severity::Invalid,
        }
    }
}

//! Typed warnings about figures. The report's message table contains their texts.

use crate::fault::FaultAction;
use crate::monitor::SessionGroup;
use crate::plan::ComparisonMetric;
use crate::reason::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several load generators, as warnings name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorName {
    /// Its number, from 0.
    pub number: u32,
    /// Name of its machine.
    pub host: String,
}

/// Severity of a warning; ordered.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The figure needs careful interpretation.
    Warning,
    /// The figure must not be used.
    Invalid,
}

/// In an open loop, a system that processed less than this share of the arrivals did not keep up.
pub const KEPT_UP: f64 = 0.995;
/// Below this share of the arrivals, figures depend on the length of the window, not on the system.
pub const KEPT_UP_ENOUGH: f64 = 0.97;
/// Smaller delays of the generator are ignored, in nanoseconds: a thread that wakes up on a busy
/// machine waits that long for a processor.
pub const LAG_JUDGED: u64 = 5_000_000;
/// A generator delay of this share of the median response time causes a warning.
pub const LAG_SHARE: f64 = 0.05;

/// A warning about one trial or the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub enum Warning {
    /// A generator worker used this share of one core (0 to 1). Warned at 0.70, invalid at 0.90.
    GeneratorBusy {
        /// CPU time over wall time of the busiest worker.
        share: f64,
    },
    /// A generator worker was stalled for this share of the window (0 to 1). Warned at 0.03,
    /// invalid at 0.10. Older versions judged clients' time between transactions instead.
    #[serde(alias = "little-gap")]
    Stalled {
        /// Time in which the worker neither waited, computed, nor queued for a processor, divided
        /// by its window.
        share: f64,
    },
    /// The generator shares its processors with the server, so each slows the other.
    SharedMachine,
    /// The generator is a debug build.
    DebugBuild,
    /// Open loop: the system did not process all arrivals. Raised and warned below [`KEPT_UP`],
    /// invalid below [`KEPT_UP_ENOUGH`].
    FellBehind {
        /// Committed transactions over those that arrived.
        share: f64,
        /// Arrivals that were never started.
        unstarted: u64,
    },
    /// Open loop with deliberate overload: the system did not process all arrivals. Raised below
    /// [`KEPT_UP`].
    Overload {
        /// Committed transactions over those that arrived.
        share: f64,
        /// Arrivals that were never started.
        unstarted: u64,
    },
    /// Open loop: transactions started late although a client was free, so their response times
    /// include delays of the generator. Raised from [`LAG_JUDGED`] and 0.05 on, invalid at 0.25.
    GeneratorLate {
        /// 99th percentile of the delays, in milliseconds.
        lag_ms: f64,
        /// That percentile divided by the median response time.
        share: f64,
    },
    /// Some transactions failed for good. Invalid from 0.001 on.
    Failures {
        /// Failed transactions.
        failed: u64,
        /// Share of all transactions.
        share: f64,
    },
    /// So many transactions failed that the trial would be invalid, but fewer than a limit of the
    /// user's permits.
    ToleratedFailures {
        /// Failed transactions.
        failed: u64,
        /// Share of all transactions.
        share: f64,
        /// The share that the limit permits.
        limit: f64,
    },
    /// Transactions were cut off at the end of the grace period.
    Unfinished {
        /// Number of transactions.
        unfinished: u64,
    },
    /// Transactions were skipped because they were too late: pgbench's rate with a latency limit.
    Skipped {
        /// Number of transactions.
        skipped: u64,
        /// Share of all transactions.
        share: f64,
    },
    /// The measured window is shorter than this many seconds; figures are coarse.
    ShortWindow {
        /// Its length in seconds.
        seconds: f64,
    },
    /// The window contains few consecutive transactions of each client, so figures depend on single
    /// ones. Raised below 10.
    FewWaves {
        /// Length of the window divided by the mean response time and think time.
        waves: f64,
    },
    /// Fewer transactions than a percentile needs.
    FewTransactions {
        /// Number of transactions.
        committed: u64,
    },
    /// Half a second or more without a single commit inside the window. Only the longest ones of a
    /// trial are reported.
    Stall {
        /// Gap between two commits, in seconds.
        longest_gap: f64,
        /// Start, seconds since the window opened.
        at: f64,
        /// Activity of the server's sessions at that time, from the sample with most waiting
        /// sessions, most frequent first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sessions: Vec<SessionGroup>,
    },
    /// Throughput fell temporarily below a tenth of the median second before it.
    Collapse {
        /// Start, seconds since the window opened.
        at: f64,
        /// Duration in seconds.
        seconds: f64,
        /// Transactions committed during it.
        committed: u64,
        /// The median second before it, transactions per second.
        usual: f64,
        /// Activity of the server's sessions at that time, from the sample with most waiting
        /// sessions, most frequent first.
        sessions: Vec<SessionGroup>,
    },
    /// The window opened before the system had warmed up: its initial part differs from the rest
    /// and biases the trial's figure. Evaluated when a report is generated, from the timeline.
    WarmUpLeft {
        /// Throughput or mean response time.
        metric: ComparisonMetric,
        /// Length of the initial part, in seconds.
        seconds: f64,
        /// The figure divided by the figure without the initial part, minus 1. Raised from 0.02 on.
        share: f64,
    },
    /// The trial still had a trend at its end. Evaluated when a report is generated, from the
    /// timeline.
    Drift {
        /// Throughput or mean response time.
        metric: ComparisonMetric,
        /// Change from the start of the window, without its initial warm-up, to its end, divided by
        /// the mean. Raised from 0.02 on.
        share: f64,
    },
    /// Nearly all client sessions waited for the same event, in at least half of all samples.
    SameWait {
        /// The wait event, as the server names it.
        wait: String,
        /// The statement that most of them executed, without its literals; possibly empty.
        statement: String,
        /// Share of the samples, 0 to 1.
        share: f64,
        /// Sessions waiting in the sample that had most.
        sessions: u32,
    },
    /// The monitor used this share of one processor (0 to 1), including its queries on the server.
    /// Warned at 0.01.
    MonitorCost {
        /// Processor time divided by the length of the window.
        share: f64,
    },
    /// The trial stopped before its stop rule was met.
    CutShort {
        /// Reason.
        reason: Reason,
    },
    /// The system died or became unusable.
    SystemFailed {
        /// Error.
        reason: Reason,
    },
    /// The server restarted during the trial: its caches were lost, and its counters were reset.
    ServerRestarted {
        /// Its uptime at the end, in seconds.
        up: u64,
    },
    /// A fault of the spec could not be injected.
    FaultNotInjected {
        /// The action.
        action: FaultAction,
        /// The node, or the command that was run.
        node: String,
        /// Reason.
        reason: String,
    },
    /// The counters do not add up: a bug in dyno.
    CountersUnbalanced {
        /// The violated identities.
        identities: Vec<String>,
    },
    /// The audit found the data violated.
    AuditViolated,
    /// The databases with violations, when clients work in several.
    ViolatedIn {
        /// Their names.
        databases: Vec<String>,
    },
    /// The audit could not be run.
    AuditNotRun {
        /// Reason.
        reason: Reason,
    },
    /// Client sessions were still active on the server when the data was checked, although they had
    /// been terminated.
    Unsettled {
        /// Number of sessions.
        sessions: u64,
    },
    /// Other sessions were connected to the server.
    ForeignSessions {
        /// Number of sessions.
        sessions: u64,
    },
    /// The VM lost this share of its CPU time to other guests (steal) during the window.
    Steal {
        /// 0 to 1. Warned at 0.01, invalid at 0.05.
        share: f64,
    },
    /// Processes other than dyno and the server used CPU time on the generator's machine.
    OtherProcessesCpu {
        /// Share of the processor time of all its processors, 0 to 1. Raised and warned from 0.03
        /// on.
        share: f64,
        /// The processes with the highest CPU usage.
        processes: Vec<BusyProcess>,
    },
    /// The difference between the server's statement counters and ours is larger than explained.
    CountersDiffer {
        /// Counter of the server.
        counter: String,
        /// Our count.
        ours: u64,
        /// The server's count.
        theirs: u64,
    },
    /// The server did not report its number of commits, or it is unknown which of the last COMMITs
    /// it executed, so dyno's count was not checked against it.
    CommitsNotCompared {
        /// The server's counter.
        counter: String,
        /// Transactions whose connection ended before their result was known; 0 if the server did
        /// not report the counter.
        #[serde(default)]
        in_doubt: u64,
    },
    /// The server rejected a statement without which the run continued.
    StatementRefused {
        /// The statement.
        statement: String,
        /// The server's error.
        reason: String,
    },
    /// The server did not report its settings, so the results do not name them.
    SettingsNotRead {
        /// Name of the system.
        system: String,
        /// The server's error.
        reason: String,
    },
    /// The trials of a block were not measured in one session: the machine was rebooted between
    /// them, or they were measured on several machines.
    BlockRestarted {
        /// The block, from 1.
        block: u32,
    },
    /// The trials of a block were not measured in one session: a long time passed between two
    /// consecutive trials.
    BlockApart {
        /// The block, from 1.
        block: u32,
        /// Time from the end of one to the start of the next. Raised from 1 on.
        hours: f64,
    },
    /// The server uses the nearest possible value of a setting instead of the requested one.
    SettingRounded {
        /// Name of the system.
        system: String,
        /// The setting.
        name: String,
        /// The value asked for.
        requested: String,
        /// The value in force.
        in_force: String,
    },
    /// Another program measured this; data that it did not record is unknown.
    Imported {
        /// The program.
        source: String,
    },
    /// The program that measured this reported a warning.
    ProgramWarned {
        /// The first such line, verbatim.
        text: String,
        /// Number of such lines.
        lines: u64,
    },
    /// The program that measured this reported different numbers of transactions and events; the
    /// figures count events.
    EventsCounted {
        /// Number of transactions, as it defines them.
        transactions: u64,
        /// Number of events, as it defines them.
        events: u64,
    },
    /// Results were written with a delay: the disk of the results folder is slow.
    RecordingBehind {
        /// The longest time between handing over data and writing it. Reported from 5 on.
        seconds: f64,
        /// Seconds for which the generator had to wait because the queue was full. Warned when it
        /// had to wait.
        held_up: f64,
    },
    /// A warning about a background workload.
    Background {
        /// Its name.
        name: String,
        /// The warning. A warning that only makes the group's figures less precise is a note here.
        inner: Box<Warning>,
    },
    /// A warning about some of several load generators, each of which is judged by itself.
    OfGenerators {
        /// These generators.
        generators: Vec<GeneratorName>,
        /// The worst of their warnings.
        inner: Box<Warning>,
    },
    /// The clock of a load generator could not be compared exactly with the coordinator's. Warned
    /// at 0.10.
    ClockUncertain {
        /// Largest possible error of its times during the trial, in milliseconds.
        error_ms: f64,
        /// That error divided by the length of an interval.
        share: f64,
    },
    /// Statements were sent as text, because with parameters they would have a different meaning or
    /// be invalid. Their times include parsing each time.
    SentAsText {
        /// Their names, at most a few.
        statements: String,
    },
    /// A workload derived from a standard ran without its keying and think times.
    Unpaced,
    /// A workload derived from a standard ran with its keying and think times. Invalid when more
    /// transactions were counted than these allow.
    Paced {
        /// Transactions divided by the most that keying and think times allow.
        share: f64,
        /// Number of transactions.
        committed: u64,
    },
    /// Data that the run could not record.
    RecordingIncomplete {
        /// Description.
        what: String,
    },
    /// A database could not be locked against concurrent runs of dyno.
    DatabaseNotLocked {
        /// Its name.
        database: String,
        /// Reason.
        reason: String,
    },
    /// A database that a trial was only supposed to read was changed, and other sessions were
    /// connected that may have changed it.
    ChangedByOthers {
        /// Its name.
        database: String,
    },
    /// An object that the run could not stop, remove or restore.
    CleanUpIncomplete {
        /// Description.
        what: String,
    },
}

/// Processes with the same name and their CPU usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyProcess {
    /// Name in the kernel, without arguments.
    pub name: String,
    /// Processor time divided by elapsed time: 1 is one fully used processor.
    pub processors: f64,
}

/// Standard deviations by which a count may exceed what pacing allows.
const PACED_DEVIATIONS: f64 = 4.0;

impl Warning {
    /// True for effects of injected faults: the trial is meant to show them, so they are not a
    /// warning about its figures.
    #[must_use]
    pub fn is_effect_of_fault(&self) -> bool {
        matches!(
            self,
            Self::FellBehind { .. }
                | Self::Unfinished { .. }
                | Self::Stall { .. }
                | Self::Collapse { .. }
                | Self::WarmUpLeft { .. }
                | Self::Drift { .. }
                | Self::SameWait { .. }
                | Self::ServerRestarted { .. }
                | Self::CountersDiffer { .. }
                | Self::CommitsNotCompared { .. }
        )
    }

    /// True for warnings that only apply when the load is constant throughout a trial.
    #[must_use]
    pub fn is_of_even_load(&self) -> bool {
        matches!(self, Self::Collapse { .. })
    }

    /// The warning itself, whichever of several load generators it is about.
    #[must_use]
    pub fn of_any_generator(&self) -> &Self {
        if let Self::OfGenerators { inner, .. } = self { inner } else { self }
    }

    /// True when the load generator was at its limit.
    #[must_use]
    pub fn is_of_generator(&self) -> bool {
        matches!(
            self.of_any_generator(),
            Self::GeneratorBusy { .. } | Self::Stalled { .. } | Self::GeneratorLate { .. }
        )
    }

    /// True when a background workload with this warning did not apply the requested load, or left
    /// incorrect data.
    fn spoils_as_background(&self) -> bool {
        matches!(
            self,
            Self::GeneratorBusy { .. }
                | Self::Stalled { .. }
                | Self::GeneratorLate { .. }
                | Self::AuditViolated
                | Self::AuditNotRun { .. }
                | Self::Unsettled { .. }
                | Self::CutShort { .. }
                | Self::SystemFailed { .. }
                | Self::CountersUnbalanced { .. }
        )
    }

    /// The severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let graded = |value: f64, warn: f64, invalid: f64| match value {
            v if v >= invalid => Severity::Invalid,
            v if v >= warn => Severity::Warning,
            _ => Severity::Note,
        };
        match self {
            Self::GeneratorBusy { share } => graded(*share, 0.70, 0.90),
            Self::Stalled { share } => graded(*share, 0.03, 0.10),
            Self::GeneratorLate { share, .. } => graded(*share, LAG_SHARE, 0.25),
            Self::FellBehind { share, .. } if *share < KEPT_UP_ENOUGH => Severity::Invalid,
            // The trial may be meant to show that the background workload becomes slower or fails.
            Self::Background { inner, .. } if inner.spoils_as_background() => inner.severity(),
            Self::OfGenerators { inner, .. } => inner.severity(),
            Self::ClockUncertain { share, .. } => graded(*share, 0.10, f64::INFINITY),
            Self::Background { inner, .. } => match **inner {
                Self::FellBehind { .. } | Self::Failures { .. } => Severity::Warning,
                _ => Severity::Note,
            },
            // Think times are random: so many standard deviations of a Poisson process above it.
            Self::Paced { share, committed } => match (share - 1.0) * (*committed as f64).sqrt() {
                excess if excess > PACED_DEVIATIONS => Severity::Invalid,
                _ => Severity::Note,
            },
            Self::Steal { share } => graded(*share, 0.01, 0.05),
            Self::Failures { share, .. } => graded(*share, 0.0, 0.001),
            Self::OtherProcessesCpu { share, .. } => graded(*share, 0.03, f64::INFINITY),
            Self::RecordingBehind { held_up, .. } if *held_up > 0.0 => Severity::Warning,
            Self::MonitorCost { share } => graded(*share, 0.01, f64::INFINITY),
            Self::SharedMachine
            | Self::SentAsText { .. }
            | Self::Unpaced
            | Self::SettingRounded { .. }
            | Self::SettingsNotRead { .. }
            | Self::CommitsNotCompared { .. }
            | Self::StatementRefused { .. }
            | Self::Imported { .. }
            | Self::ShortWindow { .. }
            | Self::Skipped { .. }
            | Self::Overload { .. }
            | Self::FewTransactions { .. }
            | Self::RecordingBehind { .. }
            | Self::SameWait { .. } => Severity::Note,
            Self::DebugBuild
            | Self::FellBehind { .. }
            | Self::ToleratedFailures { .. }
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
            | Self::FaultNotInjected { .. }
            | Self::CountersUnbalanced { .. } => Severity::Invalid,
        }
    }
}

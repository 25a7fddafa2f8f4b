//! Data model of a comparison of two sides, and its JSON form.

pub use super::difference::{Difference, Differing, Property, Value, Word};
use crate::model::{
    Effect, Estimate, Interaction, LimitVerdict, MeanTimelinePoint, NotWorking, Range, RatioBound,
    SystemVersion, Varied, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::limit::{LimitMetric, LimitPart};
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::{Severity, Warning};
use dyno_store::Problem;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the JSON form. A reader of version N understands every comparison of version N,
/// including those with additional fields.
pub const COMPARE_FORMAT: u32 = 1;

/// A comparison of two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareModel {
    /// [`COMPARE_FORMAT`] of the writer.
    pub compare_format: u32,
    /// Its title; absent if it is derived from the titles of the sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The number of comparisons per verdict, and the overall verdict.
    pub outcome: Outcome,
    /// The reference side.
    pub base: SideRow,
    /// The judged side.
    pub new: SideRow,
    /// The reasons why the sides are hard to compare, worst first.
    pub warnings: Vec<CompareWarning>,
    /// One effect over all configurations for each metric with figures, the primary metric first;
    /// with a single configuration, its own effect.
    pub overall: Vec<OverallEffect>,
    /// The same for the mean time of each kind of statement.
    pub statements: Vec<OverallEffect>,
    /// The results of each side's limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitPair>,
    /// Configurations that both sides have.
    pub configurations: Vec<ConfigurationPair>,
    /// The time series of their trials, if there is no curve over clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<TimelinePair>,
    /// Configurations that only the base has.
    pub only_base: Vec<ConfigurationName>,
    /// Configurations that only the new side has.
    pub only_new: Vec<ConfigurationName>,
    /// The rules behind the verdicts.
    pub rules: CompareRules,
}

impl CompareModel {
    /// The effect on the primary metric, reported first; `None` if no figure can be compared.
    #[must_use]
    pub fn headline(&self) -> Option<&OverallEffect> {
        self.overall.first()
    }

    /// Effects over all configurations; empty for a single configuration.
    pub fn over_configurations(&self) -> impl Iterator<Item = &OverallEffect> {
        self.overall.iter().filter(|_| self.configurations.len() > 1)
    }

    /// Decided effects: better, worse or equivalent; that on the primary metric first.
    pub fn decided(&self) -> impl Iterator<Item = &OverallEffect> {
        self.overall.iter().filter(|it| it.effect.verdict.is_some_and(Verdict::is_decided))
    }

    /// Effects that the data could not decide.
    pub fn undecided(&self) -> impl Iterator<Item = &OverallEffect> {
        self.overall.iter().filter(|it| it.effect.verdict == Some(Verdict::Inconclusive))
    }

    /// The configuration whose figures are reported first: the one with the best value of the
    /// primary metric, taking the better side of each.
    #[must_use]
    pub fn headline_configuration(&self) -> Option<&ConfigurationPair> {
        let metric = self.headline()?.metric;
        let worth = |pair: &ConfigurationPair| {
            let of = pair.metrics.iter().find(|it| it.metric == metric)?;
            let means = [of.base, of.new].into_iter().flatten().map(|estimate| estimate.mean);
            means.map(|mean| if metric.is_more_better() { mean } else { -mean }).reduce(f64::max)
        };
        let all = self.configurations.iter().filter_map(|pair| Some((pair, worth(pair)?)));
        all.reduce(|one, other| if other.1 > one.1 { other } else { one }).map(|(pair, _)| pair)
    }

    /// All comparisons, each with its configuration.
    pub fn comparisons(&self) -> impl Iterator<Item = (&ConfigurationPair, &MetricPair)> {
        self.configurations
            .iter()
            .flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)))
    }
}

/// The number of comparisons per verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdict on the primary metric: worse if it is worse in any configuration or over all,
    /// then invalid, better, equivalent, inconclusive. If the primary metric does not differ and
    /// another is worse: worse.
    pub verdict: Verdict,
    /// Total number of comparisons.
    pub comparisons: u32,
    /// New is better.
    pub better: u32,
    /// New is worse.
    pub worse: u32,
    /// Equivalent.
    pub equivalent: u32,
    /// Not decided.
    pub inconclusive: u32,
    /// No usable figures.
    pub invalid: u32,
    /// Comparisons that could not be made, for lack of valid trials or of transactions. Those that
    /// are undecided for lack of trials count as inconclusive, too.
    #[serde(default)]
    pub not_made: u32,
    /// Those of the invalid comparisons in which the new side did not work in some or all of its
    /// trials.
    pub not_working: u32,
    /// Metrics in which new is better over all configurations.
    pub better_over_all: u32,
    /// Metrics in which new is worse over all configurations.
    pub worse_over_all: u32,
}

impl Outcome {
    /// The number of comparisons with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> u32 {
        match verdict {
            Verdict::Better => self.better,
            Verdict::Worse => self.worse,
            Verdict::Equivalent => self.equivalent,
            Verdict::Inconclusive => self.inconclusive,
            Verdict::Invalid => self.invalid,
        }
    }
}

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideName {
    /// The reference side.
    Base,
    /// The judged side.
    New,
}

/// The name on the command line.
impl fmt::Display for SideName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Base { "BASE" } else { "NEW" })
    }
}

/// A side: one run, or several pooled runs of the same experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// The folder as the user named it.
    pub folder: String,
    /// The experiment's title.
    pub title: String,
    /// Its runs in the order in which they began.
    pub runs: Vec<RunRow>,
    /// Its systems; one with several versions more than once.
    pub systems: Vec<SystemVersion>,
    /// Trials planned by all runs.
    pub trials_planned: u32,
    /// Trials with figures.
    pub trials_measured: u32,
    /// Trials whose figures may be used.
    pub trials_valid: u32,
}

/// One run of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Name of its folder.
    pub run: String,
    /// UTC time at which it began, RFC 3339; empty if it did not begin.
    pub started_at: String,
    /// UTC time of its last event, RFC 3339.
    pub ended_at: String,
}

/// The name of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationName {
    /// System.
    pub system: String,
    /// Levels by factor.
    pub levels: Vec<Level>,
    /// Workload.
    pub workload: String,
    /// Number of clients.
    pub clients: u32,
    /// System with the levels that vary, as named in reports.
    pub label: String,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Level {
    /// Factor, as in the spec.
    pub factor: String,
    /// Its level in this configuration.
    pub level: String,
}

/// A configuration that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationPair {
    /// Its name in the base.
    #[serde(flatten)]
    pub name: ConfigurationName,
    /// The new side's system if its name differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_new: Option<String>,
    /// Counters and audit of the base.
    pub base: SideFigures,
    /// Counters and audit of the new side.
    pub new: SideFigures,
    /// One comparison per metric.
    pub metrics: Vec<MetricPair>,
    /// Metrics that are not compared because a trial of a side has no such figure, for example a
    /// percentile with too few transactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_figures: Vec<ComparisonMetric>,
}

/// A side's figures for a configuration other than the metrics; sums over measured trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SideFigures {
    /// Trials with figures.
    pub trials_measured: u32,
    /// Trials whose figures may be used.
    pub trials_valid: u32,
    /// Open loop: transactions that were due; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: due transactions that were never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Trials in which the configuration did not work; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_working: Option<NotWorking>,
    /// Transactions committed in the trials whose figures may be used.
    pub committed: u64,
    /// Transactions given up.
    pub failed: Option<u64>,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: Option<u64>,
    /// Acknowledged updates that are missing from the data; absent without an audit.
    pub lost: Option<u64>,
    /// The worst verdict of the audits.
    pub audit: AuditVerdict,
}

/// One metric of one configuration on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricPair {
    /// The compared metric.
    pub metric: ComparisonMetric,
    /// Mean over the base's valid trials.
    pub base: Option<Estimate>,
    /// Mean over the new side's valid trials.
    pub new: Option<Estimate>,
    /// New over base (geometric means); absent if a compared trial has no such figure, or a side
    /// did not work in some of its trials.
    pub ratio: Option<f64>,
    /// Direction of the bound if a side's figures are only lower bounds; absent if both are values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    /// Interval of the ratio (Welch) at `interval_level`; absent with too few trials, and if the
    /// ratio is a bound.
    pub ratio_interval: Option<Range>,
    /// Confidence of the interval, 0 to 1, with the same correction as the verdict
    /// ([`crate::stats::gate`]).
    pub interval_level: Option<f64>,
    /// Two-sided p-value; absent without a test.
    pub p: Option<f64>,
    /// p-value after the correction by the gate ([`crate::stats::gate`]).
    pub p_corrected: Option<f64>,
    /// Smallest ratio that would have been detected four times in five, as `1 + effect`; absent
    /// without a test.
    pub detectable_ratio: Option<f64>,
    /// For an inconclusive comparison: the number of valid trials that each side needs to detect a
    /// difference as large as the margin four times in five; absent without an estimate of the
    /// variation, or if more than a thousand are needed.
    pub repeats_needed: Option<u32>,
    /// The same comparison without assumptions about the distribution; absent without a test. For
    /// information only: it does not affect the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_ranks: Option<ByRanks>,
    /// Whether the whole interval lies beyond the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// A comparison by ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ByRanks {
    /// New over base: the median of the ratios of every trial of new to every trial of base (Hodges
    /// and Lehmann).
    pub ratio: f64,
    /// 95 % interval of the ratio; absent with fewer than about four trials on a side.
    pub ratio_interval: Option<Range>,
    /// Two-sided p-value (Wilcoxon, Mann and Whitney), not corrected.
    pub p: f64,
}

/// New against base over all comparable configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallEffect {
    /// The compared metric.
    pub metric: ComparisonMetric,
    /// The kind of statement whose mean time is compared; absent for transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Number of configurations in the effect.
    pub configurations: u32,
    /// Their numbers of clients, ascending.
    pub clients: Vec<u32>,
    /// The dimensions in which they differ.
    pub varied: Vec<Varied>,
    /// Degrees of freedom of the ratio's error; absent without a test.
    pub degrees: Option<f64>,
    /// Standard deviation between runs of a side on the logarithmic scale: 0.02 is 2 %. Absent if
    /// each side is one run, because it is then confounded with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<f64>,
    /// The ratio, new over base, and the verdict on it; new is the subject.
    #[serde(flatten)]
    pub effect: Effect,
    /// Tests of whether the effect depends on the number of clients, the system or a level.
    pub interactions: Vec<Interaction>,
}

/// A limit, with its worst verdict over all configurations of each side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitPair {
    /// The figure that is limited.
    pub metric: LimitMetric,
    /// The value of the limit, as in [`crate::model::LimitRow::value`].
    pub value: f64,
    /// The part of the trial that the limit applies to; absent for the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// The base's verdict; absent if it has no such limit.
    pub base: Option<LimitVerdict>,
    /// The new side's verdict.
    pub new: Option<LimitVerdict>,
}

/// The time series of a configuration's valid trials on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelinePair {
    /// Index into [`CompareModel::configurations`].
    pub configuration: usize,
    /// The base, in chronological order.
    pub base: Vec<MeanTimelinePoint>,
    /// The new side.
    pub new: Vec<MeanTimelinePoint>,
}

/// The rules behind the verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CompareRules {
    /// Differences within this share count as no difference (0.05 = 5 %).
    pub margin: f64,
    /// Expected share of false verdicts among all verdicts better and worse.
    pub alpha: f64,
    /// Share of the significance level reserved for the other metrics until the primary one is
    /// decided.
    pub reserve: f64,
    /// With fewer valid trials on a side, the verdict is always inconclusive.
    pub min_repeats: u32,
    /// Number of tested comparisons of configurations.
    pub family: u32,
    /// The lowest confidence of the intervals of all verdicts except equivalent, 0 to 1; absent if
    /// all are equivalent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_level: Option<f64>,
}

/// A condition that differs between the sides, or within one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Processor, memory, architecture, virtualisation.
    Machine,
    /// Kernel and distribution.
    Kernel,
    /// Kernel settings.
    KernelSettings,
    /// Versions of the fault proxies and other proxies.
    Proxies,
    /// The version of dyno.
    Dyno,
    /// Kind of a system and its protocol.
    System,
    /// The version reported by a server.
    ServerVersion,
    /// Settings read back from a server.
    Settings,
    /// Load of the trials and their stop rule.
    Load,
    /// Workload options that only one side has.
    Workload,
    /// Scripts, if their text is stored.
    Scripts,
    /// Tables, columns and indexes of the databases.
    Schema,
    /// Sizes of tables that exist on both sides.
    TableSizes,
}

/// A warning about a comparison. `dyno-report` writes its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareWarning {
    /// Its severity.
    pub severity: Severity,
    /// Its kind.
    #[serde(flatten)]
    pub kind: CompareWarningKind,
}

/// The kinds of warnings about a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub enum CompareWarningKind {
    /// The sides were measured under different conditions.
    Differs {
        /// The condition.
        condition: Condition,
        /// The affected system; empty for all systems.
        system: String,
        /// The values that differ.
        values: Vec<Difference>,
    },
    /// An audit found the data violated.
    AuditViolated {
        /// The side.
        side: SideName,
        /// The affected configurations.
        configurations: Vec<ConfigurationName>,
    },
    /// Configurations that did not work in some of their trials.
    DidNotWork {
        /// The side.
        side: SideName,
        /// The configurations with the trials in which they did not work.
        configurations: Vec<(ConfigurationName, NotWorking)>,
    },
    /// Runs without a measured trial.
    NothingMeasured {
        /// The side.
        side: SideName,
        /// Names of the runs.
        runs: Vec<String>,
    },
    /// Invalid trials were left out.
    InvalidTrials {
        /// The side.
        side: SideName,
        /// Number of invalid trials.
        invalid: u32,
        /// Number of measured trials.
        measured: u32,
        /// The worst warning of the kind that most of these trials have.
        because: Warning,
    },
    /// Trials without figures.
    MissingTrials {
        /// The side.
        side: SideName,
        /// Number of missing trials.
        missing: u32,
        /// Number of planned trials.
        planned: u32,
    },
    /// A warning about trials of one side or of both.
    Trials {
        /// Number of the base's trials with this warning.
        base: u32,
        /// Number of the base's measured trials.
        base_measured: u32,
        /// Number of the new side's trials with this warning.
        new: u32,
        /// Number of the new side's measured trials.
        new_measured: u32,
        /// The worst warning of its kind.
        about: Warning,
    },
    /// A warning about whole runs.
    Runs {
        /// The side.
        side: SideName,
        /// The worst warning of its kind.
        about: Warning,
    },
    /// Something in a results folder could not be read.
    Unreadable {
        /// The side.
        side: SideName,
        /// The first unreadable places, each beginning with its folder.
        what: Vec<Problem>,
        /// Total number of unreadable locations.
        places: u32,
    },
    /// A run did not record its end.
    NotEnded {
        /// The side.
        side: SideName,
        /// Names of the runs.
        runs: Vec<String>,
    },
    /// Only one of the two tests of a ratio, Welch's test and the rank test, detects a difference.
    RanksDisagree {
        /// The affected configurations and metrics.
        comparisons: Vec<(ConfigurationName, ComparisonMetric)>,
    },
    /// One side was measured after the other.
    OneAfterTheOther {
        /// The side measured first.
        first: SideName,
        /// Time from the end of the first side's last run to the start of the other side's first
        /// run, in seconds.
        gap_s: f64,
    },
    /// The runs of the sides alternated or overlapped.
    Alternating,
    /// Each configuration was measured in one run of each side, so differences between runs are
    /// confounded with the change.
    OneRunEach,
    /// The settings of a system were not read back on both sides, so differences would go
    /// unnoticed.
    SettingsUnknown {
        /// The system.
        system: String,
    },
    /// Two systems with different names were compared.
    OtherName {
        /// Its name in the base.
        base: String,
        /// Its name in the new side.
        new: String,
    },
}
